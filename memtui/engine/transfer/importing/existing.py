"""What the store already has: looked up by id, by text and by fact, a column at a time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.select import positions_of
from memtui.engine.recall.recipes.mem_engine.copies import plain_words
from memtui.engine.store.row_values import hash64
from memtui.engine.transfer.importing.near_copies import VectorChunk, block, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.table import Store


Hashes = NDArray[np.int64]

Places = NDArray[np.int64]
"""Places in the catalog; -1 for none."""

_FACT = re.compile(r'"fact_key"\s*:\s*"((?:[^"\\]|\\.)*)"')

_HISTORICAL = re.compile(r'"(?:superseded_by|invalidated_at)"\s*:\s*(?!null)')

_WINDOW = 4_096


def plain_hash(text: str) -> int:
    """Equal for texts that differ in white space and Unicode form only."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return hash64(" ".join(plain.split()))


def text_hash(text: str, scope: str | None) -> int:
    """`plain_hash` within one scope."""
    return plain_hash(text) ^ hash64(scope or "")


def copy_hash(text: str, scope: str | None) -> int:
    """Equal for texts that openclaw-mem-engine's importer takes for copies, in any scope; 0 where it compares none."""
    words = plain_words(text)
    return (hash64(words) or 1) if words else 0


def text_hash_of(dialect: Dialect) -> Callable[[str, str | None], int]:
    """How the texts of a table of `dialect` are compared; a hash of 0 belongs to a text that is compared with none."""
    return copy_hash if dialect.can.row_form == "engine" else text_hash


def fact_hash(metadata: str, scope: str | None) -> int:
    """The fact that a metadata string says its memory is about, within one scope; 0 for none or a past one."""
    if "fact_key" not in metadata or _HISTORICAL.search(metadata):
        return 0
    match = _FACT.search(metadata)
    return hash64(f"{scope or ''}\0{match[1]}") or 1 if match else 0


class ExistingMemories:
    """The rows of a store at its pinned version, by their places in the catalog."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store, self._catalog = store, catalog

    @property
    def rows(self) -> int:
        """How many there are."""
        return self._catalog.n

    def by_id(self, ids: pa.ChunkedArray) -> Places:
        """Where each id stands."""
        from memtui.engine.catalog.ids import pack

        mine = self._catalog.ids
        if not self._catalog.n or not len(ids):
            return np.broadcast_to(np.int64(-1), len(ids))
        found = np.full(len(ids), -1, dtype=np.int64)
        high, low, odd = pack(ids.combine_chunks())
        order = np.argsort(mine.high, kind="stable")
        ranked = mine.high[order]
        for step in range(
            self._catalog.n
        ):  # ids that share their first half are one in 2^64: one step as a rule
            at = np.searchsorted(ranked, high, side="left") + step
            there = (at < ranked.size) & ~odd & (found < 0)
            there[there] = ranked[at[there]] == high[there]
            if not there.any():
                break
            same = there.copy()
            same[there] = mine.low[order[at[there]]] == low[there]
            found[same] = order[at[same]]
        if odd.any():
            texts = {
                text: int(place) for text, place in zip(mine.odd_texts.to_pylist(), mine.odd_at, strict=True)
            }
            for n in np.flatnonzero(odd).tolist():
                found[n] = texts.get(ids[n].as_py(), -1)
        return found

    def texts(self, places: Sequence[int]) -> list[tuple[str, str | None, str]]:
        """(id, scope, text) of some rows, in the order asked for; a row that vanished is empty."""
        columns = self._store.dialect.columns
        wanted = list(dict.fromkeys(places))
        names = [name for name in (columns.id, columns.scope, columns.text) if name]
        row_ids = self._catalog.row_ids[np.asarray(wanted, dtype=np.int64)].tolist()
        by_row: dict[int, tuple[str, str | None, str]] = {}
        for start in range(0, len(row_ids), _WINDOW):
            table = self._store.take(row_ids[start : start + _WINDOW], names, self._catalog.version)
            scopes = table.column(columns.scope).to_pylist() if columns.scope else [None] * table.num_rows
            rows = zip(table.column("_rowid").to_pylist(), table.column(columns.id).to_pylist(), scopes,
                       table.column(columns.text).to_pylist(), strict=True)  # fmt: skip
            by_row |= {row: (str(each), scope, text or "") for row, each, scope, text in rows}
        at = dict(zip(wanted, row_ids, strict=True))
        return [by_row.get(at[place], ("", None, "")) for place in places]

    def text_hashes(self) -> tuple[Hashes, Places]:
        """(hashes ascending, place of each) of every text in its scope."""
        dialect = self._store.dialect
        return self._hashes(dialect.columns.text, text_hash_of(dialect))

    def fact_hashes(self) -> tuple[Hashes, Places]:
        """The same of every fact that is spoken about now."""
        metadata = self._store.dialect.columns.metadata
        if metadata is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        hashes, places = self._hashes(metadata, fact_hash)
        return hashes[hashes != 0], places[hashes != 0]

    def blocks(self) -> Iterator[VectorChunk]:
        """Every row that has a vector, for comparison by meaning."""
        columns = self._store.dialect.columns
        if columns.vector is None or not self._catalog.n:
            return
        names = [name for name in (columns.scope, columns.text, columns.vector) if name]
        for batch in self._store.pin(self._catalog.version).read_through(names):
            vectors = batch.column(columns.vector)
            dims = vectors.type.list_size
            flat = vectors.fill_null([0.0] * dims).flatten().to_numpy(zero_copy_only=False)
            rows = flat.reshape(-1, dims).astype(np.float32, copy=False)
            there = np.flatnonzero(np.isfinite(rows).all(axis=1) & rows.any(axis=1))
            if there.size:
                scopes = batch.column(columns.scope).to_pylist() if columns.scope else [None] * len(rows)
                codes = {scope: hash64(scope or "") for scope in set(scopes)}
                within = np.array([codes[scope] for scope in scopes], dtype=np.int64)[there]
                kinds = _kinds_of(batch.column(columns.text), there)
                row_ids = batch.column("_rowid").to_numpy()[there]
                yield block(rows[there], within, kinds, positions_of(self._catalog, row_ids))

    def _hashes(self, column: str, make: Callable[[str, str | None], int]) -> tuple[Hashes, Places]:
        scope = self._store.dialect.columns.scope
        names = [name for name in (scope, column) if name]
        hashes: list[Hashes] = []
        places: list[Places] = []
        pin = self._store.pin(self._catalog.version)
        for batch in pin.scan(names, with_row_id=True, batch_size=_WINDOW):
            scopes = batch.column(scope).to_pylist() if scope else [None] * batch.num_rows
            values = zip(batch.column(column).to_pylist(), scopes, strict=True)
            hashes.append(np.array([make(text or "", within) for text, within in values], dtype=np.int64))
            places.append(positions_of(self._catalog, batch.column("_rowid").to_numpy()))
        if not hashes:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        every, at = np.concatenate(hashes), np.concatenate(places)
        order = np.argsort(every, kind="stable")
        return every[order], at[order]


def _kinds_of(texts: pa.Array, rows: Places) -> Callable[[Places], Hashes]:
    """Codes of the texts of some `rows`, by their number among those; worked out when they are asked for."""
    known: dict[int, int] = {}

    def kinds(wanted: Places) -> Hashes:
        for at in wanted.tolist():
            if at not in known:
                known[at] = kind_of(texts[int(rows[at])].as_py() or "")
        return np.array([known[at] for at in wanted.tolist()], dtype=np.int64)

    return kinds


def lookup(hashes: Hashes, places: Places, wanted: Hashes) -> Places:
    """The place of the first row with each wanted hash, -1 where there is none."""
    if not hashes.size:
        return np.full(wanted.size, -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(hashes, wanted), hashes.size - 1)
    return np.where(hashes[at] == wanted, places[at], -1).astype(np.int64)
