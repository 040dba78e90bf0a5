"""What the journal of calls tells: who is here and how busy, and one day in numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.engine.clients.calls import UNANSWERED, Call, Via

HOUR_MS = 3_600_000

SLOTS = 12
"""Pieces of time that the small curves show."""

STORING = ("created", "superseded", "stored")


@dataclass(frozen=True, slots=True)
class Activity:
    """One caller of the journal."""

    client: str
    agent: str
    via: Via
    last_ms: int
    calls: int
    slots: tuple[int, ...]
    """Calls in each of the last `SLOTS` pieces of the window, the oldest first."""
    stored: int
    injected: int
    refused: int


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The calls since a moment in numbers."""

    calls: int
    stored: int
    injected: int
    previews: int
    """Changes that were only looked at: their client has not confirmed them."""
    refused: tuple[tuple[str, int], ...]
    """What refused calls, and how many, most first; "no word" where the journal has none."""
    p95_ms: float | None
    slots: tuple[int, ...]


def activities(calls: Sequence[Call], *, now_ms: int, window_ms: int = HOUR_MS) -> list[Activity]:
    """The callers, the latest first."""
    by_client: dict[str, list[Call]] = {}
    for call in calls:
        by_client.setdefault(call.client, []).append(call)
    found = []
    for client, of_client in by_client.items():
        latest = max(of_client, key=lambda each: each.time_ms)
        found.append(
            Activity(
                client,
                latest.agent,
                latest.via,
                latest.time_ms,
                len(of_client),
                _slots(of_client, now_ms, window_ms),
                sum(_stored(call) for call in of_client),
                sum(len(call.ids) for call in of_client if call.outcome == "injected"),
                sum(call.outcome == "refused" for call in of_client),
            )
        )
    return sorted(found, key=lambda each: (-each.last_ms, each.client))


def day_of_calls(calls: Sequence[Call], *, now_ms: int, since_ms: int) -> CallCounts:
    """The calls from `since_ms` to `now_ms` (milliseconds since the epoch) in numbers."""
    of_day = [call for call in calls if since_ms <= call.time_ms <= now_ms]
    refused: dict[str, int] = {}
    for call in of_day:
        if call.outcome == "refused":
            refused[call.gate or "no word"] = refused.get(call.gate or "no word", 0) + 1
    times = sorted(call.ms for call in of_day if call.outcome != UNANSWERED)
    confirmed = {
        call.asked for call in of_day if call.outcome in ("updated", "archived", "deleted", "superseded")
    }
    return CallCounts(
        len(of_day),
        sum(_stored(call) for call in of_day),
        sum(len(call.ids) for call in of_day if call.outcome == "injected"),
        len({call.asked for call in of_day if call.outcome == "preview"} - confirmed),
        tuple(sorted(refused.items(), key=lambda pair: (-pair[1], pair[0]))),
        times[min(len(times) - 1, len(times) * 95 // 100)] if times else None,
        _slots(of_day, now_ms, max(1, now_ms - since_ms)),
    )


def _stored(call: Call) -> int:
    """Memories that a call stored."""
    return (len(call.ids) if call.via == "hook" else 1) if call.outcome in STORING else 0


def _slots(calls: Sequence[Call], now_ms: int, window_ms: int) -> tuple[int, ...]:
    counts = [0] * SLOTS
    for call in calls:
        at = (call.time_ms - (now_ms - window_ms)) * SLOTS // window_ms
        if 0 <= at <= SLOTS:
            counts[min(SLOTS - 1, at)] += 1
    return tuple(counts)
