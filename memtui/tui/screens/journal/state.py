"""What the Journal knows: entries, what was cut off, the lock; and what can be done with an entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.changes import EntryRow, JournalEntry, LockState

MOST = 1_000
"""Entries that are listed; the command line lists all."""

REMOVED = "contents removed"
"""How the title of an entry ends whose contents were forgotten for good."""


@dataclass(frozen=True, slots=True)
class JournalState:
    """The journal as it was read last."""

    entries: tuple[JournalEntry, ...] = ()
    """Newest first."""
    found: Mapping[int, str] = field(default_factory=dict)
    """Of each interrupted entry: how much of it the table holds, in words."""
    lock: LockState | None = None
    broken: str = ""
    """Which entry was changed outside memtui, in a sentence; empty where the chain of entries is whole."""
    shown: int = 0
    """The number of the entry in the detail."""
    rows: Sequence[EntryRow] | None = None
    """Its memories; None while they are read."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The text that these memories have now, on one line; without those that are gone."""
    receipts: Sequence[Mapping[str, Any]] = ()
    """What was put down when its memories went."""
    zoom: str = ""

    def entry(self, number: int) -> JournalEntry | None:
        """The entry of this number."""
        return next((entry for entry in self.entries if entry.entry == number), None)


def _is_purged(entry: JournalEntry, rows: Sequence[EntryRow] | None) -> bool:
    """Whether nothing of its memories is left; of some of them, it is about the others."""
    return entry.title.endswith(REMOVED) and not any(row.before or row.after for row in rows or ())


def why_not_undo(entry: JournalEntry, rows: Sequence[EntryRow] | None = None) -> str:
    """Why an entry cannot be taken back; empty when it can. `rows`: its memories, of which some may be left."""
    if _is_purged(entry, rows):
        return "Its texts were removed for good; nothing of them is left to bring back."
    if entry.state == "left":
        return "It was cut off and closed without writing."
    if entry.state == "undone":
        return "It is undone already; {journal.redo} redoes it."
    return ""


def why_not_redo(entry: JournalEntry, rows: Sequence[EntryRow] | None = None) -> str:
    """Return why an entry cannot be redone, empty when it can; `rows` are its memories, without purged ones."""
    if _is_purged(entry, rows):
        return "Its texts were removed for good."
    if entry.state != "undone":
        return "It is not undone."
    return ""


def between(newer: JournalEntry, older: JournalEntry) -> int:
    """How many versions of the table were written between two entries, by whomever."""
    end = older.version_after if older.version_after is not None else older.version_before
    return max(0, newer.version_before - end)
