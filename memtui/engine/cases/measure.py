"""How well a recall answers a case: the field's usual measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from memtui.engine.cases.case import Case


@dataclass(frozen=True, slots=True)
class Measures:
    """Between 0 and 1, larger is better except `wrong_scope` and `rejected`; None where a measure does not apply."""

    hit: float | None
    """1 when an expected memory is among the first k."""
    recall: float | None
    """Share of the expected memories among the first k."""
    mrr: float | None
    """1 / rank of the first expected memory, 0 when none came back."""
    ndcg: float | None
    """Discounted gain of the expected memories over that of the best possible order (Jarvelin and Kekalainen)."""
    silence: float | None
    """For a case that asks for silence: 1 when nothing came back."""
    rejected: float
    """Share of what came back that the case rejects."""
    wrong_scope: float
    """Share of what came back from outside the case's scopes."""


MEASURES = tuple(field.name for field in fields(Measures))


def measure(case: Case, ids: Sequence[str], scopes: Sequence[str | None], k: int) -> Measures:
    """Judge the first `k` of what came back: `ids` in order, and the scope of each."""
    top = list(ids[:k])
    expected = set(case.expected)
    ranks = [rank for rank, each in enumerate(top, 1) if each in expected]
    gain = sum(1 / math.log2(rank + 1) for rank in ranks)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(expected), k) + 1))
    outside = 0 if case.scopes is None else sum(1 for scope in scopes[:k] if scope not in case.scopes)
    spoken = bool(expected)
    return Measures(
        hit=float(bool(ranks)) if spoken else None,
        recall=len(ranks) / len(expected) if spoken else None,
        mrr=(1 / ranks[0] if ranks else 0.0) if spoken else None,
        ndcg=gain / best if spoken and best else None,
        silence=float(not top) if case.silent else None,
        rejected=sum(1 for each in top if each in case.rejected) / len(top) if top else 0.0,
        wrong_scope=outside / len(top) if top else 0.0,
    )


def mean(measures: Sequence[Measures]) -> dict[str, float | None]:
    """The average of each measure over the cases to which it applies; None where it applies to none."""
    out: dict[str, float | None] = {}
    for name in MEASURES:
        values = [value for each in measures if (value := getattr(each, name)) is not None]
        out[name] = sum(values) / len(values) if values else None
    return out
