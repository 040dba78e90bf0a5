"""Memories that are returned to the tool but never put into a prompt by themselves."""

from __future__ import annotations

DAY_MS = 86_400_000
TODO_DAYS = 7
WORKING_SET = "working_set:"
"""How the ids of working sets begin."""


def stale_todo(created_ms: float, *, now_ms: float, ttl_days: float = TODO_DAYS) -> bool:
    """Whether a to-do is older than its time; exactly as old is still fresh, an unknown time is never stale."""
    return created_ms > 0 and created_ms < now_ms - ttl_days * DAY_MS


def guard(memory_id: str, category: str | None, created_ms: float, *, now_ms: float, ttl_days: float) -> str:
    """Why auto-recall leaves a memory out: working_set, stale_todo; empty when it does not."""
    if memory_id.startswith(WORKING_SET):
        return "working_set"
    stale = category == "todo" and stale_todo(created_ms, now_ms=now_ms, ttl_days=ttl_days)
    return "stale_todo" if stale else ""
