"""Why not, on generated stores in which exactly one gate is broken: the gate is named, the change mends it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import explain
from memtui.engine.engine import Engine
from memtui.engine.explain.candidate_changes import edited
from memtui.engine.explain.inquiry import PROMPT_GATES
from memtui.engine.explain.knobs import with_value
from memtui.engine.explain.verdict import GATES, SmallestChange, Verdict
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.store.open import open_store
from tests.engine.loopback import Loopback, loopback
from tests.engine.planted import PLANTS, TARGET, World, healthy, planted
from tests.engine.pro_store import NOW_MS

STORES = 20


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as running:
        running.score = lambda _, text: 0.0 if "listens" in text else 0.9
        yield running


def open_engine(folder: Path) -> Engine:
    return Engine(open_store(folder), now=lambda: NOW_MS)


def asked(world: World, server: Loopback) -> RecallRequest:
    config = world.request.get("config")
    if config and config["retrieval"].get("rerankEndpoint"):
        config["retrieval"]["rerankEndpoint"] = f"{server.url}/rerank"
    return world.ask()


def comes_back(engine: Engine, request: RecallRequest) -> bool:
    return TARGET in engine.recall(request).returned


def check_request_change(engine: Engine, request: RecallRequest, change: SmallestChange) -> None:
    assert comes_back(engine, with_value(request, change.knob, change.after)), change
    if change.one_less is not None:
        assert not comes_back(engine, with_value(request, change.knob, change.one_less)), change


def check_memory_change(world: World, request: RecallRequest, change: SmallestChange, folder: Path) -> None:
    """Write the memory as the change has it, and ask that store."""
    for value, expected in ((change.after, True), (change.one_less, False)):
        if value is None and expected is False:
            continue
        if change.knob == "memory.importance":
            fields = {"importance": value}
        else:
            stored = CandidateRow("", "", None, None, 0.0, 0, world.rows[TARGET]["metadata"], None)
            changed = edited(stored, change.knob, value, now_ms=NOW_MS)
            fields = {"metadata": changed.raw_metadata}
        written = folder / f"{change.knob}-{expected}"
        assert comes_back(open_engine(world.write(written, **fields)), request) is expected, change


def check_changes(
    verdict: Verdict, world: World, engine: Engine, request: RecallRequest, folder: Path
) -> None:
    """The smallest change, and one of each kind beside it, for real."""
    assert verdict.changes, verdict
    sizes = [change.size for change in verdict.changes]
    assert sizes == sorted(sizes)
    assert all(change.confirmed for change in verdict.changes if change.knob != "memory.length")
    on_request = [change for change in verdict.changes if not change.knob.startswith("memory.")]
    on_memory = [c for c in verdict.changes if c.knob.startswith("memory.") and c.knob != "memory.length"]
    for change in on_request[:4]:
        check_request_change(engine, request, change)
    for change in [c for c in on_memory if c.knob != "memory.twin"][:1]:
        check_memory_change(world, request, change, folder)


def test_in_a_healthy_store_the_target_comes_back_and_every_gate_is_passed(tmp_path: Path) -> None:
    for seed in range(4):
        world = healthy(seed)
        request = world.ask()
        verdict = explain.why_not(open_engine(world.write(tmp_path / str(seed))), TARGET, request)
        not_here = ("prompt_gate", "prompt_score")  # asked before a prompt only; of the built-in plugin alone
        prompt = [gate for gate in PROMPT_GATES if gate not in not_here]
        gates = (*GATES, *prompt) if request.recipe == "pro/agent" else GATES
        assert (verdict.returned, verdict.gate, verdict.changes) == (True, None, ())
        assert [rung.gate for rung in verdict.ladder] == list(gates)
        assert [rung.gate for rung in verdict.ladder if not rung.passed] == []


def test_a_recall_with_a_source_of_its_own_says_that_the_guards_are_off(tmp_path: Path) -> None:
    world = healthy(0)
    engine = open_engine(world.write(tmp_path))
    plain = engine.recall(world.ask(recipe="pro/agent"))
    given = engine.recall(world.ask(recipe="pro/agent", source="auto-recall"))
    assert [each for each in given.findings if each not in plain.findings] == [
        "a source was given: asked without the gate and the guards of auto-recall"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("gate", PLANTS)
def test_the_planted_gate_is_named_and_the_change_mends_it(
    gate: str, tmp_path: Path, server: Loopback
) -> None:
    named: dict[int, str | None] = {}
    for seed in range(STORES):
        world = planted(gate, seed)
        folder = tmp_path / str(seed)
        engine = open_engine(world.write(folder / "store"))
        request = asked(world, server)
        looked_into = seed in random.Random(gate).sample(range(STORES), 5) or seed < 2
        verdict = explain.why_not(engine, TARGET, request, changes=looked_into)
        assert not verdict.returned
        named[seed] = verdict.gate
        if looked_into and gate != "unknown_id":
            check_changes(verdict, world, engine, request, folder)
        shutil.rmtree(folder)
    assert {seed: name for seed, name in named.items() if name != gate} == {}
