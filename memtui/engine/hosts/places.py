"""Where each host keeps its configuration on this machine."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from memtui.engine.core.errors import UsageError
from memtui.engine.discovery.places import PlaceFinder, read_environment, readings
from memtui.engine.hosts.servers import HOSTS


def server_file(host: str, environ: Mapping[str, str], folder: Path) -> Path:
    """The file that names the servers of one of `HOSTS`, there or not; `folder` is the project's.

    Raises UsageError for another host, and where no home is set.
    """
    if host not in HOSTS:
        raise UsageError(f"memtui knows no host {host!r}.", fix=f"Name one of {', '.join(HOSTS)}.")
    match host:
        case "claude":
            return folder / ".mcp.json"
        case "cursor":
            return folder / ".cursor" / "mcp.json"
        case "vscode":
            return folder / ".vscode" / "mcp.json"
        case "openclaw":
            return openclaw_file(environ, folder)
    home = home_of(environ)
    match host:
        case "codex":
            return _folder(environ, "CODEX_HOME", home / ".codex") / "config.toml"
        case "claude-desktop":
            return _application(environ, home) / "Claude" / "claude_desktop_config.json"
        case "opencode":
            place = _folder(environ, "XDG_CONFIG_HOME", home / ".config") / "opencode"
            commented = place / "opencode.jsonc"
            return commented if commented.is_file() else place / "opencode.json"
        case "gemini" | "qwen":
            return home / f".{host}" / "settings.json"
        case "copilot":
            return home / ".copilot" / "mcp-config.json"
        case "cline":
            stored = _application(environ, home) / "Code" / "User" / "globalStorage"
            return stored / "saoudrizwan.claude-dev" / "settings" / "cline_mcp_settings.json"
    return home / ".continue" / "config.yaml"


def openclaw_file(environ: Mapping[str, str], folder: Path) -> Path:
    """The openclaw.json that OpenClaw reads; where there is none, the one that it would make."""
    found = readings(read_environment(environ, folder), PlaceFinder())
    read = next((reading for reading in found if reading.config is not None), None)
    if read is not None and read.config is not None:
        return read.config
    if not found:
        raise UsageError("OpenClaw's folder is not known: no home is set.", fix="Name the file: --file FILE.")
    return found[0].state / "openclaw.json"


def home_of(environ: Mapping[str, str]) -> Path:
    """The home of the person. UsageError where none is set."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not home:
        raise UsageError("The home folder is not known: HOME is not set.", fix="Name the file: --file FILE.")
    return Path(home)


def _folder(environ: Mapping[str, str], variable: str, default: Path) -> Path:
    given = environ.get(variable, "").strip()
    return Path(given).expanduser() if given else default


def _application(environ: Mapping[str, str], home: Path) -> Path:
    """Where desktop programs keep their settings on this system."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return _folder(environ, "APPDATA", home / "AppData" / "Roaming")
    return _folder(environ, "XDG_CONFIG_HOME", home / ".config")
