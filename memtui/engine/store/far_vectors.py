"""Vectors that have to come from object storage: what is said of it before they do, and how it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.progress import CancelToken, OnProgress, Progress

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.vector_matrix import VectorMatrix

FAR_VECTORS = 50_000
"""Vectors on object storage that are fetched without a word."""


def fetched_words(pin: Snapshot, *, every: bool = False) -> str:
    """What a search by meaning fetches first: "fetching 100,000 vectors (102 MB)"; empty where that is little.

    With `every` all vectors are looked at, whether or not an index leads to the nearest.
    """
    if not pin.on_object_storage or pin.dims is None or pin.holds_vectors:
        return ""
    rows, held = (pin.rows, pin.vectors_fit) if every else (pin.outside_vector_index, pin.vectors_in_memory)
    if rows > FAR_VECTORS and held:
        rows = pin.unread_vectors
    return f"fetching {vectors_words(rows, pin.dims)}" if rows > FAR_VECTORS else ""


def vectors_words(rows: int, dims: int) -> str:
    """ "100,000 vectors (102 MB)"."""
    return f"{rows:,} vectors ({4 * rows * dims / 1e6:,.0f} MB)"


def all_vectors(
    pin: Snapshot, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> VectorMatrix | None:
    """Every vector of a version far away, fetched where it is not at hand; None of one near, or too large to hold.

    Says before and while it fetches what it fetches; raises Cancelled between two batches, and keeps nothing then.
    """
    if not pin.on_object_storage or pin.dims is None or not pin.vectors_fit:
        return None
    words, total, before = fetched_words(pin, every=True), pin.rows, pin.vectors_read

    def check() -> None:
        if cancel is not None:
            cancel.check()
        if on_progress is not None and words:
            on_progress(Progress(words, pin.vectors_read - before, total, "vectors"))

    check()
    return pin.every_vector(check)
