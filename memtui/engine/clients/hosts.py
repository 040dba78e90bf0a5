"""What to paste into a host's configuration, so that it starts the server."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence

from memtui.engine.core.errors import UsageError

HOSTS = (
    "claude",
    "codex",
    "cursor",
    "vscode",
    "openclaw",
    "claude-desktop",
    "opencode",
    "gemini",
    "qwen",
    "copilot",
    "cline",
    "continue",
)

HTTP_HOSTS = HOSTS[:5]
"""Those whose form for a server over HTTP is known."""

WHERE = {
    "claude": "in .mcp.json of the project, or under mcpServers in ~/.claude.json",
    "codex": "in ~/.codex/config.toml",
    "cursor": "in .cursor/mcp.json",
    "vscode": "in .vscode/mcp.json",
    "openclaw": "in openclaw.json",
    "claude-desktop": "in claude_desktop_config.json",
    "opencode": "in ~/.config/opencode/opencode.json",
    "gemini": "in ~/.gemini/settings.json",
    "qwen": "in ~/.qwen/settings.json",
    "copilot": "in ~/.copilot/mcp-config.json",
    "cline": "in cline_mcp_settings.json",
    "continue": "in ~/.continue/config.yaml",
}

START_S = 60
"""Seconds that a host waits for the server, where its own limit is shorter on a busy machine."""


TOKEN = "MEMTUI_TOKEN"
"""The variable that a host takes the token from: the token itself is written into no file."""


def host_config_http(host: str, url: str, *, token: bool) -> str:
    """The configuration of one of `HTTP_HOSTS` that calls the server at `url`; with `token` the host sends `TOKEN`.

    Raises UsageError for another host.
    """
    if host not in HTTP_HOSTS:
        raise UsageError(
            f"What {host} needs for a server over HTTP is not known.",
            fix="Leave --http out: it starts the server itself.",
        )
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
        lines = ["[mcp_servers.memtui]", f"command = {json.dumps(command)}", f"args = [{quoted}]"]
        return "\n".join([*lines, f"startup_timeout_sec = {START_S}", "required = true"])
    if host == "opencode":
        local = {
            "type": "local",
            "command": [command, *arguments],
            "enabled": True,
            "timeout": START_S * 1000,
        }
        return json.dumps({"mcp": {"memtui": local}}, indent=2)
    if host == "continue":
        listed = "\n".join(f"      - {json.dumps(each)}" for each in arguments)
        return f"mcpServers:\n  - name: memtui\n    command: {json.dumps(command)}\n    args:\n{listed}"
    if host == "copilot":
        return json.dumps({"mcpServers": {"memtui": {"type": "local", **entry, "tools": ["*"]}}}, indent=2)
    if host == "cline":
        return json.dumps({"mcpServers": {"memtui": {**entry, "timeout": START_S}}}, indent=2)
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
