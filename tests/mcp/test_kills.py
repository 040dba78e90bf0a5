"""Servers in processes of their own that are killed in the middle of a call: nothing lost, nothing half, all told."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from memtui.engine import changes, open_engine
from memtui.engine.changes.journal import INTENDED, LISTED, Journal
from memtui.engine.clients import UNANSWERED, CallJournal
from memtui.mcp.fence import unfenced
from tests.conftest import NOW_MS, ROOT
from tests.mcp.test_contract import answer
from tests.mcp.test_http import House

Memories = dict[str, tuple[str, bool]]
"""Of each id its text, and whether it is active."""


class Served:
    """A server that runs, and a client of it."""

    def __init__(self, client: Client, pid: int) -> None:
        self.client, self.pid = client, pid

    async def cut_off(
        self, tool: str, given: Mapping[str, Any], come: Callable[[], bool]
    ) -> dict[str, Any] | None:
        """Call, kill the server as soon as something has come, and give the answer if there was one."""
        call = asyncio.ensure_future(self.client.call_tool(tool, dict(given)))
        while not (call.done() or come()):
            await asyncio.sleep(0.001)
        os.kill(self.pid, signal.SIGKILL)
        try:
            result = await call
        except (MCPError, httpx2.TransportError):
            return None
        assert not result.is_error, result.content
        return dict(result.structured_content or {})


@asynccontextmanager
async def over_stdio(server: StdioServerParameters) -> AsyncIterator[Served]:
    """The SDK's own client of a process that it starts."""
    before = {each.pid for each in psutil.Process().children()}
    async with Client(stdio_client(server)) as client:
        (pid,) = {each.pid for each in psutil.Process().children()} - before
        yield Served(client, pid)


@asynccontextmanager
async def serving(house: House, transport: str) -> AsyncIterator[Served]:
    """`memtui mcp` on the store of a house."""
    words = ["-m", "memtui", "mcp", "--store", str(house.store), "--rw", "--as", "main"]
    if transport == "stdio":
        server = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env=house.environ)
        async with over_stdio(server) as served:
            yield served
        return
    process = house.start("--rw", "--as", "main")
    try:
        async with house.client(house.token_of("main")) as client:
            yield Served(client, process.pid)
    except* httpx2.TransportError:
        pass  # a client whose server was killed says so at its end, too
    finally:
        process.kill()
        process.wait(20)
        assert process.stderr is not None
        process.stderr.close()


async def listed(client: Client) -> Memories:
    """All that the client may read."""
    found: Memories = {}
    cursor: dict[str, str] = {}
    while True:
        page = await answer(client, "memory_list", limit=50, **cursor)
        found |= {each["id"]: (unfenced(each["text"]), each["active"]) for each in page["memories"]}
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def moments(house: House, place: Path) -> dict[str, Callable[[], bool]]:
    """What may be seen of a call from outside: it was begun, its entry is there, its commit is there, its answer."""
    calls, journal = CallJournal(place), Journal(place / "journal.sqlite")
    commits = next(house.store.rglob("_versions"))
    begun = sum(each.outcome == UNANSWERED for each in calls.read())

    def entries() -> int:
        return len(journal.entries(states=(*LISTED, INTENDED)))

    known, versions = entries(), len(list(commits.iterdir()))
    return {
        "begun": lambda: sum(each.outcome == UNANSWERED for each in calls.read()) > begun,
        "entry": lambda: entries() > known,
        "commit": lambda: len(list(commits.iterdir())) > versions,
        "answer": lambda: False,  # the call itself is done
    }


CUTS = {
    "stdio": (
        ("memory_store", "begun"),
        ("memory_store", "commit"),
        ("memory_update", "entry"),
        ("memory_update", "commit"),
        ("memory_forget", "entry"),
        ("memory_forget", "answer"),
    ),
    "http": (("memory_store", "entry"), ("memory_update", "commit"), ("memory_forget", "begun")),
}
"""Which call is cut off, and when."""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def whole(tool: str, given: Mapping[str, Any], before: Memories, after: Memories) -> bool:
    """Whether all of a change is there. AssertionError for a half, and for anything beside it."""
    changed = {id for id in {*before, *after} if before.get(id) != after.get(id)}
    if not changed:
        return False
    id = given.get("id", "")
    new = {each: after[each] for each in changed if each not in before}
    if tool != "memory_forget":
        assert list(new.values()) == [(given["text"], True)]
    if tool != "memory_store":
        assert after[id] == (before[id][0], False)
    assert changed - {id} == set(new)
    return True


def settle(house: House, place: Path, made: bool, known: int) -> int:
    """Look at the entries since `known` as the console does, settle what was cut off; how many there are then."""
    state = place.parent.parent
    with open_engine(
        house.store, now=lambda: NOW_MS, environ=house.environ, cwd=state, writable=True, state=state
    ) as engine:
        changes.find_interrupted(engine)
        entries = engine.write_state.journal.entries()
        new = entries[: len(entries) - known]
        assert len(new) <= 1
        assert new or not made
        for entry in new:
            assert entry.detail["client"] == "mcp:main"
            assert made or entry.state == "interrupted"
            if entry.state == "interrupted" and made:
                changes.finish_entry(engine, entry.entry, confirmed=True)
            elif entry.state == "interrupted":
                changes.apply(engine, changes.plan_undo(engine, entry.entry), confirmed=True)
        assert not changes.find_interrupted(engine)
        return len(engine.write_state.journal.entries())


@pytest.mark.slow
@pytest.mark.parametrize("transport", CUTS)
async def test_a_kill_in_mid_call_leaves_the_whole_change_or_none_and_both_journals_say_which(
    house: House, transport: str
) -> None:
    before: Memories = {}
    known = 0
    place = house.store  # until the first call
    cut: tuple[str, dict[str, Any], dict[str, Any] | None] | None = None
    for tool, when in (*CUTS[transport], ("", "")):
        given: dict[str, Any] = {}
        acknowledged = None  # the SDK's client may end with its server, before it hands on that it did
        async with serving(house, transport) as served:
            if cut is None:
                for at in range(5):
                    text = f"Locker {at} of hall {at * 7 % 23} belongs to crew {at * 31}"
                    await answer(served.client, "memory_store", text=text)
                known = 5
            after = await listed(served.client)
            (place,) = {each.parent for each in house.store.parent.rglob("calls.jsonl")}
            if cut is not None:
                made = whole(cut[0], cut[1], before, after)
                assert made or cut[2] is None
                told = next(each for each in CallJournal(place).read() if each.tool == cut[0])
                assert told.client == "mcp:main"
                assert told.outcome != UNANSWERED or cut[2] is None
                assert made or told.outcome == UNANSWERED
                known = settle(house, place, made, known)
                assert await listed(served.client) == after
            before = after
            if not tool:
                break
            if tool != "memory_store":
                given["id"] = next(id for id, (_, active) in before.items() if active)
            if tool != "memory_forget":
                given["text"] = (
                    f"Crane {len(before)} stands at pier {known * 13 % 29} beside buoy {known * 5}"
                )
            if tool != "memory_store":
                given["confirm"] = (await answer(served.client, tool, **given))["confirm"]
            acknowledged = await served.cut_off(tool, given, moments(house, place)[when])
        assert acknowledged is not None or when != "answer"
        cut = (tool, given, acknowledged)
    assert cut is not None
