"""What to paste into a host's configuration, so that it starts the server."""

from __future__ import annotations

import json
from collections.abc import Sequence

HOSTS = ("claude", "codex", "cursor", "vscode", "openclaw")

WHERE = {
    "claude": "in .mcp.json of the project, or under mcpServers in ~/.claude.json",
    "codex": "in ~/.codex/config.toml",
    "cursor": "in .cursor/mcp.json",
    "vscode": "in .vscode/mcp.json",
    "openclaw": "in openclaw.json",
}


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
