"""The rows that each version of a table wrote, reading only what changed from version to version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.errors import explained
from memtui.engine.store.manifests import FRAGMENT_BITS, VersionManifest, read_manifests
from memtui.engine.store.snapshot import WINDOW
from memtui.engine.store.taken_rows import rows_of_ids

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """Rows that first stood in `version`, which was committed at `time_ms`."""

    version: int
    time_ms: int
    rows: pa.Table
    """The columns asked for, the id, and `_rowid`."""
    base: bool
    """Whether this is the oldest readable version: its rows may have been written any time before."""


def changed_rows(
    store: Store,
    columns: Sequence[str],
    *,
    after: int | None = None,
    base_where: str | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Iterator[WrittenRows]:
    """The rows that versions after `after` wrote, up to the pinned one, in no order.

    Without `after`, or when that version was cleaned away, the rows of the oldest readable version come last
    (those that `base_where` keeps). Folds write no row. A version that is cleaned away meanwhile is left out.
    Memory is bounded by a window of rows.
    """
    names = list(dict.fromkeys((store.dialect.columns.id, *columns)))
    manifests = None if store.folder is None else read_manifests(store.folder / f"{store.table_name}.lance")
    known = {version for version, _ in store.versions()}
    if manifests is None or not known <= {manifest.version for manifest in manifests}:
        yield from _compared(store, names, after, base_where, on_progress, cancel)
        return
    manifests = [manifest for manifest in manifests if manifest.version in known]
    start = next((at for at, manifest in enumerate(manifests) if manifest.version == after), None)
    done = 0
    for group in _groups(manifests, 0 if start is None else start):
        if cancel is not None:
            cancel.check()
        yield from _taken(store, group, names)
        done += len(group.fragments)
        if on_progress is not None:
            on_progress(Progress("reading what versions wrote", done, 0, "changes"))
    if start is None and manifests:
        yield from _base(store, manifests[0].version, manifests[0].time_ms, names, base_where, cancel)


@dataclass(frozen=True, slots=True)
class _Group:
    """Fragments that are read in one go at `version`: (number, rows, born in version, at ms)."""

    version: int
    fragments: tuple[tuple[int, int, int, int], ...]


def _groups(manifests: list[VersionManifest], start: int) -> Iterator[_Group]:
    """Which fragments to read at which version, newest first.

    A fragment is read at the newest version that still has all of its first rows: so few versions are opened.
    """
    born: dict[int, VersionManifest] = {}
    for before, manifest in zip(manifests[start:], manifests[start + 1 :], strict=False):
        for number in manifest.fragments:
            if number not in before.fragments and not manifest.rewrite:
                born.setdefault(number, manifest)
    waiting = dict(born)
    for manifest in reversed(manifests[start + 1 :]):
        ready = [
            (number, fragment.rows, waiting[number].version, waiting[number].time_ms)
            for number, fragment in manifest.fragments.items()
            if number in waiting and fragment.deletions == waiting[number].fragments[number].deletions
        ]
        if ready:
            for number, *_ in ready:
                del waiting[number]
            yield _Group(manifest.version, tuple(sorted(ready, key=lambda one: -one[2])))


def _taken(store: Store, group: _Group, names: list[str]) -> Iterator[WrittenRows]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    pin = _pin(store, group.version)
    if pin is None:
        return
    births = {number: (version, time_ms) for number, _, version, time_ms in group.fragments}
    for window in _windows(group):
        with explained(store.where):
            rows = rows_of_ids(pin.table, np.asarray(window, dtype=np.uint64), names)
        places = rows.column("_rowid").to_numpy() >> np.uint64(FRAGMENT_BITS)
        for number in dict.fromkeys(places.tolist()):
            version, time_ms = births[int(number)]
            part = rows.filter(pc.equal(pa.array(places), pa.scalar(number, pa.uint64())))
            yield WrittenRows(version, time_ms, part, base=False)


def _windows(group: _Group) -> Iterator[list[int]]:
    """Row ids of the group's fragments, at most `WINDOW` at a time."""
    waiting: list[int] = []
    for number, rows, _, _ in group.fragments:
        first = number << FRAGMENT_BITS
        for start in range(0, rows, WINDOW):
            ids = range(first + start, first + min(rows, start + WINDOW))
            if waiting and len(waiting) + len(ids) > WINDOW:
                yield waiting
                waiting = []
            waiting += ids
    if waiting:
        yield waiting


def _base(
    store: Store, version: int, time_ms: int, names: list[str], where: str | None, cancel: CancelToken | None
) -> Iterator[WrittenRows]:
    import pyarrow as pa

    pin = _pin(store, version)
    if pin is None:
        return
    for batch in pin.scan(names, where=where, with_row_id=True, batch_size=WINDOW * 4):
        if cancel is not None:
            cancel.check()
        yield WrittenRows(version, time_ms, pa.Table.from_batches([batch]), base=True)


def _compared(
    store: Store,
    names: list[str],
    after: int | None,
    base_where: str | None,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> Iterator[WrittenRows]:
    """The same where the manifests do not tell: the row ids of neighbouring versions are compared."""
    import numpy as np

    versions = store.versions()
    start = next((at for at, (version, _) in enumerate(versions) if version == after), None)
    steps = versions[start or 0 :]
    newer: np.ndarray[tuple[int], np.dtype[np.uint64]] | None = None
    later: tuple[int, int] | None = None
    for done, (version, time_ms) in enumerate(reversed(steps)):
        if cancel is not None:
            cancel.check()
        pin = _pin(store, version)
        if pin is None:
            break
        parts = [batch.column("_rowid").to_numpy() for batch in pin.scan([names[0]], with_row_id=True)]
        here = np.concatenate(parts) if parts else np.empty(0, np.uint64)
        if newer is not None and later is not None:
            fresh = np.setdiff1d(newer, here)
            newer_pin = _pin(store, later[0])
            for at in range(0, fresh.size, WINDOW):
                if newer_pin is not None:
                    rows = newer_pin.take(fresh[at : at + WINDOW].tolist(), names)
                    yield WrittenRows(later[0], later[1], rows, base=False)
        newer, later = here, (version, time_ms)
        if on_progress is not None:
            on_progress(Progress("comparing versions", done + 1, len(steps), "versions"))
    if start is None and later is not None:
        yield from _base(store, later[0], later[1], names, base_where, cancel)


def _pin(store: Store, version: int) -> Snapshot | None:
    try:
        return store.pin(version)
    except MemtuiError:  # cleaned away since the versions were listed
        return None
