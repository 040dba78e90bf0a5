"""When saved questions lose a memory that they need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memtui.engine import Cancelled, CancelToken, lifecycle, open_engine
from memtui.engine.cases.case import Case
from memtui.engine.lifecycle.case_effects import EXACT_MS, find_losses
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, write_store

DAY_MS = 86_400_000
QUESTION = "Which code opens the harbour gate?"
UNTIL = NOW_MS + 60 * DAY_MS


def test_the_date_is_found_to_the_minute():
    leaves = {"a": NOW_MS + 17 * DAY_MS + 12_345, "b": NOW_MS + 90 * DAY_MS, "c": NOW_MS - 1}
    asked: list[int] = []

    def returns(case: Case, at_ms: int) -> Sequence[str]:
        asked.append(at_ms)
        return [memory for memory, gone in leaves.items() if at_ms < gone]

    cases = [Case("1", "q", expected=("a", "b", "c")), Case("2", "silence")]
    (loss,) = find_losses(cases, returns, now_ms=NOW_MS, until_ms=UNTIL)
    assert (loss.case, loss.memory) == ("1", "a")
    assert 0 <= loss.at_ms - leaves["a"] <= EXACT_MS
    assert len(asked) == len(set(asked))  # never twice at one moment
    assert len(asked) < 32


def test_a_memory_that_leaves_and_comes_back_is_lost_when_it_first_leaves():
    def returns(case: Case, at_ms: int) -> Sequence[str]:
        return [] if NOW_MS + 10 * DAY_MS <= at_ms < NOW_MS + 40 * DAY_MS else ["a"]

    (loss,) = find_losses([Case("1", "q", expected=("a",))], returns, now_ms=NOW_MS, until_ms=UNTIL)
    assert 0 <= loss.at_ms - (NOW_MS + 10 * DAY_MS) <= EXACT_MS


def test_a_loss_can_be_stopped():
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        find_losses(
            [Case("1", "q", expected=("a",))],
            lambda case, at_ms: ["a"],
            now_ms=NOW_MS,
            until_ms=UNTIL,
            cancel=token,
        )


def test_a_real_recall_loses_what_expires_and_what_fades_below_the_cutoff(tmp_path: Path):
    expires = NOW_MS + 12 * DAY_MS
    until = {"valid_until": expires}
    rows = [
        row("expires", "The harbour gate code is on the board", [1, 0], metadata=until, timestamp=NOW_MS),
        row("fades", "Berth seven has a broken ladder", [0.1, 0.995], timestamp=NOW_MS, importance=0.0),
        row("stays", "The harbour master answers on channel twelve", [0.98, 0.199], timestamp=NOW_MS),
    ]  # fmt: skip
    folder = write_store(tmp_path / "store", rows, dims=2, fts=False)
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    engine.load_catalog()
    engine.load_metadata()
    case = Case("1", QUESTION, expected=("expires", "stays"), query_vector=(1.0, 0.0))
    losses = lifecycle.case_losses(engine, [case], days=60)
    assert [(loss.memory, loss.at_ms - expires <= EXACT_MS) for loss in losses] == [("expires", True)]
    faint = Case("2", QUESTION, expected=("fades",), query_vector=(0.6, 0.8))
    hard = lifecycle.own_settings(
        engine, {"decay": {"workingDecayFloor": 0, "recencyHalfLifeDays": 5, "searchBoostMin": 0}}
    )
    (loss,) = lifecycle.case_losses(engine, [faint], days=120, settings=hard)
    assert loss.memory == "fades"
    for at, there in ((loss.at_ms - 2 * EXACT_MS, True), (loss.at_ms, False)):
        from memtui.engine import RecallRequest

        trace = engine.recall(
            RecallRequest(
                query=QUESTION,
                query_vector=faint.query_vector,
                now_ms=at,
                config={"decay": hard.as_blocks()["decay"]},
            )
        )
        assert ("fades" in {each.id for each in trace.results}) is there


def test_a_memory_that_is_used_as_before_is_not_lost(tmp_path: Path):
    daily = {"access_count": 20, "last_accessed_at": NOW_MS}
    rows = [
        row("used", "Berth seven has a broken ladder", [0.1, 0.995], timestamp=NOW_MS - 20 * DAY_MS, metadata=daily),
        row("never", "Berth nine has no light", [0.1, 0.995], timestamp=NOW_MS),
    ]  # fmt: skip
    folder = write_store(tmp_path / "store", rows, dims=2, fts=False)
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    engine.load_catalog()
    engine.load_metadata()
    case = Case("1", QUESTION, expected=("used", "never"), query_vector=(0.6, 0.8))
    hard = lifecycle.own_settings(
        engine,
        {
            "decay": {
                "workingDecayFloor": 0,
                "recencyHalfLifeDays": 5,
                "importanceModulation": 0,
                "searchBoostMin": 0,
                "frequencyWeight": 0,
                "intrinsicWeight": 0,
            }
        },
    )
    lost = {
        scenario: [
            loss.memory
            for loss in lifecycle.case_losses(engine, [case], days=90, scenario=scenario, settings=hard)
        ]
        for scenario in ("no access", "access as before")
    }  # fmt: skip
    assert set(lost["no access"]) == {"used", "never"}
    assert lost["access as before"] == ["never"]
    (loss,) = lifecycle.case_losses(engine, [case], days=90, scenario="access as before", settings=hard)
    assert loss.title == "Berth nine has no light"


def test_a_loss_names_the_memory_that_overtakes_or_the_gate(tmp_path: Path):
    def towards(cosine: float, axis: int) -> list[float]:
        vector = [0.0] * 16
        vector[0], vector[axis] = cosine, (1 - cosine**2) ** 0.5
        return vector

    pinned = {"tier": "core"}
    ahead = [
        row(f"ahead-{n}", f"Pier {n}", towards(0.85, n), timestamp=NOW_MS, metadata=pinned)
        for n in range(1, 10)
    ]
    rows = [
        *ahead,
        row("fades", "Berth seven has a broken ladder", towards(0.76, 13), timestamp=NOW_MS),
        row("keeps", "Berth nine has no light", towards(0.75, 14), timestamp=NOW_MS, metadata=pinned),
        row("ends", "Gate four is shut", towards(0.88, 12), timestamp=NOW_MS,
            metadata={"valid_until": NOW_MS + 90 * DAY_MS, **pinned}),
    ]  # fmt: skip
    folder = write_store(tmp_path / "store", rows, dims=16, fts=False)
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    engine.load_catalog()
    engine.load_metadata()
    vector = tuple(1.0 if n == 0 else 0.0 for n in range(16))
    from memtui.engine import RecallRequest

    limit = engine.recall(RecallRequest(QUESTION, query_vector=vector)).limit
    spare = [each["id"] for each in ahead][: len(ahead) - (limit - 2)]
    engine = open_engine(
        write_store(tmp_path / "cut", [each for each in rows if each["id"] not in spare], dims=16, fts=False),
        now=lambda: NOW_MS,
        environ={},
        cwd=tmp_path,
    )
    engine.load_catalog()
    engine.load_metadata()
    before = engine.recall(RecallRequest(QUESTION, query_vector=vector)).returned
    assert (before[0], before[-1], len(before)) == ("ends", "fades", limit)
    case = Case("1", QUESTION, expected=("fades", "ends"), query_vector=vector)
    faded, ended = lifecycle.case_losses(engine, [case], days=120)
    assert faded.memory == "fades"
    assert faded.cause is not None
    assert (faded.cause.gate, faded.cause.overtaken_by) == ("limit", "keeps")
    assert faded.cause.overtaker == "Berth nine has no light"
    assert faded.as_json()["overtaken_by"] == "keeps"
    assert ended.cause is not None
    assert (ended.memory, ended.cause.gate, ended.cause.overtaken_by) == ("ends", "expired", "")
