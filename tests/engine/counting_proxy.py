"""A proxy before a service on this machine: it counts requests and bytes, and is as slow and unsteady as it is told."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


HELD = 100_000
"""Bytes of a read that waits: larger than those of a manifest or a first page."""


def _asked(given: str | None) -> int:
    """How many bytes a request asks for; 0 for the whole of something, which is small here."""
    first, _, last = (given or "").removeprefix("bytes=").partition("-")
    return int(last) - int(first) + 1 if first and last else 0


@dataclass(frozen=True, slots=True)
class Passed:
    """One request that came through."""

    method: str
    path: str
    bytes: int
    """Of the answer's body."""


@dataclass(slots=True)
class CountingProxy:
    """What came through, and how the way is; all of it may be changed while it runs."""

    endpoint: str
    delay_s: float = 0.0
    """Laid on every request."""
    failing: float = 0.0
    """Share of requests that are answered 503: with .01 every hundredth, so that no run is luckier than another."""
    cutting: float = 0.0
    """Share of answers whose connection is cut in the middle of the body, in the same way."""
    held: threading.Event | None = None
    """Where it is given, reads of more than `least` bytes wait until it is set."""
    least: int = HELD
    """-1: every request waits."""
    page: bytes = b""
    """Where it is given, every request is answered 404 with it, as where another program stands now."""
    holds: str = ""
    """A part of the addresses of objects whose writing waits instead."""
    waiting: int = 0
    """Requests that were held so far."""
    passed: list[Passed] = field(default_factory=list)
    asked: int = 0
    """Requests that came so far."""
    refused: int = 0
    """How many of them were answered 503."""

    def since(self, mark: int) -> list[Passed]:
        """The requests after the first `mark`."""
        return self.passed[mark:]


def _turn(count: int, share: float) -> bool:
    """Whether it is the turn of a request that belongs to this share of all."""
    return share > 0 and count % round(1 / share) == 0


@contextmanager
def counting_proxy(service: str) -> Iterator[CountingProxy]:
    """A proxy before `service` (http://HOST:PORT), stopped at the end."""
    behind = urlsplit(service)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if proxy.delay_s:
                time.sleep(proxy.delay_s)
            written = self.command == "PUT" and proxy.holds in self.path
            large = _asked(self.headers.get("Range")) > proxy.least
            if proxy.held is not None and (written if proxy.holds else large):
                proxy.waiting += 1
                proxy.held.wait(120)
            with lock:
                proxy.asked += 1
                fails, cuts = _turn(proxy.asked, proxy.failing), _turn(proxy.asked + 7, proxy.cutting)
                proxy.refused += fails
            if proxy.page:
                self.send_response(404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(proxy.page)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(proxy.page)
                return
            if fails:
                with lock:
                    proxy.passed.append(Passed(self.command, self.path, 0))
                self.send_response(503)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            there = http.client.HTTPConnection(behind.hostname or "", behind.port, timeout=120)
            try:
                there.request(self.command, self.path, body, dict(self.headers))
                answer = there.getresponse()
                data = answer.read()
            finally:
                there.close()
            with lock:
                proxy.passed.append(Passed(self.command, self.path, len(data)))
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            if self.command == "HEAD":
                return
            if cuts and len(data) > 1:
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
                return
            self.wfile.write(data)

    for verb in ("GET", "PUT", "POST", "DELETE", "HEAD"):
        setattr(Handler, f"do_{verb}", Handler.take)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = CountingProxy(f"http://127.0.0.1:{server.server_port}")
    running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    running.start()
    try:
        yield proxy
    finally:
        if proxy.held is not None:
            proxy.held.set()
        server.shutdown()
        server.server_close()
        running.join()
