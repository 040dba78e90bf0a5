"""A session is told only of the tools that it has itself: with every set of tools, and with each permission."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client

from memtui.mcp.door import Door
from memtui.mcp.memory_core import memory_core_tools
from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.server import make_server
from memtui.mcp.tools.base import Tool
from memtui.mcp.tools.registry import all_tools
from tests.mcp.test_greeting import META
from tests.mcp.test_http import House
from tests.mcp.test_http_sessions import begin, call, greeting, headers_of, one

SETS: Mapping[str, tuple[Tool, ...] | None] = {
    "memtui": None,
    "openclaw": openclaw_tools(Path(), {}),
    "openclaw without management": openclaw_tools(Path(), {"enableManagementTools": False}),
    "openclaw on a table of another program": openclaw_tools(Path(), {}, columns=("id", "text", "vector")),
    "memory-core": memory_core_tools(),
}

NAMES = {tool.name for tools in SETS.values() for tool in tools or all_tools()}
"""Every tool of every set, from the registries themselves."""

WORDS = re.compile(rf"\b(?:{'|'.join(sorted(NAMES, key=len, reverse=True))})\b")

ASKED_TO_STORE = "store lasting"


def named_in(*told: Any) -> set[str]:
    """The tools that texts name."""
    return set(WORDS.findall(json.dumps(told)))


def no_engine() -> Any:
    raise AssertionError("what a session is told opens nothing")


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("kind", SETS)
async def test_a_session_is_told_only_of_its_own_tools(kind: str, writable: bool) -> None:
    door = Door(no_engine, writable=writable, tools=SETS[kind])
    async with Client(make_server(door)) as client:
        tools = (await client.list_tools()).tools
        prompts = (await client.list_prompts()).prompts
        told = [tool.model_dump(mode="json") for tool in tools]
        told += [prompt.model_dump(mode="json") for prompt in prompts]
        told += [found.model_dump(mode="json") for found in (await client.list_resources()).resources]
        for prompt in prompts:
            if prompt.name != "memories_for":  # it is the memories themselves
                given = {argument.name: "x" for argument in prompt.arguments or () if argument.required}
                told.append((await client.get_prompt(prompt.name, given)).model_dump(mode="json"))
        names = {tool.name for tool in tools}
        assert names == set(door.offered)
        assert named_in(told, client.instructions) <= names
        assert (ASKED_TO_STORE in (client.instructions or "")) is ("memory_store" in names)
        assert ("usage" in json.dumps([prompt.model_dump(mode="json") for prompt in prompts])) is writable
        unknown = sorted(NAMES - names)
        for name in unknown:
            answer = await client.call_tool(name, {})
            assert answer.is_error
            said = answer.content[0].text  # type: ignore[union-attr]
            assert named_in(said) - {name} <= names
            assert ("--rw" in said) is (name in {tool.name for tool in SETS[kind] or all_tools()})


# ---------------------------------------------------------------------- over HTTP, by the rights of each token


@pytest.fixture(scope="module", params=["memtui", "openclaw"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("offered"))
    made.token_of("reader", "--no-writes")
    made.token_of("writer")
    server = made.start("--rw", "--tools", request.param)
    yield made
    server.terminate()
    server.wait(120)
    assert server.stderr is not None
    server.stderr.close()


@pytest.mark.parametrize("name", ["reader", "writer"])
@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}], ids=["plain", "asked"])
def test_a_greeting_over_http_asks_to_store_whoever_may(
    name: str, version: str, capabilities: dict[str, Any], house: House
) -> None:
    answer = httpx.post(
        house.url, json=greeting(version, capabilities), headers=headers_of(house, name), timeout=120
    )
    assert "Search" in answer.text
    assert (ASKED_TO_STORE in answer.text) is (name == "writer")


@pytest.mark.parametrize("name", ["reader", "writer"])
def test_a_look_over_http_asks_to_store_whoever_may(name: str, house: House) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
    headers = headers_of(
        house, name, **{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    )
    answer = httpx.post(house.url, json=asked, headers=headers, timeout=120)
    assert "Search" in answer.text, answer.text
    assert (ASKED_TO_STORE in answer.text) is (name == "writer")


def test_a_reader_of_a_server_that_writes_is_told_of_reading_alone(house: House) -> None:
    headers = begin(house, "reader")
    lists = {
        kind: one(house, {"jsonrpc": "2.0", "id": 2, "method": f"{kind}/list"}, headers)["result"]
        for kind in ("tools", "prompts", "resources")
    }
    names = {tool["name"] for tool in lists["tools"]["tools"]}
    assert names
    assert all(tool["annotations"]["readOnlyHint"] for tool in lists["tools"]["tools"])
    assert named_in(lists) <= names
    refused = one(house, call("memory_store", 3, text="x"), headers)["result"]
    assert refused["isError"]
    said = refused["content"][0]["text"]
    assert "memtui clients add reader" in said, "it is the client's right, not the server's"
    assert "--rw" not in said
    assert named_in(said) - {"memory_store"} <= names


def test_the_owner_gives_a_session_other_rights_and_it_is_told_of_them(house: House) -> None:
    house.token_of("changing", "--no-writes")
    headers = headers_of(house, "changing")

    def asked_to_store() -> bool:
        return (
            ASKED_TO_STORE
            in httpx.post(house.url, json=greeting("2025-06-18", {}), headers=headers, timeout=120).text
        )

    assert not asked_to_store()
    house.run("clients", "revoke", "changing")
    del house.tokens["changing"]
    headers = headers_of(house, "changing")
    assert asked_to_store()
