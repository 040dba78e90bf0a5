"""A provider that fails, on every recipe and at every size: the reason stands on the screen whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memtui.engine import open_engine
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.recall.recipes.registry import all_recipes
from tests.conftest import NOW_MS
from tests.engine.loopback import Answer, loopback
from tests.engine.transfer_stores import memory, pro_store
from tests.tui.driving import SIZES, screen_text
from tests.tui.recalling import recalling

LONG = "the model could not be loaded: out of memory on device 0 while allocating 2.31 GiB"

FAILURES = {
    "500": [Answer(500, {"error": {"message": LONG}})] * 9,
    "half": [Answer(200, b'{"data": [{"embedding": [0.1, 0.2')] * 9,
    "refused": None,
    "timeout": [],
}

DEGRADES = ("memory-core", "mem-engine", "memtui")
"""Recipes that answer by words where the others fail."""


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w.]+", text))


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("recipe", [each.name for each in all_recipes()])
async def test_the_reason_is_whole(tmp_path: Path, recipe: str, failure: str) -> None:
    store = pro_store(tmp_path / "store", [memory(1, "The gateway listens on port 8443")])
    with loopback() as server:
        script = FAILURES[failure]
        url = "http://127.0.0.1:9" if script is None else server.url
        patience = 0.4 if failure == "timeout" else 5
        settings = EmbeddingSettings(model="any", base_url=f"{url}/v1", timeout_s=patience)
        for size in SIZES:
            server.script[:] = script or []
            server.hang = failure == "timeout"
            engine = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=tmp_path, embedding=settings)
            try:
                async with recalling(engine, size, "which port has the gateway", recipe) as (app, _, screen):
                    shown, trace = screen_text(app), screen.state.trace
            finally:
                server.hang = False
            assert trace is not None
            told = [each.note for each in trace.operations if "asked and failed" in each.note]
            reason = trace.failure.reason if trace.failure is not None else told[0].split("failed: ", 1)[1]
            missing = {word for word in words(reason) if word.rstrip(".") not in shown}
            assert missing == set(), f"{size}\n{shown}"
            if trace.failure is None:
                assert "failed: the words alone answered" in shown
                assert recipe in DEGRADES
            else:
                assert "embedding failed: the agent got nothing" in shown
                assert recipe not in DEGRADES
