"""Beside another writer, and killed in the middle: nothing is lost, doubled or half there."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.engine import changes
from memtui.engine.changes.applied_state import AppliedState
from memtui.engine.changes.applier import ConflictError
from tests.benchmarks.sizes import FULL, sized
from tests.conftest import ROOT
from tests.engine.curate_world import WordEmbedder, engine_at, rows_of, same_rows, second_writer
from tests.engine.second_writer import PREFIX
from tests.engine.tables import pro_row, uuid, write_table

ROWS = 30
KILLS = sized(4, 50)
METADATA = '{"l0_abstract":"x", "tier":"working", "access_count":%d, "odd": 1.50}'

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "scope": st.sampled_from(["agent:a", "project:b", "global"]),
        "importance": st.floats(0, 1),
        "category": st.sampled_from(["fact", "decision", "events", "patterns"]),
        "tier": st.sampled_from(["core", "peripheral"]),
        "state": st.sampled_from(["archived", "pending"]),
        "pinned": st.booleans(),
        "confidence": st.floats(0, 1),
    },
).filter(bool)
SETS = st.lists(
    st.tuples(st.sets(st.integers(0, ROWS - 1), min_size=1, max_size=8), SETTINGS), min_size=1, max_size=4
)


def make(folder: Path) -> None:
    rows = [
        pro_row(n, text=f"Fact {n} about the kiln.", metadata=METADATA % n, vector=[n / 7, -n / 3])
        for n in range(ROWS)
    ]
    write_table(folder, rows)


def ours(folder: Path):
    rows = rows_of(folder)
    return rows.filter([not each.startswith(PREFIX) for each in rows.column("id").to_pylist()])


@pytest.fixture(scope="module")
def shared_table(tmp_path_factory: pytest.TempPathFactory):
    """One table with another program at work on it for as long as the tests of this module run."""
    folder = tmp_path_factory.mktemp("beside") / "db"
    make(folder)
    with second_writer(folder):
        yield folder


@pytest.mark.slow
@given(SETS, st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_apply_then_undo_leaves_every_row_as_it_was(shared_table: Path, sets, order: random.Random) -> None:
    before = ours(shared_table)
    engine = engine_at(shared_table)
    entries = []
    for ids, given_values in sets:
        fresh = engine_at(shared_table)
        outcome = changes.apply(fresh, changes.plan_edit(fresh, [uuid(n) for n in ids], given_values))
        if outcome.entry is not None:
            entries.append(outcome.entry)
            touched = {each.id for each in outcome.changes}
            assert touched <= {uuid(n) for n in ids}
    for entry in reversed(entries):
        changes.apply(engine, changes.plan_undo(engine, entry))
    assert same_rows(ours(shared_table), before)


@pytest.mark.slow
def test_new_texts_and_versions_beside_another_writer(shared_table: Path) -> None:
    before = ours(shared_table)
    for n in range(4):
        engine = engine_at(shared_table, embedder=WordEmbedder(2))
        # The stored vectors are not this embedder's, as after a change of model: zero ones are not compared.
        planned = changes.plan_edit(
            engine, [uuid(0)], {"text": f"Version {n} of fact 0."}, in_place=n % 2 == 0
        )
        changes.apply(engine, planned)
    for _ in range(4):
        changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(ours(shared_table), before)


@pytest.mark.slow
def test_counts_of_an_agent_without_a_lock_are_kept(tmp_path: Path) -> None:
    """It changes the metadata of the very rows that we change, at the same moments."""
    folder = tmp_path / "db"
    make(folder)
    changed = 0
    with second_writer(folder, "counters"):
        for n in range(12):
            engine = engine_at(folder)
            tier = "core" if n % 2 == 0 else "peripheral"
            with contextlib.suppress(ConflictError):
                changed += changes.apply(
                    engine, changes.plan_edit(engine, [uuid(k) for k in range(ROWS)], {"tier": tier})
                ).changed
    assert changed
    counts = [json.loads(row["metadata"])["access_count"] for row in ours(folder).to_pylist()]
    assert sum(counts) >= sum(range(ROWS)), "no count went backwards"
    assert Counter(row["id"] for row in ours(folder).to_pylist()).most_common(1)[0][1] == 1


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    seen = kill_often(tmp_path / "db", KILLS)
    assert seen["killed"] == KILLS
    assert not FULL or seen.total() > KILLS, "some kills hit a change in the middle"


def kill_often(folder: Path, times: int, *, many: int | None = None) -> Counter[str]:
    """Kill a program that applies changes, `times` times beside a second writer; what the journal says of each.

    More than `many` edits are written by it as very many are.
    """
    make(folder)
    seen: Counter[str] = Counter()
    with second_writer(folder, seconds=3_600):
        for n in range(times):
            more = [] if many is None else [str(many)]
            child = subprocess.Popen(
                [sys.executable, "-m", "tests.engine.endless_editor", str(folder), *more],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert child.stdout is not None
            begun = [0.0, 0.0]  # the first apply is slow; how long a later one takes says how long to wait
            for _ in range(3):
                assert child.stdout.readline().strip() == "editing"
                begun = [begun[1], time.monotonic()]
            time.sleep(random.Random(n).uniform(0, begun[1] - begun[0]))
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
            rows = ours(folder)
            ids = rows.column("id").to_pylist()
            assert sorted(ids) == sorted(uuid(k) for k in range(ROWS)), "no row lost, none twice"
            for row in rows.to_pylist():
                metadata = json.loads(row["metadata"])
                assert metadata["odd"] == 1.5
                assert row["scope"] == (
                    "global" if metadata["tier"] == "working" else f"agent:{metadata['tier']}"
                )
            engine = engine_at(folder)
            for left in changes.find_interrupted(engine):
                assert left.found in (AppliedState.WHOLE, AppliedState.NOTHING)
                seen[left.found.value] += 1
                if n % 2:
                    changes.apply(engine, changes.plan_undo(engine, left.entry.entry))
                else:
                    changes.finish_entry(engine, left.entry.entry)
                tiers = {json.loads(row["metadata"])["tier"] for row in ours(folder).to_pylist()}
                assert len(tiers) == 1, "what was interrupted is finished or undone as a whole"
            assert changes.find_interrupted(engine) == []
            seen["killed"] += 1
    return seen
