"""Running the cases: each question asked, each answer measured, A against B."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from memtui.engine.cases.case import MOST_RESULTS, Case
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.recall.request import UNSET, RecallRequest

# How well a recall answers a case: the field's usual measures.


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
    """Discounted gain of the expected memories over that of the best possible order (Jarvelin and Kekalainen).

    The gain of a memory is 2^grade - 1; memories that have no grade of their own have the best one."""
    silence: float | None
    """For a case that asks for silence: 1 when nothing came back, or the recall said that none of it answers."""
    rejected: float
    """Share of what came back that the case rejects."""
    wrong_scope: float
    """Share of what came back from outside the case's scopes."""


MEASURES = tuple(field.name for field in fields(Measures))


def measure(
    case: Case, ids: Sequence[str], scopes: Sequence[str | None], k: int, *, unanswered: bool = False
) -> Measures:
    """Judge the first `k` of what came back: `ids` in order, and the scope of each.

    `unanswered` says that the recall itself told that none of them answers: as good as silence.
    """
    top = list(ids[:k])
    expected = set(case.expected)
    ranks = [rank for rank, each in enumerate(top, 1) if each in expected]
    gains = (
        {each: 2.0 ** (case.grade(each) or 0) - 1 for each in expected}
        if case.grades
        else dict.fromkeys(expected, 1.0)
    )
    gain = sum(gains[top[rank - 1]] / math.log2(rank + 1) for rank in ranks)
    ideal = sorted(gains.values(), reverse=True)[:k]
    best = sum(each / math.log2(rank + 1) for rank, each in enumerate(ideal, 1))
    outside = 0 if case.scopes is None else sum(1 for scope in scopes[:k] if scope not in case.scopes)
    spoken = bool(expected)
    return Measures(
        hit=float(bool(ranks)) if spoken else None,
        recall=len(ranks) / len(expected) if spoken else None,
        mrr=(1 / ranks[0] if ranks else 0.0) if spoken else None,
        ndcg=gain / best if spoken and best else None,
        silence=float(unanswered or not top) if case.silent else None,
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


# Whether A is really better than B: a paired randomisation test over the cases (Fisher 1935).

EXACT_UP_TO = 14
"""Up to this many differing cases all sign patterns are tried; beyond it a sample of them."""

SAMPLES = 20_000

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Significance:
    """The comparison of two configurations on the same cases."""

    cases: int
    better: int
    """Cases that B answers better."""
    worse: int
    difference: float
    """Mean of B minus A."""
    p: float
    """Probability of a difference at least as large if A and B were the same."""

    @property
    def distinguishable(self) -> bool:
        """Whether the difference is unlikely to be chance at the 5 % level."""
        return self.p < LEVEL

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.better == self.worse == 0:
            return (
                f"A and B answer all {counted(self.cases, 'case')} alike"
                if self.cases != 1
                else "A and B answer the one case alike"
            )
        if not self.distinguishable:
            return f"not distinguishable on {counted(self.cases, 'case')} (p {self.p:.2g})"
        return (
            f"{'B' if self.difference > 0 else 'A'} is better (p {self.p:.2g}, {counted(self.cases, 'case')})"
        )


def paired(a: Sequence[float], b: Sequence[float], rng: random.Random) -> Significance:
    """Compare per-case values of A and B, larger is better; `rng` draws the sample for many cases."""
    differences = [y - x for x, y in zip(a, b, strict=True)]
    moved = [d for d in differences if d != 0]
    observed = abs(sum(moved))
    if not moved:
        p = 1.0
    elif len(moved) <= EXACT_UP_TO:
        patterns = itertools.product((1, -1), repeat=len(moved))
        extreme = sum(
            abs(sum(s * d for s, d in zip(signs, moved, strict=True))) >= observed - 1e-12
            for signs in patterns
        )
        p = extreme / 2 ** len(moved)
    else:
        extreme = sum(
            abs(sum(d if rng.random() < 0.5 else -d for d in moved)) >= observed - 1e-12
            for _ in range(SAMPLES)
        )
        p = (extreme + 1) / (SAMPLES + 1)
    n = len(differences)
    return Significance(
        n, sum(d > 0 for d in moved), sum(d < 0 for d in moved), sum(differences) / n if n else 0.0, p
    )


DEFAULT_K = 5

SEED = 20260901
"""The sample of the paired test is the same each time."""


@dataclass(frozen=True, slots=True)
class CaseSetup:
    """One way to answer: a recipe and settings over the store's own, who asks, when, and which version is asked."""

    name: str
    recipe: str = ""
    config: Mapping[str, Any] | None = None
    source: Any = UNSET
    now_ms: int | None = None
    table_version: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The setup as it is printed: what is left as the recipe has it is left out."""
        out: dict[str, Any] = {"name": self.name, "recipe": self.recipe, "config": self.config}
        if self.source is not UNSET:
            out["source"] = self.source
        rest = {"now_ms": self.now_ms, "table_version": self.table_version}
        return out | {key: value for key, value in rest.items() if value is not None}


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """What one setup gave for one case."""

    case: Case
    ids: tuple[str, ...]
    measures: Measures | None
    """None when the recall failed."""
    missing: tuple[str, ...] = ()
    """Expected memories that are no longer in the store."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class CaseFlip:
    """A case that A and B answer differently."""

    case: Case
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class CaseReport:
    """All answers of a setup, their averages, and the comparison with a second setup if there was one."""

    setup: CaseSetup
    k: int
    answers: tuple[CaseAnswer, ...]
    mean: Mapping[str, float | None]
    other: CaseReport | None = None
    paired: Significance | None = None
    flips: tuple[CaseFlip, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui cases run --json`."""
        out: dict[str, Any] = {
            "setup": self.setup.as_json(),
            "k": self.k,
            "cases": len(self.answers),
            "mean": dict(self.mean),
            "answers": [
                {
                    "id": answer.case.id,
                    "query": answer.case.query,
                    "ids": list(answer.ids),
                    "measures": None
                    if answer.measures is None
                    else {name: getattr(answer.measures, name) for name in MEASURES},
                    "missing": list(answer.missing),
                    "error": answer.error,
                }
                for answer in self.answers
            ],
        }
        if self.other is not None and self.paired is not None:
            out["b"] = self.other.as_json()
            out["paired"] = {
                "difference": self.paired.difference,
                "p": self.paired.p,
                "better": self.paired.better,
                "worse": self.paired.worse,
                "verdict": self.paired.verdict,
            }
            out["flips"] = [
                {"id": flip.case.id, "query": flip.case.query, "a": flip.a, "b": flip.b}
                for flip in self.flips
            ]
        return out


Ask = Callable[[RecallRequest], Any]
"""`Engine.recall`."""

Known = Callable[[Sequence[str]], Mapping[str, Any]]
"""`Engine.memories`: ids to memories, absent ones left out."""


def run_cases(
    cases: Sequence[Case],
    setup: CaseSetup,
    ask: Ask,
    known: Known,
    *,
    k: int = DEFAULT_K,
    now_ms: int | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> CaseReport:
    """Ask every case; `k` is for those that have none of their own.

    A recall that fails, or an expected memory that is gone, is said in its answer; the rest runs.
    """
    if not 1 <= k <= MOST_RESULTS:
        raise UsageError(f"k is {k}.", fix=f"Give 1 to {MOST_RESULTS}.")
    answers = []
    for number, case in enumerate(cases):
        if cancel is not None:
            cancel.check()
        answers.append(_answer(case, setup, ask, known, case.k or k, now_ms))
        if on_progress is not None:
            on_progress(Progress(f"asking the cases ({setup.name})", number + 1, len(cases), "cases"))
    return CaseReport(setup, k, tuple(answers), mean([a.measures for a in answers if a.measures is not None]))


def _answer(case: Case, setup: CaseSetup, ask: Ask, known: Known, k: int, now_ms: int | None) -> CaseAnswer:
    there = known([*case.expected]) if case.expected else {}
    missing = tuple(each for each in case.expected if each not in there)
    request = RecallRequest(
        query=case.query,
        recipe=setup.recipe,
        config=setup.config,
        scopes=case.searched,
        category=case.category,
        agent=case.agent,
        limit=k,
        now_ms=setup.now_ms if setup.now_ms is not None else now_ms,
        query_vector=case.query_vector,
        source=setup.source,
        table_version=setup.table_version,
    )
    try:
        trace = ask(request)
    except MemtuiError as error:
        return CaseAnswer(case, (), None, missing, error.message)
    scopes = {row.id: row.scope for row in trace.pool.rows}
    ids = tuple(result.id for result in trace.results)
    left = replace(case, expected=tuple(each for each in case.expected if each in there))
    if case.expected and not left.expected:
        return CaseAnswer(case, ids, None, missing, "every expected memory is gone from the store")
    sure = trace.confidence
    unanswered = sure is not None and not sure.answered
    measures = measure(left, ids, [scopes.get(memory_id) for memory_id in ids], k, unanswered=unanswered)
    return CaseAnswer(case, ids, measures, missing)


def compare(a: CaseReport, b: CaseReport) -> CaseReport:
    """Return `a` with `b` beside it: the paired test on nDCG (silence for silent cases), and the cases that flip."""
    pairs = [
        (x.case, _value(x.measures), _value(y.measures))
        for x, y in zip(a.answers, b.answers, strict=True)
        if x.measures is not None and y.measures is not None
    ]
    test = paired([x for _, x, _ in pairs], [y for _, _, y in pairs], random.Random(SEED))
    flips = tuple(CaseFlip(case, x, y) for case, x, y in pairs if x != y)
    return replace(a, other=b, paired=test, flips=flips)


def _value(measures: Measures) -> float:
    """What a case is worth: its nDCG, for a silent case its silence, less the share of rejected memories."""
    good = measures.ndcg if measures.ndcg is not None else measures.silence
    return (good or 0.0) - measures.rejected


def missed_bars(report: CaseReport, bars: Mapping[str, float]) -> tuple[str, ...]:
    """The bars that the report's averages miss, each as a sentence; UsageError for an unknown measure."""
    missed = []
    for name, least in bars.items():
        if name not in MEASURES:
            raise UsageError(f"There is no measure {name!r}.", fix=f"Known measures: {', '.join(MEASURES)}.")
        got = report.mean[name]
        lower_is_better = name in ("rejected", "wrong_scope")
        fine = got is not None and (got <= least if lower_is_better else got >= least)
        if not fine:
            missed.append(
                f"{name} is {'unknown' if got is None else format(got, '.3f')}, the bar is {least:g}"
            )
    return tuple(missed)
