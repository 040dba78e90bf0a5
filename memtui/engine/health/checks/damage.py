"""Files that are missing or cut, and a lock that a dead program left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memtui.engine.core.errors import DamagedStoreError
from memtui.engine.core.text import counted, time_span
from memtui.engine.health.check import Check, Patient, Seen

if TYPE_CHECKING:
    from memtui.engine.store.table import Store
    from memtui.engine.store.table_files import TableFiles


def _stale_lock(patient: Patient) -> Seen | None:
    from memtui.engine.changes.owner_lock import ABANDONED_S, HELD, lock_state

    if patient.folder is None:
        return None
    state = lock_state(patient.folder, time.time())
    if not state.misdated and (not state.held or state.silent_s < ABANDONED_S):
        return None
    said = (
        f"is dated {time_span(state.ahead_s)} in the future, so no agent ever takes it for abandoned"
        if state.misdated
        else f"is there whose owner has been silent for {time_span(state.silent_s)}"
    )
    return Seen(
        f"a write lock {said}",
        1,
        files=(str(patient.folder / HELD),),
    )


def _newest_version(patient: Patient) -> Seen | None:
    files = patient.files
    if files is None or patient.engine is not None:
        return None
    newest = files.newest
    if newest is None:
        if patient.table_folder is None or not patient.table_folder.is_dir():
            return None
        return Seen(
            "the table's folder holds no version: it cannot be opened",
            1,
            files=(str(patient.table_folder),),
            remedy="bring the folder back from a backup",
        )
    if not isinstance(patient.error, DamagedStoreError) or files.missing or files.cut():
        return None  # where data files are gone, it is they
    return Seen(
        f"the file of version {newest.version}, the newest, is damaged: nothing can be read",
        1,
        files=(str(newest.path),),
        evidence=(f"{newest.size:,} bytes; {counted(len(files.manifests) - 1, 'older version')} below it",),
    )


def _data_files(patient: Patient) -> Seen | None:
    files = patient.files
    if files is None or not files.readable:
        return None
    missing, cut = files.missing, files.cut()
    spoilt = () if missing or cut or patient.unreadable is None else _spoilt(patient, files)
    wrong = [str(files.folder / "data" / name) for name in (*missing, *cut, *spoilt)]
    if not wrong:
        return None
    words = []
    if missing:
        words.append(f"{counted(len(missing), 'data file')} missing")
    if cut:
        words.append(f"{counted(len(cut), 'data file')} cut short")
    if spoilt:
        words.append(f"{counted(len(spoilt), 'data file')} whole in length, but not in what it holds")
    return Seen(
        f"{' and '.join(words)}: the memories in them cannot be read",
        len(wrong),
        files=tuple(wrong),
        evidence=_before(patient, files.newest_without((*missing, *cut, *spoilt))),
    )


def _before(patient: Patient, version: int | None) -> tuple[str, ...]:
    """What going back would cost, in rows."""
    if version is None:
        return ("no version that is left can do without them",)
    said = f"version {version} is the newest that needs none of them"
    if patient.store is None:
        return (said,)
    then, now = patient.store.pin(version).count(), patient.store.pin().count()
    return (f"{said}: {counted(then, 'memory', 'memories')} then, {now:,} now",)


def _spoilt(patient: Patient, files: TableFiles) -> tuple[str, ...]:
    """Data files that have their end, and whose rows cannot be read: told by reading each part of the table alone."""
    store, names = patient.store, files.in_order
    if store is None or patient.can.own_store:  # stable row ids do not tell the file
        return names
    columns = list(store.dialect.columns.known())
    parts = next((found for column in columns if (found := _parts(store, column))), ())
    if len(parts) != len(names):
        return names
    bad = []
    for part, name in zip(parts, names, strict=True):
        if patient.cancel is not None:
            patient.cancel.check()
        try:
            where = f"_rowid >= {part << 32} AND _rowid < {part + 1 << 32}"
            for _ in store.scan(columns, where=where):
                pass
        except DamagedStoreError:
            bad.append(name)
    return tuple(bad) or names


def _parts(store: Store, column: str) -> tuple[int, ...]:
    """The numbers of the table's parts, read beside a column; () where that one cannot be read."""
    try:
        batches = list(store.scan([column], with_row_id=True))
    except DamagedStoreError:
        return ()
    return tuple(sorted({int(each) >> 32 for batch in batches for each in batch.column("_rowid").to_numpy()}))


PROTOCOL = 1

CHECKS = (
    Check(
        "D34", "write lock", "facts", "S2", "wrong",
        "every write of the agent waits up to three minutes, then fails",
        "remove the lock, once no agent is running: memtui doctor --fix D34 --yes", _stale_lock, how="yours",
        back="none is needed", reversible=None,
    ),
    Check(
        "D35", "newest version", "facts", "S1", "lost",
        "every call of the agent fails", "move that file away: the version before it opens, its last change is lost",
        _newest_version, how="stop", safe=False, back="move it back", price="the last change",
    ),
    Check(
        "D36", "data files", "facts", "S1", "lost",
        "recall fails whole as soon as it meets one of these rows",
        "bring them back from a backup, or go back to a version without need of them: memtui doctor --fix D36 --yes",
        _data_files,
        how="stop", safe=False, reversible=None, back="the newer version stays in the history",
        price="what was written since that version",
    ),
)  # fmt: skip
