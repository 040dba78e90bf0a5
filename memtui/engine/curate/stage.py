"""What waits to be applied to one store: a change set that grows, shrinks, and is then written as a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from memtui.engine.curate.changes import ChangeSet, Op
from memtui.engine.curate.staged import regardless, staged_with, without

if TYPE_CHECKING:
    from memtui.engine.dialects.base import Dialect


class Stage:
    """The staged changes of one store; nothing of them is written before they are applied."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._planned: ChangeSet | None = None

    def __len__(self) -> int:
        return 0 if self._planned is None else len(self._planned.changes)

    @property
    def planned(self) -> ChangeSet | None:
        """Everything that is staged, in one set; None for nothing."""
        return self._planned

    @property
    def ops(self) -> Mapping[str, Op]:
        """What is staged for each memory."""
        return {} if self._planned is None else {each.id: each.op for each in self._planned.changes}

    def with_(self, planned: ChangeSet) -> ChangeSet:
        """What is staged together with a plan that was made on top of it; nothing is staged by this."""
        return staged_with(self._planned, planned, self._dialect)

    def add(self, planned: ChangeSet) -> ChangeSet:
        """Stage a plan; the whole set. Raises RefusedError for a plan that cannot wait."""
        self._planned = self.with_(planned)
        if not self._planned.changes:
            self._planned = None
        return self._planned or planned

    def drop(self, ids: Collection[str]) -> None:
        """Leave these memories alone, and those whose changes stand or fall with theirs."""
        if self._planned is not None:
            self._planned = without(self._planned, ids)

    def clear(self) -> None:
        """Nothing is staged any more."""
        self._planned = None

    def regardless(self, ids: Collection[str]) -> ChangeSet:
        """The set as it is to be written over what other programs made of these memories; see `regardless`."""
        return regardless(self._planned or ChangeSet("edit", "nothing is staged", (), 0), ids)
