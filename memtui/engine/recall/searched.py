"""A search as a stage of the account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memtui.engine.recall.flow import Flow, Gate, Outcome
from memtui.engine.recall.pool import Hit, Pool

Column = np.ndarray[tuple[int], np.dtype[np.object_]]


def ranked(
    hits: Mapping[int, Hit], pool: Pool, dropped: Mapping[int, Gate], note: str, params: Mapping[str, Any]
) -> Outcome:
    """The hits of a search in rank order, with the number that each was ranked by; `dropped` did not qualify."""
    score = np.full(pool.n, np.nan)
    rule: Column = np.full(pool.n, "unchanged", object)
    inputs: dict[str, Column] = {}
    for index, hit in hits.items():
        score[index], rule[index] = hit.score, hit.rule
        for name, value in hit.inputs.items():
            if name not in inputs:
                inputs[name] = np.full(pool.n, None, object)
            inputs[name][index] = value
    order = np.array(sorted(hits, key=lambda index: hits[index].rank), np.int64)
    gone = {index: gate for index, gate in dropped.items() if index not in hits}
    return Outcome(Flow(order, score), rule, inputs, gone, params, note, "search")


def blank(pool: Pool) -> Flow:
    """Nobody yet: what a search starts from."""
    return Flow(np.array([], np.int64), np.full(pool.n, np.nan))
