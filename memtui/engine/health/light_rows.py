"""The small columns that the catalog does not keep as they are stored: times, and links between memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.dialects import time_columns
from memtui.engine.metadata.read import parse_object
from memtui.engine.store import sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from memtui.engine.core.progress import CancelToken
    from memtui.engine.store.table import Store


@dataclass(frozen=True, slots=True, eq=False)
class LightRows:
    """Row i of the table in storage order."""

    row_ids: NDArray[np.uint64]
    times: NDArray[np.float64]
    """As stored; NaN for NULL. Empty where the table has no column of times."""
    superseded_by: dict[str, str] = field(default_factory=dict)
    supersedes: dict[str, str] = field(default_factory=dict)
    archived: frozenset[str] = frozenset()
    """Ids of the memories that are put away, by their state or their layer."""
    injected_late: dict[str, float] = field(default_factory=dict)
    """When the memories were injected (ms) whose note of it is later than the table's newest version."""


def read_light_rows(store: Store, written_ms: float, cancel: CancelToken | None = None) -> LightRows:
    """One pass over the times, and one over the metadata that tells of a link, an injection or the archive.

    `written_ms` is when the newest version was written: only injections noted for later are kept.
    """
    pin = store.pin()
    columns = pin.dialect.columns
    column = columns.timestamp or columns.created
    count, done = pin.count() if column is not None else 0, 0
    rows, times = (
        np.zeros(count, np.uint64),
        np.zeros(count, np.float64),
    )  # filled: parts put together are held twice
    for batch in pin.scan([column], with_row_id=True) if column is not None else ():
        if cancel is not None:
            cancel.check()
        here = slice(done, done + batch.num_rows)
        rows[here] = batch.column("_rowid").to_numpy()
        times[here] = time_columns.numbers(batch.column(column), pin.dialect.times)
        done = here.stop
    found = LightRows(rows[:done], times[:done])
    if columns.metadata is None:
        return found
    newer, older, archived, late = _links(store, written_ms, cancel)
    return LightRows(found.row_ids, found.times, newer, older, frozenset(archived), late)


_KEYS = ("supersede", "last_injected_at", "archive")
"""One of these stands in the metadata that is read; a winner may say nothing of what it replaced."""

_WINDOW = 65_536
"""Rows of metadata at a time: one query over all of them reads ahead, the more the more files there are."""


def _told(store: Store, id_column: str, metadata: str) -> Iterator[pa.RecordBatch]:
    """Ids and metadata of the rows that tell something, a window at a time; far away in one query."""
    import pyarrow.compute as pc

    if store.is_far:
        where = " OR ".join(sql.contains(metadata, key) for key in _KEYS)
        yield from store.scan([id_column, metadata], where=where, batch_size=8_192)
        return
    for batch in store.pin().read_through([id_column, metadata], rows=_WINDOW):
        texts = batch.column(metadata)
        tells = pc.match_substring(texts, _KEYS[0], ignore_case=True)
        for key in _KEYS[1:]:
            tells = pc.or_(tells, pc.match_substring(texts, key, ignore_case=True))
        yield batch.filter(tells.fill_null(False))


def _links(
    store: Store, written_ms: float, cancel: CancelToken | None
) -> tuple[dict[str, str], dict[str, str], set[str], dict[str, float]]:
    id_column, metadata = store.dialect.columns.id, str(store.dialect.columns.metadata)
    newer: dict[str, str] = {}
    older: dict[str, str] = {}
    archived: set[str] = set()
    late: dict[str, float] = {}
    for batch in _told(store, id_column, metadata):
        if cancel is not None:
            cancel.check()
        ids, texts = batch.column(id_column).to_pylist(), batch.column(metadata).to_pylist()
        for memory_id, text in zip(ids, texts, strict=True):
            values = parse_object(text)[0]
            if memory_id is None:
                continue
            stamp = values.get("last_injected_at")
            if isinstance(stamp, int | float) and not isinstance(stamp, bool) and stamp > written_ms:
                late[str(memory_id)] = float(stamp)
            by, old = values.get("superseded_by"), values.get("supersedes")
            if isinstance(by, str) and by:
                newer[str(memory_id)] = by
            if isinstance(old, str) and old:
                older[str(memory_id)] = old
            if values.get("state") == "archived" or values.get("memory_layer") == "archive":
                archived.add(str(memory_id))
    return newer, older, archived, late
