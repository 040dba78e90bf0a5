"""Terms of the filter language that need more than the catalog: texts, vectors, keys of the metadata."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.store import sql
from memtui.engine.store.catalog import Catalog, Mask, Positions
from memtui.engine.store.pin import WINDOW
from memtui.engine.store.select import positions_of

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

_VECTOR_BYTES = 16 << 20
"""Bytes of vectors that are held at a time."""


class StoreFacts:
    """Decides what the catalog lacks: `is:duplicate`, `noise`, `secret`, `injection`, `pinned`, `zero-vector`."""

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        cancel: CancelToken | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._catalog = catalog
        self._pin = store.pin(catalog.version)
        self._cancel, self._on_progress = cancel, on_progress

    def provides(self) -> frozenset[str]:
        """The terms it decides."""
        return frozenset([*self._decisions(), *(["meta"] if self._pin.dialect.columns.metadata else [])])

    def rows(self, field: str, value: str) -> Mask:
        """The rows of which `field:value` is true: bool [n] in catalog order; looked for once in each version."""
        term = f"{field}:{value}"
        decide = partial(self._keyed, value) if field == "meta" else self._decisions()[term]
        return self._pin.derived(("fact", term, self._catalog.n), decide)

    def values(self, field: str) -> tuple[str, ...]:
        """No field with free values is decided here."""
        return ()

    def _decisions(self) -> dict[str, Callable[[], Mask]]:
        found: dict[str, Callable[[], Mask]] = {
            "is:duplicate": self._duplicates,
            "is:noise": self._noise,
            "is:secret": self._secrets,
            "is:injection": self._injections,
        }
        if self._pin.dialect.columns.metadata:
            found["is:pinned"] = self._pinned
        if self._pin.dims is not None:
            found |= {"is:zero-vector": self.without_vector, "has:vector": lambda: ~self.without_vector()}
        return found

    def without_vector(self) -> Mask:
        """Rows whose vector is NULL or all zero: search by meaning cannot find them."""
        from memtui.engine.dialects.rows import unusable

        column, dims = self._pin.dialect.columns.vector, self._pin.dims
        assert column is not None
        assert dims is not None
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, vectors in self._batches(column, min(WINDOW, 1 + _VECTOR_BYTES // (4 * dims))):
            mask[at[unusable(vectors)]] = True
        return mask

    def _duplicates(self) -> Mask:
        """Rows whose text another row has too, surrounding white space aside; blank texts are not counted."""
        digests = np.zeros(self._catalog.n, dtype=np.int64)
        blank = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, texts in self._batches(self._pin.dialect.columns.text):
            stripped = [(text or "").strip() for text in texts.to_pylist()]
            digests[at] = [hash(text) for text in stripped]
            blank[at] = [not text for text in stripped]
        _, group, sizes = np.unique(digests, return_inverse=True, return_counts=True)
        return np.asarray((sizes[group] > 1) & ~blank)

    def _noise(self) -> Mask:
        from memtui.engine.recall.noise import noise_rule

        return self._by_text(lambda text: noise_rule(text) is not None)

    def _secrets(self) -> Mask:
        from memtui.engine.secrets import find_secrets

        return self._by_text(lambda text: bool(find_secrets(text)))

    def _injections(self) -> Mask:
        from memtui.engine.curate.injection import injection

        return self._by_text(lambda text: injection(text) is not None)

    def _by_text(self, decide: Callable[[str], bool]) -> Mask:
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, texts in self._batches(self._pin.dialect.columns.text):
            mask[at] = [decide(text or "") for text in texts.to_pylist()]
        return mask

    def _pinned(self) -> Mask:
        from memtui.engine.metadata import parse_object

        column = self._pin.dialect.columns.metadata
        assert column is not None
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for batch in self._pin.scan([column], where=sql.contains(column, '"pinned"'), with_row_id=True):
            at = positions_of(self._catalog, batch.column("_rowid").to_numpy())
            mask[at] = [
                parse_object(raw)[0].get("pinned") is True for raw in batch.column(column).to_pylist()
            ]
        return mask

    def _keyed(self, wanted: str) -> Mask:
        """Rows whose metadata has the key `wanted` (and not null), or behind a = its value, in any case."""
        from memtui.engine.metadata import parse_object

        column = self._pin.dialect.columns.metadata
        assert column is not None
        key, asked, value = wanted.partition("=")
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, texts in self._batches(column):
            found = (parse_object(raw)[0].get(key) for raw in texts.to_pylist())
            mask[at] = [each is not None and (not asked or _same(each, value)) for each in found]
        return mask

    def _batches(self, column: str, rows: int = WINDOW) -> Iterator[tuple[Positions, Any]]:
        done = 0
        for batch in self._pin.read_through([column], rows=rows):
            if self._cancel:
                self._cancel.check()
            row_ids: NDArray[np.uint64] = batch.column("_rowid").to_numpy()
            yield positions_of(self._catalog, row_ids), batch.column(column)
            done += batch.num_rows
            if self._on_progress:
                self._on_progress(Progress("Looking through the memories", done, self._catalog.n))


def _same(stored: Any, value: str) -> bool:
    """Whether a value of the metadata reads like this: texts as they are, all others as JSON writes them."""
    text = stored if isinstance(stored, str) else json.dumps(stored, ensure_ascii=False)
    return text.strip().casefold() == value.strip().casefold()
