"""Taking back a restore of the whole table: its rows as they were in the version that it replaced."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import MAINTAIN, ChangeSet
from memtui.engine.changes.journal import RowImages
from memtui.engine.changes.reverse import shift_rows
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.store.errors import explained
from memtui.engine.store.row_values import ID, comparable
from memtui.engine.store.sql import is_in as in_values

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.changes.journal import JournalEntry
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.writer import Writer

RESTORED = "restored"
"""In the detail of a journal entry: the version to which the whole table was set back."""


def is_whole_restore(entry: JournalEntry) -> bool:
    """Whether an entry set the whole table back to an older version."""
    return entry.action == MAINTAIN and RESTORED in entry.detail and entry.version_before is not None


def plan_undo_of_restore(entry: JournalEntry, writer: Writer, *, forced: Collection[str] = ()) -> ChangeSet:
    """Bring the rows that a whole restore changed back to how they were before it; what came since stays.

    Raises RefusedError where one of the two versions is gone, or its columns are no longer the table's.
    """
    receipt: dict[str, Any] = entry.detail.get("receipt") or {}
    old_version, new_version = entry.version_before, receipt.get("version_after")
    if old_version is None or not isinstance(new_version, int):
        raise RefusedError(f"Entry {entry.entry} does not say what it replaced.", fix="Nothing was changed.")
    try:
        old, new = writer.at(old_version), writer.at(new_version)
        before, after = _digests(old), _digests(new)
    except MemtuiError as error:
        raise RefusedError(
            f"Entry {entry.entry} cannot be undone: version {old_version} or {new_version} of the table is gone.",
            fix="See what is left with: memtui versions. Nothing was changed.",
            details=error.details or str(error),
        ) from error
    names = list(writer.schema.names)
    if not set(names) <= set(old.schema.names):
        raise RefusedError(
            f"Version {old_version} has other columns than the table of today.",
            fix=f"Bring back single memories with: memtui versions restore {old_version} ID. Nothing was changed.",
        )
    gone = [key for key in before if key not in after]
    changed = [key for key, digest in before.items() if after.get(key, digest) != digest]
    came = [key for key in after if key not in before]
    images = RowImages(
        _rows(old, names, [*gone, *changed]), _rows(new, names, changed), _rows(new, names, came)
    )
    return shift_rows(entry, images, writer, "before", action="undo", forced=forced)


def _digests(pin: Snapshot) -> dict[str, bytes]:
    """What each row holds, by id, in few bytes."""
    found: dict[str, bytes] = {}
    names = list(pin.schema.names)
    for batch in pin.scan(names):
        keys = batch.column(ID).to_pylist()
        columns = [comparable(batch.column(name)) for name in names]
        for key, *values in zip(keys, *columns, strict=True):
            if key is not None:
                found[key] = blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return found


def _rows(pin: Snapshot, names: list[str], ids: list[str]) -> pa.Table | None:
    if not ids:
        return None
    with explained(pin.where):
        return pin.table.search().where(in_values(ID, ids)).select(names).limit(None).to_arrow()
