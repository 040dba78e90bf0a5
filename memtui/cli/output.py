"""What the command line prints: text, a table, one JSON document, an error. Never a hostile character."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from memtui.engine import MemtuiError, clean, dump_json, mask, one_line, shortened

if TYPE_CHECKING:
    from memtui.engine.recall import StageSummary

_DEEP = 200
"""No answer of ours is nested deeper; what a memory holds may be."""


def print_text(text: str, *, reveal: bool = False) -> None:
    """Print lines to standard output, cleaned and with secrets masked; with `reveal` these stay as they are."""
    shown = text if reveal else mask(text)[0]
    sys.stdout.write(_encodable(clean(shown), sys.stdout) + "\n")


def print_row(text: str) -> None:
    """Print one row that ends with a text as `print_text` does; on a terminal it is shortened to one line there."""
    shown = clean(mask(text)[0]).replace("\n", " ")
    if sys.stdout.isatty():
        shown = _shortened(shown, shutil.get_terminal_size((10_000, 24)).columns)
    sys.stdout.write(_encodable(shown, sys.stdout) + "\n")


_secrets_are_shown = False


def show_secrets(shown: bool) -> None:
    """Say for the command that runs whether JSON shows secrets as they are stored: a person asked for them."""
    global _secrets_are_shown
    _secrets_are_shown = shown


def print_json(value: Any, *, compact: bool = False, reveal: bool = False) -> None:
    """Print one JSON document to standard output, secrets masked; `reveal` and --show-secrets leave them.

    Text stays readable (no ASCII escapes), but controls, bidi controls, invisible fillers and lone surrogates
    are written as `\\uXXXX`, so that a terminal is safe and a reader gets exactly what was stored.
    Not-a-number and the infinities, which JSON does not know, become null. `compact` prints one line.
    """
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    if not (reveal or _secrets_are_shown):
        value = without_secrets(value)
    text = _dump(value, unicode=unicode, indent=None if compact else 2)
    sys.stdout.write(_escape_hostile(text) + "\n")


def without_secrets(value: Any, depth: int = 0) -> Any:
    """A document with every secret in its texts masked; JSON that stands in a text stays JSON."""
    if isinstance(value, str):
        return _masked_text(value, depth)
    if depth > _DEEP or value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {key: without_secrets(item, depth + 1) for key, item in value.items()}
    return [without_secrets(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def _masked_text(text: str, depth: int) -> str:
    masked, count = mask(text)
    if not count or text[:1] not in "{[" or depth > _DEEP:
        return masked
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return masked
    return dump_json(without_secrets(held, depth + 1), ensure_ascii=False, separators=(",", ":"))


def _dump(value: Any, *, unicode: bool, indent: int | None) -> str:
    options: dict[str, Any] = {
        "ensure_ascii": not unicode,
        "indent": indent,
        "default": _plain,
        "allow_nan": False,
    }
    try:
        return dump_json(value, **options)
    except ValueError:
        return dump_json(_finite(value), **options)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be printed as JSON")


def _finite(value: Any, depth: int = 0) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > _DEEP:  # parsed from JSON, which has no infinity
        return value
    if isinstance(value, Mapping):
        return {key: _finite(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item, depth + 1) for item in value]
    return value if value is None or isinstance(value, str | int) else _finite(_plain(value), depth + 1)


def _escape_hostile(text: str) -> str:
    """JSON text with every character that `clean` would change written as an escape; line feeds stay."""
    if clean(text) == text:
        return text
    return "".join(
        # With the one behind it: what a joiner does depends on that.
        char
        if (char.isascii() and char.isprintable()) or clean(text[at : at + 2])[:1] == char
        else _escape(char)
        for at, char in enumerate(text)
    )


def _escape(char: str) -> str:
    code = ord(char)
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def print_table(
    rows: Sequence[Sequence[object]], headers: Sequence[str], right_aligned: Sequence[int] = ()
) -> None:
    """Print columns padded by terminal cells (a CJK character takes two); `right_aligned` are column numbers.

    Every cell is cleaned and put on one line; None is printed as nothing. On a terminal long texts are shortened
    so that a row is one line there; into a pipe or a file everything is written whole.
    """
    from rich.cells import cell_len

    cells = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    widths = [
        max([cell_len(head), *(cell_len(row[column]) for row in cells)])
        for column, head in enumerate(headers)
    ]

    if sys.stdout.isatty():
        _fit(cells, headers, widths, right_aligned)

    def line(row: Sequence[str]) -> str:
        out = []
        for column, cell in enumerate(row):
            cell = _shortened(cell, widths[column])
            space = " " * (widths[column] - cell_len(cell))
            out.append(space + cell if column in right_aligned else cell + space)
        return "  ".join(out).rstrip()

    sys.stdout.write(_bold(line(list(headers)), sys.stdout) + "\n")
    for row in cells:
        sys.stdout.write(_encodable(line(row), sys.stdout) + "\n")


_SHORT = 20
"""Cells of a column that is never shortened: a time with its day fits into them."""

_LEAST = 12
"""Cells that a shortened column keeps."""


def _fit(
    cells: Sequence[Sequence[str]], headers: Sequence[str], widths: list[int], numbers: Sequence[int]
) -> None:
    """Narrow `widths` to the terminal's: the widest texts first, then single words. Ids are copied: they stay."""
    over = sum(widths) + 2 * (len(widths) - 1) - shutil.get_terminal_size((10_000, 24)).columns
    may = [n for n, head in enumerate(headers) if n not in numbers and head.lower() not in ("id", "ids")]
    may = [n for n in may if widths[n] > _SHORT]
    texts = {n for n in may if any(" " in row[n] for row in cells)}
    for column in sorted(may, key=lambda n: (n not in texts, -widths[n])):
        given = min(max(0, over), max(0, widths[column] - max(_LEAST, len(headers[column]))))
        widths[column] -= given
        over -= given


def _shortened(cell: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(cell) <= width:
        return cell
    mark = _encodable("…", sys.stdout).replace("?", "~")
    return set_cell_size(cell, width - 1).rstrip() + mark


def error(failure: MemtuiError, lines: Iterable[str] = ()) -> None:
    """Print a failure to standard error: what is wrong, `lines` that belong to it, and what to do."""
    _say("error", "31", failure.message)
    for line in lines:
        sys.stderr.write(_encodable(f"  {shortened(one_line(line))}", sys.stderr) + "\n")
    if failure.fix:
        sys.stderr.write(_encodable(f"  {shortened(one_line(failure.fix))}", sys.stderr) + "\n")


def warning(message: str) -> None:
    """Print something that a person should know to standard error."""
    _say("warning", "33", message)


def tell_wait(stage: StageSummary) -> None:
    """Print to standard error what an answer waits for, before it is there: to be given to a recall."""
    if stage.begins and not stage.n_out:  # once, as it begins
        warning(stage.note)


def _say(word: str, colour: str, message: str) -> None:
    lead = f"\x1b[{colour}m{word}:\x1b[0m" if uses_colour(sys.stderr) else f"{word}:"
    sys.stderr.write(f"{lead} {_encodable(shortened(one_line(message)), sys.stderr)}\n")


def uses_colour(stream: TextIO) -> bool:
    """Whether colour may be written: to a terminal, without NO_COLOR, one that knows escapes."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _bold(text: str, stream: TextIO) -> str:
    text = _encodable(text, stream)
    return f"\x1b[1m{text}\x1b[0m" if uses_colour(stream) else text


def _encodable(text: str, stream: TextIO) -> str:
    """`text` with what the stream's encoding cannot hold as `?`, so that printing never fails."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)
