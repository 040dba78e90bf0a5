"""A label beside a bar keeps a blank before it, however long what it names is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtui.engine import Engine
from memtui.engine.catalog import Stats
from memtui.engine.recall import WordMet
from memtui.tui.actions.table import TABLE
from memtui.tui.dialogs.help import help_lines
from memtui.tui.paint.glyphs import ASCII, UNICODE, Glyphs
from memtui.tui.paint.waterfall import Waterfall, WaterfallStep, fall_rows
from memtui.tui.screens.home.view import category_rows, scope_rows, tier_rows
from memtui.tui.startup.preload import GO, MODES
from memtui.tui.trace.ledger import _met_line
from tests.tui.driving import SIZES, lines, press, running
from tests.tui.memory_engine import MemoryEngine

LONG = "incomprehensibilities-of-a-store"


def untouched(row: str, glyphs: Glyphs) -> None:
    """The first cell of a bar has a blank before it."""
    bar = min(row.index(block) for block in glyphs.blocks if block in row)
    assert row[bar - 1] == " ", row


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [34, 46, 90])
def test_no_label_touches_its_bar(width: int, glyphs: Glyphs) -> None:
    counts = ((LONG, 1_234_567),)
    stats = Stats(
        rows=1_234_567, scopes=counts, categories=counts, memory_categories=counts, tiers=counts, states=counts,
        labels=counts, trust_tiers=counts,
        added_7d=0, daily=(0,) * 90, daily_by_tier=(), oldest_ms=None, newest_ms=None, findings=(),
    )  # fmt: skip
    for painter in (category_rows, scope_rows, tier_rows):
        untouched(painter(stats, width, 9, glyphs)[0].content.plain, glyphs)
    untouched(_met_line(WordMet(LONG, (0, 9), 0.5, LONG, (0, 9), 0.9), glyphs).plain, glyphs)
    fall = Waterfall((WaterfallStep(LONG, 0.0, 123.456, "$primary", LONG, ""),), 123.456)
    untouched(fall_rows(fall, width, glyphs)[0].plain, glyphs)


NAMES = [key.title for mode in MODES for key in TABLE if key.id == GO + mode]


def named(line: str) -> list[str]:
    """The screens whose names stand in the first line."""
    return [name for name in NAMES if f" {name}" in line or f"{name}]" in line]


@pytest.mark.parametrize("store", ["fernhill", "memories-of-the-whole-household-and-its-garden"])
@pytest.mark.parametrize("size", SIZES)
async def test_tabs_have_names_while_there_is_room_and_the_name_of_the_store_yields_first(
    size: tuple[int, int], store: str
) -> None:
    async with running(MemoryEngine(9), size) as (app, pilot):
        assert app.session.info is not None
        app.set_session(info=replace(app.session.info, name=store))
        for key in ("1", "2", "6"):
            await press(pilot, key)
            line = lines(app)[0]
            left, shown, _ = line.partition(store[:6])
            missing = [name for name in NAMES if name not in named(line)]
            assert shown, line
            assert not missing or size[0] < 100, line
            assert not missing or len(left) - len(left.rstrip()) <= 2 + min(map(len, missing)), line


async def test_a_key_is_announced_only_where_it_is_not_taken_as_text(keyword_engine: Engine) -> None:
    async with running(keyword_engine, (200, 50)) as (app, pilot):
        await press(pilot, "3", "slash")
        assert "f1 help" in lines(app)[-1]
        assert "? help" not in lines(app)[-1]
        await press(pilot, "escape")
        assert "? help" in lines(app)[-1]


async def test_the_help_has_no_blank_key(keyword_engine: Engine) -> None:
    async with running(keyword_engine, (120, 36)) as (app, pilot):
        for key in ("1", "2", "3 escape", "5", "6", "9"):
            await press(pilot, *key.split())
            listed = help_lines(app.screen)
            assert [line.key.id for line in listed if not (line.key.caps or line.palette)] == []
        await press(pilot, "2", "question_mark")
        row = next(line for line in lines(app) if "used by" in line)
        assert row.partition("used by")[0].split()[-1] == "^p"
