"""Reading every memory of a store with a model, once; what changed since is read again, nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import Cancelled, MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.providers.token_model import TokenModel
from memtui.engine.recall.recipes.memtui.signals import spoken
from memtui.engine.recall.recipes.memtui.survey import survey
from memtui.engine.recall.recipes.memtui.token_vectors import CHUNK, MemoryToRead, TokenReader
from memtui.engine.recall.rows import decoded, rows_of
from memtui.engine.recall.store_search import read_columns
from memtui.engine.store.token_table import (
    KeptTokens,
    TokenTable,
    TokenTableInfo,
    create_token_table,
    open_token_table,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.engine import Engine
    from memtui.engine.store.snapshot import Snapshot

DIMS = 128
"""Numbers kept of each piece: spec quality 2 found .696 at 128 in bytes beside .690 at 384."""

FITTED_ON = 512
"""Memories whose pieces say which directions to keep."""

PUT_AT_ONCE = 1024

LITTLE = 0.001
"""For such a share of the memories the whole table is not read again: they are read when a question needs them."""


@dataclass(frozen=True)
class Built:
    """What a build did."""

    model: str
    memories: int
    made: int
    unchanged: int
    removed: int
    bytes: int


@dataclass(frozen=True)
class Status:
    """What there is of token vectors for a store."""

    model: str
    folder: str
    dims: int
    memories: int
    """Of the store, with a text."""
    current: int
    """Whose vectors are of their present texts."""
    bytes: int


def build(
    engine: Engine,
    folder: Path | None = None,
    *,
    dims: int = DIMS,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Built:
    """Make the token vectors of every memory whose texts have none yet; those of `folder`'s model, or the same again.

    Another model, or other `dims`, begins anew. Cancelled or killed, what was made stays and counts the next time.
    The store is only read. Raises UsageError without a model or a state folder, EmbeddingError as the model.
    """
    place = _place(engine)
    table = open_token_table(place)
    if folder is None:
        if table is None:
            raise UsageError(
                "No model is known for token vectors.",
                fix="Name its folder: memtui context build --model FOLDER; memtui context fetch gets one.",
            )
        folder, dims = Path(table.info.folder), table.info.dims
    if dims < 8:
        raise UsageError(f"{dims} dimensions tell nothing apart.", fix="Keep 8 or more; 128 is usual.")
    cancel = cancel or CancelToken()
    model, pin = TokenModel(folder), engine.store.pin()
    rows = list(_memories(pin, cancel))
    if table is None or (table.info.model, table.info.dims) != (model.name, _kept_dims(table, dims)):
        table = _new_table(place, model, rows, dims)
    reader, known = TokenReader(table, model), table.keys()
    todo = [row for row in rows if known.get(row.id) != row.key(model.name)]
    todo.sort(key=lambda row: len(row.text) + len(row.before))
    gone = known.keys() - {row.id for row in rows}
    table.remove(gone)
    for start in range(0, len(todo), PUT_AT_ONCE):
        made: dict[str, KeptTokens] = {}
        for at in range(start, min(start + PUT_AT_ONCE, len(todo)), CHUNK):
            cancel.check()
            made |= reader.kept(todo[at : min(at + CHUNK, start + PUT_AT_ONCE)])
            if on_progress is not None:
                on_progress(Progress("token vectors", at, len(todo), "memories"))
        table.put(made)
    if todo or gone:
        table.settle()
    return Built(model.name, len(rows), len(todo), len(rows) - len(todo), len(gone), table.size_bytes)


def keep_up(
    engine: Engine,
    came: int,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> str:
    """Make the token vectors of the `came` memories added last; return what went wrong, empty where nothing did.

    Nothing happens where the store has none, or where little came into much. The memories are there already, so nothing
    is raised: what is not read now is read when a question needs it.
    """
    try:
        if engine.token_place is None or open_token_table(engine.token_place) is None:
            return ""
        if came <= engine.store.count() * LITTLE:
            return ""
        build(engine, on_progress=on_progress, cancel=cancel)
    except (MemtuiError, Cancelled) as error:
        return f"token vectors were not made for all that came in ({error}): memtui context build makes them"
    return ""


def status(engine: Engine) -> Status | None:
    """What there is for this store, compared with its present texts; None without any."""
    table = open_token_table(_place(engine))
    if table is None:
        return None
    known = table.keys()
    rows = list(_memories(engine.store.pin(), CancelToken()))
    current = sum(known.get(row.id) == row.key(table.info.model) for row in rows)
    return Status(table.info.model, table.info.folder, table.info.dims, len(rows), current, table.size_bytes)


def remove(engine: Engine) -> bool:
    """Remove the token vectors of this store; False where there were none. The model's files stay."""
    place = _place(engine)
    if not place.is_dir():
        return False
    shutil.rmtree(place)
    return True


def _place(engine: Engine) -> Path:
    place = engine.token_place
    if place is None:
        raise UsageError(
            "Token vectors are kept in memtui's state folder, and this engine has none.",
            fix="Open the store with a state folder.",
        )
    return place


def _kept_dims(table: TokenTable, wanted: int) -> int:
    """The dims that a table for `wanted` would have: a model that gives fewer keeps those."""
    return table.info.dims if table.info.dims <= wanted and table.projection() is None else wanted


def _memories(pin: Snapshot, cancel: CancelToken) -> Iterator[MemoryToRead]:
    """Every memory with a text, as the model reads it; of a doubled id the last one, as a recall reads it."""
    import pyarrow as pa

    chains = survey(pin, None, check=cancel.check).chains
    columns = [name for name in read_columns(pin.dialect) if name != pin.dialect.columns.vector]
    texts: dict[str, str] = {}
    for batch in pin.scan(columns):
        cancel.check()
        for row in rows_of(pa.Table.from_batches([batch]), pin.dialect):
            texts[row.id] = spoken(decoded(row))[1]
    for memory_id, text in texts.items():
        before = chains.around(memory_id)[0]
        if text.strip():
            yield MemoryToRead(memory_id, texts.get(before, "") if before else "", text)


def _new_table(place: Path, model: TokenModel, rows: Sequence[MemoryToRead], dims: int) -> TokenTable:
    """An empty table, with the directions to keep where the model gives more than `dims` numbers."""
    import numpy as np

    stride = max(1, len(rows) // FITTED_ON)
    sample = model.read_many([(row.before, row.text) for row in rows[::stride][:FITTED_ON]])
    pieces = [each.matrix for each in sample if len(each.matrix)] or [model.read("a").matrix]
    stacked = np.concatenate(pieces)
    projection = _directions(stacked, dims) if stacked.shape[1] > dims else None
    kept = dims if projection is not None else int(stacked.shape[1])
    return create_token_table(place, TokenTableInfo(model.name, str(model.folder), kept), projection)


def _directions(pieces: NDArray[np.float32], dims: int) -> NDArray[np.float32]:
    """[model's dimensions, dims]: the directions along which pieces differ most, and their mean, which cosines need.

    The eigenvectors of the second moments, without centring: cosines survive the projection best that way.
    """
    import numpy as np

    moments = pieces.T.astype(np.float64) @ pieces
    _, vectors = np.linalg.eigh(moments)
    strongest: NDArray[np.float32] = vectors[:, ::-1][:, :dims].astype(np.float32)
    return strongest
