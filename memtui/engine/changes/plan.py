"""Planning: from what a person wants to a change set that says, row by row, what will be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes import engine_values, fields, stored_changes
from memtui.engine.changes.change_set import Change, ChangeSet, Conflict
from memtui.engine.changes.edit_row import EditableRow, FieldEdit, change_of, patch_of
from memtui.engine.changes.reembed_text import embed, superseding, text_patch, versioned
from memtui.engine.changes.staging import overlaid
from memtui.engine.changes.stored_changes import BLOCK, StoredChanges, collected
from memtui.engine.changes.write_access import require_written
from memtui.engine.core.errors import UsageError
from memtui.engine.core.text import counted
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.store.row_values import places

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.core.memory import Memory
    from memtui.engine.engine import Engine
    from memtui.engine.providers.embedder import Embedder, NoEmbedder
    from memtui.engine.store.table import Store


DERIVED = "corpus:"
"""Ids of rows that the agent makes from files: whatever is changed in them, the next look at the files undoes."""


@dataclass(frozen=True, slots=True)
class Planner:
    """What planning needs to know; nothing here writes."""

    store: Store
    embedder: Embedder | NoEmbedder
    now_ms: int
    new_id: Callable[[], str]
    defined_scopes: Collection[str] = ()
    staged: ChangeSet | None = None
    """What is to be applied before: plans are made on top of it."""
    folder: Path | None = None
    """Where a very large plan is kept while somebody looks at it; the system's temporary folder where None."""

    def makes_version(self, memory: Memory) -> bool:
        """Whether a new text makes a new version of this memory; one that is staged to be new has none yet."""
        new = self.staged is not None and any(
            change.op == "add" and change.id == memory.id for change in self.staged.changes
        )
        return not new and versioned(memory, self.store.dialect)


def change_planner(engine: Engine) -> Planner:
    """Return what plans of changes work with: the store as it was looked at, or after our own last change to it.

    Raises RefusedError for a table that memtui never writes.
    """
    writing, store = engine.write_state, engine.store
    require_written(store.dialect)
    if writing.behind:  # a person has seen what was written
        writing.behind = False
        store.refresh()
    scopes = engine.found.scopes if engine.found and engine.found.scopes else {}
    defined = scopes.get("definitions")
    return Planner(
        store,
        engine.configured_embedder,
        engine.now_ms,
        engine.new_id,
        tuple(defined) if isinstance(defined, Mapping) else (),
        writing.staged.planned,
        engine.state,
    )


Taken = Callable[[Sequence[int], Sequence[str]], "pa.Table"]
"""Rows by their numbers, with these columns."""


class EditableRows(Mapping[str, EditableRow]):
    """Rows by id in the order asked for, made some at a time when they are asked for.

    A row as objects takes many times what it takes in the table: of a large edit they must not all stand at once.
    `at` says by which number `taken` gives each, as a table without vectors.
    """

    def __init__(self, taken: Taken, at: Mapping[str, int], store: Store, now_ms: int) -> None:
        self._taken, self._store, self._now_ms = taken, store, now_ms
        self._ids = tuple(at)
        self._number = {memory_id: number for number, memory_id in enumerate(self._ids)}
        self._at = tuple(at.values())
        self._block, self._made = -1, list[EditableRow]()

    def __getitem__(self, memory: str) -> EditableRow:
        block, place = divmod(self._number[memory], BLOCK)
        if block != self._block:
            self._made = self._read(block)
            self._block = block
        return self._made[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, memory: object) -> bool:
        return memory in self._number

    def _read(self, block: int) -> list[EditableRow]:
        start = block * BLOCK
        part = self._taken(self._at[start : start + BLOCK], self._store.row_columns)
        memories = self._store.dialect.to_memories(part, self._now_ms)
        return [EditableRow(*each) for each in zip(memories, part.to_pylist(), strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class ReadRows:
    """The rows that a plan is made on, in the order asked for."""

    rows: Mapping[str, EditableRow]
    taken: Taken
    at: dict[str, int]
    """By which number `taken` gives each row."""
    table: pa.Table | None
    """All of them with all columns; None where they are too many to be held."""
    version: int
    mark: Any
    columns: tuple[str, ...]
    conflicts: list[Conflict] = field(default_factory=list)
    doubled: Mapping[str, int] = field(default_factory=dict)
    """How many rows have an id that several have; `rows` has the first of them."""

    def whole(self, memory: str) -> pa.Table:
        """One row with all its columns."""
        return self.taken([self.at[memory]], self.columns)


def read(planner: Planner, ids: Iterable[str], *, doubled: bool = False) -> ReadRows:
    """The rows with these ids at the version that the store is pinned to; missing and shared ids are conflicts.

    `doubled`: ids that the table's own program gives to several rows are none.
    """
    store = planner.store
    wanted = list(dict.fromkeys(ids))
    version = store.version
    mark: Any = store.mark(version)
    table: pa.Table | None = None
    taken: Taken
    closed: list[Conflict] = []
    staged = planner.staged is not None and not set(planner.staged.ids).isdisjoint(wanted)
    if len(wanted) > stored_changes.MANY and not staged:
        there: Mapping[str, Sequence[int]] = store.row_ids(wanted)
        taken = partial(_out_of, store, version)
    else:
        table = store.rows_by_id(wanted, store.columns).select(list(store.columns))
        if planner.staged is not None and staged:
            table, closed = overlaid(planner.staged, table, wanted, store.dialect)
            mark = None  # these rows are not the table's
        there = places(table)
        taken = partial(_held, table)
    at: dict[str, int] = {}
    barred = {conflict.id for conflict in closed}
    shared: dict[str, int] = {}
    for each in wanted:
        here = there.get(each, ())
        if each in barred:
            continue
        if len(here) == 1:
            at[each] = here[0]
        elif here and doubled and store.dialect.doubled_ids:
            at[each], shared[each] = here[0], len(here)
        elif here:
            sentence = f"{len(here)} rows share this id: a change would hit all of them."
            closed.append(Conflict(each, "duplicate id", sentence))
        else:
            closed.append(Conflict(each, "gone", "There is no memory with this id."))
    rows = EditableRows(taken, at, store, planner.now_ms)
    return ReadRows(rows, taken, at, table, version, mark, tuple(store.columns), closed, shared)


def _held(table: pa.Table, at: Sequence[int], columns: Sequence[str]) -> pa.Table:
    return table.select(list(columns)).take(list(at))


def _out_of(store: Store, version: int, at: Sequence[int], columns: Sequence[str]) -> pa.Table:
    return store.take(at, columns, version=version).select(list(columns))


def staged_memory(engine: Engine, memory: str) -> Memory:
    """A memory as it will be once everything staged is applied; UsageError when it cannot change any more."""
    found = read(change_planner(engine), [memory])
    if memory not in found.rows:
        raise UsageError(found.conflicts[0].sentence, fix="Look at what is staged.")
    return found.rows[memory].memory


def makes_version(engine: Engine, memory: Memory) -> bool:
    """Whether a new text makes a new version of this memory, unless it is planned in place."""
    return versioned(memory, engine.store.dialect) and engine.write_state.staged.ops.get(memory.id) != "add"


def plan_edit(
    engine: Engine, ids: Sequence[str], given: Mapping[str, Any], *, reason: str = "", in_place: bool = False
) -> ChangeSet:
    """Set fields of memories; `given` has what a person typed, by field name.

    A new text goes to one memory only and is embedded here, before any lock is taken; of a preference or an
    entity it makes a new version unless `in_place`. Raises UsageError for values that make no sense,
    RefusedError when the text cannot be embedded.
    """
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_edit

        _one_text(given, ids)
        count = counted(len(ids), "memory", "memories")
        return plan_note_edit(engine, dict.fromkeys(ids, given), f"{count}: {_title(given)}")
    planner = change_planner(engine)
    dialect = planner.store.dialect
    values = fields.parse(given, dialect, planner.now_ms)
    _one_text(values, ids)
    setting = FieldEdit(values, planner.now_ms, reason)
    found = read(planner, ids)
    return _change_set(planner, found, dict.fromkeys(found.rows, setting), _title(given), in_place)


def _one_text(given: Mapping[str, Any], ids: Sequence[str]) -> None:
    if "text" in given and len(ids) > 1:
        raise UsageError(
            f"One text for {len(ids)} memories would make them all the same.",
            fix="Change the text of one memory at a time.",
        )


def plan_each(
    engine: Engine,
    given: Mapping[str, Mapping[str, Any]],
    title: str,
    *,
    reason: str = "",
    in_place: bool = False,
) -> ChangeSet:
    """Set fields of several memories, each its own: what a sweep does. `title` says what, in a few words.

    `in_place`: a new text takes the place of the old one, which is no version of its own."""
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_edit

        return plan_note_edit(engine, given, title)
    planner = change_planner(engine)
    read_values: dict[tuple[tuple[str, Any], ...], FieldEdit] = {}
    settings: dict[str, FieldEdit] = {}
    for each, values in given.items():
        key = tuple(values.items())
        if key not in read_values:
            parsed = fields.parse(values, planner.store.dialect, planner.now_ms)
            read_values[key] = FieldEdit(parsed, planner.now_ms, reason)
        settings[each] = read_values[key]
    return _change_set(planner, read(planner, given), settings, title, in_place)


def plan_texts(engine: Engine, texts: Mapping[str, str], *, in_place: bool = False) -> ChangeSet:
    """New texts for several memories, each its own: what an editor gives back."""
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_edit

        count = counted(len(texts), "memory", "memories")
        return plan_note_edit(
            engine, {each: {"text": text} for each, text in texts.items()}, f"{count}: new text"
        )
    planner = change_planner(engine)
    settings = {
        each: FieldEdit({"text": fields.check_text(text)}, planner.now_ms) for each, text in texts.items()
    }
    return _change_set(planner, read(planner, texts), settings, "new text", in_place)


def plan_reinstate(engine: Engine, ids: Sequence[str]) -> ChangeSet:
    """Superseded memories count again, beside those that took their place."""
    planner = change_planner(engine)
    settings = dict.fromkeys(ids, FieldEdit({"reinstated": True}, planner.now_ms))
    return _change_set(planner, read(planner, ids), settings, "no longer replaced", False)


def _change_set(
    planner: Planner, found: ReadRows, settings: Mapping[str, FieldEdit], what: str, in_place: bool
) -> ChangeSet:
    notes: Counter[str] = Counter()
    vectors = new_vectors(planner, found, settings, notes)
    conflicts = list(found.conflicts)
    named, done, quarantined, adds = set[str](), set[str](), False, False

    def made() -> Iterator[Change]:
        nonlocal quarantined, adds
        for each, row in found.rows.items():
            if each.startswith(DERIVED):
                sentence = "The agent makes this memory from a file and would undo the change: edit the file."
                conflicts.append(Conflict(each, "refused", sentence))
                continue
            for one in _changes(planner, found, row, settings[each], vectors.get(each), notes, in_place):
                if isinstance(one, Conflict):
                    conflicts.append(one)
                    continue
                named.add(one.group or one.id)
                done.update(one.after)
                adds |= one.op == "add"
                quarantined |= engine_values.is_quarantine(str(one.after.get(TRUST) or ""))
                yield one

    changes = collected(made(), planner.folder)
    for scope in {setting.values["scope"] for setting in settings.values() if "scope" in setting.values}:
        if warning := fields.scope_warning(scope, planner.store.dialect, planner.defined_scopes):
            notes[warning] = 0
    if quarantined:
        notes[engine_values.QUARANTINE_NOTE] = 0
    count = counted(len(named), "memory", "memories")
    rules = tuple(_rules(planner, settings.values(), done, adds=adds, embedded=bool(vectors)))
    return planned("edit", f"{count}: {what}", found, changes, conflicts, notes, rules)


def planned(
    action: str,
    title: str,
    found: ReadRows,
    changes: Sequence[Change],
    conflicts: Sequence[Conflict],
    notes: Counter[str],
    rules: tuple[str, ...] = (),
) -> ChangeSet:
    """The change set of a plan on the rows `found`; `rules` are sentences on what the store adds by itself."""
    return ChangeSet(
        action=action,
        title=title,
        changes=changes if isinstance(changes, StoredChanges) else tuple(changes),
        version=found.version,
        conflicts=tuple(conflicts),
        warnings=_sentences(notes),
        notes=rules,
        mark=found.mark,
        base=kept(found, changes),
    )


def _rules(
    planner: Planner, settings: Iterable[FieldEdit], done: set[str], *, adds: bool, embedded: bool
) -> Iterator[str]:
    """What the store's rules add to what was asked for, each once."""
    from memtui.engine.providers.embedder import NoEmbedder

    dialect, asked = planner.store.dialect, {name for edit in settings for name in edit.values}
    if embedded and not isinstance(planner.embedder, NoEmbedder):
        yield f"A new vector is made by {planner.embedder.describe()}."
    if adds:
        yield "A new version takes the place of the old one, which stays as history."
    if dialect.reads_metadata and "importance" in asked and "confidence" in done - asked:
        yield "The confidence is set with the importance, as the agent's own tool does."
    if LABEL in done and LABEL not in asked:
        yield engine_values.LABEL_NOTE
    if "pinned" in asked and "tier" in done - asked:
        yield "A pinned memory is core."


def kept(found: ReadRows, changes: Sequence[Change]) -> pa.Table | None:
    """The rows that a plan keeps for its application; None when they are too many, or rows are missing."""
    return found.table if len(changes) <= stored_changes.MANY and not found.conflicts else None


def _changes(
    planner: Planner,
    found: ReadRows,
    row: EditableRow,
    setting: FieldEdit,
    vector: Any,
    notes: Counter[str],
    in_place: bool,
) -> tuple[Change | Conflict, ...]:
    dialect = planner.store.dialect
    patch = patch_of(row, setting, dialect)
    made: tuple[Change | Conflict | None, ...]
    if vector is not None:
        text_patch(row, setting.values["text"], vector, setting, dialect, patch)
    if vector is not None and planner.makes_version(row.memory) and not in_place:
        whole = found.whole(row.memory.id)
        made = superseding(row, whole, patch, setting, dialect, planner.new_id)
    else:
        made = (change_of(row, patch, dialect),)
    notes.update(patch.warnings)
    return tuple(change for change in made if change is not None)


def new_vectors(
    planner: Planner, found: ReadRows, settings: Mapping[str, FieldEdit], notes: Counter[str]
) -> dict[str, Any]:
    """The vector of each new text that is another one than the old; one call to the embedder."""
    from memtui.engine.core.content_rules import noise_rule

    dialect, dims = planner.store.dialect, planner.store.dims
    new = {
        each: str(setting.values["text"])
        for each, setting in settings.items()
        if setting.values.get("text") is not None and each in found.rows
    }
    new = {each: text for each, text in new.items() if text != found.rows[each].memory.raw_text}
    if not new or dims is None or dialect.columns.vector is None:
        return {}
    old = [
        (found.rows[each].memory.raw_text, _vector(found.whole(each), dialect.columns.vector)) for each in new
    ]
    vectors = embed(planner.embedder, list(new.values()), old, dims)
    notes.update(vectors.warnings)
    for text in new.values():
        if rule := noise_rule(text):
            notes[f"the agent's noise filter would drop this text ({rule})"] += 1
    return dict(zip(new, vectors.new, strict=True))


def _vector(row: pa.Table, column: str) -> Any:
    import numpy as np

    value = row.column(column).combine_chunks()
    return None if value.null_count else np.asarray(value.flatten().to_numpy(zero_copy_only=False))


def _title(given: Mapping[str, Any]) -> str:
    """What is set, in a few words; never a text, which would be on show in every list."""
    parts = [
        f"new {name}"
        if name in ("text", "l0_abstract", "l1_overview", "l2_content")
        else f"{name} to {value}"
        for name, value in given.items()
    ]
    return ", ".join(parts)


def _sentences(notes: Counter[str]) -> tuple[str, ...]:
    """What was noted while planning, as sentences; said once, with how often."""
    sentences = (
        (note[0].upper() + note[1:] + ("" if note.endswith(".") else "."), n) for note, n in notes.items()
    )
    return tuple(f"{times} times: {sentence}" if times > 1 else sentence for sentence, times in sentences)
