"""Another embedding model for a whole store: a second table, made beside the first and verified against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.transfer.importing.embedding_cost import Cost, embedded, is_offline, measured
from memtui.engine.transfer.make_store import appearing, create_table, open_like
from memtui.engine.transfer.reembed.cluster import take_parts
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.store.table import Store


# A re-embedded table against the store that it was made of, and its vectors against ones made anew.

SAMPLE = 64

ALIKE = 0.999
"""Cosine of a stored vector and a new one of the same text by the same model; services round a little."""

_VERIFY_WINDOW = 4_096


class Verification(NamedTuple):
    """What a verification found."""

    sampled: int
    similarity: float
    """The lowest cosine between a stored vector of the sample and one made anew; 1 for an empty sample."""
    found_itself: int
    """How many of the sample are their own nearest neighbour in the new table."""


def verified(
    store: Store,
    made: Store,
    embedder: Embedder,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Verification:
    """Compare every column but the vector row by row, and a sample of the vectors with ones made anew.

    Raises MemtuiError for a difference.
    """
    import numpy as np

    _compare_rows(store, made, on_progress, cancel)
    columns = store.dialect.columns
    sample = _sample(made, str(columns.vector), columns.text)
    texts = [text for text, _ in sample]
    again = embedder.embed_passages(texts) if texts else np.zeros((0, made.dims or 0), np.float32)
    cosines = [_cosine(vector, anew) for (_, vector), anew in zip(sample, again, strict=True)]
    lowest = min(cosines, default=1.0)
    if lowest < ALIKE:
        raise MemtuiError(
            f"A vector of the new table and a new one of the same text differ (cosine {lowest:.3f}).",
            fix="The service does not answer the same twice; choose another model. Nothing was changed.",
        )
    itself = 0
    for text, vector in sample:
        nearest = made.vector_search(vector.tolist(), k=1, columns=[columns.text])
        itself += nearest.num_rows == 1 and nearest.column(columns.text)[0].as_py() == text
    return Verification(len(sample), lowest, itself)


def _compare_rows(
    store: Store, made: Store, on_progress: OnProgress | None, cancel: CancelToken | None
) -> None:
    """Both tables are read side by side, in the order that they are stored in."""
    names = [name for name in store.columns if name != store.dialect.columns.vector]
    total, done = store.count(), 0
    if made.count() != total:
        raise MemtuiError(
            f"The new table has {counted(made.count(), 'row')}, the store {total:,}.",
            fix="Try again; nothing was changed.",
        )
    for old, new in zip(_windows(store, names), _windows(made, names), strict=True):
        if not _equal(old, new):
            raise MemtuiError(
                f"Rows {done + 1:,} to {done + old.num_rows:,} of the new table are not those of the store.",
                fix="Nothing was kept; report this.",
            )
        done += old.num_rows
        if on_progress:
            on_progress(Progress("comparing with the store", done, total))
        if cancel is not None:
            cancel.check()


def _windows(store: Store, names: list[str]) -> Iterator[pa.Table]:
    """The rows in storage order, the same number in each window whatever files they lie in."""
    import pyarrow as pa

    parts: list[pa.RecordBatch] = []
    for batch in store.pin().read_through(names, rows=_VERIFY_WINDOW):
        parts.append(batch.select(names))
        if sum(part.num_rows for part in parts) == _VERIFY_WINDOW:
            yield pa.Table.from_batches(parts)
            parts = []
    if parts:
        yield pa.Table.from_batches(parts)


def _equal(old: pa.Table, new: pa.Table) -> bool:
    from memtui.engine.store.row_values import comparable, same

    for a, b in zip(old.columns, new.columns, strict=True):
        if not a.equals(b):  # true of rows with a NaN, too
            pairs = zip(comparable(a.combine_chunks()), comparable(b.combine_chunks()), strict=True)
            if not all(same(x, y) for x, y in pairs):
                return False
    return True


def _sample(store: Store, vector: str, text: str) -> list[tuple[str, NDArray[np.float32]]]:
    """Up to 64 rows with a text, spread evenly over the table."""
    import numpy as np

    step = max(1, store.count() // SAMPLE)
    found: list[tuple[str, NDArray[np.float32]]] = []
    at = 0
    for batch in store.pin().read_through([text, vector], rows=_VERIFY_WINDOW):
        texts = batch.column(text).to_pylist()
        vectors = batch.column(vector)
        for row in range(-at % step, batch.num_rows, step):
            if trim(texts[row] or "") and len(found) < SAMPLE:
                found.append((texts[row], np.asarray(vectors[row].as_py(), dtype=np.float32)))
        at += batch.num_rows
    return found


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    import numpy as np

    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 1.0


NOTE = "reembed.json"
"""File beside a second table: its `Origin`."""

_WINDOW = 1_024


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
class Origin:
    """What a second table was made of: the version of the store (see `VersionMark`), and the model."""

    version: int
    file: tuple[int, int, int] | None
    model: str
    tag: str = ""
    """Of a store far away: what tells the version from one of the same number of another table; see `Store.tag`."""

    @classmethod
    def of(cls, store: Store, model: str) -> Origin:
        """The origin of a table that is made of the store as it is pinned."""
        mark = store.mark(store.version)
        return cls(mark.version, mark.file, model, store.tag(store.version) if store.folder is None else "")

    @classmethod
    def read(cls, folder: Path) -> Origin | None:
        """What a folder says that its table was made of; None for any other folder."""
        try:
            value = json.loads((folder / NOTE).read_text(encoding="utf-8"))
            file = value["file"]
            tag = str(value.get("tag", ""))
            return cls(int(value["version"]), tuple(file) if file else None, str(value["model"]), tag)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Reembedded:
    """A second table that was made and verified."""

    folder: Path | str
    """Its folder, or its address on object storage."""
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
        """Return it as the command line prints it."""
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


def estimate(
    store: Store,
    embedder: Embedder,
    timer: Callable[[], float],
    *,
    ask: bool = True,
    cancel: CancelToken | None = None,
) -> Estimate:
    """Rows, characters, time measured on a sample, and the size of the new vectors.

    `ask` False embeds nothing: neither time nor vector length are known then unless the model's name tells.
    """
    dims_before = _dims(store)
    rows = chars = empty = 0
    sample: list[str] = []
    for texts in _texts(store):
        if cancel is not None:
            cancel.check()
        rows += len(texts)
        empty += sum(not trim(text) for text in texts)
        chars += sum(map(len, texts))
        sample += [text for text in texts if trim(text)][: SAMPLE - len(sample)]
    cost = measured(embedder, sample, rows, chars, timer) if ask else Cost(rows, chars, None, embedder.name)
    dims = embedder.dims or (len(embedder.embed_passages(sample[:1])[0]) if ask and sample else 0)
    return Estimate(rows, empty, dims_before, dims, cost, 4 * dims * rows)


def reembed(
    store: Store,
    embedder: Embedder,
    destination: Path,
    *,
    work: Path,
    keep: bool = False,
    parts: str = "",
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Reembedded:
    """Make a copy of the store in `destination` with vectors of another model; all other columns stay as they are.

    Every vector that a service made is kept in `work` at once: after a failure, a cancel or a kill the same call
    goes on where it stopped; `keep` leaves them there for a later run of the same model. `parts` is where a cluster
    left vectors of this model (see `cluster.write_plan`): only what they miss is made here. The folder appears whole,
    after the verification; one that is there already, made of the store as it is, is verified again.

    Raises RefusedError when something else is there, EmbeddingError when the service fails, MemtuiError when the
    copy is not what it should be.
    """
    _dims(store)
    dims = _vector_length(store, embedder)
    if there := Origin.read(destination):
        if there != Origin.of(store, embedder.name):
            why = "the store before the change" if there.model == embedder.name else there.model
            raise RefusedError(
                f"{destination} holds a table of {why}.", fix="Remove that folder, or name another one."
            )
        checked = verified(store, open_like(destination, store), embedder, on_progress, cancel)
        return Reembedded(destination, embedder.name, dims, store.count(), store.version, *checked)
    cache = VectorCache(work, embedder, dims) if parts or not is_offline(embedder) else None
    with appearing(destination) as making:
        if cache is not None:
            if parts:
                take_parts(parts, cache, dims, on_progress, cancel)
            _fill(store, embedder, cache, on_progress, cancel)
        schema = _schema(store, dims, embedder.name)
        rows = _rows(store, embedder, cache, schema, on_progress, cancel)
        create_table(making, store.dialect.name, schema, rows)
        checked = verified(store, open_like(making, store), embedder, on_progress, cancel)
        origin = Origin.of(store, embedder.name)
        (making / NOTE).write_text(json.dumps(asdict(origin)), encoding="utf-8")
    if cache is not None and not keep:
        cache.remove()
    return Reembedded(destination, embedder.name, dims, store.count(), store.version, *checked)


def _dims(store: Store) -> int:
    if store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="There is nothing to embed anew.")
    return store.dims


def _vector_length(store: Store, embedder: Embedder) -> int:
    if embedder.dims:
        return embedder.dims
    for texts in _texts(store):
        if found := next((text for text in texts if trim(text)), None):
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
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> None:
    total, done = store.count(), 0
    for every in _texts(store):
        texts = [text for text in every if trim(text)]
        done += len(every) - len(cache.missing(texts))

        def heard(count: int) -> None:
            nonlocal done
            done += count
            if on_progress:
                on_progress(Progress(f"embedding with {embedder.name}", done, total, "texts"))
            if cancel is not None:
                cancel.check()

        heard(0)
        cache.fill(texts, heard)


def _rows(
    store: Store,
    embedder: Embedder,
    cache: VectorCache | None,
    schema: pa.Schema,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    columns = store.dialect.columns
    vector = schema.field(str(columns.vector))
    kept = [name for name in schema.names if name != vector.name]
    total, done = store.count(), 0
    for batch in store.pin().read_through(kept, rows=_WINDOW):
        if cancel is not None:
            cancel.check()
        texts = [text or "" for text in batch.column(columns.text).to_pylist()]
        vectors = _vectors(texts, embedder, cache, vector.type.list_size)
        flat = pa.array(vectors.ravel(), pa.float32()).cast(vector.type.value_type)
        made = pa.FixedSizeListArray.from_arrays(flat, type=vector.type)
        arrays = [made if name == vector.name else batch.column(name) for name in schema.names]
        yield pa.record_batch(arrays, schema=schema)
        done += batch.num_rows
        if on_progress:
            on_progress(Progress("writing the new table", done, total))


def _vectors(
    texts: Sequence[str], embedder: Embedder, cache: VectorCache | None, dims: int
) -> NDArray[np.float32]:
    import numpy as np

    found = np.zeros((len(texts), dims), dtype=np.float32)
    there = [at for at, text in enumerate(texts) if trim(text)]
    if there:
        wanted = [texts[at] for at in there]
        found[there] = embedded(embedder, wanted, dims) if cache is None else cache.get(wanted)
    return found


def _schema(store: Store, dims: int, model: str) -> pa.Schema:
    """The table's own schema with vectors of another length; memtui's tables say which model made them."""
    import pyarrow as pa

    from memtui.engine.dialects.memtui import MODEL_MARK

    vector = store.dialect.columns.vector
    schema = store.schema
    at = schema.get_field_index(vector)
    old = schema.field(at)
    kind = pa.list_(
        pa.field(old.type.value_field.name, old.type.value_type, old.type.value_field.nullable), dims
    )
    schema = schema.set(at, pa.field(old.name, kind, old.nullable))
    if not store.dialect.can.own_store:
        return schema
    return schema.with_metadata({**(schema.metadata or {}), MODEL_MARK: model.encode()})
