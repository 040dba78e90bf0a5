"""The catalog that an engine holds: read once, waited for by whoever needs it, and before it a first page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.catalog.types import ListQuery, ListView
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress

if TYPE_CHECKING:
    from threading import RLock

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
        self._first: FirstPage | None = None
        self.unreadable = False
        """Whether the last reading of the metadata failed."""
        self._lock = threading.Lock()
        self._loading = threading.RLock()  # whoever needs a catalog that is being read waits for that one
        self._reading = threading.RLock()  # the same for the metadata; never taken by who holds `_loading`

    def drop(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._catalog = self._first = None

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
        """Read the columns at the pinned version, where they are of another or of none.

        Once the metadata of one version was read, a later version takes its place with its own metadata: who uses the
        catalog beside us never finds less known than before, also where `cancel` stops the reading on its way.
        """
        with self._lock:
            catalog = self._catalog
        if catalog is None or catalog.version != self._store.version:
            self.load_anew(on_progress, cancel)

    def load_anew(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Read the columns at the pinned version, whatever is there; else as `load`."""
        with self._lock:
            known = self._catalog
        if known is None or known.meta is None:
            with self._loading:
                self._swap(self._build(on_progress, cancel))
            return
        with self._while_free(self._reading, cancel):
            from memtui.engine.catalog.metadata_columns import read_metadata

            built = self._build(on_progress, cancel)
            self._swap(read_metadata(self._store, built, on_progress, cancel, known=known))

    def _build(self, on_progress: OnProgress | None, cancel: CancelToken | None) -> Catalog:
        from memtui.engine.catalog.build import build_catalog

        return build_catalog(self._store, on_progress, cancel, self._kept)

    def _swap(self, catalog: Catalog) -> None:
        with self._lock:
            self._catalog, self._first = catalog, None

    def load_metadata(self, on_progress: OnProgress | None = None, cancel: CancelToken | None = None) -> None:
        """Read what the rows' metadata says, where that was not done.

        Where another thread reads it, that is waited for; where it was cancelled or failed there, it is read here.
        """
        from memtui.engine.catalog.metadata_columns import read_metadata

        if not self.whole(cancel).metadata_pending:
            return
        with self._while_free(self._reading, cancel):
            known = None
            while (before := self.whole(cancel)).metadata_pending:
                try:
                    known = read_metadata(self._store, before, on_progress, cancel, known=known)
                except (MemtuiError, OSError):
                    self.unreadable = True
                    raise
                with self._lock:
                    if self._catalog is before:  # a later version may have been loaded meanwhile
                        self._catalog, self.unreadable = known, False

    @property
    def reads_metadata(self) -> bool:
        """Whether a thread reads the metadata at this moment."""
        if self._reading.acquire(blocking=False):
            self._reading.release()
            return False
        return True

    def whole(self, cancel: CancelToken | None = None) -> Catalog:
        """The catalog, read where it is not there; one that is being read is waited for, until `cancel`."""
        while True:
            with self._lock:
                if self._catalog is not None:
                    return self._catalog
            with self._while_free(self._loading, cancel):
                if self._catalog is None:
                    self.load(None, cancel)

    def view(
        self,
        query: ListQuery,
        make: Callable[[Catalog], ListView],
        on_progress: OnProgress | None,
        cancel: CancelToken | None,
    ) -> ListView:
        """What `make` answers, for a query that may need the metadata: where nobody reads it, it is read here.

        Raises NotReadyError where a thread is reading it: the query can be asked again then.
        """
        from memtui.engine.catalog.select import awaits_metadata
        from memtui.engine.catalog.views import METADATA_UNREAD
        from memtui.engine.query.errors import NotReadyError

        if awaits_metadata(self.whole(cancel), query.sort) and not self.reads_metadata:
            self.load_metadata(on_progress, cancel)
        try:
            view = make(self.whole(cancel))
        except NotReadyError:
            if self.reads_metadata:
                raise
            self.load_metadata(on_progress, cancel)  # nobody is at it: waiting would be for ever
            view = make(self.whole(cancel))
        return replace(view, pending=METADATA_UNREAD) if view.pending and self.unreadable else view

    @contextmanager
    def _while_free(self, held: RLock, cancel: CancelToken | None) -> Iterator[None]:
        """Hold a lock, once whoever holds it has let go; raises Cancelled where `cancel` says so before."""
        while not held.acquire(timeout=_LOOK_S):
            if cancel:
                cancel.check()
        try:
            yield
        finally:
            held.release()
