"""Vectors for rows that have none: stored while a service was down, or imported without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.clean import one_line
from memtui.engine.curate.changes import Change, ChangeSet, Edit
from memtui.engine.dialects.rows import unusable
from memtui.engine.embed.embedder import NoEmbedder
from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.transfer.embedding import embedded, is_offline
from memtui.engine.transfer.mend import set_of
from memtui.engine.transfer.vector_cache import VectorCache

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.engine.embed.embedder import Embedder
    from memtui.engine.store.table import Store

_PART = 256


def plan_missing(
    store: Store,
    embedder: Embedder | NoEmbedder,
    *,
    work: Path,
    dry_run: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """Give every row whose vector is NULL or all zero one made of its text, by the store's own model.

    `dry_run` embeds nothing. Rows without a text are left alone. Raises MemtuiError without an embedder.
    """
    columns = store.dialect.columns
    if columns.vector is None or store.dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="There is nothing to embed.")
    names = [name for name in (columns.id, columns.text, columns.scope, columns.vector) if name]
    rows: list[tuple[str, str, str | None]] = []
    for batch in store.pin().read_through(names):
        bad = unusable(batch.column(batch.schema.get_field_index(columns.vector)))
        rows += [
            (str(row[columns.id]), row[columns.text], row.get(columns.scope or ""))
            for row in batch.take(bad.nonzero()[0]).drop_columns([columns.vector]).to_pylist()
            if (row[columns.text] or "").strip() and row[columns.id]
        ]
    vectors = None if dry_run else _made(rows, embedder, store.dims, work, on_progress, cancel)
    changes = [
        Change(
            id=each,
            op="edit",
            before={"vector": "none"},
            after={"vector": "made anew"},
            title=one_line(text),
            why="no vector",
            scope=scope,
            edit=Edit(expects={columns.text: text}, vector=None if vectors is None else vectors[at]),
        )
        for at, (each, text, scope) in enumerate(rows)
    ]
    return set_of(store, "reembed", "vectors that were missing", changes)


def _made(
    rows: list[tuple[str, str, str | None]],
    embedder: Embedder | NoEmbedder,
    dims: int,
    work: Path,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> list[object]:
    if not rows:
        return []
    if isinstance(embedder, NoEmbedder):
        raise MemtuiError(embedder.reason, fix=embedder.fix)
    cache = None if is_offline(embedder) else VectorCache(work, embedder, dims)
    found: list[object] = []
    for start in range(0, len(rows), _PART):
        if cancel is not None:
            cancel.check()
        texts = [text for _, text, _ in rows[start : start + _PART]]
        if cache is None:
            made = embedded(embedder, texts, dims)
        else:
            cache.fill(texts, lambda _: None)
            made = cache.get(texts)
        found.extend(made)
        if on_progress:
            on_progress(Progress(f"embedding with {embedder.name}", len(found), len(rows), "texts"))
    return found
