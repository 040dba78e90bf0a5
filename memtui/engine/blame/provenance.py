"""Where a memory came from, and what changed it since: a turn, an import, a dream, an edit, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line

if TYPE_CHECKING:
    from memtui.engine.changes import EntryRow, Journal, JournalEntry
    from memtui.engine.core.memory import Memory
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine
    from memtui.engine.witness.session import SessionFile


What = Literal["captured", "dreamed", "reflected", "imported", "added", "written", "changed", "not recorded"]

_DREAM, _REFLECTION, _CAPTURE = "dreaming-engine", "reflection", "auto-capture"

_LATE_MS = 10 * 60_000
"""How long after the last message of a session its host may still write what it captured of it."""

_IMPORTED_FROM = ("importedFrom", "imported_from")
"""Keys in which programs say that a row came from elsewhere."""


@dataclass(frozen=True, slots=True)
class ProvenanceStep:
    """One thing that is recorded of how a memory came to be as it is."""

    what: What
    said: str
    """A sentence for people, without its full stop."""
    time_ms: int = 0
    who: str = ""
    """The agent or client that did it; empty where nobody is recorded."""
    session: str = ""
    turn: int = 0
    """The turn of that session, 0 where none is known."""
    entry: int = 0
    """The entry of memtui's journal, 0 for none."""

    def as_json(self, *, texts: bool = True) -> dict[str, Any]:
        """The step in a receipt; without `texts` only ids and numbers."""
        told = {"what": self.what, "time_ms": self.time_ms, "who": self.who or None}
        placed = {"session": self.session or None, "turn": self.turn or None, "entry": self.entry or None}
        return {**told, **placed, **({"said": self.said} if texts else {})}


def provenance_of(
    engine: Engine,
    memories: Sequence[Memory],
    environ: Mapping[str, str],
    cwd: Path,
    *,
    journal: Journal | None = None,
    cancel: CancelToken | None = None,
) -> dict[str, tuple[ProvenanceStep, ...]]:
    """How each memory came to be, the first step first; every memory has at least one. Reads only.

    `journal` is that of the store; None: the engine's own, where it keeps one.
    """
    from memtui.engine.witness.find import find_sessions

    wanted = {memory.source_session for memory in memories if memory.source_session}
    files = (
        {name: file for file in find_sessions(environ, cwd) for name in (file.id, file.key) if name in wanted}
        if wanted
        else {}
    )
    if journal is None and engine.state is not None:
        journal = engine.write_state.journal
    found = {}
    for memory in memories:
        if cancel is not None:
            cancel.check()
        changes = _entries(journal, memory) if journal is not None else []
        made = next((_made(entry) for entry, row in changes if row.op == "add"), None)
        first = made or _first(memory, files.get(memory.source_session or ""), environ, cancel)
        later = [_changed(entry, row) for entry, row in changes if row.op != "add"]
        found[memory.id] = (first, *later)
    return found


def _entries(journal: Journal, memory: Memory) -> list[tuple[JournalEntry, EntryRow]]:
    """What memtui did to a memory and was not undone, the first first."""
    undone = journal.taken_back()
    told = [
        (entry, row)
        for entry, row in journal.of_memory(memory.id)
        if entry.state == "applied" and entry.undoes is None and entry.entry not in undone
    ]
    return sorted(told, key=lambda each: each[0].entry)


def _made(entry: JournalEntry) -> ProvenanceStep:
    who = str(entry.detail.get("client") or "")
    by = f" by {one_line(who)}" if who else ""
    imported = entry.action == "import"
    said = (
        f"{'imported' if imported else 'added'} with memtui{by}, entry {entry.entry}: {one_line(entry.title)}"
    )
    return ProvenanceStep(
        "imported" if imported else "added", said, entry.time_ms, who=who, entry=entry.entry
    )


def _changed(entry: JournalEntry, row: EntryRow) -> ProvenanceStep:
    who = str(entry.detail.get("client") or "")
    fields = ", ".join(one_line(name) for name in sorted({*row.before, *row.after}))
    by = f" by {one_line(who)}" if who else ""
    said = f"changed with memtui{by}, entry {entry.entry}: {fields or one_line(entry.title)}"
    return ProvenanceStep("changed", said, entry.time_ms, who=who, entry=entry.entry)


def _first(
    memory: Memory, file: SessionFile | None, environ: Mapping[str, str], cancel: CancelToken | None
) -> ProvenanceStep:
    """What the row itself and its session say of its making."""
    made, raw = memory.timestamp_ms, memory.metadata_values.get("source")
    source = raw if isinstance(raw, str) else memory.source or ""
    session = one_line(memory.source_session or "")
    if source == _DREAM:
        return ProvenanceStep("dreamed", "written by the plugin's dreaming, from other memories", made)
    foreign = next(
        (memory.metadata_values[name] for name in _IMPORTED_FROM if name in memory.metadata_values), None
    )
    if foreign is not None:
        return ProvenanceStep("imported", f"imported from {one_line(str(foreign))}", made)
    if file is not None:
        return _captured(memory, file, environ, cancel)
    reflected = _REFLECTION in source
    what: What = "reflected" if reflected else "captured"
    verb = "learned by a reflection" if reflected else "captured"
    if session:
        return ProvenanceStep(
            what, f"{verb} in session {session}, whose files are not here", made, session=session
        )
    if reflected or source == _CAPTURE:
        return ProvenanceStep(what, f"{verb}; its session is not recorded", made)
    if source == "manual":
        return ProvenanceStep(
            "written", "written by a person or an agent's tool; by whom is not recorded", made
        )
    return ProvenanceStep("not recorded", "its origin is not recorded", made)


def _captured(
    memory: Memory, file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None
) -> ProvenanceStep:
    """The session that it was captured in, and the turn that had begun last by then."""
    from memtui.engine.witness.replay import read_turns

    made = memory.timestamp_ms
    try:
        turns = [turn for turn in read_turns(file, environ, cancel)[0] if turn.time_ms]
    except MemtuiError:
        turns = []
    begun = [turn for turn in turns if turn.time_ms <= made]
    last = turns[-1].time_ms if turns else 0
    known = begun and (begun[-1] is not turns[-1] or made <= last + _LATE_MS)
    number = begun[-1].n if known else 0
    where = f"turn {number} of session {one_line(file.id)}" if number else f"session {one_line(file.id)}"
    said = f"captured in {where}, agent {one_line(file.agent)}"
    return ProvenanceStep("captured", said, made, who=file.agent, session=file.id, turn=number)
