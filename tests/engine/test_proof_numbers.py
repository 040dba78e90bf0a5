"""Every number of a recall's account, one by one a little off or no number at all: the proof turns red."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from memtui.engine import RecallRequest, Trace, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.recall.stage import StageOutcome
from tests.engine.loopback import loopback
from tests.engine.mutation_battery import battery
from tests.engine.pro_store import DAY_MS, NOW_MS
from tests.engine.test_recipe_mem_engine import ask, bench, item

MOST = 2
"""Candidates of a recall that are tried, from the first and from the last."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    """Recalls of every recipe, with dropped candidates."""
    folder = tmp_path_factory.mktemp("numbers")
    made: dict[str, Trace] = {}
    with loopback() as server:
        server.score = lambda _, text: (len(text) * 37 % 101) / 50 - 0.3
        for case in battery(folder / "pro", server.url):
            made[f"{case.request.recipe}, {case.name}"] = case.trace()
    rows = [item(f"m{n}", 3 * n, text=f"note m{n} " + "x" * 90) for n in range(12)]
    rows += [item("todo", 1, category="todo", createdAt=float(NOW_MS - 30 * DAY_MS))]
    rows += [item("nice", 2, "nice_to_have"), item("held", 4, trust_tier="quarantined")]
    engine = bench(folder / "engine", *rows)
    made["mem-engine, tool"] = ask(engine, "note m1", limit=3)
    small = {"autoRecall": {"maxItems": 5}, "budget": {"maxChars": 400}, "trustMode": "exclude_quarantined"}
    made["mem-engine, hook"] = ask(engine, "what is note m1", source="auto-recall", settings=small)
    store = build_demo(folder / "demo", now_ms=NOW_MS)
    demo = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=folder)
    demo.load_catalog()
    fading = {"memoryCore": {"temporalDecay": True, "mmr": True, "minScore": 0.1}}
    made["memory-core, fading"] = demo.recall(RecallRequest("bastion", recipe="memory-core", config=fading))
    for query in ("Which port does the bastion use?", "What did we decide about the editor?"):
        made[f"memtui, {query}"] = demo.recall(RecallRequest(query, recipe="memtui", limit=4))
    return made


def others(value: Any) -> Iterator[Any]:
    """The value with one number in it changed."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int | float):
        yield value + (1 if isinstance(value, int) else 1e-3 * max(1.0, abs(value)))
        yield math.nan
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            for other in others(inner):
                yield {**value, key: other}
    elif isinstance(value, tuple | list):
        for at, inner in enumerate(value):
            for other in others(inner):
                parts = (*value[:at], other, *value[at + 1 :])
                yield type(value)._make(parts) if hasattr(value, "_make") else type(value)(parts)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            for other in others(getattr(value, each.name)):
                yield replace(value, **{each.name: other})


def test_all_add_up(traces: dict[str, Trace]) -> None:
    assert {name: t.proof.failures for name, t in traces.items() if not t.proof.recomputed} == {}
    recipes = {t.recipe for t in traces.values()}
    assert {"memtui", "mem-engine", "memory-core", "memory-lancedb", "pro/agent", "pro/cli"} <= recipes


@pytest.mark.slow
def test_no_number_of_what_is_shown_can_be_changed(traces: dict[str, Trace]) -> None:
    survivors: list[str] = []
    for name, trace in list(traces.items())[::9] + list(traces.items())[-5:]:
        for candidate in (*trace.candidates[:MOST], *trace.candidates[MOST:][-MOST:]):
            for mutant in others(candidate):
                given = tuple(mutant if each is candidate else each for each in trace.candidates)
                other = replace(trace, kept={})
                vars(other)["candidates"] = given
                if other.proof.recomputed:
                    survivors.append(f"{name}, {candidate.id}")
    assert survivors == []


def column_mutants(column: Any, index: int) -> Iterator[Any]:
    """The column with the number of one candidate changed."""
    if not isinstance(column, np.ndarray):
        return
    value = column[index]
    if isinstance(value, np.ndarray) or value is None or isinstance(value, str | bool | np.bool_):
        return
    if not isinstance(value, int | float | np.number) or not math.isfinite(float(value)):
        return
    for other in (float(value) + 1e-3 * max(1.0, abs(float(value))), math.nan):
        changed = column.copy() if column.dtype.kind in "fO" else column.astype(np.float64)
        changed[index] = other
        yield changed


WEIGHT_OF = {"cosine": "vector_weight"}


def adds_nothing(outcome: StageOutcome, name: str, index: int) -> bool:
    """Whether a signal counts for nothing in the score of this candidate: its weight is 0, or no signal was seen."""
    weight = outcome.inputs.get(WEIGHT_OF.get(name, f"{name}_weight"))
    if weight is None:
        return False
    rule = outcome.rule if isinstance(outcome.rule, str) else outcome.rule[index]
    return float(weight) == 0.0 or rule == "unchanged"


def recorded(trace: Trace) -> Iterator[tuple[str, Trace]]:
    """The trace with one number of one stage's record changed, and where."""
    for at, record in enumerate(trace.records):
        outcome = record.outcome
        alive, gone = outcome.flow.order.tolist(), list(outcome.dropped)
        changed: list[tuple[str, Any]] = []
        for index in dict.fromkeys((*alive[:3], *alive[-1:])):
            if record.kind in ("score", "search"):
                changed += [
                    (f"score of {index}", replace(outcome, flow=replace(outcome.flow, score=score)))
                    for score in column_mutants(outcome.flow.score, index)
                ]
            for name, column in outcome.inputs.items():
                if adds_nothing(outcome, name, index):
                    continue
                changed += [
                    (f"{name} of {index}", replace(outcome, inputs={**outcome.inputs, name: other}))
                    for other in column_mutants(column, index)
                ]
        refused = record.kind == "search"  # a search's own refusals: their numbers stand nowhere else
        for index in () if refused else dict.fromkeys((*gone[:2], *gone[-1:])):
            changed += [
                (
                    f"gate {outcome.dropped[index].reason} of {index}",
                    replace(outcome, dropped={**outcome.dropped, index: drop}),
                )
                for drop in others(outcome.dropped[index])
            ]
        for what, mutant in changed:
            records = (*trace.records[:at], replace(record, outcome=mutant), *trace.records[at + 1 :])
            yield f"{record.name}: {what}", replace(trace, records=records, kept={})


@pytest.mark.slow
def test_no_number_that_a_stage_recorded_can_be_changed(traces: dict[str, Trace]) -> None:
    survivors: list[str] = []
    for name, trace in list(traces.items())[::4] + list(traces.items())[-5:]:
        survivors += [f"{name}: {what}" for what, mutant in recorded(trace) if mutant.proof.recomputed]
    assert survivors == []
