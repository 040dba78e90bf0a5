"""What a host reads in its configuration to start the server, or to call it over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.hosts.piece import ConfigPiece, put_value

NAME = "memtui"
"""What the server is called in a host's configuration."""

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

_PLACES = {
    "codex": ("mcp_servers", NAME),
    "vscode": ("servers", NAME),
    "openclaw": ("mcp", "servers", NAME),
    "opencode": ("mcp", NAME),
    "continue": ("mcpServers",),
}
"""The keys under which a host has its servers, where they are not `mcpServers.memtui`."""

_OURS = (
    "type",
    "transport",
    "command",
    "args",
    "url",
    "headers",
    "bearer_token_env_var",
    "timeout",
    "startup_timeout_sec",
    "required",
    "enabled",
    "tools",
)
"""The keys of an entry that say how the server is reached: those that the new entry lacks go, all others stay."""


def server_place(host: str) -> tuple[str, ...]:
    """The keys under which a host has the entry of the server, in its own configuration."""
    return _PLACES.get(host, ("mcpServers", NAME))


def server_pieces(host: str, command: str, arguments: Sequence[str]) -> tuple[ConfigPiece, ...]:
    """What the configuration of one of `HOSTS` needs, so that it starts `command` with `arguments`."""
    entry: dict[str, Any] = {"command": command, "args": list(arguments)}
    match host:
        case "codex":
            entry |= {"startup_timeout_sec": START_S, "required": True}
        case "opencode":
            entry = {
                "type": "local",
                "command": [command, *arguments],
                "enabled": True,
                "timeout": START_S * 1000,
            }
        case "continue":
            entry = {"name": NAME, **entry}
        case "copilot":
            entry = {"type": "local", **entry, "tools": ["*"]}
        case "cline":
            entry["timeout"] = START_S
        case "vscode":
            entry = {"type": "stdio", **entry}
    return (_piece(host, entry),)


def server_pieces_http(host: str, url: str, *, token: bool) -> tuple[ConfigPiece, ...]:
    """What the configuration of one of `HTTP_HOSTS` needs to call the server at `url`; with `token` it sends `TOKEN`.

    Raises UsageError for another host.
    """
    if host not in HTTP_HOSTS:
        raise UsageError(
            f"What {host} needs for a server over HTTP is not known.",
            fix="Leave --http out: it starts the server itself.",
        )

    def entry(variable: str, **kind: str) -> dict[str, Any]:
        sent = {"headers": {"Authorization": f"Bearer {variable}"}} if token else {}
        return {**kind, "url": url, **sent}

    match host:
        case "codex":
            return (_piece(host, {"url": url, **({"bearer_token_env_var": TOKEN} if token else {})}),)
        case "vscode":
            server = _piece(host, entry("${input:memtui-token}", type="http"))
            asked = {
                "type": "promptString",
                "id": "memtui-token",
                "description": "memtui token",
                "password": True,
            }
            return (ConfigPiece(("inputs",), asked, key="id"), server) if token else (server,)
        case "openclaw":
            return (_piece(host, entry(f"${{{TOKEN}}}", transport="streamable-http")),)
        case "cursor":
            return (_piece(host, entry(f"${{env:{TOKEN}}}")),)
    return (_piece(host, entry(f"${{{TOKEN}}}", type="http")),)


def _piece(host: str, entry: Mapping[str, Any]) -> ConfigPiece:
    place = server_place(host)
    return ConfigPiece(place, dict(entry), key="" if place[-1] == NAME else "name", ours=_OURS)


def host_config(host: str, command: str, arguments: Sequence[str]) -> str:
    """The configuration of one of `HOSTS` that starts `command` with `arguments`, to paste."""
    return _printed(host, server_pieces(host, command, arguments))


def host_config_http(host: str, url: str, *, token: bool) -> str:
    """The configuration of one of `HTTP_HOSTS` that calls the server at `url`, to paste. UsageError for another."""
    return _printed(host, server_pieces_http(host, url, token=token))


def _printed(host: str, pieces: Sequence[ConfigPiece]) -> str:
    if host in ("codex", "continue"):
        from memtui.engine.hosts.formats import format_of

        form, text = format_of("config.toml" if host == "codex" else "config.yaml"), ""
        for piece in pieces:
            text = form.put(text, piece)
        return text.strip("\n")
    tree: Any = {}
    for piece in pieces:
        tree = put_value(tree, piece)
    return json.dumps(tree, indent=2)
