"""Taking memories out: by filter or marked rows, in one fixed order, a window at a time, secrets masked."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.core.named_file import is_replaced, real_place, written_whole
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.exporting.losses import count_losses
from memtui.engine.transfer.exporting.request import (
    Exported,
    ExportFormat,
    ExportRequest,
    FileStart,
    Header,
    RowWindow,
)
from memtui.engine.transfer.exporting.rows import count_left_out, left_out, windows, with_left_out
from memtui.engine.transfer.record import LossTable
from memtui.engine.transfer.registry import export_format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.store.table import Store


def export(
    request: ExportRequest,
    store: Store,
    catalog: Catalog,
    *,
    now_ms: int,
    model: str | None = None,
    dry_run: bool = False,
    chosen_by: dict[str, str] | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Exported:
    """Write the memories in the order of time (the plugin's form: newest first) and of ids within a moment.

    The file (or folder) appears whole or not at all. `dry_run` counts without writing. `chosen_by` is
    what the file says of how they were chosen, where that is not the request's own filter. Raises UsageError for
    an unknown format or a filter that does not parse, RefusedError when something is there already,
    MemtuiError when there is no room.
    """
    form = export_format(request.format)
    positions = chosen(request, store, catalog, now_ms)
    gone = left_out(store, form, request.fields)
    filters = _filters(request) if chosen_by is None else chosen_by
    header = Header(store, len(positions), request.vectors, model, now_ms, filters, gone)
    place_of = _place(form, request, dry_run)
    ledger, lost = LossTable(), Counter[str]()
    masked = 0
    rows = windows(store, catalog, positions, request)
    if dry_run:
        for window in _told(rows, len(positions), on_progress, cancel):
            masked += sum(window.masked)
            count_losses(form, request, header, window, ledger)
            count_left_out(window, header, form, lost)
        losses = with_left_out(ledger.lines(), lost)
        return Exported(len(positions), masked, losses, request.path, warnings=_warnings(masked))
    with _appearing(form, place_of) as place:
        writer = form.open_writer(place, header)
        for window in _told(rows, len(positions), on_progress, cancel):
            masked += sum(window.masked)
            count_losses(form, request, header, window, ledger)
            count_left_out(window, header, form, lost)
            try:
                writer.write(window)
            except OSError as error:
                raise _no_room(request.path, error) from error
        files = writer.close()
        size = sum(path.stat().st_size for path in files)
    losses = with_left_out(ledger.lines(), lost)
    return Exported(len(positions), masked, losses, request.path, size, len(files), _warnings(masked))


def chosen(request: ExportRequest, store: Store, catalog: Catalog, now_ms: int) -> NDArray[np.int64]:
    """Places in the catalog of the rows to export, in the order of the export."""
    import numpy as np

    from memtui.engine.catalog.select import in_scopes
    from memtui.engine.catalog.views import filter_mask

    if request.ids:
        places: list[int] = []
        for memory_id in request.ids:
            found = catalog.find(memory_id)
            if not len(found):
                raise UsageError(
                    f"There is no memory {memory_id}.", fix="Mark it again; nothing was written."
                )
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
    return ordered[::-1] if export_format(request.format).newest_first else ordered


def _told(
    rows: Iterator[RowWindow], total: int, on_progress: OnProgress | None, cancel: CancelToken | None
) -> Iterator[RowWindow]:
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


_NOTE_SUFFIXES = (".md", ".markdown", ".txt")
"""Ends of names by which a person means one file of text."""


def _place(form: ExportFormat, request: ExportRequest, dry_run: bool) -> Path:
    """Where the export really goes: behind every link. Raises where something is in the way."""
    path = request.path
    try:
        real = real_place(path)
    except OSError as error:
        raise _no_room(path, error) from error
    if form.folder:
        if real.exists() and not real.is_dir():
            raise RefusedError(f"{path} is no folder.", fix="Name a folder; nothing was written.")
        if path.suffix.lower() in _NOTE_SUFFIXES and not real.exists():
            raise UsageError(
                f"{path} looks like the name of a file; {form.name} writes a folder of files.",
                fix=f"Name a folder, for example {path.with_suffix('')}; nothing was written.",
            )
        return real
    if real.is_dir():
        raise UsageError(f"{path} is a folder.", fix="Name a file; nothing was written.")
    if is_replaced(real) and not request.overwrite and not dry_run:
        raise RefusedError(
            f"{path} is there already.", fix="Choose another name, or repeat with --yes to replace it."
        )
    return real


@contextmanager
def _appearing(form: ExportFormat, path: Path) -> Iterator[Path]:
    """Where to write: a file that appears whole; a folder is filled file by file."""
    try:
        if form.folder:
            path.mkdir(parents=True, exist_ok=True)
            yield path
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(path) as part:
                yield part
    except OSError as error:
        raise _no_room(path, error) from error


def _no_room(path: Path, error: OSError) -> MemtuiError:
    return MemtuiError(
        f"{path} cannot be written: {(error.strerror or str(error)).lower()}.",
        fix="Choose another place, or make room; nothing was kept.",
        details=str(error),
    )


# How large an export will be: a sample of its rows written for real, and scaled.

SAMPLE = 256


def estimated_bytes(
    request: ExportRequest, store: Store, catalog: Catalog, *, now_ms: int, model: str | None = None
) -> int:
    """About how many bytes the export takes; exact where it has no more rows than the sample."""
    positions = chosen(request, store, catalog, now_ms)
    step = max(1, -(-len(positions) // SAMPLE))
    ids = tuple(memory_id for memory_id in catalog.ids.texts(positions[::step]) if memory_id)
    if not ids:
        return 0
    with tempfile.TemporaryDirectory(prefix="memtui-size-") as folder:
        sample = replace(request, path=Path(folder) / "sample", ids=ids, filter="", scopes=None)
        written = export(sample, store, catalog, now_ms=now_ms, model=model)
    return round(written.size_bytes * len(positions) / max(1, written.rows))


FIRST = 6
"""Memories whose lines are shown before an export is written."""

START_CHARS = 4_000
"""Of a file that is shown before it is written."""


def first_files(
    request: ExportRequest, store: Store, catalog: Catalog, *, now_ms: int, model: str | None = None
) -> tuple[FileStart, ...]:
    """How the files of the export begin, of its first memories: written for real, elsewhere; secrets always masked."""
    form = export_format(request.format)
    positions = chosen(request, store, catalog, now_ms)[:FIRST]
    ids = tuple(memory_id for memory_id in catalog.ids.texts(positions) if memory_id)
    if not ids:
        return ()
    with tempfile.TemporaryDirectory(prefix="memtui-first-") as folder:
        place = Path(folder) / request.path.name
        sample = replace(request, path=place, ids=ids, filter="", scopes=None, mask=True, vectors=False)
        export(sample, store, catalog, now_ms=now_ms, model=model, chosen_by=_filters(request))
        if place.is_file():
            return (FileStart(request.path.name, _beginning(place, form)),)
        files = sorted(path for path in place.rglob("*.md") if path.is_file())
        return tuple(FileStart(path.relative_to(place).as_posix(), _beginning(path, form)) for path in files)


def _beginning(file: Path, form: ExportFormat) -> str:
    """The first characters of a file; of one that is no text, what its writer says that stands in it."""
    if form.in_words is not None:
        return form.in_words(file)[:START_CHARS]
    with file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(START_CHARS)


# What was exported lately: where it went, for a person who looks for it. Texts are never in it.

MOST = 50


@dataclass(frozen=True, slots=True)
class PastExport:
    """One export that was written."""

    time_ms: int
    path: str
    format: str
    rows: int


class Exports:
    """The last exports of one store, in the small file `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[PastExport]:
        """The last one first; what cannot be read is none."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        found = []
        for line in lines:
            try:
                found.append(PastExport(**json.loads(line)))
            except (ValueError, TypeError, RecursionError):
                continue
        return found[::-1]

    def add(self, written: PastExport) -> None:
        """Remember one more; a note that cannot be kept is no reason to fail."""
        kept = [*self.all()[: MOST - 1][::-1], written]
        text = "".join(json.dumps(asdict(each)) + "\n" for each in kept)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(dir=self._path.parent, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, self._path)
        except OSError:
            return
