"""Running the cases: each question asked, each answer measured, A against B."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.engine.cases.case import Case
from memtui.engine.cases.measure import MEASURES, Measures, mean, measure
from memtui.engine.cases.paired import Paired, paired
from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.recall.request import UNSET, RecallRequest

DEFAULT_K = 5
SEED = 20260901
"""The sample of the paired test is the same each time."""


@dataclass(frozen=True, slots=True)
class Setup:
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
class Answer:
    """What one setup gave for one case."""

    case: Case
    ids: tuple[str, ...]
    measures: Measures | None
    """None when the recall failed."""
    missing: tuple[str, ...] = ()
    """Expected memories that are no longer in the store."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that A and B answer differently."""

    case: Case
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Report:
    """All answers of a setup, their averages, and the comparison with a second setup if there was one."""

    setup: Setup
    k: int
    answers: tuple[Answer, ...]
    mean: Mapping[str, float | None]
    other: Report | None = None
    paired: Paired | None = None
    flips: tuple[Flip, ...] = field(default=())

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
    setup: Setup,
    ask: Ask,
    known: Known,
    *,
    k: int = DEFAULT_K,
    now_ms: int | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Report:
    """Ask every case. A recall that fails, or an expected memory that is gone, is said in its answer; the rest runs."""
    if not 1 <= k <= 50:
        raise UsageError(f"k is {k}.", fix="Give 1 to 50.")
    answers = []
    for number, case in enumerate(cases):
        if cancel is not None:
            cancel.check()
        answers.append(_answer(case, setup, ask, known, k, now_ms))
        if on_progress is not None:
            on_progress(Progress(f"asking the cases ({setup.name})", number + 1, len(cases), "cases"))
    return Report(setup, k, tuple(answers), mean([a.measures for a in answers if a.measures is not None]))


def _answer(case: Case, setup: Setup, ask: Ask, known: Known, k: int, now_ms: int | None) -> Answer:
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
        return Answer(case, (), None, missing, error.message)
    scopes = {row.id: row.scope for row in trace.pool.rows}
    ids = tuple(result.id for result in trace.results)
    left = replace(case, expected=tuple(each for each in case.expected if each in there))
    if case.expected and not left.expected:
        return Answer(case, ids, None, missing, "every expected memory is gone from the store")
    return Answer(case, ids, measure(left, ids, [scopes.get(each) for each in ids], k), missing)


def compare(a: Report, b: Report) -> Report:
    """`a` with `b` beside it: the paired test on nDCG (silence for silent cases), and the cases that flip."""
    pairs = [
        (x.case, _value(x.measures), _value(y.measures))
        for x, y in zip(a.answers, b.answers, strict=True)
        if x.measures is not None and y.measures is not None
    ]
    test = paired([x for _, x, _ in pairs], [y for _, _, y in pairs], random.Random(SEED))
    flips = tuple(Flip(case, x, y) for case, x, y in pairs if x != y)
    return replace(a, other=b, paired=test, flips=flips)


def _value(measures: Measures) -> float:
    """What a case is worth: its nDCG, for a silent case its silence, less the share of rejected memories."""
    good = measures.ndcg if measures.ndcg is not None else measures.silence
    return (good or 0.0) - measures.rejected


def missed_bars(report: Report, bars: Mapping[str, float]) -> tuple[str, ...]:
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
