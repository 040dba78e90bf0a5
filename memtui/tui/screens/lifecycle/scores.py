"""The scores panel: how many memories have which composite, by tier, with the stale line between them."""

from __future__ import annotations

from textual.content import Content

from memtui.engine import Board
from memtui.tui.paint.cells import right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, short
from memtui.tui.paint.stacks import stacked_bar
from memtui.tui.theme.tokens import TIER_TOKENS
from memtui.tui.widgets.rows import Row

LABEL = 9
COUNT = 8
DELTA = 7
"""For the difference, while settings are tried."""
LINE = "line"
"""Key of the row that is the stale line."""


def groups(board: Board, room: int) -> list[tuple[float, float, tuple[int, ...]]]:
    """Ranges of the composite with counts by tier, the highest first: as many as have room."""
    bins = [facts.bins for facts in board.tiers]
    count = len(bins[0]) if bins else 0
    merge = 1 if room > count else 2
    found = []
    for start in range(0, count, merge):
        counts = tuple(sum(each[start : start + merge]) for each in bins)
        found.append((start / count, (start + merge) / count, counts))
    return found[::-1]


def score_rows(board: Board, base: Board | None, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """One row a range: its bar, how many, and by how many that differs from the untouched settings."""
    ranges = groups(board, height)
    before = {low: sum(counts) for low, _, counts in groups(base, height)} if base is not None else {}
    most = max((sum(counts) for _, _, counts in ranges), default=0)
    strip = max(4, width - LABEL - COUNT - (DELTA if base is not None else 1))
    line = board.settings.values["decay.staleThreshold"]
    rows: list[Row] = []
    drawn = False
    for low, high, counts in ranges:
        if not drawn and line >= high - 1e-9 and line > 0:
            rows.append(_stale_line(board, line, width, glyphs))
            drawn = True
        total = sum(counts)
        bar = stacked_bar(counts, most, strip, glyphs)
        change = total - before.get(low, total)
        style = "$dim" if not total else "$stale" if high <= line + 1e-9 else "$foreground"
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ",
                        (f"{_edge(low)}-{_edge(high)}".ljust(LABEL - 1), "$dim"),
                        bar.extend_right(max(0, strip - bar.cell_length)),
                        (right(full(total), COUNT), style),
                        _delta(change) if change else "",
                    ).truncate(width),
                ),
                f"{low:g}",
            )
        )
    return rows


def _stale_line(board: Board, line: float, width: int, glyphs: Glyphs) -> Row:
    said = f" stale below {_edge(line)}: {full(board.stale)} "
    rule = glyphs.skeleton * max(0, width - LABEL - len(said) - 1)
    return Row((Content.styled(" " * LABEL + rule + said, "$stale").truncate(width),), LINE)


def _delta(change: int) -> Content:
    return Content.styled(f" {change:+,}", "$delta-up" if change > 0 else "$delta-down")


def _edge(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value < 1 else "1.0"


def row_words(board: Board, key: str, height: int, glyphs: Glyphs) -> Content:
    """The numbers of the row under the cursor, by tier."""
    if key == LINE:
        parts = [(facts.tier, facts.stale) for facts in board.tiers]
        lead = "stale"
    else:
        found = next((each for each in groups(board, height) if f"{each[0]:g}" == key), None)
        if found is None:
            return Content()
        parts = [(facts.tier, count) for facts, count in zip(board.tiers, found[2], strict=True)]
        lead = f"{_edge(found[0])}-{_edge(found[1])}"
    marks = [
        Content.styled(f"{glyphs.tier(tier)} {short(count)}", f"${TIER_TOKENS[tier]}")
        for tier, count in parts
    ]
    return Content("  ").join([Content(lead), *marks])
