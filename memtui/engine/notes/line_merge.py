"""Our change of a text laid upon what others made of it meanwhile, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.engine.notes.place_book import line_codes


@dataclass(frozen=True, slots=True)
class MergedText:
    """The text with both changes; None where both changed the same line, the first of which is `line` (from 1)."""

    text: str | None
    line: int = 0


def merge_lines(base: str, ours: str, theirs: str) -> MergedText:
    """`theirs` with what turned `base` into `ours`; what others did between is kept.

    Lines are cut at line feeds, so that a last line without an end is the same line when others go on behind it.
    """
    if theirs == base:
        return MergedText(ours)
    if theirs == ours:
        return MergedText(theirs)
    old = base.split("\n")
    mine, other = _edits(old, ours.split("\n")), _edits(old, theirs.split("\n"))
    for a0, a1, _ in mine:
        for c0, c1, _ in other:
            if _meet(a0, a1, c0, c1):
                return MergedText(None, max(a0, c0) + 1)
    # Ours first at the same place: what was added behind a line that we bring back was added behind it.
    all_edits = sorted(
        [(*edit, 0) for edit in mine] + [(*edit, 1) for edit in other],
        key=lambda each: (each[0], each[1], each[3]),
    )
    out: list[str] = []
    at = 0
    for start, end, lines, _ in all_edits:
        out += old[at:start]
        out += lines
        at = max(at, end)
    return MergedText("\n".join([*out, *old[at:]]))


def _edits(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, list[str]]]:
    return [(a0, a1, list(new[b0:b1])) for tag, a0, a1, b0, b1 in line_codes(old, new) if tag != "equal"]


def _meet(a0: int, a1: int, c0: int, c1: int) -> bool:
    """Whether two stretches share a line, or one puts lines into the middle of the other."""
    if a0 == a1 or c0 == c1:
        return (a0 == a1 and c0 < a0 < c1) or (c0 == c1 and a0 < c0 < a1)
    return a0 < c1 and c0 < a1
