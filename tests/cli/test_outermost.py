"""The outermost door: whatever fails, a person gets a sentence and an exit code, never a traceback or a hang."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.main import COMMANDS
from memtui.cli.outermost import UNEXPECTED
from memtui.cli.unknown_word import nearest_commands
from memtui.engine import shortened
from tests.cli.conftest import Run
from tests.conftest import ROOT


def program(
    home: Path, *arguments: str | bytes, closed: str = "", out: Any = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Run the program as a process of its own without a terminal; `closed` are the standard streams to close first."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "LANG": "C.UTF-8",
    }
    redirected = " ".join(f"{number}>&-" for number in closed)
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "memtui", *arguments],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )


def is_a_sentence(done: subprocess.CompletedProcess[bytes]) -> str:
    said = done.stderr.decode("utf-8", "replace")
    assert done.returncode in (1, 2, 3), said
    assert said.startswith("error: ")
    assert "Traceback" not in said
    assert UNEXPECTED not in said
    assert "Exception ignored" not in said
    return said


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demo store made."""
    place = tmp_path_factory.mktemp("home")
    assert program(place, "demo", "--make-only").returncode == 0
    return place


@pytest.mark.parametrize("arguments", [(), ("demo",), ("--rw",)])
def test_without_a_terminal_the_app_does_not_start(home: Path, arguments: tuple[str, ...]) -> None:
    assert "no terminal" in is_a_sentence(program(home, *arguments))


@pytest.mark.parametrize("arguments", [("docter",), ("docter", "--deep"), ("--rw", "docter")])
def test_an_unknown_word_names_the_nearest_command(home: Path, arguments: tuple[str, ...]) -> None:
    assert "memtui doctor" in is_a_sentence(program(home, *arguments))


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("recal", "recall"), ("doctro", "doctor"), ("why_not", "why-not"), ("Stats", "stats"), ("delete", "forget"),
        ("search", "recall"), ("list", "ls"), ("cleints", "clients"), ("undoo", "undo"), ("inport", "import"),
    ],
)  # fmt: skip
def test_the_nearest_commands(word: str, meant: str) -> None:
    assert meant in nearest_commands(word, COMMANDS)


def test_a_word_like_nothing_names_no_command() -> None:
    assert nearest_commands("zzqzz", COMMANDS) == []


@pytest.mark.parametrize(
    "arguments",
    [("ls",), ("stats", "--json"), ("doctor",), ("keys",), ("--version",), ("help",)],
)
def test_a_full_or_closed_standard_output_is_said(home: Path, arguments: tuple[str, ...]) -> None:
    store = () if len(arguments) == 1 and arguments[0] in ("--version", "keys", "help") else _demo(home)
    with open("/dev/full", "wb") as full:
        assert "Standard output" in is_a_sentence(program(home, *arguments, *store, out=full))
    if arguments != ("--version",):  # which prints nothing where there is nothing to print to
        assert "Standard output" in is_a_sentence(program(home, *arguments, *store, closed="1"))


def test_with_everything_closed_nothing_is_written_into_a_file_of_ours(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = program(home, "export", str(target), *_demo(home), closed="012")
    assert done.returncode in (0, 1)
    if target.exists():
        json.loads(target.read_text())


def _demo(home: Path) -> tuple[str, str]:
    return "--store", str(home / "cache" / "memtui" / "demo")


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", b"caf\xe9"), ("ls", b"caf\xe9"), ("add", b"caf\xe9", "--yes"), ("cases", "add", b"caf\xe9"),
        ("show", b"\xff"), ("clients", "add", b"\xff"), ("help", b"\xff"), (b"\xff",), ("import", b"/\xff/x.json"),
        ("ls", b"--store=\xff"), ("export", b"\xff.json"),
    ],
)  # fmt: skip
def test_an_argument_that_is_no_utf8_is_refused(home: Path, arguments: tuple[str | bytes, ...]) -> None:
    assert "not valid UTF-8" in is_a_sentence(program(home, *arguments))
    assert not (home / "state" / "memtui" / "cases").exists()


def test_a_file_whose_name_is_no_utf8_can_be_read(home: Path, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.json"
    with open(name, "w") as file:
        json.dump([{"text": "The harbour opens at six."}], file)
    done = program(home, "import", name, "--dry-run", *_demo(home))
    assert UNEXPECTED not in done.stderr.decode()
    assert b"not valid UTF-8" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("ls", "--store"), ("import",), ("export", "--store"), ("new",), ("doctor", "--store"), ("capture",),
        ("config", "--file"), ("docs", "index"), ("migrate",), ("capture", "--replay"), ("stats", "--store"),
        (), ("recall", "port", "--config"), ("show",), ("help",), ("ls", "--limit"), ("ls", "--no-such-option"),
        ("ls", "--table"), ("recall", "port", "--recipe"), ("doctor", "--fix"), ("import", "a.csv", "--format"),
        ("versions", "restore"), ("undo",), ("versions",), ("hook",), ("keys", "--preset"), ("demo", "--no-such"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "name", ["x" * 5000, "/tmp/" + "y/" * 4000, "/tmp/" + "z" * 300, "many words " * 500]
)
def test_a_name_of_thousands_of_characters(run: Run, arguments: tuple[str, ...], name: str) -> None:
    code, _, said = run(*arguments, name)
    assert code in (1, 2, 3, 4)
    assert UNEXPECTED not in said
    assert max(map(len, said.splitlines()), default=0) < 2_100
    assert not any(len(word) > 241 for word in said.split())


def test_what_is_said_keeps_both_ends_of_a_long_value_and_every_short_one_whole() -> None:
    assert shortened(f"{'a' * 240} is short.") == f"{'a' * 240} is short."
    said = shortened(f"There is no store /tmp/{'x' * 5000}/memories.lance.")
    assert said.startswith("There is no store /tmp/xxx")
    assert said.endswith("xxx/memories.lance.")
    assert len(said) < 240
    assert len(shortened("word " * 5000)) < 2_000


@pytest.mark.parametrize("version", [-1, 0, 2**31, 2**63, 2**64, 10**30])
@pytest.mark.parametrize("command", [("recall", "port"), ("inject", "port"), ("why-not", "port", "0")])
def test_a_version_that_cannot_be(home: Path, run: Run, command: tuple[str, ...], version: int) -> None:
    code, _, said = run(*command, f"--table-version={version}", *_demo(home))
    assert code in (1, 2)
    assert "Traceback" not in said
    assert UNEXPECTED not in said


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "full"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("left out: no file system can be made here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> None:
    """Leave no room in a file system."""
    with (place / "filler").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


@pytest.mark.parametrize(
    "arguments",
    [
        ("cases", "add", "where is the port", "--expect", "ID"), ("clients", "add", "somebody"),
        ("versions", "snapshot", "kept"), ("add", "The harbour opens at six.", "--yes"),
        ("edit", "ID", "--set", "importance=0.4", "--yes"),
    ],
)  # fmt: skip
def test_a_full_disk_is_said_and_what_was_there_stays(
    full: Path, home: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(full))
    monkeypatch.setenv("MEMTUI_CONFIG_DIR", str(full))
    store = shutil.copytree(home / "cache" / "memtui" / "demo", full.parent / "store")
    one = json.loads(run("ls", "--json", "--limit", "1", "--store", store)[1])["rows"][0]["id"]
    arguments = tuple(one if word == "ID" else word for word in arguments)
    assert run("clients", "add", "first")[0] == 0
    before = {path: path.read_bytes() for path in full.rglob("*.json")}
    assert before
    fill(full)
    code, _, said = run(*arguments, "--store", store)
    assert code in (1, 3), said
    assert UNEXPECTED not in said
    assert "full" in said or "space" in said, said
    assert {path: path.read_bytes() for path in full.rglob("*.json")} == before
    assert not list(full.rglob("*.new")), "a half is left beside"


@pytest.mark.parametrize(
    "embeddings",
    [
        {"a": "text"}, {"a": [1.0, "x"]}, {"a": None}, {"a": []}, {"a": [[1.0], [2.0]]}, {"a": 5}, {"a": [1e999]},
        {"a": [1.0, 2.0], "b": [1.0]}, [1, 2], "x", {"a": {"b": 1}}, {"a": [True, False]}, {"a": [10**400]},
    ],
)  # fmt: skip
def test_a_recording_with_odd_embeddings(run: Run, tmp_path: Path, embeddings: Any) -> None:
    path = tmp_path / "recorded.jsonl"
    path.write_text(
        json.dumps({"now": 1_790_000_000_000, "recipe": "pro", "steps": [], "embeddings": embeddings})
    )
    code, _, said = run("capture", "--replay", path)
    assert code == 2, said
    assert UNEXPECTED not in said


def test_a_recording_with_odd_values_anywhere(run: Run, tmp_path: Path) -> None:
    whole = {
        "now": 1_790_000_000_000,
        "recipe": "pro",
        "steps": [{"do": "advance", "ms": 5}],
        "embeddings": {},
    }
    for key in (
        "rows_before",
        "config",
        "files_before",
        "replies",
        "reflection_replies",
        "host_config",
        "steps",
        "now",
    ):
        for odd in ("x", 5, [5], {"a": 5}, [["x"]], {"a": None}):
            path = tmp_path / "recorded.jsonl.gz"
            with gzip.open(path, "wt") as file:
                file.write(json.dumps({**whole, key: odd}))
            code, _, said = run("capture", "--replay", path)
            assert code in (0, 1, 2), (key, odd)
            assert UNEXPECTED not in said, (key, odd)
