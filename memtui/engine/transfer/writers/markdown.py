"""MEMORY.md for what lasts, a file a day for the rest: what OpenClaw's memory-core reads."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from memtui.engine.core.memory import Memory
from memtui.engine.metadata.categories import normalise_category
from memtui.engine.transfer.exporting.request import Header, RowWindow
from memtui.engine.transfer.record import LossTable

CURATED = "MEMORY.md"

DAILY = "memory"

UNDATED = "undated"

_HEADINGS = {
    "profile": "Profile",
    "preferences": "Preferences",
    "entities": "People",
    "events": "Decisions",
    "cases": "Facts",
    "patterns": "Lessons",
}

OTHER = "Other"

_ORDER = (*_HEADINGS.values(), OTHER)

_CODE = re.compile(r"(?m)^(\s*)(\\+[-+*#>`~=§\d]|#|```|~~~|[-*+]\s|\d+[.)]\s|>|=+\s*$|-+\s*$|§)")


def open_writer(place: Path, header: Header) -> Notes:
    """A writer to the folder `place`."""
    return Notes(place, header)


class Notes:
    """Keeps one file open at a time: rows come in the order of time, so each daily file is written once."""

    def __init__(self, place: Path, header: Header) -> None:
        self._place, self._header = place, header
        self._curated: dict[str, list[str]] = defaultdict(list)
        self._day = ""
        self._lines: list[str] = []

    def write(self, window: RowWindow, ledger: LossTable) -> None:
        """Append some memories."""
        for memory in window.memories(self._header):
            if lasts(memory):
                self._curated[heading(memory)].append(entry(memory, dated=True))
                continue
            day = day_of(memory)
            if day != self._day:
                self._finish_day()
                self._day = day
            self._lines.append(entry(memory, dated=False))

    def close(self) -> None:
        """Write what is left."""
        self._finish_day()
        if self._curated:
            parts = [
                f"## {name}\n{''.join(self._curated[name])}" for name in _ORDER if self._curated.get(name)
            ]
            text = "# MEMORY\n\n" + "\n".join(parts)
            (self._place / CURATED).write_text(text, encoding="utf-8", errors="replace", newline="\n")

    def _finish_day(self) -> None:
        if not self._lines:
            return
        folder = self._place / DAILY
        folder.mkdir(exist_ok=True)
        text = f"# {self._day}\n\n" + "".join(self._lines)
        (folder / f"{self._day}.md").write_text(text, encoding="utf-8", errors="replace", newline="\n")
        self._lines = []


def lasts(memory: Memory) -> bool:
    """Whether a memory belongs into MEMORY.md: core, or of a kind that does not age."""
    return (
        memory.tier == "core"
        or memory.layer == "durable"
        or normalise_category(memory.category) == "preferences"
    )


def heading(memory: Memory) -> str:
    """The heading that it stands under."""
    return _HEADINGS.get(normalise_category(memory.memory_category or memory.category) or "", OTHER)


def day_of(memory: Memory) -> str:
    """The day of a memory in UTC, or `undated`."""
    try:
        return (
            f"{datetime.fromtimestamp(memory.timestamp_ms / 1000, UTC):%Y-%m-%d}"
            if memory.timestamp_ms
            else UNDATED
        )
    except (OverflowError, OSError, ValueError):
        return UNDATED


def entry(memory: Memory, *, dated: bool) -> str:
    """One bullet; further lines are indented, and signs that mean something in Markdown are escaped there."""
    lines = memory.raw_text.strip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    day = day_of(memory)
    lead = f"{day}: " if dated and day != UNDATED else ""
    first = _CODE.sub(r"\1\\\2", lines[0]) if not lead else lines[0]
    rest = [_CODE.sub(r"\1\\\2", line.strip()) for line in lines[1:] if line.strip()]
    return "".join(f"{part}\n" for part in (f"- {lead}{first}", *(f"  {line}" for line in rest)))
