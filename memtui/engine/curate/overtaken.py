"""What another program wrote at the last moment, without a lock, and what our commit would have lost of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.engine.curate.changes import ChangeSet, Conflict
from memtui.engine.curate.journal import Images
from memtui.engine.curate.materialise import Material, materialise
from memtui.engine.curate.rows import ID, differing, places

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.writer import Writer


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """A second commit that puts the other program's change back, with ours on top where both can stand."""

    updates: pa.Table | None
    adds: pa.Table | None
    deletes: tuple[str, ...]
    images: Images
    """What our change replaced and made, for the journal: on top of the other program's rows."""
    conflicts: tuple[Conflict, ...]
    """Rows that are left as the other program wrote them."""


def overtaken(
    change_set: ChangeSet, written: Material, writer: Writer, version_before: int, version_after: int
) -> Repair | None:
    """Compare the rows we read, at `version_before`, with those just before our commit; None when equal.

    A commit replaces whole rows. Where others committed in between and changed one of ours, their version is
    the one to change: what we wrote was made from an older one.
    """
    before = written.images.before
    if version_after == version_before + 1 or before is None:
        return None
    names = before.schema.names
    ids = before.column(ID).to_pylist()
    theirs = writer.at(version_after - 1).rows_by_id(ids, names).select(names)
    changed = set(differing(before, theirs, names))
    if not changed:
        return None
    part = replace(change_set, changes=tuple(each for each in change_set.changes if each.id in changed))
    again = materialise(part, theirs, writer.dialect, trusted=False)
    lost = {conflict.id for conflict in again.conflicts}
    there = places(theirs)
    edited = set() if written.updates is None else set(written.updates.column(ID).to_pylist())
    left = _only(theirs, lost)
    images = Images(
        before=_replaced(before, theirs, changed, lost),
        after=_replaced(written.images.after, again.images.after, changed, lost),
        added=written.images.added,
    )
    return Repair(
        updates=_joined(again.updates, _only(left, edited)),
        adds=_only(left, {each for each in lost if each not in edited}),
        # A commit that also adds rows brings back an edited one that was deleted meanwhile.
        deletes=tuple(each for each in edited & lost - there.keys() if written.adds is not None),
        images=images,
        conflicts=again.conflicts,
    )


def _replaced(
    old: pa.Table | None, new: pa.Table | None, changed: Collection[str], lost: Collection[str]
) -> pa.Table | None:
    """`old` with the rows in `changed` taken from `new`, and without those in `lost`."""
    if old is None:
        return None
    kept = _only(old, {each for each in old.column(ID).to_pylist() if each not in changed})
    fresh = _only(new, set(changed) - set(lost))
    return _joined(kept, fresh.select(old.schema.names) if fresh is not None else None)


def _only(table: pa.Table | None, ids: Collection[str]) -> pa.Table | None:
    import pyarrow as pa

    if table is None:
        return None
    at = [n for n, value in enumerate(table.column(ID).to_pylist()) if value in ids]
    return table.take(pa.array(at, pa.int64())) if at else None


def _joined(*parts: pa.Table | None) -> pa.Table | None:
    import pyarrow as pa

    there = [part for part in parts if part is not None]
    return pa.concat_tables(there) if there else None
