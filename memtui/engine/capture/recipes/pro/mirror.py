"""The Markdown mirror: one line for each memory that capture stores."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memtui.engine.core.javascript import utf16_slice

DEFAULT_FOLDER = "~/.openclaw/memory/md-mirror"

LONGEST = 500


def iso(ms: int) -> str:
    """A time as JavaScript prints it."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def day(ms: int) -> str:
    """The UTC date of a time."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d}"


def mirror_path(block: Mapping[str, Any], workspace: str | None, now_ms: int) -> str:
    """The file of the day: in the agent's workspace, else in the mirror's own folder."""
    if workspace:
        return f"{workspace}/memory/{day(now_ms)}.md"
    return f"{block.get('dir') or DEFAULT_FOLDER}/{day(now_ms)}.md"


def mirror_line(text: str, category: str, scope: str, agent: str | None, source: str, now_ms: int) -> str:
    """The line of one memory."""
    named = f" agent={agent}" if agent else ""
    plain = utf16_slice(text.replace("\r\n", " ").replace("\n", " "), LONGEST)
    return f"- {iso(now_ms)} [{category}:{scope}]{named} source={source} {plain}\n"
