"""The formats that can be read: their names, what they are, and which reader takes which kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal

from memtui.engine.core.errors import UsageError
from memtui.engine.transfer.record import Read
from memtui.engine.transfer.sources.options import ReadOptions

Kind = Literal["json", "lines", "text", "zip", "folder", "sqlite", "parquet", "lance"]
"""What a source is physically: a JSON document, JSON lines, other text, an archive, a folder, ..."""

Asked = Literal["prose", "sessions", "encoding"]
"""Whether paragraphs are taken beside lists, whether conversations are taken, which encoding its text has."""

Reader = Callable[[Path, ReadOptions], Iterator[Read]]


@dataclass(frozen=True, slots=True)
class Format:
    """One format. `readers` names, for each kind of file it comes in, `module:function` below `readers`."""

    name: str
    title: str
    readers: Mapping[Kind, str] = field(repr=False)
    stored: bool = False
    """Its rows stood in a store of memories: nothing is too short or noise in it."""
    own: bool = False
    """It holds whole rows: what a table of the same dialect gets from it is equal to what it was."""
    maps: bool = False
    """Its columns have to be mapped to fields."""
    asks: tuple[Asked, ...] = ()
    """What a person may decide about it, beside what every format is asked."""

    def reader(self, kind: Kind) -> Reader:
        """The function that reads it; UsageError when it does not come in this kind."""
        place = self.readers.get(kind)
        if place is None:
            raise UsageError(
                f"{self.title} does not come as {KINDS[kind]}.",
                fix=f"It comes as {' or '.join(KINDS[each] for each in self.readers)}; or leave --format out.",
            )
        module, _, function = place.partition(":")
        found: Reader = getattr(import_module(f"memtui.engine.transfer.readers.{module}"), function)
        return found


KINDS: Mapping[Kind, str] = {
    "json": "a JSON document",
    "lines": "JSON lines",
    "text": "a text file",
    "zip": "a zip archive",
    "folder": "a folder",
    "sqlite": "an SQLite file",
    "parquet": "a Parquet file",
    "lance": "a LanceDB folder",
}

_NOTES: Mapping[Kind, str] = {"folder": "workspace:read", "text": "workspace:read", "zip": "workspace:read"}

FORMATS: tuple[Format, ...] = (
    Format(
        "memtui",
        "memtui's own export",
        {"lines": "memtui:read_lines", "parquet": "memtui:read_parquet"},
        stored=True,
        own=True,
    ),
    Format("lancedb", "a LanceDB table of memories", {"lance": "lancedb:read"}, stored=True, own=True),
    Format(
        "memory-lancedb-pro",
        "memory-lancedb-pro's export or backup",
        {"json": "memory_lancedb_pro:read_export", "lines": "memory_lancedb_pro:read_lines"},
        stored=True,
    ),
    Format(
        "mem-engine",
        "openclaw-mem-engine's export",
        {"lines": "mem_engine:read_lines", "json": "mem_engine:read"},
        stored=True,
    ),
    Format("mem0", "mem0", {"json": "mem0:read", "zip": "mem0:read_backup"}, stored=True),
    Format("letta", "Letta's archival passages or blocks", {"json": "letta:read"}, stored=True),
    Format("letta-agent", "a Letta agent file", {"json": "letta:read_agent_file"}, stored=True),
    Format("memory-core", "memory-core's index", {"sqlite": "memory_core:read"}, asks=("sessions",)),
    Format("markdown", "an agent's Markdown: MEMORY.md and daily files", _NOTES, asks=("prose", "encoding")),
    Format(
        "mirror", "a Markdown mirror of memory-lancedb-pro", _NOTES, stored=True, asks=("prose", "encoding")
    ),
    Format(
        "basic-memory",
        "basic-memory notes",
        {"folder": "basic_memory:read", "text": "basic_memory:read", "zip": "basic_memory:read"},
        asks=("prose", "encoding"),
    ),
    Format(
        "obsidian",
        "an Obsidian vault",
        {"folder": "obsidian:read", "text": "obsidian:read", "zip": "obsidian:read"},
        asks=("prose", "encoding"),
    ),
    Format("chatgpt", "ChatGPT's data export", {"json": "chatgpt:read", "zip": "chatgpt:read_export"}),
    Format("claude", "Claude's data export", {"json": "claude:read", "zip": "claude:read_export"}),
    Format("pasted", "a list that an assistant printed", {"text": "pasted:read"}, asks=("encoding",)),
    Format("csv", "a CSV table", {"text": "tables:read_csv"}, maps=True, asks=("encoding",)),
    Format("parquet", "a Parquet table", {"parquet": "tables:read_parquet"}, maps=True),
    Format(
        "json",
        "JSON of another program",
        {"json": "tables:read_json", "lines": "tables:read_json_lines"},
        maps=True,
    ),
)

_BY_NAME = {each.name: each for each in FORMATS}


def format_named(name: str) -> Format:
    """The format of this name; UsageError with the names for another."""
    if name not in _BY_NAME:
        raise UsageError(f"There is no form {name!r}.", fix=f"The forms are auto, {', '.join(_BY_NAME)}.")
    return _BY_NAME[name]
