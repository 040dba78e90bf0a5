"""Arrow rows as plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

ENGINE_COLUMNS = ("_rowid", "_distance", "_score", "_relevance_score")
"""Columns that the engine adds to an answer; never part of a row."""


def plain_rows(table: pa.Table, vector: str | None) -> list[dict[str, Any]]:
    """The rows of `table` without vectors; timestamps become milliseconds since the epoch.

    Where the `vector` column was taken, a row whose vector is NULL or all zero gets the key
    `vector` with the word "null" or "zero" in its place.
    """
    import pyarrow as pa

    states = _vector_states(table.column(vector)) if vector in table.column_names else []
    names, columns = [], []
    for field in table.schema:
        if field.name in ENGINE_COLUMNS or is_vector(field.type):
            continue
        column = table.column(field.name)
        if pa.types.is_timestamp(field.type):
            column = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
        names.append(field.name)
        columns.append(column.to_pylist())
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    for row, state in zip(rows, states, strict=False):
        if state and vector:
            row[vector] = state
    return rows


def _vector_states(column: Any) -> list[str]:
    """For each vector "" when usable, "null" or "zero" when it can never be found."""
    states: list[str] = []
    for chunk in column.chunks:
        useless = unusable(chunk).tolist()
        states += [
            ("null" if null else "zero") if bad else ""
            for null, bad in zip(chunk.is_null().to_pylist(), useless, strict=True)
        ]
    return states


def unusable(vectors: Any) -> Any:
    """Which rows of an Arrow array of vectors are NULL or all zero: bool [n]."""
    import numpy as np

    null = vectors.is_null().to_numpy(zero_copy_only=False)
    if null.any():
        vectors = vectors.fill_null([0.0] * vectors.type.list_size)
    flat = vectors.flatten().to_numpy(zero_copy_only=False)
    return ~np.any(flat.reshape(len(vectors), vectors.type.list_size), axis=1)


def is_vector(kind: pa.DataType) -> bool:
    """Whether a column of this type holds embeddings."""
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(kind) and pa.types.is_floating(kind.value_type))
