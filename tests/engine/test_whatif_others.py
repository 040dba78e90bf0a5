"""What if, for memtui's own recipe and mem-engine: the same as a full recall; parameters without effect have none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from memtui.engine import RecallRequest, Trace, explain
from memtui.engine.demo import build_demo
from memtui.engine.engine import Engine
from memtui.engine.explain.knobs import knobs_of, value_of
from memtui.engine.explain.variation import Recompute, changed_request, what_if
from memtui.engine.store.open import open_store
from tests.engine.pro_store import NOW_MS
from tests.engine.test_whatif import a_value

WHAT_IFS = 36
QUESTIONS = ("Which port do I use for SSH to the bastion?", "what did we decide lately about kafka?", "hello")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return Engine(open_store(folder), now=lambda: NOW_MS)


def ask(engine: Engine, recipe: str, query: str) -> Trace:
    source = {"source": "auto-recall"} if recipe == "mem-engine" else {}
    return engine.recall(RecallRequest(query, recipe=recipe, **source))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["memtui", "mem-engine", "memory-core"])
def test_what_ifs_of_every_parameter_equal_full_recalls(engine: Engine, recipe: str) -> None:
    rng = random.Random(7)
    bench = Recompute(engine.recall_context())
    turned, moved = set(), 0
    for n in range(WHAT_IFS):
        if n % 12 == 0:
            trace = ask(engine, recipe, QUESTIONS[n // 12])
        chosen = rng.sample([each for each in knobs_of(recipe) if each.path != "source"], 2)
        changes = {knob.path: a_value(rng, knob) for knob in chosen}
        found = what_if(trace, changes, bench)
        full = engine.recall(changed_request(trace, changes))
        assert found.trace.returned == full.returned
        assert [each.score for each in found.trace.results] == [each.score for each in full.results]
        assert found.trace.proof.recomputed
        for path, value in changes.items():
            resolved = value_of(found.trace.request, found.trace.config, found.trace.limit, None, path)  # type: ignore[arg-type]
            assert resolved == value, path
        turned |= set(changes)
        moved += found.changed
    assert len(turned) >= len(knobs_of(recipe)) - 2
    assert moved


@pytest.mark.parametrize("recipe", ["memtui", "mem-engine", "memory-core"])
def test_a_parameter_that_is_said_to_do_nothing_does_nothing(engine: Engine, recipe: str) -> None:
    rng = random.Random(5)
    idle = 0
    for query in QUESTIONS:
        trace = ask(engine, recipe, query)
        for parameter in explain.parameters(trace):
            if parameter.inert:
                idle += 1
                for _ in range(3):
                    after = explain.what_if(
                        engine, trace, {parameter.knob.path: a_value(rng, parameter.knob)}
                    )
                    assert not after.changed, parameter
    assert idle


@pytest.mark.slow
def test_a_smaller_change_of_a_weight_brings_a_memory_back(engine: Engine) -> None:
    trace = ask(engine, "memtui", QUESTIONS[0])
    after_last = next(each.id for each in trace.candidates if each.rank is None)
    heard: list[int] = []
    verdict = explain.why_not_in(
        engine,
        trace,
        after_last,
        on_verdict=lambda each: heard.append(len(each.changes) + len(each.powerless)),
    )
    knobs = {change.knob for change in verdict.changes}
    assert "limit" in knobs
    assert all(change.confirmed for change in verdict.changes)
    assert [change.size for change in verdict.changes] == sorted(change.size for change in verdict.changes)
    assert heard == sorted(heard)
    assert len(heard) > 3
    assert {"memtui.speakerWeight", "memtui.recencyWeight"} <= {each.knob for each in verdict.powerless}
