"""How the app looks and tells the time, from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Any, Protocol

from memtui.tui.theme.files import DEFAULT


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
    def clipboard(self) -> str:
        """auto, osc52, native or off."""
        ...

    @property
    def time_zone(self) -> str:
        """local, utc or the name of a zone."""
        ...


@dataclass(frozen=True, slots=True)
class Appearance:
    """Theme, characters and time zone; `problems` is what could not be had, to be said once."""

    theme: str = DEFAULT
    glyphs: dict[str, str] = field(default_factory=dict)
    """The variable that chooses the characters, when the settings do."""
    zone: tzinfo | None = UTC
    """None is local time."""
    problems: tuple[str, ...] = ()
    asked: str = DEFAULT
    """The theme that the settings ask for."""
    screen: str = ""
    """The screen to begin with; empty for the first."""
    clipboard: str = "auto"
    """Where copies go."""

    @classmethod
    def of(cls, settings: LookSettings | None, kept: Mapping[str, Any] = {}) -> Appearance:
        """The look that the settings ask for (without settings the defaults, in local time), as it was left.

        `kept` is what `kept` gave last time. A theme that was chosen in the app counts until the settings ask for
        another one.
        """
        zone, problem = _zone(settings.time_zone) if settings is not None else (None, "")
        glyphs = settings.glyphs if settings is not None else "auto"
        chosen = {} if glyphs == "auto" else {"MEMTUI_GLYPHS": glyphs}
        asked = settings.theme if settings is not None else DEFAULT
        problems = (problem,) if problem else ()
        way = settings.clipboard if settings is not None else "auto"
        return cls(asked, chosen, zone, problems, asked, clipboard=way).as_left(kept)

    def as_left(self, kept: Mapping[str, Any]) -> Appearance:
        """The look with the theme and the screen of the last session, as `kept` has them."""
        theme = kept.get("theme") if kept.get("theme_asked") == self.asked else None
        screen = kept.get("screen")
        return replace(
            self,
            theme=theme if isinstance(theme, str) else self.asked,
            screen=screen if isinstance(screen, str) else "",
        )

    def kept(self, theme: str, screen: str) -> dict[str, str | None]:
        """What to keep of how the app was left, for `UiState.put`."""
        other = theme != self.asked
        return {
            "theme": theme if other else None,
            "theme_asked": self.asked if other else None,
            "screen": screen,
        }


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
