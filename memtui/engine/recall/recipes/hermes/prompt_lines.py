"""The block of LanceDB's plugin for Hermes: a heading, and a line for each memory."""

from __future__ import annotations

from memtui.engine.recall.recipes.hermes.searches import HermesRow

HEADING = "## LanceDB Memory"

MOST_ITEMS = 5

MOST_CHARS, ELLIPSIS = 500, "..."


def line_of(stored: HermesRow, *, whole: bool = False) -> str:
    """The line of one memory: its category or kind, its id, its abstract or text; `whole` without the cut."""
    text = " ".join((stored.abstract or stored.row.text).split())
    if len(text) > MOST_CHARS and not whole:
        text = text[: MOST_CHARS - len(ELLIPSIS)] + ELLIPSIS
    return f"- ({stored.row.category or stored.kind or 'memory'}, id={stored.row.id}) {text}"


def block_of(lines: list[str]) -> str:
    """The block as the plugin hands it to its host, which wraps it; empty for no memory."""
    return "\n".join([HEADING, *lines]) if lines else ""
