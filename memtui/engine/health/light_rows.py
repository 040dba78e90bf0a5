"""The small columns that the catalog does not keep as they are stored: times, and links between memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.metadata.read import parse_object
from memtui.engine.store import sql

if TYPE_CHECKING:
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
    rows: list[NDArray[np.uint64]] = []
    times: list[NDArray[np.float64]] = []
    column = columns.timestamp or columns.created
    if column is not None:
        for batch in pin.scan([column], with_row_id=True):
            if cancel is not None:
                cancel.check()
            rows.append(batch.column("_rowid").to_numpy())
            times.append(_milliseconds(batch.column(column)))
    found = LightRows(
        np.concatenate(rows) if rows else np.zeros(0, np.uint64),
        np.concatenate(times) if times else np.zeros(0, np.float64),
    )
    if columns.metadata is None:
        return found
    newer, older, archived, late = _links(store, written_ms, cancel)
    return LightRows(found.row_ids, found.times, newer, older, frozenset(archived), late)


def _milliseconds(column: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return np.full(len(column), np.nan)
    found: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return found


def _links(
    store: Store, written_ms: float, cancel: CancelToken | None
) -> tuple[dict[str, str], dict[str, str], set[str], dict[str, float]]:
    id_column, metadata = store.dialect.columns.id, str(store.dialect.columns.metadata)
    newer: dict[str, str] = {}
    older: dict[str, str] = {}
    archived: set[str] = set()
    late: dict[str, float] = {}
    keys = ("supersede", "last_injected_at", "archive")  # a winner may say nothing of what it replaced
    wanted = " OR ".join(sql.contains(metadata, key) for key in keys)
    for batch in store.scan([id_column, metadata], where=wanted, batch_size=8_192):
        if cancel is not None:
            cancel.check()
        ids, texts = batch.column(id_column).to_pylist(), batch.column(metadata).to_pylist()
        for each, text in zip(ids, texts, strict=True):
            values = parse_object(text)[0]
            if each is None:
                continue
            stamp = values.get("last_injected_at")
            if isinstance(stamp, int | float) and not isinstance(stamp, bool) and stamp > written_ms:
                late[str(each)] = float(stamp)
            by, old = values.get("superseded_by"), values.get("supersedes")
            if isinstance(by, str) and by:
                newer[str(each)] = by
            if isinstance(old, str) and old:
                older[str(each)] = old
            if values.get("state") == "archived" or values.get("memory_layer") == "archive":
                archived.add(str(each))
    return newer, older, archived, late
