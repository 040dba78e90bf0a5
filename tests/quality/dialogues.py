"""Three made-up dialogues of two friends each, as a table of memtui's own, with questions and their answers.

Written by hand for this purpose: no public set is used. A line `= date time` begins a session, `Name: text` is a
turn (`{key}` marks one that a question cites), `? keys | question` a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pyarrow as pa

from memtui.engine.dialects.memtui import own_schema
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.store.create import create_own

FOLDER = Path(__file__).parent / "dialogues"
MINUTE_MS = 60_000
_KEY = re.compile(r"\{(\w+)\} ?")


@dataclass(frozen=True)
class Turn:
    id: str
    scope: str
    speaker: str
    text: str
    session: str
    timestamp_ms: int


@dataclass(frozen=True)
class Question:
    query: str
    scope: str | None
    expected: tuple[str, ...]


def read(name: str, folder: Path = FOLDER) -> tuple[list[Turn], list[Question]]:
    """The turns and questions of one dialogue, in order."""
    turns: list[Turn] = []
    questions: list[Question] = []
    keys: dict[str, str] = {}
    session, start, said = 0, 0, 0
    for line in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            session, said = session + 1, 0
            start = int(datetime.strptime(line[2:], "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()) * 1000
        elif line.startswith("? "):
            cited, _, query = line[2:].partition(" | ")
            expected = tuple(keys[key] for key in cited.split(",") if key in keys)
            if expected:
                questions.append(Question(query, name, expected))
        elif line:
            speaker, _, text = line.partition(": ")
            turn = str(uuid5(NAMESPACE_URL, f"{name}/{session}/{said}"))
            keys |= dict.fromkeys(_KEY.findall(text), turn)
            turns.append(
                Turn(turn, name, speaker, _KEY.sub("", text), f"s{session}", start + said * MINUTE_MS)
            )
            said += 1
    return turns, questions


def names(folder: Path = FOLDER) -> list[str]:
    """The dialogues of a folder; those of `chats` are of short messages, several in a row."""
    return sorted(path.stem for path in folder.glob("*.txt"))


def write(folder: Path, turns: Sequence[Turn], *, prefixed: bool = True) -> Path:
    """A table of memtui's own with the turns; `prefixed` stores and embeds `Name: text`, else the bare text."""
    texts = [f"{turn.speaker}: {turn.text}" if prefixed else turn.text for turn in turns]
    vectors = bundled().embed_passages(texts)
    rows = [
        {
            "id": turn.id,
            "text": text,
            "vector": vector.tolist(),
            "category": "fact",
            "scope": turn.scope,
            "importance": 0.7,
            "timestamp": float(turn.timestamp_ms),
            "metadata": json.dumps({"speaker": turn.speaker, "session": turn.session}),
            "tier": "working",
            "access_count": 0,
            "last_accessed_at": None,
            "state": "confirmed",
        }
        for turn, text, vector in zip(turns, texts, vectors, strict=True)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    create_own(folder, pa.Table.from_pylist(rows, schema=own_schema(BUNDLED_DIMS)))
    return folder
