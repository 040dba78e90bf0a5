"""The first line: which screens there are, which store is open, and whether something is running."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH
from memtui.tui.paint.cells import crop
from memtui.tui.session import Session

SCREENS = (
    ("home", "1", "Home"),
    ("browse", "2", "Browse"),
    ("recall", "3", "Recall"),
    ("lifecycle", "4", "Lifecycle"),
    ("transfer", "5", "Transfer"),
    ("journal", "6", "Journal"),
    ("capture", "7", "Capture"),
    ("audit", "8", "Audit"),
    ("health", "9", "Health"),
)


class TopBar(Widget):
    """Screen tabs on the left, the store on the right."""

    DEFAULT_CSS = """
    TopBar { dock: top; height: 1; background: $background; color: $dim; }
    """
    auto_links = False

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode

    def on_mount(self) -> None:
        self.watch(self.app, "session", self.refresh_session, init=False)

    def refresh_session(self, _: Session) -> None:
        """The store changed: draw again."""
        self.refresh()

    def render(self) -> Content:
        left = self._tabs()
        right = self._store(self.size.width - left.cell_length - 3)
        gap = max(1, self.size.width - left.cell_length - right.cell_length - 1)
        return Content.assemble(left, " " * gap, right)

    def _tabs(self) -> Content:
        narrow = self.app.size.width < NORMAL_WIDTH
        parts: list[Content] = [Content.styled(" memtui ", "bold $foreground")]
        for mode, key, name in SCREENS:
            click = Style.from_meta({"@click": f"app.go_{mode}"})
            if mode == "capture" and mode != self._mode:
                continue  # its tab shows itself where it is open: six names fill the bar
            if mode == self._mode:
                tab = Content.styled(f"[{key} {name}]", "bold $primary")
            else:
                tab = Content.styled(f" {key} " if narrow else f" {key} {name} ", "$dim").stylize(click)
            parts.append(tab)
        return Content("" if narrow else " ").join(parts)

    def _store(self, room: int) -> Content:
        app = host(self)
        session, glyphs = app.session, app.glyphs
        if session.info is not None:
            info = session.info
            rights = ("RO", "bold $stale") if info.read_only else ("rw", "$dim")
            newer = f"  {session.newer}" if session.newer else ""
            staged = f"  {session.staged:,} staged" if session.staged else ""
            tail = Content.assemble(
                f"  v{info.version}  ", rights, (newer, "$stale"), (staged, "bold $stale")
            )
            name = Content.styled(
                crop(one_line(info.name), max(4, room - tail.cell_length - 2)), "$foreground"
            )
            words = Content.assemble(name, tail)
        else:
            said = {"looking": "looking for stores", "opening": "opening store", "failed": "store not opened"}
            words = Content.styled(said.get(session.phase, "no store"), "$dim")
        dot = (
            (glyphs.busy, "$primary") if session.busy else (glyphs.idle, "$ok" if session.open else "$faint")
        )
        return Content.assemble(words, " ", dot)
