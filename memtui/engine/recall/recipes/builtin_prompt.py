"""Which prompts OpenClaw's built-in memory recalls nothing for."""

from __future__ import annotations

from memtui.engine.core.javascript import utf16_len

SHORTEST_PROMPT = 5
"""UTF-16 units of the shortest prompt that its hook recalls for."""


def skip_rule(prompt: str) -> str:
    """The rule by which nothing is looked up for `prompt`; empty where something is."""
    return "too_short" if utf16_len(prompt) < SHORTEST_PROMPT else ""
