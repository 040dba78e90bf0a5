"""Vectors made again for chosen memories, and vectors scaled to length 1, as change sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import Change, ChangeSet, Edit
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.providers.held_embedder import HeldEmbedder

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.providers.embedder import Embedder


_PART = 256


def plan_again(engine: Engine, ids: Sequence[str], why: str) -> ChangeSet:
    """Embed the texts of these memories again with the store's model, one change a memory.

    Raises MemtuiError without an embedder, or when it gives vectors of another length.
    """
    import numpy as np

    from memtui.engine.transfer.importing.embedding_cost import embedded

    embedder = must_embed(engine)
    rows = _rows(engine, ids)
    texts = [str(row["text"]) for row in rows]
    dims = engine.store.dims or 0
    if isinstance(embedder, HeldEmbedder):  # a preview: what the vectors will be is not known
        embedder.withhold(texts)
        unmade = [np.zeros(dims, np.float32)] * len(texts)
        return replace(_set(engine, rows, unmade, "re-embedded", why), unsent=embedder.sentence)
    vectors: list[Any] = []
    for start in range(0, len(texts), _PART):
        vectors += list(embedded(embedder, texts[start : start + _PART], dims))
    return _set(engine, rows, [np.asarray(vector, np.float32) for vector in vectors], "re-embedded", why)


def must_embed(engine: Engine) -> Embedder:
    """The store's model, asked for nothing. Raises MemtuiError where it has none."""
    embedder = engine.embedder
    if isinstance(embedder, NoEmbedder):
        raise MemtuiError(embedder.reason, fix=embedder.fix)
    return embedder


def has_text(engine: Engine, ids: Sequence[str]) -> bool:
    """Whether one of these memories holds words that could be embedded."""
    return any(_rows(engine, ids[start : start + _PART]) for start in range(0, len(ids), _PART))


def plan_scaled(engine: Engine, ids: Sequence[str]) -> ChangeSet:
    """Scale the vectors of these memories to length 1."""
    import numpy as np

    column = str(engine.store.dialect.columns.vector)
    rows = _rows(engine, ids, vector=True)
    vectors = []
    for row in rows:
        vector = np.asarray(row[column], np.float64)
        vectors.append((vector / np.linalg.norm(vector)).astype(np.float32))
    return _set(engine, rows, vectors, "scaled to length 1", "D15")


def _rows(engine: Engine, ids: Sequence[str], *, vector: bool = False) -> list[dict[str, Any]]:
    columns = engine.store.dialect.columns
    names = [
        columns.text,
        *([columns.scope] if columns.scope else []),
        *([str(columns.vector)] if vector else []),
    ]
    out = []
    for start in range(0, len(ids), 4_096):
        table = engine.store.rows_by_id(list(ids[start : start + 4_096]), names)
        for row in table.to_pylist():
            text = row[columns.text]
            if text and str(text).strip():
                out.append({**row, "text": text, "id": str(row[columns.id])})
    return out


def _set(
    engine: Engine, rows: Sequence[dict[str, Any]], vectors: Sequence[Any], after: str, why: str
) -> ChangeSet:
    from memtui.engine.transfer.repairs import set_of

    columns = engine.store.dialect.columns
    changes = [
        Change(
            id=row["id"],
            op="edit",
            before={"vector": "as stored"},
            after={"vector": after},
            title=one_line(row["text"]),
            why=why,
            scope=row.get(columns.scope) if columns.scope else None,
            edit=Edit(expects={columns.text: row["text"]}, vector=vector),
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]
    return set_of(engine.store, "reembed", "vectors", changes)
