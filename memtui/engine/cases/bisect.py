""" "It answered well on Tuesday": the version, the clock or the configuration that changed one memory's rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memtui.engine.cases.index_gap import Held, gap
from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.recall.request import RecallRequest

SAMPLES = 9
"""Versions looked at before the search narrows: a rank may change and change back in between."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A version of the table that can still be read."""

    version: int
    time_ms: int


@dataclass(frozen=True, slots=True)
class Point:
    """The memory's rank at one version; None when it did not come back."""

    version: int
    time_ms: int
    rank: int | None
    disposition: str
    """"returned", the stage that dropped it, "no candidate", or "unreadable"."""
    reason: str = ""
    """The gate of that stage; empty where nothing dropped it."""
    level: int = 0
    """Other memories that came back with the same score: which of them comes first is not defined."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """What changed the rank. `cause` names it; `sentence` says it."""

    cause: Literal["version", "index", "clock", "configuration", "nothing"]
    """"index": a version that left the memories alone and changed what an index holds of them."""
    sentence: str
    now: Point
    then: Point
    changed_at: Point | None
    """The first version with today's rank, when a version or its index is the cause."""
    before: Point | None
    """The version before it."""
    points: tuple[Point, ...]
    """Every version looked at, oldest first."""


Ask = Callable[[RecallRequest], Any]
HeldAt = Callable[[int], Held | None]
"""What the indexes of a version hold of the memory."""


def bisect(
    request: RecallRequest,
    memory_id: str,
    versions: Sequence[TableVersion],
    ask: Ask,
    *,
    now_ms: int,
    then_ms: int | None = None,
    then_config: RecallRequest | None = None,
    held_at: HeldAt | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Bisection:
    """Find what changed the rank of `memory_id` for `request`; nothing is restored or written.

    `versions` oldest first. `then_ms` (default: the oldest version's time) is when it was still right: the table
    of that time is asked with today's clock, then today's table with that time's clock, then with `then_config`
    (the request as it was configured). With `held_at` a version is told from an index that held the memory later.
    Raises UsageError without a version to compare with.
    """
    readable = [each for each in versions if then_ms is None or each.time_ms >= then_ms] or list(
        versions[-1:]
    )
    older = [each for each in versions if then_ms is not None and each.time_ms <= then_ms][-1:]
    line = [*older, *(each for each in readable if each not in older)]
    if len(line) < 1:
        raise UsageError("The table has no version that can be read.", fix="Its history was cleaned up.")
    seen: dict[int, Point] = {}

    def look(at: TableVersion) -> Point:
        if cancel is not None:
            cancel.check()
        if at.version not in seen:
            seen[at.version] = _point(
                ask, replace(request, table_version=at.version, now_ms=now_ms), memory_id, at
            )
            if on_progress is not None:
                on_progress(Progress("asking older versions", len(seen), 0, "versions"))
        return seen[at.version]

    now = look(line[-1])
    step = max(1, (len(line) - 1) // (SAMPLES - 1))
    sampled = sorted({*range(0, len(line), step), len(line) - 1})
    ranks = [look(line[index]) for index in sampled]
    then = next((point for point in ranks if point.disposition != "unreadable"), now)
    different = [index for index, point in zip(sampled, ranks, strict=True) if not _same(point, now)]
    points = tuple(seen[each.version] for each in line if each.version in seen)
    if different:
        low, high = different[-1], next(index for index in sampled if index > different[-1])
        while high - low > 1:
            middle = (low + high) // 2
            if _same(look(line[middle]), now):
                high = middle
            else:
                low = middle
        changed, before = look(line[high]), look(line[low])
        points = tuple(seen[each.version] for each in line if each.version in seen)
        sentence = f"version {changed.version} changed it: {_said(before)} before, {_said(changed)} since"
        told, alone = _by_index(held_at, before, changed)
        told = told or _by_tie(before, changed)
        cause: Literal["index", "version"] = "index" if alone else "version"
        return Bisection(
            cause, f"{sentence}; {told}" if told else sentence, now, before, changed, before, points
        )
    moment = then_ms if then_ms is not None else line[0].time_ms
    newest = line[-1]
    aged = _point(ask, replace(request, table_version=newest.version, now_ms=moment), memory_id, newest)
    if not _same(aged, now):
        sentence = f"the clock changed it: {_said(aged)} as of then, {_said(now)} now, on the same rows"
        return Bisection("clock", sentence, now, replace(aged, time_ms=moment), None, None, points)
    if then_config is not None:
        was = _point(
            ask, replace(then_config, table_version=newest.version, now_ms=now_ms), memory_id, newest
        )
        if not _same(was, now):
            sentence = f"the configuration changed it: {_said(was)} as it was set, {_said(now)} as it is set"
            return Bisection("configuration", sentence, now, was, None, None, points)
    sentence = f"nothing changed it: {_said(now)} in every version that can still be read, then and now"
    return Bisection("nothing", sentence, now, then, None, None, points)


def _point(ask: Ask, request: RecallRequest, memory_id: str, at: TableVersion) -> Point:
    try:
        trace = ask(request)
    except MemtuiError:
        return Point(at.version, at.time_ms, None, "unreadable")
    found = next((each for each in trace.candidates if each.id == memory_id), None)
    if found is None:
        return Point(at.version, at.time_ms, None, "no candidate")
    if found.rank is None:
        return Point(at.version, at.time_ms, None, found.disposition, found.reason)
    level = sum(each.score == found.score for each in trace.results) - 1
    return Point(at.version, at.time_ms, found.rank, found.disposition, level=level)


def _by_tie(before: Point, changed: Point) -> str:
    """Where the memory only changed its place among those of the same score, in words."""
    if not before.level or not changed.level or before.rank is None or changed.rank is None:
        return ""
    if abs(before.rank - changed.rank) > min(before.level, changed.level):
        return ""
    others = "another has" if changed.level == 1 else f"{changed.level} others have"
    return f"{others} the same score, and which of them comes first is not defined"


def _by_index(held_at: HeldAt | None, before: Point, changed: Point) -> tuple[str, bool]:
    """`gap` between the versions of two points; nothing where one of them cannot be read."""
    if held_at is None:
        return "", False
    try:
        return gap(held_at(before.version), held_at(changed.version))
    except MemtuiError:
        return "", False


def _same(a: Point, b: Point) -> bool:
    return a.rank == b.rank and (a.rank is not None or a.disposition == b.disposition)


def _said(point: Point) -> str:
    if point.rank is not None:
        return f"rank {point.rank}"
    known = {"no candidate": "not a candidate", "unreadable": "unreadable"}
    return known.get(point.disposition) or dropped_by(point)


def dropped_by(point: Point) -> str:
    """The stage that dropped the memory, and its gate where that has another name."""
    stage, gate = point.disposition.replace("_", " "), point.reason.replace("_", " ")
    return f"dropped by {stage}" + (f" ({gate})" if gate not in ("", stage) else "")
