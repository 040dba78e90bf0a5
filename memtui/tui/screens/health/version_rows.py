"""The versions of a store as rows: the time line, what differs, a question then and now. Pure."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.engine.health import VersionEntry
from memtui.tui.paint.cells import crop, fit
from memtui.tui.screens.health.state import HealthState
from memtui.tui.screens.health.view import labelled, moment
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

_WRITERS = {
    "memtui": "~ memtui",
    "injection": "┄ agent",
    "capture": "+ agent",
    "change": "~ agent",
    "maintenance": "≡ upkeep",
    "restore": "‹ restore",
    "index": "# index",
    "unknown": "? writer",
}


def versions(state: HealthState, width: int, look: Look) -> list[Row]:
    rows, day = [], ""
    listed = state.versions or ()
    wide = max((len(_counts(each)) for each in listed), default=0)
    for each in listed:
        when = datetime.fromtimestamp(each.time_ms / 1000, look.zone)
        here = f"{when.day} {when:%b %Y}"
        if here != day:
            day = here
            rows.append(Row((Content.styled(f" {here}", "bold $heading"),)))
        number = f"v{each.version}" if each.first is None else counted(each.versions, "version")
        room = max(1, width - 14 - 6 - 11 - wide - 3)
        said = f"{look.glyphs.mark} {each.name}: {each.title}" if each.name else each.title
        title = fit(crop(one_line(said), room, look.glyphs.ellipsis), room)
        line = f" {number:<12} {when:%H:%M} {_WRITERS[each.writer]:<11}{title} {_counts(each):>{wide}} "
        style = "$dim" if each.writer == "injection" else ""
        rows.append(
            Row((Content.styled(crop(line, width - 1, look.glyphs.ellipsis), style),), str(each.version))
        )
    return rows


def _counts(entry: VersionEntry) -> str:
    signs = (("+", entry.added), ("~", entry.changed), ("-", entry.removed))
    return " ".join(f"{sign}{count}" for sign, count in signs if count)


def difference(state: HealthState, width: int, look: Look) -> list[Row]:
    """The version under the cursor, what it changed, and what was asked on it."""
    entry = state.entry
    if entry is None:
        return []
    lines = [
        ("version", f"{entry.version}, {moment(entry.time_ms, look.zone)}"),
        ("writer", f"{entry.writer}: {entry.title}"),
        ("rows", f"{entry.rows:,} afterwards"),
    ]
    if entry.entry is not None:
        lines.append(("journal", f"entry {entry.entry}"))
    for name in [name for name in state.names if name.version == entry.version]:
        until = name.lives_until_ms
        held = (
            "in the table: no clean-up takes the version"
            if until is None
            else f"memtui's own: a clean-up may take the version from {moment(until, look.zone)} on"
        )
        lines.append(("name", f"{name.name}, {held}"))
    rows = labelled(lines, width)
    rows += _answers(state, width, look)
    if state.difference is None:
        return [*rows, *labelled([("", "open it to see what differs from the version before")], width)]
    if not state.difference:
        rows += labelled([("", "no row differs")], width)
    for each in state.difference[:500]:
        sign = {"add": "+", "remove": "-", "change": "~"}[each.op]
        more = f" ({', '.join(each.fields)})" if each.fields else ""
        mark = look.glyphs.mark if each.id in state.marked else " "
        text = crop(f"{one_line(each.title)}{more}", width - 16, look.glyphs.ellipsis)
        line = Content.assemble((f" {mark} ", "bold $mark"), (f"{sign} {each.id[:8]:<9}", "$dim"), text)
        rows.append(Row((line,), each.id))
    return rows


def _answers(state: HealthState, width: int, look: Look) -> list[Row]:
    """A question on the version under the cursor and today."""
    found = state.answers
    entry = state.entry
    if found is None or entry is None or found.version != entry.version:
        return []
    rows = labelled([("", ""), ("asked", found.query)], width)
    for at, (memory, text) in enumerate(found.then, 1):
        now = found.place_now(memory)
        place = f"{at} then, {now if now is not None else 'gone'} now"
        rows += labelled(
            [
                (
                    place if len(place) < 11 else f"{at} {look.glyphs.forth} {now or '–'}",
                    f"{memory[:8]} {text}",
                )
            ],
            width,
        )
    fresh = [memory for memory, _ in found.now if all(memory != each for each, _ in found.then)]
    said = (
        f"new today: {', '.join(each[:8] for each in fresh)}"
        if fresh
        else "nothing comes today that did not then"
    )
    return [*rows, *labelled([("", said), ("", "")], width)]
