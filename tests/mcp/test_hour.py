"""An hour of two scripted agents and their servers in processes of their own, with a restart and a kill.

The clock is given to the servers; nobody waits. What each agent stored, got and lost is then held beside the journal
of calls, the journal of changes, and the console's feed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from memtui.engine import open_engine
from memtui.engine.clients import UNANSWERED, Call, CallJournal
from memtui.tui.screens.agents.screen import AgentsScreen
from tests.conftest import ROOT
from tests.mcp.test_http import House, answer
from tests.mcp.test_kills import Served, listed, over_stdio
from tests.tui.driving import press, running, screen_text, settle, until

MINUTE_MS = 60_000

PARTS = (range(1, 21), range(21, 45), range(45, 61))
"""Minutes between which both servers end and start again; in the second one of them is killed."""

KILLED_AT = 40

QUESTION = "in which aisle does the crate stand?"


@dataclass
class Hour:
    """What the two agents did and were told, and the clock that they live by."""

    house: House
    clock: Path
    began_ms: int
    minute: int = 0
    told: list[tuple[int, str, str, str, tuple[str, ...]]] = field(default_factory=list)
    """Of each call: its time, who, which tool, what came of it, and the memories in the answer."""
    mine: dict[str, dict[str, str]] = field(default_factory=lambda: {"ada": {}, "bo": {}})
    """Of each agent the memories that hold."""
    changed: list[tuple[int, str, frozenset[str]]] = field(default_factory=list)
    """Of each change: its time, who, and the ids of the rows."""

    def tick(self, minute: int) -> None:
        """It is so many minutes past."""
        self.minute = minute
        beside = self.clock.with_suffix(".new")
        beside.write_text(str(self.now_ms), encoding="ascii")
        beside.replace(self.clock)

    @property
    def now_ms(self) -> int:
        return self.began_ms + self.minute * MINUTE_MS

    @asynccontextmanager
    async def serving(self, agent: str) -> AsyncIterator[Served]:
        """The agent's own `memtui mcp`, reached by the SDK's client."""
        words = ["-m", "tests.mcp.clocked", str(self.clock), "--store", str(self.house.store)]
        server = StdioServerParameters(
            command=sys.executable, args=[*words, "--rw", "--as", agent], cwd=ROOT, env=self.house.environ
        )
        async with over_stdio(server) as served:
            yield served

    def note(self, agent: str, tool: str, outcome: str, *ids: str) -> None:
        self.told.append((self.now_ms, f"mcp:{agent}", tool, outcome, ids))

    def change(self, agent: str, *ids: str) -> None:
        self.changed.append((self.now_ms, f"mcp:{agent}", frozenset(ids)))

    async def stores(self, served: Served, agent: str) -> None:
        made = await answer(served.client, "memory_store", text=self.text(agent))
        assert made["action"] == "created"
        self.mine[agent][made["id"]] = self.text(agent)
        self.note(agent, "memory_store", "created", made["id"])
        self.change(agent, made["id"])

    async def asks(self, served: Served, agent: str) -> None:
        hits = (await answer(served.client, "memory_search", query=QUESTION))["results"]
        ids = [each["id"] for each in hits]
        assert set(ids) <= set(self.mine[agent])
        assert bool(ids) == bool(self.mine[agent])
        self.note(agent, "memory_search", "ok", *ids)

    async def corrects(self, served: Served, agent: str) -> None:
        old = next(iter(self.mine[agent]))
        given = {"id": old, "text": self.text(agent)}
        token = (await answer(served.client, "memory_update", **given))["confirm"]
        self.note(agent, "memory_update", "preview", old)
        done = await answer(served.client, "memory_update", **given, confirm=token)
        assert done["action"] == "superseded"
        self.note(agent, "memory_update", "superseded", done["id"])
        del self.mine[agent][old]
        self.mine[agent][done["id"]] = given["text"]
        self.change(agent, old, done["id"])

    async def forgets(self, served: Served, agent: str) -> None:
        lost = next(iter(self.mine[agent]))
        token = (await answer(served.client, "memory_forget", id=lost))["confirm"]
        self.note(agent, "memory_forget", "preview", lost)
        assert (await answer(served.client, "memory_forget", id=lost, confirm=token))["action"] == "archived"
        self.note(agent, "memory_forget", "archived", lost)
        del self.mine[agent][lost]
        self.change(agent, lost)

    async def is_told_a_secret(self, served: Served, agent: str) -> None:
        made = await answer(served.client, "memory_store", text=f"The key is {'sk-proj-' + 'a1B2' * 8}")
        assert made["action"] == "refused"
        self.note(agent, "memory_store", "refused")

    async def looks_at_the_other(self, served: Served, agent: str) -> None:
        other = next(iter(self.mine["bo" if agent == "ada" else "ada"]))
        result = await served.client.call_tool("memory_get", {"ids": [other]})
        assert result.is_error
        self.note(agent, "memory_get", "refused")

    async def is_killed(self, served: Served, agent: str) -> str:
        """A call is cut off as soon as it has begun; what it was about."""
        journal, text = CallJournal(self.place), self.text(agent)

        def begun() -> bool:
            last = journal.read(1)
            return bool(last) and last[0].outcome == UNANSWERED

        await served.cut_off("memory_store", {"text": text}, begun)
        return text

    def text(self, agent: str) -> str:
        return f"The {agent} crate number {self.minute} stands in aisle {self.minute * 7 % 31}"

    @property
    def place(self) -> Path:
        """Where memtui keeps what it knows of this store."""
        (found,) = {each.parent for each in self.house.store.parent.rglob("calls.jsonl")}
        return found

    async def play(self) -> None:
        """The hour."""
        cut = ""
        for part in PARTS:
            async with self.serving("ada") as ada, self.serving("bo") as bo:
                if cut:  # what became of the call that was cut off, the agent sees in its memories
                    every = await listed(ada.client)
                    self.note("ada", "memory_list", "ok", *every)
                    there = {id: text for id, (text, active) in every.items() if active}
                    self.settle_cut(cut, there)
                    cut = ""
                for minute in part:
                    self.tick(minute)
                    agent = ("ada", "bo")[minute % 2]
                    served = ada if agent == "ada" else bo
                    if minute == KILLED_AT:
                        cut = await self.is_killed(served, agent)
                        self.note(agent, "memory_store", UNANSWERED)
                    elif agent == "ada" and cut:
                        continue  # it has no server until both are started again
                    elif minute in (15, 32):
                        await self.corrects(served, agent)
                    elif minute in (31, 50):
                        await self.forgets(served, agent)
                    elif minute in (13, 34):
                        await self.is_told_a_secret(served, agent)
                    elif minute in (11, 28):
                        await self.looks_at_the_other(served, agent)
                    elif minute % 3 == 0:
                        await self.stores(served, agent)
                    else:
                        await self.asks(served, agent)

    def settle_cut(self, cut: str, there: dict[str, str]) -> None:
        """The call that was cut off has done all or nothing, and the agent lost nothing that it was told of."""
        new = {id: text for id, text in there.items() if id not in self.mine["ada"]}
        assert list(new.values()) in ([], [cut])
        assert there == self.mine["ada"] | new
        self.mine["ada"] |= new
        at = next(at for at, each in enumerate(self.told) if each[3] == UNANSWERED)
        outcome, ids = next(
            (call.outcome, call.ids)
            for call in CallJournal(self.place).read(1_000)
            if (call.time_ms, call.client) == self.told[at][:2]
        )
        assert (outcome, ids) in ((UNANSWERED, ()), ("created", tuple(new)))
        self.told[at] = (*self.told[at][:3], outcome, ids)
        if new:
            self.changed.append((*self.told[at][:2], frozenset(new)))


def shown(call: Call) -> tuple[int, str, str, str, tuple[str, ...]]:
    return call.time_ms, call.client, call.tool, call.outcome, tuple(call.ids)


@pytest.mark.slow
async def test_what_two_agents_stored_got_and_lost_in_an_hour_is_what_the_console_tells(
    tmp_path: Path,
) -> None:
    hour = Hour(House(tmp_path), tmp_path / "clock", time.time_ns() // 1_000_000 - 61 * MINUTE_MS)
    hour.tick(0)
    await hour.play()
    store = ("--store", str(hour.house.store))

    calls: list[dict[str, Any]] = json.loads(hour.house.run("calls", "--json", "--limit", "500", *store))[
        "calls"
    ]
    told = [
        (each["time_ms"], each["client"], each["tool"], each["outcome"], tuple(each["ids"]))
        for each in reversed(calls)
    ]
    assert told == hour.told

    engine = open_engine(
        hour.house.store,
        now=lambda: hour.now_ms,
        environ=hour.house.environ,
        cwd=tmp_path,
        state=hour.place.parent.parent,
    )
    entries = json.loads(hour.house.run("journal", "--json", *store))["entries"]
    changed = {
        (
            each["time_ms"],
            each["client"],
            frozenset(row.id for row in engine.write_state.journal.rows(each["entry"])),
        )
        for each in entries
        if each.get("found") != "not there"  # cut off before it was written
    }
    assert changed == set(hour.changed)

    held = json.loads(hour.house.run("ls", "is:active -is:archived", "--json", "--limit", "500", *store))
    assert {each["id"]: each["text"] for each in held["rows"]} == hour.mine["ada"] | hour.mine["bo"]

    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "0")
        screen = app.screen
        assert isinstance(screen, AgentsScreen)
        await until(pilot, lambda: bool(screen.state.calls))
        await settle(pilot)
        assert [shown(each) for each in reversed(screen.state.calls or ())] == hour.told
        text = screen_text(app)
        assert "mcp:ada" in text
        assert "mcp:bo" in text
