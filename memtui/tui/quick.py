"""Textual's app and screen, painting sooner and in turns so short that no key waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import thread_time
from typing import Any

from textual.app import App
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.theme import Theme

LONG_S = 0.006
"""A message, or a part of a screen, that takes longer is followed by a turn of the loop."""
MOST_PARTS = 30
"""A screen that changes faster than it can be painted is painted all the same."""


class Unhurried(MessagePump):
    """Lets others have their turn after a message that took long."""

    async def _dispatch_message(self, message: Message) -> None:
        start = thread_time()
        await super()._dispatch_message(message)
        if thread_time() - start > LONG_S:
            await asyncio.sleep(0)


class QuickApp(Unhurried, App[None]):
    """Answers at once what every line on the screen asks: a whole screen takes two thirds of the time."""

    in_parts = False
    """Whether large screens are painted in parts; the first frame comes as a whole."""
    _judged: tuple[Theme, bool] | None = None

    def get_theme(self, theme_name: str) -> Theme | None:
        """As Textual does, without copying the table of all themes for each of a thousand questions."""
        return self._registered_themes.get(theme_name) or super().get_theme(theme_name)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """As Textual does, but a theme without the terminal's own colours has none to replace.

        The filter would also blend dim text: no style of ours is dim, muted text has a colour of its own.
        """
        filters = super().get_line_filters()
        theme = self.current_theme
        if self._judged is None or self._judged[0] is not theme:
            self._judged = theme, _own_colours(theme)
        return (
            [each for each in filters if not isinstance(each, ANSIToTruecolor)]
            if self._judged[1]
            else filters
        )


class QuickScreen(Unhurried, Screen[None]):
    """Prepares what is to be painted part by part, then shows it at once."""

    _preparing = False

    def _compositor_refresh(self) -> None:
        if self._preparing:
            return
        in_parts = isinstance(self.app, QuickApp) and self.app.in_parts
        if not in_parts or self.app.screen is not self or self._prepared():
            super()._compositor_refresh()
        else:
            self._preparing = True
            self.call_next(self._show_when_prepared)

    async def _show_when_prepared(self) -> None:
        for _ in range(MOST_PARTS):
            await asyncio.sleep(0)
            if self.app.screen is not self or self._prepared():
                break
        self._preparing = False
        if self.app._batch_count:
            self.call_later(self._compositor_refresh)  # as Textual does
        else:
            super()._compositor_refresh()

    def _prepared(self) -> bool:
        """Draw and cut the lines that have changed, which are then remembered; False when the time for it is over."""
        start = thread_time()
        compositor = self._compositor
        dirty = compositor._dirty_regions
        if not dirty:
            return True
        cuts = compositor.cuts
        for region, clip, strips in compositor._get_renders(Region.from_union(list(dirty))):
            seen = region.intersection(clip)
            left, right = seen.column_span
            for y, strip in zip(seen.line_range, strips, strict=False):
                strip.divide([cut - left for cut in cuts[y] if left < cut <= right])
            if thread_time() - start > LONG_S:
                return False
        return True


def painted(screen: Screen[Any]) -> bool:
    """Whether everything that is to be seen of `screen` is on the terminal."""
    waits = screen._repaint_required or screen._layout_required or screen._dirty_widgets
    return not (waits or screen._compositor._dirty_regions or getattr(screen, "_preparing", False))


def _own_colours(theme: Theme) -> bool:
    """Whether no colour of `theme` is left to the terminal."""
    given = (theme.primary, theme.secondary, theme.background, theme.surface, theme.panel, theme.foreground)
    values = (*given, theme.warning, theme.error, theme.success, theme.accent, *theme.variables.values())
    return not any(value is not None and value.startswith("ansi") for value in values)
