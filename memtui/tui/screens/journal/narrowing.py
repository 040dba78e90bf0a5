"""Which entries a line typed into the Journal keeps: words of them, `who:NAME`, `since:TIME`, `before:TIME`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from memtui.engine.changes import JournalEntry

YOU = "you, with memtui"
"""Who changed something where no agent or client is named."""

SOUGHT_BY = "words, who:NAME, since:monday, before:2w"

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAMED = ("today", "yesterday", *_DAYS)
_AGO = re.compile(r"(\d{1,4})([hdwm])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30}
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")
_BEGUN = re.compile(r"[\d-]*[hdwm]?")
"""What may still become a time."""


def who(entry: JournalEntry) -> str:
    """Who made the change."""
    return str(entry.detail.get("client") or YOU)


def began(said: str, now_ms: int, zone: tzinfo | None) -> int | None:
    """When a time begins, in milliseconds: a day by its name or date, so long ago; None for what is none."""
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    if found := _AGO.fullmatch(said):
        return now_ms - int(found[1]) * _HOURS[found[2]] * 3_600_000
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in ("today", "yesterday"):
        day = today - timedelta(days=said == "yesterday")
    elif said in _DAYS:  # the last one, today's when it is its day
        day = today - timedelta(days=(now.weekday() - _DAYS.index(said)) % 7)
    elif _DATE.fullmatch(said):
        try:
            day = datetime.fromisoformat(said if len(said) > 7 else f"{said}-01").replace(tzinfo=now.tzinfo)
        except ValueError:
            return None
    else:
        return None
    return int(day.timestamp() * 1000)


def keeps(
    entry: JournalEntry | None, text: str, words: Sequence[str], now_ms: int, zone: tzinfo | None
) -> bool:
    """Whether an entry with this text holds all of `words`; a time that is still being typed keeps everything."""
    for word in words:
        name, colon, said = word.partition(":")
        if not colon or name not in ("who", "since", "before") or entry is None:
            if word not in text:
                return False
        elif name == "who":
            if said not in who(entry).lower():
                return False
        elif (start := began(said, now_ms, zone)) is not None:
            if (entry.time_ms < start) is (name == "since"):
                return False
        elif not (_BEGUN.fullmatch(said) or any(each.startswith(said) for each in _NAMED)):
            return False
    return True
