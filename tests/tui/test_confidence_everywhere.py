"""How sure an answer is: the same word and number on the screen, on the command line, in JSON and for agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp.client import Client

from memtui.cli.recall import render
from memtui.engine import Engine, RecallRequest
from memtui.engine.cases import CaseBook
from memtui.mcp.door import Door
from memtui.mcp.server import make_server
from tests.conftest import thinned
from tests.tui.driving import SIZES, screen_text, until
from tests.tui.recalling import QUESTION, recalling

NOBODY = "Who won the chess olympiad in Budapest?"


@pytest.mark.slow
@pytest.mark.parametrize("query", thinned([QUESTION, NOBODY], 2))
async def test_every_face_says_the_same(demo_engine: Engine, query: str, tmp_path: Path) -> None:
    trace = demo_engine.recall(RecallRequest(query, recipe="memtui"))
    told = trace.confidence
    assert told is not None
    assert told.answered is (query == QUESTION)
    assert f"{told.number:.2f}" in told.said
    assert (told.word in told.said) is told.answered
    document = trace.as_json(explain=False)["confidence"]
    assert (document["said"], document["answers"], document["probability"]) == (
        told.said,
        told.word,
        told.number,
    )
    assert told.said in render(demo_engine, trace, whole=False)
    async with recalling(demo_engine, SIZES[0], query=query, recipe="memtui") as (app, pilot, _):
        await until(pilot, lambda: told.said in screen_text(app))
        for size in SIZES[1:]:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: tuple(app.screen.size) == size)
            await until(pilot, lambda: told.said in screen_text(app))
    door = Door(lambda: demo_engine, client="test", cases=lambda engine: CaseBook(tmp_path / "cases.json"))
    async with Client(make_server(door)) as client:
        found = await client.call_tool("memory_search", {"query": query})
    answer = found.structured_content or {}
    assert (answer["answers"], answer["probability"]) == (told.word, told.number)
    assert answer["answered"] is told.answered
    assert told.said in found.content[0].text  # type: ignore[union-attr]
