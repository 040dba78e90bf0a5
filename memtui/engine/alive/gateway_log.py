"""What the gateway's log says of memory: a bounded look at its end, messages by kind."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memtui.engine.core.secrets import mask

MOST_BYTES = 16 << 20
"""The end of a log that is read: what is older says little of today."""

_PLUGIN = r"^(?P<plugin>memory-lancedb(?:-pro)?)"

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("load-failed", r"(?P<plugin>[\w-]+) failed during load from"),
        ("registered", _PLUGIN + r"\S*: plugin registered"),
        ("refused", _PLUGIN + r"\S*:.*disabled until configured"),
        ("injected", _PLUGIN + r": injecting \d+ memor"),
        ("captured", _PLUGIN + r": auto-captured [1-9]"),
        ("isolation", _PLUGIN + r":.*predates per-agent isolation"),
        ("width", _PLUGIN + r":.*No vector column found to match"),
        ("timed-out", _PLUGIN + r":.*auto-recall timed out"),
        ("hook-timeout", r"hook.*before_prompt_build.*(?:timed out|timeout|exceeded)"),
        ("cool-down", _PLUGIN + r":.*(?:cool-?down|embedding (?:request )?timed out)"),
        ("recall-failed", _PLUGIN + r":.*recall failed"),
        ("capture-failed", _PLUGIN + r":.*capture failed"),
        ("recall-denied", _PLUGIN + r":.*(?:recall|tool).*(?:not authori[sz]ed|no .*authority|denied)"),
        ("embedding-ok", _PLUGIN + r": startup check embedding OK"),
        ("conflict", r"plugin tool name conflict \((?P<plugin>[\w-]+)\): (?P<tool>\w+)"),
        ("lane-failed", r"lane-1 trigger recall failed"),
        ("lane-injected", r"lane-1 injected"),
        ("filtered", _PLUGIN + r":.*filtered out"),
        ("lane-skipped", r"active-memory:.*recall skipped reason="),
        ("lane-done", r"active-memory:.*done status=no_"),
        ("core-degraded", r"semantic memory recall is degraded|embedding setup"),
        ("core-embedded", r"^memory embeddings: (?:batch|query) completed"),
        ("sync-failed", r"memory (?:index )?sync failed|^memory.*watcher.*(?:fail|error|cannot)"),
        ("sync-ran", r"^memory sync: indexing"),
        ("sweep-failed", r"dreaming sweep failed for workspace"),
        ("sweep-done", r"dreaming promotion complete .*failed=0\b"),
        (
            "search-missing",
            r"(?:fts5?|sqlite-vec|vec0)\b.*(?:unavailable|not available|no such module|failed to load)",
        ),
    )
)
"""Kinds of messages, the first that matches: search keys of spec/openclaw.md, not whole sentences."""

_HINT = re.compile(rb"memory|lane-1|dreaming|conflict|hook|fts|vec0|degraded|embedding|failed during load")


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One message that concerns memory."""

    kind: str
    time_ms: int
    plugin: str
    text: str
    """The message's first line, at most 300 characters."""
    line: int
    """Its place in what was read, from 0: the order of messages of one millisecond."""
    tool: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class GatewayLog:
    """The messages of a log by kind; `path` is empty where there is no log."""

    path: str = ""
    events: tuple[LogEvent, ...] = ()
    by_kind: dict[str, tuple[LogEvent, ...]] = field(default_factory=dict)

    def of(self, *kinds: str, plugin: str = "") -> tuple[LogEvent, ...]:
        """Messages of these kinds in order, those of one plugin where it is named."""
        found = [event for kind in kinds for event in self.by_kind.get(kind, ())]
        if plugin:
            found = [event for event in found if event.plugin in ("", plugin)]
        return tuple(sorted(found, key=lambda event: event.line))

    def last(self, *kinds: str, plugin: str = "") -> LogEvent | None:
        """The newest message of these kinds."""
        return next(iter(reversed(self.of(*kinds, plugin=plugin))), None)


def log_files(configured: str, state: Path, stem: str = "/tmp/openclaw") -> tuple[Path, ...]:
    """The newest log of the gateway: the one that the configuration names, else today's form of its default.

    The default folder is one for all homes of a machine: a log there counts only where it names the state folder.
    """
    if configured:
        return (Path(configured),)
    try:
        newest = max(Path(stem).glob("openclaw-*.log"), default=None)
        if newest is None:
            return ()
        with newest.open("rb") as file:
            file.seek(max(0, os.path.getsize(newest) - MOST_BYTES))
            return (newest,) if str(state).encode() in file.read() else ()
    except OSError:
        return ()


def read_log(files: Iterable[Path]) -> GatewayLog:
    """The messages about memory at the end of the first log that can be read; nothing is raised."""
    for path in files:
        try:
            with path.open("rb") as file:
                file.seek(max(0, os.path.getsize(path) - MOST_BYTES))
                events = tuple(_events(file.read().splitlines()))
        except OSError:
            continue
        by_kind: dict[str, list[LogEvent]] = {}
        for event in events:
            by_kind.setdefault(event.kind, []).append(event)
        return GatewayLog(str(path), events, {kind: tuple(found) for kind, found in by_kind.items()})
    return GatewayLog()


def _events(lines: list[bytes]) -> Iterable[LogEvent]:
    for number, raw in enumerate(lines):
        if not _HINT.search(raw):
            continue
        try:
            record = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        text = record.get("message") if isinstance(record, dict) else None
        if not isinstance(text, str):
            continue
        text = text.removeprefix("[plugins] ")
        for kind, pattern in _KINDS:
            match = pattern.search(text)
            if match is not None:
                groups = match.groupdict()
                agent = re.search(r"for agent ([\w-]+)", text)
                first = mask(text.splitlines()[0][:300])[0] if text else ""
                yield LogEvent(
                    kind, _time(record), groups.get("plugin") or "", first, number,
                    groups.get("tool") or "", agent[1] if agent else "",
                )  # fmt: skip
                break


def _time(record: dict[str, object]) -> int:
    try:
        return int(datetime.fromisoformat(str(record.get("time"))).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
