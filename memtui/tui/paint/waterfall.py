"""A score taken apart: each step starts where the one before ended, so the end is read off the same axis.

Gains are solid, losses hatched. The numbers printed beside the steps are differences of rounded running
values: whoever adds them up on paper gets the final score that is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import isfinite

from textual.content import Content

from memtui.tui.paint.bars import bar
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import UNICODE, Glyphs

TITLE_CELLS = 13

VALUE_CELLS = 6

DELTA_CELLS = 6

MOVE_CELLS = 9

MIN_TRACK = 10

GOOD_TRACK = 34
"""As much as the axis keeps where formulas want room."""

LEAST_TRACK = 24
"""What is left to the axis where a formula would be cut else."""

_TOPS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class WaterfallStep:
    """What one step did to a score: from `before` to `after`, and the formula with its numbers filled in."""

    title: str
    before: float
    after: float
    style: str
    formula: str = ""
    places: str = ""
    """How the rank changed: "#3 → #1"; empty where it did not."""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A whole score: its steps, the recorded score at the end, and the `limit` that it did not reach."""

    moves: tuple[WaterfallStep, ...]
    final: float
    limit: float | None = None

    @property
    def difference(self) -> float:
        """What the painted steps leave out, or jump over, on the way to the recorded score; 0 adds up."""
        summed, at, jumps = 0.0, 0.0, 0.0
        for move in self.moves:
            jumps += abs(move.before - at)
            summed += move.after - move.before
            at = move.after
        gap = self.final - summed
        return gap if abs(gap) > TOLERANCE or jumps <= TOLERANCE else jumps

    @property
    def adds_up(self) -> bool:
        """Whether the painted steps lead without a jump from 0 to the recorded final score."""
        return abs(self.difference) <= TOLERANCE

    @property
    def top(self) -> float:
        """The right end of the axis: a round number that holds every value on the way."""
        peak = max((v for m in self.moves for v in (m.before, m.after) if isfinite(v)), default=0.0)
        peak = max(peak, self.final, self.limit or 0.0)
        return next((top for top in _TOPS if peak <= top), peak)

    @property
    def digits(self) -> int:
        """Digits after the point: three, more where the whole axis is small (reciprocal ranks)."""
        return 3 if self.top > 0.05 else 5

    def printed(self) -> list[str]:
        """The change of each step as printed; they sum to the printed final score."""
        scale = 10**self.digits
        ends = [round(v * scale) for v in [0.0, *(m.after for m in self.moves)]]
        return [_signed((b - a) / scale, self.digits) for a, b in pairwise(ends)]


def number(value: float, digits: int = 3) -> str:
    """`.914`, `1.000`, `-.020`: the leading zero dropped."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _signed(value: float, digits: int) -> str:
    return "=" if value == 0 else ("+" if value > 0 else "") + number(value, digits)


def fall_rows(
    fall: Waterfall, width: int, glyphs: Glyphs = UNICODE, *, formulas: bool = True
) -> list[Content]:
    """One row a step and a last one for the final score, each of exactly `width` cells.

    Columns: step, score after it, the axis with the change printed at the block, formula, change of rank.
    """
    formula_cells = _formula_cells(fall, width) if formulas else 0
    move_cells = MOVE_CELLS if any(m.places for m in fall.moves) and width >= 70 else 0
    track = max(MIN_TRACK, width - TITLE_CELLS - VALUE_CELLS - formula_cells - move_cells - 3)
    plot = max(4, track - DELTA_CELLS - 1)
    rows = []
    for move, delta in zip(fall.moves, fall.printed(), strict=True):
        still = delta == "="
        rows.append(
            Content.assemble(
                " ",
                (fit(move.title, TITLE_CELLS, glyphs.ellipsis), "$dim" if still else "$foreground"),
                (right(number(move.after, fall.digits), VALUE_CELLS), "$dim"),
                " ",
                _block(move, delta, fall.top, plot, track, glyphs),
                (fit(f" {move.formula}", formula_cells, glyphs.ellipsis), "$dim"),
                (right(move.places, move_cells), "$foreground"),
                " ",
            )
        )
    rows.append(_final_row(fall, width, plot, glyphs))
    return rows


def _formula_cells(fall: Waterfall, width: int) -> int:
    longest = max((len(m.formula) for m in fall.moves), default=0) + 1
    rest = width - TITLE_CELLS - VALUE_CELLS - 3
    track = GOOD_TRACK if rest - GOOD_TRACK >= longest else LEAST_TRACK
    return 0 if width < 70 else min(longest, max(18, rest - track))


def _cells(value: float, top: float, cells: int) -> float:
    return min(1.0, max(0.0, value / top if top and isfinite(value) else 0.0)) * cells


def _block(move: WaterfallStep, delta: str, top: float, plot: int, track: int, glyphs: Glyphs) -> Content:
    """A step on the axis with its change printed behind it (or before it, where there is no room)."""
    style = f"bold {move.style}" if delta != "=" else "$dim"
    if delta == "=":
        start, block = int(_cells(move.after, top, plot)), ""
    elif move.after > move.before:
        start, block = _solid(move, top, plot, glyphs)
    else:
        low, high = round(_cells(move.after, top, plot)), round(_cells(move.before, top, plot))
        start = min(low, plot - 1)
        block = glyphs.loss * max(1, high - start)
    text = Content.assemble(" " * start, (block, move.style), " ", (delta, style))
    return text.extend_right(max(0, track - text.cell_length)).truncate(track)


def _solid(move: WaterfallStep, top: float, plot: int, glyphs: Glyphs) -> tuple[int, str]:
    start = min(plot - 1, round(_cells(move.before, top, plot)))
    steps = len(glyphs.blocks)
    eighths = max(1, round((_cells(move.after, top, plot) - start) * steps))
    whole, part = divmod(eighths, steps)
    return start, glyphs.blocks[-1] * whole + (glyphs.blocks[part - 1] if part else "")


def _final_row(fall: Waterfall, width: int, plot: int, glyphs: Glyphs) -> Content:
    share = fall.final / fall.top if fall.top else 0.0
    block = Content.styled(bar(share, plot, glyphs), "$score-high")
    room = width - TITLE_CELLS - VALUE_CELLS - plot - 2
    axis = next(
        (text for text in (f" axis to {_round(fall.top)}", f" to {_round(fall.top)}") if len(text) <= room),
        "",
    )
    end = Content.styled(axis, "$dim")
    if fall.limit is not None:
        block = _marked(block, round(_cells(fall.limit, fall.top, plot)), plot, glyphs)
        end = Content.styled(f" {glyphs.floor} needed {number(fall.limit, fall.digits)}", "$stage-cut")
    line = Content.assemble(
        " ",
        (fit("final", TITLE_CELLS), "bold $foreground"),
        (right(number(fall.final, fall.digits), VALUE_CELLS), "bold $foreground"),
        " ",
        block.extend_right(max(0, plot - block.cell_length)),
        end,
    )
    return line.extend_right(max(0, width - line.cell_length)).truncate(width)


def _round(top: float) -> str:
    return number(top, 3 if top >= 0.1 else 5).rstrip("0").rstrip(".")


def _marked(block: Content, at: int, plot: int, glyphs: Glyphs) -> Content:
    at = min(plot - 1, max(0, at))
    block = block.extend_right(max(0, plot - block.cell_length))
    return Content.assemble(block[:at], (glyphs.floor, "bold $stage-cut"), block[at + 1 :])


def badge(fall: Waterfall, *, proved: bool, error: float = 0.0, glyphs: Glyphs = UNICODE) -> Content:
    """Whether the account holds: its steps lead to the score, and other formulas gave the same numbers."""
    if not fall.adds_up:
        return Content.styled(f"{glyphs.warn} off by {number(abs(fall.difference), 6)}", "bold $danger")
    if not proved:
        return Content.styled(f"{glyphs.warn} recomputing differs by {error:.2g}", "bold $danger")
    return Content.styled(f"{glyphs.mark} verified", "bold $ok")


def stacked(fall: Waterfall, width: int, glyphs: Glyphs = UNICODE) -> Content:
    """All steps in one bar of at most `width` cells: gains in a row, losses eaten from its right end.

    The solid part is the final score. Neighbours differ in hue, and in shade where there is no colour.
    """
    gains = [(m.after - m.before, m.style) for m in fall.moves if m.after > m.before]
    peak = sum(size for size, _ in gains)
    if peak <= TOLERANCE or width <= 0:
        return Content()
    cells = _shares(gains, peak, max(1, min(width, round(peak / max(fall.top, peak) * width))))
    loss = sum(max(0.0, m.before - m.after) for m in fall.moves)
    lost = min(len(cells), max(1, round(min(1.0, loss / peak) * len(cells)))) if loss > TOLERANCE else 0
    kept = cells[: len(cells) - lost]
    runs = [(style, len(list(run))) for style, run in groupby(kept)]
    shades = _SHADES if len(glyphs.blocks) > 1 else glyphs.blocks[-1] * 2
    parts = [(shades[i % 2] * count, style) for i, (style, count) in enumerate(runs)]
    return Content.assemble(*parts, (glyphs.loss * lost, "$stage-cut"))


_SHADES = "█▓"


def _shares(gains: Sequence[tuple[float, str]], peak: float, width: int) -> list[str]:
    """The style of every cell; every gain gets at least one as long as there are cells."""
    cells: list[str] = []
    at = 0.0
    for size, style in gains:
        at += size
        until = max(len(cells) + 1, round(at / peak * width))
        cells += [style] * min(until - len(cells), width - len(cells))
    return cells


def summary(fall: Waterfall, width: int, glyphs: Glyphs = UNICODE) -> Content:
    """The steps on one line of at most `width` cells: `vector +.581  bm25 +.271  length -.062  = .790`."""
    parts: list[str | tuple[str, str]] = []
    for move, delta in zip(fall.moves, fall.printed(), strict=True):
        if delta != "=":
            parts += [(f"{move.title} ", "$dim"), (delta, move.style), "  "]
    line = Content.assemble(*parts)
    end = Content.styled(f"= {number(fall.final, fall.digits)}", "bold $foreground")
    room = width - end.cell_length - 1
    if line.cell_length > room:
        line = Content.assemble(line.truncate(max(0, room - 2)), glyphs.ellipsis, " ")
    return Content.assemble(line, end)
