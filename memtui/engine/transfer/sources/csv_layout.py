"""How a CSV file is laid out: its delimiter, the lines above its table, and whether the table has a header."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from memtui.engine.transfer.sources.column_mapping import is_named, looks_like_prose, value_kind

DELIMITERS = ",;\t|"

ONE_COLUMN = "\x1f"
"""Stands for "none": the unit separator, which no text has."""

_SEP = re.compile(r"[ \t]*\"?sep=(?P<mark>.)\"?[,;\t ]*\r?\n?$", re.IGNORECASE)

_LOOKED_AT = 30
"""Rows that a layout is judged by."""

_TITLES = 10
"""Rows above a table at the most."""


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """The layout of a table of texts. `skipped` counts rows (blank ones too) before the header, or the first row."""

    delimiter: str
    skipped: int
    titles: tuple[str, ...]
    """What stands above the table, without blank rows."""
    header: tuple[str, ...]
    """Names of the columns, each once; numbered where the file has none."""
    has_header: bool
    regular: float
    """Share of the rows from the header on that have as many cells as it."""

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self.header)


def layout_of(head: str, *, whole: bool, names: Sequence[str] = ()) -> CsvLayout | None:
    """The layout of a table that begins with `head`; None where there is no row.

    `whole` says that nothing follows: else the last line may be cut and is not judged. `names` are columns that a
    person named: a row that has them is the header.
    """
    given = _given_delimiter(head)
    body = head if whole else head[: head.rfind("\n") + 1] or head
    best: tuple[tuple[float, ...], str, list[list[str]]] | None = None
    for mark in [given] if given else [*DELIMITERS, ONE_COLUMN]:
        rows = _rows(body, mark)
        if rows is not None:
            rank = (*_rank(rows), -(DELIMITERS + ONE_COLUMN).index(mark) if not given else 0)
            if best is None or rank > best[0]:
                best = rank, mark, rows
    if best is None:
        return None
    _, mark, rows = best
    return _laid_out(mark, rows, 1 if given else 0, names)


def _given_delimiter(head: str) -> str:
    """The delimiter that a spreadsheet's line `sep=;` names; empty without one."""
    match = _SEP.match(head[: head.find("\n") + 1] or head)
    return match["mark"] if match else ""


def _rows(text: str, mark: str) -> list[list[str]] | None:
    try:
        return list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=mark), _LOOKED_AT))
    except csv.Error:
        return None


def _width(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """(how many cells most rows have, how many rows have that many); of equals the wider."""
    counts = Counter(len(row) for row in rows if any(cell.strip() for cell in row))
    if not counts:
        return 0, 0
    width = max(counts, key=lambda each: (counts[each], each))
    return width, counts[width]


def _rank(rows: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """Better the more rows agree on two or more cells, then the more cells that are; a single column comes last."""
    width, same = _width(rows)
    filled = sum(any(cell.strip() for cell in row) for row in rows) or 1
    return (
        1.0 if width > 1 and same * 5 >= filled * 3 else 0.0,
        same if width > 1 else 0,
        width if width > 1 else 0,
    )


def _laid_out(mark: str, rows: list[list[str]], begin: int, names: Sequence[str]) -> CsvLayout | None:
    table = list(enumerate(rows))[begin:]
    filled = [(at, row) for at, row in table if any(cell.strip() for cell in row)]
    if not filled:
        return None
    width, _ = _width([row for _, row in filled[1:] or filled])
    first = next(
        (place for place, (_, row) in enumerate(filled[:_TITLES]) if names and set(names) <= set(row)),
        None,
    )
    if first is None:
        first = _first_row(filled, width)
    at, row = filled[first]
    below = [each for _, each in filled[first + 1 :]]
    titles = tuple(" ".join(cell.strip() for cell in each if cell.strip()) for _, each in filled[:first])
    has_header = set(names) <= set(row) if names else not _is_data(row, below)
    width = max(width, len(row)) if has_header else width
    header = unique_names([*row, *[""] * (width - len(row))] if has_header else [""] * width)
    alike = [row, *below]
    regular = sum(len(each) == len(row) for each in alike) / len(alike)
    return CsvLayout(mark, at, titles, tuple(header), has_header, regular)


def _first_row(filled: Sequence[tuple[int, list[str]]], width: int) -> int:
    """Which row begins the table: those above it are narrower than it, or have a single cell that is not empty."""
    for place, (_, row) in enumerate(filled[:_TITLES]):
        cells = [cell for cell in row if cell.strip()]
        if any(is_named(cell) for cell in cells):
            return place
        if len(row) == width and (width == 1 or len(cells) > 1):
            return place
    return 0


def _is_data(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a memory, not names of columns.

    No cell is a usual name, and one is of a kind that its column has further down (a number, a day, an id), or it
    reads as a sentence.
    """
    if any(is_named(cell) for cell in row):
        return False
    for at, cell in enumerate(row):
        kind = value_kind(cell)
        column = [value_kind(each[at]) for each in below if at < len(each) and each[at].strip()]
        if kind and column and column.count(kind) * 5 >= len(column) * 4:
            return True
    return any(looks_like_prose(cell) for cell in row)


def unique_names(names: Sequence[str]) -> list[str]:
    """The names of columns with each once: the second `note` is `note (2)`; one without a name gets its number."""
    taken: set[str] = set()
    free = set(names)
    found: list[str] = []
    for at, name in enumerate(names, 1):
        wanted = plain = name if name.strip() else f"column {at}"
        number = 1
        while wanted in taken or (number > 1 and wanted in free):
            number += 1
            wanted = f"{plain} ({number})"
        taken.add(wanted)
        found.append(wanted)
    return found
