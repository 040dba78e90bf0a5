"""Nothing that a screen says ends in an ellipsis where its line has free room to the right, at three sizes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tui.driving import SIZES, press, screen_text, settle
from tests.tui.test_every_list import DIALOGS, PLACES
from tests.tui.test_locked import locked, play

CUT = re.compile(r"… {4,}(?=[│|]|$)")
"""Cut, and four cells free up to the frame: a margin and a scroll bar are fewer."""

MORE = {
    "Home": "1",
    "Browse": "2",
    "the forget menu": "2 D",
    "the views": "2 w",
    "the export": "2 x",
    "the fields": "2 c",
    "copying": "2 y",
    "a memory in its form": "2 e",
    "what is staged": "2 D a s C",
    "the palette": "ctrl+p",
    "the palette, a word": "ctrl+p text:forget",
    "Mend, noise": "2 f right_square_bracket",
    "Mend, secrets": "2 f right_square_bracket right_square_bracket",
    "Mend, trash": "2 f right_square_bracket right_square_bracket right_square_bracket",
    "receipts": "3 x",
    "Capture": "7 talk",
}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
async def test_nothing_is_cut_where_there_is_room(
    size: tuple[int, int], demo_store: Path, tmp_path: Path
) -> None:
    cut = []
    async with locked(demo_store, tmp_path, size) as (app, pilot):
        for name, keys in {**MORE, **PLACES, **DIALOGS}.items():
            await play(pilot, keys)
            cut += [f"{name}: {line}" for line in screen_text(app).split("\n") if CUT.search(line)]
            while len(app.screen_stack) > 1:
                app.screen.dismiss(None)
                await settle(pilot)
            engine = app.session.engine
            assert engine is not None
            engine.write_state.staged.clear()
            app.take("staged", 0)
            await press(pilot, "escape", "escape")
    assert cut == []
