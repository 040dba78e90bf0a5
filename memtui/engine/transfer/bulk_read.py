"""Our own exports read a column at a time, where every row goes into a table of its own form as it is.

Whatever is out of the ordinary in such a file (a broken line, a row of another form, a vector that cannot be used)
sends the whole of it the slow way, which knows what to say about it. Both ways give the same plan.
"""

from __future__ import annotations

import binascii
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine import instructions, secrets
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.draft import HAS_VECTOR, ORDERS, OWN_ID, SECRET, Draft, unchanged
from memtui.engine.transfer.near import hash64
from memtui.engine.transfer.own_form import DIALECT, MASKED, MODEL, VECTOR
from memtui.engine.transfer.screening import suspects
from memtui.engine.transfer.spool import WHERE, SpoolWriter

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.transfer.detect import Detected
    from memtui.engine.transfer.embedding import Choice
    from memtui.engine.transfer.request import ImportRequest
    from memtui.engine.transfer.target import Target

_BLOCK = 2 << 20
"""Bytes of lines that are parsed at a time; also the longest line that is."""
_HALF_PAIR = (b"\\ud", b"\\uD")
"""Half of a character pair, escaped: the slow way says what becomes of it."""


class _OddError(Exception):
    """Something that only the slow way can handle."""


def read_in_bulk(
    source: Detected,
    request: ImportRequest,
    target: Target,
    choice: Choice,
    spool: Callable[[], SpoolWriter],
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Draft | None:
    """The draft of a source, its rows in a spool; None when it has to be read row by row.

    Raises MemtuiError when the source changes meanwhile, Cancelled.
    """
    import pyarrow as pa

    readers = {"lines": _lines, "parquet": _parquet}
    read = readers.get(source.kind)
    if not source.format.own or read is None or target.whole is None or request.mask_secrets:
        return None
    writer = spool()
    reading = _Reading(target, choice, writer)
    try:
        with unchanged(source.path):
            for table, done, total in read(source.path, writer.schema, target.dialect.name):
                reading.take(table)
                if on_progress:
                    on_progress(Progress(f"reading {source.path.name}", done, total, "bytes"))
                if cancel is not None:
                    cancel.check()
    except (_OddError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError):
        writer.close()
        return None
    writer.close()
    reading.finish()
    return reading.draft


class _Reading:
    """Takes tables with the spool's columns, and MODEL and MASKED of each row."""

    def __init__(self, target: Target, choice: Choice, writer: SpoolWriter) -> None:
        self._target, self._choice, self._writer = target, choice, writer
        self._columns = target.dialect.columns
        self._scopes: dict[str | None, int] = {}
        self.draft = Draft(note_sets=[()], note_examples=[""])

    def take(self, table: pa.Table) -> None:
        """Some rows; _OddError for any that do not go in as they are."""
        import pyarrow.compute as pc

        columns, n = self._columns, table.num_rows
        text, ids = table.column(columns.text), table.column(columns.id)
        for column in (text, ids):
            if column.null_count or pc.any(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py():
                raise _OddError
        if pc.any(pc.fill_null(table.column(MASKED), False)).as_py():
            raise _OddError
        vectors = table.column(str(columns.vector))
        dims = vectors.type.list_size
        for model in pc.unique(table.column(MODEL)).to_pylist():
            if vectors.null_count < n and not self._choice.takes(model, dims):
                raise _OddError
        flags = np.full(n, OWN_ID, dtype=np.uint16)
        flags[vectors.is_valid().to_numpy()] |= HAS_VECTOR
        self._screen(text, flags)
        scopes = self._scopes_of(table, n)
        draft = self.draft
        draft.ids.frombytes(_id_hashes(ids.combine_chunks()).tobytes())
        draft.scopes.frombytes(scopes.tobytes())
        draft.flags.frombytes(flags.tobytes())
        draft.chars.frombytes(pc.utf8_length(text).to_numpy().astype(np.dtype("L")).tobytes())
        for unused in (draft.plain, draft.texts, draft.facts, draft.kinds, draft.words):
            unused.frombytes(bytes(8 * n))
        draft.notes.frombytes(bytes(draft.notes.itemsize * n))
        self._writer.add_table(table.select(self._writer.schema.names))

    def finish(self) -> None:
        """Count the scopes, once it is sure that this way was the right one."""
        for scope, rows in self._scopes.items():
            self._target.scoping.keep(scope, rows)
        if not len(self.draft):
            self.draft.note_sets.clear()
            self.draft.note_examples.clear()

    def _screen(self, text: Any, flags: NDArray[np.uint16]) -> None:
        for at in suspects(text, instructions.HINT):
            if instructions.instruction_like(text[at].as_py()) is not None:
                flags[at] |= ORDERS
        for at in suspects(text, secrets.HINT):
            kinds = {secret.kind for secret in secrets.find_secrets(text[at].as_py())}
            for kind in kinds:
                self.draft.secrets[kind] = self.draft.secrets.get(kind, 0) + 1
            if kinds:
                flags[at] |= SECRET

    def _scopes_of(self, table: pa.Table, n: int) -> NDArray[np.int64]:
        column = self._columns.scope
        if column is None:
            self._scopes[None] = self._scopes.get(None, 0) + n
            return np.full(n, hash64(""), dtype=np.int64)
        coded = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
        values = coded.dictionary.to_pylist()
        codes = coded.indices.to_numpy()
        for value, rows in zip(values, np.bincount(codes, minlength=len(values)).tolist(), strict=True):
            self._scopes[value] = self._scopes.get(value, 0) + rows
        hashes: NDArray[np.int64] = np.array([hash64(value or "") for value in values], dtype=np.int64)[codes]
        return hashes


def _id_hashes(ids: Any) -> NDArray[np.int64]:
    """Equal for equal ids, and hardly ever for others."""
    from memtui.engine.store.ids import pack

    high, low, odd = pack(ids)
    mixed = (high * np.uint64(0x9E3779B97F4A7C15)) ^ (low + np.uint64(0x632BE59BD9B4E019))
    found: NDArray[np.int64] = np.array(mixed.view(np.int64))
    for at in np.flatnonzero(odd).tolist():
        found[at] = hash64(ids[at].as_py())
    return found


Read = Iterator[tuple["pa.Table", int, int]]
"""Tables with the spool's columns, MODEL and MASKED; how much of the source is read; how much there is."""


def _parquet(path: Path, schema: pa.Schema, dialect: str) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from memtui.engine.transfer.own_form import MAP
    from memtui.engine.transfer.readers.own import BATCH, parquet_frame

    size = path.stat().st_size
    with pq.ParquetFile(path) as file:
        frame = parquet_frame(file.schema_arrow.metadata or {})
        names = set(file.schema_arrow.names)
        if frame.get(DIALECT) != dialect or frame.get(MAP) is not None or names - {*schema.names, MASKED}:
            raise _OddError
        number, rows = 0, max(1, file.metadata.num_rows)
        for batch in file.iter_batches(batch_size=BATCH):
            n = batch.num_rows
            arrays = [
                batch.column(field.name).cast(field.type) if field.name in names else pa.nulls(n, field.type)
                for field in schema
                if field.name != WHERE
            ]
            masked = batch.column(MASKED) if MASKED in names else pa.nulls(n, pa.bool_())
            arrays += [_places("row ", number, n), pa.array([frame.get(MODEL)] * n, pa.string()), masked]
            number += n
            table = pa.table(arrays, names=[*schema.names, MODEL, MASKED])
            _check_finite(table, schema)
            yield table, size * number // rows, size


def _lines(path: Path, schema: pa.Schema, dialect: str) -> Read:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json as pj

    vector = next((field for field in schema if pa.types.is_fixed_size_list(field.type)), None)
    if vector is None:
        raise _OddError
    plain = [field for field in schema if field.name not in (vector.name, WHERE)]
    extra = [pa.field(name, pa.string()) for name in ("schema", DIALECT, MODEL, VECTOR)]
    options = pj.ParseOptions(
        explicit_schema=pa.schema([*plain, *extra, pa.field(MASKED, pa.bool_())]),
        unexpected_field_behavior="error",
    )
    size = path.stat().st_size
    number = 0
    with path.open("rb", buffering=0) as raw:
        watched = _Watched(raw)
        stream = pa.PythonFile(watched, mode="r")
        with pj.open_json(stream, pj.ReadOptions(block_size=_BLOCK), options) as reader:
            for batch in reader:
                n = batch.num_rows
                if (
                    not pc.all(pc.equal(batch.column(DIALECT), dialect)).as_py()
                    or batch.column(DIALECT).null_count
                ):
                    raise _OddError
                made = _unpacked(batch.column(VECTOR), vector.type)
                arrays = [made if field.name == vector.name else batch.column(field.name)
                          for field in schema if field.name != WHERE]  # fmt: skip
                arrays += [_places("line ", number, n), batch.column(MODEL), batch.column(MASKED)]
                number += n
                yield pa.table(arrays, names=[*schema.names, MODEL, MASKED]), watched.done, size
        if watched.lines != number:  # blank lines: the places of the rows would be others
            raise _OddError


class _Watched(io.RawIOBase):
    """A file that counts its lines while it is read, and raises at half a character pair."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._tail = b""
        self._ended = True
        self.lines = self.done = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        found: bytes = self._raw.read(size) or b""
        around = self._tail + found
        if any(mark in around for mark in _HALF_PAIR):
            raise OSError("half of a character pair")
        self._tail = around[-3:]
        self.done += len(found)
        if found:
            self.lines += found.count(b"\n")
            self._ended = found.endswith(b"\n")
        elif not self._ended:
            self.lines, self._ended = self.lines + 1, True
        return found


def _places(word: str, number: int, n: int) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(
        word, pa.array(np.arange(number + 1, number + n + 1)).cast(pa.string()), ""
    )


def _unpacked(packed: pa.Array, kind: pa.DataType) -> pa.Array:
    """Vectors out of their base64; _OddError for what is none."""
    import pyarrow as pa

    width = 4 * kind.list_size
    there = packed.is_valid().to_numpy(zero_copy_only=False)
    texts = packed.drop_null()
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    flat = np.zeros((len(packed), kind.list_size), dtype=np.float32)
    if len(texts):
        data = memoryview(texts.buffers()[2])
        try:
            if width % 3 == 0:  # no padding in between: all of them are one long text
                found = binascii.a2b_base64(data[offsets[0] : offsets[-1]])
            else:
                ends = offsets.tolist()
                found = b"".join(
                    binascii.a2b_base64(data[start:end]) for start, end in itertools.pairwise(ends)
                )
        except binascii.Error:
            raise _OddError from None
        even = np.diff(offsets) == -(-width // 3) * 4
        if len(found) != width * len(texts) or not even.all():
            raise _OddError
        flat[there] = np.frombuffer(found, dtype="<f4").reshape(len(texts), -1)
        if not np.isfinite(flat).all():
            raise _OddError
    values = pa.array(flat.ravel()).cast(kind.value_type)
    return pa.FixedSizeListArray.from_arrays(
        values, type=kind, mask=None if there.all() else pa.array(~there)
    )


def _check_finite(table: pa.Table, schema: pa.Schema) -> None:
    import pyarrow as pa

    for field in schema:
        if pa.types.is_fixed_size_list(field.type):
            flat = table.column(field.name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
            if not np.isfinite(flat).all():
                raise _OddError
