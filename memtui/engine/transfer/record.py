"""The canonical record: one memory between all formats, with a place for everything that any of them knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pybase64 import b64decode, b64encode_as_string

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ConversionNote:
    """One field that did not come through as it was. `what` is the same sentence for every row it happens to."""

    field: str
    what: str


@dataclass(slots=True)
class Record:
    """One memory as its source has it. Times are milliseconds since the epoch (UTC); None is "not known"."""

    text: str
    where: str
    """Its place for people: "line 12", "memories[3]", "memory/2026-02-14.md:7"."""
    id: str | None = None
    """The row id to keep; None asks for a new one."""
    foreign_id: str | None = None
    """The id that its own program knows it by, where that cannot be a row id."""
    key: str = ""
    """What makes it the same memory when the source is read again, where it has no id."""
    category: str | None = None
    """The word of the source, whatever vocabulary it is from."""
    memory_category: str | None = None
    scope: str | None = None
    importance: float | None = None
    timestamp_ms: int | None = None
    time_unknown: bool = False
    """The source has a place for the time, and says there that it does not know it."""
    time_from: str = ""
    """Where an inferred time comes from: "file name", "file time", "date at line start"."""
    updated_ms: int | None = None
    valid_from_ms: int | None = None
    valid_until_ms: int | None = None
    invalidated_ms: int | None = None
    last_accessed_ms: int | None = None
    access_count: int | None = None
    confidence: float | None = None
    tier: str | None = None
    state: str | None = None
    abstract: str | None = None
    """L0: one line."""
    overview: str | None = None
    """L1: a few bullets."""
    content: str | None = None
    """L2: the whole."""
    supersedes: str | None = None
    superseded_by: str | None = None
    fact_key: str | None = None
    tags: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """(relation, target), both as the source writes them."""
    title: str | None = None
    """Title of the note or file that it stands in."""
    heading: str | None = None
    """The heading that it stands under."""
    source: str | None = None
    """How the memory came to be, in memory-lancedb-pro's words: manual, auto-capture, ..."""
    trust: str | None = None
    """The source's own word on how far to trust it."""
    metadata: str | None = None
    """memory-lancedb-pro's metadata exactly as stored, which has most of the above in it."""
    dialect: str = ""
    """The dialect of the table that the row stood in, where it comes from one."""
    row: dict[str, Any] | None = None
    """That row with all its columns but the vector, exactly as stored."""
    given: dict[str, Any] | None = None
    """The object of openclaw-mem-engine's own export, exactly as it stands there: its importer reads it so."""
    rest: dict[str, Any] = field(default_factory=dict)
    """Everything that has no place above; plain JSON values, kept whole under one key."""
    vector: NDArray[np.float32] | None = None
    """float32 [dims] as the source has it; None when there is none that could be used."""
    model: str | None = None
    """The embedding model that made the vector."""
    masked: bool = False
    """A secret in the text was masked before it came here: what stood there is lost."""
    notes: list[ConversionNote] = field(default_factory=list)
    """What was already changed or lost on the way here."""

    def lost(self, field_name: str, what: str) -> None:
        """Note that `field_name` did not come through as it was."""
        self.notes.append(ConversionNote(field_name, what))


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something in the source that does not become a memory, and why.

    `broken` marks what cannot be read (a person has to agree that it is left out); the rest is left out by rule.
    """

    where: str
    why: str
    broken: bool = False
    text: str = ""
    """The beginning of it, where there is a text."""


@dataclass(frozen=True, slots=True)
class SourceRemark:
    """What a reader has to say about the source as a whole: "read as Windows-1252", "page 1 of 2 only"."""

    what: str


Read = Record | Rejected | SourceRemark
"""What a reader yields, in the order of the source."""


# The keys of memtui's own JSON lines: every row names its form, so that a part of a file is a file too.

SCHEMA = "memtui.memory.v1"
"""Value of the key `schema` of each line."""

VECTOR = "vector_f32"
"""The vector: base64 of its float32 numbers, little endian. Exact, and half the size of decimals."""

MODEL = "model"

DIALECT = "dialect"

MAP = "column_map"
"""Role to column name, where the table is one that no program we know made."""

MASKED = "masked"

FRAME = frozenset(("schema", DIALECT, VECTOR, MODEL, MAP, MASKED))
"""Keys that are not columns of the row."""

PARQUET_MARK = b"memtui.export"
"""Key in the schema metadata of a Parquet file of ours; its value is JSON with dialect, model, column_map."""


def pack(vector: bytes) -> str:
    """Float32 bytes as text."""
    return b64encode_as_string(vector)


def unpack(text: str) -> NDArray[np.float32]:
    """The numbers that `pack` was given; ValueError for anything else."""
    import numpy as np

    return np.frombuffer(b64decode(text, validate=True), dtype="<f4")


# The ledger: per field, what a conversion changes or loses, with the number of rows it happens to.


@dataclass(frozen=True, slots=True)
class FieldLoss:
    """One line of the ledger: in `rows` rows, `field` is not what it was. `example` is the place of the first."""

    field: str
    rows: int
    what: str
    example: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        example = {"example": self.example} if self.example else {}
        return {"field": self.field, "rows": self.rows, "what": self.what, **example}


class LossTable:
    """Counts losses as records go by; as large as the number of different sentences, not of rows."""

    def __init__(self) -> None:
        self._rows: dict[ConversionNote, int] = {}
        self._examples: dict[ConversionNote, str] = {}

    def add(self, notes: Iterable[ConversionNote], where: str = "") -> None:
        """Count these for one record at `where`; the same note twice counts once."""
        for note in dict.fromkeys(notes):
            if note not in self._rows:
                self._rows[note] = 0
                self._examples[note] = where
            self._rows[note] += 1

    def count(self, field: str, what: str, rows: int = 1, where: str = "") -> None:
        """Count `rows` at once."""
        note = ConversionNote(field, what)
        if rows:
            self._rows[note] = self._rows.get(note, 0) + rows
            self._examples.setdefault(note, where)

    def lines(self) -> tuple[FieldLoss, ...]:
        """By field, most rows first."""
        found = [
            FieldLoss(note.field, rows, note.what, self._examples.get(note, ""))
            for note, rows in self._rows.items()
        ]
        return tuple(sorted(found, key=lambda loss: (loss.field, -loss.rows, loss.what)))
