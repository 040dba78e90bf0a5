"""Arrow rows of a table: replacing values in them, and telling whether two are equal to the last bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from memtui.engine.dialects.base import is_vector

if TYPE_CHECKING:
    import pyarrow as pa


ID = "id"
"""The id column of every dialect that can be edited."""


def places(rows: pa.Table) -> dict[str, list[int]]:
    """Where each id stands; a NULL id stands nowhere."""
    found: dict[str, list[int]] = {}
    for at, value in enumerate(rows.column(ID).to_pylist()):
        if value is not None:
            found.setdefault(value, []).append(at)
    return found


def with_values(
    rows: pa.Table, columns: Mapping[str, Sequence[Any]], vectors: Mapping[int, Any], vector: str | None
) -> pa.Table:
    """`rows` with whole columns replaced, and the vectors of some rows (by place; float32 [dims] or None).

    All else keeps its bytes: buffers of other columns are not touched.
    """
    import pyarrow as pa

    for name, values in columns.items():
        field = rows.schema.field(name)
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, field, pa.chunked_array([pa.array(values, field.type)]))
    if not vectors or vector is None:
        return rows
    field = rows.schema.field(vector)
    old = rows.column(vector).combine_chunks()
    new = pa.array([None if vector is None else vector.tolist() for vector in vectors.values()], field.type)
    take = list(range(rows.num_rows))
    for n, place in enumerate(vectors):
        take[place] = rows.num_rows + n
    both = pa.chunked_array([old, new]).combine_chunks()
    at = rows.schema.get_field_index(vector)
    return rows.set_column(at, field, pa.chunked_array([both.take(pa.array(take, pa.int64()))]))


def unwritable_vectors(rows: pa.Table, vector: str | None) -> list[int]:
    """Places of rows whose vector holds a NaN: the engine reads such rows but writes none."""
    import numpy as np

    if vector is None or not rows.num_rows:
        return []
    column = rows.column(vector).combine_chunks()
    flat = column.flatten().to_numpy(zero_copy_only=False)
    if not np.isnan(flat).any():
        return []
    dims = column.type.list_size
    there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    return there[np.isnan(flat.reshape(-1, dims)).any(axis=1)].tolist()  # type: ignore[no-any-return]


def differing(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> list[str]:
    """Ids of the rows that are not equal in all of `columns`, vectors bit for bit; absent rows differ.

    Both tables have each id once.
    """
    import pyarrow as pa

    names = list(dict.fromkeys((ID, *columns)))
    left, right = left.select(names), right.select(names)
    there = {value: at for at, value in enumerate(right.column(ID).to_pylist())}
    ids = left.column(ID).to_pylist()
    shared = [at for at, value in enumerate(ids) if value in there]
    unequal = {value for value in ids if value not in there} | (there.keys() - set(ids))
    mine = left.take(pa.array(shared, pa.int64()))
    theirs = right.take(pa.array([there[ids[at]] for at in shared], pa.int64()))
    both = mine.column(ID).to_pylist()
    for column in columns:
        a, b = mine.column(column).combine_chunks(), theirs.column(column).combine_chunks()
        if not a.equals(b):
            unequal |= {
                name for name, x, y in zip(both, comparable(a), comparable(b), strict=True) if not same(x, y)
            }
    return [value for value in dict.fromkeys((*ids, *there)) if value in unequal]


def differing_rows(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> list[str]:
    """`differing` where several rows of `left` may share an id: as many of `right` must be equal, in any order."""
    import pyarrow as pa

    mine, theirs = places(left), places(right)
    bad = [each for each, at in theirs.items() if len(at) != len(mine.get(each, ())) and len(at) > 1]
    shared = {each for each, at in mine.items() if len(at) > 1}
    if bad or not shared:
        return bad or differing(left, right, columns)

    def of(table: pa.Table, at: Sequence[int]) -> list[str]:
        parts = [comparable(table.take(at).column(name).combine_chunks()) for name in columns]
        return sorted(map(repr, zip(*parts, strict=True)))

    bad = [each for each in shared if each not in theirs or of(left, mine[each]) != of(right, theirs[each])]
    alone = [
        table.take(pa.array([n for each, at in found.items() if each not in shared for n in at], pa.int64()))
        for table, found in ((left, mine), (right, theirs))
    ]
    return bad or differing(alone[0], alone[1], columns)


def comparable(column: Any) -> list[Any]:
    """The values of a column for `same`: vectors as their bytes."""
    import numpy as np

    if not is_vector(column.type):
        values: list[Any] = column.to_pylist()
        return values
    dims = column.type.list_size
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, dims)
    rows = iter(np.ascontiguousarray(flat))
    return [next(rows).tobytes() if each else None for each in valid]


def same(left: Any, right: Any) -> bool:
    """Equal, where NaN equals NaN."""
    return bool(left == right) or (
        isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right)
    )


def hash64(text: str) -> int:
    """A hash that is the same in every process, as a signed 64-bit number."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
