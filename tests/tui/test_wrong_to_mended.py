"""From "the agent misses things" to the mended index: one walk over the screens, with real keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lancedb import index

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.explain import DROP
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.screens.health.screen import HealthScreen
from memtui.tui.screens.whynot.screen import ChangeRows, WhyNotScreen
from tests.conftest import NOW_MS
from tests.engine import planted_faults as planted
from tests.tui.driving import press, screen_text, settle, type_text, until
from tests.tui.recalling import recalling

QUESTION = "who colored the engine for the furnace?"


def opened(folder: Path) -> Engine:
    home = folder.parent
    environ = {"HOME": str(home), "MEMTUI_STATE_DIR": str(home / "state")}
    return open_engine(
        folder, now=lambda: NOW_MS, environ=environ, cwd=home, writable=True, state=home / "state"
    )


def harmed(folder: Path, question: str) -> tuple[str, str]:
    """A store whose index keeps the answer to the question back; (id, text) of the answer."""
    texts = [planted.text_of(number) for number in range(1_500)]
    vectors = bundled().embed_passages(texts)
    rows = [
        planted.memory(
            n,
            vector=[float(x) for x in vectors[n]],
            timestamp=float(NOW_MS - (n % 60 + 1) * planted.DAY_MS),
        )
        for n in range(len(texts))
    ]
    planted.write_store(folder, rows, dims=BUNDLED_DIMS)
    before = opened(folder)
    trace = before.recall(RecallRequest(question, recipe="pro/tool"))
    best = trace.returned[0]
    before.close()
    planted.open_table(folder).create_index(
        "vector", config=index.IvfPq(distance_type="cosine", num_partitions=32, num_sub_vectors=2)
    )
    return best, trace.memories[best].text


@pytest.mark.slow
async def test_a_question_that_recalls_wrongly_leads_to_the_index_and_is_answered_once_it_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "lancedb-pro"
    best, text = harmed(folder, QUESTION)
    async with recalling(opened(folder), query=QUESTION, recipe="pro/tool") as (app, pilot, recall):
        first: Any = recall.state.trace
        assert best not in first.returned
        await press(pilot, "W")
        assert isinstance(app.screen, MemoryPick)
        await type_text(pilot, text)
        await settle(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, WhyNotScreen)
        await until(pilot, lambda: app.screen.state.phase != "searching")  # type: ignore[attr-defined]
        await settle(pilot)
        assert text[:40] in screen_text(app)
        verdict = app.screen.state.verdict
        assert verdict is not None
        assert verdict.gate == "vector_index"
        assert verdict.sentence.startswith("The vector index (IvfPq) ")
        assert "exact rank 4 of 1,500" in verdict.sentence
        assert "vector index" in screen_text(app)
        while app.screen.query_one(ChangeRows).key != f"change:{DROP}":
            await press(pilot, "down")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, HealthScreen) and not app.screen.state.looking)
        await settle(pilot)
        health = app.screen.state
        assert health.finding is not None
        assert health.finding.kind == "D11", "worst first: answers that are wrong"
        assert "1 own questions" in screen_text(app), (
            "the question that was just asked is one of the person's own"
        )
        version = planted.open_table(folder).version
        await press(pilot, "f")
        await settle(pilot)
        assert "drop the index vector_idx" in screen_text(app)
        assert planted.open_table(folder).version == version
        await press(pilot, "enter")
        await settle(pilot)
        assert "1 of 1 question answered differently" in screen_text(app)
        assert "fixed; see the Journal" in screen_text(app)
        assert "D11" not in [each.kind for each in app.screen.state.found.findings]
        await press(pilot, "3")
        await settle(pilot)
        assert isinstance(app.screen, WhyNotScreen), "where the way to the index began"
        await until(
            pilot, lambda: app.screen.state.phase != "searching" and app.screen.state.verdict.returned
        )  # type: ignore[attr-defined]
        assert app.screen.state.verdict.rank == 1
        await press(pilot, "escape", "ctrl+r")
        await settle(pilot)
        after: Any = recall.state.trace
        assert after.returned[0] == best
        assert text[:20] in screen_text(app)
