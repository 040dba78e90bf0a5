"""The events of an agent's host: names alone, so that a command's help need not load capture."""

from __future__ import annotations

EVENTS = (
    "prompt_build",
    "agent_end",
    "session_end",
    "pre_compaction",
    "session_start",
    "session_reset",
    "message_received",
    "tool_end",
    "gateway_start",
    "dream",
)
"""What a host can tell."""
