"""The lines under the top bar that say what to do next."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from memtui.tui.host import host


class TourStrip(Widget):
    """Why and what to press; a click on the end of it skips the rest."""

    DEFAULT_CSS = """
    TourStrip {
        dock: top; height: auto; margin-top: 1; padding: 0 1; background: $cursor-idle; color: $foreground;
    }
    """
    auto_links = False

    place: reactive[str] = reactive("", layout=True)
    why: reactive[str] = reactive("", layout=True)
    do: reactive[str] = reactive("", layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> list[Content]:
        glyphs = host(self).glyphs
        skip = host(self).keys.by_id["app.skip-tour"].cap
        way_out = Content.assemble((skip, "bold $key"), f" {'close' if self.place == 'done' else 'skip'}")
        way_out = way_out.stylize(Style.from_meta({"@click": "app.skip_tour"}))
        text = Content.assemble((f"TOUR {self.place}  ", "bold $primary"), (self.why, "$foreground"))
        todo = Content.assemble((f"{glyphs.forth} ", "$primary"), (self.do, "bold $key"))
        room = max(20, width - way_out.cell_length - 3)
        lines = [*text.wrap(room), *todo.wrap(room)]
        gap = max(1, width - lines[0].cell_length - way_out.cell_length)
        return [Content.assemble(lines[0], " " * gap, way_out), *lines[1:]]
