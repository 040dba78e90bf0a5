"""Services on this machine that are none of objects: a login page, another program, a gateway with a fault."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in</body></html>"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to every request."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """The host and port of a service that gives this answer; what it sends elsewhere on itself is the login page."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def take(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = Answer(200, LOGIN) if self.path == "/login" else answer
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(given.body)

    for verb in ("GET", "PUT", "POST", "DELETE", "HEAD"):
        setattr(Handler, f"do_{verb}", Handler.take)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    running.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        running.join()


@contextmanager
def not_http() -> Iterator[str]:
    """The host and port of a program that greets as a secure shell does."""
    listening = socket.create_server(("127.0.0.1", 0))

    def greet() -> None:
        while True:
            try:
                came, _ = listening.accept()
            except OSError:
                return
            with came:
                came.recv(4_096)
                came.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

    running = threading.Thread(target=greet, daemon=True)
    running.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        running.join()
