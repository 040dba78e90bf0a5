"""Times as ISO 8601 text, the way a program in Python writes them; whoever reads one says the zone it lacks."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND = timedelta(microseconds=1)


LOCAL = "local"
"""The zone of the machine, as a name."""


@lru_cache
def zone_named(name: str) -> tzinfo | None:
    """The zone UTC, `local` (None: the machine's own) or one of the IANA database. Raises ValueError for another."""
    from zoneinfo import ZoneInfo

    if name in ("", "UTC", "utc"):
        return UTC
    if name == LOCAL:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"There is no time zone {name!r}.") from error


def microseconds(text: str, zone: str = "") -> int | None:
    """Microseconds since the epoch; None for what is no time. A text without a zone is in `zone` (default: UTC)."""
    try:
        return moment_microseconds(datetime.fromisoformat(text.strip()), zone)
    except ValueError:
        return None


def moment_microseconds(moment: date, zone: str = "") -> int:
    """Microseconds since the epoch of a moment, or of the beginning of a day; one without a zone is in `zone`."""
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if moment.tzinfo is None:
        found = zone_named(zone)
        try:
            moment = moment.astimezone() if found is None else moment.replace(tzinfo=found)
        except (OSError, OverflowError):  # outside of what the machine's own calendar can tell
            moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def milliseconds(text: str, zone: str = "") -> int:
    """Whole milliseconds since the epoch, rounded down; 0 for what is no time, or one before 1970."""
    found = microseconds(text, zone)
    return 0 if found is None else max(0, found // 1000)


def has_zone(text: str) -> bool:
    """Whether a text is a time that names its zone."""
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is not None
    except ValueError:
        return False


def written(ms: int) -> str:
    """A moment (milliseconds since the epoch) as UTC without a zone; no fraction where there is none."""
    return (_EPOCH + timedelta(milliseconds=ms)).replace(tzinfo=None).isoformat()
