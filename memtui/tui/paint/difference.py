"""Two texts word by word: what is gone is struck through, what is new underlined; in ASCII they stand in brackets."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from memtui.engine import clean, one_line, veiled, word_diff
from memtui.tui.paint.glyphs import Glyphs

STYLES = {"same": "$foreground", "gone": "strike $delta-down", "new": "bold underline $delta-up"}

_BRACKETS = {"same": ("", ""), "gone": ("[-", "-]"), "new": ("{+", "+}")}
"""For terminals without lines through and below letters, as git writes it."""

LEAD = 12
"""Cells before a changed word that stay in sight when a line is shifted to it."""


def difference(before: str, after: str, glyphs: Glyphs) -> Content:
    """Both texts in one; a space stands between words that take each other's place."""
    parts: list[tuple[str, str]] = []
    last = ""
    for kind, text in word_diff(clean(veiled(before)), clean(veiled(after))):
        apart = last and kind == "new" and not last[-1].isspace() and not text[0].isspace()
        opens, closes = ("", "") if glyphs.name != "ascii" or not text.strip() else _BRACKETS[kind]
        if apart and not opens:
            parts.append((" ", ""))
        parts.append((f"{opens}{text}{closes}", STYLES[kind]))
        last = text if kind == "gone" else ""
    return Content.assemble(*parts)


def own_words(before: str, after: str, side: Literal["gone", "new"], glyphs: Glyphs) -> tuple[Content, int]:
    """One of the texts on one line, the words that only it has marked; and where the first of them begins, else -1.

    The blanks around such words bear no mark.
    """
    parts: list[tuple[str, str]] = []
    first, at = -1, 0
    for kind, text in word_diff(one_line(veiled(before)), one_line(veiled(after))):
        if kind not in ("same", side):
            continue
        words = text.strip()
        if kind == "same" or not words:
            parts.append((text, STYLES["same"]))
            at += len(text)
            continue
        lead, end = text[: text.index(words)], text[text.index(words) + len(words) :]
        opens, closes = _BRACKETS[kind] if glyphs.name == "ascii" else ("", "")
        if first < 0:
            first = at + len(lead)
        parts += [(lead, ""), (f"{opens}{words}{closes}", STYLES[kind]), (end, "")]
        at += len(text) + len(opens) + len(closes)
    return Content.assemble(*(part for part in parts if part[0])), first


def one_side(before: str, after: str, side: Literal["gone", "new"], width: int, glyphs: Glyphs) -> Content:
    """`own_words` in one line of `width` cells, shifted so that the first marked word is in sight."""
    line, first = own_words(before, after, side, glyphs)
    if first > 0 and line[: first + LEAD].cell_length > width:
        begins = max(0, first - LEAD)
        begins += line.plain[begins:first].startswith(" ")
        line = Content.assemble((glyphs.ellipsis, "$dim"), line[begins:]) if begins else line
    if line.cell_length <= width:
        return line
    return Content.assemble(line.truncate(max(0, width - 1)), (glyphs.ellipsis, "$dim"))
