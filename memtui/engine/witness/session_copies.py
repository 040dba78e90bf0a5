"""The files of sessions that hold a text: as they lie, compressed, in a database's rows and archives. Reads only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.witness.formats.compressed import expand_event, open_archive
from memtui.engine.witness.formats.database import ARCHIVES, COLD, EVENTS, FORM, RECORDED
from memtui.engine.witness.formats.transcript import PACKED
from memtui.engine.witness.session import SessionFile

_CHUNK = 1 << 20

_DATABASES = (".sqlite", ".db")


def session_paths(files: Sequence[SessionFile]) -> dict[Path, str]:
    """The files of these sessions by what they are: transcripts, the recorder's files, archives that lie beside."""
    found: dict[Path, str] = {}
    for file in files:
        if file.path in found:
            continue
        found[file.path] = "session"
        if file.form == FORM:
            beside = file.path.parent.parent / "sessions"
            packed = [*beside.glob(f"*{PACKED}"), *beside.glob(f"cold/*{PACKED}")]
        else:
            packed = []
            stem = file.path.name.split(".jsonl")[0]
            for path in file.path.parent.glob(f"{stem}.trajectory.jsonl*"):
                if path.is_file():
                    found[path] = "trajectory"
        for path in packed:
            if path.is_file():
                found.setdefault(path, "session")
    return found


def file_holds(
    path: Path, needles: Sequence[bytes], *, ignore_case: bool = False, cancel: CancelToken | None = None
) -> bool:
    """Whether a file holds one of these texts, in its bytes or in what is compressed in it.

    `ignore_case` takes ASCII letters of any case; the needles are lower case then. A file that cannot be read holds
    nothing: what was not seen is not claimed.
    """
    longest = max(map(len, needles), default=0)
    if not longest:
        return False
    for stream in _streams(path):
        tail = b""
        for chunk in stream:
            if cancel is not None:
                cancel.check()
            here = tail + (chunk.lower() if ignore_case else chunk)
            if any(needle in here for needle in needles):
                return True
            tail = here[-longest:]
    return False


def _streams(path: Path) -> Iterator[Iterable[bytes]]:
    """What is looked through of a file, each part by itself."""
    yield _plain(path)
    if path.suffix == PACKED:
        yield _unpacked(path)
    elif path.suffix in _DATABASES:
        yield _plain(path.with_name(path.name + "-wal"))
        # A text that goes on from page to page is whole only in its row.
        yield from ([value] for value in _rows(path))


def _plain(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError:
        return


def _unpacked(source: Path | bytes) -> Iterator[bytes]:
    try:
        with open_archive(source, packed=True) as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except OSError:
        return


def _rows(path: Path) -> Iterator[bytes]:
    try:
        with open_unchanged(path) as db:
            for table in (EVENTS, RECORDED):
                columns = column_names(db, table)
                if "event_json" not in columns:
                    continue
                packed = "event_zstd, event_utf8_bytes" if "event_zstd" in columns else "NULL, NULL"
                for text, blob, size in db.execute(f"SELECT event_json, {packed} FROM {table}"):
                    if isinstance(text, str):
                        yield text.encode("utf-8", "surrogatepass")
                    elif blob is not None:
                        try:
                            yield expand_event(blob, size)
                        except ValueError:
                            continue
            for table in (ARCHIVES, COLD):
                if "archive_blob" in column_names(db, table):
                    for (blob,) in db.execute(f"SELECT archive_blob FROM {table}"):
                        if isinstance(blob, bytes):
                            yield b"".join(_unpacked(blob))
    except (sqlite3.Error, OSError):
        return
