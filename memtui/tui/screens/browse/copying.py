"""What can be copied of a memory."""

from __future__ import annotations

from memtui.engine import Memory, dump_json
from memtui.tui.dialogs.pick import Option


def copy_options(memory: Memory) -> tuple[Option, ...]:
    """The choices, with the start of what each would copy."""
    return (
        Option("id", "id", memory.id, "i"),
        Option("text", "text", memory.title, "t"),
        Option("JSON", "JSON", "every field, as `memtui show` prints it", "j"),
    )


def copy_text(memory: Memory, what: str) -> str:
    """The id, the text exactly as stored, or the row as JSON."""
    if what == "id":
        return memory.id
    if what == "text":
        return memory.raw_text
    return dump_json(memory.as_json(), ensure_ascii=False, indent=2)
