"""What the plugin's write side works with: its store, settings, model, files, clock; and the records of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture.chat import Chat, NoReplyError, Purpose
from memtui.engine.capture.draft import Draft, StoredRow, VectorHit
from memtui.engine.capture.recipes.pro.settings import ProSettings
from memtui.engine.capture.stages.json_reply import read_reply
from memtui.engine.capture.stages.matching import pattern
from memtui.engine.capture.stages.model_reference import reasoning_disabled
from memtui.engine.capture.stages.similarity import NoiseBank
from memtui.engine.capture.trace import CaptureCandidate, CaptureText
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import trim
from memtui.engine.metadata.patch import append_relation, build_metadata, stringify

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LIST_MARK = pattern(r"(?:\A|(?<=\n))[ \t]*[-*]\s+")

CACHED_TEXTS = 256


@dataclass(slots=True)
class Files:
    """The files beside the store: read from `root`, kept in memory until they are written.

    Paths are absolute or start with `<root>`, which stands for the folder. With `confined` only what is below the
    folder is written: what a recording says of other places is played, and stays in memory.
    """

    root: Path
    changed: dict[Path, str] = field(default_factory=dict)
    confined: bool = False

    def path(self, name: str) -> Path:
        """The path that a name means."""
        if name == "<root>" or name.startswith("<root>/"):
            return self.root / name[len("<root>/") :]
        return Path(name).expanduser()

    def read(self, name: str) -> str | None:
        """The text of a file, None where there is none."""
        path = self.path(name)
        if path in self.changed:
            return self.changed[path]
        if self._outside(path):
            return None
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _outside(self, path: Path) -> bool:
        return self.confined and not path.resolve().is_relative_to(self.root.resolve())

    def write(self, name: str, text: str) -> None:
        """A file's whole text."""
        self.changed[self.path(name)] = text

    def append(self, name: str, text: str) -> None:
        """More text at the end of a file."""
        self.write(name, (self.read(name) or "") + text)

    def listed(self, folder: str) -> list[tuple[str, float]]:
        """(name, time of change in seconds) of the files of a folder; the changed ones count as new."""
        path = self.path(folder)
        there = path.is_dir() and not self._outside(path)
        found = {each.name: each.stat().st_mtime for each in path.iterdir()} if there else {}
        found |= {each.name: float("inf") for each in self.changed if each.parent == path}
        return sorted(found.items())

    def flush(self) -> None:
        """Write what is kept, each file whole and at once."""
        for path, text in self.changed.items():
            if self._outside(path):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.new")
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)


@dataclass(slots=True)
class World:
    """One plugin in one process. `now_ms` is its clock; `records` is what the steps of a run leave behind."""

    settings: ProSettings
    draft: Draft
    embed_texts: Callable[[Sequence[str]], NDArray[np.float32]]
    chat: Chat | None
    new_id: Callable[[], str]
    policy: ScopePolicy
    files: Files
    scope: str = ""
    """Where captured memories go instead of the agent's own scope."""
    now_ms: int = 0
    embed_ms: float = 0.0
    """How long an embedding is known to take; recordings of slow services name it."""
    agents: Sequence[Mapping[str, Any]] = ()
    """The host's agents, with `id` and `workspace`."""
    state_folder: str = "<root>/state"
    noise: NoiseBank = field(default_factory=NoiseBank)
    models: Mapping[str, Any] = field(default_factory=dict)
    """`model` and `thinkLevel` of the chat model."""
    reflect: Callable[[Mapping[str, Any]], str] | None = None
    """Runs a reflection and returns its report; raises NoReplyError."""
    search_words: Callable[[str, Sequence[str] | None, int], list[tuple[str, float]]] | None = None
    """Finds rows by words in place of the store's own search: (id, score), best first."""
    skip: Callable[[str], str] | None = None
    """The gate before a prompt in place of the plugin's: the rule that skips a message, empty where none does."""
    own_words: bool = False
    """Whether keyword scores count only the rows that the agent may read: where it is answered, not examined."""
    scratch: bool = False
    """The store was made for this run: what is on top may be written into it before a recall."""
    records: list[dict[str, Any]] = field(default_factory=list)
    used_replies: dict[str, int] = field(default_factory=dict)
    fates: list[CaptureText] = field(default_factory=list)
    """What became of each text at each gate, in order: the last one of a text is its fate."""
    failures: list[str] = field(default_factory=list)
    """What the embedding service said when it failed, each once: the plugin itself says nothing of it."""
    losses: list[CaptureCandidate] = field(default_factory=list)
    """Candidates that a filter took before a decision, with the filter as their gate."""
    _cache: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    @property
    def declared(self) -> tuple[str, ...]:
        """The agents that the plugin's own settings declare; none means that every id is good."""
        listed = self.settings.raw.get("declaredAgents")
        return tuple(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else ()

    # ------------------------------------------------------------------ embedding

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of one text; asked for once. Raises EmbeddingError."""
        text = trim(text)
        if text not in self._cache:
            self._cache[text] = self._embedded([text])[0]
            while len(self._cache) > CACHED_TEXTS:
                self._cache.pop(next(iter(self._cache)))
        return self._cache[text]

    def embed_all(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts in one request, which the cache knows nothing of. Raises EmbeddingError."""
        return self._embedded([trim(text) for text in texts])

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        record: dict[str, Any] = {"kind": "embed", "texts": list(texts)}
        self.records.append(record)
        try:
            return self.embed_texts(texts)
        except EmbeddingError as error:
            record["error"] = True
            said = " ".join(part for part in (error.message, error.fix) if part)
            if said not in self.failures:
                self.failures.append(said)
            raise

    # ------------------------------------------------------------------ the model

    def ask(
        self, purpose: Purpose, request: Mapping[str, Any], *, model: str | None = None
    ) -> dict[str, Any] | None:
        """The object that the model answered with; None for a failed call or an unreadable reply."""
        index = self.used_replies.get(purpose, 0)
        self.used_replies[purpose] = index + 1
        record: dict[str, Any] = {
            "kind": "llm",
            "purpose": purpose,
            "reply_index": index,
            "request": request,
        }
        own = self.models.get("model")
        asked = model or own
        if asked and asked != "fixture-chat":
            record["model"] = asked
        extra: dict[str, Any] = {}
        if isinstance(asked, str) and reasoning_disabled(asked):
            extra["chat_template_kwargs"] = {"enable_thinking": False}
        level = self.models.get("thinkLevel")
        if isinstance(level, str) and trim(level):
            extra["reasoning"] = {"effort": trim(level)}
        if extra:
            record["extra"] = extra
        self.records.append(record)
        if self.chat is None:
            return None
        try:
            reply = self.chat(purpose, request, model=model)
        except NoReplyError:
            return None
        return read_reply(reply.text or reply.reasoning)

    # ------------------------------------------------------------------ rows

    def search(
        self,
        vector: Any,
        limit: int,
        min_score: float,
        scopes: Sequence[str] | None,
        *,
        active: bool = False,
    ) -> list[VectorHit]:
        """The nearest rows; with `active` only those that are valid now."""
        return self.draft.search(
            vector,
            limit=limit,
            min_score=min_score,
            scopes=scopes,
            active_at=self.now_ms if active else None,
        )

    def add(
        self,
        *,
        text: str,
        vector: Any,
        category: str,
        scope: str,
        importance: float,
        metadata: Mapping[str, Any],
        row_id: str | None = None,
        why: str = "",
    ) -> StoredRow:
        """A new row of now."""
        row = StoredRow(
            id=row_id or self.new_id(),
            text=text,
            category=category,
            scope=scope,
            importance=importance,
            timestamp=self.now_ms,
            metadata=stringify(metadata),
            vector=vector,
        )
        self.draft.add(row, why)
        return row

    def built(self, row: StoredRow, patch: Mapping[str, Any]) -> str:
        """The row's metadata text after a patch."""
        return stringify(self.built_values(row, patch))

    def built_values(self, row: StoredRow, patch: Mapping[str, Any]) -> dict[str, Any]:
        """The row's metadata after a patch."""
        return build_metadata(
            row.metadata,
            patch,
            text=row.text,
            category=row.category,
            timestamp_ms=row.timestamp,
            now_ms=self.now_ms,
        )

    def patch(
        self, row_id: str, patch: Mapping[str, Any], scopes: Sequence[str] | None = None, why: str = ""
    ) -> StoredRow | None:
        """Patch a row's metadata; the row after it, None where it is gone or out of reach."""
        row = self.get(row_id, scopes)
        if row is None:
            return None
        write = self.draft.change(row_id, why, metadata=self.built(row, patch))
        return write.row if write else None

    def get(self, row_id: str, scopes: Sequence[str] | None = None) -> StoredRow | None:
        """A row by its id, None where it is gone or in none of these scopes."""
        row = self.draft.get(row_id)
        return row if row is not None and (scopes is None or row.scope in scopes) else None

    # ------------------------------------------------------------------ scopes, mirror

    def write_scope(self, agent: str) -> str:
        """Where an agent's memories go by default; the configured default for reserved ids."""
        from memtui.engine.core.errors import UsageError

        if self.scope:
            return self.scope
        try:
            return self.policy.default_write_scope(agent)
        except UsageError:
            return self.policy.default

    def workspace(self, agent: str) -> str | None:
        """The workspace of an agent, None where the host names none."""
        found = next((each.get("workspace") for each in self.agents if each.get("id") == agent), None)
        return str(found) if found else None

    def mirror(self, text: str, category: str, scope: str, *, agent: str | None, source: str) -> None:
        """Append a line to the Markdown mirror, where there is one."""
        block = self.settings.mirror
        if not block or not block.get("enabled"):
            return
        from memtui.engine.capture.recipes.pro.mirror import mirror_line, mirror_path

        path = mirror_path(block, self.workspace(agent) if agent else None, self.now_ms)
        self.files.append(path, mirror_line(text, category, scope, agent, source, self.now_ms))


def field_lines(text: str) -> str:
    """A field as a prompt shows it: every line without the list mark in front."""
    return _LIST_MARK.sub("", text)


def compact_json(value: Any) -> str:
    """JSON as JavaScript writes it."""
    from memtui.engine.metadata.patch import _plain

    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))


def entry_of(results: Any, index: int) -> dict[str, Any] | None:
    """The first entry of a batch's reply with this number; None where the reply has none."""
    for result in results if isinstance(results, list) else ():
        number = result.get("index") if isinstance(result, dict) else None
        if not isinstance(number, bool) and number == index:
            return dict(result)
    return None


def relation(existing: Any, kind: str, target: str) -> list[dict[str, Any]]:
    """The relations with one more."""
    return append_relation(existing, {"type": kind, "targetId": target})
