"""The first answers stand in memtui itself: they are those of the SDK, and come before it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server.lowlevel import NotificationOptions
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from memtui.mcp.door import Door
from memtui.mcp.greeting import HANDSHAKES, NEWEST, Greeting
from memtui.mcp.server import discovered, make_server

INFO = {"name": "host", "version": "1", "title": "A host", "websiteUrl": "https://example.org"}
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
CAPABILITIES: list[dict[str, Any]] = [
    {},
    {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}},
    {"experimental": {"host/mode": {"deep": [1, None]}}, "extensions": {"io.example/ui": {"a": "b"}}},
    {"tasks": {"list": {}, "cancel": {}}},
]


def asked(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def door(writable: bool) -> Door:
    def no_engine() -> Any:
        raise AssertionError("a greeting opens nothing")

    return Door(no_engine, writable=writable)


async def of_the_sdk(message: dict[str, Any], writable: bool) -> dict[str, Any]:
    """The SDK's own answer."""
    server, line = make_server(door(writable)), types.jsonrpc_message_adapter.validate_python(message)
    if message["method"] == "server/discover":
        answer = await discovered(server, SessionMessage(line))
        return answer.message.model_dump(by_alias=True, exclude_unset=True)
    send, read = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    write, told = anyio.create_memory_object_stream[SessionMessage](1)
    async with send, told, anyio.create_task_group() as tasks:
        options = server.create_initialization_options(NotificationOptions(resources_changed=True))
        tasks.start_soon(server.run, read, write, options)
        await send.send(SessionMessage(line))
        answer = await told.receive()
        tasks.cancel_scope.cancel()
    return answer.message.model_dump(by_alias=True, exclude_unset=True)


def test_the_versions_are_those_of_the_sdk() -> None:
    assert HANDSHAKES == HANDSHAKE_PROTOCOL_VERSIONS
    assert (NEWEST,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("capabilities", CAPABILITIES, ids=["none", "usual", "experimental", "tasks"])
@pytest.mark.parametrize("version", [*HANDSHAKES, NEWEST, "1999-01-01"])
async def test_initialize_is_answered_as_the_sdk_does(
    version: str, capabilities: dict[str, Any], writable: bool
) -> None:
    message = asked(
        "initialize", {"protocolVersion": version, "capabilities": capabilities, "clientInfo": INFO}
    )
    assert Greeting(writable).answer(message) == (await of_the_sdk(message, writable))["result"]


async def test_a_look_and_a_ping_are_answered_as_the_sdk_does() -> None:
    look, ping = asked("server/discover", {"_meta": META}), asked("ping", {})
    assert Greeting(False).answer(look) == (await of_the_sdk(look, False))["result"]
    assert Greeting(False).answer(ping) == (await of_the_sdk(ping, False))["result"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"protocolVersion": 5, "capabilities": {}, "clientInfo": INFO},
        {"protocolVersion": "2025-06-18", "capabilities": {"roots": True}, "clientInfo": INFO},
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x"}},
        {
            "protocolVersion": "2025-06-18",
            "capabilities": {"elicitation": {"form": True}},
            "clientInfo": INFO,
        },
    ],
)
async def test_what_the_sdk_may_refuse_is_left_to_it(params: dict[str, Any]) -> None:
    assert Greeting(False).answer(asked("initialize", params)) is None


def test_the_first_answers_load_no_library(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys; from memtui.mcp.greeting import Greeting; from memtui.mcp import messages, stdio\n"
        "print(sorted({'mcp', 'mcp_types', 'anyio', 'pydantic', 'lancedb', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
