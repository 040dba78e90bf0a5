"""The rules of metadata normalisation over whole columns, for rows that hold nothing odd.

Each function says for which rows it may not decide; those go through `metadata.normalise`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.categories import SMART
from memtui.engine.memory import LAYERS, STATES, TIERS
from memtui.engine.metadata import SOURCES

if TYPE_CHECKING:
    import pyarrow as pa

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
