"""Our own exports read a column at a time, where every row goes in as it is: into a table of its own form, or from
the plugin's into one of ours.

Whatever is out of the ordinary in such a file (a broken line, a row of another form, a vector that cannot be used)
sends the whole of it the slow way, which knows what to say about it. Both ways give the same plan.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pybase64 import b64decode

from memtui.engine.core import content_rules, secrets
from memtui.engine.core.column_sieves import suspected_of_secrets, suspects
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.row_values import hash64
from memtui.engine.transfer.importing.draft import HAS_VECTOR, ORDERS, OWN_ID, SECRET, ImportDraft, unchanged
from memtui.engine.transfer.importing.spool import WHERE, SpoolWriter
from memtui.engine.transfer.record import DIALECT, MASKED, MODEL, VECTOR

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.transfer.detection import Detected
    from memtui.engine.transfer.importing.embedding_cost import VectorChoice
    from memtui.engine.transfer.importing.request import ImportRequest
    from memtui.engine.transfer.importing.to_row import RowBuilder


# Our own JSON lines as Arrow tables, some megabytes at a time.
#
# A line of ours ends with its vector, which is most of it. Vectors of the table's own length are cut out
# where they stand and decoded by themselves, many in one piece; only what is before them is parsed as JSON.
# That is exact: a line without its last `,"vector_f32":"..."` is an object if and only if the whole line is
# one.

Read = Iterator[tuple["pa.Table", str, int, int]]
"""Tables with the spool's columns, MODEL and MASKED; the dialect of their rows; how much of the source is read; how
much there is."""

_BLOCK = 8 << 20
"""Bytes of lines that are looked at at a time; also the longest line that is."""

_KEY, _END = f',"{VECTOR}":"'.encode(), b'"}'

_RETURN, _BRACE, _BACKSLASH, _U = b"\r}\\u"


class NotBulkReadableError(Exception):
    """Something that only the slow way can handle."""


class _Packed(NamedTuple):
    """Vectors as base64, and the number of the row that each belongs to."""

    texts: list[memoryview | bytes]
    rows: list[int]


def read_lines(path: Path, schema: pa.Schema) -> Read:
    """The rows of a file of ours for the spool's `schema`.

    Raises OddError, or an error of Arrow's, for what is not quite as our own export writes it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json as pj

    vector = next((field for field in schema if pa.types.is_fixed_size_list(field.type)), None)
    if vector is None:
        raise NotBulkReadableError
    plain = [field for field in schema if field.name not in (vector.name, WHERE)]
    extra = [pa.field(name, pa.string()) for name in ("schema", DIALECT, MODEL, VECTOR)]
    options = pj.ParseOptions(
        explicit_schema=pa.schema([*plain, *extra, pa.field(MASKED, pa.bool_())]),
        unexpected_field_behavior="error",
    )
    size, done, number = path.stat().st_size, 0, 0
    for block in _blocks(path, size):
        lines, n, packed = _cut(block, _length(vector.type))
        _check_pairs(lines)
        whole = pj.ReadOptions(use_threads=False, block_size=len(lines))
        table = pj.read_json(pa.BufferReader(lines), whole, options).combine_chunks()
        if table.num_rows != n:  # two on a line, or blank lines: the places of the rows would be others
            raise NotBulkReadableError
        said = pc.unique(table.column(DIALECT)).to_pylist()
        if len(said) != 1 or said[0] is None:
            raise NotBulkReadableError
        made = _unpacked(_with_others(packed, table.column(VECTOR)), n, vector.type)
        columns = [made if field.name == vector.name else table.column(field.name)
                   for field in schema if field.name != WHERE]  # fmt: skip
        columns += [places("line ", number, n), table.column(MODEL), table.column(MASKED)]
        number, done = number + n, done + len(block)
        yield pa.table(columns, names=[*schema.names, MODEL, MASKED]), said[0], min(done, size), size


def places(word: str, before: int, n: int) -> pa.Array:
    """The places of `n` rows of a source, for people: "line 12"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pa.array(np.arange(before + 1, before + n + 1)).cast(pa.string())
    return pc.binary_join_element_wise(word, numbers, "")


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    """The first `size` bytes of a file in blocks of whole lines, each with its line feed."""
    left = b""
    with path.open("rb", buffering=0) as file:
        while size > 0 and (found := file.read(min(size, _BLOCK))):
            size -= len(found)
            end = found.rfind(b"\n") + 1
            if end:
                yield b"".join((left, memoryview(found)[:end]))
                left = found[end:]
            elif len(left) + len(found) > _BLOCK:
                raise NotBulkReadableError
            else:
                left += found
    if left:
        yield left + b"\n"


def _cut(block: bytes, length: int) -> tuple[bytes, int, _Packed]:
    """The lines without the vectors of `length` characters at their ends, how many there are, and those vectors.

    Each line is taken up to its last brace, so OddError for one that does not end with a brace.
    """
    view = memoryview(block)
    heads: list[memoryview] = []
    packed = _Packed([], [])
    behind, whole = length + len(_END), len(_KEY) + length + len(_END)
    start = 0
    while (feed := block.find(b"\n", start)) >= 0:
        end = feed - 1 if block[feed - 1] == _RETURN else feed
        stop = end - whole
        if stop > start and block.startswith(_KEY, stop) and block.startswith(_END, end - len(_END)):
            packed.texts.append(view[end - behind : end - len(_END)])
            packed.rows.append(len(heads))
        elif block[end - 1] == _BRACE:
            stop = end - 1
        else:
            raise NotBulkReadableError
        heads.append(view[start:stop])
        start = feed + 1
    return b"}\n".join([*heads, b""]), len(heads), packed


def _check_pairs(lines: bytes) -> None:
    """OddError where half of a character pair may stand, escaped: the slow way says what becomes of it."""
    data = np.frombuffer(lines, dtype=np.uint8)
    escapes = np.flatnonzero((data[:-2] == _BACKSLASH) & (data[1:-1] == _U))
    if escapes.size and np.isin(data[escapes + 2], np.frombuffer(b"dD", np.uint8)).any():
        raise NotBulkReadableError


def _with_others(packed: _Packed, others: pa.ChunkedArray) -> _Packed:
    """Those vectors, and those that were left in their lines; OddError when a line has two."""
    if others.null_count == len(others):
        return packed
    found = {row: text.encode() for row, text in enumerate(others.to_pylist()) if text is not None}
    if not found.keys().isdisjoint(packed.rows):
        raise NotBulkReadableError
    return _Packed([*packed.texts, *found.values()], [*packed.rows, *found])


def _length(kind: pa.DataType) -> int:
    """Characters of a vector in base64."""
    return -(-4 * int(kind.list_size) // 3) * 4


def _unpacked(packed: _Packed, n: int, kind: pa.DataType) -> pa.Array:
    """The vectors of `n` rows; OddError for base64 that is none, of another length, or of no finite numbers."""
    import pyarrow as pa

    flat = np.frombuffer(_decoded(packed.texts, kind), dtype="<f4")
    if not np.isfinite(flat).all():
        raise NotBulkReadableError
    if packed.rows == list(range(n)):
        return pa.FixedSizeListArray.from_arrays(pa.array(flat).cast(kind.value_type), type=kind)
    full = np.zeros((n, kind.list_size), dtype=np.float32)
    full[packed.rows] = flat.reshape(-1, kind.list_size)
    missing = np.ones(n, dtype=np.bool_)
    missing[packed.rows] = False
    values = pa.array(full.ravel()).cast(kind.value_type)
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=pa.array(missing))


def _decoded(texts: list[memoryview | bytes], kind: pa.DataType) -> bytes:
    width, length = 4 * kind.list_size, _length(kind)
    if any(len(text) != length for text in texts):
        raise NotBulkReadableError
    try:
        if width % 3 == 0:  # no padding in between: all of them are one long text
            data = b64decode(b"".join(texts), validate=True)
        else:
            each = [b64decode(text, validate=True) for text in texts]
            data = b"" if {*map(len, each)} - {width} else b"".join(each)
    except (binascii.Error, ValueError):
        raise NotBulkReadableError from None
    if len(data) != width * len(texts):
        raise NotBulkReadableError
    return bytes(data)


def read_in_bulk(
    source: Detected,
    request: ImportRequest,
    target: RowBuilder,
    choice: VectorChoice,
    spool: Callable[[], SpoolWriter],
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ImportDraft | None:
    """The draft of a source, its rows in a spool; None when it has to be read row by row.

    Raises MemtuiError when the source changes meanwhile, Cancelled.
    """
    import pyarrow as pa

    readers = {"lines": read_lines, "parquet": _parquet}
    read = readers.get(source.kind)
    if not source.format.own or read is None or target.whole is None or request.mask_secrets:
        return None
    writer = spool()
    reading = _Reading(target, choice, writer)
    try:
        with unchanged(source.path):
            for table, dialect, done, total in read(source.path, writer.schema):
                reading.take(_of_this_form(table, dialect, target))
                if on_progress:
                    on_progress(Progress(f"reading {source.path.name}", done, total, "bytes"))
                if cancel is not None:
                    cancel.check()
    except (NotBulkReadableError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OSError):
        writer.close()
        return None
    writer.close()
    reading.finish()
    pa.default_memory_pool().release_unused()  # the engine is about to need as much again for writing
    return reading.draft


def _of_this_form(table: pa.Table, dialect: str, target: RowBuilder) -> pa.Table:
    """The rows of a table of `dialect` as the target has them."""
    if dialect == target.dialect.name:
        return table
    from memtui.engine.transfer.importing.plugin_rows import OWN, PLUGIN, with_lifecycle

    made = (
        with_lifecycle(table, target.dialect.columns)
        if (dialect, target.dialect.name) == (PLUGIN, OWN)
        else None
    )
    if made is None:
        raise NotBulkReadableError
    return made


class _Reading:
    """Takes tables with the spool's columns, and MODEL and MASKED of each row."""

    def __init__(self, target: RowBuilder, choice: VectorChoice, writer: SpoolWriter) -> None:
        self._target, self._choice, self._writer = target, choice, writer
        self._columns = target.dialect.columns
        self._scopes: dict[str | None, int] = {}
        self.draft = ImportDraft(note_sets=[()], note_examples=[""])

    def take(self, table: pa.Table) -> None:
        """Some rows; OddError, or an error of Arrow's, for any that do not go in as they are."""
        import pyarrow.compute as pc

        table.validate(full=True)  # texts that are no UTF-8
        columns, n = self._columns, table.num_rows
        text, ids = table.column(columns.text), table.column(columns.id)
        for column in (text, ids):
            if column.null_count or pc.any(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py():
                raise NotBulkReadableError
        if pc.any(pc.fill_null(table.column(MASKED), False)).as_py():
            raise NotBulkReadableError
        vectors = table.column(str(columns.vector))
        dims = vectors.type.list_size
        for model in pc.unique(table.column(MODEL)).to_pylist():
            if vectors.null_count < n and not self._choice.takes(model, dims):
                raise NotBulkReadableError
        flags = np.full(n, OWN_ID, dtype=np.uint16)
        flags[vectors.is_valid().to_numpy()] |= HAS_VECTOR
        self._screen(text, flags)
        self._count_scopes(table, n)
        draft = self.draft
        draft.ids.frombytes(_id_hashes(ids.combine_chunks()).tobytes())
        draft.flags.frombytes(flags.tobytes())
        draft.chars.frombytes(pc.utf8_length(text).to_numpy().astype(np.uintc).tobytes())
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
        for at in suspects(text, content_rules.order_hint()):
            if content_rules.instruction_like(text[at].as_py()) is not None:
                flags[at] |= ORDERS
        for at in suspected_of_secrets(text):
            kinds = {secret.kind for secret in secrets.find_secrets(text[at].as_py())}
            for kind in kinds:
                self.draft.secrets[kind] = self.draft.secrets.get(kind, 0) + 1
            if kinds:
                flags[at] |= SECRET

    def _count_scopes(self, table: pa.Table, n: int) -> None:
        column = self._columns.scope
        found: list[tuple[str | None, int]] = [(None, n)]
        if column is not None:
            coded = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
            values = coded.dictionary.to_pylist()
            found = list(zip(values, np.bincount(coded.indices, minlength=len(values)).tolist(), strict=True))
        for scope, rows in found:
            self._scopes[scope] = self._scopes.get(scope, 0) + rows


def _id_hashes(ids: Any) -> NDArray[np.int64]:
    """Equal for equal ids, and hardly ever for others."""
    from memtui.engine.catalog.ids import pack

    high, low, odd = pack(ids)
    mixed = (high * np.uint64(0x9E3779B97F4A7C15)) ^ (low + np.uint64(0x632BE59BD9B4E019))
    found: NDArray[np.int64] = np.array(mixed.view(np.int64))
    for at in np.flatnonzero(odd).tolist():
        found[at] = hash64(ids[at].as_py())
    return found


def _parquet(path: Path, schema: pa.Schema) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from memtui.engine.transfer.readers.memtui import BATCH, parquet_frame
    from memtui.engine.transfer.record import MAP

    size = path.stat().st_size
    with pq.ParquetFile(path) as file:
        frame = parquet_frame(file.schema_arrow.metadata or {})
        names = set(file.schema_arrow.names)
        if frame.get(MAP) is not None or names - {*schema.names, MASKED}:
            raise NotBulkReadableError
        number, rows = 0, max(1, file.metadata.num_rows)
        for batch in file.iter_batches(batch_size=BATCH):
            n = batch.num_rows
            arrays = [
                batch.column(field.name).cast(field.type) if field.name in names else pa.nulls(n, field.type)
                for field in schema
                if field.name != WHERE
            ]
            masked = batch.column(MASKED) if MASKED in names else pa.nulls(n, pa.bool_())
            arrays += [places("row ", number, n), pa.array([frame.get(MODEL)] * n, pa.string()), masked]
            number += n
            table = pa.table(arrays, names=[*schema.names, MODEL, MASKED])
            _check_finite(table, schema)
            yield table, str(frame.get(DIALECT)), size * number // rows, size


def _check_finite(table: pa.Table, schema: pa.Schema) -> None:
    import pyarrow as pa

    for field in schema:
        if pa.types.is_fixed_size_list(field.type):
            flat = table.column(field.name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
            if not np.isfinite(flat).all():
                raise NotBulkReadableError
