"""What in a demo text depends on the day, and what must not stand in the repository as it is."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MARK = re.compile(r"\{(?:(date|iso|month|monthnum):(-?\d+)|(fake_token))\}")


def worded(text: str, now_ms: int) -> str:
    """`text` with its marks filled in.

    `{date:12}` is the day twelve days before `now_ms` (UTC) as "14 October", `{iso:12}` as 2026-10-14,
    `{month:12}` its month's name, `{monthnum:12}` 2026_10; `{fake_token}` looks like a secret.
    """
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()

    def fill(mark: re.Match[str]) -> str:
        form, days, token = mark.groups()
        return fake_token() if token else _day(form, today - timedelta(days=int(days)))

    return _MARK.sub(fill, text)


def fake_token() -> str:
    """A made-up key in the shape of a real one, put together here so that no scanner finds it in a file."""
    return "-".join(("sk", "FAKE" + "0demo0only" * 4))


def _day(form: str, day: date) -> str:
    month = _MONTHS[day.month - 1]
    forms = {"date": f"{day.day} {month}", "iso": day.isoformat(), "month": month}
    return forms.get(form, f"{day.year}_{day.month:02}")
