"""Our own JSON lines as Arrow tables, some megabytes at a time.

A line of ours ends with its vector, which is most of it. Vectors of the table's own length are cut out where they
stand and decoded by themselves, many in one piece; only what is before them is parsed as JSON. That is exact: a
line without its last `,"vector_f32":"..."` is an object if and only if the whole line is one.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pybase64 import b64decode

from memtui.engine.transfer.own_form import DIALECT, MASKED, MODEL, VECTOR
from memtui.engine.transfer.spool import WHERE

if TYPE_CHECKING:
    import pyarrow as pa

Read = Iterator[tuple["pa.Table", int, int]]
"""Tables with the spool's columns, MODEL and MASKED; how much of the source is read; how much there is."""
_BLOCK = 8 << 20
"""Bytes of lines that are looked at at a time; also the longest line that is."""
_KEY, _END = f',"{VECTOR}":"'.encode(), b'"}'
_RETURN, _BRACE, _BACKSLASH, _U = b"\r}\\u"


class OddError(Exception):
    """Something that only the slow way can handle."""


class _Packed(NamedTuple):
    """Vectors as base64, and the number of the row that each belongs to."""

    texts: list[memoryview | bytes]
    rows: list[int]


def read_lines(path: Path, schema: pa.Schema, dialect: str) -> Read:
    """The rows of a file of ours for the spool's `schema`.

    Raises OddError, or an error of Arrow's, for what is not quite as our own export writes it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json as pj

    vector = next((field for field in schema if pa.types.is_fixed_size_list(field.type)), None)
    if vector is None:
        raise OddError
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
            raise OddError
        said = table.column(DIALECT)
        if said.null_count or not pc.all(pc.equal(said, dialect)).as_py():
            raise OddError
        made = _unpacked(_with_others(packed, table.column(VECTOR)), n, vector.type)
        columns = [made if field.name == vector.name else table.column(field.name)
                   for field in schema if field.name != WHERE]  # fmt: skip
        columns += [places("line ", number, n), table.column(MODEL), table.column(MASKED)]
        number, done = number + n, done + len(block)
        yield pa.table(columns, names=[*schema.names, MODEL, MASKED]), min(done, size), size


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
                raise OddError
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
            raise OddError
        heads.append(view[start:stop])
        start = feed + 1
    return b"}\n".join([*heads, b""]), len(heads), packed


def _check_pairs(lines: bytes) -> None:
    """OddError where half of a character pair may stand, escaped: the slow way says what becomes of it."""
    data = np.frombuffer(lines, dtype=np.uint8)
    escapes = np.flatnonzero((data[:-2] == _BACKSLASH) & (data[1:-1] == _U))
    if escapes.size and np.isin(data[escapes + 2], np.frombuffer(b"dD", np.uint8)).any():
        raise OddError


def _with_others(packed: _Packed, others: pa.ChunkedArray) -> _Packed:
    """Those vectors, and those that were left in their lines; OddError when a line has two."""
    if others.null_count == len(others):
        return packed
    found = {row: text.encode() for row, text in enumerate(others.to_pylist()) if text is not None}
    if not found.keys().isdisjoint(packed.rows):
        raise OddError
    return _Packed([*packed.texts, *found.values()], [*packed.rows, *found])


def _length(kind: pa.DataType) -> int:
    """Characters of a vector in base64."""
    return -(-4 * int(kind.list_size) // 3) * 4


def _unpacked(packed: _Packed, n: int, kind: pa.DataType) -> pa.Array:
    """The vectors of `n` rows; OddError for base64 that is none, of another length, or of no finite numbers."""
    import pyarrow as pa

    flat = np.frombuffer(_decoded(packed.texts, kind), dtype="<f4")
    if not np.isfinite(flat).all():
        raise OddError
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
        raise OddError
    try:
        if width % 3 == 0:  # no padding in between: all of them are one long text
            data = b64decode(b"".join(texts), validate=True)
        else:
            each = [b64decode(text, validate=True) for text in texts]
            data = b"" if {*map(len, each)} - {width} else b"".join(each)
    except (binascii.Error, ValueError):
        raise OddError from None
    if len(data) != width * len(texts):
        raise OddError
    return bytes(data)
