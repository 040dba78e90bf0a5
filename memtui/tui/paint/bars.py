"""Bars, sparklines and progress as plain text, exact to an eighth of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

from memtui.tui.paint.glyphs import UNICODE, Glyphs


def bar(value: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """A bar of `value` (0 to 1, clamped) in `width` cells, not padded.

    Anything above zero shows at least the thinnest block: a small share is not the same as none.
    """
    if width <= 0 or not isfinite(value) or value <= 0:
        return ""
    steps = len(glyphs.blocks)
    eighths = max(1, min(width * steps, round(min(1.0, value) * width * steps)))
    whole, part = divmod(eighths, steps)
    return glyphs.blocks[-1] * whole + (glyphs.blocks[part - 1] if part else "")


def padded_bar(value: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """`bar`, filled up with spaces to `width` cells."""
    return bar(value, width, glyphs).ljust(max(0, width))


def spark(values: Sequence[float], glyphs: Glyphs = UNICODE) -> str:
    """One character per value, scaled from zero to the largest; empty in a set without heights."""
    heights = glyphs.spark
    if not heights or not values:
        return ""
    top = max((v for v in values if isfinite(v)), default=0.0)
    if top <= 0:
        return heights[0] * len(values)
    last = len(heights) - 1
    return "".join(heights[round(max(0.0, v) / top * last)] if isfinite(v) else " " for v in values)


def progress(fraction: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """A progress strip of exactly `width` cells."""
    done = round(min(1.0, max(0.0, fraction)) * width)
    return glyphs.full * done + glyphs.empty * (width - done)


def resample(values: Sequence[float], count: int) -> list[float]:
    """`values` summed into `count` equal buckets, newest last; fewer values than buckets stay as they are."""
    if count <= 0 or not values:
        return []
    if len(values) <= count:
        return [float(v) for v in values]
    edges = [i * len(values) // count for i in range(count + 1)]
    return [float(sum(values[a:b])) for a, b in pairwise(edges)]
