"""Textual's app and screens, painting sooner and in turns so short that no key waits for them.

What is Textual's own affair is looked at here. Where it is not as it was, Textual paints as it always does, only later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App
from textual.color import Color
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, Screen, ScreenResultType
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
    touched = 0.0
    """When a key or the mouse was last heard, by the clock of `time.monotonic`."""
    _judged: tuple[Theme, bool] | None = None

    def get_theme(self, theme_name: str) -> Theme | None:
        """As Textual does, without copying the table of all themes for each of a thousand questions."""
        known: dict[str, Theme] = getattr(self, "_registered_themes", {})
        return known.get(theme_name) or super().get_theme(theme_name)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """As Textual does, but a key that is shown as one that cannot act now does nothing anywhere.

        Textual goes on to the next that knows the key: a dim "undo" of a row would undo the last change of all.
        """
        active = None if priority or not self.screen_stack else self.screen.active_bindings.get(key)
        if active is not None and not active.enabled:
            return False
        return await super()._check_bindings(key, priority)

    async def on_event(self, event: events.Event) -> None:
        """As Textual does."""
        if isinstance(event, events.InputEvent):
            self.touched = monotonic()
        await super().on_event(event)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """As Textual does, but a theme without the terminal's own colours has none to replace.

        The filter would also blend dim text: no style of ours is dim, muted text has a colour of its own.
        """
        filters = super().get_line_filters()
        theme = self.current_theme
        if self._judged is None or self._judged[0] is not theme:
            self._judged = theme, _own_colours(theme)
        return (
            [filter_text for filter_text in filters if not isinstance(filter_text, ANSIToTruecolor)]
            if self._judged[1]
            else filters
        )


if TYPE_CHECKING:
    _AnyScreen = Screen[Any]
else:
    _AnyScreen = (
        MessagePump  # Textual takes styles from the first base that has some: that must be its own screen
    )


class PartwisePainting(Unhurried, _AnyScreen):
    """Prepares what is to be painted part by part, then shows it at once."""

    _preparing = False

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """As Textual does, but asks this screen itself.

        Textual asks the screen on top, whoever wants to be called: a dialog that is closed before its next frame takes
        along what the screen below it waits for.
        """
        return self.call_later(self._invoke_later, partial(callback, *args, **kwargs), self)

    def _compositor_refresh(self) -> None:
        if self._preparing:
            return
        app = self.app
        in_parts = isinstance(app, QuickApp) and app.in_parts
        if not in_parts or app.screen is not self or self._prepared():
            self._paint_now()
        else:
            self._preparing = True
            self.call_next(self._show_when_prepared)

    async def _show_when_prepared(self) -> None:
        for _ in range(MOST_PARTS):
            await asyncio.sleep(0)
            if self.app.screen is not self or self._prepared():
                break
        self._preparing = False
        if getattr(self.app, "_batch_count", 0):
            self.call_later(self._compositor_refresh)  # as Textual does
        else:
            self._paint_now()

    def _paint_now(self) -> None:
        """Show it, with what has changed meanwhile: Textual takes everything for shown afterwards."""
        self._compositor.update_widgets(self._dirty_widgets)
        super()._compositor_refresh()

    def _prepared(self) -> bool:
        """Draw and cut the lines that have changed, which are then remembered; False when the time for it is over."""
        try:
            return self._prepare(thread_time() + LONG_S)
        except Exception:  # a fault of a widget is met again, and reported, when Textual paints it
            self.app.in_parts = False  # type: ignore[attr-defined]
            return True

    def _prepare(self, until: float) -> bool:
        from textual._context import visible_screen_stack

        dirty = list(self._compositor._dirty_regions)
        if not dirty:
            return True
        below: list[Screen[Any]] = self.app._background_screens if self._dirty_regions else []
        parts = [(screen, screen.size.region) for screen in below]
        for at, (screen, region) in enumerate([*parts, (self, Region.from_union(dirty))]):
            visible_screen_stack.set(below[:at])
            if not _drawn(screen._compositor, region, until):
                return False
        return True


def _drawn(compositor: Any, region: Region, until: float) -> bool:
    """Draw and cut the lines in `region`; False when it is later than `until`."""
    cuts = compositor.cuts
    for place, clip, strips in compositor._get_renders(region):
        seen = place.intersection(clip)
        left, right = seen.column_span
        for y, strip in zip(seen.line_range, strips, strict=False):
            strip.divide([cut - left for cut in cuts[y] if left < cut <= right])
        if thread_time() > until:
            return False
    return True


class QuickScreen(PartwisePainting, Screen[None]):
    """A screen by itself."""


class QuickModal(PartwisePainting, ModalScreen[ScreenResultType]):
    """A dialog over a screen, which is tinted."""

    def render(self) -> RenderableType:
        """As Textual does."""
        below = super().render()
        return _Tinted(below.screen, below.color) if type(below) is BackgroundScreen else below


class _Tinted(BackgroundScreen):
    """Works out once for each pair of colours what they are under the tint: a screen has thousands of pieces."""

    @classmethod
    def process_segments(cls, segments: Iterable[Segment], color: Color) -> Iterable[Segment]:
        """As Textual does."""
        tints: dict[object, Style] = {}
        for segment in segments:
            style = segment.style
            if segment.control or style is None:
                yield segment
                continue
            pair = style.color, style.bgcolor
            tint = tints.get(pair)
            if tint is None:
                (piece,) = super().process_segments([Segment("", Style.from_color(*pair))], color)
                tint = tints[pair] = piece.style or Style()
            yield Segment(segment.text, style.clear_meta_and_links() + tint)


def painted(screen: Screen[Any]) -> bool:
    """Whether everything that is to be seen of `screen` is on the terminal."""
    own = ("_repaint_required", "_layout_required", "_dirty_widgets", "_preparing")
    waits = [getattr(screen, name, None) for name in own]
    return not any((*waits, getattr(getattr(screen, "_compositor", None), "_dirty_regions", None)))


def _own_colours(theme: Theme) -> bool:
    """Whether no colour of `theme` is left to the terminal."""
    given = (theme.primary, theme.secondary, theme.background, theme.surface, theme.panel, theme.foreground)
    values = (*given, theme.warning, theme.error, theme.success, theme.accent, *theme.variables.values())
    return not any(value is not None and value.startswith("ansi") for value in values)
