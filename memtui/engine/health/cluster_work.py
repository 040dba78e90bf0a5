"""The doctor's and the duplicates' work for a cluster: what its workers look at, and the way of that to this machine.

The workers read vectors only. What they say is checked against the store before it counts: the version, how many rows
they saw, and a sample that is computed here again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import Catalog, Mask
from memtui.engine.catalog.select import positions_of
from memtui.engine.cluster.parts import expect_note, read_parts, read_table, rows_of_parts, write_note
from memtui.engine.cluster.plan import PART_ROWS, ClusterPlan, ClusterWork, Dataset, write_script
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.text import counted
from memtui.engine.health.near_duplicates import FLOOR, LOWEST_FLOOR, MOST_PAIRS, Compared, Near, compared
from memtui.engine.health.vector_pass import Rows, VectorPass, VectorTally
from memtui.engine.store import sql
from memtui.engine.store.open import scan_address

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.engine import Engine
    from memtui.engine.store.table import Store


_HERE = "memtui.engine.health"

_CHECKED = 4_096
"""Rows of a worker's answer that are computed here again."""

_LEFT = 16_384
"""Rows that a worker compares with all others at once: reading those costs little beside the products then."""

_ROWS, _COLUMNS = 256, 8_192

_TOLERANCE = 1e-3

_KINDS = ("null", "not_finite", "zero", "off_unit", "constant")


def _dataset(store: Store) -> Dataset:
    address, options = store.dataset_place()
    return Dataset(address, store.version, store.count() + store.pin().sentinels, options)


# ---------------------------------------------------------------------- the doctor's pass over the vectors


class TallyVectors:
    """Looks at one batch of vectors as the doctor does: what each worker of the cluster calls for every batch."""

    def __init__(self, vector: str, dims: int) -> None:
        self._vector, self._dims = vector, dims

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Rows of (`kind`, `rows`, `more`): row ids of what is wrong, hashes with their row ids, and the sums."""
        import pyarrow as pa

        tally = VectorTally(self._dims)
        for part in batch.combine_chunks().to_batches():
            tally.take_column(part.column(self._vector), part.column("_rowid").to_numpy())
        found = [(kind, _joined(getattr(tally, kind)).tobytes(), b"") for kind in _KINDS]
        found.append(("hashes", _joined(tally.hashed).tobytes(), _joined(tally.hashes).tobytes()))
        counts = np.array([tally.rows, tally.usable], np.uint64)
        sums = np.array([tally.shortest, tally.longest, *tally.direction], np.float64)
        found.append(("sums", counts.tobytes(), sums.tobytes()))
        kinds, rows, more = zip(*found, strict=True)
        return pa.table(
            {"kind": list(kinds), "rows": pa.array(rows, pa.binary()), "more": pa.array(more, pa.binary())}
        )


def plan_doctor(
    store: Store, folder: Path, *, parts: str = "", workers: int = 2, part_rows: int = PART_ROWS
) -> ClusterPlan:
    """Write `doctor_ray.py` into `folder`: it looks at every vector of the store as it is now; see `write_script`."""
    column, dims = store.dialect.columns.vector, store.dims
    if column is None or dims is None:
        raise UsageError(f"{store.name} has no vectors.", fix="memtui doctor reads all the rest here.")
    seen = ClusterWork(
        "doctor",
        _HERE,
        "TallyVectors",
        {"vector": column, "dims": dims},
        (column,),
        "What is wrong with the vectors of a memtui store",
        "memtui doctor --deep --parts PARTS",
        unit="vectors",
        row_ids=True,
        where=sql.not_sentinel(store.dialect.columns.id) if store.pin().sentinels else "",
        batch=8_192,
    )
    made = write_script(seen, _dataset(store), folder, parts=parts, workers=workers, part_rows=part_rows)
    write_note(made.parts, _doctor_note(store), {})
    return made


def _doctor_note(store: Store) -> dict[str, Any]:
    return {"for": "doctor", "store": store.uri, "version": store.version, "rows": store.count()}


def take_doctor(
    store: Store, parts: str, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> VectorPass:
    """What the workers saw, as `read_vectors` gives it; the first rows are looked at here again.

    Raises RefusedError for parts of another store or version, MemtuiError where something is missing or differs.
    """
    expect_note(parts, _doctor_note(store))
    column, dims = str(store.dialect.columns.vector), store.dims or 1
    tally = VectorTally(dims)
    for _, batch in read_parts(parts, ("kind", "rows", "more"), on_progress, cancel):
        for kind, rows, more in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            row_ids: Rows = np.frombuffer(rows, np.uint64)
            if kind == "hashes":
                tally.hashed.append(row_ids)
                tally.hashes.append(np.frombuffer(more, np.uint64))
            elif kind == "sums":
                sums = np.frombuffer(more, np.float64)
                tally.rows += int(row_ids[0])
                tally.usable += int(row_ids[1])
                tally.shortest, tally.longest = min(tally.shortest, sums[0]), max(tally.longest, sums[1])
                tally.direction += sums[2:]
            else:
                getattr(tally, kind).append(row_ids)
    if tally.rows != store.count():
        raise MemtuiError(
            f"The cluster checked {counted(tally.rows, 'vector')}, the store has {store.count():,}.",
            fix="Make the parts again.",
        )
    found = tally.done()
    again = VectorTally(dims)
    first = next(iter(store.pin().scan([column], with_row_id=True, batch_size=_CHECKED)), None)
    if first is not None:
        again.take_column(first.column(column), first.column("_rowid").to_numpy())
        here = again.done()
        looked = first.column("_rowid").to_numpy()
        for kind in _KINDS:
            theirs = np.intersect1d(getattr(found, kind), looked)
            if not np.array_equal(theirs, np.sort(getattr(here, kind))):
                raise MemtuiError(
                    f"The cluster found other vectors than this machine ({kind.replace('_', ' ')}).",
                    fix="Make the parts again, with the same version of memtui on all machines.",
                )
    return found


# ---------------------------------------------------------------------- duplicates


class NearVectors:
    """Finds the near pairs between one batch of vectors and all of the store: what each worker calls."""

    def __init__(self, dataset: Mapping[str, Any], vector: str, parts: str, floor: float) -> None:
        table = read_table(parts, "compared")
        self._rows: Rows = table.column("row").to_numpy()
        self._groups: NDArray[np.int64] = table.column("group").to_numpy()
        self._dataset, self._vector, self._floor = dict(dataset), vector, floor

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Rows of (`left`, `right`, `cosine`): row ids, each pair once; one without a usable vector beside itself."""
        import pyarrow as pa

        left, groups, vectors, bare = self._usable(batch)
        found = [(bare, bare, np.full(len(bare), np.nan, np.float32))]
        if left.size:
            for other in self._all():
                right, theirs, against, _ = self._usable(other)
                found += _pairs(left, groups, vectors, right, theirs, against, self._floor)
        joined = [np.concatenate(column) for column in zip(*found, strict=True)]
        return pa.table(dict(zip(("left", "right", "cosine"), joined, strict=True)))

    def _all(self) -> Iterator[Any]:
        one = self._dataset
        yield from scan_address(
            one["address"], one["version"], one["options"], [self._vector], batch_size=_LEFT
        )

    def _usable(self, batch: Any) -> tuple[Rows, NDArray[np.int64], NDArray[np.float32], Rows]:
        """Of the rows that are compared: row ids, groups and vectors of length 1; and those without a vector."""
        row_ids = batch.column("_rowid").to_numpy()
        place = np.minimum(np.searchsorted(self._rows, row_ids), max(0, len(self._rows) - 1))
        wanted = np.flatnonzero(self._rows[place] == row_ids) if len(self._rows) else np.zeros(0, np.int64)
        column = batch.column(self._vector)
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        column = column.take(wanted)
        there = column.is_valid().to_numpy(zero_copy_only=False)
        flat = column.drop_null().flatten().to_numpy(zero_copy_only=False)
        vectors = np.zeros((len(wanted), column.type.list_size), np.float32)
        vectors[there] = flat.reshape(-1, column.type.list_size)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.linalg.norm(vectors, axis=1)
        usable = np.isfinite(norms) & (norms > 0)
        kept = wanted[usable]
        return (
            row_ids[kept],
            self._groups[place[kept]],
            vectors[usable] / norms[usable, None],
            row_ids[wanted[~usable]],
        )


def _pairs(
    left: Rows,
    groups: NDArray[np.int64],
    vectors: NDArray[np.float32],
    right: Rows,
    theirs: NDArray[np.int64],
    against: NDArray[np.float32],
    floor: float,
) -> Iterator[tuple[Rows, Rows, NDArray[np.float32]]]:
    """Pairs left < right of one group with a cosine of `floor` or more, in blocks."""
    for group in np.intersect1d(groups, theirs).tolist():
        ours, other = np.flatnonzero(groups == group), np.flatnonzero(theirs == group)
        for row in range(0, len(ours), _ROWS):
            i = ours[row : row + _ROWS]
            for start in range(0, len(other), _COLUMNS):
                j = other[start : start + _COLUMNS]
                if right[j].max() <= left[i].min():
                    continue
                product = vectors[i] @ against[j].T
                a, b = np.nonzero(product >= floor)
                keep = left[i[a]] < right[j[b]]
                a, b = a[keep], b[keep]
                if a.size:
                    yield left[i[a]], right[j[b]], np.minimum(product[a, b], np.float32(1))


@dataclass(frozen=True, slots=True, eq=False)
class DuplicatesJob:
    """Duplicates that a cluster looks for, of an open store whose catalog is read: the plan, and what comes back."""

    store: Store
    catalog: Catalog
    now_ms: int
    mask: Mask | None = None
    filter: str = ""
    across_scopes: bool = False
    floor: float = FLOOR
    cancel: CancelToken | None = None

    def plan(
        self, folder: Path, *, parts: str = "", workers: int = 2, part_rows: int = PART_ROWS
    ) -> ClusterPlan:
        """Write `duplicates_ray.py` into `folder`, and which rows are compared beside its parts.

        Texts that are the same are found here; the workers compare vectors, one of each text. Raises as
        `write_script`, and UsageError for a floor that keeps too much or a store without vectors.
        """
        if not LOWEST_FLOOR <= self.floor <= 1:
            raise UsageError(f"The floor is a cosine from {LOWEST_FLOOR:g} to 1.", fix="For example 0.9.")
        column = self.store.dialect.columns.vector
        if column is None or self.store.dims is None:
            raise UsageError(
                f"{self.store.name} has no vectors.", fix="Leave --plan away: texts are compared."
            )
        place = parts or str(folder.absolute() / "parts")
        dataset = _dataset(self.store)
        given = {
            "dataset": {
                "address": dataset.address,
                "version": dataset.version,
                "options": dict(dataset.options),
            },
            "vector": column,
            "parts": place,
            "floor": self.floor,
        }
        work = ClusterWork(
            "duplicates",
            _HERE,
            "NearVectors",
            given,
            (column,),
            "Pairs of near vectors of a memtui store",
            "memtui duplicates --parts PARTS    with the same filter and options",
            unit="memories",
            row_ids=True,
            batch=_LEFT,
        )
        made = write_script(work, dataset, folder, parts=place, workers=workers, part_rows=part_rows)
        found = self._compared()
        write_note(place, self._note(found), {"compared": self._table(found)})
        return made

    def take(self, parts: str, on_progress: OnProgress | None = None) -> Near:
        """The pairs that the workers found; those of a sample are computed here again.

        Raises RefusedError for parts of another plan, MemtuiError where something is missing or differs, UsageError
        for more pairs than can be held.
        """
        found = self._compared()
        expect_note(parts, self._note(found))
        if (seen := rows_of_parts(parts)) != _dataset(self.store).rows:
            raise MemtuiError(
                f"The parts in {parts} are of {counted(seen, 'row')} only.", fix="Run the script again."
            )
        columns: list[list[NDArray[Any]]] = [[], [], []]
        total = without = 0
        for _, batch in read_parts(parts, ("left", "right", "cosine"), on_progress, self.cancel):
            cosine = batch.column("cosine").to_numpy(zero_copy_only=False)
            real = ~np.isnan(cosine)
            without += int(np.count_nonzero(~real))
            total += int(np.count_nonzero(real))
            if total > MOST_PAIRS:
                raise UsageError(
                    f"More than {MOST_PAIRS:,} pairs are nearer than {self.floor:g}.",
                    fix="Plan it with a higher likeness.",
                )
            for into, name in zip(columns, ("left", "right", "cosine"), strict=True):
                into.append(batch.column(name).to_numpy(zero_copy_only=False)[real])
        left, right = (_joined(column) for column in columns[:2])
        similarity = np.concatenate([np.zeros(0, np.float32), *columns[2]])
        self._check(left, right, similarity)
        return Near(
            self.catalog,
            positions_of(self.catalog, left),
            positions_of(self.catalog, right),
            similarity,
            found.copies,
            self.floor,
            len(found.rows),
            without,
        )

    def _compared(self) -> Compared:
        return compared(
            self.store,
            self.catalog,
            now_ms=self.now_ms,
            mask=self.mask,
            across_scopes=self.across_scopes,
            cancel=self.cancel,
        )

    def _table(self, found: Compared) -> pa.Table:
        """Row ids and groups of what is compared, by row id."""
        import pyarrow as pa

        rows = self.catalog.row_ids[found.lone]
        order = np.argsort(rows)
        return pa.table({"row": rows[order], "group": found.groups[found.lone][order]})

    def _note(self, found: Compared) -> dict[str, Any]:
        digest = blake2b(digest_size=16)
        for column in self._table(found).columns:
            digest.update(column.to_numpy().tobytes())
        return {
            "for": "duplicates",
            "store": self.store.uri,
            "version": self.catalog.version,
            "filter": self.filter,
            "across_scopes": self.across_scopes,
            "floor": self.floor,
            "memories": digest.hexdigest(),
        }

    def _check(self, left: Rows, right: Rows, similarity: NDArray[np.float32]) -> None:
        """Raise MemtuiError unless the cosines of pairs spread over all are what this machine computes."""
        if not len(left):
            return
        at = np.unique(np.linspace(0, len(left) - 1, min(_CHECKED, len(left))).astype(np.int64))
        column = str(self.store.dialect.columns.vector)
        pin = self.store.pin(self.catalog.version)
        rows = np.unique(np.concatenate([left[at], right[at]]))
        table = pin.take(rows.tolist(), [column])
        flat = table.column(column).combine_chunks().flatten().to_numpy(zero_copy_only=False)
        vectors = np.array(flat, np.float32).reshape(table.num_rows, -1)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        place = np.searchsorted(table.column("_rowid").to_numpy(), np.stack([left[at], right[at]]))
        again = np.einsum("nd,nd->n", vectors[place[0]], vectors[place[1]])
        if not np.allclose(again, similarity[at], atol=_TOLERANCE):
            raise MemtuiError(
                "Pairs that the cluster found are not as near as it says.",
                fix="Make the parts again, with the same version of memtui on all machines.",
            )


def duplicates_job(
    engine: Engine,
    filter: str = "",
    *,
    floor: float = FLOOR,
    across_scopes: bool = False,
    cancel: CancelToken | None = None,
) -> DuplicatesJob:
    """The job over the memories of an open store that a filter keeps."""
    from memtui.engine.catalog.views import selection_of

    chosen = selection_of(engine.view, filter, cancel)
    return DuplicatesJob(
        engine.store,
        chosen.catalog,
        engine.now_ms,
        chosen.mask,
        filter,
        across_scopes,
        floor,
        cancel,
    )


def _joined(parts: list[NDArray[Any]]) -> Rows:
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)
