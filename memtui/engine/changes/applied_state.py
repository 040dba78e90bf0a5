"""Whether a change is in the table: wholly, not at all, or changed again since."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from memtui.engine.metadata.json_patch import changed_keys, raw_values
from memtui.engine.store.row_values import ID, comparable, places, same

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.changes.journal import RowImages
    from memtui.engine.store.writer import Writer


class AppliedState(Enum):
    """What a comparison of an entry with the table says."""

    WHOLE = "wholly there"
    NOTHING = "not there"
    CHANGED = "changed since by another program"
    """None of its rows is what it was before or after: nothing can be said of the change itself."""
    HALF = "there in part"
    """Some rows are as after, others as before. One commit cannot leave that; somebody undid part of it."""


def whereabouts(images: RowImages, writer: Writer) -> AppliedState:
    """Compare the images of an entry with the rows that are there, at the version the writer stands at."""
    votes = {True: 0, False: 0}
    before, after, added = images.before, images.after, images.added
    edited = set() if after is None else set(after.column(ID).to_pylist())
    if added is not None:
        there = places(writer.rows(added.column(ID).to_pylist(), [ID]))
        for value in added.column(ID).to_pylist():
            votes[value in there] += 1
    if before is not None:
        ids = before.column(ID).to_pylist()
        columns = [ID] if after is None else after.schema.names
        now = writer.rows(ids, columns)
        there = places(now)
        for memory_id in ids:
            if memory_id not in edited:
                votes[memory_id not in there] += 1
        if after is not None:
            for vote in votes_of(before.select(columns), after, now, writer.dialect.columns.metadata):
                votes[vote] += 1
    return said_by(votes)


def said_by(votes: Mapping[bool, int]) -> AppliedState:
    """What the rows say together: how many are as after (True), how many as before (False)."""
    if votes[True] and votes[False]:
        return AppliedState.HALF
    if votes[True]:
        return AppliedState.WHOLE
    return AppliedState.NOTHING if votes[False] else AppliedState.CHANGED


def votes_of(before: pa.Table, after: pa.Table, now: pa.Table, metadata: str | None) -> list[bool]:
    """For each edited row that is as after (True) or as before (False); others say nothing."""
    names = after.schema.names
    old, new, current = (_by_id(table) for table in (before, after, now))
    votes = []
    for each, values in new.items():
        here = current.get(each)
        if here is None:
            continue
        told = [
            _tells(name == metadata, *column)
            for name, *column in zip(names, old[each], values, here, strict=True)
        ]
        said = {vote for vote in told if vote is not _SAME}
        if said in ({True}, {False}):
            votes.append(said.pop() is True)
    return votes


_SAME = object()


def _tells(is_metadata: bool, before: Any, after: Any, now: Any) -> object:
    """True: as after; False: as before; None: as neither; `_SAME` when the change left it alone.

    Of metadata only the keys that were changed are looked at: the agent counts on in the others.
    """
    if same(before, after):
        return _SAME
    if same(now, after) or same(now, before):
        return same(now, after)
    if not is_metadata:
        return None
    try:
        keys, values = changed_keys(before, after), raw_values(now)
    except ValueError:
        return None
    if all(values.get(key) == new for key, (_, new) in keys.items()):
        return True
    return False if all(values.get(key) == old for key, (old, _) in keys.items()) else None


def _by_id(table: pa.Table) -> dict[str, tuple[Any, ...]]:
    columns = [comparable(column.combine_chunks()) for column in table.columns]
    return dict(zip(table.column(ID).to_pylist(), zip(*columns, strict=True), strict=True))
