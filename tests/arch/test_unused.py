"""Functions of the program that nothing in the program calls: they are deleted, or named here with the reason."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from tests.conftest import ROOT

PROGRAM = ROOT / "memtui"

WITHOUT_A_CALLER = {
    "ascii_art": "draws a layout as the tests of layouts hold it",
    "change_sets": "what a capture would write, for whoever plans without committing",
    "listed_scopes": "the scopes of an access plan, in the public API",
    **dict.fromkeys(
        (
            "access_metadata",
            "clean_slug",
            "dreaming_delay_ms",
            "extraction_policy",
            "format_at_depth",
            "is_envelope",
            "is_memory_path",
            "legacy_importance",
            "pack_errors",
            "policy_receipt",
            "recall_where",
            "recent_of_files",
            "reconcile_turns",
            "session_file",
        ),
        "recorded cases of the real systems are compared with it (tests/conformance)",
    ),
    "write_glossary": "`.ci/api` writes the page of the glossary with it",
    "todo_is_stale": "the plugin's rule, held beside ours by tests/engine/test_capture_own.py",
}
"""Public functions that only tests and a public API know, each with what keeps it."""

CALLED_BY_NAME = {"add_arguments", "run", "main", "lazy_names"}
"""What a command, the entry point or the `__init__` of a face is asked for."""


def public_functions() -> dict[str, Path]:
    """Every function at the top of a module whose name begins with no underscore."""
    found: dict[str, Path] = {}
    for path in sorted(PROGRAM.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                found[node.name] = path
    return found


def words() -> Counter[str]:
    """How often each word stands in the program's code and tables; what an API exports is no call."""
    counted: Counter[str] = Counter()
    for path in PROGRAM.rglob("*"):
        if path.suffix in (".py", ".toml") and path.name != "__init__.py":
            counted.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return counted


def test_every_function_has_a_caller_or_a_reason() -> None:
    counted = words()
    alone = {name for name in public_functions() if counted[name] <= 1} - CALLED_BY_NAME
    assert alone == set(WITHOUT_A_CALLER)
