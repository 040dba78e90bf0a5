"""Metadata JSON of many rows as typed columns, by a real parser, at a third of the cost of `json.loads`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.metadata.categories import SMART
from memtui.engine.metadata.read import SOURCES

if TYPE_CHECKING:
    import pyarrow as pa


TEXTS = (
    "memory_category",
    "tier",
    "state",
    "source",
    "type",
    "memory_layer",
    "memory_temporal_type",
    "supersedes",
    "superseded_by",
)

NUMBERS = (
    "access_count",
    "confidence",
    "last_accessed_at",
    "valid_from",
    "valid_until",
    "invalidated_at",
    "suppressed_until_ms",
)

_PLAIN = r"\A\s*\{"

_DOUBTFUL = r"[:,\[]\s*(?:null|-?NaN|-?Inf)"
"""A null is not the same as an absent key, and this parser lets NaN and Infinity pass, which are no JSON."""

_PIECE = 4_096
"""Rows parsed at once: enough to be fast, little enough that the parser's buffers stay small."""

_SMALLEST = 256
"""A piece with a row that does not parse is halved down to this size before it goes row by row."""


def plain_rows(raw: pa.Array) -> NDArray[np.bool_]:
    """Which metadata texts the fast parser may be trusted with: they look like an object, without doubts."""
    import pyarrow.compute as pc

    plain = pc.and_not(pc.match_substring_regex(raw, _PLAIN), pc.match_substring_regex(raw, _DOUBTFUL))
    mask: NDArray[np.bool_] = plain.fill_null(False).to_numpy(zero_copy_only=False)
    return mask


def parse(raw: pa.Array) -> Iterator[tuple[slice, pa.StructArray | None]]:
    """The columns `TEXTS` and `NUMBERS` of each piece of `raw`; None for a piece that does not parse.

    The pieces cover all rows in order. A key of another type than expected counts as not parsing.
    """
    for start in range(0, len(raw), _PIECE):
        yield from _pieces(raw.slice(start, _PIECE), start)


def _pieces(raw: pa.Array, start: int) -> Iterator[tuple[slice, pa.StructArray | None]]:
    n = len(raw)
    parsed = _parse_all(raw)
    if parsed is not None or n <= _SMALLEST:
        yield slice(start, start + n), parsed
        return
    half = n // 2
    yield from _pieces(raw.slice(0, half), start)
    yield from _pieces(raw.slice(half), start + half)


def _parse_all(raw: pa.Array) -> pa.StructArray | None:
    """All rows as one struct array, None when a row does not parse.

    Each text is wrapped in an object of its own line. No text can swallow the line after it (an object
    left open meets `{` where a comma belongs), so an equal count of rows means that rows are aligned.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.json as pj

    large = pa.large_string()
    before, after, nothing = (pa.scalar(text, large) for text in ('{"m":', "}\n", ""))
    lines = pc.binary_join_element_wise(before, raw.cast(large), after, nothing)
    offsets = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset : lines.offset + len(lines) + 1]
    text = lines.buffers()[2].slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    block = max(1 << 20, int(np.diff(offsets).max()) + 1)
    fields = [(name, pa.string()) for name in TEXTS] + [(name, pa.float64()) for name in NUMBERS]
    options = pj.ParseOptions(
        explicit_schema=pa.schema([("m", pa.struct(fields))]), unexpected_field_behavior="ignore"
    )
    try:
        table = pj.read_json(
            pa.BufferReader(text), read_options=pj.ReadOptions(block_size=block), parse_options=options
        )
    except pa.ArrowInvalid:
        return None
    column = table.column("m").combine_chunks()
    array: Any = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    return array if len(array) == len(raw) else None


# The rules of metadata normalisation over whole columns, for rows that hold nothing odd.
#
# Each function says for which rows it may not decide; those go through `metadata.normalise`.

Floats = NDArray[np.float64]

Mask = NDArray[np.bool_]

Bytes = NDArray[np.uint8]

DURABLE = ("profile", "preferences", "events")

PLAIN_SOURCES = ("manual", "auto-capture", "legacy")
"""Sources that leave the state and the layer of a row to the general rule."""

WHOLE_MAX = 2.0**53
"""Above this a float no longer tells neighbouring whole numbers apart."""


def numbers(column: Any) -> Floats:
    """An Arrow column of floats, absent as NaN."""
    values: Floats = column.to_numpy(zero_copy_only=False)
    return values


def not_whole(values: Floats, least: float) -> Mask:
    """Where a number is there that is no whole number of at least `least`."""
    good = (values >= least) & (values <= WHOLE_MAX) & (np.floor(values) == values)
    return np.asarray(~np.isnan(values) & ~good)


def or_else(values: Floats, default: Floats | float) -> Floats:
    """`values` with `default` where absent."""
    return np.where(np.isnan(values), default, values)


def codes(column: Any, words: tuple[str, ...], default: int) -> tuple[Bytes, Mask, Mask]:
    """The places of texts in `words`; where the text is absent; where it is none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column, pa.array(words))
    absent = column.is_null().to_numpy(zero_copy_only=False)
    other = found.is_null().to_numpy(zero_copy_only=False) & ~absent
    return found.fill_null(default).to_numpy(zero_copy_only=False).astype(np.uint8), absent, other


def tiers(column: Any) -> Bytes:
    """Tier codes; what is no tier is working."""
    return codes(column, TIERS, TIERS.index("working"))[0]


def states_and_layers(rows: pa.StructArray) -> tuple[Bytes, Bytes, Mask]:
    """State codes, layer codes, and the rows that these rules do not decide.

    A state or layer that is not stored depends on the source, and the layer on the category too.
    """
    state, no_state, odd_state = codes(rows.field("state"), STATES, STATES.index("confirmed"))
    layer, no_layer, odd_layer = codes(rows.field("memory_layer"), LAYERS, LAYERS.index("working"))
    _, no_source, other_source = codes(rows.field("source"), PLAIN_SOURCES, 0)
    _, _, other_category = codes(rows.field("memory_category"), SMART, 0)
    durable = ~codes(rows.field("memory_category"), DURABLE, 0)[2]
    derived = np.where(durable, LAYERS.index("durable"), LAYERS.index("working"))
    derived = np.where(state == STATES.index("archived"), LAYERS.index("archive"), derived)
    undecided = (no_layer & other_category) | ((no_state | no_layer) & other_source)
    undecided |= no_source & present(rows.field("type"))
    return state, np.where(no_layer, derived, layer).astype(np.uint8), odd_state | odd_layer | undecided


def sources(column: Any) -> tuple[pa.Array, Mask]:
    """Where each row came from, "legacy" for an absent source; and the rows with an unknown one."""
    return column.fill_null("legacy"), codes(column, tuple(SOURCES), 0)[2]


def equals(column: Any, word: str) -> Mask:
    """Where a text is exactly `word`."""
    import pyarrow.compute as pc

    same: Mask = pc.equal(column, word).fill_null(False).to_numpy(zero_copy_only=False)
    return same


def blank(column: Any) -> Mask:
    """Where a text is there, but only white space."""
    import pyarrow.compute as pc

    return equals(pc.utf8_trim_whitespace(column), "")


def present(column: Any) -> Mask:
    """Where a text is there."""
    there: Mask = column.is_valid().to_numpy(zero_copy_only=False)
    return there
