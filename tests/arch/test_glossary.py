"""One word for one thing: a synonym in a text that people read fails here, and a key that is written into one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from memtui.tui.actions.data import from_source
from tests.conftest import ROOT

SHOWN = ("label", "help", "needs", "title")
"""Fields of the actions that are shown; `also` and `verbs` hold the other words on purpose."""

NOT_OURS = (
    "memtui/engine/capture/recipes/pro/",  # says what memory-lancedb-pro says, letter by letter
    "memtui/engine/capture/stages/",  # the same, and the headings of its files
    "memtui/engine/capture/prompts.py",  # what a language model is asked: tests replay the answers
    "memtui/engine/capture/recipes/memtui/wording.py",  # what people say, to be recognised
    "memtui/engine/core/",  # rules on what people and models write
    "memtui/engine/documents/",  # openclaw-mem-engine's and memory-core's own sentences, compared with theirs
    "memtui/engine/store/errors.py",  # sentences of Lance, to be recognised
    "memtui/engine/store/service_errors.py",  # sentences of services of objects, to be recognised
    "memtui/engine/decay/tiers.py",  # the plugin's own reasons
    "memtui/tui/dialogs/intents.py",  # what people type, to be understood
    "memtui/tui/screenshots.py",  # invented memories
    "memtui/engine/demo/",  # invented memories
)


class Word(NamedTuple):
    """What must not stand for the word of the glossary, and where it may."""

    never: str
    but: dict[str, str]


GLOSSARY = {
    "replaced": Word(
        r"[Ss]upersed\w*",
        {
            "is:superseded": "a condition of the filter language",
            "stale, superseded, suppressed": "conditions of the filter language",
        },
    ),
    "likeness": Word(r"[Ss]imilarit(?:y|ies)", {}),
    "limit, line": Word(r"[Tt]hresholds?", {}),
    "form, of a file": Word(
        r"[Ff]ormats?",
        {
            "has format {}": "a layout of bytes",
            "in the format that the agent reads": "a layout of bytes",
            "format of the full-text index": "a layout of bytes",
            "in a format that the plugin ignores": "a layout of bytes",
            "rebuilt in a newer format": "a layout of bytes",
            "is of format {}": "a layout of bytes",
            "data format": "a layout of bytes",
            "table of format 2.0": "a layout of bytes",
            "format {}": "a layout of bytes",
        },
    ),
    "fix (a finding), repair (rows), correct (a text, a file)": Word(
        r"[Mm]end(?:s|ed|ing)?",
        {
            "Mend": "the view of Browse with duplicates, noise, secrets and trash",
            "mend": "the key that goes to it",
            "find, mend, undo": "what Browse is for, in a word each",
            "See, trust and mend what": "the line under the name",
        },
    ),
    "what is lost": Word(r"[Ll]edgers?", {}),
    "conversation": Word(
        r"[Tt]alks?",
        {
            "talk about memory": "what is said about it",
        },
    ),
    "tried, set (a setting)": Word(r"(?:was|is|you) turned|flown|flights?", {}),
    "question": Word(
        r"[Qq]uery|[Qq]ueries",
        {
            '"query"': "a name in a JSON document",
            "query: say in a few words": "the name of a tool's argument",
            "or a query that one memory": "the name of a tool's argument",
            "retrieval.query": "a word of the service",
            "Given a memory search query": "what the model was trained with",
            "match the query": "what the model was trained with",
            "Query:{}": "what the model was trained with",
            "query LIKE ?": "a column",
        },
    ),
    "case": Word(
        r"[Ss]aved questions?",
        {
            "saved questions: run, compared": "what a case is",
            "saved questions, and how well": "what a case is",
        },
    ),
    "in, a place": Word(r"on (?:Home|Browse|Recall|Lifecycle|Transfer|Capture|Audit|Health)", {}),
    "finding": Word(r"[Ii]ssues?", {}),
    "take back": Word(r"revert(?:s|ed)?|roll(?:s|ed)? back", {}),
    "provider, service": Word(r"[Bb]ackends?", {}),
    "rights": Word(r"[Pp]ermissions?", {}),
}
"""The word that is said, and the words that must not stand for it."""

MODEST = re.compile(
    r"something went wrong|\boops\b|\bsorry\b|unfortunately|successfully|\bplease\b|[a-z]!(?: |$)",
    re.IGNORECASE,
)
"""A screen reports; it does not comfort, sell, blame or joke."""


def _said(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _texts(tree: ast.AST) -> Iterator[str]:
    """Its strings of more than one word, without docstrings and what is no sentence."""
    for field, value in ast.iter_fields(tree):
        several = value if isinstance(value, list) else [value]
        for node in several:
            if not isinstance(node, ast.AST) or field in ("annotation", "returns"):
                continue
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            if isinstance(node, ast.Constant | ast.JoinedStr):
                if " " in (text := _said(node)).strip() and not re.search(
                    r"\\[bswd]|\(\?|\b[A-Z]{4,} [A-Z]{3,}\b", text
                ):
                    yield text
                for each in node.values if isinstance(node, ast.JoinedStr) else ():
                    yield from _texts(each)
            else:
                yield from _texts(node)


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Everything that people read, with the file that says it."""
    found = []
    for path in sorted((ROOT / "memtui").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(NOT_OURS):
            found += [(name, text) for text in _texts(ast.parse(path.read_text(encoding="utf-8")))]
    data = from_source()
    for part in (data["actions"], data["where"], data["sentences"]):
        for id, row in part.items():
            found += [
                (f"actions.toml, {id}", row[field]) for field in SHOWN if isinstance(row.get(field), str)
            ]
    for path in sorted((ROOT / "memtui" / "help").glob("*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [(f"memtui/help/{path.name}", line) for line in lines]
    return tuple((name, re.sub(r"\{[a-z]+\.[a-z-]+\}", "{}", text)) for name, text in found)


def _without(text: str, but: dict[str, str], used: set[str]) -> str:
    for allowed in sorted(but, key=len, reverse=True):
        if allowed in text if " " in allowed or not allowed.isalpha() else text.startswith(allowed):
            used.add(allowed)
            text = text.replace(allowed, "")
    return text


def test_a_text_is_found_and_a_docstring_is_not() -> None:
    source = (
        'def f(x: "a type"):\n    """Not this one."""\n    return g("one word", f"{x} and {y(\'or two\')}")\n'
    )
    assert [*_texts(ast.parse(source))] == ["one word", "{} and {}", "or two"]
    assert len(texts()) > 5000


@pytest.mark.parametrize("say", GLOSSARY)
def test_one_word_stands_for_one_thing(say: str) -> None:
    word, used = GLOSSARY[say], set[str]()
    never = re.compile(
        rf"(?<![\w-])(?:{word.never})(?![\w-])"
    )  # add-talk and --format are names of the command line
    found = [
        f"{name}: {text}"
        for name, text in texts()
        if never.search(text) and never.search(_without(text, word.but, used))
    ]
    assert found == [], f'say "{say}"'
    assert set(word.but) - used == set(), "no longer exceptions"


def test_a_screen_reports_and_does_not_comfort_or_scold() -> None:
    assert [f"{name}: {text}" for name, text in texts() if MODEST.search(text)] == []


DOES = (
    "takes? opens? closes? shows? clears? narrows? goes makes? says copies lists? lets pauses? puts asks? "
    "looks? runs? does compares? chooses? brings? stops? writes? undoes marks? leaves turns? scrolls? what every"
).replace(" ", "|")

PLACES = "Home Browse Recall Lifecycle Transfer Journal Capture Audit Health Agents".replace(" ", "|")

WRITTEN = re.compile(
    r"(?:^|[ ;:,.(])(?:[Ee]nter|[Ee]sc|[Ee]scape|bksp|ctrl\+\w|\^[a-z]|(?<!-)\b[C-HJ-RT-Zb-hj-z]|[/<>?]) "
    rf"(?:{DOES})\b|\b[Pp]ress [A-Zb-z/^]\b|^ ?[a-zA-Z]  [a-z]|\b\d (?:{PLACES})\b"
)
"""A key and what it does. Tab is not among them: nobody can give it to something else."""

FIXED = {
    "enter take   ": "a line of text takes it itself",
    "enter open   ": "a line of text takes it itself",
    "enter run   ": "a line of text takes it itself",
    "esc shows all": "the line of text that narrows a list takes it itself",
    "escape shows all again": "the line of text that narrows a list takes it itself",
}


def test_a_key_that_is_written_into_a_text_is_found() -> None:
    for wrong in (
        "enter shows it",
        "it is there. y copies it",
        "u  take it back",
        "Press R to reload",
        "7 Capture keeps it",
    ):
        assert WRITTEN.search(wrong), wrong
    for right in ("{} shows it", "B better in 3", "a list", "press {} again", "version 7, Capture made it"):
        assert not WRITTEN.search(right), right


def test_a_sentence_of_a_screen_takes_its_keys_from_the_actions() -> None:
    """A key that was changed, by a preset or by keys.toml, would make a lie of it: "{journal.undo} takes it back"."""
    used: set[str] = set()
    found = [
        f"{name}: {text}"
        for name, text in texts()
        if name.startswith(("memtui/tui/", "actions.toml"))
        and WRITTEN.search(text)
        and WRITTEN.search(_without(text, FIXED, used))
    ]
    assert found == []
    assert set(FIXED) - used == set(), "no longer exceptions"
