"""How the app looks and tells the time, from the settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

from memtui.tui.theme.load import DEFAULT


class LookSettings(Protocol):
    """The settings that are about looks."""

    @property
    def theme(self) -> str:
        """Name of the theme."""
        ...

    @property
    def glyphs(self) -> str:
        """auto, unicode or ascii."""
        ...

    @property
    def time_zone(self) -> str:
        """local, utc or the name of a zone."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """Theme, characters and time zone; `problems` is what could not be had, to be said once."""

    theme: str = DEFAULT
    glyphs: dict[str, str] = field(default_factory=dict)
    """The variable that chooses the characters, when the settings do."""
    zone: tzinfo | None = UTC
    """None is local time."""
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: LookSettings | None) -> Look:
        """The look that the settings ask for; without settings the defaults, in local time."""
        if settings is None:
            return cls(zone=None)
        zone, problem = _zone(settings.time_zone)
        chosen = {} if settings.glyphs == "auto" else {"MEMTUI_GLYPHS": settings.glyphs}
        return cls(settings.theme, chosen, zone, (problem,) if problem else ())


def _zone(name: str) -> tuple[tzinfo | None, str]:
    if name == "local":
        return None, ""
    if name == "utc":
        return UTC, ""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name), ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None, f"There is no time zone {name}; local time is used."
