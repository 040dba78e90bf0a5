"""Times as ISO 8601 text, the way a program in Python writes them: UTC where no zone stands in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND = timedelta(microseconds=1)


def microseconds(text: str) -> int | None:
    """Microseconds since the epoch; None for what is no time. A text without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // _MICROSECOND


def milliseconds(text: str) -> int:
    """Whole milliseconds since the epoch, rounded down; 0 for what is no time, or one before 1970."""
    found = microseconds(text)
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
