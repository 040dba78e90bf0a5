"""Another embedding model for a whole store: a second table, made beside the first and verified against it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import EmbeddingError, MemtuiError, RefusedError, UsageError
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.embedding import Cost, is_offline, measured
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.embed.embedder import Embedder
    from memtui.engine.store.table import Store

MODEL_MARK = b"memtui.model"
"""Key in the schema metadata of memtui's own tables: the model that made the vectors."""
NOTE = "reembed.json"
"""File beside a second table: the version of the store that it was made from, and its model."""
_WINDOW = 1_024
_SAMPLE = 64
ALIKE = 0.999
"""Cosine of a stored vector and one made anew of the same text by the same model; services round a little."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What re-embedding takes."""

    rows: int
    empty: int
    """Rows without a text: they keep a vector of zeros."""
    dims_before: int
    dims: int
    cost: Cost
    bytes: int
    """Size of the new vectors."""


@dataclass(frozen=True, slots=True)
class Reembedded:
    """A second table that was made and verified."""

    folder: Path
    model: str
    dims: int
    rows: int
    version: int
    """The version of the store that it was made from."""
    sampled: int
    similarity: float
    """The lowest cosine between a stored vector of the sample and one made anew."""
    found_itself: int
    """How many of the sample are their own nearest neighbour in the new table."""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "folder": str(self.folder),
            "model": self.model,
            "dims": self.dims,
            "rows": self.rows,
            "version": self.version,
            "sampled": self.sampled,
            "similarity": self.similarity,
            "found_itself": self.found_itself,
        }


def estimate(store: Store, embedder: Embedder, timer: Callable[[], float], *, ask: bool = True) -> Estimate:
    """Rows, characters, time measured on a sample, and the size of the new vectors.

    `ask` False embeds nothing: neither time nor vector length are known then unless the model's name tells.
    """
    dims_before = _dims(store)
    rows = chars = empty = 0
    sample: list[str] = []
    for texts in _texts(store):
        rows += len(texts)
        empty += sum(not text.strip() for text in texts)
        chars += sum(map(len, texts))
        sample += [text for text in texts if text.strip()][: _SAMPLE - len(sample)]
    cost = measured(embedder, sample, rows, chars, timer) if ask else Cost(rows, chars, None, embedder.name)
    dims = embedder.dims or (len(embedder.embed_passages(sample[:1])[0]) if ask and sample else 0)
    return Estimate(rows, empty, dims_before, dims, cost, 4 * dims * rows)


def reembed(
    store: Store,
    embedder: Embedder,
    destination: Path,
    *,
    work: Path,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Reembedded:
    """Make a copy of the store in `destination` with vectors of another model; all other columns stay as they are.

    Every vector that a service made is kept in `work` at once: after a failure, a cancel or a kill the same call
    goes on where it stopped. The folder appears whole, after the verification. Raises RefusedError when
    something is there, EmbeddingError when the service fails, MemtuiError when the copy is not what it should be.
    """
    _dims(store)
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise RefusedError(
            f"{destination} exists and is not empty.", fix="Name a new folder; nothing was changed."
        )
    dims = _vector_length(store, embedder)
    version = store.version
    destination.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", suffix=".making", dir=destination.parent))
    try:
        cache = None if is_offline(embedder) else VectorCache(work, embedder.name, dims)
        total = store.count()
        if cache is not None:
            _fill(store, embedder, cache, total, on_progress, cancel)
        schema = _schema(store, dims, embedder.name)
        rows = _rows(store, embedder, cache, schema, total, on_progress, cancel)
        _create(store, making, schema, rows)
        done = _verified(store, making, embedder, version, destination)
        (making / NOTE).write_text(json.dumps({"version": version, "model": embedder.name}), encoding="utf-8")
        if destination.exists():
            destination.rmdir()
        making.rename(destination)
        if cache is not None:
            cache.remove()
        return done
    except OSError as error:
        raise MemtuiError(
            f"The new table cannot be made in {destination}: {(error.strerror or str(error)).lower()}.",
            fix="Make room there, or choose another place; the vectors made so far are kept.",
        ) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _dims(store: Store) -> int:
    if store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="There is nothing to embed anew.")
    return store.dims


def _vector_length(store: Store, embedder: Embedder) -> int:
    if embedder.dims:
        return embedder.dims
    for texts in _texts(store):
        if found := next((text for text in texts if text.strip()), None):
            return len(embedder.embed_passages([found])[0])
    return _dims(store)


def _texts(store: Store) -> Iterator[list[str]]:
    column = store.dialect.columns.text
    for batch in store.pin().read_through([column], rows=_WINDOW):
        yield [text or "" for text in batch.column(column).to_pylist()]


def _fill(
    store: Store,
    embedder: Embedder,
    cache: VectorCache,
    total: int,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> None:
    done = 0
    for every in _texts(store):
        texts = [text for text in every if text.strip()]
        done += len(every) - len(cache.missing(texts))

        def heard(count: int) -> None:
            nonlocal done
            done += count
            if on_progress:
                on_progress(Progress(f"embedding with {embedder.name}", done, total, "texts"))
            if cancel is not None:
                cancel.check()

        heard(0)
        cache.fill(texts, embedder.embed_passages, heard)


def _rows(
    store: Store,
    embedder: Embedder,
    cache: VectorCache | None,
    schema: pa.Schema,
    total: int,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    columns = store.dialect.columns
    kept = [name for name in schema.names if name != columns.vector]
    done = 0
    for batch in store.pin().read_through(kept, rows=_WINDOW):
        if cancel is not None:
            cancel.check()
        texts = [text or "" for text in batch.column(columns.text).to_pylist()]
        vectors = _vectors(texts, embedder, cache, schema.field(str(columns.vector)).type.list_size)
        arrays = [
            vectors if name == columns.vector else batch.column(batch.schema.get_field_index(name))
            for name in schema.names
        ]
        typed = [
            pa.FixedSizeListArray.from_arrays(
                pa.array(each.ravel(), pa.float32()).cast(field.type.value_type), type=field.type
            )
            if field.name == columns.vector
            else each
            for each, field in zip(arrays, schema, strict=True)
        ]
        yield pa.record_batch(typed, schema=schema)
        done += batch.num_rows
        if on_progress:
            on_progress(Progress("writing the new table", done, total))


def _vectors(
    texts: Sequence[str], embedder: Embedder, cache: VectorCache | None, dims: int
) -> NDArray[np.float32]:
    import numpy as np

    found = np.zeros((len(texts), dims), dtype=np.float32)
    there = [at for at, text in enumerate(texts) if text.strip()]
    if there:
        wanted = [texts[at] for at in there]
        made = embedder.embed_passages(wanted) if cache is None else cache.get(wanted)
        if made.shape != (len(there), dims) or not np.isfinite(made).all():
            raise EmbeddingError(
                f"{embedder.name} gave vectors of shape {made.shape} where {dims} numbers each were expected.",
                fix="Check the model; nothing was changed.",
            )
        found[there] = made
    return found


def _schema(store: Store, dims: int, model: str) -> pa.Schema:
    """The table's own schema with vectors of another length; memtui's tables say which model made them."""
    import pyarrow as pa

    vector = store.dialect.columns.vector
    schema = store.schema
    at = schema.get_field_index(vector)
    old = schema.field(at)
    kind = pa.list_(
        pa.field(old.type.value_field.name, old.type.value_type, old.type.value_field.nullable), dims
    )
    schema = schema.set(at, pa.field(old.name, kind, old.nullable))
    if store.dialect.name != "memtui":
        return schema
    return schema.with_metadata({**(schema.metadata or {}), MODEL_MARK: model.encode()})


def _create(store: Store, folder: Path, schema: pa.Schema, rows: Iterator[pa.RecordBatch]) -> None:
    import pyarrow as pa

    from memtui.engine.store.create import create_own
    from memtui.engine.store.create_pro import create_like, create_pro

    makers: dict[str, Callable[[Path, Any], None]] = {"memtui": create_own, "pro": create_pro}
    make = makers.get(store.dialect.name, create_like)
    make(folder, pa.RecordBatchReader.from_batches(schema, rows))


def _verified(store: Store, folder: Path, embedder: Embedder, version: int, destination: Path) -> Reembedded:
    """Compare the new table with the old one, and a sample of its vectors with vectors made anew."""
    import numpy as np

    from memtui.engine.store.open import open_store

    made = open_store(folder)
    if made.count() != store.count():
        raise MemtuiError(
            f"The new table has {made.count():,} rows, the store {store.count():,}.",
            fix="Try again; nothing was changed.",
        )
    columns = store.dialect.columns
    sample = _sample(made, str(columns.vector), columns.text)
    texts = [text for text, _ in sample]
    again = embedder.embed_passages(texts) if texts else np.zeros((0, made.dims or 0), np.float32)
    cosines = [_cosine(vector, anew) for (_, vector), anew in zip(sample, again, strict=True)]
    lowest = min(cosines, default=1.0)
    if lowest < ALIKE:
        raise MemtuiError(
            f"A vector of the new table and one made anew of the same text differ (cosine {lowest:.3f}).",
            fix="The service does not answer the same twice; choose another model.",
        )
    itself = 0
    for text, vector in sample:
        if not np.any(vector):
            continue
        nearest = made.vector_search(vector.tolist(), k=1, columns=[columns.text])
        itself += nearest.num_rows == 1 and nearest.column(columns.text)[0].as_py() == text
    return Reembedded(
        destination, embedder.name, made.dims or 0, made.count(), version, len(sample), lowest, itself
    )


def _sample(store: Store, vector: str, text: str) -> list[tuple[str, NDArray[np.float32]]]:
    """Up to 64 rows with a text, spread evenly over the table."""
    import numpy as np

    step = max(1, store.count() // _SAMPLE)
    found: list[tuple[str, NDArray[np.float32]]] = []
    at = 0
    for batch in store.pin().read_through([text, vector], rows=_WINDOW):
        texts = batch.column(text).to_pylist()
        vectors = batch.column(vector)
        for row in range(-at % step, batch.num_rows, step):
            if (texts[row] or "").strip() and len(found) < _SAMPLE:
                found.append((texts[row], np.asarray(vectors[row].as_py(), dtype=np.float32)))
        at += batch.num_rows
    return found


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    import numpy as np

    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 1.0
