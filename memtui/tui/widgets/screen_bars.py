"""The first line: which screens there are, which store is open, and whether something is running."""

from __future__ import annotations

from collections.abc import Mapping, Set

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from memtui.engine import one_line
from memtui.tui.actions.action import Action, cap
from memtui.tui.host import host
from memtui.tui.messages import FlashKind
from memtui.tui.paint.cells import crop
from memtui.tui.startup.preload import GO, MODES

NAME_KEPT = 12
"""Cells of the store's name that are kept as long as the program's own name can go instead."""

NAME_LEAST = 8
"""Cells of the store's name that are never given up for names of screens."""


class TopBar(Widget):
    """Screen tabs on the left, the store on the right."""

    DEFAULT_CSS = """
    TopBar { dock: top; height: 1; background: $background; color: $dim; }
    """
    auto_links = False

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode

    def render(self) -> Content:
        left, brief = self._fitting()
        right = self._store(self.size.width - left.cell_length - 2, brief=brief)
        gap = max(1, self.size.width - left.cell_length - right.cell_length - 1)
        return Content.assemble(left, " " * gap, right)

    def _fitting(self) -> tuple[Content, bool]:
        """The tabs with as many names as there is room for, and whether the store is told in brief.

        Gaps, the program's name, the store's name and the table's version yield before the name of a screen does;
        then the long names, for more of the others stay, and these at the same place on every screen.
        """

        def fits(tabs: Content, kept: int, brief: bool = False) -> bool:
            return tabs.cell_length + self._store(0, kept, brief=brief).cell_length + 2 <= self.size.width

        every = frozenset(MODES)
        tries = ((3, True, NAME_KEPT), (2, True, NAME_KEPT), (1, True, NAME_KEPT), (1, False, NAME_KEPT))
        for gap, program, kept in (*tries, (1, False, NAME_LEAST)):
            if fits(tabs := self._tabs(every, gap, program=program), kept):
                return tabs, False
        keys = host(self).keys.by_id
        named: frozenset[str] = frozenset()
        for mode in sorted(MODES, key=lambda mode: (mode != self._mode, len(keys[GO + mode].title))):
            if fits(self._tabs(more := named | {mode}, 1, program=False), NAME_LEAST, brief=True):
                named = more
        return self._tabs(named, 1, program=False), True

    def _tabs(self, named: Set[str], gap: int, *, program: bool = True) -> Content:
        """The screens, `gap` cells between them, those in `named` with their names, the one that is open always."""
        parts: list[Content] = [Content.styled(" memtui", "bold $foreground"), Content(" " * (gap - 1))]
        parts = parts if program else []
        keys = host(self).keys.by_id
        for mode in MODES:
            go = keys[GO + mode]
            click = Style.from_meta({"@click": f"app.{go.action}"})
            if mode == self._mode:
                before, after = (" ", "") if gap == 1 else ("", " " * (gap - 2))
                parts.append(Content.styled(f"{before}[{go.cap} {go.title}]{after}", "bold $primary"))
            else:
                words = f" {go.title}" if mode in named else ""
                tab = Content.assemble(" ", (go.cap, "$heading"), (words, "$dim"), " " * (gap > 1))
                parts += [tab.stylize(click), Content(" " * (gap - 2))]
        return Content.assemble(*parts)

    def _store(self, room: int, least: int = NAME_LEAST, *, brief: bool = False) -> Content:
        """The store's name and state; in less room than it needs only its name is cut, to `least` cells. Where it is
        `brief`, the version and "rw" are left out, and the gaps are one cell."""
        app = host(self)
        session, glyphs = app.session, app.glyphs
        if session.info is not None:
            info = session.info
            rights = ("RO", "bold $stale") if info.read_only else ("rw", "$dim")
            gap = " " if brief else "  "
            newer = f"{gap}{session.newer}" if session.newer else ""
            staged = f"{gap}{session.staged:,} staged" if session.staged else ""
            table = Content.assemble(f"  v{info.version}  ", rights)
            if brief:  # that a store may be written is what nobody asks; that it may not is
                table = Content.assemble(" ", rights) if info.read_only else Content()
            tail = Content.assemble(table, (newer, "$stale"), (staged, "bold $stale"))
            name = Content.styled(
                crop(one_line(info.name), max(least, room - tail.cell_length - 2)), "$foreground"
            )
            words = Content.assemble(name, tail)
        else:
            said = {"looking": "looking for stores", "opening": "opening store", "failed": "store not opened"}
            words = Content.styled(said.get(session.phase, "no store"), "$dim")
        dot = (
            (glyphs.busy, "$primary") if session.busy else (glyphs.idle, "$ok" if session.open else "$faint")
        )
        return Content.assemble(words, " ", dot)


# The last line: up to eight keys of the focused panel, made from the key table.

MOST = 8
"""More than this is not read; the help overlay has the rest."""


class KeyBar(Widget):
    """The most useful keys that work now, then those that cannot; a click presses the key."""

    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $background; color: $dim; }
    """
    auto_links = False

    def __init__(self) -> None:
        super().__init__()
        self._keys: list[tuple[Action, bool, str]] = []
        self._marked = 0
        self._first = ""
        self._follow: Mapping[str, str] = {}

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        found: dict[str, tuple[Action, bool, str]] = {}
        keymap, taker = host(self).keys, screen.focused
        marked = int(getattr(screen, "marked", 0))
        for active in screen.active_bindings.values():
            key = keymap.key(active.binding.id)
            if key is not None and (key.bulk if marked else key.bar) and (shown := _heard_by(taker, key)):
                found.setdefault(key.id, (key, active.enabled, shown))
        now = getattr(screen, "next_keys", ())  # what comes next, whatever its place
        keys = sorted(
            found.values(),
            key=lambda one: (one[0].id not in now, not one[1], one[0].bulk if marked else one[0].bar),
        )
        if (keys[:MOST], marked) != (self._keys, self._marked):
            self._keys, self._marked = keys[:MOST], marked
            self.refresh()

    def begun(self, first: str, follow: Mapping[str, str]) -> None:
        """The first key of a sequence was pressed; an empty one: it is over."""
        if (first, follow) != (self._first, self._follow):
            self._first, self._follow = first, follow
            self.refresh()

    def on_resize(self, _: events.Resize) -> None:
        self.refresh()

    def render(self) -> Content:
        palette_key = host(self).keys.by_id["app.palette"]
        palette = _item(palette_key, palette_key.cap, "commands" if self.size.width >= 100 else "")
        room = self.size.width - palette.cell_length - 2
        line = Content(" ")
        if self._first:
            line = Content.assemble(line, (cap(self._first), "bold $primary"), "   ")
        elif self._marked:
            line = Content.assemble(line, (f"{self._marked:,} marked", "bold $mark"), "   ")
        for item in self._following() if self._first else self._usual():
            if line.cell_length + item.cell_length + 2 > room:
                break
            line = Content.assemble(line, item, "  ")
        gap = max(0, self.size.width - line.cell_length - palette.cell_length - 1)
        return Content.assemble(line, " " * gap, palette)

    def _usual(self) -> list[Content]:
        return [_item(key, shown, key.title, enabled) for key, enabled, shown in self._keys]

    def _following(self) -> list[Content]:
        """What the second key of the sequence can be, where the keyboard is."""
        live = self.screen.active_bindings
        found = ((second, live.get(name)) for second, name in self._follow.items())
        pairs = ((second, active and host(self).keys.key(active.binding.id)) for second, active in found)
        return [_item(key, cap(second), key.title) for second, key in pairs if key]


def _heard_by(taker: Widget | None, key: Action) -> str:
    """How the first key of an action is printed that `taker`, which has the keyboard, does not take as text."""
    typed = [taker is not None and taker.check_consume_key(each, _letter(each)) for each in key.each]
    if not any(typed):
        return key.cap
    return next((cap(each) for each, text in zip(key.each, typed, strict=True) if not text), "")


def _letter(key: str) -> str | None:
    printed = cap(key)
    return printed if len(printed) == 1 and "+" not in key[1:] else " " if key == "space" else None


def _item(key: Action, cap: str, title: str, enabled: bool = True) -> Content:
    press = Style.from_meta({"@click": f"app.simulate_key('{key.press}')"})
    text = Content.assemble((cap, "bold $key" if enabled else "$dim"), f" {title}" if title else "")
    return text.stylize(press)  # one that cannot act says why


# The line above the key bar: what was just done, or what went wrong.

STAY_S = 6.0
"""Long enough to read one line; an error stays until Escape or the next message."""


class FlashLine(Widget):
    """One message at a time; lies over the lower edge of the panels, so that nothing moves while it is there.

    A narrow screen has no edges: there it takes a row, for the last row of a list may be the one that is meant.
    """

    DEFAULT_CSS = """
    FlashLine { dock: bottom; height: 1; margin-bottom: 1; background: $background; display: none; layer: flash; }
    FlashLine.-shown { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.kind: FlashKind = "done"
        self._timer: Timer | None = None

    def say(self, text: str, kind: FlashKind = "done") -> None:
        """Show one line of plain text; "{app.reload}" in it stands for the key of that action."""
        self.text, self.kind = one_line(host(self).keys.words(text)), kind
        self.add_class("-shown")
        self.refresh()
        if self._timer is not None:
            self._timer.stop()
        self._timer = None if kind == "error" else self.set_timer(STAY_S, self.dismiss)

    def dismiss(self) -> bool:
        """Take the message away; False when there was none."""
        if not self.has_class("-shown"):
            return False
        self.remove_class("-shown")
        self.text = ""
        return True

    def on_click(self) -> None:
        self.dismiss()

    def render(self) -> Content:
        glyphs = host(self).glyphs
        mark, style = {
            "done": (glyphs.mark, "$ok"),
            "note": (glyphs.dot, "$dim"),
            "error": (glyphs.warn, "bold $danger"),
        }[self.kind]
        text = crop(self.text, max(1, self.size.width - 4), glyphs.ellipsis)
        return Content.assemble(" ", (mark, style), " ", (text, "$foreground"))
