"""What is read of one store for its lifecycle, kept as long as its catalog is the present one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.lifecycle.population import MemoryTraits, Places, PopulationEvidence
    from memtui.engine.store.table import Store


NEAR_MS = 60_000
"""What recall can return (active, not expired) is worked out anew once a minute, not at every question."""


@dataclass(frozen=True, slots=True, eq=False)
class CachedPopulation:
    """The traits of one catalog at one moment."""

    catalog: Catalog
    traits: MemoryTraits
    now_ms: int


class Reading:
    """Traits, evidence and texts of the present catalog. Calls may come from several threads."""

    def __init__(
        self, store: Store, catalog: Callable[[CancelToken | None], Catalog], now: Callable[[], int]
    ) -> None:
        self.store = store
        self._catalog, self._now = catalog, now
        self._lock = threading.Lock()
        self._present: CachedPopulation | None = None
        self._evidence: tuple[Catalog, PopulationEvidence] | None = None
        self._texts: tuple[Catalog, dict[str, str]] | None = None

    def present(self, cancel: CancelToken | None = None, now_ms: int | None = None) -> CachedPopulation:
        """The traits of the present catalog, read where it is not there.

        Raises MemtuiError where the store keeps no lifecycle.
        """
        from memtui.engine.lifecycle.population import traits_of

        catalog = self._catalog(cancel)
        if catalog.meta is None:
            raise MemtuiError(
                f"{self.store.dialect.title} keeps no tiers, uses or validity.",
                fix="Decay needs a store of memory-lancedb-pro or of memtui.",
            )
        now = self._now() if now_ms is None else now_ms
        with self._lock:
            known = self._present
        if known is None or known.catalog is not catalog or known.now_ms != now:
            if cancel is not None:
                cancel.check()
            near = known is not None and known.catalog is catalog and 0 <= now - known.now_ms < NEAR_MS
            traits = known.traits if near and known is not None else traits_of(catalog, now)
            known = CachedPopulation(catalog, traits, now)
            with self._lock:
                self._present = known
        return known

    def chosen(
        self, present: CachedPopulation, scopes: Sequence[str | None] | None
    ) -> tuple[MemoryTraits, Places]:
        """The traits of some scopes (None: all), and where they stand in the catalog."""
        import numpy as np

        from memtui.engine.catalog.select import in_scopes

        if scopes is None:
            return present.traits, np.arange(present.traits.n)
        places = np.flatnonzero(in_scopes(present.catalog, scopes))
        return present.traits.take(places), places

    def evidence(
        self,
        catalog: Catalog,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> PopulationEvidence:
        """What the metadata says of use; read once a catalog."""
        from memtui.engine.lifecycle.population import read_evidence

        known = self.known_evidence(catalog)
        if known is None:
            known = read_evidence(self.store, catalog, on_progress, cancel)
            with self._lock:
                self._evidence = (catalog, known)
        return known

    def known_evidence(self, catalog: Catalog) -> PopulationEvidence | None:
        """The same where it has been read already."""
        with self._lock:
            return self._evidence[1] if self._evidence and self._evidence[0] is catalog else None

    def titles(self, catalog: Catalog, ids: Iterable[str]) -> dict[str, str]:
        """The texts of these memories, each on one line; those of this catalog are read once."""
        import numpy as np

        from memtui.engine.core.text import one_line

        ids = dict.fromkeys(ids)
        with self._lock:
            if self._texts is None or self._texts[0] is not catalog:
                self._texts = (catalog, {})
            known = self._texts[1]
        places = {
            memory_id: int(at[0])
            for memory_id in ids
            if memory_id not in known and (at := catalog.find(memory_id)).size
        }
        if places:
            pin = self.store.pin(catalog.version)
            text = pin.dialect.columns.text
            rows = catalog.row_ids[np.array(list(places.values()), np.int64)]
            texts = pin.take(rows.tolist(), [text]).column(text).to_pylist()
            known.update(
                (place, one_line((words or "")[:400])) for place, words in zip(places, texts, strict=False)
            )
        return {memory_id: known.get(memory_id, "") for memory_id in ids}

    def known_ids(self, ids: Sequence[str]) -> dict[str, None]:
        """Those of the ids that a row has."""
        catalog = self._catalog(None)
        return {memory_id: None for memory_id in ids if catalog.find(memory_id).size}
