"""Taking memories out: by filter or marked rows, in one fixed order, a window at a time, secrets masked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from memtui.engine.transfer.record import FieldLoss, LossTable

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.core.memory import Memory
    from memtui.engine.store.table import Store


# The rows of an export, a window at a time: in their order, secrets masked or texts left out as asked.


@dataclass(slots=True)
class RowWindow:
    """Some rows in the order of the export, as an Arrow table, as plain rows, and as memories."""

    table: pa.Table = field(repr=False)
    vector: str | None
    """The vector's column, where vectors are asked for."""
    masked: list[bool]
    """The rows in which a secret was masked."""
    _rows: list[dict[str, Any]] | None = field(default=None, repr=False)
    _read: list[Memory] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def plain(self) -> pa.Table:
        """The table without vectors."""
        return self.table if self.vector is None else self.table.drop_columns([self.vector])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows without vectors; read once."""
        if self._rows is None:
            self._rows = self.plain.to_pylist()
        return self._rows

    @property
    def vectors(self) -> list[bytes | None] | None:
        """Float32 bytes of each row's vector, None for a NULL; None where none are asked for."""
        return None if self.vector is None else _vector_bytes(self.table, self.vector)

    def memories(self, header: Header) -> list[Memory]:
        """The rows as memories; read once."""
        if self._read is None:
            self._read = header.store.dialect.to_memories(self.table, header.now_ms)
        return self._read


def _vector_bytes(table: pa.Table, vector: str) -> list[bytes | None]:
    """Float32 bytes of each row's vector, None for a NULL."""
    import numpy as np

    array = table.column(vector).combine_chunks()
    dims = array.type.list_size
    there = array.is_valid().to_pylist()
    if array.null_count:
        array = array.fill_null([0.0] * dims)
    flat = np.ascontiguousarray(array.flatten().to_numpy(zero_copy_only=False), dtype="<f4")
    data, width = flat.tobytes(), 4 * dims
    return [data[width * at : width * (at + 1)] if valid else None for at, valid in enumerate(there)]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """An export. `filter` and `ids` narrow it; both empty means every memory."""

    path: Path
    format: str
    filter: str = ""
    ids: tuple[str, ...] = ()
    scopes: tuple[str | None, ...] | None = None
    vectors: bool = False
    mask: bool = True
    """Mask secrets in texts and metadata."""
    redact: bool = False
    """Leave the texts out: each becomes its length. For sharing what a store is like, not what is in it."""
    fields: tuple[str, ...] = ()
    """Fields to write beside id and text, of `rows.fields_of`; empty: all of them."""
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, or would be."""

    rows: int
    masked: int
    """Rows in which a secret was masked."""
    loss: tuple[FieldLoss, ...]
    path: Path
    size_bytes: int = 0
    files: int = 1
    warnings: tuple[str, ...] = ()

    def as_json(self, format_name: str) -> dict[str, Any]:
        """The document of the command-line contract."""
        return {
            "schema": "memtui.export.v1",
            "format": format_name,
            "path": str(self.path),
            "rows": self.rows,
            "masked": self.masked,
            "files": self.files,
            "bytes": self.size_bytes,
            "loss": [loss.as_json() for loss in self.loss],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class FileStart:
    """How a file of an export begins."""

    name: str
    """As it is called in the place that is written to; the file's own name where the export is one file."""
    text: str


@dataclass(frozen=True, slots=True)
class Header:
    """What a writer knows before the first row."""

    store: Store
    rows: int
    vectors: bool
    model: str | None
    now_ms: int
    filters: dict[str, str]
    left_out: frozenset[str] = frozenset()
    """Fields that are not wanted."""


class ExportWriter(Protocol):
    """One format: told of the start, of windows of rows, and of the end."""

    def write(self, window: RowWindow) -> None: ...

    def close(self) -> Sequence[Path]:
        """Finish, and return the files that hold the export."""
        ...


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """Which fields of a memory a format can leave out."""

    there: Callable[[Store], tuple[str, ...]]
    """Those that it has of a store, vectors apart."""
    always: Callable[[Store], tuple[str, ...]]
    """Those of them that it cannot do without."""
    cell: Callable[[Memory, dict[str, Any], str, Header], Any] | None = None
    """What it has in a field, None for nothing; without this its fields are the table's own columns."""


RowLosses = Callable[["Memory", dict[str, Any], "Header", LossTable], None]
"""Counts what one memory loses in a format: the memory, its row as it is stored, the header, the ledger."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One format to export to. A module of `writers` has it as `FORMAT`; nothing else has to know it."""

    name: str
    title: str
    open_writer: Callable[[Path, Header], ExportWriter] = field(repr=False)
    order: int
    """Its place in lists."""
    suffixes: tuple[str, ...] = ()
    """Endings of its file, the usual one first; none where it is a folder of files."""
    words: tuple[str, ...] = ()
    """What people call it beside its name, a word each."""
    losses: RowLosses | None = field(default=None, repr=False)
    """What a memory loses in it; None where it loses nothing."""
    choice: FieldChoice | None = field(default=None, repr=False)
    """Which fields can be left out; None where the program that reads it expects them all."""
    newest_first: bool = False
    in_words: Callable[[Path], str] | None = field(default=None, repr=False)
    """The rows of a file for people, where it is no text."""

    @property
    def folder(self) -> bool:
        """Whether it is a folder of files."""
        return not self.suffixes


def open_text(place: Path) -> IO[str]:
    """A text file for writing, UTF-8, line feeds only."""
    return place.open("w", encoding="utf-8", errors="replace", newline="\n", buffering=1 << 20)


class WriterModule(Protocol):
    """What a module has that writes a format: ours in `writers`, and those of extensions (`memtui.writers`)."""

    PROTOCOL: int
    """The version of this protocol that the module was written for: 1."""
    FORMAT: ExportFormat
    """Its format. The entry point of an extension has the format's name."""
