"""Text cut and padded by terminal cells, not by characters: ten CJK characters are twenty cells."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from textual.content import Content


def crop(text: str, width: int, ellipsis: str = "…") -> str:
    """`text` in at most `width` cells, the last of them an ellipsis where something was cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ellipsis if width > 1 else ellipsis


def crop_start(text: str, width: int, ellipsis: str = "…") -> str:
    """`text` in at most `width` cells, cut at its beginning: what tells one path from another is its end."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > width - 1:
        text = text[1:]
    return ellipsis + text if width > 0 else ""


def shorten(line: Content, width: int, ellipsis: str) -> Content:
    """`crop` for styled words."""
    if line.cell_length <= width:
        return line
    return Content.assemble(line.truncate(max(0, width - cell_len(ellipsis))), ellipsis if width > 0 else "")


AFTER = 16
"""Cells behind a word that was looked for, which are shown with it: "port 2222" is the answer, not "port"."""


def around(text: str, width: int, spans: Sequence[tuple[int, int]], ellipsis: str = "…") -> str:
    """`crop`, but moved to where most of `spans` (begin and end in `text`) are in sight with what follows them.

    No further than it takes: the beginning of a text says what it is about.
    """
    if cell_len(text) <= width or not spans or len(text) != cell_len(text):
        return crop(text, width, ellipsis)

    def seen(begin: int) -> int:
        end = begin + width - 1 - bool(begin)
        return sum(begin <= low and min(high + AFTER, len(text)) <= end for low, high in spans)

    last = len(text) - width + 2
    starts = [0, *(min(last, max(0, high + AFTER - width + 2)) for _, high in spans)]
    begin = max(dict.fromkeys(starts), key=seen)
    begin = text.find(" ", begin) + 1 if begin and text[begin - 1] != " " else begin
    return crop(ellipsis + text[begin:] if begin else text, width, ellipsis)


def folded(text: str, widths: Sequence[int], ellipsis: str = "…") -> list[str]:
    """`text` in as many lines as it needs, each of at most so many cells, cut only at the end of the last one.

    A line ends where a word ends, unless that would leave a quarter of it empty.
    """
    lines = []
    for width in widths[:-1]:
        if cell_len(text) <= width:
            break
        line = set_cell_size(text, width)
        if text[len(line) : len(line) + 1] not in ("", " "):
            words = line.rpartition(" ")[0]
            line = words if cell_len(words) * 4 >= width * 3 else line
        lines.append(line.rstrip())
        text = text[len(line) :].strip()
    return [*lines, crop(text, widths[len(lines)], ellipsis)]


INDENT = 8
"""Where a second line begins that needs more room than the text above it has."""


def flowing(
    lead: Content, text: str, tail: Content, width: int, ellipsis: str = "…", style: str = "$foreground"
) -> tuple[Content, ...]:
    """`lead`, `text`, and `tail` at the right end of `width` cells; what has no room goes on in a second line."""
    room = max(8, width - lead.cell_length - tail.cell_length)
    indent = lead.cell_length
    upper, *lower = folded(text, (room, max(8, width - indent - 1)), ellipsis)
    if lower and lower[0].endswith(ellipsis) and indent > INDENT:
        indent = INDENT
        upper, *lower = folded(text, (room, max(8, width - indent - 1)), ellipsis)
    first = Content.assemble(lead, (set_cell_size(upper, room), style), tail)
    return (first, *(Content.assemble(" " * indent, (part, style)) for part in lower))


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """`crop`, then filled up with spaces to exactly `width` cells."""
    return set_cell_size(crop(text, width, ellipsis), max(0, width))


def right(text: str, width: int, ellipsis: str = "…") -> str:
    """`crop`, then pushed to the right edge of `width` cells."""
    text = crop(text, width, ellipsis)
    return " " * (width - cell_len(text)) + text


def across(left: str, far: str, width: int) -> str:
    """`left` and `far` at the two ends of a line of `width` cells; `left` gives way first."""
    room = width - cell_len(far) - 1
    if room <= 0:
        return fit(far, width)
    return f"{fit(left, room)} {far}"


# Places on disk, as a person writes them.


def tilde(place: str) -> str:
    """`place` with the home folder as `~`; URIs and other folders unchanged."""
    home = os.path.expanduser("~")
    inside = home not in ("", "/") and (place == home or place.startswith(home + os.sep))
    return "~" + place[len(home) :] if inside else place
