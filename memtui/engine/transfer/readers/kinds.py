"""Which format a source is in: decided by what is in it, shown with the evidence."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.text import counted
from memtui.engine.transfer.readers.head import HEAD, head_text
from memtui.engine.transfer.readers.registry import Format, Kind, format_named
from memtui.engine.transfer.sources.text import unzipped

_PARQUET = b"PAR1"

_HTML = re.compile(r"\s*<(?:!doctype html|html|head|title|body)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Detected:
    """What a source is. `evidence` are short phrases: what was seen in it that no other format has."""

    path: Path
    kind: Kind
    format: Format
    evidence: tuple[str, ...]


def detect(path: Path, name: str = "auto") -> Detected:
    """The format of the file or folder at `path`, or `name` taken by the user's word.

    Raises MemtuiError for an empty file, a web page and what no format fits; UsageError for a wrong `name`.
    """
    kind = kind_of(path)
    if name != "auto":
        chosen = format_named(name)
        chosen.reader(kind)
        return Detected(path, kind, chosen, ("named by the user",))
    found, evidence = _by_content(path, kind)
    return Detected(path, kind, format_named(found), evidence)


def kind_of(path: Path) -> Kind:
    """What the source is physically."""
    if not path.exists():
        raise UsageError(f"There is no file or folder {path}.", fix="Check the path.")
    if path.is_dir():
        is_table = path.suffix == ".lance" or any(each.suffix == ".lance" for each in path.iterdir())
        return "lance" if is_table else "folder"
    from memtui.engine.transfer.readers.memory_core import MAGIC
    from memtui.engine.transfer.sources.files import ZIP

    with path.open("rb") as handle:
        head = unzipped(handle, path.name).peek(HEAD)[:HEAD]
    if head.startswith(MAGIC):
        return "sqlite"
    if path.suffix == ".sqlite":
        return "sqlite"
    if head.startswith(_PARQUET):
        return "parquet"
    if head.startswith(ZIP):
        return "zip"
    text = head_text(head)
    if not text.strip():
        raise MemtuiError(f"{path.name} is empty: there is nothing to import.", fix="Export it again.")
    if _HTML.match(text):
        raise MemtuiError(
            f"{path.name} is HTML, not an export: probably the page of a log-in.",
            fix="Sign in there and fetch the file again.",
        )
    from memtui.engine.transfer.readers.pasted import BRACKET

    if text.lstrip()[:1] in ("{", "[") and not BRACKET.match(text.lstrip()):
        from memtui.engine.transfer.readers.json_marks import is_lines

        return "lines" if is_lines(text, path.suffix) else "json"
    return "text"


def _by_content(path: Path, kind: Kind) -> tuple[str, tuple[str, ...]]:
    if kind in ("json", "lines"):
        from memtui.engine.transfer.readers.json_marks import json_format

        return json_format(path, kind)
    if kind == "lance":
        return "lancedb", _of_table(path)
    if kind == "sqlite":
        return "memory-core", _of_sqlite(path)
    if kind == "parquet":
        return _of_parquet(path)
    from memtui.engine.transfer.readers.note_marks import notes_format

    return notes_format(path, kind)


def _of_table(path: Path) -> tuple[str, ...]:
    from memtui.engine.store.open import open_store

    store = open_store(path)
    vectors = f"vectors of {store.dims} numbers" if store.dims else "no vectors"
    return (
        f"a table with the columns of {store.dialect.title}",
        f"{counted(store.count(), 'row')}, {vectors}",
    )


def _of_sqlite(path: Path) -> tuple[str, ...]:
    from memtui.engine.transfer.readers.memory_core import generation_of, opened, tables

    with opened(path) as db:
        generation = generation_of(db)
        if generation is None:
            names = ", ".join(sorted(tables(db))[:8]) or "none"
            raise MemtuiError(
                f"{path.name} is an SQLite file of no program we know; its tables are {names}.",
                fix="Name an index of memory-core, or export its texts as CSV.",
            )
        return (
            f"the tables {generation.chunks} and {generation.files} (generation {generation.name})",
            *_model(db, generation.meta),
        )


def _model(db: sqlite3.Connection, meta: str) -> tuple[str, ...]:
    import json

    try:
        row = db.execute(f"SELECT value FROM {meta} WHERE key = 'memory_index_meta_v1'").fetchone()
        value = json.loads(row[0]) if row else {}
    except (sqlite3.Error, ValueError, RecursionError):
        return ()
    model, dims = value.get("model"), value.get("vectorDims")
    return (f"embedded with {model}" + (f", {dims} numbers each" if dims else ""),) if model else ()


def _of_parquet(path: Path) -> tuple[str, tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from memtui.engine.transfer.readers.memtui import parquet_frame
    from memtui.engine.transfer.record import DIALECT

    try:
        with pq.ParquetFile(path) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowInvalid, OSError) as error:
        raise MemtuiError(
            f"{path.name} is no whole Parquet file.", fix="Export it again.", details=str(error)
        ) from error
    frame = parquet_frame(schema.metadata or {})
    if frame:
        return "memtui", (
            "memtui's mark in the schema",
            f"{counted(rows, 'row')} of a {frame.get(DIALECT)} table",
        )
    return "parquet", (f"{counted(rows, 'row')} with the columns {', '.join(schema.names[:12])}",)
