"""The walls of the house: tested by import contracts, and by looking at what a fresh interpreter really loads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

HEAVY = ("lancedb", "pyarrow", "numpy", "httpx", "pydantic", "textual", "rich")


def loaded(code: str) -> set[str]:
    """Top-level modules in a fresh interpreter after `code`."""
    script = code + "\nimport sys\nprint(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        env={**os.environ},
    )
    return set(done.stdout.split())


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import memtui", HEAVY),
        ("import memtui.__main__", (*HEAVY, "argparse")),
        ("import memtui.engine", HEAVY),
        ("from memtui.engine import ListQuery, Memory, MemtuiError, RecallRequest, clean", HEAVY),
        ("from memtui.engine import Engine, open_engine", HEAVY),
        ("import memtui.cli.main", HEAVY),
        ("import memtui.tui.app", ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")),
        ("import memtui.tui.screens.browse.screen", ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")),
        ("import memtui.tui.screens.recall.screen", ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")),
        (
            "import memtui.engine.recall.recipes.pro.run, memtui.engine.store.open",
            ("textual", "rich", "lancedb"),
        ),
        ("import memtui.engine.discovery.search", ("lancedb", "textual", "rich")),
    ],
)
def test_a_fresh_interpreter_loads_only_what_it_may(code: str, forbidden: tuple[str, ...]) -> None:
    assert loaded(code) & set(forbidden) == set()


def test_lancedb_is_imported_in_the_store_only() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "memtui").rglob("*.py")
        if "engine/store" not in path.as_posix()
        and any(
            line.strip().startswith(("import lancedb", "from lancedb"))
            for line in path.read_text(encoding="utf-8").splitlines()
        )
    ]
    assert offenders == []
