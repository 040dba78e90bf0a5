"""The answer to an event in the words of its host: a host refuses an answer with a key that it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.capture.hooks import Event

PROMPT_EVENTS = ("UserPromptSubmit", "BeforeAgent")
"""What Claude Code, Codex, Qwen Code and VS Code, and what Gemini CLI call the event before a prompt."""

_TELLS_PERSON = (
    *PROMPT_EVENTS,
    "Stop",
    "AfterAgent",
    "SessionStart",
    "SessionEnd",
    "PreCompact",
    "PreCompress",
    "PostToolUse",
    "AfterTool",
)
"""Events whose answer may hold `systemMessage`, in the schemas of those hosts."""


def host_answer(event: Event, answer: Mapping[str, Any]) -> dict[str, Any]:
    """What goes to standard output: memtui's own answer, or for a host that names its event what its schema has."""
    if not event.host:
        return dict(answer)
    told: dict[str, Any] = {}
    if event.host in PROMPT_EVENTS and (text := answer.get("prependContext")):
        told["hookSpecificOutput"] = {"hookEventName": event.host, "additionalContext": text}
    if event.host in _TELLS_PERSON and (failed := answer.get("failed")):
        told["systemMessage"] = f"memtui: {failed}"
    return told


def left_unsaid(event: Event, answer: Mapping[str, Any]) -> list[str]:
    """What of the answer its host's schema has no place for: it is said on standard error."""
    if not event.host:
        return [answer["failed"]] if "failed" in answer else []
    keys = ("note",) if event.host in _TELLS_PERSON else ("failed", "note")
    return [answer[key] for key in keys if answer.get(key)]
