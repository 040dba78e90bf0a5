"""Hostile rows and questions in everything that is opened over Recall: nothing crashes, no control character shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from memtui.engine import Engine, clean
from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import Case
from memtui.paths import cases_file
from tests.tui.driving import press, screen_text
from tests.tui.recalling import recalling

NASTY = "kafka [/oops] [@click=app.quit()]x[/] \x1b[2J\u202eabc 会议👩‍👩‍👧‍👦"


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_nothing_of_a_store_is_taken_for_more_than_text(
    keyword_engine: Engine, tmp_path: Path, size: tuple[int, int]
) -> None:
    CaseBook(cases_file(keyword_engine.info.uri)).put_all(
        [
            Case(
                "a", NASTY, ("row-0", "row-1", "no\x1b[2Jone"), ("row-5",), scopes=("[/x]\x07",), note=NASTY
            ),
            Case("b", "kafka", ("row-4",)),
        ]
    )
    config = tmp_path / "[red]then.json"
    config.write_text('{"retrieval": {"hardMinScore": 0.1}}')
    looks: list[str] = []
    async with recalling(keyword_engine, size, query="kafka " + NASTY, recipe="pro/tool") as (
        app,
        pilot,
        screen,
    ):

        async def look(*keys: str) -> None:
            for key in keys:
                await press(pilot, key)
                text = screen_text(app)
                assert clean(text) == text
                looks.append(text)

        assert screen.state.trace is not None
        assert len(screen.state.trace.candidates) > 3
        await look("plus", "j", "minus", "equals_sign", "f")
        app.screen.query_one(Input).value = str(config)
        await look("enter", "j", "j", "v", "v", "v", "w", "escape", "z", "escape", "T", "R", "j", "v")
        await look("escape", "escape", "I", "v", "v", "escape", "B", "escape", "H", "escape")
        await look("x", "escape")
        screen.ask(NASTY)
        await look("T", "G", "k", "escape")
    assert any("[red]then.json" in text for text in looks)
    assert any("[/oops]" in text for text in looks)
    assert app.return_code in (None, 0)
