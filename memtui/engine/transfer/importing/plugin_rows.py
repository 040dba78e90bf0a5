"""Rows of memory-lancedb-pro's table as rows of a table of memtui's own, a column at a time.

The seven columns are the same in both and go over as they are; tier, use and state are read out of the metadata. A
row that would need a word about what was changed on the way makes the whole go row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog import metadata_parse
from memtui.engine.core.memory import STATES, TIERS
from memtui.engine.metadata.read import SECONDS_BELOW, normalise
from memtui.engine.transfer.record import Record
from memtui.engine.transfer.sources.values import category_of

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Columns

PLUGIN, OWN = "pro", "memtui"
"""Names of the two dialects."""

_AT_ONCE = 4_096

Floats = NDArray[np.float64]


def with_lifecycle(table: pa.Table, columns: Columns) -> pa.Table | None:
    """`table` with what a table of ours has columns for; None where a row cannot go over as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [str(name) for name in (columns.tier, columns.access_count, columns.last_accessed, columns.state)]
    raw = table.column(columns.metadata).combine_chunks()
    times = _numbers(table.column(columns.timestamp))
    importance = _numbers(table.column(columns.importance))
    good = (times >= SECONDS_BELOW) & (times <= metadata_parse.WHOLE_MAX) & (np.floor(times) == times)
    good &= (importance >= 0) & (importance <= 1)
    words = pc.unique(table.column(columns.category)).to_pylist()
    if not good.all() or not all(map(_as_it_is, words)) or raw.null_count:
        return None
    if any(table.column(name).null_count < table.num_rows for name in names):
        return None  # columns that the plugin's table does not have
    found = _Lifecycle(len(raw))
    odd = found.read(raw, times)
    for start in range(0, len(odd), _AT_ONCE):
        part = table.select([columns.text, columns.category]).take(pa.array(odd[start : start + _AT_ONCE]))
        if not found.put(odd[start : start + _AT_ONCE], raw, part, times):
            return None
    for name, values in zip(names, found.columns(), strict=True):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), values.cast(table.schema.field(at).type))
    return table


def _numbers(column: Any) -> Floats:
    """A column as floats, NULL as NaN."""
    return metadata_parse.numbers(column.combine_chunks().cast("float64"))


def _as_it_is(word: str | None) -> bool:
    """Whether a category goes over without a word about it."""
    if word is None:
        return False
    found = category_of(Record(text="", where="", category=word))
    return found.column == word and not found.note and found.kept is None


class _Lifecycle:
    """Tier, use and state of some rows."""

    def __init__(self, n: int) -> None:
        self._tier, self._state = (np.zeros(n, dtype=np.uint8) for _ in range(2))
        self._count, self._last = (np.zeros(n) for _ in range(2))

    def read(self, raw: pa.Array, times: Floats) -> NDArray[np.int64]:
        """Read what the fast parser may be trusted with; the other rows are returned."""
        import pyarrow as pa

        plain = np.flatnonzero(metadata_parse.plain_rows(raw))
        odd = np.ones(len(raw), dtype=np.bool_)
        for piece, rows in metadata_parse.parse(raw.take(pa.array(plain))):
            if rows is None:
                continue
            at = plain[piece]
            state, _, doubtful = metadata_parse.states_and_layers(rows)
            used, last = (
                metadata_parse.numbers(rows.field(name)) for name in ("access_count", "last_accessed_at")
            )
            doubtful |= metadata_parse.not_whole(used, 0) | metadata_parse.not_whole(last, 0)
            self._tier[at], self._state[at] = metadata_parse.tiers(rows.field("tier")), state
            self._count[at] = metadata_parse.or_else(used, 0.0)
            self._last[at] = metadata_parse.or_else(last, times[at])
            odd[at] = doubtful
        return np.flatnonzero(odd)

    def put(self, odd: NDArray[np.int64], raw: pa.Array, rows: pa.Table, times: Floats) -> bool:
        """Normalise some rows one by one; False when what one has is no JSON object."""
        texts, categories = (column.to_pylist() for column in rows.columns)
        for at, text, category in zip(odd.tolist(), texts, categories, strict=True):
            metadata = raw[at].as_py()
            meta = normalise(metadata, text=text, category=category, timestamp_ms=int(times[at]), now_ms=0)
            if not meta.valid or not metadata:
                return False
            self._tier[at], self._state[at] = TIERS.index(meta.tier), STATES.index(meta.state)
            self._count[at], self._last[at] = meta.access_count, meta.last_accessed_at
        return True

    def columns(self) -> tuple[Any, ...]:
        """Arrow arrays: tier, access count, last access, state."""
        import pyarrow as pa

        tiers, states = (
            pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words)).cast(pa.string())
            for codes, words in ((self._tier, TIERS), (self._state, STATES))
        )
        return tiers, pa.array(self._count), pa.array(self._last), states
