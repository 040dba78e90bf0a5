"""A label beside a bar keeps a blank before it, however long what it names is."""

from __future__ import annotations

import pytest

from memtui.engine.catalog import Stats
from memtui.engine.recall import WordMet
from memtui.tui.paint.glyphs import ASCII, UNICODE, Glyphs
from memtui.tui.paint.waterfall import Waterfall, WaterfallStep, fall_rows
from memtui.tui.screens.home.view import category_rows, scope_rows, tier_rows
from memtui.tui.trace.ledger import _met_line

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
        added_7d=0, daily=(0,) * 90, daily_by_tier=(), oldest_ms=None, newest_ms=None, findings=(),
    )  # fmt: skip
    for painter in (category_rows, scope_rows, tier_rows):
        untouched(painter(stats, width, 9, glyphs)[0].content.plain, glyphs)
    untouched(_met_line(WordMet(LONG, (0, 9), 0.5, LONG, (0, 9), 0.9), glyphs).plain, glyphs)
    fall = Waterfall((WaterfallStep(LONG, 0.0, 123.456, "$primary", LONG, ""),), 123.456)
    untouched(fall_rows(fall, width, glyphs)[0].plain, glyphs)
