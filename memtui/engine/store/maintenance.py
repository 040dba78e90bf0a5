"""What may be done to a table as a whole; each step retried while another program commits."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.store.errors import CommitConflictError, explained, writing
from memtui.engine.store.table_facts import in_the_way

if TYPE_CHECKING:
    from memtui.engine.store.writer import Writer


NOTHING_PRUNED = timedelta(days=36_500)

KEPT = timedelta(days=7)

_ATTEMPTS = 6


class TableMaintainer:
    """A table opened for maintenance. Used with the store's lock held."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._table: Any = writer.handle
        self._where = writer.where

    def newest(self) -> int:
        """Go to the newest version; its number."""
        return self._writer.newest()

    def count(self) -> int:
        """Rows of the newest version."""
        with explained(self._where):
            self._table.checkout_latest()
            return int(self._table.count_rows())

    def index_names(self) -> tuple[str, ...]:
        """The indexes of the newest version, name and kind."""
        with explained(self._where):
            return tuple(f"{index.name} ({index.index_type})" for index in self._table.list_indices())

    def do(self, step: str, about: str = "") -> None:
        """Do one step; see `health/maintenance.py`. Raises CommitConflictError when writers never pause."""
        steps: dict[str, Callable[[], None]] = {
            "fold": lambda: self._optimize(NOTHING_PRUNED),
            "unmask": self._unmask,
            "prune": self._prune,
            "index-text": self._index_text,
            "index-ids": self._index_ids,
            "drop-index": lambda: self._table.drop_index(about),
            "drop-name": lambda: self._table.tags.delete(about),
            "restore": lambda: self._table.restore(int(about)),
        }
        if step not in steps:
            raise UsageError(f"There is no step {step!r}.", fix=f"Choose among {', '.join(steps)}.")
        for attempt in range(_ATTEMPTS):
            try:
                with writing(self._where):
                    self._table.checkout_latest()
                    steps[step]()
                return
            except CommitConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.05 * 2**attempt)

    def _optimize(self, older_than: timedelta) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._table.optimize(cleanup_older_than=older_than)

    def held_back(self) -> dict[str, int]:
        """The names in the table of versions that are old enough to be pruned: none is while one of them is there."""
        with explained(self._where):
            tags = self._writer.tags()
            listed = self._table.list_versions()
        times = {int(item["version"]): item["timestamp"] for item in listed}
        newest = max(times, default=0)
        return {
            name: version
            for name, version in tags.items()
            if version in times
            and version != newest
            and datetime.now(times[version].tzinfo) - times[version] > KEPT
        }

    def oldest(self) -> datetime | None:
        """When the oldest version was written; None in a table without versions."""
        with explained(self._where):
            return min((version["timestamp"] for version in self._table.list_versions()), default=None)

    def old_enough(self) -> bool:
        """Whether a prune would find a version that is older than the days for which all are kept."""
        oldest = self.oldest()
        return oldest is not None and datetime.now(oldest.tzinfo) - oldest > KEPT

    def _prune(self) -> None:
        if held := self.held_back():
            raise RefusedError(
                f"Versions older than {KEPT.days} days have names in the table: {in_the_way(held)}.",
                fix="Take the names away first (doctor --fix ... --drop-names); nothing was pruned.",
            )
        self._optimize(KEPT)

    def _unmask(self) -> None:
        """Write the rows of every file with a mask anew: folding does so only once a tenth of a file is masked."""
        from memtui.engine.store.compact import masked_fragments, rows_of_fragment

        name = self._table.schema.names[0]
        stable = self._writer.dialect.can.own_store
        fragments = masked_fragments(self._writer.place)
        if fragments:
            for condition in ["true"] if stable else map(rows_of_fragment, sorted(fragments)):
                self._table.update(where=condition, values_sql={name: f"`{name}`"})

    def _index_text(self) -> None:
        """A full-text index in the format that the store's programs read, in place of any that is there."""
        from memtui.engine.store.create import FTS
        from memtui.engine.store.lancedb_import import import_lancedb

        import_lancedb()  # asks for full text in format 1
        from lancedb import index

        column = self._writer.dialect.columns.text
        for each in self._table.list_indices():
            if list(each.columns) == [column] and str(each.index_type).upper() != "FTS":
                self._table.drop_index(each.name)
        own = self._writer.dialect.can.own_store
        config = index.FTS(**FTS) if own else index.FTS(with_position=True)
        self._table.create_index(column, config=config, replace=True)
        made = next(index for index in self._table.list_indices() if list(index.columns) == [column])
        newest = self._writer.dialect.can.newest_fts
        if newest is not None and (made.index_version or 0) > newest:
            self._table.drop_index(made.name)
            raise MemtuiError(
                "The full-text index came out in a format that the plugin ignores; it was dropped again.",
                fix="Let the agent's program make it.",
            )

    def _index_ids(self) -> None:
        from lancedb.index import BTree

        self._table.create_index(self._writer.dialect.columns.id, config=BTree())
