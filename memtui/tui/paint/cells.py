"""Text cut and padded by terminal cells, not by characters: ten CJK characters are twenty cells."""

from __future__ import annotations

import os

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
