"""`memtui stores` as a person and as a script run it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from memtui.__main__ import main
from tests.conftest import ROOT, tree_hash


@pytest.fixture(scope="session")
def home_of(shared: Path, unpack: Callable[[Path], Path]) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def _home(name: str) -> Path:
        if name not in made:
            made[name] = unpack(shared / f"fixtures/sources/discovery/{name}.tar.gz")
        return made[name]

    return _home


def stores(cwd: Path, *arguments: str, **environ: Path | str) -> subprocess.CompletedProcess[str]:
    """Run the command with exactly this environment (and what Python itself needs), as a program of its own."""
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {name: str(value) for name, value in environ.items()}
    command = [sys.executable, "-m", "memtui", "stores", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=cwd, timeout=120)


def stores_here(cwd: Path, *arguments: str, **environ: Path | str) -> subprocess.CompletedProcess[str]:
    """Run the command with exactly this environment, in this process."""
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as there, redirect_stdout(out), redirect_stderr(errors):
        for name in set(os.environ) - {"PATH"}:
            there.delenv(name)
        for name, value in environ.items():
            there.setenv(name, str(value))
        there.chdir(cwd)
        code = main(["stores", *arguments])
    return subprocess.CompletedProcess(("stores", *arguments), code, out.getvalue(), errors.getvalue())


def test_a_table_for_people(home_of: Callable[[str], Path], tmp_path: Path) -> None:
    root = home_of("03-both-custom-path")
    before = tree_hash(root)
    done = stores(tmp_path, HOME=root / "home")
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["NAME", "DIALECT", "ROWS", "HEALTH", "PATH"]
    assert rows[0].startswith("*  store")
    assert rows[0].endswith(str(root / "home/agent data/store"))
    assert "dims differ" in rows[0]
    assert "left over" in rows[2]
    assert (
        "store: search by meaning unavailable: text-embedding-3-large gives 3072, the store has 1536" in rows
    )
    assert tree_hash(root) == before


def test_json_is_one_document_without_a_secret(home_of: Callable[[str], Path], tmp_path: Path) -> None:
    root = home_of("07-ollama-redis")
    before = tree_hash(root)
    done = stores_here(tmp_path, "--json", HOME=root / "home", DEMO_REDIS_WORD="visible-if-leaked")
    assert done.returncode == 0
    assert "visible-if-leaked" not in done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "memtui.stores.v1"
    (store,) = document["stores"]
    assert (store["dialect"], store["rows"], store["dims"], store["dims_match"]) == ("pro", 5, 768, True)
    assert (store["lock"], store["edit_gate"]["verdict"]) == ("redis", "read-only")
    assert store["redis"]["host"] == "cache.example.invalid"
    assert store["settings"]["embedding"]["apiKey"] == "********"
    assert store["active"] is True
    assert tree_hash(root) == before


def test_a_key_from_the_environment_is_only_said_to_be_set(
    home_of: Callable[[str], Path], tmp_path: Path
) -> None:
    root = home_of("02-builtin-openai")
    done = stores_here(tmp_path, "--json", HOME=root / "home", DEMO_OPENAI="any-text")
    assert "any-text" not in done.stdout + done.stderr
    (store,) = json.loads(done.stdout)["stores"]
    assert store["embedding"]["keys"] == ["embedding.apiKey: DEMO_OPENAI: set"]
    assert store["embedding"]["available"] is True


def test_both_readings_of_a_conflict_are_shown_loudly(home_of: Callable[[str], Path], tmp_path: Path) -> None:
    root = home_of("05-home-conflict")
    done = stores_here(tmp_path, "--json", HOME=root / "home", OPENCLAW_HOME=root / "oc")
    document = json.loads(done.stdout)
    assert "two ways" in document["conflict"]
    assert "warning: OPENCLAW_HOME can be read in two ways" in done.stderr
    assert [store["reader"] for store in document["stores"]] == ["host", "plugin"]


def test_a_broken_configuration_is_a_warning_with_its_line(
    home_of: Callable[[str], Path], tmp_path: Path
) -> None:
    root = home_of("06-broken-json5")
    done = stores_here(tmp_path, HOME=root / "home")
    assert done.returncode == 0
    assert "line 4, column 11" in done.stderr
    assert len(done.stdout.splitlines()) == 3


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_nothing_found_fails_and_says_every_place(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = stores_here(tmp_path, *arguments, HOME=tmp_path)
    assert done.returncode == 1
    assert "No memory store was found" in done.stderr
    for name in (".openclaw", ".clawdbot", ".moldbot", ".moltbot"):
        assert f"searched {tmp_path}/{name}/openclaw.json\n" in done.stderr
        assert f"searched {tmp_path}/{name}/memory/lancedb-pro\n" in done.stderr
    if arguments:
        assert json.loads(done.stdout)["stores"] == []
    else:
        assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_store_is_listed_with_its_fault(tmp_path: Path) -> None:
    (tmp_path / ".openclaw/memory/lancedb-pro/memories.lance").mkdir(parents=True)
    done = stores_here(tmp_path, "--json", HOME=tmp_path)
    assert done.returncode == 0
    (store,) = json.loads(done.stdout)["stores"]
    assert (store["health"], store["rows"]) == ("damaged", None)
    assert store["notes"]


def test_a_store_to_list_is_wrong_usage(tmp_path: Path) -> None:
    done = stores_here(tmp_path, "--store", "x", HOME=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "takes no --store" in done.stderr
