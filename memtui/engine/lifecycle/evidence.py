"""What the metadata of rows says about how they were used: read only where there is something to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.metadata import count, parse_object, positive, text_or
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.select import positions_of

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.catalog import Catalog
    from memtui.engine.store.table import Store

_TELLING = (
    r'"(?:injected_count|bad_recall_count|last_confirmed_use_at)"\s*:\s*"?[1-9]'
    r'|"superse(?:des|ded_by)"|contradict|"importance"\s*:|"pinned"\s*:'
)
"""Rows without any of these have nothing that this module looks for."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Arrays [n] in the order of the catalog; times in ms, NaN where there is none.

    `rival` is the place of a memory that says otherwise, `replaced_by` of one that claims to replace this one
    while this one is still recalled; -1 for none. `own_importance` marks rows with an importance key in their
    metadata, the value that usage feedback writes into the column; `pinned` those that a person protects.
    """

    injected: NDArray[np.uint32]
    bad_recalls: NDArray[np.uint32]
    last_injected: NDArray[np.float64]
    confirmed: NDArray[np.float64]
    rival: NDArray[np.int64]
    replaced_by: NDArray[np.int64]
    own_importance: NDArray[np.bool_]
    pinned: NDArray[np.bool_]


def no_evidence(n: int) -> Evidence:
    """Of n memories that nothing is known of."""
    return Evidence(
        np.zeros(n, np.uint32),
        np.zeros(n, np.uint32),
        np.full(n, np.nan),
        np.full(n, np.nan),
        np.full(n, -1),
        np.full(n, -1),
        np.zeros(n, np.bool_),
        np.zeros(n, np.bool_),
    )


def read_evidence(
    store: Store, catalog: Catalog, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> Evidence:
    """Read the metadata once, in windows; parse the rows that have something to say."""
    found = no_evidence(catalog.n)
    pin = store.pin(catalog.version)
    column = pin.dialect.columns.metadata
    if column is None:
        return found
    links: list[tuple[int, str, str]] = []
    done = 0
    for batch in pin.read_through([column]):
        if cancel:
            cancel.check()
        at = positions_of(catalog, batch.column("_rowid").to_numpy())
        raw = batch.column(column)
        telling = _telling(raw)
        for place, text in zip(at[telling].tolist(), raw.filter(telling).to_pylist(), strict=True):
            links += [(place, kind, target) for kind, target in _take(found, place, parse_object(text)[0])]
        done += batch.num_rows
        if on_progress:
            on_progress(Progress("reading how memories were used", done, catalog.n))
    _link(found, catalog, links)
    return found


def _telling(raw: pa.Array) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    found: NDArray[np.bool_] = (
        pc.match_substring_regex(raw, _TELLING).fill_null(False).to_numpy(zero_copy_only=False)
    )
    return found


def _take(found: Evidence, place: int, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Note one row's counters; its links to other memories are returned."""
    most = np.iinfo(np.uint32).max
    found.injected[place] = min(count(values.get("injected_count", 0), 0), most)
    found.bad_recalls[place] = min(count(values.get("bad_recall_count", 0), 0), most)
    found.last_injected[place] = positive(values.get("last_injected_at"), np.nan)
    found.confirmed[place] = positive(values.get("last_confirmed_use_at"), np.nan)
    found.own_importance[place] = "importance" in values
    found.pinned[place] = values.get("pinned") is True
    links = [
        (kind, target)
        for kind in ("supersedes", "superseded_by")
        if (target := text_or(values.get(kind), None))
    ]
    relations = values.get("relations")
    for relation in relations if isinstance(relations, list) else ():
        if not isinstance(relation, Mapping) or "contradict" not in str(relation.get("type")):
            continue
        if target := text_or(relation.get("targetId"), None):
            links.append(("contradicts", target))
    return links


def _link(found: Evidence, catalog: Catalog, links: list[tuple[int, str, str]]) -> None:
    for place, kind, target in links:
        others = catalog.ids.find(target) if len(target) >= 8 else np.zeros(0, np.int64)
        if others.size != 1:
            continue
        other = int(others[0])
        if kind == "contradicts":
            found.rival[place], found.rival[other] = other, place
        elif kind == "supersedes":
            found.replaced_by[other] = place
        else:
            found.replaced_by[place] = other
