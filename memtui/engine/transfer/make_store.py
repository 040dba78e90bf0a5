"""A new store appears whole or not at all: it is made beside its place and moved there at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError, RefusedError

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.table import Store


_END = ".making"

_ABANDONED_S = 86_400
"""Age of a half-made folder of another machine's that nobody works on any more."""


@contextmanager
def appearing(destination: Path) -> Iterator[Path]:
    """An empty folder that becomes `destination` when the block ends well, and vanishes when it does not.

    What a killed run left beside it is cleared away. Raises RefusedError when something is in `destination`,
    MemtuiError when there is no room.
    """
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise RefusedError(
            f"{destination} exists and is not empty.",
            fix="Name a new folder; to add to a store, use: memtui import SOURCE --store STORE.",
        )
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        _clear(destination)
        lead = f".{destination.name}.{_machine()}-{os.getpid()}."
        making = Path(tempfile.mkdtemp(prefix=lead, suffix=_END, dir=destination.parent))
        try:
            yield making
            if destination.exists():
                destination.rmdir()
            making.rename(destination)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as error:
        raise MemtuiError(
            f"The store cannot be made in {destination}: {(error.strerror or str(error)).lower()}.",
            fix="Make room there, or choose another place; nothing was kept of it.",
        ) from error


def create_table(folder: Path, form: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    """A table of the dialect `form` with its full-text index in `folder`, the rows streamed into it.

    What `batches` raises is raised: on its way through the engine it would become another error.
    """
    import pyarrow as pa

    from memtui.engine.store.create import create_like, create_own, create_pro

    raised: list[BaseException] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:
            raised.append(error)
            raise

    makers: dict[str, Callable[[Path, pa.RecordBatchReader], None]] = {
        "memtui": create_own,
        "pro": create_pro,
        "generic": partial(create_like, options={}),
    }
    try:
        makers.get(form, create_like)(folder, pa.RecordBatchReader.from_batches(schema, watched()))
    except MemtuiError as error:
        raise (raised[0] if raised else error) from None


def open_like(place: Path | str, store: Store, options: Mapping[str, str] | None = None) -> Store:
    """Open a table that was made with the columns of `store`, in a folder or at an address that `options` reach."""
    from memtui.engine.dialects.generic import MAPPABLE
    from memtui.engine.store.open import open_store

    if not store.dialect.can.column_map:
        return open_store(place, storage_options=options)
    named = {part: getattr(store.dialect.columns, part) for part in MAPPABLE}
    columns = {part: name for part, name in named.items() if name}
    return open_store(place, columns=columns, storage_options=options)


def _clear(destination: Path) -> None:
    lead = f".{destination.name}."
    for left in destination.parent.iterdir():
        if left.name.startswith(lead) and left.name.endswith(_END) and _abandoned(left, lead):
            shutil.rmtree(left, ignore_errors=True)


def _abandoned(folder: Path, lead: str) -> bool:
    """Whether the program that makes it is gone."""
    machine, _, process = folder.name.removeprefix(lead).split(".")[0].rpartition("-")
    if os.name == "posix" and machine == _machine() and process.isdigit():
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False
    with contextlib.suppress(OSError):
        return time.time() - folder.stat().st_mtime > _ABANDONED_S
    return False


def _machine() -> str:
    return "".join(each for each in socket.gethostname() if each.isalnum())[:32] or "machine"
