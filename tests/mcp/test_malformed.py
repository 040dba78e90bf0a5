"""Bytes that are no message: each gets the protocol's answer over both ways, and the server goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtui.mcp.messages import DEEPEST, MOST_BYTES, Fault, read_message
from tests.conftest import ROOT
from tests.mcp.stdio_host import INITIALIZE, StdioHost, stdio_host

PARSE, REQUEST, PARAMS = -32700, -32600, -32602


def call(id: Any = 7, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/list", **members}


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def text(**members: Any) -> bytes:
    return json.dumps(call(**members)).encode()


MALFORMED = {
    "garbage": (b"hello", PARSE, None),
    "half a message": (b'{"jsonrpc": "2.0", "id": 7', PARSE, None),
    "no JSON number": (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": NaN}}', PARSE, None),
    "UTF-16": (json.dumps(call()).encode("utf-16"), PARSE, None),
    "invalid UTF-8": (text(params={"a": "x"}).replace(b'"x"', b'"\xff"'), PARSE, 7),
    "a surrogate as bytes": (text(params={"a": "x"}).replace(b'"x"', b'"\xed\xa0\xbd"'), PARSE, 7),
    "batch": (json.dumps([call(), call(8)]).encode(), REQUEST, None),
    "empty batch": (b"[]", REQUEST, None),
    "a text": (b'"tools/list"', REQUEST, None),
    "a number": (b"7", REQUEST, None),
    "null": (b"null", REQUEST, None),
    "no version": (b'{"id": 7, "method": "tools/list"}', REQUEST, 7),
    "another version": (text(jsonrpc="1.0"), REQUEST, 7),
    "method of a wrong kind": (text(method=5), REQUEST, 7),
    "no method": (b'{"jsonrpc": "2.0", "id": 7}', REQUEST, 7),
    "id of a wrong kind": (text(id={"a": 1}), REQUEST, None),
    "no id": (text(id=None), REQUEST, None),
    "params a list": (text(params=[1]), PARAMS, 7),
    "params a text": (text(params="x"), PARAMS, 7),
    "params of a call of a wrong kind": (text(method="tools/call", params={"name": 5}), PARAMS, 7),
    "arguments of a wrong kind": (
        text(method="tools/call", params={"name": "memory_list", "arguments": "x"}),
        PARAMS,
        7,
    ),
    "arguments that are a text of another kind": (
        text(method="tools/call", params={"name": "memory_list", "arguments": "[1]"}),
        PARAMS,
        7,
    ),
    "arguments that are a list": (
        text(method="tools/call", params={"name": "memory_list", "arguments": ["a"]}),
        PARAMS,
        7,
    ),
    "arguments nested in a text": (
        text(
            method="tools/call", params={"name": "memory_list", "arguments": json.dumps({"a": nested(300)})}
        ),
        PARAMS,
        7,
    ),
    "a cursor of a wrong kind": (text(params={"cursor": 5}), PARAMS, 7),
    "depth 300": (text(params={"a": nested(300)}), REQUEST, 7),
    "depth 100,000": (b"[" * 100_000 + b"]" * 100_000, REQUEST, None),
    "a huge line, its id first": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "' + b"x" * MOST_BYTES + b'"}}',
        REQUEST,
        7,
    ),
    "a huge line, its id last": (
        b'{"method": "ping", "params": {"id": "m", "a": "'
        + b"x" * MOST_BYTES
        + b'"}, "jsonrpc": "2.0", "id": "k"}',
        REQUEST,
        "k",
    ),
}

WELL = {
    "a byte-order mark": b"\xef\xbb\xbf" + text(),
    "half a character": text(params={"_meta": {"note": "\ud83d"}}),
    "params null": text(params=None),
    "deep enough": text(params={"_meta": {"a": nested(DEEPEST - 5)}}),
}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("malformed") / "store"
    subprocess.run([sys.executable, "-m", "memtui", "new", str(store)], cwd=ROOT, check=True)
    return store


@pytest.fixture(scope="module")
def host(empty: Path) -> Iterator[StdioHost]:
    with stdio_host(empty) as host:
        host.begin()
        yield host


@pytest.fixture(scope="module")
def address(empty: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "memtui", "mcp", "--store", str(empty), "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stderr is not None
        try:
            yield server.stderr.readline().split()[-1]
            server.send_signal(signal.SIGINT)
            assert "Traceback" not in server.stderr.read()
        finally:
            server.kill()


def posted(address: str, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for _ in range(100):
        try:
            return httpx.post(address, content=body, headers=headers, timeout=60)
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("the server does not listen")


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_line_is_answered_and_the_server_goes_on(name: str, host: StdioHost) -> None:
    line, code, id = MALFORMED[name]
    told = host.ask(line)
    assert (told["error"]["code"], told["id"]) == (code, id), told
    assert host.ask(call("after"))["id"] == "after"


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_body_gets_the_same_answer_over_http(name: str, address: str) -> None:
    body, code, id = MALFORMED[name]
    response = posted(address, body)
    told = response.json()
    # what only the SDK refuses comes as it answers every request, with 200
    assert response.status_code in (400, 413) or (response.status_code, code) == (200, PARAMS), told
    assert (told["error"]["code"], told["id"]) == (code, id), told
    assert posted(address, text()).status_code == 200


@pytest.mark.parametrize("name", WELL)
def test_an_unusual_message_is_served_over_both_ways(name: str, host: StdioHost, address: str) -> None:
    assert "tools" in host.ask(WELL[name])["result"]
    assert "tools" in posted(address, WELL[name]).json()["result"]


def test_what_needs_no_answer_gets_none(host: StdioHost) -> None:
    host.write(b"", b"  ", b'{"jsonrpc": "2.0", "method": "notifications/x", "params": [1]}')
    host.write({"jsonrpc": "2.0", "id": 99, "result": {}}, {"jsonrpc": "2.0", "method": "notifications/y"})
    assert host.ask(call("next"))["id"] == "next"


def test_a_malformed_line_is_answered_before_the_server_is_loaded(empty: Path) -> None:
    with stdio_host(empty) as host:
        assert host.ask(b"hello")["error"]["code"] == PARSE
        host.begin()
        assert host.ask(call())["id"] == 7
        host.write(text(id="last"))  # a last line without its end is a line, too
        assert host.read()["id"] == "last"


def test_a_message_reads_as_it_is() -> None:
    assert read_message(text()) == call()
    assert read_message(json.dumps(INITIALIZE).encode()) == INITIALIZE
    assert isinstance(read_message(b'{"jsonrpc": "2.0", "method": "a", "params": 1}'), Fault)


# ---------------------------------------------------------------------- ends


@pytest.mark.parametrize("begun", [False, True], ids=["loading", "waiting"])
def test_an_interrupt_ends_the_server_though_its_input_is_open(begun: bool, empty: Path) -> None:
    with stdio_host(empty) as host:
        assert "result" in host.ask(INITIALIZE)
        if begun:
            assert "result" in host.ask(call())
        host.server.send_signal(signal.SIGINT)
        assert host.server.wait(10) == 130
        assert host.server.stderr is not None
        assert b"Traceback" not in host.server.stderr.read()


def test_an_output_that_nobody_reads_ends_the_server_without_a_traceback(empty: Path) -> None:
    with stdio_host(empty) as host:
        host.begin()
        assert "result" in host.ask(call())
        assert host.server.stdout is not None
        host.server.stdout.close()
        host.write(call(8))
        assert host.server.wait(30) == 0
        assert host.server.stderr is not None
        assert host.server.stderr.read() == b""


def test_an_output_that_is_closed_from_the_start_leaves_no_traceback(empty: Path) -> None:
    command = f'exec "{sys.executable}" -m memtui mcp --store "{empty}" >&-'
    done = subprocess.run(
        ["sh", "-c", command],
        input=json.dumps(INITIALIZE).encode() + b"\n" + text() + b"\n",
        stderr=subprocess.PIPE,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_calls_that_came_before_the_end_of_the_input_are_answered(empty: Path) -> None:
    lines = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(1),
        call(2, method="tools/call", params={"name": "memory_list", "arguments": {}}),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "mcp", "--store", str(empty)],
        input="\n".join(map(json.dumps, lines)).encode(),
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {0, 1, 2}, done.stderr


def test_a_body_that_breaks_off_leaves_no_traceback(address: str) -> None:
    import socket

    assert posted(address, text()).status_code == 200
    host, _, port = address.split("/")[2].rpartition(":")
    for body in (b"", b'{"jsonrpc"'):
        with socket.create_connection((host, int(port))) as line:
            head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            line.sendall(f"{head}Content-Length: 500\r\n\r\n".encode() + body)
    assert posted(address, text()).status_code == 200  # the fixture looks at what was said
