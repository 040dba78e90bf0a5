"""Orders by what the catalog does not hold: the texts, and columns that only this store has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.errors import UsageError
from memtui.engine.listing import SORT_KEYS
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.store import sql
from memtui.engine.store.catalog import Catalog
from memtui.engine.store.select import positions_of, sorted_positions

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.pin import Pin
    from memtui.engine.store.table import Store

TEXT = "text"
BEGINNING = 64
"""Characters by which texts are compared: enough to tell them apart, few enough for a million of them."""


def further_keys(dialect: Dialect, schema: pa.Schema) -> tuple[str, ...]:
    """The keys beside `SORT_KEYS` that a table can be sorted by: text, the dialect's labels, unknown columns.

    Columns of lists, structures and bytes have no order, and one that is called like a key gives way to it.
    """
    known = {*dialect.columns.known()} - {dialect.columns.created}
    unknown = [field.name for field in schema if field.name not in known and _has_order(field.type)]
    return tuple(key for key in dict.fromkeys((TEXT, *dialect.labels, *unknown)) if key not in SORT_KEYS)


def prepare(
    store: Store,
    catalog: Catalog,
    sort: str,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> None:
    """Put the order of `sort` into `catalog.orders`, where the catalog itself lacks what decides it.

    Raises `UsageError` for a key that this store does not have.
    """
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    if key in SORT_KEYS or key in catalog.labels or sort in catalog.orders:
        return
    pin = store.pin(catalog.version)
    keys = further_keys(pin.dialect, pin.schema)
    if key not in keys:
        raise UsageError(f"Nothing is sorted by {key!r}.", fix=f"Sort by {', '.join((*SORT_KEYS, *keys))}.")
    column = pin.dialect.columns.text if key == TEXT else key
    ranks = pin.derived(
        ("ranks", column, catalog.n), lambda: _ranks(pin, catalog, column, on_progress, cancel)
    )
    catalog.orders[sort] = sorted_positions(ranks, descending=descending)


def _ranks(
    pin: Pin, catalog: Catalog, column: str, on_progress: OnProgress | None, cancel: CancelToken | None
) -> NDArray[np.float64]:
    """The rank of each row's value in `column` [n], equal for equal values; NaN where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, name = pin.schema.field(column).type, sql.name(column)
    shown = f"lower(substr({name}, 1, {BEGINNING}))" if _is_text(kind) else name
    at, values, done = [np.empty(0, dtype=np.int64)], [], 0
    for batch in pin.scan({"value": shown}, with_row_id=True):
        if cancel:
            cancel.check()
        at.append(positions_of(catalog, batch.column("_rowid").to_numpy()))
        values.append(_comparable(batch.column("value")))
        done += batch.num_rows
        if on_progress:
            on_progress(Progress(f"Sorting by {column}", done, catalog.n))
    ranks = np.full(catalog.n, np.nan)
    if values:
        column_values = pa.chunked_array(values)
        ranked = pc.rank(column_values, sort_keys="ascending", tiebreaker="dense")
        missing = pc.is_null(column_values, nan_is_null=True).to_numpy()
        ranks[np.concatenate(at)] = np.where(missing, np.nan, ranked.to_numpy().astype(np.float64))
    return ranks


def _comparable(values: pa.Array) -> pa.Array:
    """The values as a type that Arrow can rank."""
    import pyarrow as pa

    if pa.types.is_string_view(values.type):
        return values.cast(pa.large_string())
    if pa.types.is_boolean(values.type) or pa.types.is_float16(values.type):
        return values.cast(pa.float32())
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _has_order(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_temporal)
    return _is_text(kind) or any(test(kind) for test in tests)
