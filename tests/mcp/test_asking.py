"""A change that is dangerous is agreed to by a person where their client can ask them, else by a token."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from memtui.engine.clients import CallJournal
from memtui.mcp.door import Door
from memtui.mcp.server import make_server
from tests.conftest import ROOT
from tests.mcp.test_contract import STATEMENT, answer, refusal
from tests.mcp.test_http import House
from tests.mcp.test_tools import door_to, store

__all__ = ["door_to", "store"]

Said = types.ElicitResult | types.ErrorData


class Person:
    """Somebody at the client: what they were asked, and what they say."""

    def __init__(self, says: Said) -> None:
        self.says = says
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> Said:
        assert isinstance(params, types.ElicitRequestFormParams)
        assert set(params.requested_schema["properties"]) == {"confirm"}
        self.asked.append(params.message)
        return self.says


YES = types.ElicitResult(action="accept", content={"confirm": True})
NOS = {
    "no": types.ElicitResult(action="decline"),
    "cancelled": types.ElicitResult(action="cancel"),
    "box left empty": types.ElicitResult(action="accept", content={"confirm": False}),
    "nothing filled in": types.ElicitResult(action="accept", content={}),
}
WORDS = {"no": "said no", "cancelled": "without an answer"}


@asynccontextmanager
async def walked(client: Client, person: Person, ids: list[str]) -> AsyncIterator[dict[str, Any]]:
    """One memory stored and changed with the person's yes, and the memory as it is then."""
    made = await answer(client, "memory_store", text=STATEMENT)
    ids.append(made["id"])
    done = await answer(client, "memory_update", id=made["id"], importance=0.9)
    assert done["action"] in ("updated", "superseded")
    assert len(person.asked) == 1
    assert "importance" in person.asked[0]
    assert "0.9" in person.asked[0]
    assert STATEMENT in person.asked[0]
    record = (await answer(client, "memory_get", ids=[done["id"]]))["memories"][0]
    assert record["importance"] == 0.9
    yield {"id": done["id"], **record}


async def refused(client: Client, person: Person, id: str) -> None:
    """Every way of not saying yes changes nothing, and tells the model what to do."""
    for name, says in NOS.items():
        person.says, before = says, len(person.asked)
        said = await refusal(client, "memory_forget", id=id)
        assert len(person.asked) == before + 1
        assert STATEMENT in person.asked[-1]
        assert "Nothing was changed" in said
        assert WORDS.get(name, "said no") in said
        assert (await answer(client, "memory_get", ids=[id]))["memories"][0]["active"], name


async def both(client: Client, person: Person) -> None:
    async with walked(client, person, []) as memory:
        await refused(client, person, memory["id"])
        person.says = YES
        gone = await answer(client, "memory_forget", id=memory["id"])
        assert gone["action"] in ("archived", "deleted")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_person_is_asked_and_their_word_counts(
    mode: str, door_to: Callable[..., Door], tmp_path: Path
) -> None:
    person, door = Person(YES), door_to("main")
    async with Client(make_server(door), mode=mode, elicitation_callback=person) as client:
        await both(client, person)
    assert door.engine.state_place is not None
    calls = CallJournal(door.engine.state_place).read()
    door.close()
    assert [each.gate for each in calls if each.outcome == "refused"] == ["not agreed"] * len(NOS)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_cannot_ask_gets_a_preview_and_its_token(
    mode: str, door_to: Callable[..., Door]
) -> None:
    async with Client(make_server(door_to("main")), mode=mode) as client:
        made = await answer(client, "memory_store", text=STATEMENT)
        preview = await answer(client, "memory_forget", id=made["id"])
        assert preview["action"] == "preview"
        assert (await answer(client, "memory_get", ids=[made["id"]]))["memories"][0]["active"]
        done = await answer(client, "memory_forget", id=made["id"], confirm=preview["confirm"])
        assert done["action"] == "archived"


async def test_a_client_that_says_it_can_ask_and_cannot_gets_the_preview(
    door_to: Callable[..., Door],
) -> None:
    person = Person(types.ErrorData(code=-32603, message="no window is open"))
    async with Client(make_server(door_to("main")), mode="legacy", elicitation_callback=person) as client:
        made = await answer(client, "memory_store", text=STATEMENT)
        preview = await answer(client, "memory_forget", id=made["id"])
        assert preview["action"] == "preview"
        assert len(person.asked) == 1
        done = await answer(client, "memory_forget", id=made["id"], confirm=preview["confirm"])
        assert done["action"] == "archived"


async def test_a_yes_is_good_once_and_for_the_call_that_was_asked_about(door_to: Callable[..., Door]) -> None:
    person = Person(YES)
    async with Client(make_server(door_to("main")), elicitation_callback=person) as client:
        first = (await answer(client, "memory_store", text=STATEMENT))["id"]
        other = (await answer(client, "memory_store", text="The kelp node has 64 GB of memory"))["id"]
        session = client.session
        asked = await session.call_tool("memory_forget", {"id": first}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        for given in ({"id": other}, {"id": first, "delete": True}, {"id": first}):
            said = await session.call_tool(
                "memory_forget",
                given,
                input_responses={"confirm": YES},
                request_state=asked.request_state,
                allow_input_required=True,
            )
            assert isinstance(said, types.CallToolResult)
            assert said.is_error, given  # the first wrong call has spent it
        made_up = await session.call_tool(
            "memory_forget",
            {"id": first},
            input_responses={"confirm": YES},
            request_state="made up",
            allow_input_required=True,
        )
        assert isinstance(made_up, types.CallToolResult)
        assert made_up.is_error
        silent = await session.call_tool(
            "memory_forget", {"id": first}, request_state="x", allow_input_required=True
        )
        assert isinstance(silent, types.CallToolResult)
        assert silent.is_error
        kept = (await answer(client, "memory_get", ids=[first, other]))["memories"]
        assert all(each["active"] for each in kept)


async def test_what_a_person_is_asked_shows_no_secret_and_no_control_characters(
    door_to: Callable[..., Door],
) -> None:
    person = Person(types.ElicitResult(action="decline"))
    async with Client(make_server(door_to("main")), elicitation_callback=person) as client:
        made = await answer(client, "memory_store", text=STATEMENT)
        await refusal(
            client, "memory_update", id=made["id"], text="The gateway \x1b[31mlistens on 8444" + "x" * 900
        )
    assert "\x1b" not in person.asked[0]
    assert all(len(line) <= 400 for line in person.asked[0].splitlines())


@pytest.mark.slow
async def test_a_person_is_asked_over_standard_input_and_output(store: Path, tmp_path: Path) -> None:
    for mode in ("auto", "legacy"):
        person = Person(YES)
        words = ["-m", "memtui", "mcp", "--store", str(store), "--rw", "--as", mode]
        server = StdioServerParameters(
            command=sys.executable, args=words, cwd=ROOT, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        )
        async with Client(stdio_client(server), mode=mode, elicitation_callback=person) as client:
            await both(client, person)


@pytest.mark.slow
async def test_a_person_is_asked_over_http_by_both_ways_of_the_protocol(tmp_path: Path) -> None:
    house = House(tmp_path)
    server = house.start("--rw")
    try:
        async with AsyncExitStack() as stack:
            person = Person(YES)
            client = await stack.enter_async_context(
                house.client(house.token_of("main"), elicitation_callback=person)
            )
            await both(client, person)
            older = Person(YES)
            client = await stack.enter_async_context(
                house.client(house.token_of("older"), mode="legacy", elicitation_callback=older)
            )
            await both(client, older)
            client = await stack.enter_async_context(house.client(house.token_of("main"), mode="legacy"))
            made = await answer(client, "memory_store", text="The kelp node has 64 GB of memory")
            preview = await answer(client, "memory_forget", id=made["id"])
            assert preview["action"] == "preview"
            done = await answer(client, "memory_forget", id=made["id"], confirm=preview["confirm"])
            assert done["action"] == "archived"
    finally:
        server.terminate()
        server.wait(120)
        assert server.stderr is not None
        server.stderr.close()
    entries = json.loads(house.run("journal", "--json", "--store", str(house.store)))["entries"]
    assert len(entries) == 8
