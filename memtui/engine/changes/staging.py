"""Several actions in one change set: planned one on top of the other, looked at and applied together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Edit, Op
from memtui.engine.changes.materialize import materialise
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.text import counted
from memtui.engine.metadata.json_patch import patch
from memtui.engine.store.row_values import ID, same

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


SEVERAL = "changes"
"""The action of a set that was put together from different ones."""

_NAMED = 3
"""So many fields are named in a title."""

_SAID = {"relations": "links"}
"""What fields are called in a sentence, where that is not their name."""

_LAYERS = frozenset(("l0_abstract", "l1_overview", "l2_content"))
"""Fields that follow a new text, and are not named beside it."""


def why_not_staged(planned: ChangeSet) -> str:
    """Why a plan can only be applied alone; empty when it can wait among others."""
    if planned.undoes is not None:
        return "An undo or redo of a journal entry cannot be staged with other changes."
    if planned.files and not any(change.edit.columns or change.row is not None for change in planned.changes):
        return "A change of a file is applied alone: it cannot be staged with other changes."
    if planned.shrinks:
        return "Deleting including history rewrites the whole table: it cannot be staged with other changes."
    return "It has conflicts." if planned.conflicts else ""


def staged_with(first: ChangeSet | None, second: ChangeSet, dialect: Dialect) -> ChangeSet:
    """Both in one set; `second` was planned on top of `first`. Of one field the later value wins.

    What is again as it was before both is no change. Raises RefusedError for a plan that cannot wait, and for one
    that contradicts what is staged.
    """
    if why := why_not_staged(second):
        raise RefusedError(why, fix="Apply it at once.")
    if first is None:
        return second
    changes: dict[str, Change | None] = {change.id: change for change in first.changes}
    for change in second.changes:
        old = changes.get(change.id)
        changes[change.id] = change if old is None else _both(old, change, dialect)
    kept = tuple(change for change in changes.values() if change is not None)
    return replace(
        second,
        action=first.action if first.action == second.action else SEVERAL,
        title=title_of(kept),
        changes=kept,
        left=(*first.left, *second.left),
        warnings=tuple(dict.fromkeys((*first.warnings, *second.warnings))),
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
        copies=(*first.copies, *second.copies),
        mark=None,
        base=None,
    )


def title_of(changes: Sequence[Change]) -> str:
    """What a set of several actions does, in one line: "4 memories: tier, scope; 1 deleted"."""
    fields = Counter(name for change in changes if change.op == "edit" for name in change.after)
    follow = _LAYERS if "text" in fields else ()
    names = [_SAID.get(name, name) for name, _ in fields.most_common() if name not in follow]
    more = [f"{len(names) - _NAMED} more fields"] if len(names) > _NAMED else []
    ops = Counter(change.op for change in changes)
    parts = [", ".join((*names[:_NAMED], *more)) if ops["edit"] else ""]
    parts += [f"{ops['add']:,} new"] if ops["add"] else []
    parts += [f"{ops['delete']:,} deleted"] if ops["delete"] else []
    count = counted(len(changes), "memory", "memories")
    return f"{count}: {'; '.join(part for part in parts if part)}"


def without(staged: ChangeSet, ids: Collection[str]) -> ChangeSet | None:
    """The set without these memories, None when nothing is left of it."""
    rest = staged.without(ids)
    if not rest.changes:
        return None
    return rest if rest.title != staged.title else replace(rest, title=title_of(rest.changes))


def regardless(staged: ChangeSet, ids: Collection[str]) -> ChangeSet:
    """The set as it is to be written over what other programs made of these memories meanwhile."""
    changes = tuple(
        replace(change, edit=replace(change.edit, expects={}, expects_metadata={}))
        if change.id in ids
        else change
        for change in staged.changes
    )
    return replace(staged, changes=changes, conflicts=(), mark=None, base=None)


def overlaid(
    staged: ChangeSet, rows: pa.Table, wanted: Iterable[str], dialect: Dialect
) -> tuple[pa.Table, list[Conflict]]:
    """`rows` (those of the table with the ids in `wanted`) as they will be, and which cannot be changed any further.

    A row that is staged to go is not among them, nor one whose change stands or falls with those of others.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    asked = set(wanted)
    here = [change for change in staged.changes if change.id in asked]
    closed = {change.id: sentence for change in here if (sentence := _closed(change))}
    open_ones = tuple(change for change in here if change.id not in closed)
    material = materialise(replace(staged, changes=open_ones), rows, dialect, trusted=True)
    made = [part for part in (material.updates, material.adds) if part is not None]
    done = [*closed, *(value for part in made for value in part.column(ID).to_pylist())]
    rest = rows.filter(pc.invert(pc.is_in(rows.column(ID), pa.array(done, pa.string()))))
    conflicts = [Conflict(each, "refused", sentence) for each, sentence in closed.items()]
    return pa.concat_tables([rest, *(part.select(rows.schema.names) for part in made)]), conflicts


def _closed(change: Change) -> str:
    """Why nothing more can be done to this memory before its staged change is dropped; empty when it can."""
    if change.op == "delete":
        return "It is staged to be deleted: drop that from the change set first."
    if change.group and change.op == "edit":
        return (
            "It is staged together with others (a merge, a new version): drop or edit that in the change set."
        )
    return ""


def _both(first: Change, second: Change, dialect: Dialect) -> Change | None:
    if first.op == "edit" and second.op == "edit":
        return _twice_edited(first, second, dialect)
    if first.op == "edit" and second.op == "delete":
        expects = {name: first.edit.expects.get(name, value) for name, value in second.edit.expects.items()}
        before = {
            **second.before,
            **{name: first.before[name] for name in second.before if name in first.before},
        }
        return replace(second, title=first.title, before=before, edit=replace(second.edit, expects=expects))
    if first.op == "add" and second.op == "edit":
        return _new_edited(first, second, dialect)
    raise RefusedError(
        f"{first.id}: what is staged for it ({first.op}) and this ({second.op}) contradict each other.",
        fix="Drop it from the change set first.",
    )


def _twice_edited(first: Change, second: Change, dialect: Dialect) -> Change | None:
    """One edit of both: the later value of each field, what was there before the first."""
    before, after = {**second.before, **first.before}, {**first.after, **second.after}
    undone = {name for name in after if name in before and same(before[name], after[name])}
    expects = {**second.edit.expects, **first.edit.expects}
    metadata = _kept({**first.edit.metadata, **second.edit.metadata}, undone)
    columns = _kept({**first.edit.columns, **second.edit.columns}, undone)
    name = dialect.columns.metadata
    if name in columns and (first.edit.metadata or second.edit.metadata):
        if metadata:
            columns[name] = patch(expects.get(name), metadata)
        else:
            del columns[name]
    vector = first.edit.vector if second.edit.vector is None else second.edit.vector
    if dialect.columns.text in undone:
        vector = None
    if not columns and not metadata and vector is None:
        return None
    texts = {**second.edit.expects_metadata, **first.edit.expects_metadata}
    return replace(
        second,
        before=_kept(before, undone),
        after=_kept(after, undone),
        title=first.title,
        why=second.why or first.why,
        group=second.group or first.group,
        scope=first.scope,
        edit=Edit(columns, metadata, expects, _kept(texts, texts.keys() - metadata.keys()), vector),
    )


def _new_edited(first: Change, second: Change, dialect: Dialect) -> Change:
    """A staged new row with a further edit in it."""
    one = ChangeSet("edit", "", (second,), 0)
    row = materialise(one, first.row, dialect, trusted=True).updates
    after = {name: second.after.get(name, value) for name, value in first.after.items()}
    shown = {name: value for name, value in second.after.items() if name in first.row.schema.names}
    text = after.get(dialect.columns.text)
    title = " ".join(str(text).split()) if text else first.title
    scope = after.get(str(dialect.columns.scope), first.scope)
    return replace(first, after={**after, **shown}, title=title, scope=scope, row=row)


def _kept(values: Mapping[str, Any], undone: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in undone}


# What waits to be applied to one store: a change set that grows, shrinks, and is then written as a whole.


class StagedChanges:
    """The staged changes of one store; nothing of them is written before they are applied."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._planned: ChangeSet | None = None

    def __len__(self) -> int:
        return 0 if self._planned is None else len(self._planned.changes)

    @property
    def planned(self) -> ChangeSet | None:
        """Everything that is staged, in one set; None for nothing."""
        return self._planned

    @property
    def ops(self) -> Mapping[str, Op]:
        """What is staged for each memory."""
        return {} if self._planned is None else {change.id: change.op for change in self._planned.changes}

    def with_(self, planned: ChangeSet) -> ChangeSet:
        """What is staged together with a plan that was made on top of it; nothing is staged by this."""
        return staged_with(self._planned, planned, self._dialect)

    def add(self, planned: ChangeSet) -> ChangeSet:
        """Stage a plan; the whole set. Raises RefusedError for a plan that cannot wait."""
        if planned.unsent:
            raise RefusedError(f"Its vectors are not made: {planned.unsent}.", fix="Plan it again.")
        self._planned = self.with_(planned)
        if not self._planned.changes:
            self._planned = None
        return self._planned or planned

    def drop(self, ids: Collection[str]) -> None:
        """Leave these memories alone, and those whose changes stand or fall with theirs."""
        if self._planned is not None:
            self._planned = without(self._planned, ids)

    def clear(self) -> None:
        """Nothing is staged any more."""
        self._planned = None

    def regardless(self, ids: Collection[str]) -> ChangeSet:
        """The set as it is to be written over what other programs made of these memories; see `regardless`."""
        return regardless(self._planned or ChangeSet("edit", "nothing is staged", (), 0), ids)
