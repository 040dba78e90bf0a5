"""The server over streamable HTTP in a process of its own: tokens, rights, hosts, and the journal of calls."""

from __future__ import annotations

import json
import os
import socket
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

from memtui.engine.hosts import HTTP_HOSTS
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
        self.tokens: dict[str, str] = {}
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

    def token_of(self, name: str, *words: str) -> str:
        """The token of a client, which is let in at the first call."""
        if name not in self.tokens:
            self.tokens[name] = self.run("clients", "add", name, *words)
        return self.tokens[name]

    def post(self, **headers: str) -> httpx.Response:
        """A first request."""
        return httpx.post(self.url, json=ASK, headers={**ACCEPT, **headers}, timeout=120)

    @asynccontextmanager
    async def client(self, token: str, **options: Any) -> AsyncIterator[Client]:
        """The SDK's own client with a token."""
        import httpx2

        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120) as http,
            Client(streamable_http_client(self.url, http_client=http), **options) as client,
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
    port = house.url.split(":")[2].split("/")[0]
    given = {"Authorization": f"Bearer {token}"}
    assert house.post(**given).status_code == 200
    for host in (
        "memory.example.org",
        "localhost:80@evil",
        "localhost.evil.com",
        f"localhost:{port}.evil.com",
        "localhost:",
    ):
        assert house.post(Host=host, **given).status_code == 421, host
    for origin in (
        "https://example.org",
        "https://localhost:8765.evil.com",
        "http://localhost@evil.com",
        f"http://127.0.0.1:{port}/x",
        "null",
    ):
        assert house.post(Origin=origin, **given).status_code == 403, origin
    for host in (f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert house.post(Host=host, Origin=f"http://{host}", **given).status_code == 200, host
    assert token not in (Path(house.environ["MEMTUI_CONFIG_DIR"]) / "clients.json").read_text()


def _refused(response: httpx.Response, status: int, words: str) -> None:
    """An error of the protocol that says what to do, and leads no host to a login."""
    assert response.status_code == status, response.text
    told = response.json()
    assert (told["jsonrpc"], told["id"]) == ("2.0", 1)
    assert words in told["error"]["message"]
    assert told["error"]["code"] < 0
    assert "WWW-Authenticate" not in response.headers


@pytest.mark.slow
def test_who_is_refused_is_told_what_to_do_and_gets_no_more_without_a_token(house: House) -> None:
    token = house.run("clients", "add", "codex", "--no-writes")
    given = {"Authorization": f"Bearer {token}"}
    _refused(house.post(), 401, "memtui clients add")
    _refused(house.post(Authorization="Bearer memtui_guess"), 401, "memtui clients add")
    _refused(house.post(Authorization=f"Basic {token}"), 401, "memtui clients add")
    house.run("clients", "pause", "codex")
    _refused(house.post(**given), 403, "memtui clients resume codex")
    _refused(house.post(), 401, "memtui clients add")
    house.run("clients", "resume", "codex")
    assert house.post(**given).status_code == 200
    for name in ("codex", "local"):
        house.run("clients", "revoke", name)
    _refused(house.post(**given), 401, "memtui clients add")
    _refused(house.post(), 401, "memtui clients add")
    for path in (
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/register",
    ):
        assert httpx.get(house.url.removesuffix("/mcp") + path, timeout=120).status_code == 404


@pytest.mark.slow
def test_a_rate_counts_calls_and_nothing_else(house: House) -> None:
    given = {"Authorization": f"Bearer {house.run('clients', 'add', 'slow', '--rate', '2')}", **ACCEPT}
    assert [house.post(**given).status_code for _ in range(6)] == [200] * 6
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert {httpx.post(house.url, json=ping, headers=given, timeout=120).status_code for _ in range(6)} == {
        200
    }
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "memory_list", "arguments": {}},
    }
    answers = [httpx.post(house.url, json=call, headers=given, timeout=120) for _ in range(6)]
    _refused(next(each for each in answers if each.status_code != 200), 429, "2 calls a minute")
    assert answers[0].status_code == 200


@pytest.mark.slow
def test_half_a_character_over_http_is_answered(house: House) -> None:
    given = {
        "Authorization": f"Bearer {house.run('clients', 'add', 'js')}",
        "Content-Type": "application/json",
    }
    body = (
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_search",'
        '"arguments":{"query":"the \\ud83d cat"}}}'
    )
    told = httpx.post(house.url, content=body, headers={**ACCEPT, **given}, timeout=120).json()
    assert told["id"] == 7
    assert "result" in told


def _answered(house: House, *lines: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
    """What a request gets that is written line by line, as no library would."""
    url = httpx.URL(house.url)
    head = [*lines, "Content-Type: application/json", *(f"{name}: {value}" for name, value in ACCEPT.items())]
    head += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    with socket.create_connection((url.host, url.port or 80), timeout=60) as line:
        line.sendall("\r\n".join(head).encode() + body)
        told = b"".join(iter(lambda: line.recv(65536), b""))
    first, _, answer = told.partition(b"\r\n\r\n")
    try:
        return int(first.split()[1]), json.loads(answer)
    except ValueError:
        return int(first.split()[1]), {}


@pytest.mark.slow
def test_no_way_of_writing_a_request_gets_more_rights(house: House) -> None:
    token = house.run("clients", "add", "codex")
    port, bearer = httpx.URL(house.url).port, f"Authorization: Bearer {token}"
    here, body = f"Host: localhost:{port}", json.dumps(ASK).encode()
    assert _answered(house, "POST /mcp HTTP/1.1", here, bearer, body=body)[0] == 200
    for paused in (False, True):
        if paused:
            house.run("clients", "pause", "codex")
        for lines in (
            ("POST /mcp HTTP/1.1", here),
            ("POST /mcp HTTP/1.0", here),
            (f"POST /mcp?token={token}&access_token={token} HTTP/1.1", here),
            ("POST /mcp HTTP/1.1", here, f"Cookie: token={token}; Authorization={token}"),
            ("POST /mcp HTTP/1.1", here, "Authorization: Bearer"),
            ("POST /mcp HTTP/1.1", here, f"Authorization: {token}"),
            ("POST /mcp HTTP/1.1", here, f"X-Authorization: Bearer {token}"),
            ("POST /mcp HTTP/1.1", here, bearer, "Authorization: Bearer memtui_guess"),
            ("POST /mcp/ HTTP/1.1", here),
            ("POST //mcp HTTP/1.1", here),
            ("POST /x/../mcp HTTP/1.1", here),
            ("POST /%6dcp HTTP/1.1", here),
            ("GET /mcp HTTP/1.1", here),
            ("DELETE /mcp HTTP/1.1", here),
            ("PUT /mcp HTTP/1.1", here),
        ):
            status, told = _answered(house, *lines, body=body)
            assert status in (400, 401, 404, 405), lines
            assert "result" not in told
    house.run("clients", "resume", "codex")
    for lines in (
        ("POST /mcp HTTP/1.1", "Host: localhost:80@evil", bearer),
        ("POST /mcp HTTP/1.1", here, "Host: evil.com", bearer),
        ("POST /mcp HTTP/1.1", "Host: evil.com", here, bearer),
        ("POST /mcp HTTP/1.0", bearer),
        ("POST http://evil.com/mcp HTTP/1.1", "Host: evil.com", bearer),
        ("POST /mcp HTTP/1.1", here, "Origin: https://localhost:8765.evil.com", bearer),
        ("POST /mcp HTTP/1.1", here, f"Origin: http://localhost:{port}", "Origin: http://evil.com", bearer),
    ):
        status, told = _answered(house, *lines, body=body)
        assert status in (400, 403, 404, 421), lines
        assert "result" not in told


def _started(house: House, *words: str) -> tuple[int, str, str]:
    """What a first request without a token gets, the token that was said, and all that was said."""
    server = house.start(*words)
    try:
        status = house.post().status_code
    finally:
        server.terminate()
        assert server.stderr is not None
        said = server.stderr.read()  # its buffer may hold more than the line that start has read
        server.wait(120)
    return status, said.partition("memtui_")[2].strip(), said


@pytest.mark.slow
def test_the_first_server_that_writes_makes_a_token_and_says_it_once(tmp_path: Path) -> None:
    house = House(tmp_path)
    status, token, _ = _started(house)
    assert (status, token) == (200, "")  # it only reads, and nobody was let in yet
    status, token, _ = _started(house, "--rw")
    assert status == 401
    assert token
    listed = json.loads(house.run("clients", "--json", "--store", str(house.store)))["clients"]
    assert [each["name"] for each in listed] == ["local"]
    assert _started(house, "--rw")[:2] == (401, "")
    server = house.start("--rw")
    assert house.post(Authorization=f"Bearer memtui_{token}").status_code == 200
    server.terminate()
    server.communicate(timeout=120)
    house.run("clients", "revoke", "local")
    assert _started(house, "--rw")[:2] == (401, "")
    assert _started(house)[:2] == (401, "")  # a revoked client gets no more without its token


@pytest.mark.slow
async def test_an_owner_allows_a_client_to_update_and_forget_without_a_question(house: House) -> None:
    name_of = {"able": ["--allow", "update"], "bare": []}
    tokens = {name: house.run("clients", "add", name, *words) for name, words in name_of.items()}
    for name, token in tokens.items():
        async with house.client(token) as client:
            made = await answer(client, "memory_store", text=f"{name.title()} keeps the bicycle in the hall")
            text = f"{name.title()} keeps the bicycle in the cellar"
            changed = await answer(client, "memory_update", id=made["id"], text=text)
            assert (changed["action"] == "preview") == (name == "bare")
            gone = await answer(client, "memory_forget", id=changed["id"])
            assert gone["action"] == "preview"  # only what was allowed
    entries = json.loads(house.run("journal", "--json", "--store", str(house.store)))["entries"]
    by_right = {each["client"]: each["allowed_by"] for each in entries if each.get("allowed_by")}
    assert by_right == {"mcp:able": "--allow update"}


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
    async with house.client(house.token_of("old"), mode="legacy") as client:
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
    for host, named in [(host, named) for host in HTTP_HOSTS for named in ([], ["--client", "codex"])]:
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
        assert headers  # a server that writes asks for a token
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
            assert home == "agent:codex"


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
