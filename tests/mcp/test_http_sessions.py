"""Sessions over HTTP, byte by byte: who gets one, whose it is, and how a person is asked in it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mcp.test_contract import STATEMENT
from tests.mcp.test_http import ACCEPT, ASK, House


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("sessions"))
    made.token_of("first")
    made.token_of("second")
    server = made.start("--rw")
    yield made
    server.terminate()
    server.wait(120)
    assert server.stderr is not None
    server.stderr.close()


def greeting(version: str, capabilities: dict[str, Any]) -> dict[str, Any]:
    told = {**ASK["params"], "protocolVersion": version, "capabilities": capabilities}
    return {**ASK, "params": told}


def headers_of(house: House, name: str, **more: str) -> dict[str, str]:
    return {**ACCEPT, "Authorization": f"Bearer {house.token_of(name)}", **more}


def begin(house: House, name: str, version: str = "2025-06-18") -> dict[str, str]:
    """Shake hands as a host does whose person can be asked, and return the headers of the session."""
    headers = headers_of(house, name)
    asked = greeting(version, {"elicitation": {}})
    answer = httpx.post(house.url, json=asked, headers=headers, timeout=120)
    assert answer.status_code == 200, answer.text
    headers |= {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": version}
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert httpx.post(house.url, json=done, headers=headers, timeout=120).status_code == 202
    return headers


def call(tool: str, number: int, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


@contextmanager
def streamed(
    house: House, message: dict[str, Any], headers: dict[str, str]
) -> Iterator[Iterator[dict[str, Any]]]:
    """The messages that come back for one, as they come."""
    with httpx.stream("POST", house.url, json=message, headers=headers, timeout=120) as answer:
        assert answer.status_code == 200, answer.read()
        yield (
            json.loads(line.removeprefix("data:"))
            for line in answer.iter_lines()
            if line.startswith("data:") and line.removeprefix("data:").strip()
        )


def one(house: House, message: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
    with streamed(house, message, headers) as told:
        return next(told)


@pytest.mark.parametrize(
    ("version", "capabilities", "session"),
    [
        ("2025-06-18", {"elicitation": {}}, True),
        ("2025-11-25", {"elicitation": {"form": {}}}, True),
        ("2025-11-25", {"elicitation": {"form": {}, "url": {}}}, True),
        ("2025-11-25", {"elicitation": {"url": {}}}, False),
        ("2025-06-18", {}, False),
        ("2024-11-05", {"roots": {"listChanged": True}}, False),
    ],
)
def test_only_a_host_whose_person_can_be_asked_gets_a_session(
    version: str, capabilities: dict[str, Any], session: bool, house: House
) -> None:
    asked = greeting(version, capabilities)
    answer = httpx.post(house.url, json=asked, headers=headers_of(house, "first"), timeout=120)
    assert answer.status_code == 200
    assert ("mcp-session-id" in answer.headers) is session
    assert "memtui" in answer.text


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"action": "accept", "content": {"confirm": True}}, "archived"),
        ({"action": "decline"}, "said no"),
        ({"action": "cancel"}, "Nothing was changed"),
        ({"action": "accept", "content": {"confirm": False}}, "said no"),
    ],
)
def test_a_person_is_asked_on_the_stream_of_the_call(said: dict[str, Any], words: str, house: House) -> None:
    headers = begin(house, "first")
    made = one(house, call("memory_store", 2, text=f"{STATEMENT} {words}"), headers)
    id = made["result"]["structuredContent"]["id"]
    with streamed(house, call("memory_forget", 3, id=id), headers) as told:
        asked = next(told)
        assert asked["method"] == "elicitation/create"
        assert STATEMENT in asked["params"]["message"]
        reply = {"jsonrpc": "2.0", "id": asked["id"], "result": said}
        assert httpx.post(house.url, json=reply, headers=headers, timeout=120).status_code == 202
        done = next(told)
    assert done["id"] == 3
    text = json.dumps(done["result"])
    assert words in text
    if words != "archived":
        assert done["result"]["isError"]
        assert '"confirm"' not in text, "a no gives no token"


def test_a_session_is_its_clients_alone(house: House) -> None:
    headers = begin(house, "first")
    for stolen in (
        {**headers, "Authorization": f"Bearer {house.token_of('second')}"},
        {**headers, "Mcp-Session-Id": "0" * 32},
    ):
        answer = httpx.post(house.url, json=call("memory_list", 2), headers=stolen, timeout=120)
        assert answer.status_code == 404
        assert answer.json()["error"]["message"] == "Session not found"
        with httpx.stream("GET", house.url, headers=stolen, timeout=120) as answer:
            assert answer.status_code == 404
        assert httpx.delete(house.url, headers=stolen, timeout=120).status_code == 404
    nobody = {name: value for name, value in headers.items() if name != "Authorization"}
    answer = httpx.post(house.url, json=call("memory_list", 2), headers=nobody, timeout=120)
    assert answer.status_code == 401
    assert "result" in one(house, call("memory_list", 3), headers), "and it goes on"


def test_a_session_ends_with_the_rights_of_its_client(house: House) -> None:
    house.token_of("third")
    headers = begin(house, "third")
    assert "result" in one(house, call("memory_list", 2), headers)
    house.run("clients", "pause", "third")
    assert httpx.post(house.url, json=call("memory_list", 3), headers=headers, timeout=120).status_code == 403
    house.run("clients", "resume", "third")
    house.run("clients", "revoke", "third")
    assert httpx.post(house.url, json=call("memory_list", 4), headers=headers, timeout=120).status_code == 401
    del house.tokens["third"]
    anew = {**headers, **headers_of(house, "third")}
    answer = httpx.post(house.url, json=call("memory_list", 5), headers=anew, timeout=120)
    assert answer.status_code == 404, "another of the same name gets no session of the one that was revoked"


def test_a_client_ends_its_session(house: House) -> None:
    headers = begin(house, "first")
    assert httpx.delete(house.url, headers=headers, timeout=120).status_code == 200
    answer = httpx.post(house.url, json=call("memory_list", 2), headers=headers, timeout=120)
    assert answer.status_code == 404


@pytest.mark.slow
def test_the_server_ends_while_a_session_holds_its_stream_open(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.token_of("first")
    server = house.start("--rw")
    headers = begin(house, "first")
    with httpx.stream("GET", house.url, headers=headers, timeout=120) as answer:
        assert answer.status_code == 200
        server.send_signal(signal.SIGINT)
        server.wait(60)
    assert server.stderr is not None
    said = server.stderr.read()
    server.stderr.close()
    assert "Traceback" not in said
