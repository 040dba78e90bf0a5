"""The changes of a large plan, on the disk: each is an object only while somebody looks at it.

A change with the old and the new text of its metadata takes several thousand bytes as objects; a third of a million
of them took gigabytes. Only ids stay in memory. The file has no name: it goes with the plan, or with the program.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, overload


class Kept(Protocol):
    """What is asked of a change here; see `change_set.Change`."""

    @property
    def id(self) -> str:
        """The memory."""
        ...

    @property
    def op(self) -> Any:
        """What happens to it."""
        ...

    @property
    def scope(self) -> str | None:
        """Its scope."""
        ...

    @property
    def edit(self) -> Any:
        """What becomes of its row."""
        ...


Change = TypeVar("Change", bound=Kept)

MANY = 20_000
"""Up to so many changes stay in memory, and up to so many whole rows with a plan."""

BLOCK = 2_048
"""Changes, or rows, that stand as objects at once."""


class StoredChanges(Sequence[Change], Generic[Change]):
    """Very many changes in order. Each look at one reads the block that it stands in; going through reads each once."""

    def __init__(self, changes: Iterable[Change], folder: Path | None) -> None:
        """Take the changes; `folder` is where the disk has room for them, the system's temporary folder where None."""
        self._folder = folder
        there = folder is not None and os.access(folder, os.W_OK | os.X_OK)
        self._file = tempfile.TemporaryFile(dir=folder if there else None)  # noqa: SIM115 (as long as the plan)
        self._ends = [0]
        self.ids: list[str] = []
        self._ops: list[Any] = []
        self.scopes: Counter[str | None] = Counter()
        self.columns: dict[str, None] = {}
        """Whole columns that some change sets, in the order of their first."""
        self.patches_metadata = self.sets_vectors = False
        rest = iter(changes)
        while block := list(islice(rest, BLOCK)):
            self._take(block)
        self._file.flush()

    @property
    def ops(self) -> frozenset[Any]:
        """What happens to memories here."""
        return frozenset(self._ops)

    def named(self) -> Iterator[tuple[str, Any]]:
        """Id and operation of each, in order."""
        return zip(self.ids, self._ops, strict=True)

    def blocks(self) -> Iterator[list[Change]]:
        """All changes in order, some thousands at a time."""
        for number in range(len(self._ends) - 1):
            yield self._read(number)

    def kept(self, wanted: Callable[[Change], bool]) -> Sequence[Change]:
        """Those that `wanted` takes."""
        return collected((each for each in self if wanted(each)), self._folder)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Change]:
        for block in self.blocks():
            yield from block

    @overload
    def __getitem__(self, at: int) -> Change: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Change, ...]: ...

    def __getitem__(self, at: int | slice) -> Change | tuple[Change, ...]:
        if isinstance(at, int):
            at = range(len(self.ids))[at]
            return self._read(at // BLOCK)[at % BLOCK]
        found: list[Change] = []
        block: list[Change] = []
        number = -1
        for place in range(len(self.ids))[at]:
            if place // BLOCK != number:
                number = place // BLOCK
                block = self._read(number)
            found.append(block[place % BLOCK])
        return tuple(found)

    def _take(self, block: list[Change]) -> None:
        for each in block:
            self.ids.append(each.id)
            self._ops.append(each.op)
            self.scopes[each.scope] += 1
            self.columns.update(dict.fromkeys(each.edit.columns))
            self.patches_metadata |= bool(each.edit.metadata)
            self.sets_vectors |= each.edit.vector is not None
        data = zlib.compress(pickle.dumps(block, pickle.HIGHEST_PROTOCOL), 1)
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def _read(self, number: int) -> list[Change]:
        start, end = self._ends[number : number + 2]
        # A read at a place moves no pointer: several threads may look at one plan.
        block: list[Change] = pickle.loads(zlib.decompress(os.pread(self._file.fileno(), end - start, start)))
        return block


def collected(changes: Iterable[Change], folder: Path | None) -> Sequence[Change]:
    """The changes, on the disk where they are very many; see `StoredChanges`."""
    rest = iter(changes)
    few = tuple(islice(rest, MANY + 1))
    return few if len(few) <= MANY else StoredChanges(chain(few, rest), folder)
