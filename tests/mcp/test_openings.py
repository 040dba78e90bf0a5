"""How hosts open a connection on standard input: the lines that they really write, in their order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
DISCOVER = {"method": "server/discover", "params": {"_meta": META}}
BARE_DISCOVER = {"method": "server/discover"}
INITIALIZE = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "host", "version": "1"},
    },
}


def answers(store: Path, *lines: dict[str, Any], words: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What the server says to lines of a host, each written when the one before is answered."""
    told = []
    command = [sys.executable, "-m", "memtui", "mcp", "--store", str(store), *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for number, line in enumerate(lines):
            given = {"jsonrpc": "2.0", **line}
            if not line["method"].startswith("notifications/"):
                given["id"] = number
            server.stdin.write(json.dumps(given) + "\n")
            server.stdin.flush()
            if "id" in given:
                told.append(json.loads(server.stdout.readline()))
                assert told[-1]["id"] == number
        server.stdin.close()
        assert server.wait(60) == 0
    return told


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("openings") / "store"
    subprocess.run([sys.executable, "-m", "memtui", "new", str(store)], cwd=ROOT, check=True)
    return store


@pytest.mark.parametrize("look", [DISCOVER, BARE_DISCOVER], ids=["newest", "bare"])
def test_a_host_that_looks_first_may_go_on_with_initialize(empty: Path, look: dict[str, Any]) -> None:
    looked, begun, listed = answers(
        empty, look, INITIALIZE, {"method": "notifications/initialized"}, {"method": "tools/list"}
    )
    assert ("result" in looked) == (look is DISCOVER)
    assert begun["result"]["protocolVersion"] == "2025-06-18"
    assert "memory_search" in {tool["name"] for tool in listed["result"]["tools"]}


def test_a_host_that_looks_first_may_go_on_with_the_newest_protocol(empty: Path) -> None:
    looked, again, listed = answers(
        empty, DISCOVER, DISCOVER, {"method": "tools/list", "params": {"_meta": META}}
    )
    assert VERSION in looked["result"]["supportedVersions"]
    assert looked["result"] == again["result"]
    assert "memory_search" in {tool["name"] for tool in listed["result"]["tools"]}


def test_a_server_that_only_reads_does_not_ask_to_store(empty: Path) -> None:
    (begun,) = answers(empty, INITIALIZE)
    assert "store" not in begun["result"]["instructions"]
    (begun,) = answers(empty, INITIALIZE, words=("--rw",))
    assert "store lasting preferences" in begun["result"]["instructions"]
