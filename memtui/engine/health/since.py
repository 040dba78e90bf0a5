"""What appeared, changed and went since a baseline: by writer, source, kind, and in bursts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.secrets import veiled
from memtui.engine.core.text import moment_since, one_line
from memtui.engine.health.versions import only_counters, rows_of_version

if TYPE_CHECKING:
    from memtui.engine.changes.journal import JournalEntry
    from memtui.engine.core.memory import Memory
    from memtui.engine.engine import Engine
    from memtui.engine.health.version_names import VersionNames

RowWriter = Literal["memtui", "capture", "import", "dream", "tool", "unknown"]

Op = Literal["new", "changed", "gone"]

WRITERS: Mapping[RowWriter, str] = {
    "memtui": "changed by a person with memtui",
    "capture": "captured from a conversation",
    "import": "imported",
    "dream": "written by a dream or a reflection",
    "tool": "written by an agent's tool or a client of the server",
    "unknown": "nobody is recorded",
}
"""Who wrote a row, by what is recorded of it."""

BURST_ROWS = 10

BURST_MS = 60_000

BURST_RULE = "10 new memories or more, each at most 60 seconds after the one before it"

NOT_RECORDED = "not recorded"

_DREAMS = ("dreaming-engine", "reflection", "session-summary")

_IMPORTED_FROM = ("importedFrom", "imported_from")


@dataclass(frozen=True, slots=True)
class Baseline:
    """The state that today's is compared with."""

    version: int | None
    """The version of the table; None where it is gone."""
    time_ms: int
    """When it was; 0 where that is not known."""
    word: str
    """What a person called it."""
    copy: Path | None = None
    """The folder of a copy that was kept of it: its rows are read there."""


def find_baseline(engine: Engine, word: str, names: VersionNames) -> Baseline:
    """The baseline that a word means: a version, its name or tag, a date or an age, a snapshot, a kept copy's folder.

    A version that is gone is a baseline without one. Raises UsageError for a word that means nothing.
    """
    listed = engine.store.versions()
    times = dict(listed)
    number = word.removeprefix("v")
    if number.isdigit() and len(number) < 9:
        if listed and int(number) > listed[-1][0]:
            raise UsageError(
                f"There is no version {number} yet: the newest is {listed[-1][0]}.",
                fix="See: memtui versions.",
            )
        there = int(number) if int(number) in times else None
        return Baseline(there, times.get(int(number), 0), word)
    named = next((each for each in names.kept() if each.name == word), None)
    if named is not None:
        return Baseline(named.version, named.time_ms, word)
    if (kept := _kept_copy(engine, word, times)) is not None:
        return kept
    try:
        at_ms = moment_since(word, engine.now_ms)
    except UsageError as error:
        raise UsageError(
            f"No version, name, date, snapshot or folder is called {word!r}.",
            fix="Write a version, a name of one (memtui versions), 7d, or 2026-09-01.",
        ) from error
    before = [number for number, time_ms in listed if time_ms <= at_ms]
    return Baseline(before[-1] if before else None, at_ms, word)


def _kept_copy(engine: Engine, word: str, times: Mapping[int, int]) -> Baseline | None:
    """The snapshot of this tag, or the folder of a copied version; None where there is neither."""
    from memtui.engine.core.iso_time import moment_microseconds
    from memtui.engine.health.folder_snapshots import DATA, FolderSnapshots

    try:
        found = next((each for each in FolderSnapshots(engine).all() if each.tag == word), None)
    except UsageError:
        found = None
    if found is not None:
        made = int(moment_microseconds(datetime.fromisoformat(found.created_at)) // 1000)
        return Baseline(found.version if found.version in times else None, made, word, found.place / DATA)
    folder = Path(word).expanduser()
    return Baseline(None, 0, word, folder) if any(folder.glob("*.lance")) else None


@dataclass(frozen=True, slots=True)
class SinceRow:
    """One memory that is another since the baseline."""

    id: str
    op: Op
    writer: RowWriter
    source: str
    kind: str
    time_ms: int
    """When its version was written; its own time where no version tells."""
    title: str
    """Its text on one line, without secrets."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Many new memories in a short time; see `BURST_RULE`."""

    from_ms: int
    to_ms: int
    writer: RowWriter
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SinceReport:
    """Everything that is another since a baseline."""

    baseline: Baseline
    version: int
    rows: tuple[SinceRow, ...]
    """The newest first."""
    bursts: tuple[Burst, ...]
    not_recorded: str = ""
    """What cannot be told because versions are gone, in a sentence; empty where everything can."""

    def count(self, op: str) -> int:
        """How many rows are new, changed or gone."""
        return sum(row.op == op for row in self.rows)

    def groups(self, by: Literal["writer", "source", "kind"]) -> dict[str, tuple[SinceRow, ...]]:
        """The rows by one of their facts, the largest group first."""
        found: dict[str, list[SinceRow]] = {}
        for row in self.rows:
            found.setdefault(getattr(row, by), []).append(row)
        return {name: tuple(rows) for name, rows in sorted(found.items(), key=lambda each: -len(each[1]))}

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui since BASELINE --json`."""
        return {
            "schema": "memtui.since.v1",
            "baseline": {
                "word": self.baseline.word,
                "version": self.baseline.version,
                "time_ms": self.baseline.time_ms or None,
            },
            "version": self.version,
            "new": self.count("new"),
            "changed": self.count("changed"),
            "gone": self.count("gone"),
            "not_recorded": self.not_recorded or None,
            **{
                f"by_{by}": [_group_json(by, name, rows) for name, rows in self.groups(by).items()]
                for by in ("writer", "source", "kind")
            },
            "burst_rule": BURST_RULE,
            "bursts": [
                {
                    "from_ms": b.from_ms,
                    "to_ms": b.to_ms,
                    "writer": b.writer,
                    "rows": len(b.ids),
                    "ids": list(b.ids),
                }
                for b in self.bursts
            ],
            "rows": [
                {
                    "id": row.id,
                    "op": row.op,
                    "writer": row.writer,
                    "source": row.source,
                    "kind": row.kind,
                    "time_ms": row.time_ms or None,
                    "text": row.title,
                }
                for row in self.rows
            ],
        }


def _group_json(by: str, name: str, rows: Sequence[SinceRow]) -> dict[str, Any]:
    ops = {op: sum(row.op == op for row in rows) for op in ("new", "changed", "gone")}
    return {by: name, **ops, "ids": [row.id for row in rows]}


def find_since(
    engine: Engine,
    baseline: Baseline,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> SinceReport:
    """What is another since a baseline, with who wrote it. Every version since then is read; nothing is written.

    Where the baseline's version is gone, new rows are found by their own times, and the rest is not recorded.
    Counters that a recall moves by itself are no change.
    """
    store = engine.store
    listed = store.versions()
    journal = engine.write_state.journal.entries() if engine.state is not None else []
    now = rows_of_version(store.pin())
    if baseline.version is None and baseline.copy is None:
        return _by_own_times(engine, baseline, listed, now, journal)
    first = baseline.version if baseline.version is not None else listed[0][0]
    before = _rows_at(engine, baseline)
    start = before if baseline.version is not None else rows_of_version(store.pin(first))
    ours = {
        entry.version_after: entry
        for entry in journal
        if entry.version_after is not None and entry.version_after != entry.version_before
    }
    wrote = _writers(engine, start, first, listed, ours, on_progress, cancel)
    found: list[_Found] = []
    for each in {*before, *now}:
        was, row = before.get(each), now.get(each)
        if was == row or (was is not None and row is not None and only_counters(was, row)):
            continue
        time_ms, entry = wrote.get(each, (0, None))
        op: Op = "new" if was is None else "gone" if row is None else "changed"
        found.append(_Found(each, op, row if row is not None else was or {}, time_ms, entry))
    return _report(baseline, store.version, _rows(engine, found))


def _rows_at(engine: Engine, baseline: Baseline) -> dict[str, dict[str, Any]]:
    """The rows as they were: of the version, else of the copy that was kept of it."""
    if baseline.version is not None:
        return rows_of_version(engine.store.pin(baseline.version))
    from memtui.engine.store.open import open_store

    assert baseline.copy is not None
    return rows_of_version(open_store(baseline.copy).pin())


def _writers(
    engine: Engine,
    rows: dict[str, dict[str, Any]],
    version: int,
    listed: Sequence[tuple[int, int]],
    ours: Mapping[int, JournalEntry],
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> dict[str, tuple[int, JournalEntry | None]]:
    """When each row was last written since `version`, and the entry of our journal that wrote it, where one did."""
    store = engine.store
    later = [each for each in listed if version < each[0] <= store.version]
    found: dict[str, tuple[int, JournalEntry | None]] = {}
    for at, (number, time_ms) in enumerate(later):
        if cancel is not None:
            cancel.check()
        if on_progress is not None:
            on_progress(Progress("reading versions", at, len(later), "versions"))
        try:
            now = rows_of_version(store.pin(number))
        except MemtuiError:  # cleaned away meanwhile
            continue
        for each in {*rows, *now}:
            was, row = rows.get(each), now.get(each)
            if was != row and not (was is not None and row is not None and only_counters(was, row)):
                found[each] = time_ms, ours.get(number)
        rows = now
    return found


def _by_own_times(
    engine: Engine,
    baseline: Baseline,
    listed: Sequence[tuple[int, int]],
    now: Mapping[str, dict[str, Any]],
    journal: Sequence[JournalEntry],
) -> SinceReport:
    made: dict[str, JournalEntry] = {}
    if engine.state is not None:
        recent = [
            entry for entry in journal if entry.time_ms >= baseline.time_ms and entry.state == "applied"
        ]
        for entry in reversed(recent):
            for row in engine.write_state.journal.rows(entry.entry):
                if row.op == "add":
                    made[row.id] = entry
    every = _rows(engine, [_Found(each, "new", row, 0, made.get(each)) for each, row in now.items()])
    rows = [row for row in every if baseline.time_ms and row.time_ms >= baseline.time_ms]
    oldest = f"the oldest is {listed[0][0]}" if listed else "none is left"
    said = (
        f"Versions from before then are gone ({oldest}): new memories are found by their own times; changes and"
        " deletions are not recorded."
    )
    return _report(baseline, engine.store.version, rows, said)


def _report(baseline: Baseline, version: int, rows: list[SinceRow], not_recorded: str = "") -> SinceReport:
    ordered = tuple(sorted(rows, key=lambda row: (-row.time_ms, row.id)))
    return SinceReport(baseline, version, ordered, find_bursts(ordered), not_recorded)


def find_bursts(rows: Sequence[SinceRow]) -> tuple[Burst, ...]:
    """The bursts among new rows of one writer, the largest first; see `BURST_RULE`."""
    found: list[Burst] = []
    for writer in WRITERS:
        new = sorted(
            (row for row in rows if row.op == "new" and row.writer == writer and row.time_ms),
            key=lambda row: row.time_ms,
        )
        run: list[SinceRow] = []
        for row in [*new, None]:
            if row is not None and (not run or row.time_ms - run[-1].time_ms <= BURST_MS):
                run.append(row)
                continue
            if len(run) >= BURST_ROWS:
                ids = tuple(each.id for each in run)
                found.append(Burst(run[0].time_ms, run[-1].time_ms, writer, ids))
            run = [] if row is None else [row]
    return tuple(sorted(found, key=lambda burst: -len(burst.ids)))


@dataclass(frozen=True, slots=True)
class _Found:
    """One row that is another, before it is read as a memory."""

    id: str
    op: Op
    values: Mapping[str, Any]
    time_ms: int
    entry: JournalEntry | None


def _rows(engine: Engine, found: Sequence[_Found]) -> list[SinceRow]:
    import pyarrow as pa

    store = engine.store
    schema = pa.schema([store.pin().schema.field(name) for name in store.row_columns])
    table = pa.Table.from_pylist(
        [{name: each.values.get(name) for name in schema.names} for each in found], schema
    )
    memories = store.dialect.to_memories(table, engine.now_ms)
    return [_row(each, memory) for each, memory in zip(found, memories, strict=True)]


def _row(found: _Found, memory: Memory) -> SinceRow:
    raw = memory.metadata_values.get("source")
    source = raw if isinstance(raw, str) and raw else memory.source or NOT_RECORDED
    kind = memory.category or memory.memory_category or NOT_RECORDED
    return SinceRow(
        found.id,
        found.op,
        _writer(found.entry, memory, source, found.op),
        one_line(source),
        one_line(str(kind)),
        found.time_ms or memory.timestamp_ms or 0,
        one_line(veiled(memory.raw_text)),
    )


def _writer(entry: JournalEntry | None, memory: Memory, source: str, op: str) -> RowWriter:
    """Who wrote a row: an entry of our journal says so, else what the row tells of itself when it is new."""
    if entry is not None:
        for word, writer in _BY_ACTION.items():
            if entry.action.startswith(word):
                return writer
        return "tool" if entry.detail.get("client") else "memtui"
    if op != "new":
        return "unknown"
    if any(name in memory.metadata_values for name in _IMPORTED_FROM) or source.startswith("import"):
        return "import"
    if any(word in source for word in _DREAMS):
        return "dream"
    if "capture" in source or memory.source_session:
        return "capture"
    return "tool" if source in ("manual", "tool", "agent") else "unknown"


_BY_ACTION: Mapping[str, RowWriter] = {
    "import": "import",
    "migrate": "import",
    "capture": "capture",
    "dream": "dream",
    "reflect": "dream",
}
"""What the action of an entry says of its writer; see `journal`."""
