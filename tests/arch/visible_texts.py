"""Every text that people read, found in the sources: strings of more than one word, labels, help topics, pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

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


def _said(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def texts_of(tree: ast.AST) -> Iterator[str]:
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
                    yield from texts_of(each)
            else:
                yield from texts_of(node)


LABELLED = ("fact", "fact_row", "_row", "_pair", "labelled", "SheetLine")
"""What paints a label with its value beside it."""


def labels_of(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Each label with the value that is painted beside it, as far as the source has it: a person reads both as one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            pair = node.args[:2] if name in LABELLED else []
        else:
            pair = node.elts if isinstance(node, ast.Tuple) and len(node.elts) in (2, 3) else []
        if len(pair) > 1 and isinstance(pair[0], ast.Constant) and isinstance(pair[0].value, str):
            values = pair[1].values if isinstance(pair[1], ast.BoolOp) else [pair[1]]
            values = [pair[1].body, pair[1].orelse] if isinstance(pair[1], ast.IfExp) else values
            yield from ((pair[0].value, _said(value)) for value in values)


@cache
def labels() -> tuple[tuple[str, str, str], ...]:
    """Each label of a screen with its value, and the file that says it."""
    return tuple(
        (path.relative_to(ROOT).as_posix(), *pair)
        for path in sorted((ROOT / "memtui" / "tui").rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(NOT_OURS)
        for pair in labels_of(ast.parse(path.read_text(encoding="utf-8")))
    )


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Everything that people read, with the file that says it."""
    collected = []
    for path in sorted((ROOT / "memtui").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(NOT_OURS):
            collected += [(name, text) for text in texts_of(ast.parse(path.read_text(encoding="utf-8")))]
    data = from_source()
    for part in (data["actions"], data["where"], data["sentences"]):
        for id, row in part.items():
            collected += [
                (f"actions.toml, {id}", row[field]) for field in SHOWN if isinstance(row.get(field), str)
            ]
    for path in sorted((ROOT / "memtui" / "help").glob("*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        collected += [(f"memtui/help/{path.name}", line) for line in lines]
    return tuple((name, re.sub(r"\{[a-z]+\.[a-z-]+\}", "{}", text)) for name, text in collected)


def documents() -> tuple[tuple[str, str], ...]:
    """The lines of the README and of the pages in docs, without the generated list of public names."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return tuple(
        (page.relative_to(ROOT).as_posix(), line)
        for page in pages
        if page.name != "api.md"
        for line in page.read_text(encoding="utf-8").splitlines()
    )
