"""CrewAI's memory: hierarchical scopes, lists of categories, times as text; no state, no archive, no trash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import TYPE_CHECKING, Any

from memtui.engine.core.memory import Memory
from memtui.engine.core.text import clean
from memtui.engine.dialects.base import Capabilities, Columns, Dialect
from memtui.engine.dialects.mem_engine import MARKS
from memtui.engine.dialects.time_form import TimeForm
from memtui.engine.dialects.with_metadata import clean_values

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


PROTOCOL = 1

NAME = "crewai"

SOURCE, PRIVATE, CATEGORIES = "source", "private", "categories"

COLUMNS = Columns(
    text="content",
    scope="scope",
    category="categories_str",
    importance="importance",
    timestamp="created_at",
    last_accessed="last_accessed",
    details="metadata_str",
)

REQUIRED = COLUMNS.known()

CAN = Capabilities(
    writable=True,
    owner_lock="named",
    visibility="sources",
    compares_l2=True,
    default_recipe=NAME,
)


@dataclass(frozen=True, slots=True)
class CrewDialect(Dialect):
    """Rows of CrewAI: the first category is the category, the whole list stands in `extra`."""

    def lock_file(self, folder: Path, temporary: Path) -> Path | None:
        """In the system's temporary folder, its name made from the resolved folder of the store."""
        name = f"lancedb:{folder.resolve()}"
        return temporary / f"crewai:{md5(name.encode(), usedforsecurity=False).hexdigest()}.lock"

    @property
    def lists_categories(self) -> bool:
        """A JSON list."""
        return True

    def categories_of(self, stored: str | None) -> tuple[str, ...]:
        """The texts of a JSON list; none for what is no list."""
        try:
            listed = json.loads(stored or "[]")
        except (ValueError, RecursionError):
            return ()
        return tuple(map(str, listed)) if isinstance(listed, list) else ()

    def to_memory(self, row: Mapping[str, Any], extras: Sequence[str], now_ms: int) -> Memory:
        """One row; `metadata` is its JSON object, which says nothing of a state."""
        from memtui.engine.metadata.read import coerce_timestamp, parse_object

        raw_text, stored = self.raw_text(row), self.value(row, self.columns.details)
        listed = self.categories_of(self.value(row, self.columns.category))
        values, valid = parse_object(stored)
        source = row.get(SOURCE) or None
        extra = self.extra(row, extras)
        if SOURCE in extra:
            extra[SOURCE] = None if source is None else clean(source)
        return Memory(
            id=self.row_id(row),
            text=clean(raw_text),
            raw_text=raw_text,
            dialect=self.name,
            scope=self.value(row, self.columns.scope),
            category=next(iter(listed), None),
            importance=self.importance(self.value(row, self.columns.importance)),
            timestamp_ms=self.timestamp_ms(row),
            last_accessed_ms=coerce_timestamp(self.value(row, self.columns.last_accessed)),
            source=source,
            metadata=stored,
            metadata_valid=valid,
            metadata_values=clean_values(values, 0),
            extra={CATEGORIES: [clean(each) for each in listed], **extra},
        )


def crewai(*, sources: bool) -> CrewDialect:
    """A table that CrewAI made; `sources` says whether it notes where a memory came from."""
    return CrewDialect(
        NAME, "CrewAI", COLUMNS, (SOURCE,) if sources else (), can=CAN, times=TimeForm(unit="iso")
    )


def recognise(schema: pa.Schema) -> Dialect | None:
    """CrewAI's dialect, where all its columns are there and none is openclaw-mem-engine's."""
    names = set(schema.names)
    if not names >= set(REQUIRED) or names.intersection(MARKS):
        return None
    return crewai(sources={SOURCE, PRIVATE} <= names)
