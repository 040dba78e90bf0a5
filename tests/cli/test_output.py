"""What is printed stays one document, exact and harmless."""

from __future__ import annotations

import io
import json
import math
import re
import sys
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from rich.cells import cell_len

from memtui.cli import output
from memtui.engine import duration
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import clean

Capture = pytest.CaptureFixture[str]
HOSTILE = "\x1b[31m \x07 \x7f \x9b \u202e \u2066 \ufeff \u2028 \ud800 \U000e0041 \r\n\t end"


class Terminal(io.StringIO):
    """Standard output of another kind."""

    def __init__(self, *, tty: bool = False, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty, self._encoding = tty, encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._tty


def test_hostile_text_is_escaped_and_comes_back_exactly(capsys: Capture) -> None:
    output.print_json({"text": HOSTILE, "名前": "日本語 👩‍💻 é"})
    text = capsys.readouterr().out
    assert clean(text) == text
    assert "日本語 👩‍💻 é" in text
    back = json.loads(text)
    assert back["text"] == HOSTILE
    text.encode("utf-8")


def test_numbers_and_types_that_json_does_not_know(capsys: Capture) -> None:
    value = {
        "nan": [math.nan, math.inf],
        "array": np.arange(3, dtype=np.float32),
        "scalar": np.int64(7),
        "path": Path("/x"),
        "mapping": MappingProxyType({"a": (1, None, True)}),
    }
    output.print_json(value, compact=True)
    text = capsys.readouterr().out
    assert text.count("\n") == 1
    assert json.loads(text) == {
        "nan": [None, None],
        "array": [0.0, 1.0, 2.0],
        "scalar": 7,
        "path": "/x",
        "mapping": {"a": [1, None, True]},
    }


def test_an_object_of_another_kind_is_an_error_not_a_guess(capsys: Capture) -> None:
    with pytest.raises(TypeError):
        output.print_json({"x": object()})
    assert capsys.readouterr().out == ""


def test_a_terminal_without_unicode_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal(encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    output.print_json({"a": "é"})
    output.print_table([["é"]], ["A"])
    output.print_text("é")
    assert stream.getvalue().isascii()
    assert '"\\u00e9"' in stream.getvalue()


def test_a_table_is_aligned_by_cells(capsys: Capture) -> None:
    output.print_table([["日本", 1], ["ab\x1b\ncd", 23], [None, ""]], ["NAME", "N"], right_aligned=(1,))
    assert capsys.readouterr().out.splitlines() == ["NAME     N", "日本     1", "ab␛ cd  23", ""]


TITLE = "the jump host of the office answers on port 2222 since the audit of last spring " * 3
ID = "8014a48f-1d7c-57bc-bf83-0c8dc9cf7970"


@pytest.mark.parametrize("columns", [72, 80, 120])
@pytest.mark.parametrize("title", [TITLE, "日本語の記憶 " * 40, "x" * 300])
def test_a_table_is_no_wider_than_the_terminal_and_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, columns: int, title: str
) -> None:
    rows = [[ID, "2026-09-01 12:00:00Z", title, 12], [ID, "2026-09-01 12:00:00Z", "short", 7]]
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    shown, piped = Terminal(tty=True), Terminal()
    for stream in (shown, piped):
        monkeypatch.setattr(sys, "stdout", stream)
        output.print_table(rows, ["ID", "WHEN", "TITLE", "USED"], right_aligned=(3,))
    lines = shown.getvalue().splitlines()
    assert len(lines) == 3
    if columns > 72:  # there an id, a time and twelve cells of text are wider already
        assert max(map(cell_len, lines)) <= columns
    assert all(line.startswith(ID) and "2026-09-01 12:00:00Z" in line for line in lines[1:])
    assert "…" in lines[1]
    assert lines[1].endswith("12")
    assert title.strip() in piped.getvalue()


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("title", [TITLE, "日本語の記憶 " * 40, "x" * 300, "ab\ncd"])
def test_a_row_that_ends_with_a_text_is_one_line_of_the_terminal_and_whole_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, columns: int, title: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown, piped = Terminal(tty=True), Terminal()
    for stream in (shown, piped):
        monkeypatch.setattr(sys, "stdout", stream)
        output.print_row(f"  0.978  8014a48f  {title}")
    for stream in (shown, piped):
        assert len(stream.getvalue().splitlines()) == 1
    assert cell_len(shown.getvalue().rstrip("\n")) <= columns
    assert shown.getvalue().startswith("  0.978  8014a48f  ")
    assert title.replace("\n", " ") in piped.getvalue()


@pytest.mark.parametrize(
    ("ms", "said"),
    [(0, "0 ms"), (0.3, "<1 ms"), (412.4, "412 ms"), (999.7, "1 s"), (3_300, "3.3 s"), (240_000, "4 min")],
)
def test_a_duration_has_the_unit_that_people_read(ms: float, said: str) -> None:
    assert duration(ms) == said


def test_no_command_prints_raw_milliseconds() -> None:
    """A count of milliseconds is printed through `duration`, a point in time through `moment`."""
    raw = re.compile(r"ms['\"\]]*(?::[^}]*)?\} ms\b")
    found = [file.name for file in Path(output.__file__).parent.glob("*.py") if raw.search(file.read_text())]
    assert not found


def test_an_error_is_two_clean_lines_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    output.error(MemtuiError("bad\nname \x1b[2J.", fix="Do that."))
    assert err.getvalue() == "error: bad name ␛[2J.\n  Do that.\n"
    assert capsys.readouterr().out == ""
    output.error(MemtuiError("a.", fix="b."), ["one", "two"])
    assert err.getvalue().endswith("error: a.\n  one\n  two\n  b.\n")


@pytest.mark.parametrize(
    ("tty", "environ", "coloured"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_colour_only_on_a_willing_terminal(
    monkeypatch: pytest.MonkeyPatch, tty: bool, environ: dict[str, str], coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    out, err = Terminal(tty=tty), Terminal(tty=tty)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    output.print_table([["a"]], ["A"])
    output.warning("x")
    assert ("\x1b[" in out.getvalue(), "\x1b[" in err.getvalue()) == (coloured, coloured)
