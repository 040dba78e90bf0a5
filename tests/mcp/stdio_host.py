"""A host on standard input and output that writes bytes of its own and reads the answers as they are."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "host", "version": "1"},
    },
}


def _refuse(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


class StdioHost:
    """A server's process, and what it says."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        self.server = server

    def write(self, *lines: bytes | dict[str, Any]) -> None:
        """Write lines, one end of line after each."""
        assert self.server.stdin is not None
        for line in lines:
            self.server.stdin.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        self.server.stdin.flush()

    def read(self, seconds: float = 60) -> dict[str, Any]:
        """The next message; fails where none comes."""
        assert self.server.stdout is not None
        assert select.select([self.server.stdout], [], [], seconds)[0], "nothing was answered"
        line = self.server.stdout.readline()
        assert line, "the server ended"
        return dict(json.loads(line, parse_constant=_refuse))

    def ask(self, *lines: bytes | dict[str, Any]) -> dict[str, Any]:
        """Write lines, and return the next message."""
        self.write(*lines)
        return self.read()

    def begin(self) -> None:
        """Shake hands."""
        assert "result" in self.ask(INITIALIZE)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})


@contextmanager
def stdio_host(store: Path, *words: str) -> Iterator[StdioHost]:
    """A host of a server that has just been started."""
    command = [sys.executable, "-m", "memtui", "mcp", "--store", str(store), *words]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=ROOT,
        env=dict(os.environ),
    ) as server:
        try:
            yield StdioHost(server)
        finally:
            server.kill()
