"""How well capture without a model keeps what is worth keeping in chats: precision by row, recall by text.

python -m tests.quality.captured [FOLDER ...] [--show]

A folder holds `texts.jsonl` and `conversations.jsonl` (as `../shared/fixtures/capture-offline`, whose `count.py` counts
the same through the command line), or one `LANGUAGE.tsv` a language as `statements/chat`, which is the default. Every
conversation is captured into the same empty store and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine import open_engine
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.run_document import document
from memtui.engine.capture.trace import Message
from memtui.engine.store.create import create_empty
from tests.conftest import NOW_MS

CHAT = Path(__file__).with_name("statements") / "chat"

UNREAD = CHAT.with_name("chat_unread")
"""Texts written after the rules were mended; two faults that they showed were mended since."""

WORTH = frozenset(
    (
        *("preference", "decision", "plan", "todo", "fact_user", "fact_project"),
        *("identifier", "cause", "workaround", "command", "correction"),
    )
)

TECHNICAL = frozenset(("identifier", "cause", "workaround", "command"))


@dataclass(frozen=True)
class ChatText:
    """One text of a chat: who said it, what kind it is, and the words that a memory of it must hold."""

    text: str
    role: str
    kind: str
    words: tuple[str, ...] = ()
    secret: str = ""

    @property
    def worth(self) -> bool:
        """Whether it is to be kept."""
        return self.kind in WORTH and bool(self.words)


@dataclass(frozen=True)
class Chat:
    """A conversation in one language."""

    language: str
    texts: tuple[ChatText, ...]


def read_chats(folder: Path) -> list[Chat]:
    """The conversations of a folder, in either form."""
    tables = sorted(folder.glob("*.tsv"))
    if tables:
        return [chat for path in tables for chat in _table(path)]
    lines = (folder / "texts.jsonl").read_text("utf-8").splitlines()
    chats = [Chat(each["language"], (_text(each),)) for each in map(json.loads, lines)]
    lines = (folder / "conversations.jsonl").read_text("utf-8").splitlines()
    read = map(json.loads, lines)
    return chats + [Chat(each["language"], tuple(map(_text, each["texts"]))) for each in read]


def _text(told: Mapping[str, Any]) -> ChatText:
    words = tuple(told.get("words") or ()) if told["keep"] or told["kind"] == "old" else ()
    return ChatText(told["text"], told["role"], told["kind"], words, told.get("secret") or "")


def _table(path: Path) -> Iterable[Chat]:
    chats: list[list[ChatText]] = []
    for line in path.read_text("utf-8").splitlines():
        kind, words, text = line.split("\t")
        name, text = kind.removeprefix("&"), text.replace("\\n", "\n")
        listed = tuple(filter(None, words.split(";")))
        secret = words if name == "secret" else ""
        role = "tool" if name == "tool_output" else "user"
        made = ChatText(text, role, name, () if secret else listed, secret)
        if kind.startswith("&"):
            chats[-1].append(made)
        else:
            chats.append([made])
    return [Chat(path.stem, tuple(texts)) for texts in chats]


@dataclass
class Counted:
    """What was kept: right and wrong rows by language, texts to keep, and what was lost or kept wrongly by kind."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    worth: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    kept_wrongly: Counter[str] = field(default_factory=Counter)
    secrets: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    lost_texts: list[str] = field(default_factory=list)
    wrong_texts: list[str] = field(default_factory=list)

    def precision(self, language: str = "") -> float:
        """Of the rows, those that are worth keeping."""
        right, wrong = self.among(self.right, language), self.among(self.wrong, language)
        return right / (right + wrong) if right + wrong else 0.0

    def recall(self, language: str = "") -> float:
        """Of the texts worth keeping, those that were kept."""
        return self.among(self.right, language) / max(1, self.among(self.worth, language))

    @staticmethod
    def among(counter: Counter[str], language: str) -> int:
        """What a counter has of a language, of all for the empty one."""
        return counter[language] if language else counter.total()


def folded(text: str) -> str:
    """A text as words are looked for in it."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def holds(text: str, words: Sequence[str]) -> bool:
    """Whether all of the words stand in a text."""
    return bool(words) and all(folded(word) in folded(text) for word in words)


def count(chats: Sequence[Chat]) -> Counted:
    """Capture every conversation by the recipe `memtui` and count."""
    found = Counted()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        create_empty(root / "store", 256)
        engine = open_engine(
            root / "store", now=lambda: NOW_MS, environ={}, cwd=root, writable=True, state=root / "state"
        )
        for chat in chats:
            roles = {"tool": "toolResult"}
            said = [Message(roles.get(each.role, each.role), each.text) for each in chat.texts]
            told = document(capture(CaptureRequest(said, "memtui"), engine.capture_context(None)))
            _count_rows(chat, told["rows"]["created"] + told["rows"]["changed"], found)
    return found


def _count_rows(chat: Chat, rows: Sequence[Mapping[str, Any]], found: Counted) -> None:
    language, wanted = chat.language, [each for each in chat.texts if each.worth]
    found.worth[language] += len(wanted)
    found.kinds.update(each.kind for each in wanted)
    for each in chat.texts:
        if each.secret and any(each.secret in json.dumps(row, ensure_ascii=False) for row in rows):
            found.secrets.append(each.text)
    met: set[int] = set()
    for row in rows:
        if not row.get("active", True):
            continue
        text = row["text"]
        hits = [at for at, each in enumerate(wanted) if holds(text, each.words)]
        if new := set(hits) - met:
            met |= new
            continue
        found.wrong[language] += 1
        if any(each.kind == "old" and holds(text, each.words) for each in chat.texts):
            found.stale.append(text)
        source = [each.kind for each in chat.texts if folded(text) in folded(each.text)]
        kind = "repeat" if hits else source[0] if source else "?"
        found.kept_wrongly[kind] += 1
        found.wrong_texts.append(f"{language} {kind}: {text}")
    found.right[language] += len(met)
    lost = [each for at, each in enumerate(wanted) if at not in met]
    found.lost.update(each.kind for each in lost)
    found.lost_texts += [f"{language} {each.kind} {'|'.join(each.words)}: {each.text!r}" for each in lost]


def lines(found: Counted) -> list[str]:
    """The figures in words."""
    told = []
    for language in ("", *sorted(found.worth)):
        right, wrong = found.among(found.right, language), found.among(found.wrong, language)
        precision, recall = found.precision(language), found.recall(language)
        told.append(
            f"{language or 'all':<4} precision {precision:.2f} ({right} of {right + wrong} rows), "
            f"recall {recall:.2f} ({right} of {found.among(found.worth, language)} texts)"
        )
    told.append("lost: " + ", ".join(f"{kind} {found.lost[kind]}/{n}" for kind, n in found.kinds.items()))
    told.append("kept wrongly: " + ", ".join(f"{kind} {n}" for kind, n in found.kept_wrongly.most_common()))
    told.append(f"secrets kept {len(found.secrets)}, superseded left active {len(found.stale)}")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description="How well capture without a model keeps what is worth keeping."
    )
    parser.add_argument("folders", nargs="*", type=Path, default=[CHAT])
    parser.add_argument("--show", action="store_true", help="also list what was lost and kept wrongly")
    args = parser.parse_args()
    for folder in args.folders:
        found = count(read_chats(folder))
        print(folder, *lines(found), sep="\n")
        if args.show:
            print("LOST", *found.lost_texts, "WRONG", *found.wrong_texts, "SECRETS", *found.secrets, sep="\n")


if __name__ == "__main__":
    main()
