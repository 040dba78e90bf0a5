"""Taking memories out: by filter or marked rows, in one fixed order, a window at a time, secrets masked."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from memtui.engine.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.export_fields import count_left_out, left_out, with_left_out
from memtui.engine.transfer.export_rows import Window, windows
from memtui.engine.transfer.loss import Ledger, Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.store.catalog import Catalog
    from memtui.engine.store.table import Store

FORMATS = ("jsonl", "json", "csv", "parquet", "markdown", "obsidian")
TITLES = {
    "jsonl": "JSON lines, with everything",
    "json": "memory-lancedb-pro's own export",
    "csv": "a table for spreadsheets",
    "parquet": "a table with everything, for other programs",
    "markdown": "MEMORY.md and daily files",
    "obsidian": "notes for an Obsidian vault",
}
FOLDERS = ("markdown", "obsidian")
"""Formats that are a folder of files."""


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
    """Fields to write beside id and text, of `export_fields.fields_of`; empty: all of them."""
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, or would be."""

    rows: int
    masked: int
    """Rows in which a secret was masked."""
    loss: tuple[Loss, ...]
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


class Writer(Protocol):
    """One format: told of the start, of windows of rows, and of the end."""

    def write(self, window: Window, ledger: Ledger) -> None: ...

    def close(self) -> None: ...


def export(
    request: ExportRequest,
    store: Store,
    catalog: Catalog,
    *,
    now_ms: int,
    model: str | None = None,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Exported:
    """Write the memories in the order of time (the plugin's form: newest first) and of ids within a moment.

    The file (or folder) appears whole or not at all. `dry_run` counts without writing. Raises UsageError for
    an unknown format or a filter that does not parse, RefusedError when something is there already,
    MemtuiError when there is no room.
    """
    if request.format not in FORMATS:
        raise UsageError(
            f"There is no format {request.format!r} to export to.", fix=f"Choose {', '.join(FORMATS)}."
        )
    positions = chosen(request, store, catalog, now_ms)
    gone = left_out(store, request.format, request.fields)
    header = Header(store, len(positions), request.vectors, model, now_ms, _filters(request), gone)
    _check_place(request, dry_run)
    ledger, lost = Ledger(), Counter[str]()
    masked = 0
    rows = windows(store, catalog, positions, request)
    if dry_run:
        for window in _told(rows, len(positions), on_progress, cancel):
            masked += sum(window.masked)
            _losses(request, header, window, ledger)
            count_left_out(window, header, request.format, lost)
        losses = with_left_out(ledger.lines(), lost)
        return Exported(len(positions), masked, losses, request.path, warnings=_warnings(masked))
    with _appearing(request) as place:
        writer = _writer(request, header, place)
        for window in _told(rows, len(positions), on_progress, cancel):
            masked += sum(window.masked)
            _losses(request, header, window, ledger)
            count_left_out(window, header, request.format, lost)
            try:
                writer.write(window, ledger)
            except OSError as error:
                raise _no_room(request.path, error) from error
        writer.close()
        size, files = _measure(place)
    losses = with_left_out(ledger.lines(), lost)
    return Exported(len(positions), masked, losses, request.path, size, files, _warnings(masked))


def chosen(request: ExportRequest, store: Store, catalog: Catalog, now_ms: int) -> NDArray[np.int64]:
    """Places in the catalog of the rows to export, in the order of the export."""
    import numpy as np

    from memtui.engine.store.select import in_scopes
    from memtui.engine.store.view import filter_mask

    if request.ids:
        places: list[int] = []
        for each in request.ids:
            found = catalog.find(each)
            if not len(found):
                raise UsageError(f"There is no memory {each}.", fix="Mark it again; nothing was written.")
            places.extend(found.tolist())
        positions = np.array(list(dict.fromkeys(places)), dtype=np.int64)
    else:
        mask = filter_mask(store, catalog, request.filter, now_ms=now_ms)
        keep = np.ones(catalog.n, dtype=np.bool_) if mask is None else mask
        if request.scopes is not None:
            keep = keep & in_scopes(catalog, request.scopes)
        positions = np.flatnonzero(keep)
    ids = catalog.ids
    order = np.lexsort(
        (catalog.row_ids[positions], ids.low[positions], ids.high[positions], catalog.timestamp[positions])
    )
    ordered: NDArray[np.int64] = positions[order]
    return ordered[::-1] if request.format == "json" else ordered


def _losses(request: ExportRequest, header: Header, window: Window, ledger: Ledger) -> None:
    from memtui.engine.transfer.export_loss import count_losses

    count_losses(request, header, window, ledger)


def _told(
    rows: Iterator[Window], total: int, on_progress: OnProgress | None, cancel: CancelToken | None
) -> Iterator[Window]:
    done = 0
    for window in rows:
        if cancel is not None:
            cancel.check()
        yield window
        done += len(window)
        if on_progress:
            on_progress(Progress("exporting", done, total))


def _filters(request: ExportRequest) -> dict[str, str]:
    found = {"filter": request.filter} if request.filter else {}
    return {**found, "ids": str(len(request.ids))} if request.ids else found


def _warnings(masked: int) -> tuple[str, ...]:
    if not masked:
        return ()
    rows = "memory holds" if masked == 1 else "memories hold"
    return (f"{masked:,} {rows} what looks like a secret; it is masked in the export.",)


# ---------------------------------------------------------------------- the place


def _check_place(request: ExportRequest, dry_run: bool) -> None:
    path = request.path
    if request.format in FOLDERS:
        if path.exists() and not path.is_dir():
            raise RefusedError(f"{path} is a file.", fix="Name a folder; nothing was written.")
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", fix="Name a file; nothing was written.")
    if path.exists() and not request.overwrite and not dry_run:
        raise RefusedError(
            f"{path} is there already.", fix="Choose another name, or repeat with --yes to replace it."
        )


@contextmanager
def _appearing(request: ExportRequest) -> Iterator[Path]:
    """Where to write: a file beside the wanted one, renamed at the end; a folder is filled file by file."""
    path = request.path
    try:
        if request.format in FOLDERS:
            path.mkdir(parents=True, exist_ok=True)
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise _no_room(path, error) from error
    part = Path(name)
    try:
        yield part
        os.chmod(part, 0o600 if not path.exists() else path.stat().st_mode & 0o777)
        part.replace(path)
    except OSError as error:
        raise _no_room(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def _no_room(path: Path, error: OSError) -> MemtuiError:
    return MemtuiError(
        f"{path} cannot be written: {(error.strerror or str(error)).lower()}.",
        fix="Choose another place, or make room; nothing was kept.",
        details=str(error),
    )


def _measure(place: Path) -> tuple[int, int]:
    if place.is_file():
        return place.stat().st_size, 1
    files = [each for each in place.rglob("*.md") if each.is_file()]
    return sum(each.stat().st_size for each in files), len(files)


def _writer(request: ExportRequest, header: Header, place: Path) -> Writer:
    from importlib import import_module

    module = import_module(f"memtui.engine.transfer.writers.{request.format}")
    made: Writer = module.open_writer(place, header)
    return made


def open_text(place: Path) -> IO[str]:
    """A text file for writing, UTF-8, line feeds only."""
    return place.open("w", encoding="utf-8", errors="replace", newline="\n", buffering=1 << 20)
