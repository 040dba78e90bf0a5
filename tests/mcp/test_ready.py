"""What is read before a server answers: the SDK and memtui's own small part, and no library of tables or numbers.

Once the client that knows the tools is quiet, the store is opened and read ahead for its first search.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from memtui.engine import CancelToken, Engine, MemtuiError, open_engine
from memtui.engine.clients import Client, ClientRegister
from memtui.engine.recall.store_search import rows_searched
from memtui.mcp.ahead import read_ahead
from memtui.mcp.door import Door
from memtui.mcp.http import Doors
from memtui.mcp.quiet import QuietTime
from tests.conftest import NOW_MS, ROOT, thinned
from tests.mcp.test_tools import store
from tests.quality import dialogues

__all__ = ["store"]

HEAVY = {"lancedb", "lance", "pyarrow", "numpy", "textual", "rich", "duckdb", "pandas", "polars"}
"""None of these before the first call: each costs more than everything that is read of memtui."""

MOST = 100
"""Modules of memtui: 97 today, with one for each dialect.

A server that is ready late has usually come to know the whole engine.
"""

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


AHEAD = "memtui.mcp.ahead"
"""The first thing that is read of all that is read ahead."""


def modules(store: Path, home: Path, words: list[str], *asked: tuple[str, dict[str, object]]) -> list[str]:
    """Modules that a server reads until it has answered these requests, in the order of the interpreter's list."""
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": at, "method": method, "params": params}
            for at, (method, params) in enumerate(asked, 1)
        ),
    ]
    server = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "memtui", "mcp", "--store", str(store), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(home / "imports").open("w"),
        text=True,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
    server.stdin.flush()
    answered: set[int] = set()
    while len(answered) <= len(asked):  # only then its input ends: what is under way then may be given up
        told = json.loads(server.stdout.readline())
        assert "error" not in told, told
        assert not told.get("result", {}).get("isError"), told
        answered |= {told["id"]} if "id" in told else set()
    server.stdin.close()
    assert server.wait(120) == 0
    server.stdout.close()
    listed = (home / "imports").read_text(encoding="utf-8").splitlines()
    return [line.rpartition("|")[2].strip() for line in listed if line.startswith("import time:")]


@pytest.mark.parametrize("tools", thinned(["memtui", "openclaw"], 2))
def test_a_server_is_ready_without_reading_a_library_of_tables(
    tools: str, store: Path, tmp_path: Path
) -> None:
    told = modules(
        store,
        tmp_path,
        ["--rw", "--as", "main", "--tools", tools],
        ("tools/list", {}),
        ("prompts/list", {}),
        ("resources/list", {}),
    )
    assert "mcp.server.lowlevel.server" in told
    told = (
        told[: told.index(AHEAD)] if AHEAD in told else told
    )  # a slow machine is quiet between two requests
    assert not {each.partition(".")[0] for each in told} & HEAVY
    ours = {each for each in told if each.partition(".")[0] == "memtui"}
    assert len(ours) <= MOST, sorted(ours)


@pytest.mark.slow
def test_the_first_call_reads_what_it_needs(store: Path, tmp_path: Path) -> None:
    told = modules(store, tmp_path, [], ("tools/call", {"name": "memory_list", "arguments": {}}))
    assert {"lancedb", "pyarrow", "numpy"} <= set(told)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A store of a few memories of the agent `main` and of another one."""
    turns = [
        dialogues.Turn(f"m{at}", scope, "", f"{text} {at}", "", NOW_MS - at)
        for at, (scope, text) in enumerate([("agent:main", "the spare key"), ("agent:ops", "the port")] * 3)
    ]
    return dialogues.write(tmp_path / "talk", turns, prefixed=False)


def heard(method: str) -> SessionMessage:
    """A request as it comes from a client."""
    return SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=1, method=method))


def surveyed(engine: Engine, where: str | None) -> bool:
    """Whether the rows that `where` keeps were surveyed already."""
    try:
        engine.store.pin().derived(("survey", where), _not_yet)
    except LookupError:
        return False
    return True


def _not_yet() -> object:
    raise LookupError


async def test_the_first_search_of_a_quiet_client_finds_its_work_done(talk: Path) -> None:
    door = Door(lambda: open_engine(talk, now=lambda: NOW_MS, environ={}, cwd=talk), agent="main")
    quiet = QuietTime(door, quiet_s=0.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(quiet.read_ahead)
        quiet.hear(heard("initialize"))
        await anyio.wait_all_tasks_blocked()
        assert door._engine is None  # it may only be looking
        quiet.hear(heard("tools/list"))
    asked = door.request("")
    where = rows_searched(door.engine.store.dialect, asked.scopes, asked.owners)
    assert where is not None
    assert surveyed(door.engine, where)
    assert not surveyed(door.engine, None)  # what the client may not read is left alone
    door.close()


async def test_reading_ahead_ends_with_the_client(talk: Path) -> None:
    door = Door(lambda: open_engine(talk, now=lambda: NOW_MS, environ={}, cwd=talk))
    quiet = QuietTime(door, quiet_s=3_600.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(quiet.read_ahead)
        quiet.hear(heard("tools/list"))
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert door._engine is None
    stopped = CancelToken()
    stopped.cancel()
    read_ahead(door, stopped)
    assert door._engine is None


def test_a_store_that_cannot_be_opened_is_left_to_the_call(tmp_path: Path) -> None:
    door = Door(lambda: open_engine(tmp_path / "nowhere", now=lambda: NOW_MS, environ={}, cwd=tmp_path))
    read_ahead(door, CancelToken())
    assert door._engine is None
    with pytest.raises(MemtuiError):
        door.recall("which port?", None, None, None)


def test_a_paused_client_has_nothing_read_ahead(talk: Path, tmp_path: Path) -> None:
    register = ClientRegister(tmp_path / "clients.json")
    register.add(Client("codex"))
    register.pause("codex")
    door = Door(
        lambda: open_engine(talk, now=lambda: NOW_MS, environ={}, cwd=talk),
        client="codex",
        register=register,
    )
    read_ahead(door, CancelToken())
    assert door._engine is None


def test_a_server_for_several_reads_ahead_when_it_is_ready(talk: Path, tmp_path: Path) -> None:
    base = Door(lambda: open_engine(talk, now=lambda: NOW_MS, environ={}, cwd=talk))
    doors = Doors(base, ClientRegister(tmp_path / "clients.json"))
    stopped = CancelToken()
    stopped.cancel()
    doors.read_ahead(lambda: False, stopped)  # it never came up
    assert doors.of(None)._engine is None
    doors.read_ahead(lambda: True, CancelToken())
    assert surveyed(doors.of(None).engine, None)
    doors.close()
