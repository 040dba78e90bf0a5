"""What is read before a server answers: the SDK and memtui's own small part, and no library of tables or numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.mcp.test_tools import store

__all__ = ["store"]

HEAVY = {"lancedb", "lance", "pyarrow", "numpy", "textual", "rich", "duckdb", "pandas", "polars"}
"""None of these before the first call: each costs more than everything that is read of memtui."""

MOST = 95
"""Modules of memtui: 72 today. A server that is ready late has usually come to know the whole engine."""

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def modules(store: Path, home: Path, words: list[str], *asked: tuple[str, dict[str, object]]) -> set[str]:
    """Modules that a server reads until it has answered these requests, as the interpreter lists them."""
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
    return {line.rpartition("|")[2].strip() for line in listed if line.startswith("import time:")}


@pytest.mark.parametrize("tools", ["memtui", "openclaw"])
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
    assert not {each.partition(".")[0] for each in told} & HEAVY
    ours = {each for each in told if each.partition(".")[0] == "memtui"}
    assert len(ours) <= MOST, sorted(ours)


def test_the_first_call_reads_what_it_needs(store: Path, tmp_path: Path) -> None:
    told = modules(store, tmp_path, [], ("tools/call", {"name": "memory_list", "arguments": {}}))
    assert {"lancedb", "pyarrow", "numpy"} <= told
