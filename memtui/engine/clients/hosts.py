"""What to paste into a host's configuration, so that it starts the server."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence

from memtui.engine.core.errors import UsageError

HOSTS = ("claude", "codex", "cursor", "vscode", "openclaw")

WHERE = {
    "claude": "in .mcp.json of the project, or under mcpServers in ~/.claude.json",
    "codex": "in ~/.codex/config.toml",
    "cursor": "in .cursor/mcp.json",
    "vscode": "in .vscode/mcp.json",
    "openclaw": "in openclaw.json",
}


TOKEN = "MEMTUI_TOKEN"
"""The variable that a host takes the token from: the token itself is written into no file."""


def host_config_http(host: str, url: str, *, token: bool) -> str:
    """The configuration of one of `HOSTS` that calls the server at `url`; with `token` the host sends `TOKEN`."""
    if host == "codex":
        lines = ["[mcp_servers.memtui]", f"url = {json.dumps(url)}"]
        return "\n".join([*lines, *([f"bearer_token_env_var = {json.dumps(TOKEN)}"] if token else [])])

    def entry(variable: str, **kind: str) -> dict[str, object]:
        sent = {"headers": {"Authorization": f"Bearer {variable}"}} if token else {}
        return {**kind, "url": url, **sent}

    if host == "vscode":
        asked = {
            "type": "promptString",
            "id": "memtui-token",
            "description": "memtui token",
            "password": True,
        }
        inputs = {"inputs": [asked]} if token else {}
        server = entry("${input:memtui-token}", type="http")
        return json.dumps({**inputs, "servers": {"memtui": server}}, indent=2)
    if host == "openclaw":
        server = entry(f"${{{TOKEN}}}", transport="streamable-http")
        return json.dumps({"mcp": {"servers": {"memtui": server}}}, indent=2)
    if host == "cursor":
        return json.dumps({"mcpServers": {"memtui": entry(f"${{env:{TOKEN}}}")}}, indent=2)
    return json.dumps({"mcpServers": {"memtui": entry(f"${{{TOKEN}}}", type="http")}}, indent=2)


def host_config(host: str, command: str, arguments: Sequence[str]) -> str:
    """The configuration of one of `HOSTS` that starts `command` with `arguments`."""
    entry = {"command": command, "args": list(arguments)}
    if host == "codex":
        quoted = ", ".join(json.dumps(each) for each in arguments)
        return f"[mcp_servers.memtui]\ncommand = {json.dumps(command)}\nargs = [{quoted}]"
    if host == "vscode":
        return json.dumps({"servers": {"memtui": {"type": "stdio", **entry}}}, indent=2)
    if host == "openclaw":
        return json.dumps({"mcp": {"servers": {"memtui": entry}}}, indent=2)
    return json.dumps({"mcpServers": {"memtui": entry}}, indent=2)


def place_of(text: str) -> tuple[str, int]:
    """Host and port of `PORT` or `HOST:PORT`. Raises UsageError."""
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or not 0 <= int(port) < 65_536:
        raise UsageError(f"--http cannot read {text!r}.", fix="Write PORT or HOST:PORT, such as 8765.")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
