"""The server under load, killed and started again: nothing that was acknowledged is lost, and its journal agrees."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pytest
from anyio import to_thread
from mcp.client import Client

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.recall import UNSET
from memtui.mcp.door import Door
from memtui.mcp.server import make_server
from tests.conftest import NOW_MS, ROOT, copied


@pytest.fixture
def store(tmp_path: Path, empty_store: Path) -> Path:
    return copied(empty_store, tmp_path / "store")


def door_on(store: Path, state: Path, clock: Callable[[], int], agent: str = "main") -> Door:
    def opened() -> Engine:
        return open_engine(store, now=clock, environ={}, cwd=state, writable=True, state=state / "state")

    return Door(opened, agent=agent, writable=True, client=f"mcp:{agent}")


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def filled(client: Client, count: int) -> list[str]:
    return [
        (
            await answer(
                client,
                "memory_store",
                text=f"Machine {number} in hall {number % 7} is serviced by team {number * 13 % 17} on day {number}",
            )
        )["id"]
        for number in range(count)
    ]


async def spans(calls: list[Callable[[], Awaitable[Any]]]) -> list[float]:
    """Processor-independent spans of calls that run beside each other, seconds each, in order of size."""

    async def one(call: Callable[[], Awaitable[Any]]) -> float:
        began = time.perf_counter()
        await call()
        return time.perf_counter() - began

    return sorted(await asyncio.gather(*(one(each) for each in calls)))


@pytest.mark.benchmark
async def test_a_hundred_calls_beside_each_other_cost_twice_the_engine_at_most(
    store: Path, tmp_path: Path
) -> None:
    door = door_on(store, tmp_path, lambda: NOW_MS)
    async with Client(make_server(door)) as client:
        await filled(client, 60)
        asked = [f"who services machine {number}?" for number in range(100)]
        await answer(client, "memory_search", query="warm")
        engine = door.engine
        scopes = door.reach.scopes
        request = RecallRequest(
            "",
            recipe=engine.default_recipe,
            limit=5,
            agent="main",
            scopes=scopes if scopes is not None else UNSET,
            own_words=door.reach.limited,
        )

        def recalled(question: str) -> list[str]:
            """The engine alone, with the rights of the client: the ids of what came back."""
            return [each.id for each in engine.recall(replace(request, query=question)).results]

        def answered(question: str) -> list[str]:
            """What the tool's answer is made of: the texts, as the recall itself read them; nothing is read twice."""
            trace = engine.recall(replace(request, query=question))
            wanted = {each.id for each in trace.results}
            return [row.text for row in trace.pool.rows if row.id in wanted]

        async def bare(call: Callable[[str], list[str]], question: str) -> None:
            assert await to_thread.run_sync(call, question)  # as many threads as the server's calls have

        async def over(question: str) -> None:
            await answer(client, "memory_search", query=question)

        async def ping(_: str) -> None:
            await client.call_tool("memory_nothing", {})

        ratios, without_texts = [], []
        for _ in range(5):
            alone = await spans([lambda q=q: bare(answered, q) for q in asked])  # type: ignore[misc]
            ids = await spans([lambda q=q: bare(recalled, q) for q in asked])  # type: ignore[misc]
            transport = await spans([lambda q=q: ping(q) for q in asked])  # type: ignore[misc]
            served = await spans([lambda q=q: over(q) for q in asked])  # type: ignore[misc]
            ratios.append(served[94] / (alone[94] + transport[94]))
            without_texts.append(served[94] / (ids[94] + transport[94]))
    door.close()
    print(
        "p95 of the server over the transport and the engine call that answers the same: "
        f"{median(ratios):.2f}; over the transport and a recall whose texts are not taken: {median(without_texts):.2f} "
        f"(medians of five rounds; {min(ratios):.2f} to {max(ratios):.2f})"
    )
    assert median(ratios) < 2
    assert median(without_texts) < 2


@pytest.mark.slow
async def test_ten_thousand_calls_hold_memory(store: Path, tmp_path: Path) -> None:
    door = door_on(store, tmp_path, lambda: NOW_MS)
    process = psutil.Process()
    async with Client(make_server(door)) as client:
        ids = await filled(client, 20)

        async def some(count: int) -> None:
            for number in range(count):
                if number % 10:
                    await client.call_tool("memory_get", {"ids": [ids[number % 20]]})
                else:
                    await client.call_tool("memory_search", {"query": f"who services machine {number}?"})

        await some(2_000)
        gc.collect()
        before = process.memory_info().rss
        await some(8_000)
        gc.collect()
        grown = process.memory_info().rss - before
    door.close()
    print(f"8,000 calls after the first 2,000: {grown / 1e6:.1f} MB")
    assert grown < 40_000_000


@pytest.mark.slow
def test_a_kill_in_mid_call_loses_nothing_that_was_acknowledged(store: Path, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "memtui", "mcp", "--store", str(store), "--rw", "--as", "main"]
    told: set[str] = set()
    for attempt in range(3):
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environ, text=True
        )
        assert server.stdin is not None
        assert server.stdout is not None
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "kill", "version": "1"},
        }
        lines = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
        lines += [
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {
                    "name": "memory_store",
                    "arguments": {
                        "text": f"Locker {attempt * 100 + number} belongs to crew {number * 31 % 97}"
                    },
                },
            }
            for number in range(1, 40)
        ]
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        server.stdin.flush()
        answered = 0
        for line in server.stdout:
            content = json.loads(line).get("result", {}).get("structuredContent")
            if content is not None and content["id"]:
                told.add(content["id"])
                answered += 1
            if answered == 4 + attempt * 3:
                break
        server.send_signal(signal.SIGKILL)  # the next calls are under way
        server.wait()
        for pipe in (server.stdin, server.stdout):
            pipe.close()
    assert told
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "ls", "--store", str(store), "--json", "--limit", "500"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ,
        check=True,
    )
    rows = json.loads(done.stdout)
    there = {each["id"] for each in rows["rows"]}
    assert told <= there
