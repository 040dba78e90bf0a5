"""The catalog that an engine holds: read once, waited for by whoever needs it, and before it a first page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.catalog.types import ListQuery, ListView
from memtui.engine.core.progress import CancelToken, OnProgress

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog, FirstPage
    from memtui.engine.store.table import Store

_LOOK_S = 0.1
"""How often one who waits for the catalog looks whether it is still wanted."""


class HeldCatalog:
    """The columns of all rows of one store at the version shown: swapped whole, never changed. Safe from any thread."""

    def __init__(self, store: Store, kept: Path | None, now: Callable[[], int]) -> None:
        self._store, self._now = store, now
        self._kept = kept
        """Where the columns of stores far away are kept."""
        self._catalog: Catalog | None = None
        self._known: Catalog | None = None
        """The catalog before this one, until the metadata of this one is read."""
        self._first: FirstPage | None = None
        self._lock = threading.Lock()
        self._loading = threading.RLock()  # whoever needs a catalog that is being read waits for that one

    def drop(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._catalog = self._known = self._first = None

    @property
    def early(self) -> bool:
        """Whether a first page is all there is."""
        with self._lock:
            return self._first is not None

    @property
    def version(self) -> int:
        """The version that is shown."""
        with self._lock:
            return self._store.version if self._catalog is None else self._catalog.version

    def load_first_page(self) -> bool:
        """Read what was written last, where the columns of all rows are far away; False where they are near."""
        from memtui.engine.catalog.build import build_first_page
        from memtui.engine.catalog.kept_columns import is_kept

        if is_kept(self._store, self._store.pin(), self._kept):
            return False
        first = build_first_page(self._store)
        with self._lock:
            self._first = first if self._catalog is None else None
            return self._first is not None

    def first_view(self, query: ListQuery) -> ListView | None:
        """What was written last, where `query` asks for all in the order of time and all are not there yet."""
        with self._lock:
            first = self._first
        if first is None or query != ListQuery():
            return None
        from memtui.engine.catalog.views import first_view

        return first_view(self._store, first, query, now_ms=self._now())

    def load(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Read the columns at the pinned version."""
        from memtui.engine.catalog.build import build_catalog

        with self._loading:
            catalog = build_catalog(self._store, on_progress, cancel, self._kept)
            with self._lock:
                if self._catalog is not None and self._catalog.meta is not None:
                    self._known = self._catalog
                self._catalog, self._first = catalog, None

    def load_metadata(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Read what the rows' metadata says; at a later version than before only of the rows that changed."""
        from memtui.engine.catalog.metadata_columns import read_metadata

        before = self.whole(cancel)
        if not before.metadata_pending:
            return
        after = read_metadata(self._store, before, on_progress, cancel, known=self._known)
        with self._lock:
            if self._catalog is before:  # a newer version may have been loaded meanwhile
                self._catalog, self._known = after, None

    def whole(self, cancel: CancelToken | None = None) -> Catalog:
        """The catalog, read where it is not there; one that is being read is waited for, until `cancel`."""
        while True:
            with self._lock:
                if self._catalog is not None:
                    return self._catalog
            if self._loading.acquire(timeout=_LOOK_S):
                try:
                    if self._catalog is None:
                        self.load(None, cancel)
                finally:
                    self._loading.release()
            elif cancel:
                cancel.check()
