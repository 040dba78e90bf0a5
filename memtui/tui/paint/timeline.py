"""The stages of a recall on the clock: one row a stage, time from left to right, counts in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import UNICODE, Glyphs
from memtui.tui.paint.numbers import full, short

TITLE_CELLS = 15
"""Of them one for the mark before the title and one that keeps it from the bar."""

COUNT_CELLS = 6

MS_CELLS = 5

PAD_CELLS = 2
"""At the right end, so that the numbers stand under their headings in the panel's title."""

MIN_TRACK = 6

COUNTED = TITLE_CELLS + MIN_TRACK + 1 + 2 * COUNT_CELLS + MS_CELLS + PAD_CELLS
"""So wide a row has room for the counts."""


@dataclass(frozen=True, slots=True)
class StageTiming:
    """One stage on the clock. `n_in` and `n_out` are None where nothing is counted (embedding the question).

    `stale` marks a row of the recall before, shown until its own arrives; `warn` one with something to say.
    """

    title: str
    start_ms: float
    ms: float
    n_in: int | None
    n_out: int | None
    style: str
    stale: bool = False
    warn: bool = False
    name: str = ""
    """What the row is known by; not painted."""
    idle: bool = False
    """True for a lane that was not asked."""


def millis(ms: float) -> str:
    """A duration in at most four characters: `<1`, `9`, `412`, `1.2s`, `3m`."""
    if ms < 0.95:
        return "<1" if ms > 0 else "0"
    if ms < 999.5:
        return f"{ms:.0f}"
    if ms < 99_950:
        return f"{ms / 1000:.1f}s" if ms < 9_950 else f"{ms / 1000:.0f}s"
    return f"{short(ms / 60_000)}m"


def columns(width: int) -> Content:
    """The headings of the columns on the right, to stand in the panel's title above them."""
    return Content(
        f"{'in':>{COUNT_CELLS}}{'out':>{COUNT_CELLS}}{'ms':>{MS_CELLS}}" if width >= COUNTED else "ms"
    )


def track_cells(width: int) -> int:
    """Cells that are left for time at this width of the row."""
    counts = 2 * COUNT_CELLS if width >= COUNTED else 0
    return max(MIN_TRACK, width - TITLE_CELLS - counts - MS_CELLS - 1 - PAD_CELLS)


def stage_row(lap: StageTiming, total_ms: float, width: int, glyphs: Glyphs = UNICODE) -> Content:
    """One row of exactly `width` cells; `total_ms` is the right end of the time axis."""
    track = _track(lap, total_ms, track_cells(width), glyphs)
    quiet = lap.stale or lap.idle
    name_style = "$dim" if quiet else "$foreground"
    title = fit(lap.title, TITLE_CELLS - 2, glyphs.ellipsis) + " "
    mark = (glyphs.warn, "bold $stale") if lap.warn and not lap.stale else " "
    if lap.idle:
        return Content.assemble(mark, (title, "$dim"), (fit("not asked", width - TITLE_CELLS), "$dim"))
    cut = lap.n_in is not None and lap.n_out is not None and lap.n_out < lap.n_in
    counts: list[str | tuple[str, str]] = []
    if width >= COUNTED:
        counts = [
            (right(_count(lap.n_in), COUNT_CELLS), "$dim"),
            (right(_count(lap.n_out), COUNT_CELLS), "$dim" if quiet or not cut else "$foreground"),
        ]
    return Content.assemble(
        mark,
        (title, name_style),
        (track, "$faint" if quiet else lap.style),
        " ",
        *counts,
        (right(millis(lap.ms), MS_CELLS), "$dim"),
        " " * PAD_CELLS,
    )


def total(laps: Sequence[StageTiming]) -> float:
    """The end of the last lap, in milliseconds; never zero, so that it can divide."""
    return max((lap.start_ms + lap.ms for lap in laps), default=0.0) or 1.0


def _count(n: int | None) -> str:
    if n is None:
        return ""
    text = full(n)
    return text if len(text) < COUNT_CELLS else short(n)


def _track(lap: StageTiming, total_ms: float, cells: int, glyphs: Glyphs) -> str:
    """The lap as a block from its start; even the shortest is one visible mark."""
    steps = len(glyphs.blocks)
    start = min(cells - 1, max(0, int(lap.start_ms / total_ms * cells)))
    end = min(float(cells), (lap.start_ms + lap.ms) / total_ms * cells)
    eighths = max(1, min((cells - start) * steps, round((end - start) * steps)))
    whole, part = divmod(eighths, steps)
    block = glyphs.blocks[-1] * whole + (glyphs.blocks[part - 1] if part else "")
    return (" " * start + block).ljust(cells)
