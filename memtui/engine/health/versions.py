"""The versions of a store: who wrote each, what changed, and what older ones still hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import DamagedStoreError, MemtuiError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.journal import JournalEntry
    from memtui.engine.changes.version_tags import VersionCopy
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.engine import Engine
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store
    from memtui.engine.store.table_files import TableFiles


LOOK_BACK = 30
"""Versions in which a lost index is looked for."""

Writer = Literal["memtui", "injection", "capture", "change", "maintenance", "restore", "index", "unknown"]

SESSION_PAUSE_MS = 30 * 60_000
"""Longer apart, what an agent stored is of two sessions."""

MAINTENANCE = ("fold", "reserve", "settings", "project")


@dataclass(frozen=True, slots=True)
class RowChange:
    """One memory that a version added, removed or changed; `fields` are the names of what differs."""

    id: str
    op: Literal["add", "remove", "change"]
    title: str = ""
    fields: tuple[str, ...] = ()
    before: Any = field(default=None, repr=False, compare=False)
    after: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """One line of the time line: one version, or several of one writer and session folded into one line."""

    version: int
    time_ms: int
    writer: Writer
    operation: str
    title: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    first: int | None = None
    """The first version of a folded line; None for a single one."""
    entry: int | None = None
    """memtui's journal entry that wrote it."""
    name: str = ""
    rows: int = 0

    @property
    def versions(self) -> int:
        """How many versions stand in this line."""
        return 1 if self.first is None else self.version - self.first + 1

    def as_json(self) -> dict[str, Any]:
        """The line for the command line."""
        return {
            "version": self.version,
            "first": self.first if self.first is not None else self.version,
            "time_ms": self.time_ms,
            "writer": self.writer,
            "operation": self.operation,
            "title": self.title,
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "entry": self.entry,
            "name": self.name or None,
            "rows": self.rows,
        }


def restored_without_words(store: Store, files: TableFiles | None) -> int | None:
    """The newest restore that took the full-text index with it; None where there was none."""
    from memtui.engine.store.table_facts import has_text_index

    if files is None:
        return None
    numbers = [version for version, _ in store.versions()][-LOOK_BACK:]
    for before, after in zip(reversed(numbers[:-1]), reversed(numbers[1:]), strict=True):
        try:
            had = has_text_index(store.pin(before))
        except MemtuiError:
            return None
        if had:
            return after if files.operation(after) == "restore" else None
    return None


def vanished_texts(
    store: Store, files: TableFiles | None, most: int, cancel: CancelToken | None = None
) -> Iterator[tuple[str, str, str]]:
    """(id, then, now): texts and metadata of older versions that the newest one holds no more; of the last `most`.

    `now` is what the newest version holds of that memory, text and metadata; empty where it is gone. A version is
    read only where rows went or changed: appends and folds lose none.
    """
    columns = store.dialect.columns
    names = [columns.id, *(name for name in (columns.text, columns.json_object) if name)]
    now: dict[str, dict[str, None]] = {}
    for id_, part in _parts(store.pin(), names):
        now.setdefault(id_, {})[part] = None
    numbers = [version for version, _ in store.versions()][-most:]
    seen: set[tuple[str, str]] = set()
    for at, version in enumerate(numbers[:-1]):
        if cancel is not None:
            cancel.check()
        following = "" if files is None else files.operation(numbers[at + 1])
        if following in ("append", "fold", "index", "reserve", "settings") and at:
            continue
        try:
            for id_, part in _parts(store.pin(version), names):
                if part and part not in now.get(id_, ()) and (id_, part) not in seen:
                    seen.add((id_, part))
                    yield id_, part, "\n".join(now.get(id_, ()))
        except MemtuiError:  # cleaned away meanwhile
            continue


def _parts(pin: Snapshot, names: list[str]) -> Iterator[tuple[str, str]]:
    """(id, one of its texts) of every row, for each of the columns behind the first."""
    for batch in pin.scan(names):
        ids = batch.column(0).to_pylist()
        for number in range(1, len(names)):
            for id_, part in zip(ids, batch.column(number).to_pylist(), strict=True):
                yield str(id_), part or ""


def diff_versions(store: Store, before: int, after: int) -> tuple[RowChange, ...]:
    """What differs between two versions, by id: rows that came, went or changed, without the vectors."""
    old, new = rows_of_version(store.pin(before)), rows_of_version(store.pin(after))
    text = store.dialect.columns.text
    out = []
    for each, row in new.items():
        was = old.get(each)
        if was is None:
            out.append(RowChange(each, "add", str(row.get(text) or ""), after=row))
        elif was != row:
            names = tuple(name for name in row if row[name] != was.get(name))
            out.append(RowChange(each, "change", str(row.get(text) or ""), names, was, row))
    out += [
        RowChange(each, "remove", str(row.get(text) or ""), before=row)
        for each, row in old.items()
        if each not in new
    ]
    return tuple(out)


@dataclass(frozen=True, slots=True)
class WholeRestore:
    """What going back to a version would do to the table as a whole; nothing is written yet."""

    version: int
    newest: int
    changes: tuple[RowChange, ...]
    """As they would happen: "remove" is a memory that came since and would go."""
    indexes: tuple[str, ...]
    """Indexes of today that the version does not have."""
    later: int
    """Versions written since."""
    loses_words: bool = False
    """Whether the full-text index would go, which the agent searches words with."""
    unread: tuple[int, int] | None = None
    """Memories now and then, where those of now cannot be read: a file of theirs is gone; `changes` is empty."""

    def of(self, op: Literal["add", "remove", "change"]) -> int:
        """How many memories would be added, removed or changed."""
        return sum(change.op == op for change in self.changes)

    @property
    def sentence(self) -> str:
        """What would go with it, in one line."""
        lost = f"; the index {', '.join(self.indexes)} would go with it" if self.indexes else ""
        if self.unread is not None:
            now, then = self.unread
            return (
                f"the {counted(now, 'memory', 'memories')} of now cannot all be read, so what would go is not "
                f"known by name; {then:,} there were then; {counted(self.later, 'version')} of all writers "
                f"undone{lost}"
            )
        return (
            f"{counted(self.of('remove'), 'memory', 'memories')} that came since would go, "
            f"{self.of('change'):,} would be as they were, {self.of('add'):,} would come back; "
            f"{counted(self.later, 'version')} of all writers undone{lost}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "version": self.version,
            "newest": self.newest,
            "later": self.later,
            "rows": [
                {"id": change.id, "op": change.op, "fields": list(change.fields)} for change in self.changes
            ],
            "indexes_lost": list(self.indexes),
            "unread": None if self.unread is None else {"now": self.unread[0], "then": self.unread[1]},
        }


def plan_whole_restore(store: Store, version: int) -> WholeRestore:
    """What going back to `version` would take with it. Raises MemtuiError for a version that is gone."""
    from memtui.engine.store.table_facts import has_text_index, index_names

    store.refresh()
    newest = store.version
    then = set(index_names(store.pin(version)))
    now = store.pin(newest)
    lost = tuple(name for name in index_names(now) if name not in then)
    loses_words = has_text_index(now) and not has_text_index(store.pin(version))
    unread = None
    try:
        changes = diff_versions(store, newest, version)
    except DamagedStoreError:
        there = rows_of_version(store.pin(version))  # what cannot be read itself is nothing to go back to
        changes, unread = (), (now.count(), len(there))
    return WholeRestore(version, newest, changes, lost, newest - version, loses_words, unread)


def copy_version(
    store: Store,
    version: int,
    folder: Path,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> int:
    """Copy a version into a new store in `folder`, with its full-text index; how many rows it has.

    So a version is kept for good, whatever a clean-up takes: the store itself is not touched. Raises RefusedError
    where the folder has a table already, MemtuiError for a version that is gone; a copy that was cut off is taken
    away again.
    """
    import shutil

    from memtui.engine.core.progress import Progress
    from memtui.engine.transfer.make_store import create_table

    pinned = store.pin(version)
    schema = pinned.table.schema
    total, done = pinned.count(), 0
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    there = (folder / "memories.lance").exists()

    def rows() -> Iterator[Any]:
        nonlocal done
        for batch in pinned.scan(schema.names, batch_size=8_192):
            if cancel is not None:
                cancel.check()
            done += batch.num_rows
            if on_progress is not None:
                on_progress(Progress("copying", done, total))
            yield batch

    try:
        create_table(folder, store.dialect.name, schema, rows())
    except BaseException:
        if not there:
            shutil.rmtree(folder if made else folder / "memories.lance", ignore_errors=True)
        raise
    return total


def pin_version(
    engine: Engine,
    version: int,
    folder: Path,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[int, int | None]:
    """Copy a version as `copy_version` does, and write that down; (rows, the entry of the journal).

    Taking the entry back removes the copy, as long as nobody has written to it. None without a journal.
    """
    from memtui.engine.changes.version_tags import VersionCopy
    from memtui.engine.store.manifests import newest_number

    alone = not folder.exists()
    rows = copy_version(engine.store, version, folder, on_progress=on_progress, cancel=cancel)
    if engine.state is None:
        return rows, None
    table = (folder / "memories.lance").resolve()
    made = VersionCopy(str(table), newest_number(table) or 0, alone)
    title = f"v{version} copied to {folder}, {counted(rows, 'memory', 'memories')}"
    return rows, _note_copy(engine, version, made, title)


def _note_copy(engine: Engine, version: int, copy: VersionCopy, title: str) -> int:
    """Write down that a version was copied to a table of its own; the entry, which can be taken back by number."""
    from memtui.engine.changes.change_set import PIN
    from memtui.engine.changes.journal import RowImages

    writing = engine.write_state
    return writing.journal.intend(
        time_ms=engine.now_ms,
        action=PIN,
        title=title,
        changes=(),
        images=RowImages(None, None, None),
        version_before=version,
        detail={"copies": [copy.as_json()], **({"client": writing.client} if writing.client else {})},
        done=version,
    )


def rows_of_version(pin: Snapshot) -> dict[str, dict[str, Any]]:
    """Every row of a version by its id, without the vectors; of rows that share an id the last."""
    key = pin.dialect.columns.id
    names = list(pin.row_columns)
    return {
        str(row[key]): row
        for batch in pin.scan(names, batch_size=8_192)
        for row in batch.to_pylist()
        if row[key] is not None
    }


def time_line(
    store: Store,
    files: TableFiles | None,
    *,
    journal: list[JournalEntry] = [],  # noqa: B006 - never changed
    names: dict[int, str] | None = None,
    last: int = 200,
    fold: bool = True,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[VersionEntry, ...]:
    """The last versions, newest first: who wrote each, and what it did to the rows.

    `fold` puts neighbouring injections into one line, what was stored in one session, and all versions of one
    maintenance; a version with a name has its own. `names` are names of versions by number.
    """
    from memtui.engine.changes.change_set import MAINTAIN
    from memtui.engine.core.progress import Progress

    listed = store.versions()[-last - 1 :]
    ground = listed[0][0] if len(listed) > last else None  # read only to tell what the one after it changed
    ours = {  # an entry that wrote no version (a name, a copy, files beside) is nobody's
        entry.version_after: entry
        for entry in journal
        if entry.version_after is not None and entry.version_after != entry.version_before
    }
    lines: list[VersionEntry] = []
    before: dict[str, dict[str, Any]] | None = None
    for at, (version, time_ms) in enumerate(listed):
        if cancel is not None:
            cancel.check()
        if on_progress is not None:
            on_progress(Progress("reading versions", at, len(listed), "versions"))
        operation = "" if files is None else files.operation(version)
        try:
            now = (
                before
                if operation in (*MAINTENANCE, "index") and before is not None
                else rows_of_version(store.pin(version))
            )
        except MemtuiError:
            before = None
            continue
        lines.append(_line(version, time_ms, operation, before, now, ours.get(version), names or {}))
        before = now
    found = tuple(reversed(lines))
    spans = {
        entry.entry: entry.version_before
        for entry in journal
        if entry.action == MAINTAIN and entry.version_before is not None
    }
    shown = _folded(found, spans) if fold else found
    return shown[:-1] if shown and shown[-1].version == ground else shown


def _line(
    version: int,
    time_ms: int,
    operation: str,
    before: dict[str, dict[str, Any]] | None,
    now: dict[str, dict[str, Any]],
    entry: JournalEntry | None,
    names: dict[int, str],
) -> VersionEntry:
    old = {} if before is None else before
    added = [] if before is None else [each for each in now if each not in old]
    removed = [each for each in old if each not in now]
    changed = [each for each, row in now.items() if each in old and old[each] is not row and old[each] != row]
    writer, title = _writer(operation, entry, added, removed, changed, old, now)
    if before is None and writer == "unknown" and operation != "overwrite":
        title = "the oldest that is left: what it changed is not known"
    return VersionEntry(
        version,
        time_ms,
        writer,
        operation,
        title,
        len(added),
        len(removed),
        len(changed),
        entry=None if entry is None else entry.entry,
        name=names.get(version, ""),
        rows=len(now),
    )


def _writer(
    operation: str,
    entry: JournalEntry | None,
    added: list[str],
    removed: list[str],
    changed: list[str],
    old: dict[str, dict[str, Any]],
    now: dict[str, dict[str, Any]],
) -> tuple[Writer, str]:
    if entry is not None:
        return "memtui", entry.title
    if operation == "restore":
        return "restore", "went back to an older version"
    if operation == "index":
        return "index", "made an index"
    if operation in MAINTENANCE:
        return "maintenance", _UPKEEP[operation]
    if changed and not added and not removed and all(only_counters(old[each], now[each]) for each in changed):
        return "injection", f"{len(changed)} injected or recalled"
    if len(removed) == 1 and not added and not changed:
        return "change", "1 removed (the first half of a change, where the next adds it again)"
    if added and not removed and not changed:
        return "capture", f"{len(added)} stored"
    if added or removed or changed:
        return "change", "changed"
    return "unknown", _SILENT.get(operation, "no field of a row differs")


_UPKEEP = {
    "fold": "folded small files",
    "reserve": "made room for a fold",
    "settings": "settings of the table",
    "project": "columns of the table",
}

_SILENT = {
    "overwrite": "made the table",
    "append": "added nothing",
    "update": "rewrote rows: vectors, or unchanged rows",
    "merge": "rewrote rows: vectors, or unchanged rows",
}
"""What a commit did that changed no field, by its operation."""


_COUNTERS = frozenset(
    (
        "access_count",
        "accessCount",
        "last_accessed_at",
        "lastAccessedAt",
        "injected_count",
        "last_injected_at",
        "last_confirmed_use_at",
        "bad_recall_count",
        "suppressed_until_turn",
        "suppressed_until_ms",
        "tier",
    )
)
"""Keys that a recall changes by itself."""


def only_counters(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two states of a row differ in nothing but what a recall changes by itself."""
    from memtui.engine.metadata.read import parse_object

    names = [name for name in new if new[name] != old.get(name)]
    if not names or any(name != "metadata" and name not in _COUNTERS for name in names):
        return False
    if "metadata" not in names:
        return True
    was, now = parse_object(old["metadata"])[0], parse_object(new["metadata"])[0]
    return all(key in _COUNTERS or was.get(key) == now.get(key) for key in {*was, *now})


def _folded(lines: tuple[VersionEntry, ...], spans: Mapping[int, int]) -> tuple[VersionEntry, ...]:
    """Halves of one change joined, then neighbours of one writer and session in one line each.

    `lines` are newest first; `spans` are the versions before our own maintenances, by entry of the journal.
    """
    out: list[VersionEntry] = []
    for line in lines:
        last = out[-1] if out else None
        if last is not None and _halves(last, line):
            out[-1] = _joined(last, line, "injection" if last.operation == "append" else "change", "")
        else:
            out.append(line)
    folded: list[VersionEntry] = []
    for line in out:
        last = folded[-1] if folded else None
        title = None if last is None else _together(last, line, spans)
        if last is not None and title is not None:
            folded[-1] = replace(
                last,
                title=title,
                operation="",
                added=last.added + line.added,
                changed=last.changed + line.changed,
                first=line.first if line.first is not None else line.version,
            )
        else:
            folded.append(line)
    return tuple(folded)


def _together(later: VersionEntry, earlier: VersionEntry, spans: Mapping[int, int]) -> str | None:
    """What two neighbours are called in one line; None where each has a line of its own."""
    if earlier.name or earlier.entry is not None:
        return None
    since = None if later.entry is None else spans.get(later.entry)
    if since is not None and earlier.version > since:
        quiet = not (earlier.added or earlier.removed or earlier.changed)
        return later.title if quiet and earlier.writer in ("maintenance", "index", "unknown") else None
    if later.name or later.entry is not None or later.writer != earlier.writer:
        return None
    if later.writer == "injection":
        return f"{counted(later.changed + earlier.changed, 'memory', 'memories')} injected or recalled"
    near = later.time_ms - earlier.time_ms <= SESSION_PAUSE_MS
    if later.writer == "capture" and near:
        return f"{later.added + earlier.added:,} stored"
    return None


def _halves(later: VersionEntry, earlier: VersionEntry) -> bool:
    """Whether two versions are the delete and the add that the plugin makes of one change of one row."""
    return (
        earlier.operation == "delete"
        and earlier.removed == 1
        and later.added == 1
        and not later.removed
        and not later.changed
        and not earlier.name  # a version with a name has a line of its own
        and earlier.entry is None
        and later.entry is None
        and later.first is None
    )


def _joined(later: VersionEntry, earlier: VersionEntry, writer: Writer, title: str) -> VersionEntry:
    return VersionEntry(
        later.version, later.time_ms, writer, "", title or "1 memory rewritten", 0, 0, 1,
        first=earlier.version, name=later.name, rows=later.rows,
    )  # fmt: skip
