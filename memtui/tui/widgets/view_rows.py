"""What the screens with several views share: the line that names the views, and lists that pure painters fill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from textual.content import Content

from memtui.tui.host import Host
from memtui.tui.paint.cells import crop, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.widgets.row_list import Build, Row


@dataclass(frozen=True, slots=True)
class Look:
    """What a painter needs beside the state of its screen."""

    glyphs: Glyphs
    zone: tzinfo | None
    now_ms: int
    height: int = 0
    """Rows of the panel: what is left below a list is used where there is much."""


def painted(
    app: Host, paint: Callable[[int, Look], list[Row]], ascii_signs: Mapping[int, int] | None = None
) -> Build:
    """Return what fills a `BuiltRows`: the rows of `paint` as the terminal, the clock and the zone are by then.

    `ascii_signs` gives what stands for a sign (its code point) where the terminal shows ASCII only.
    """

    def build(width: int, height: int) -> Sequence[Row]:
        rows = paint(width, Look(app.glyphs, app.zone, app.now_ms(), height))
        plain = ascii_signs is not None and app.glyphs.name == "ascii"
        return [_translated(row, ascii_signs or {}) for row in rows] if plain else rows

    return build


def _translated(row: Row, signs: Mapping[int, int]) -> Row:
    lines = tuple(Content(one.plain.translate(signs), spans=list(one.spans)) for one in row.lines)
    return Row(lines, row.key)


def views_line(labels: Iterable[tuple[str, bool]], told: str, width: int) -> list[Row]:
    """The views by their labels, the active one (True) in brackets, and at the right what is looked at."""
    parts = [
        Content.styled(f"[{label}]" if here else f" {label} ", "bold $primary" if here else "$dim")
        for label, here in labels
    ]
    left = Content.assemble(" ", Content(" ").join(parts))
    room = max(0, width - left.cell_length - 1)
    return [Row((Content.assemble(left, (right(crop(told, room), room), "$dim")),))]
