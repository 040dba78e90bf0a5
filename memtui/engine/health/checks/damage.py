"""Files that are missing or cut, and a lock that a dead program left."""

from __future__ import annotations

import time

from memtui.engine.core.errors import DamagedStoreError
from memtui.engine.health.check import Check, Patient, Seen, counted


def _stale_lock(patient: Patient) -> Seen | None:
    from memtui.engine.changes.owner_lock import ABANDONED_S, HELD, lock_state

    if patient.folder is None:
        return None
    state = lock_state(patient.folder, time.time())
    if not state.held or state.silent_s < ABANDONED_S:
        return None
    return Seen(
        f"a write lock is there whose owner has been silent for {_span(state.silent_s)}",
        1,
        files=(str(patient.folder / HELD),),
    )


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min" if seconds < 7200 else "hours"


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
    if files.readable or not isinstance(patient.error, DamagedStoreError):
        return None
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
    wrong = [f"{files.folder / 'data' / name}" for name in (*missing, *cut)]
    if not wrong:
        return None
    words = []
    if missing:
        words.append(f"{counted(len(missing), 'data file')} missing")
    if cut:
        words.append(f"{counted(len(cut), 'data file')} cut short")
    return Seen(f"{' and '.join(words)}: the memories in them cannot be read", len(wrong), files=tuple(wrong))


CHECKS = (
    Check(
        "D34", "write lock", "facts", "S2", "wrong",
        "every write of the agent waits up to three minutes, then fails",
        "remove the lock, once no agent is running: --fix D34 --yes", _stale_lock, how="yours",
        back="none is needed", reversible=None,
    ),
    Check(
        "D35", "newest version", "facts", "S1", "lost",
        "every call of the agent fails", "move that file away: the version before it opens, its last change is lost",
        _newest_version, how="stop", safe=False, back="move it back",
    ),
    Check(
        "D36", "data files", "facts", "S1", "lost",
        "recall fails whole as soon as it meets one of these rows",
        "go back to a version that does not need them, or bring them back from a backup", _data_files,
        how="stop", safe=False, reversible=True, back="the newer version stays in the history",
    ),
)  # fmt: skip
