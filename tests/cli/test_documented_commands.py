"""Command lines that the README and the help topics show: each is one that memtui takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.cli.main import COMMANDS, parser_of
from tests.conftest import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "memtui" / "help").glob("*.md")))


def command_lines(page: Path) -> Iterator[list[str]]:
    """The words of each line that begins with memtui, without comments and what a shell does with it."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL).replace("\n", " ")
    lines = [line for block in fenced for line in block.replace("\\\n", " ").splitlines()]
    for line in [*lines, *re.findall(r"`(memtui [^`]+)`", prose)]:
        words = shlex.split(line, comments=True)
        if words[:1] == ["memtui"]:
            yield words[1 : next((at for at, word in enumerate(words) if word in ("|", ">")), None)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_line_of_a_page_is_taken(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = []
    for words in command_lines(page):
        command = words[0] if words and words[0] in COMMANDS else None
        if command and (len(words) == 1 or "[" in "".join(words)):
            continue  # names the command, or shows its form
        try:
            parser_of(command).parse_args(words[1:] if command else words)
        except SystemExit as end:
            if end.code:
                refused.append((words, capsys.readouterr().err.splitlines()[-1]))
    assert refused == []
