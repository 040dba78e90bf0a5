"""MEMORY.md for what lasts, a file a day for the rest: what OpenClaw's memory-core reads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.engine.core.memory import Memory
from memtui.engine.metadata.categories import normalise_category
from memtui.engine.transfer.exporting.losses import NO_PLACE, count_columns
from memtui.engine.transfer.exporting.request import ExportFormat, Header, RowWindow
from memtui.engine.transfer.importing.to_row import OWN_ONLY
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


class Notes:
    """Keeps one file open at a time: rows come in the order of time, so each daily file is written once."""

    def __init__(self, place: Path, header: Header) -> None:
        self._place, self._header = place, header
        self._curated: dict[str, list[str]] = defaultdict(list)
        self._day = ""
        self._lines: list[str] = []
        self._files: list[Path] = []

    def write(self, window: RowWindow) -> None:
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

    def close(self) -> Sequence[Path]:
        """Write what is left."""
        self._finish_day()
        if self._curated:
            parts = [
                f"## {name}\n{''.join(self._curated[name])}" for name in _ORDER if self._curated.get(name)
            ]
            self._put(self._place / CURATED, "# MEMORY\n\n" + "\n".join(parts))
        return self._files

    def _finish_day(self) -> None:
        if not self._lines:
            return
        folder = self._place / DAILY
        folder.mkdir(exist_ok=True)
        self._put(folder / f"{self._day}.md", f"# {self._day}\n\n" + "".join(self._lines))
        self._lines = []

    def _put(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        self._files.append(path)


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


def count_row_losses(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    """Count what a bullet under a heading does not say of a memory."""
    for name in ("id", "importance", "scope"):
        if getattr(memory, name) not in (None, ""):
            ledger.count(name, NO_PLACE, 1, memory.id)
    if header.store.dialect.columns.metadata:
        ledger.count(
            "metadata", "tier, counters, summaries, validity, links: derived from the text", 1, memory.id
        )
    for name in OWN_ONLY:
        if row.get(name) is not None:
            ledger.count(name, NO_PLACE, 1, memory.id)
    if day_of(memory) != UNDATED:
        ledger.count("timestamp", "the day is kept, the time of day is lost", 1, memory.id)
    kept = "its heading stands for it" if lasts(memory) else "a daily file has no headings: lost"
    if memory.category:
        ledger.count("category", kept, 1, memory.id)
    if len(memory.raw_text.strip().splitlines()) > 1:
        ledger.count("text", "blank lines and indents inside it are lost", 1, memory.id)
    count_columns(memory, header, ledger)


PROTOCOL = 1

FORMAT = ExportFormat(
    "markdown", "MEMORY.md and daily files", Notes, 50, words=("md",), losses=count_row_losses
)
