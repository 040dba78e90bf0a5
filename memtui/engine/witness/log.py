"""The log of injections in memtui's own state: it outlives the clean-up of the store's old versions.

Ids, times, counters and version numbers only; never a text.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.witness.injections import InjectionHistory, InjectionMark, read_injections

if TYPE_CHECKING:
    from memtui.engine.store.table import Store
    from memtui.engine.store.writer import VersionMark


_LAYOUT = """
CREATE TABLE IF NOT EXISTS marks (
    id TEXT NOT NULL, time_ms INTEGER NOT NULL, version INTEGER NOT NULL, old INTEGER NOT NULL,
    PRIMARY KEY (id, time_ms)
);
CREATE TABLE IF NOT EXISTS counts (id TEXT PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS reads (version INTEGER NOT NULL, mark TEXT NOT NULL);
"""


class InjectionLog:
    """The marks of one store in the file `path`, which need not exist. Readable by the user only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def update(
        self, store: Store, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
    ) -> InjectionHistory:
        """Read what versions wrote since the last time, keep it, and return all that is known.

        A table that was put in the place of another one is read from its beginning; what the other one told
        stays. Raises MemtuiError when the file cannot be used.
        """
        with self._open() as db:
            last = db.execute("SELECT version, mark FROM reads").fetchone()
        after = None
        if last is not None and last[1] and last[1] == _mark_of(store, last[0]):
            after = int(last[0])
        if after is not None and after >= store.version:
            return self.history(store.version)
        fresh = read_injections(store, after=after, on_progress=on_progress, cancel=cancel)
        with self._open() as db:
            db.executemany(
                "INSERT INTO marks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(mark.id, mark.time_ms, mark.version, int(mark.old)) for mark in fresh.marks],
            )
            db.executemany(
                "INSERT INTO counts VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET count = max(count, excluded.count)",
                list(fresh.counts.items()),
            )
            db.execute("DELETE FROM reads")
            db.execute("INSERT INTO reads VALUES (?, ?)", (fresh.version, _mark_of(store, fresh.version)))
        known = self.history(fresh.version)
        known.known = fresh.known
        return known

    def history(self, version: int = 0) -> InjectionHistory:
        """All that is kept."""
        if not self.path.exists():
            return InjectionHistory(version=version)
        with self._open() as db:
            marks = db.execute("SELECT id, time_ms, version, old FROM marks ORDER BY time_ms, version, id")
            kept = [InjectionMark(row[0], row[1], row[2], bool(row[3])) for row in marks]
            counts = dict(db.execute("SELECT id, count FROM counts").fetchall())
        return InjectionHistory(kept, counts, version)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            make_private_folder(self.path.parent)
            fresh = not self.path.exists()
            with closing(sqlite3.connect(self.path, timeout=10)) as db:
                if fresh:
                    os.chmod(self.path, 0o600)
                with db:
                    db.executescript(_LAYOUT)
                    yield db
        except (sqlite3.Error, OSError) as error:
            raise MemtuiError(
                f"The log of injections in {self.path} cannot be used.",
                fix="Check the folder's permissions, or move the file away: a new one is made.",
                details=str(error),
            ) from None


def _mark_of(store: Store, version: int) -> str:
    """What tells a version from one of the same number elsewhere; empty where the store keeps no versions."""
    mark: VersionMark | None = store.mark(version)
    return "" if mark is None else repr(mark.file)
