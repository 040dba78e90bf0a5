"""The server as a host's file names it: started or called as the host would, and asked for its tools."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import one_line
from memtui.engine.hosts.formats import read_text
from memtui.engine.hosts.piece import value_in
from memtui.engine.hosts.servers import NAME, START_S, TOKEN, server_place
from memtui.engine.hosts.written import read_file

PROTOCOL = "2025-06-18"
"""What most hosts speak today."""

MOST_PAGES = 20
"""Pages of tools that are asked for."""

_VARIABLE = re.compile(r"\$?\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")

Outcome = Literal["answered", "failed", "disabled", "not connected", "no file", "unreadable"]


@dataclass(frozen=True, slots=True)
class CheckedHost:
    """What became of one host's server: whether it answered, its tools, else why not and what to do."""

    host: str
    file: Path
    outcome: Outcome
    tools: tuple[str, ...] = ()
    server: str = ""
    """Its name and version."""
    ms: float = 0.0
    why: str = ""
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "host": self.host,
            "file": str(self.file),
            "outcome": self.outcome,
            "tools": list(self.tools),
            "server": self.server,
            "ms": self.ms,
            "why": self.why,
            "fix": self.fix,
        }


def entry_of(host: str, path: Path) -> dict[str, Any] | None:
    """The entry of the server in a host's file; None where it has none, or the file is not there. MemtuiError."""
    content = read_file(path)
    if content is None:
        return None
    place = server_place(host)
    found = value_in(read_text(path, content)[1], place)
    if place[-1] != NAME:
        items = found if isinstance(found, list) else []
        found = next((item for item in items if isinstance(item, dict) and item.get("name") == NAME), None)
    return found if isinstance(found, dict) else None


def check_host(
    host: str, path: Path, environ: Mapping[str, str], folder: Path, *, timeout_s: float = START_S
) -> CheckedHost:
    """Start (or call) what the file of a host says and list its tools; `folder` is where the host would start it."""
    try:
        entry = entry_of(host, path)
    except MemtuiError as error:
        return CheckedHost(host, path, "unreadable", why=error.message, fix=error.fix)
    if entry is None:
        outcome: Outcome = "not connected" if path.exists() else "no file"
        fix = f"Connect it: memtui connect {host}."
        return CheckedHost(host, path, outcome, why=f"{path} has no entry {NAME}.", fix=fix)
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return CheckedHost(
            host, path, "disabled", why=f"The entry {NAME} is disabled.", fix=f"Enable it in {path}."
        )
    began = monotonic()
    try:
        server, tools = _asked(entry, environ, folder, timeout_s)
    except MemtuiError as error:
        return CheckedHost(host, path, "failed", why=error.message, fix=error.fix)
    return CheckedHost(host, path, "answered", tools, server, round((monotonic() - began) * 1000, 1))


def _asked(
    entry: Mapping[str, Any], environ: Mapping[str, str], folder: Path, timeout_s: float
) -> tuple[str, tuple[str, ...]]:
    def filled(text: str) -> str:
        text = text.replace("${workspaceFolder}", str(folder)).replace(
            "${input:memtui-token}", f"${{{TOKEN}}}"
        )

        def value(match: re.Match[str]) -> str:
            known = environ.get(match[1], match[2])
            if known is None:
                raise MemtuiError(
                    f"The variable {match[1]}, which the entry names, is not set here.",
                    fix=f"Set it and try again: export {match[1]}=...",
                )
            return known

        return _VARIABLE.sub(value, text)

    url = next(
        (entry[name] for name in ("url", "httpUrl", "serverUrl") if isinstance(entry.get(name), str)), ""
    )
    if url:
        headers = {name: filled(str(value)) for name, value in _mapping(entry.get("headers")).items()}
        variable = entry.get("bearer_token_env_var")
        if isinstance(variable, str):
            headers["Authorization"] = filled(f"Bearer ${{{variable}}}")
        return _asked_http(filled(url), headers, timeout_s)
    command = entry.get("command")
    given = command if isinstance(command, list) else [command, *(entry.get("args") or ())]
    if not given or not all(isinstance(word, str) for word in given):
        raise MemtuiError(
            "The entry names no command and no address.", fix="Write it anew: memtui connect HOST --yes."
        )
    own = {**_mapping(entry.get("environment")), **_mapping(entry.get("env"))}
    place = entry.get("cwd")
    return _asked_process(
        [filled(word) for word in given],
        {**environ, **{name: filled(str(value)) for name, value in own.items()}},
        folder / filled(place) if isinstance(place, str) else folder,
        timeout_s,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tools_by(
    ask: Callable[[str, dict[str, Any]], Mapping[str, Any]], told: Callable[[], None]
) -> tuple[str, tuple[str, ...]]:
    """Shake hands and list the tools by a way to ask; `told` sends that the greeting is over."""
    begun = ask(
        "initialize",
        {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "memtui connect", "version": "1"},
        },
    )
    told()
    info = _mapping(begun.get("serverInfo"))
    names: list[str] = []
    cursor: Any = None
    for _ in range(MOST_PAGES):
        page = ask("tools/list", {} if cursor is None else {"cursor": cursor})
        listed = page.get("tools")
        names += [str(_mapping(tool).get("name")) for tool in (listed if isinstance(listed, list) else ())]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    return one_line(f"{info.get('name', '')} {info.get('version', '')}".strip()), tuple(names)


def _result_of(message: Mapping[str, Any], method: str) -> Mapping[str, Any]:
    """The result in an answer. MemtuiError where it is an error."""
    result = message.get("result")
    if isinstance(result, Mapping):
        return result
    said = _mapping(message.get("error")).get("message") or "an answer that is none"
    raise MemtuiError(f"The server refused {method}: {_quoted(said)}", fix="Correct that and check again.")


def _quoted(text: Any) -> str:
    return mask(one_line(str(text)))[0][:300]


def _asked_process(
    words: Sequence[str], environ: Mapping[str, str], folder: Path, timeout_s: float
) -> tuple[str, tuple[str, ...]]:
    try:
        server = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environ),
            start_new_session=True,
        )
    except OSError as error:
        raise MemtuiError(
            f"{words[0]} cannot be started: {error.strerror}.",
            fix="Write its whole path into the file: memtui connect HOST --yes.",
        ) from error
    heard: queue.Queue[bytes] = queue.Queue()
    said: list[bytes] = []
    readers = [
        threading.Thread(target=_read, args=(server.stdout, heard.put), daemon=True),
        threading.Thread(target=_read, args=(server.stderr, said.append), daemon=True),
    ]
    for reader in readers:
        reader.start()
    until = monotonic() + timeout_s
    number = 0

    def send(message: Mapping[str, Any]) -> None:
        assert server.stdin is not None
        try:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()
        except OSError as error:
            raise _ended(server, said, readers[1]) from error

    def ask(method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        nonlocal number
        number += 1
        send({"id": number, "method": method, "params": params})
        while True:
            try:
                line = heard.get(timeout=max(0.0, until - monotonic()))
            except queue.Empty as error:
                raise MemtuiError(
                    f"The server did not answer {method} within {timeout_s:g} seconds.",
                    fix=f"Start it by hand and look: {_quoted(' '.join(words))}",
                ) from error
            if not line:
                raise _ended(server, said, readers[1])
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue  # no line of the protocol
            if isinstance(message, dict) and message.get("id") == number and "method" not in message:
                return _result_of(message, method)

    try:
        return _tools_by(ask, lambda: send({"method": "notifications/initialized"}))
    finally:
        _end(server)


def _read(stream: Any, put: Callable[[bytes], Any]) -> None:
    for line in iter(stream.readline, b""):
        put(line)
    put(b"")


def _ended(server: subprocess.Popen[bytes], said: Sequence[bytes], reader: threading.Thread) -> MemtuiError:
    """Why a server is gone, in its own last line, which `reader` may still be taking."""
    with suppress(subprocess.TimeoutExpired):
        server.wait(5)
    reader.join(2)
    lines = [line for line in b"".join(said).decode("utf-8", "replace").splitlines() if line.strip()]
    why = f": {_quoted(lines[-1])}" if lines else "."
    return MemtuiError(
        f"The server ended with {server.returncode} before it answered{why}",
        fix="Correct that and check again.",
    )


def _end(server: subprocess.Popen[bytes]) -> None:
    """End a server as hosts do: its input ends, then it gets SIGTERM, then it is killed."""
    with suppress(OSError):
        if server.stdin is not None:
            server.stdin.close()
    for ask in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if ask is not None:
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(server.pid, ask)
                else:
                    server.terminate()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            continue
        break


def _asked_http(url: str, headers: Mapping[str, str], timeout_s: float) -> tuple[str, tuple[str, ...]]:
    import httpx

    sent = {"Accept": "application/json, text/event-stream", **headers}
    number = 0
    with httpx.Client(timeout=timeout_s) as client:

        def post(message: Mapping[str, Any]) -> httpx.Response:
            try:
                return client.post(url, json={"jsonrpc": "2.0", **message}, headers=sent)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise MemtuiError(
                    f"{url} does not answer: {_quoted(error)}",
                    fix="Start the server: memtui mcp --http PORT.",
                ) from error

        def ask(method: str, params: dict[str, Any]) -> Mapping[str, Any]:
            nonlocal number
            number += 1
            answer = post({"id": number, "method": method, "params": params})
            message = next((message for message in _messages(answer) if message.get("id") == number), None)
            if message is None:
                raise MemtuiError(
                    f"{url} answered {method} with {answer.status_code} and no message of the protocol.",
                    fix="Look at the address in the file: a server of memtui has the path /mcp.",
                )
            if session := answer.headers.get("mcp-session-id"):
                sent["Mcp-Session-Id"] = session
            return _result_of(message, method)

        def told() -> None:
            sent["MCP-Protocol-Version"] = PROTOCOL
            post({"method": "notifications/initialized"})

        try:
            return _tools_by(ask, told)
        finally:
            if "Mcp-Session-Id" in sent:
                with suppress(httpx.HTTPError):
                    client.delete(url, headers=sent)


def _messages(answer: Any) -> list[dict[str, Any]]:
    """The messages in an answer: one as JSON, or several as events."""
    text = answer.text
    parts = [text]
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        parts = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    found = []
    for part in parts:
        with suppress(ValueError, RecursionError):
            found.append(json.loads(part))
    return [each for each in found if isinstance(each, dict)]
