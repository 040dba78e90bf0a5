"""The app in a browser: started for real, its page fetched, its socket driven; and kept from everybody else."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import aiohttp
import httpx
import pytest

from memtui.cli.main import run
from memtui.serving import is_loopback
from tests.engine.pro_store import row, write_store

PATIENCE_S = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that memtui serve prints, on a store of its own."""
    home = tmp_path_factory.mktemp("serve")
    store = write_store(home / "store", [row("row-1", "The gateway listens on 8443.", (1.0, 0.0))], dims=2)
    environ = {
        **os.environ,
        "HOME": str(home),
        "MEMTUI_STATE_DIR": str(home / "state"),
        "MEMTUI_CONFIG_DIR": str(home / "config"),
    }
    words = [sys.executable, "-m", "memtui", "serve", str(store), "--port", str(free_port()), "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environ, cwd=home, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


async def page(url: str) -> httpx.Response:
    """The page, as soon as somebody listens."""
    async with httpx.AsyncClient() as client, asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await client.get(url)
            except httpx.ConnectError:
                await asyncio.sleep(0.05)


async def test_the_page_opens_with_the_key_only_and_asks_no_other_site(served):
    assert (await page(served)).status_code == 200
    html = (await page(served)).text
    assert "textual-terminal" in html
    assert "googleapis" not in html
    assert (await page(served.partition("?")[0])).status_code == 403
    assert (await page(served[:-1] + ("a" if served[-1] != "a" else "b"))).status_code == 403


async def test_the_socket_runs_the_app_for_our_page_and_for_no_other(served):
    await page(served)
    origin = served.partition("/?")[0]
    socket_url = f"{origin}/ws?width=100&height=30"
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        for headers in ({"Origin": origin}, {}):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await client.ws_connect(socket_url, headers=headers)
        async with client.get(served):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(socket_url, headers={"Origin": "http://elsewhere.example"})
        drawn = b""
        async with (
            client.ws_connect(socket_url, headers={"Origin": origin}) as ws,
            asyncio.timeout(PATIENCE_S),
        ):
            asked = False
            async for message in ws:
                drawn += message.data if isinstance(message.data, bytes) else b""
                if b"memories" in drawn and not asked:
                    asked = True
                    await ws.send_str(json.dumps(["stdin", "2"]))
                if b"[2 Browse]" in drawn and b"8443" in drawn:
                    break
        assert b"8443" in drawn


def test_other_machines_are_kept_out_unless_one_says_so(capsys):
    assert run(["serve", "--host", "0.0.0.0"]) == 3
    assert "tunnel" in capsys.readouterr().err
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "10.0.0.1", "x")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_port_that_is_taken_and_one_that_is_none_are_said(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run(["serve", "--port", str(taken.getsockname()[1])]) == 1
    assert "Choose another with --port." in capsys.readouterr().err
    assert run(["serve", "--port", "70000"]) == 2


@pytest.mark.slow
def test_without_the_package_there_is_a_sentence_that_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    assert run(["serve"]) == 1
    assert "pip install 'memtui[serve]'" in capsys.readouterr().err
