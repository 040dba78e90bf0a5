"""Where memtui's own changes left each chunk of a file, so that an entry is known after it was rewritten."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from memtui.engine.core.private_file import make_private_folder, open_private

Codes = Sequence[tuple[str, int, int, int, int]]
"""What turns one list of lines into another, as `difflib` says it."""

Range = tuple[int, int]
"""The first line, counted from 0, and the line behind the last one."""


@dataclass(frozen=True, slots=True)
class PlacedLines:
    """A state of a file in which the place of every chunk is known. Lines are kept as marks, not as text."""

    indexed: str
    """Hash of the file that was indexed then: of another index nothing is known."""
    marks: tuple[str, ...]
    ranges: Mapping[str, Range] = field(default_factory=dict)


def line_mark(line: str) -> str:
    """What a line is recognised by."""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def line_codes(old: Sequence[str], new: Sequence[str]) -> Codes:
    """What turns `old` into `new`; what is alike at both ends is not compared."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    most = shorter - head
    tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    inner = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    codes: list[tuple[str, int, int, int, int]] = [("equal", 0, head, 0, head)] if head else []
    codes += [
        (tag, head + a0, head + a1, head + b0, head + b1) for tag, a0, a1, b0, b1 in inner.get_opcodes()
    ]
    if tail:
        codes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return codes


def carry_range(start: int, end: int, codes: Codes) -> Range | None:
    """The lines of the new text that stand for lines start to end of the old; None where that cannot be told."""
    first: int | None = None
    last = place = 0
    for tag, a0, a1, b0, b1 in codes:
        low, high = max(a0, start), min(a1, end)
        if a1 <= start:
            place = b1 if tag != "insert" else place
        if low >= high:
            continue
        if tag == "equal" or (tag == "replace" and a1 - a0 == b1 - b0):
            new = (b0 + low - a0, b0 + high - a0)
        elif tag == "delete":
            new = (b0, b0)
        elif low == a0 and high == a1:
            new = (b0, b1)
        else:
            return None  # a stretch of another length that belongs to several chunks
        first = new[0] if first is None else first
        last = new[1]
    return (place, place) if first is None else (first, last)


def carry_ranges(ranges: Mapping[str, Range], old: Sequence[str], new: Sequence[str]) -> dict[str, Range]:
    """Every range that can be told in the new text."""
    codes = line_codes(old, new)
    carried = {chunk: carry_range(*found, codes) for chunk, found in ranges.items()}
    return {chunk: found for chunk, found in carried.items() if found is not None}


class PlaceBook:
    """The known places by the paths of the index, in a private file of memtui's; None keeps nothing."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def read(self) -> dict[str, PlacedLines]:
        """Everything that is kept; empty where there is nothing, or nothing that can be read."""
        if self._file is None:
            return {}
        try:
            kept = json.loads(self._file.read_bytes())
            return {
                path: PlacedLines(
                    said["indexed"],
                    tuple(said["marks"]),
                    {chunk: (int(start), int(end)) for chunk, (start, end) in said["ranges"].items()},
                )
                for path, said in kept.items()
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def keep(self, places: Mapping[str, PlacedLines]) -> None:
        """Keep these beside what is kept of other files."""
        if self._file is None:
            return
        whole = {**self.read(), **places}
        document = {
            path: {"indexed": kept.indexed, "marks": kept.marks, "ranges": kept.ranges}
            for path, kept in whole.items()
        }
        make_private_folder(self._file.parent)
        beside = self._file.with_suffix(".new")
        with os.fdopen(
            open_private(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8"
        ) as file:
            json.dump(document, file)
        os.replace(beside, self._file)
