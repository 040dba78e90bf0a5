"""The frame around everything: what (top left), which (top right), where and what next (bottom right)."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from memtui.tui.host import host

LEAST = 6
"""Cells in which the beginning of a headline still says something."""


class Panel(Widget):
    """A container with a titled border; on a narrow screen a single rule with the title in it."""

    DEFAULT_CSS = """
    Panel {
        layout: vertical;
        border: round $frame;
        background: $background;
        &:focus-within { border: round $frame-focus; }
    }
    """

    def __init__(
        self, *children: Widget, title: str = "", id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(*children, id=id, classes=classes)
        self._what = title
        self._which: Content = Content()
        self._where: Content = Content()
        self._painted: tuple[object, ...] = ()

    def headline(
        self,
        *,
        what: str | None = None,
        which: Content | str | None = None,
        where: Content | str | None = None,
    ) -> None:
        """Set title (top left), qualifier (top right) and position (bottom right); None keeps what is there.

        Plain text is taken as it is, never as markup; in `where`, "{browse.undo}" stands for the key of that action.
        """
        if what is not None:
            self._what = what
        if which is not None:
            self._which = Content(which) if isinstance(which, str) else which
        if where is not None:
            self._where = self._pressable(where) if isinstance(where, str) else where
        self._paint_frame()

    def _pressable(self, where: str) -> Content:
        """The words below; a click on a key and what it is for presses it."""
        parts = []
        for key, words in host(self).keys.pieces(where):
            press = (
                Style.from_meta({"@click": f"app.simulate_key('{key.press}')"}) if key and key.keys else None
            )
            parts.append(Content(words).stylize(press) if press else Content(words))
        return Content().join(parts)

    def on_resize(self) -> None:
        self._paint_frame()

    def on_show(self, _: events.Show) -> None:
        self._paint_frame()  # it may have had no room when its size was told

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._paint_frame()  # the screen may have become narrow, or wide again, at the same size

    def on_descendant_focus(self, _: events.DescendantFocus) -> None:
        self._paint_frame()

    def on_descendant_blur(self, _: events.DescendantBlur) -> None:
        self._paint_frame()

    def _paint_frame(self) -> None:
        if not self.is_attached or not self.outer_size.width:
            return
        narrow, focused = not self.styles.border_left[0], self.has_focus_within
        state = (self._what, self._which, self._where, narrow, focused, self.outer_size.width, self.app.theme)
        if state == self._painted:
            return
        self._painted = state
        rule = host(self).glyphs.rule
        room = self.outer_size.width - (2 if narrow else 6)
        title = Content.styled(self._what, "bold $foreground" if focused else "$heading")
        pad = " " if narrow else ""
        title = Content.assemble(pad, title, pad) if narrow else title
        which = self._aside(room - title.cell_length - 3, narrow)
        if which.plain:
            which = which.stylize_before("$dim")
            gap = room - title.cell_length - which.cell_length - 2
            line = Content.styled(rule * gap, "$frame-focus" if focused else "$frame")
            space = "" if narrow else " "
            title = Content.assemble(title, space, line, " ", which, pad)
        self.border_title = title
        self.border_subtitle = None if narrow or not self._where.plain else self._where.stylize_before("$dim")

    def _aside(self, room: int, narrow: bool) -> Content:
        """What stands at the right of the title in so many cells: all of it, else the qualifier, else its beginning."""
        which, where = self._which, self._where
        if narrow and where.plain:
            both = Content("  ").join([which, where]) if which.plain else where
            if both.cell_length <= room or not which.plain:
                which = both
        if which.cell_length <= room:
            return which
        return which.truncate(room, ellipsis=True) if room >= LEAST else Content()
