"""What visible texts keep to: a plain tone, keys that come from the table of actions, and one glossary.

Which words they use is a report, not a test: `.ci/words`.
"""

from __future__ import annotations

import ast
import re

from memtui.engine.core.glossary import TERMS, write_glossary
from tests.arch.visible_texts import texts, texts_of
from tests.conftest import ROOT

MODEST = re.compile(
    r"something went wrong|\boops\b|\bsorry\b|unfortunately|successfully|\bplease\b|[a-z]!(?: |$)",
    re.IGNORECASE,
)
"""A screen reports; it does not comfort, sell, blame or joke."""


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
    assert [*texts_of(ast.parse(source))] == ["one word", "{} and {}", "or two"]
    assert len(texts()) > 5000


def test_the_page_of_the_glossary_is_the_glossary() -> None:
    assert write_glossary() in (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = [term.word for term in TERMS]
    assert len(set(words)) == len(words)


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
    "enter open   ": "a line of text takes it itself",
    "enter run   ": "a line of text takes it itself",
    "esc shows all": "the line of text that narrows a list takes it itself",
    "escape shows all again": "the line of text that narrows a list takes it itself",
}


def test_a_key_that_is_written_into_a_text_is_found() -> None:
    for wrong in (
        "enter shows it",
        "it is there. y copies it",
        "u  undo",
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


def _titles(tree: ast.AST) -> list[str]:
    """Strings that stand as a title: keywords that name one, and members of a tuple of texts."""
    titles = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("title", "what", "label", "empty"):
            titles += [
                part.value
                for part in ast.walk(node.value)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
        if isinstance(node, ast.Tuple):
            members = [part.value for part in node.elts if isinstance(part, ast.Constant)]
            if len(members) == len(node.elts) and any(" " in str(member) for member in members):
                titles += [str(member) for member in members]
    return titles


def test_no_title_is_the_name_of_a_class() -> None:
    """A rename of classes that reached strings had put `PlannedRights` on the screen."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "memtui").rglob("*.py")}
    classes = {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and re.fullmatch(r"(?:[A-Z][a-z]+){2,}", node.name)
    }
    planted = ast.parse('VIEWS = ("PlannedRights", "Activity of clients")\nPanel(title="ScoreReasons")')
    assert {"PlannedRights", "ScoreReasons"} <= {*_titles(planted)} & classes
    named = {
        (path.relative_to(ROOT).as_posix(), title)
        for path, tree in trees.items()
        if "tui" in path.parts
        for title in _titles(tree)
        if title in classes
    }
    assert named == set()
