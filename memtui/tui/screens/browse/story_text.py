"""The story of a memory as lines: its versions one after the other, and what memtui changed in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from memtui.engine import Memory, one_line
from memtui.tui.dialogs.preview_text import difference, value_words
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, date, full

if TYPE_CHECKING:
    from memtui.engine.curate.journal import EntryRow, JournalEntry
    from memtui.engine.curate.story import Story

ENTRIES = 12
"""Entries that are told; the journal has them all."""


def version_lines(story: Story, width: int, glyphs: Glyphs, zone: tzinfo | None) -> Iterator[Content]:
    """From the oldest version to the newest, each with the words that differ from the one before."""
    before: Memory | None = None
    for memory in story.versions:
        here = memory.id == story.memory
        day = date(memory.timestamp_ms, zone)[:10]
        name = Content.styled(one_line(memory.id)[:8], "bold $foreground" if here else "underline $primary")
        if not here:
            name = name.stylize(Style.from_meta({"memory": memory.id}))
        mark = glyphs.forth if here else glyphs.dot
        tail = "  this one" if here else "" if memory.active else "  replaced"
        yield Content.assemble(
            (f"{mark} ", "bold $primary" if here else "$dim"), (f"{day}  ", "$dim"), name, (tail, "$dim")
        )
        text = (
            Content.styled(memory.text.strip(), "$dim")
            if before is None
            else difference(before.text, memory.text)
        )
        if before is not None and before.text == memory.text:
            text = Content.styled("the same text", "$dim")
        yield from (Content.assemble("  ", line) for line in text.wrap(max(8, width - 2)))
        before = memory


def change_lines(story: Story, width: int, now_ms: int, glyphs: Glyphs) -> Iterator[Content]:
    """The entries of the journal that changed it, the last first, with the fields."""
    for entry, row in story.changes[:ENTRIES]:
        undone = "  undone" if entry.state == "undone" else ""
        head = f"{full(entry.entry)}  {entry.action}  {ago(entry.time_ms, now_ms)}"
        yield Content.assemble((crop(head, width, glyphs.ellipsis), "$foreground"), (undone, "$stale"))
        yield from _fields(entry, row, width, glyphs)
    left = len(story.changes) - ENTRIES
    if left > 0:
        yield Content.styled(f"and {full(left)} more in the journal", "$dim")


def _fields(entry: JournalEntry, row: EntryRow, width: int, glyphs: Glyphs) -> Iterator[Content]:
    if row.op != "edit":
        yield Content.styled("  made" if row.op == "add" else "  deleted", "$dim")
        return
    for name in dict.fromkeys((*row.before, *row.after)):
        room = max(6, (width - len(name) - 7) // 2)
        yield Content.assemble(
            (f"  {one_line(name)} ", "$dim"),
            (crop(value_words(row.before.get(name), name), room, glyphs.ellipsis), "$delta-down"),
            (f" {glyphs.forth} ", "$dim"),
            (crop(value_words(row.after.get(name), name), room, glyphs.ellipsis), "$delta-up"),
        ).truncate(max(1, width))
