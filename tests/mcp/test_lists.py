"""What hosts are told of the tools, as bytes: kinds that all read, one page, who may store, lines that differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import copied
from tests.mcp.stdio_host import INITIALIZE, StdioHost, stdio_host
from tests.mcp.test_contract import STATEMENT
from tests.mcp.test_http import ACCEPT, ASK, House

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


@pytest.fixture(scope="module")
def place(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(empty_store, tmp_path_factory.mktemp("lists") / "store")


@pytest.fixture(scope="module", params=["memtui", "openclaw"])
def host(request: pytest.FixtureRequest, place: Path) -> Iterator[StdioHost]:
    with stdio_host(place, "--rw", "--tools", request.param) as made:
        made.begin()
        yield made


def asked(method: str, number: int = 5, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_what_may_be_left_out_is_a_plain_kind(host: StdioHost) -> None:
    for tool in host.ask(asked("tools/list"))["result"]["tools"]:
        schema = tool["inputSchema"]
        assert schema["additionalProperties"] is True
        for name, kind in schema["properties"].items():
            told = json.dumps(kind)
            assert "null" not in told, (tool["name"], name)
            assert "anyOf" not in told, (tool["name"], name)
            assert "type" in kind, (tool["name"], name)


@pytest.mark.parametrize("method", LISTS)
def test_a_cursor_that_was_never_given_is_an_error_and_none_or_null_is_the_list(
    method: str, host: StdioHost
) -> None:
    for cursor in ("", "2", "bm90LWEtY3Vyc29y"):
        error = host.ask(asked(method, cursor=cursor))["error"]
        assert error["code"] == -32602
        assert "cursor" in error["message"]
    assert "result" in host.ask(asked(method))


def test_a_change_of_the_importance_shows_two_lines_that_differ(place: Path) -> None:
    with stdio_host(place, "--rw") as host:
        host.begin()
        made = host.ask(asked("tools/call", name="memory_store", arguments={"text": STATEMENT}))
        id = made["result"]["structuredContent"]["id"]

        def update(**fields: Any) -> dict[str, Any]:
            arguments = {"id": id, **fields}
            return dict(host.ask(asked("tools/call", name="memory_update", arguments=arguments))["result"])

        preview = update(importance=0.91)
        data = preview["structuredContent"]
        assert data["action"] == "preview"
        assert data["before"]["importance"] != data["after"]["importance"] == 0.91
        lines = [line for line in preview["content"][0]["text"].splitlines() if "importance" in line]
        assert len(lines) == len(set(lines)) == 1
        assert "0.91" in lines[0]
        done = update(importance=0.91, confirm=data["confirm"])["structuredContent"]
        assert done["action"] in ("updated", "superseded")
        again = update(importance=0.91)
        assert again["isError"]
        assert "Nothing would change" in again["content"][0]["text"]
        assert data["confirm"] not in json.dumps(again)


@pytest.mark.parametrize("words", [(), ("--rw",)])
def test_only_a_server_that_writes_asks_to_store(words: tuple[str, ...], place: Path) -> None:
    with stdio_host(place, *words) as host:
        said = host.ask(INITIALIZE)["result"]["instructions"]
    assert ("store lasting" in said) is bool(words)
    assert "Search" in said


@pytest.mark.slow
def test_the_journal_names_callers_without_a_token_as_the_server_was_told_to(tmp_path: Path) -> None:
    house = House(tmp_path)
    server = house.start("--client", "reading-corner")
    try:
        assert httpx.post(house.url, json=ASK, headers=ACCEPT, timeout=120).status_code == 200
        call = asked("tools/call", name="memory_list", arguments={})
        assert "result" in httpx.post(house.url, json=call, headers=ACCEPT, timeout=120).json()
    finally:
        server.terminate()
        server.wait(120)
        assert server.stderr is not None
        server.stderr.close()
    calls = json.loads(house.run("calls", "--json", "--store", str(house.store)))["calls"]
    assert {call["client"] for call in calls} == {"reading-corner"}
