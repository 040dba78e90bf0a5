"""A file of another program whose rows are read as a store."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


class RowSource(Protocol):
    """The file of the other program. `stamp` differs once its rows may: it is asked twice a second."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def dialect(self) -> Dialect:
        """How the rows are read."""
        ...

    def stamp(self) -> Hashable:
        """What tells that something was written since."""
        ...

    def rows(self) -> pa.Table | None:
        """All rows as they are now; None where they are as they were when this was last asked."""
        ...
