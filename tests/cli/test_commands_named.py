"""A command or an option that a hint, a fix or a sentence names is one that the command line takes."""

from __future__ import annotations

import argparse
import ast
import difflib
import re
from collections.abc import Iterator
from functools import cache

import pytest

from memtui.cli.main import COMMANDS, parser_of
from tests.arch.visible_texts import texts, texts_of
from tests.conftest import ROOT

NAMED = re.compile(r"\bmemtui +(?P<command>[a-z][a-z-]*)(?P<rest>[^;:\n`]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
END = re.compile(r"\.(?:\s|$)|\bmemtui\b|, (?:or|then|and) |\bopenclaw\b")
"""Where what is said of one command ends."""

OF_OTHERS = re.compile(r"\bopenclaw [a-z][^,;:\n]*|(?<=openclaw )agent[^,;:\n]*")
"""A command of the host, with its own options."""

PROSE = ("does", "injects", "remembers", "store")
"""Words behind the program's name that are no slip for a command."""


@cache
def options_of(command: str | None) -> frozenset[str]:
    """The options that a command takes, those of its own commands with them."""
    found: set[str] = set()
    waiting = [parser_of(command)]
    while waiting:
        for action in waiting.pop()._actions:
            found.update(action.option_strings)
            if isinstance(action, argparse._SubParsersAction):
                waiting += action.choices.values()
    return frozenset(found)


@cache
def first_words_of(command: str) -> frozenset[str]:
    """The words of which one has to stand behind a command; none where any may."""
    parser = parser_of(command)
    first = next((each for each in parser._actions if not each.option_strings), None)
    return frozenset(first.choices or ()) if first is not None else frozenset()


@cache
def every_option() -> frozenset[str]:
    return frozenset().union(*(options_of(command) for command in (None, *COMMANDS)))


def misnamed(text: str) -> Iterator[str]:
    """What a text names that nothing takes: commands, options of a command, options of none."""
    taken: set[int] = set()
    text = OF_OTHERS.sub("openclaw", text)
    for named in NAMED.finditer(text):
        command, rest = named["command"], named["rest"]
        if command not in COMMANDS:
            near = command not in PROSE and difflib.get_close_matches(command, COMMANDS, 1, 0.75)
            if near or OPTION.match(rest.strip()):
                yield f"memtui {command}"
            continue
        end = END.search(rest)
        word = re.match(r" ([a-z-]+)(?= [A-Z{\[<-]|[.,)]|$)", rest)
        if word and first_words_of(command) and word[1] not in first_words_of(command):
            yield f"memtui {command} {word[1]}"
        for option in OPTION.finditer(rest[: end.start() if end else None]):
            taken.add(named.start("rest") + option.start())
            if option[0] not in options_of(command):
                yield f"memtui {command} {option[0]}"
    for option in OPTION.finditer(text):
        if option.start() not in taken and option[0] not in every_option():
            yield option[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Run memtui doctor --repair.", ["memtui doctor --repair"]),
        ("With memtui docter it is seen.", ["memtui docter"]),
        ("Repeat with --embedding-url.", ["--embedding-url"]),
        ("Go back with memtui versions revert 3, or memtui config check.", []),
        ("Take it back: memtui config revert.", ["memtui config revert"]),
        ("openclaw plugins inspect memory --runtime, then memtui alive", []),
        ("memtui doctor --fix D1 --yes, or memtui forget X --past", []),
        ("memtui knows nothing of it; add --yes.", []),
    ],
)
def test_what_is_misnamed_is_found(text: str, found: list[str]) -> None:
    assert list(misnamed(text)) == found


def test_every_command_and_option_that_is_named_exists() -> None:
    said = [
        (path.relative_to(ROOT).as_posix(), text)
        for path in sorted((ROOT / "memtui").rglob("*.py"))
        for text in texts_of(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(said) > 5_000
    assert {f"{where}: {each}" for where, text in {*said, *texts()} for each in misnamed(text)} == set()
