"""A format that can be imported: its name, how it is recognised, and which function reads which kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.transfer.record import Read
from memtui.engine.transfer.sources.options import ReadOptions

if TYPE_CHECKING:
    from memtui.engine.transfer.sources.head import Head, Kind


Asked = Literal["prose", "sessions", "encoding"]
"""Whether paragraphs are taken beside lists, whether conversations are taken, which encoding its text has."""

Reader = Callable[[Path, ReadOptions], Iterator[Read]]


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a reader saw of its format in a source. The sighting with the highest certainty tells the format."""

    evidence: tuple[str, ...]
    """Short phrases for people: what was seen that no other format has."""
    certainty: float = 1.0
    """From 0 to 1: 1 is a mark that one program alone writes, .8 are its keys, .5 is a shape, .1 fits anything."""
    refusal: MemtuiError | None = None
    """Raised instead where the program is known and the file holds no memories: its history, a conversation."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format. A module of `readers` names those that it reads in `FORMATS`; nothing else has to know it."""

    name: str
    title: str
    readers: Mapping[Kind, Reader] = field(repr=False)
    """The function that reads it, for each kind of file it comes in."""
    detects: Callable[[Head], Sighting | None] = field(repr=False)
    """What is seen of it in the beginning of a source; asked for its own kinds of files alone."""
    order: int
    """Its place in lists. Of equally certain formats, the first is taken."""
    stored: bool = False
    """Its rows stood in a store of memories: nothing is too short or noise in it."""
    own: bool = False
    """It holds whole rows: what a table of the same dialect gets from it is equal to what it was."""
    bare_scopes: bool = False
    """Its scopes are memory-lancedb-pro's own: a word without a colon may be defined there."""
    maps: bool = False
    """Its columns have to be mapped to fields."""
    asks: tuple[Asked, ...] = ()
    """What a person may decide about it, beside what every format is asked."""

    def reader(self, kind: Kind) -> Reader:
        """The function that reads it; UsageError when it does not come in this kind."""
        from memtui.engine.transfer.sources.head import KINDS

        found = self.readers.get(kind)
        if found is None:
            raise UsageError(
                f"{self.title} does not come as {KINDS[kind]}.",
                fix=f"It comes as {' or '.join(KINDS[reader] for reader in self.readers)}; or leave the form out.",
            )
        return found


class ReaderModule(Protocol):
    """What a module has that reads formats: ours in `readers`, and those of extensions (`memtui.readers`)."""

    PROTOCOL: int
    """The version of this protocol that the module was written for: 1."""
    FORMATS: tuple[Format, ...]
    """Its formats. The entry point of an extension is named like the format that it stands for."""
