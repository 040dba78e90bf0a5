"""A provider that fails, on every recipe and at every size: the reason stands on the screen whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    "429": [Answer(429, {"error": {"message": f"too many requests, {LONG}"}}, {"Retry-After": "0"})] * 9,
    "wrong dimension": [],
    "half": [Answer(200, b'{"data": [{"embedding": [0.1, 0.2')] * 9,
    "refused": None,
    "timeout": [],
}

DEGRADES = ("memory-core", "mem-engine", "memtui")
"""Recipes that answer by words where the others fail."""


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w.]+", text))


@contextmanager
def failing(failure: str) -> Iterator[Callable[[], EmbeddingSettings]]:
    """A provider that fails so; each call sets it up anew and says how it is reached."""
    with loopback() as server:
        script = FAILURES[failure]
        url = "http://127.0.0.1:9" if script is None else server.url
        server.dims = 7  # of no table here; the other failures never get so far

        def again() -> EmbeddingSettings:
            server.script[:] = script or []
            server.hang = failure == "timeout"
            patience = 0.4 if failure == "timeout" else 60
            return EmbeddingSettings(model="any", base_url=f"{url}/v1", timeout_s=patience)

        try:
            yield again
        finally:
            server.hang = False


async def the_reason_is_whole(
    store: Path, cwd: Path, recipe: str, failure: str, question: str = "which port has the gateway"
) -> None:
    with failing(failure) as again:
        for size in SIZES:
            engine = open_engine(store, now=lambda: NOW_MS, environ={}, cwd=cwd, embedding=again())
            async with recalling(engine, size, question, recipe) as (app, _, screen):
                shown, trace = screen_text(app), screen.state.trace
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


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("recipe", [each.name for each in all_recipes()])
async def test_the_reason_is_whole(tmp_path: Path, recipe: str, failure: str) -> None:
    store = pro_store(tmp_path / "store", [memory(1, "The gateway listens on port 8443")])
    await the_reason_is_whole(store, tmp_path, recipe, failure)


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
async def test_the_reason_is_whole_on_a_store_of_mem_engine(
    shared: Path, unpack: Callable[[Path], Path], tmp_path: Path, failure: str
) -> None:
    store = unpack(shared / "fixtures/stores/engine.tar.gz")
    await the_reason_is_whole(store, tmp_path, "mem-engine", failure, "oven flour till printer Uferweg")
