"""The full text of one memory, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from memtui.engine import Memory, mask, one_line
from memtui.tui.widgets.result_list import lit
from memtui.tui.widgets.row_list import Row, RowList

MOST_CHARS = 20_000
"""More than this nobody reads in a side panel; the ledger and Browse have the rest."""


class MemoryText(RowList):
    """Scrolls through one memory; the words of the question are lit."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._memory: Memory | None = None
        self._words: tuple[str, ...] = ()
        self._facts: tuple[Content, ...] = ()

    def show(self, memory: Memory | None, words: Sequence[str] = (), facts: Sequence[Content] = ()) -> None:
        """Show this memory from its beginning."""
        changed = memory is not self._memory
        self._memory, self._words, self._facts = memory, tuple(words), tuple(facts)
        self.repaint()
        if changed:
            self.scroll_home(animate=False)

    def paint(self, width: int) -> Sequence[Row]:
        return [Row((line,)) for line in text_lines(self._memory, self._words, self._facts, width)]


def text_lines(
    memory: Memory | None, words: Sequence[str], facts: Sequence[Content], width: int
) -> list[Content]:
    """The text wrapped to `width` cells, then the facts, each on lines of its own."""
    if memory is None:
        return []
    room = max(8, width - 2)
    text = mask(memory.text)[0]
    parts = [lit(part, words) for part in text[:MOST_CHARS].split("\n")]
    lines = [line for part in parts for line in (part.wrap(room) or [Content()])]
    if len(text) > MOST_CHARS:
        lines.append(Content.styled(f"{len(text) - MOST_CHARS:,} more characters", "$dim"))
    lines.append(Content())
    lines += [line for fact in facts for line in (fact.wrap(room) or [Content()])]
    lines.append(Content.styled(one_line(memory.id), "$dim"))
    return [Content.assemble(" ", line.truncate(room, ellipsis=True)) for line in lines]
