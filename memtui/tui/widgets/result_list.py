"""What came back: place, tier, category, text, score bar, change of rank, and the evidence of each lane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import around, crop, fit, folded, right, shorten
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import score
from memtui.tui.theme.tokens import category_cell, scope_style, tier_style
from memtui.tui.widgets.row_list import Row, RowList

BAR_CELLS = 8

TAIL = BAR_CELLS + 13

LEAST_TEXT = 6
"""Fewer cells of the second line say nothing of a text."""

BAND_CELLS = 5
"""A tier of importance beside the bar: must, nice, unkn, with a space."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One result as it is painted. `climbed`: places won or lost, None where nothing can be compared."""

    id: str
    rank: int
    text: str
    tier: str | None
    category: str | None
    scope: str | None
    score: float
    share: float
    """The score as a share of a full bar: of 1, or of the best score where that is more."""
    climbed: int | None
    evidence: tuple[tuple[str, str, str], ...]
    """(lane, "score #rank", style), empty text where the lane did not find it."""
    matches: tuple[str, ...] = ()
    """Words of the question, lower case, to be lit in the text."""
    left_out: str = ""
    """Why it does not reach the agent's prompt."""
    shown: str = ""
    """The score as printed, where it is not its number: a sum of places is its share of the best there can be."""
    band: str = ""
    """The tier that was searched for it, where results are ordered by tier first."""


def found_at(low: str, word: str) -> Iterator[int]:
    """Where `word` begins in the lower-case text; scripts without spaces have no word beginnings to ask for."""
    at = low.find(word) if word else -1
    while at >= 0:
        if not word.isascii() or not low[max(0, at - 1) : at].isalnum():
            yield at
        at = low.find(word, at + len(word))


def lit(text: str, words: Sequence[str]) -> Content:
    """`text` with the words of the question brightened wherever they begin a word."""
    content, low = Content(text), text.lower()
    if len(low) != len(text):  # a few letters grow when lowered, and the places would be others
        return content
    for word in words:
        for at in found_at(low, word):
            content = content.stylize("$match", at, at + len(word))
    return content


def hit_lines(
    hit: ResultRow, width: int, glyphs: Glyphs, *, evidence: bool, verdict: str = ""
) -> tuple[Content, ...]:
    """One result in one line, or more with its evidence at the right of the last, each of at most `width` cells.

    What the first has no room for of the text goes on below. `verdict`: what the saved case of the question
    says of it, "expected", "rejected", its grade, or nothing.
    """
    text_cells = max(8, width - 12 - TAIL)
    band = fit(one_line(hit.band)[: BAND_CELLS - 1], BAND_CELLS, "") if hit.band else ""
    said = _evidence(hit, width - 12, glyphs) if evidence else Content()
    room = width - 12 - said.cell_length - 2 if evidence else 0
    beside = (room,) if room >= LEAST_TEXT else ()
    upper, *lower = _text(
        hit, (text_cells, width - 12, *beside) if evidence else (text_cells,), beside, glyphs
    )
    moved, moved_style = _moved(hit.climbed, glyphs)
    bright = "$score-high" if hit.share >= 0.6 else "$score-mid" if hit.share >= 0.4 else "$score-low"
    bold = "bold" if hit.tier == "core" else ""
    first = Content.assemble(
        (right(str(hit.rank), 3), "bold $foreground"),
        (glyphs.grades[int(verdict)], "bold $ok")
        if verdict.isdigit()
        else {"expected": (glyphs.mark, "bold $ok"), "rejected": (glyphs.cross, "bold $danger")}.get(
            verdict, " "
        ),
        (glyphs.tier(hit.tier), tier_style(hit.tier)),
        " ",
        category_cell(hit.category),
        " ",
        lit(upper, hit.matches).stylize_before(bold),
        " " * (text_cells - cell_len(upper) + 1),
        (band, "$dim"),
        (padded_bar(hit.share, BAR_CELLS - len(band) - int(bool(hit.shown)), glyphs), bright),
        (right(hit.shown or score(hit.score), 5 + int(bool(hit.shown))), "bold $foreground"),
        (right(moved, 5), moved_style),
        "  ",
    )
    if hit.left_out and not evidence:  # in a narrow list the reason stands alone
        why = crop(f"{glyphs.cross} {one_line(hit.left_out)}", max(8, width - 12), glyphs.ellipsis)
        return first, Content.styled(" " * 11 + why, "$stage-cut")
    if not evidence:
        return (first,)
    words = [lit(line, hit.matches).stylize_before(bold) for line in lower]
    last = words.pop() if words and words[-1].cell_length <= room else Content()
    gap = " " * max(0, width - 12 - last.cell_length - said.cell_length)
    between = (Content.assemble(" " * 11, word) for word in words)
    return first, *between, Content.assemble(" " * 11, last, gap, said)


def _text(hit: ResultRow, widths: Sequence[int], beside: Sequence[int], glyphs: Glyphs) -> list[str]:
    """The text in lines of these cells, cut around the words of the question where it does not fit.

    Where the first one and the room `beside` the evidence hold it, it needs no other line.
    """
    text = one_line(hit.text)
    low = text.lower()
    found = [(at, at + len(word)) for word in hit.matches for at in found_at(low, word)]
    spans = found if len(low) == len(text) else []
    lines: list[str] = []
    for tried in ((widths[0], *beside), widths) if len(widths) > 1 else ():
        lines = folded(text, tried, glyphs.ellipsis)
        if not lines[-1].endswith(glyphs.ellipsis):
            return lines
    room = sum(cell_len(line) + 1 for line in lines[:-1]) + widths[-1]
    return folded(around(text, room, spans, glyphs.ellipsis), widths, glyphs.ellipsis)


def _evidence(hit: ResultRow, width: int, glyphs: Glyphs) -> Content:
    """The scope and what each lane found it with, in at most `width` cells."""
    lanes: list[str | tuple[str, str]] = []
    if hit.left_out:
        lanes.append((f"  {glyphs.cross} {one_line(hit.left_out)}", "$stage-cut"))
    for lane, found, style in hit.evidence:
        lanes += ["  ", (lane + " ", style), (found or "-", "$dim")]
    told = Content.assemble(*lanes)
    scope = crop(one_line(hit.scope or "-"), max(8, width - told.cell_length), glyphs.ellipsis)
    return shorten(Content.assemble((scope, scope_style(hit.scope)), told), width, glyphs.ellipsis)


def _moved(climbed: int | None, glyphs: Glyphs) -> tuple[str, str]:
    if climbed is None:
        return "", "$dim"
    if climbed == 0:
        return "=", "$dim"
    return (
        (f"{glyphs.up}{climbed}", "$delta-up") if climbed > 0 else (f"{glyphs.down}{-climbed}", "$delta-down")
    )


class ResultList(RowList):
    """The results in final order; two or three lines each where there is room for the evidence."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hits: tuple[ResultRow, ...] = ()
        self._head: tuple[Content, ...] = ()
        self._ends = ""
        self.verdicts: Mapping[str, str] = {}
        """What the saved case of the question says of the results, by id."""

    def show(
        self,
        hits: Sequence[ResultRow],
        selected: str | None = None,
        *,
        head: Sequence[Content] = (),
        ends: str = "",
    ) -> None:
        """Show these results with the cursor on `selected`, `head` above them.

        `ends` is what stands under the last one that reaches the prompt, where others do not.
        """
        self._hits, self._head, self._ends = tuple(hits), tuple(head), ends
        self.repaint(selected)

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        evidence = self.app.size.width >= 100
        rows = [Row((Content.assemble(" ", each),)) for line in self._head for each in line.wrap(width - 2)]
        ended = not self._ends
        for hit in self._hits:
            if hit.left_out and not ended:
                rows.append(Row((self._end_line(width, glyphs),)))
                ended = True
            lines = hit_lines(hit, width, glyphs, evidence=evidence, verdict=self.verdicts.get(hit.id, ""))
            rows.append(Row(lines, hit.id))
        if not ended and self._hits:  # the hook's own answer: what it left out is in no list
            rows.append(Row((self._end_line(width, glyphs),)))
        return rows

    def _end_line(self, width: int, glyphs: Glyphs) -> Content:
        said = crop(f" {self._ends} ", max(8, width - 4), glyphs.ellipsis)
        rule = glyphs.rule * max(0, width - cell_len(said) - 3)
        return Content.assemble(
            (f" {glyphs.rule}", "$stage-cut"), (said, "bold $stage-cut"), (rule, "$stage-cut")
        )
