"""The pages (README, docs, help topics): their commands run, their links lead somewhere, their keys are today's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.cli.main import COMMANDS, parser_of
from tests.conftest import ROOT

DOCS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PAGES = (*DOCS, *sorted((ROOT / "memtui" / "help").glob("*.md")))
PLACEHOLDER = re.compile(r"(?<![\w-])[A-Z]{2,}\b(?!_)")
"""A word in capitals stands for something of the reader's: the line is parsed, not run."""


def shell_lines(page: Path) -> Iterator[str]:
    """Each line of the page's shell blocks, continued lines joined."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        yield from block.replace("\\\n", " ").splitlines()


def memtui_words(line: str) -> list[str] | None:
    """The arguments that a shell line hands to memtui, without its comment; None where it runs something else."""
    words = shlex.split(line, comments=True)
    if words[:1] != ["memtui"]:
        return None
    return words[1 : next((position for position, word in enumerate(words) if word in ("|", ">")), None)]


def command_lines(page: Path) -> Iterator[list[str]]:
    """The arguments of each memtui command that the page shows, in shell blocks and in its sentences."""
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL).replace("\n", " ")
    for line in [*shell_lines(page), *re.findall(r"`(memtui [^`]+)`", prose)]:
        words = memtui_words(line)
        if words is not None:
            yield words


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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which nothing was ever installed or opened."""
    return tmp_path_factory.mktemp("home")


@pytest.mark.slow
@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_shell_line_runs_as_it_stands(page: Path, home: Path) -> None:
    """Without a terminal, on a machine without a store; a line with a placeholder in it is only parsed."""
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MEMTUI_", "XDG_"))},
        "HOME": str(home),
    }
    ended = {}
    for line in shell_lines(page):
        words = memtui_words(line)
        if not words or PLACEHOLDER.search(line.partition("#")[0]):
            continue
        line = line.replace("/tmp/", f"{home}/")
        done = subprocess.run(
            [sys.executable, "-m", "memtui", *(memtui_words(line) or [])],
            env=environ,
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        if done.returncode not in (0, 1) or "Traceback" in done.stderr:
            ended[line] = (done.returncode, done.stderr[-300:])
    assert ended == {}


@pytest.mark.parametrize(
    "page", [*DOCS, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_the_readme_is_a_page_that_is_read_to_its_end() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900
