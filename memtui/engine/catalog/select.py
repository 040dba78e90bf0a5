"""Choosing rows of the catalog: orders, masks and counts, all without touching the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import Catalog, Codes, Mask, Positions
from memtui.engine.catalog.governance import labels_of
from memtui.engine.catalog.types import AGES, SORT_KEYS, Facets
from memtui.engine.core.errors import UsageError
from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.dialects.base import OWNER
from memtui.engine.dialects.importance_labels import LABELS
from memtui.engine.dialects.mem_engine import TRUST
from memtui.engine.query.ast import UNIT_MS
from memtui.engine.store import sql

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store


DEFAULT_SORT = "-timestamp"

Value = TypeVar("Value", str, str | None)

_BY_METADATA = (
    *("access", "used", "tier", "confidence", "state", "layer", "source"),
    *("valid_from", "valid_until", "invalidated", "suppressed"),
)


def choose(catalog: Catalog, mask: Mask | None, sort: str = DEFAULT_SORT) -> Positions:
    """The positions that `mask` keeps (None: all), in the order of `sort`."""
    ordered = order(catalog, sort)
    return ordered if mask is None else ordered[mask[ordered]]


def order(catalog: Catalog, sort: str) -> Positions:
    """All positions sorted by a key of `SORT_KEYS`, `-` for descending; made once for each catalog.

    Equal rows stay newest first; rows without a value come last either way. A key of the metadata
    sorts by time while that is not read. Any other column must have been prepared (`prepare`).
    Raises `UsageError` for an unknown key.
    """
    key = sort.removeprefix("-")
    if key in _BY_METADATA and catalog.meta is None:
        sort = DEFAULT_SORT
    found = catalog.orders.get(sort)
    if found is None:
        if key not in SORT_KEYS and key not in catalog.labels:
            keys = dict.fromkeys((*SORT_KEYS, *catalog.labels))
            raise UsageError(f"Nothing is sorted by {key!r}.", fix=f"Sort by {', '.join(keys)}.")
        found = catalog.orders[sort] = _order(catalog, sort)
    return found


def awaits_metadata(catalog: Catalog, sort: str) -> bool:
    """Whether this order has to wait for tiers and access counts."""
    return catalog.metadata_pending and sort.removeprefix("-") in _BY_METADATA


def positions_of(catalog: Catalog, row_ids: NDArray[np.uint64]) -> Positions:
    """Where rows with these row ids stand; row ids that are not in the catalog are left out."""
    by_row_id = catalog.orders.get("row_id")
    if by_row_id is None:
        by_row_id = catalog.orders["row_id"] = np.argsort(catalog.row_ids)
    if not catalog.n:
        return by_row_id
    place = np.searchsorted(catalog.row_ids, row_ids, sorter=by_row_id)
    positions = by_row_id[np.minimum(place, catalog.n - 1)]
    return np.asarray(positions[catalog.row_ids[positions] == row_ids])


def in_scopes(catalog: Catalog, scopes: Sequence[str | None]) -> Mask:
    """Rows whose stored scope is exactly one of `scopes` (None is NULL)."""
    wanted = np.array([scope in scopes for scope in catalog.scopes], dtype=np.bool_)
    return wanted[catalog.scope_codes] if wanted.size else np.zeros(catalog.n, dtype=np.bool_)


def of_owners(catalog: Catalog, owners: Sequence[str]) -> Mask:
    """Rows that belong to one of these agents; none in a table whose rows have no owner."""
    label = catalog.labels.get(OWNER)
    if label is None or not label.values:
        return np.zeros(catalog.n, dtype=np.bool_)
    return np.array([value in owners for value in label.values], dtype=np.bool_)[label.codes]


def facets(
    catalog: Catalog, mask: Mask | None, scope_mask: Mask | None = None, *, now_ms: int | None = None
) -> Facets:
    """Counts of the rows that `mask` keeps; scopes are counted over `scope_mask` where that is given, ages at `now_ms`.

    So a scope tree can go on showing what the other scopes hold while one is chosen.
    """
    meta, source = catalog.meta, catalog.labels.get("source")
    labels, trust = labels_of(catalog), catalog.labels.get(TRUST)
    return Facets(
        scopes=counts(catalog.scope_codes, catalog.scopes, mask if scope_mask is None else scope_mask),
        categories=category_counts(catalog, mask),
        tiers=counts(meta.tier, TIERS, mask) if meta else (),
        states=counts(meta.state, STATES, mask) if meta else (),
        layers=counts(meta.layer, LAYERS, mask) if meta else (),
        sources=counts(source.codes, source.values, mask) if source else (),
        labels=counts(labels, LABELS, mask) if labels is not None else (),
        trust=counts(trust.codes, trust.values, mask) if trust else (),
        ages=_ages(catalog, mask, now_ms) if now_ms is not None else (),
    )


def _ages(catalog: Catalog, mask: Mask | None, now_ms: int) -> tuple[tuple[str, int], ...]:
    """How many of the kept rows with a known time are of each span of `AGES`."""
    times = catalog.timestamp if mask is None else catalog.timestamp[mask]
    age = now_ms - times[times > 0]
    spans = [[UNIT_MS[end[-1]] * int(end[:-1]) for end in span.split("..")] for span in AGES]
    return tuple(
        (span, int(np.count_nonzero((age >= low) & (age <= high))))
        for span, (low, high) in zip(AGES, spans, strict=True)
    )


def counts(
    codes: Codes | NDArray[np.uint8], values: Sequence[Value], mask: Mask | None
) -> tuple[tuple[Value, int], ...]:
    """How many of the kept rows have each value, largest first; values that no row has are left out."""
    numbers = np.bincount(codes if mask is None else codes[mask], minlength=len(values))
    pairs = [(value, int(number)) for value, number in zip(values, numbers, strict=True) if number]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0] or "")))


def category_counts(catalog: Catalog, mask: Mask | None) -> tuple[tuple[str | None, int], ...]:
    """How many of the kept rows have each stored category; a row with several counts for each of them."""
    lists = catalog.category_lists
    if lists is None:
        return counts(catalog.category_codes, catalog.categories, mask)
    numbers: Counter[str | None] = Counter()
    for listed, number in zip(
        lists.values,
        np.bincount(lists.codes if mask is None else lists.codes[mask], minlength=len(lists.values)).tolist(),
        strict=True,
    ):
        for category in dict.fromkeys(listed) or (None,):
            numbers[category] += number
    found = [(category, number) for category, number in numbers.items() if number]
    return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0] or "")))


def _order(catalog: Catalog, sort: str) -> Positions:
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    if sort == DEFAULT_SORT:
        return np.arange(catalog.n, dtype=np.int64)
    return sorted_positions(_values(catalog, key), descending=descending)


def sorted_positions(values: NDArray[np.float64] | NDArray[np.float32], *, descending: bool) -> Positions:
    """Positions by their `values` [n]; equal ones stay as they stand, NaN comes last either way."""
    return np.argsort(-values if descending else values, kind="stable")


def _values(catalog: Catalog, key: str) -> NDArray[np.float64] | NDArray[np.float32]:
    """The column to sort by, NaN where a row has no value; the core tier counts as the highest."""
    meta = catalog.meta
    match key:
        case "timestamp":
            return _known(catalog.timestamp)
        case "importance":
            return catalog.importance
        case "scope":
            return _ranks(catalog.scopes)[catalog.scope_codes]
        case "category":
            return _ranks(catalog.categories)[catalog.category_codes]
        case "id":
            return catalog.ids.ranks()
    if key in catalog.labels:
        label = catalog.labels[key]
        return _ranks(label.values)[label.codes]
    assert meta is not None
    match key:
        case "state":
            return meta.state.astype(np.float32)
        case "layer":
            return meta.layer.astype(np.float32)
        case "valid_from":
            return meta.valid_from
        case "valid_until":
            return meta.valid_until
        case "invalidated":
            return meta.invalidated_at
        case "suppressed":
            return _known(meta.suppressed_until)
        case "access":
            return meta.access_count.astype(np.float64)
        case "used":
            return _known(meta.last_accessed)
        case "tier":
            return -meta.tier.astype(np.float32)
        case _:
            return meta.confidence


def _known(times: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(times > 0, times, np.nan)


def _ranks(values: Sequence[str | None]) -> NDArray[np.float32]:
    """The alphabetical rank of each value, NaN for None."""
    ranked = {
        value: rank for rank, value in enumerate(sorted(value for value in values if value is not None))
    }
    return np.array([np.nan if value is None else ranked[value] for value in values], dtype=np.float32)


# Orders by what the catalog does not hold: the texts, and columns that only this store has.

TEXT = "text"

BEGINNING = 64
"""Characters by which texts are compared: enough to tell them apart, few enough for a million of them."""


def sort_keys(dialect: Dialect, schema: pa.Schema) -> tuple[str, ...]:
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
    keys = sort_keys(pin.dialect, pin.schema)
    if key not in keys:
        raise UsageError(f"Nothing is sorted by {key!r}.", fix=f"Sort by {', '.join((*SORT_KEYS, *keys))}.")
    column = pin.dialect.columns.text if key == TEXT else key
    ranks = pin.derived(
        ("ranks", column, catalog.n), lambda: _by_column_ranks(pin, catalog, column, on_progress, cancel)
    )
    catalog.orders[sort] = sorted_positions(ranks, descending=descending)


def _by_column_ranks(
    pin: Snapshot, catalog: Catalog, column: str, on_progress: OnProgress | None, cancel: CancelToken | None
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
