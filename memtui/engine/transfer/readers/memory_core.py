"""memory-core's index: the chunks of an agent's notes in SQLite, opened for reading only."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import DamagedStoreError, MemtuiError, RefusedError
from memtui.engine.core.sqlite_file import open_unchanged
from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import kind_of, put_time, word
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.notes import DATED
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable, without_nul
from memtui.engine.transfer.sources.values import read_date

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_PAGE = 512

SESSIONS = "sessions"

_PLACES = (
    "agents/*/agent/openclaw-agent.sqlite",
    "agent/openclaw-agent.sqlite",
    "memory/*.sqlite",
    "*.sqlite",
)
"""Where a folder holds indexes, the places of today first."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One layout of the index: its tables, and how embeddings stand in it."""

    name: str
    chunks: str
    files: str
    meta: str
    binary: bool


GENERATIONS = (
    Generation("v1", "chunks", "files", "meta", binary=False),
    Generation("v2", "memory_index_chunks", "memory_index_sources", "memory_index_meta", binary=True),
)


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """Each chunk as a record with its file, lines and vector; chunks of conversations on request only."""
    with opened(path) as db:
        generation = generation_of(db)
        if generation is None:
            raise MemtuiError(
                f"{path.name} is no index of memory-core.", fix="Name the file of an agent's index."
            )
        agent = options.agent or agent_of(path)
        times = _file_times(db, generation)
        options.meter.total = db.execute(f"SELECT count(*) FROM {generation.chunks}").fetchone()[0]
        left = 0
        if not options.meter.total:
            yield SourceRemark(f"{path.name} holds no chunks: the index is empty.")
        for row in _chunks(db, generation):
            options.meter.add(1)
            where = f"chunk {options.meter.done}"
            if (odd := _odd_column(row)) is not None:
                yield Rejected(where, odd)
                continue
            if row["source"] == SESSIONS and not options.sessions:
                left += 1
                yield Rejected(
                    f"{row['path']}:{row['start_line']}",
                    "part of a conversation, not of a note (conversations are taken on request)",
                )
                continue
            yield _record(row, agent, times.get(row["path"]), generation, options)
    if left:
        yield SourceRemark(
            f"{counted(left, 'chunk is a conversation', 'chunks are conversations')}: what was said, "
            "not what is to be remembered."
        )


def read_folder(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The chunks of every agent's index below a folder, one index after the other."""
    for index in indexes_below(path):
        name = index.relative_to(path).as_posix()
        for each in read(index, options):
            match each:
                case Record():
                    each.where = f"{name}, {each.where}"
                    yield each
                case Rejected():
                    yield replace(each, where=f"{name}, {each.where}")
                case SourceRemark():
                    yield each


def indexes_below(folder: Path) -> tuple[Path, ...]:
    """The indexes of agents in a state folder, or in a folder that holds some; one an agent.

    An agent's own database is its index where it has one: `memory/ID.sqlite` beside it is left from before.
    """
    found: dict[str, Path] = {}
    for pattern in _PLACES:
        for place in sorted(folder.glob(pattern)):
            if place.is_file() and is_index(place):
                found.setdefault(agent_of(place) or place.name, place)
    return tuple(found.values())


def is_index(path: Path) -> bool:
    """Whether a database is an index of memory-core. Errors of `opened`: what cannot be read is never "none"."""
    with opened(path) as db:
        return generation_of(db) is not None


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write. Errors name the file: empty, damaged, held by another program."""
    try:
        if path.stat().st_size == 0:
            raise MemtuiError(
                f"{path.name} is empty: there is no index in it.", fix="Let the agent build its index."
            )
        before = _state(path)
        held = ExitStack()
        connection = held.enter_context(open_unchanged(path))
    except (OSError, sqlite3.Error) as error:
        raise MemtuiError(
            f"{path} cannot be opened: {str(error).lower()}.",
            fix="Check the path and the permissions of the file.",
        ) from error
    with held:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            yield connection
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise RefusedError(
                    f"{path} is held by another program.",
                    fix="Try again when it is done; nothing was imported.",
                ) from error
            raise _damaged(path, error, before) from error
        except sqlite3.DatabaseError as error:
            raise _damaged(path, error, before) from error
        if before not in (None, _state(path)):
            raise _changed(path)


def _state(path: Path) -> tuple[int, int] | None:
    """Bytes and time of a database at rest: others while it is read mean that its program wrote to it.

    None for one with a log beside it, which is read as of one moment whatever is written meanwhile.
    """
    if path.with_name(path.name + "-wal").exists():
        return None
    found = path.stat()
    return found.st_size, found.st_mtime_ns


_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite itself calls damage."""


def _changed(path: Path) -> RefusedError:
    return RefusedError(
        f"{path} was changed by another program while it was read.",
        fix="Try again when it is done; nothing was imported.",
    )


def _damaged(path: Path, error: sqlite3.Error, before: tuple[int, int] | None) -> MemtuiError:
    if before not in (None, _state(path)):
        return _changed(path)
    if getattr(error, "sqlite_errorcode", _DAMAGE[0]) & 255 not in _DAMAGE:  # rights, a full disk, a time-out
        return MemtuiError(
            f"{path} cannot be read: {str(error).lower()}.",
            fix="Check the permissions and the disk of the file.",
        )
    return DamagedStoreError(
        f"{path} is damaged: {error}.", fix="Have the agent rebuild its index; its notes are the source."
    )


def tables(db: sqlite3.Connection) -> frozenset[str]:
    """Names of the tables."""
    return frozenset(row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def generation_of(db: sqlite3.Connection) -> Generation | None:
    """Which layout it is, by its tables; None for another program's database."""
    names = tables(db)
    return next(
        (generation for generation in GENERATIONS if {generation.chunks, generation.files} <= names), None
    )


def agent_of(path: Path) -> str | None:
    """The agent that an index belongs to, by where it lies."""
    if path.name == "openclaw-agent.sqlite":
        return path.parent.parent.name if path.parent.name == "agent" else None
    return path.stem if path.parent.name == "memory" else None


def _chunks(db: sqlite3.Connection, generation: Generation) -> Iterator[sqlite3.Row]:
    cursor = db.execute(
        "SELECT id, path, source, start_line, end_line, hash, model, text, embedding, updated_at"
        f" FROM {generation.chunks} ORDER BY source, path, start_line, id"
    )
    while rows := cursor.fetchmany(_PAGE):
        yield from rows


def _file_times(db: sqlite3.Connection, generation: Generation) -> dict[str, int]:
    columns = {row[1] for row in db.execute(f"PRAGMA table_info({generation.files})")}
    if not {"path", "mtime"} <= columns:
        return {}
    rows = db.execute(f"SELECT path, mtime FROM {generation.files}")
    return {path: int(ms) for path, ms in rows if isinstance(path, str) and _is_time(ms)}


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _odd_column(row: sqlite3.Row) -> str | None:
    """Why a chunk is none: SQLite keeps anything in any column. None for a sound one."""
    for column, what in (("text", "text"), ("path", "file")):
        value = row[column]
        if value is None:
            return f"it has no {what}"
        if not isinstance(value, str):
            return f"its {what} is {'bytes' if isinstance(value, bytes) else kind_of(value)}, not a text"
    return None


def _plain(value: Any) -> Any:
    """A value of a column as JSON can hold it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _record(
    row: sqlite3.Row, agent: str | None, file_ms: int | None, generation: Generation, options: ReadOptions
) -> Record | Rejected:
    where = f"{row['path']}:{row['start_line']}"
    text, nul = without_nul(row["text"].removeprefix("\ufeff").replace("\r\n", "\n"))
    text, odd = storable(text.strip())
    if not text:
        return Rejected(where, "its text is empty")
    record = Record(text=text, where=where, scope=f"agent:{agent}" if agent else None)
    record.foreign_id = word(row["id"])
    record.key = f"{row['path']}\n{row['start_line']}\n{row['hash']}"
    record.rest = {key: _plain(row[key]) for key in ("path", "source", "start_line", "end_line")}
    for said in (nul, odd):
        if said:
            record.lost("text", said)
    named = DATED.fullmatch(row["path"].rpartition("/")[2])
    dated = read_date(named[1]) if named else None
    if dated is not None:
        record.timestamp_ms, record.time_from = dated, "file name"
    else:
        put_time(
            record,
            "timestamp_ms",
            file_ms if file_ms is not None else _plain(row["updated_at"]),
            options.now_ms,
        )
        record.time_from = "file time"
    record.model = word(row["model"])
    record.vector = _vector(row["embedding"], generation)
    return record


def _vector(stored: Any, generation: Generation) -> NDArray[np.float32] | None:
    import numpy as np

    try:
        if generation.binary and isinstance(stored, bytes) and len(stored) % 8 == 0:
            vector = np.frombuffer(stored, dtype="<f8").astype(np.float32)
        else:
            vector = np.asarray(json.loads(stored), dtype=np.float32)
    except (ValueError, TypeError, RecursionError):
        return None
    usable = vector.ndim == 1 and vector.size and bool(np.isfinite(vector).all()) and bool(vector.any())
    return vector if usable else None


def detects(head: Head) -> Sighting | None:
    """The tables of one of its generations; another program's database is refused by the names of its tables.

    Of a folder: that it holds indexes, and no notes, which are the source of every index.
    """
    if head.kind == "folder":
        found = () if head.notes.files else indexes_below(head.path)
        names = ", ".join(each.relative_to(head.path).as_posix() for each in found[:4])
        return (
            Sighting((f"the index {names}" if len(found) == 1 else f"the indexes {names}",), 0.3)
            if found
            else None
        )
    with opened(head.path) as db:
        generation = generation_of(db)
        if generation is None:
            names = ", ".join(sorted(tables(db))[:8]) or "none"
            refusal = MemtuiError(
                f"{head.path.name} is an SQLite file of no program we know; its tables are {names}.",
                fix="Name an index of memory-core, or export its texts as CSV.",
            )
            return Sighting((), 0.0, refusal)
        return Sighting(
            (
                f"the tables {generation.chunks} and {generation.files} (generation {generation.name})",
                *_model(db, generation.meta),
            )
        )


def _model(db: sqlite3.Connection, meta: str) -> tuple[str, ...]:
    """The embedding model that the index names, as evidence; none where it cannot be read."""
    try:
        row = db.execute(f"SELECT value FROM {meta} WHERE key = 'memory_index_meta_v1'").fetchone()
        value = json.loads(row[0]) if row else {}
    except (sqlite3.Error, ValueError, RecursionError):
        return ()
    model, dims = value.get("model"), value.get("vectorDims")
    return (f"embedded with {model}" + (f", {dims} numbers each" if dims else ""),) if model else ()


PROTOCOL = 1

FORMATS = (
    Format(
        "memory-core",
        "memory-core's index",
        {"sqlite": read, "folder": read_folder},
        detects,
        80,
        asks=("sessions",),
    ),
)
