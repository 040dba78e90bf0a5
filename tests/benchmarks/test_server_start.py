"""How long a host waits for the server's first answers, beside the bare SDK server with as many tools."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from tests.benchmarks.limits import spread_of, within
from tests.conftest import ROOT, copied
from tests.mcp.stdio_host import INITIALIZE

PAIRS = 7
"""One start of each after the other; the middle of their ratios counts."""

LISTS = 30

MOST_INITIALIZE = 1.1

MOST_LIST = 1.3

_BARE = """
import json, sys
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
told = [types.Tool.model_validate(each) for each in json.loads(sys.argv[1])]
async def list_tools(context, params):
    return types.ListToolsResult(tools=told)
async def main():
    server = Server("bare", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""


def waits(command: Sequence[str]) -> tuple[float, float, list[object]]:
    """Seconds until `initialize` is answered and, of one more list of the tools, the least; and the tools."""
    started = perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(message: object) -> dict[str, dict[str, list[object]]]:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            return dict(json.loads(server.stdout.readline()))

        ask(INITIALIZE)
        first = perf_counter() - started
        server.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        least, tools = float("inf"), []
        for number in range(1, LISTS):
            began = perf_counter()
            tools = ask({"jsonrpc": "2.0", "id": number, "method": "tools/list"})["result"]["tools"]
            least = min(least, perf_counter() - began)
        server.kill()
    return first, least, tools


def test_a_host_waits_no_longer_than_for_the_bare_server(empty_store: Path, tmp_path: Path) -> None:
    ours = [
        sys.executable,
        "-m",
        "memtui",
        "mcp",
        "--store",
        str(copied(empty_store, tmp_path / "store")),
        "--rw",
    ]
    tools = waits(ours)[2]
    assert len(tools) == 10
    bare = [sys.executable, "-c", _BARE, json.dumps(tools)]
    assert waits(bare)[2] == tools
    pairs = [(waits(ours), waits(bare)) for _ in range(PAIRS)]
    first = sorted(mine[0] / other[0] for mine, other in pairs)
    listed = sorted(mine[1] / other[1] for mine, other in pairs)
    within(first[PAIRS // 2], MOST_INITIALIZE, "initialize", spread=spread_of(first))
    within(listed[PAIRS // 2], MOST_LIST, "tools/list", spread=spread_of(listed))
