"""The recall phase of today's memory-lancedb against what the real host's model server received."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import json5
import pytest

from memtui.cli.main import run


@pytest.fixture(scope="module")
def fake(shared: Path) -> ModuleType:
    """The part of the recorder's server that makes vectors; loaded whole, it would serve."""
    source = (shared / "fixtures" / "openclaw" / "tools" / "fake_model.py").read_text("utf-8")
    module = ModuleType("fake_model")
    part = source[source.index("STOP = set(") : source.index("def text_of(")]
    exec("import hashlib, math, re, struct\nDIM, SCALE = 64, 1.0\n" + part, module.__dict__)
    return module


@pytest.fixture
def service(fake: ModuleType, shared: Path) -> Iterator[str]:
    """The recorded homes' embedding service, on loopback."""
    truth = json.loads((shared / "fixtures" / "openclaw" / "lancedb.expected.json").read_text("utf-8"))[
        "embedding"
    ]
    fake.SCALE = truth["norm"]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            data = [
                {"index": at, "embedding": fake.embed(text, truth["dim"])} for at, text in enumerate(texts)
            ]
            body = json.dumps({"data": data, "model": asked["model"]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def test_the_block_holds_the_rows_that_the_agent_got(
    service: str,
    fake: ModuleType,
    shared: Path,
    unpack: Callable[[Path], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = shared / "fixtures" / "openclaw"
    home = unpack(folder / "lancedb.tar.gz")
    expected = json.loads((folder / "lancedb.expected.json").read_text("utf-8"))
    file = home / ".openclaw" / "openclaw.json"
    tree = json5.loads(file.read_text())
    tree["plugins"]["entries"]["memory-lancedb"]["config"]["embedding"]["baseUrl"] = service
    file.write_text(json.dumps(tree))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home.parent / "state"))
    rows = expected["stores"][0]["rows"]
    compared = recorded = 0
    for turn in expected["turns"]:
        if not turn["injected"] or not isinstance(turn["question"], str) or len(turn["question"]) > 300:
            continue
        asked = fake.embed(turn["question"], expected["embedding"]["dim"])
        scored = sorted(
            (
                (
                    1 / (1 + sum((a - b) ** 2 for a, b in zip(asked, fake.embed(row["text"]), strict=True))),
                    row["id"],
                )
                for row in rows
                if row["agentId"] == turn["agent"]
            ),
            reverse=True,
        )
        wanted = [id for score, id in scored if score >= 0.3][:3]
        assert run(["inject", turn["question"], "--as", turn["agent"], "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        got = told["ids"]
        assert got == wanted, turn["question"]
        compared += 1
        recorded += got == [id for line in turn["injected"] for id in line["ids"]]
    assert compared >= 10
    assert recorded >= 5, "of these turns the store is today what it was then"
