"""The server over streamable HTTP in a process of its own: tokens, rights, hosts, and the journal of calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from memtui.engine.clients import HOSTS
from tests.conftest import ROOT

ASK = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


class House:
    """A store, a folder for memtui's own files, and a server."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "MEMTUI_CONFIG_DIR": str(folder / "config"),
        }
        self.url = ""
        self.run("new", str(self.store))

    def run(self, *words: str) -> str:
        """Run a command of memtui."""
        done = subprocess.run(
            [sys.executable, "-m", "memtui", *words],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=self.environ,
            check=True,
        )
        return done.stdout.strip()

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the server; it says where it is."""
        server = subprocess.Popen(
            [sys.executable, "-m", "memtui", "mcp", "--store", str(self.store), "--http", "0", *words],
            cwd=ROOT,
            env=self.environ,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stderr is not None
        self.url = server.stderr.readline().split()[-1]
        return server

    def post(self, **headers: str) -> httpx.Response:
        """A first request."""
        return httpx.post(self.url, json=ASK, headers={**ACCEPT, **headers}, timeout=120)

    @asynccontextmanager
    async def client(self, token: str) -> AsyncIterator[Client]:
        """The SDK's own client with a token."""
        import httpx2

        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            yield client


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    server = made.start("--rw", "--keep-texts")
    yield made
    server.terminate()
    server.wait(120)
    assert server.stderr is not None
    server.stderr.close()


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


@pytest.mark.slow
def test_a_wrong_host_origin_or_token_is_refused(house: House) -> None:
    token = house.run("clients", "add", "codex")
    assert house.post().status_code == 200  # on this machine nobody needs one
    assert house.post(Authorization=f"Bearer {token}").status_code == 200
    assert house.post(Authorization="Bearer memtui_guess").status_code == 401
    assert house.post(Authorization=f"Basic {token}").status_code == 401
    assert house.post(Host="memory.example.org").status_code == 421
    assert house.post(Origin="https://example.org").status_code == 403
    assert token not in (Path(house.environ["MEMTUI_CONFIG_DIR"]) / "clients.json").read_text()
    house.run("clients", "pause", "codex")
    assert house.post(Authorization=f"Bearer {token}").status_code == 403
    house.run("clients", "resume", "codex")
    assert house.post(Authorization=f"Bearer {token}").status_code == 200
    house.run("clients", "revoke", "codex")
    assert house.post(Authorization=f"Bearer {token}").status_code == 401
    slow = house.run("clients", "add", "slow", "--rate", "2")
    codes = [house.post(Authorization=f"Bearer {slow}").status_code for _ in range(6)]
    assert codes[0] == 200
    assert 429 in codes


def test_beyond_this_machine_nobody_is_served_without_a_token(tmp_path: Path) -> None:
    house = House(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "mcp", "--store", str(house.store), "--http", "0.0.0.0:0"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=house.environ,
        check=False,
    )
    assert done.returncode == 2
    assert "memtui clients add" in done.stderr


@pytest.mark.slow
async def test_two_clients_are_blind_to_each_other_and_the_journal_tells_their_calls(house: House) -> None:
    alice, bob = (house.run("clients", "add", name) for name in ("alice", "bob"))
    auditor = house.run("clients", "add", "auditor", "--reads", "agent:alice")
    async with house.client(alice) as one, house.client(bob) as two, house.client(auditor) as third:
        text = "Alice keeps the backup codes in the blue folder"
        made = await answer(one, "memory_store", text=text)
        assert made["scope"] == "agent:alice"
        assert (await answer(two, "memory_list"))["memories"] == []
        assert (await answer(two, "memory_search", query="where are the backup codes"))["results"] == []
        assert (await two.call_tool("memory_get", {"ids": [made["id"]]})).is_error
        assert (await two.call_tool("memory_search", {"query": "codes", "scope": "agent:alice"})).is_error
        assert [each["id"] for each in (await answer(third, "memory_list"))["memories"]] == [made["id"]]
        refused = await third.call_tool("memory_store", {"text": "The auditor was here on Monday"})
        assert refused.is_error
        told = json.loads((await two.read_resource("memtui://stats")).contents[0].text)  # type: ignore[union-attr]
        assert told["memories"] == 0
        told = json.loads((await one.read_resource("memtui://scopes")).contents[0].text)  # type: ignore[union-attr]
        assert told["memories"] == {"agent:alice": 1}
        assert json.loads((await one.read_resource("memtui://health")).contents[0].text)  # type: ignore[union-attr]
        names = {str(each.uri) for each in (await one.list_resources()).resources}
        assert names == {"memtui://stats", "memtui://scopes", "memtui://health"}
    entry = json.loads(house.run("journal", "--json", "--store", str(house.store)))["entries"][0]
    assert entry["client"] == "mcp:alice"
    calls = json.loads(house.run("calls", "--json", "--store", str(house.store)))["calls"]
    assert [(each["client"], each["tool"], each["outcome"]) for each in reversed(calls)] == [
        ("mcp:alice", "memory_store", "created"),
        ("mcp:bob", "memory_list", "ok"),
        ("mcp:bob", "memory_search", "ok"),
        ("mcp:bob", "memory_get", "refused"),
        ("mcp:bob", "memory_search", "refused"),
        ("mcp:auditor", "memory_list", "ok"),
    ]
    assert calls[-1]["ids"] == [made["id"]]
    assert calls[-1]["arguments"] == {"text": text}


@pytest.mark.slow
async def test_each_client_is_told_of_what_it_may_read_until_its_rights_change(house: House) -> None:
    alice, bob = (house.run("clients", "add", name) for name in ("alice", "bob"))
    scopes = "memtui://scopes"
    told: dict[str, list[str]] = {"alice": [], "bob": []}
    over: list[str] = []

    async def hear(name: str, client: Client, listening: anyio.Event) -> None:
        async with client.listen(resource_subscriptions=[scopes]) as events:
            listening.set()
            async for event in events:
                told[name].append(event.uri)  # type: ignore[union-attr]
        over.append(name)

    async with house.client(alice) as one, house.client(bob) as two, anyio.create_task_group() as group:
        for name, client in (("alice", one), ("bob", two)):
            listening = anyio.Event()
            group.start_soon(hear, name, client, listening)
            with anyio.fail_after(120):
                await listening.wait()
        await answer(one, "memory_store", text="Alice keeps the backup codes in the blue folder")
        with anyio.fail_after(120):
            while not told["alice"]:
                await anyio.sleep(0.1)
        assert told == {"alice": [scopes], "bob": []}
        await anyio.to_thread.run_sync(house.run, "clients", "pause", "alice")
        with anyio.fail_after(120):
            while over != ["alice"]:
                await anyio.sleep(0.1)
        await answer(two, "memory_store", text="Bob parks the van behind the second hall")
        with anyio.fail_after(120):
            while not told["bob"]:
                await anyio.sleep(0.1)
        assert told == {"alice": [scopes], "bob": [scopes]}
        group.cancel_scope.cancel()


@pytest.mark.slow
async def test_the_older_protocol_over_http_does_not_promise_notices(house: House) -> None:
    async with Client(streamable_http_client(house.url), mode="legacy") as client:
        capabilities = client.server_capabilities
        assert capabilities is not None
        assert capabilities.resources is not None
        assert not capabilities.resources.subscribe
        with pytest.raises(MCPError):
            await client.subscribe_resource("memtui://stats")


def _entry_of(host: str, text: str) -> tuple[str, dict[str, str], dict[str, Any]]:
    """URL and headers as the host sends them where its variable holds the token `TOKEN`, and its whole entry."""
    told: dict[str, Any] = tomllib.loads(text) if host == "codex" else json.loads(text)
    block = told.get("mcp", told)
    servers = next(block[key] for key in ("mcpServers", "mcp_servers", "servers") if key in block)
    entry = servers["memtui"]
    headers = dict(entry.get("headers", {}))
    if variable := entry.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    return entry["url"], headers, entry


@pytest.mark.slow
async def test_what_is_to_be_pasted_reaches_a_server_over_http(house: House) -> None:
    import httpx2

    token = house.run("clients", "add", "codex").strip()
    port = house.url.split(":")[2].split("/")[0]
    for host, named in [(host, named) for host in HOSTS for named in ([], ["--client", "codex"])]:
        told = subprocess.run(
            [sys.executable, "-m", "memtui", "mcp", "--rw", "--http", port, *named, "--print-config", host],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=house.environ,
            check=True,
        )
        url, headers, entry = _entry_of(host, told.stdout)
        assert url == house.url
        assert token not in told.stdout  # it is written into no file
        assert bool(headers) == bool(named)
        assert f"--http {port}" in told.stderr
        assert "command" not in entry
        sent = {
            name: value.replace("${env:MEMTUI_TOKEN}", token)
            .replace("${MEMTUI_TOKEN}", token)
            .replace("${input:memtui-token}", token)
            for name, value in headers.items()
        }
        async with (
            httpx2.AsyncClient(headers=sent, timeout=120) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            assert "memory_search" in {tool.name for tool in (await client.list_tools()).tools}
            home = json.loads((await client.read_resource("memtui://scopes")).contents[0].text)["writes"]  # type: ignore[union-attr]
            assert home == ("agent:codex" if named else "global")


def test_what_is_to_be_pasted_for_another_machine_always_sends_a_token(tmp_path: Path) -> None:
    words = ["mcp", "--http", "0.0.0.0:8765", "--allow-host", "kelp.lan", "--print-config", "cursor"]
    told = subprocess.run(
        [sys.executable, "-m", "memtui", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        check=True,
    )
    url, headers, _ = _entry_of("cursor", told.stdout)
    assert url == "http://kelp.lan:8765/mcp"
    assert "MEMTUI_TOKEN" in headers["Authorization"]
    assert "memtui clients add" in told.stderr
