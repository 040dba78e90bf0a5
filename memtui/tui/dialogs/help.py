"""The help overlay: the keys that work where the keyboard is, from the key table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from memtui.tui.host import host
from memtui.tui.keys import BY_ID, Key, bindings
from memtui.tui.keys.places import place
from memtui.tui.paint.cells import fit
from memtui.tui.widgets.panel import Panel


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One key of the focused panel: whether it can act just now, and why not."""

    key: Key
    enabled: bool
    reason: str = ""


class HelpOverlay(ModalScreen[None]):
    """All keys of the focused panel, its screen and the app, grouped."""

    DEFAULT_CSS = """
    HelpOverlay Panel { width: 86; max-width: 100%; height: auto; max-height: 90%; }
    HelpOverlay VerticalScroll { height: auto; max-height: 100%; padding: 0 1; }
    HelpOverlay Static { width: 1fr; height: auto; }
    """
    BINDINGS = bindings("overlay")

    def __init__(self, title: str, lines: list[HelpLine]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    @classmethod
    def of(cls, screen: Screen[object]) -> HelpOverlay:
        """The overlay for what has the keyboard on `screen`."""
        found: dict[str, HelpLine] = {}
        for active in screen.active_bindings.values():
            key = host(screen).keys.key(active.binding.id)
            if key is not None:
                found.setdefault(key.id, HelpLine(key, active.enabled, active.tooltip))
        contexts = [line.key.context for line in found.values() if line.key.context != "app"]
        title = place(contexts[0]).title if contexts else "memtui"
        order = list(BY_ID)
        return cls(title, sorted(found.values(), key=lambda line: order.index(line.key.id)))

    def compose(self) -> ComposeResult:
        with Panel(title=f"Keys: {self._title}") as panel, VerticalScroll():
            yield Static(self._content(), expand=True)
        panel.headline(where="esc close")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _content(self) -> Content:
        width = 40 if self.app.size.width >= 92 else max(26, (self.app.size.width - 8) // 2)
        live = [line for line in self._lines if line.enabled]
        groups = [(name, [line for line in live if line.key.group == name]) for name in _order(live)]
        left, right = _columns(groups, width)
        rows = max(len(left), len(right))
        blank = Content(" " * width)
        lines = [
            Content.assemble(left[i] if i < len(left) else blank, right[i] if i < len(right) else "")
            for i in range(rows)
        ]
        off = [line for line in self._lines if not line.enabled]
        if off:
            lines += [Content(), Content.styled("NOT NOW", "bold $heading")]
            lines += [_line(line, width) for line in off]
        lines += [
            Content(),
            Content.styled("Shift-drag selects text with the mouse in most terminals.", "$dim"),
        ]
        return Content("\n").join(lines)

    def action_close(self) -> None:
        self.dismiss()


def _order(lines: Iterable[HelpLine]) -> list[str]:
    return list(dict.fromkeys(line.key.group for line in lines))


def _columns(groups: list[tuple[str, list[HelpLine]]], width: int) -> tuple[list[Content], list[Content]]:
    """The groups in two columns of about the same height, kept whole."""
    columns: tuple[list[Content], list[Content]] = ([], [])
    for name, lines in sorted(groups, key=lambda group: -len(group[1])):
        column = min(columns, key=len)
        if column:
            column.append(Content(" " * width))
        column.append(Content.styled(fit(name, width), "bold $heading"))
        column.extend(_line(line, width) for line in lines)
    return columns


def _line(line: HelpLine, width: int) -> Content:
    caps = fit(line.key.caps, 11)
    words = line.key.title if line.enabled else f"{line.key.title}: {line.reason or 'nothing to act on'}"
    if line.key.help and line.enabled:
        words = (
            f"{line.key.title}, {line.key.help}" if len(line.key.help) + len(words) < width - 14 else words
        )
    return Content.assemble((caps, "bold $key" if line.enabled else "$dim"), fit(words, width - 11))
