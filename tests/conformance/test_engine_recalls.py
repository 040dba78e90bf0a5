"""openclaw-mem-engine: recorded rules and recalls equal ours; only word searches of the newer engine may differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.recall.recipes.mem_engine.prompt_block import CLOSE, pack
from tests.conformance.engine_recalls import OTHER_WORDS, Engine, compare_engine

pytestmark = pytest.mark.conformance


@pytest.mark.slow
def test_every_comparison_is_whole(shared: Path, tmp_path: Path) -> None:
    compared = {
        name: (cases, equal, different) for name, cases, equal, different in compare_engine(shared, tmp_path)
    }
    counts = {name: (cases, equal) for name, (cases, equal, _) in compared.items()}
    words = counts.pop("mem-engine word searches, members")
    assert counts == {
        "mem-engine golden cases": (181, 181),
        "mem-engine vector searches": (70, 70),
        "mem-engine memory_recall": (25, 25),
        "mem-engine hook": (12, 12),
    }
    assert words[0] == 74
    assert words[1] >= 60
    assert set(compared["mem-engine word searches, members"][2]) <= {OTHER_WORDS}


@pytest.mark.slow
def test_without_recorded_hits_the_account_adds_up(shared: Path, tmp_path: Path) -> None:
    engine = Engine(shared, tmp_path)
    for case in engine.cases:
        trace = engine.recall(case, recorded=False)
        assert trace.proof.recomputed, (case["qid"], trace.proof.failures)


def test_a_block_that_lost_its_tag_is_offered_with_it(shared: Path, tmp_path: Path) -> None:
    """Departs on purpose from budget/protected-too-big-sliced: the tag is kept within the same budget."""
    engine = Engine(shared, tmp_path)
    lost = 0
    for case in engine.recorded["auto_recall"]:
        trace = engine.recall(case, recorded=True)
        injected = trace.extra.get("injected")
        if injected is None:
            continue
        limit = trace.extra["receipt"]["budget"]["maxChars"]
        assert injected["closing_tag_lost"] == (not injected["text"].endswith(CLOSE))
        if injected["closing_tag_lost"]:
            lost += 1
            assert injected["closed"].endswith(CLOSE)
            assert len(injected["closed"].encode("utf-16-le")) // 2 <= limit
    assert lost == 10


@pytest.mark.parametrize("room", range(300, 420))
def test_a_closed_block_never_cuts_an_entity(room: int) -> None:
    from memtui.engine.recall.recipes.mem_engine.prompt_block import BlockItem, BudgetRules

    slot = BlockItem("a", 1, "fact", "must_remember", "\"'<>&" * 60)
    made = pack([slot], BudgetRules(max_chars=room))
    assert len(made.text) <= room
    assert made.text.endswith(f"\n{CLOSE}")
    body = made.text.removesuffix(f"\n{CLOSE}").rpartition("] ")[2]
    assert (
        not body.replace("&quot;", "")
        .replace("&#39;", "")
        .replace("&lt;", "")
        .replace("&gt;", "")
        .replace("&amp;", "")
    )
