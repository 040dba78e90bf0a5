"""How a table writes its times; apart from the columns of times, whose reading needs numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TimeForm:
    """How a table writes its times, where that is not said in the values."""

    zone: str = ""
    """The zone of times that name none: empty for UTC, `local` for the machine's own, or a name such as Europe/Oslo."""
    unit: Literal["", "iso", "by size", "s", "ms", "us", "ns"] = ""
    """`iso`: they are ISO 8601 text. Else the unit of times that are numbers. Empty: milliseconds,
    or seconds where they are too small for it; by size:
    each number by its size alone, microseconds and nanoseconds, too."""

    @property
    def is_utc(self) -> bool:
        """Whether times without a zone are UTC."""
        return self.zone in ("", "UTC", "utc")


AS_STORED = TimeForm()
"""Times in UTC, in milliseconds or in seconds by their size."""
