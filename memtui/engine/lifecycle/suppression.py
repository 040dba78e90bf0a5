"""What keeps a memory out of auto-recall, and what auto-recall writes when it injects one."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.engine.metadata import Metadata

BAD_RECALLS = 3
"""Injections in a row without a confirmed use at which a memory is suppressed."""
AUTO_RECALL_LAYERS = ("durable", "working")


@dataclass(frozen=True, slots=True)
class InjectionPolicy:
    """The plugin's auto-recall settings that its governance reads."""

    min_repeated: int = 0
    """Turns before a memory may be injected again; 0 switches suppression off."""
    bad_recall_decay_ms: int = 86_400_000
    """A longer pause between injections forgets the count; 0 never does."""
    suppression_duration_ms: int = 1_800_000


def injection_patch(meta: Metadata, *, at_ms: int, policy: InjectionPolicy) -> dict[str, int]:
    """The metadata keys that an injection at `at_ms` changes.

    Injection alone counts as an access and refreshes recency. It counts as bad recall when the previous
    injection was not followed by a confirmed use.
    """
    previous = meta.last_injected_at
    count = meta.bad_recall_count
    if meta.suppressed_until_ms is None and (count > 0 or meta.suppressed_until_turn > 0):
        count = 0  # counted by an older version, in turns
    pause = at_ms - previous if previous is not None else float("inf")
    if 0 < policy.bad_recall_decay_ms < pause:
        count = 0
    used = meta.last_confirmed_use_at
    if previous is not None and (used is None or used < previous):
        count += 1
    until = meta.suppressed_until_ms or 0
    if count >= BAD_RECALLS and policy.min_repeated > 0:
        until = max(until, at_ms + policy.suppression_duration_ms)
    return {
        "access_count": meta.access_count + 1,
        "last_accessed_at": at_ms,
        "injected_count": meta.injected_count + 1,
        "last_injected_at": at_ms,
        "bad_recall_count": count,
        "suppressed_until_ms": until,
        "suppressed_until_turn": 0,
    }


def auto_recall_barrier(meta: Metadata, now_ms: int) -> str | None:
    """Why auto-recall leaves a memory out: `state(...)`, `layer(...)` or `suppressed`; None when it may go in."""
    if meta.state != "confirmed":
        return f"state({meta.state})"
    if meta.memory_layer not in AUTO_RECALL_LAYERS:
        return f"layer({meta.memory_layer})"
    return "suppressed" if meta.suppressed(now_ms) else None
