"""A list whose rows are built by a function of its size: panels that only differ in what they paint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from textual.message import Message

from memtui.tui.keys import bindings
from memtui.tui.widgets.rows import Row, RowList

How = Literal["keep", "skip", "fix", "merge", "archive", "pin", "forget"]
Build = Callable[[int, int], Sequence[Row]]
"""Width and height in cells to the rows, scrolling ones included."""


class BuiltRows(RowList):
    """Paints what `build` gives."""

    def __init__(self, build: Build, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._build = build

    def paint(self, width: int) -> Sequence[Row]:
        return self._build(width, self.container_size.height)


class KnobRows(BuiltRows):
    """Rows whose value is turned with left and right."""

    BINDINGS = bindings("knobs")

    class Turned(RowList.Highlighted):
        """The value of the row was turned; `steps` may be negative, 0 puts it back."""

        def __init__(self, rows: RowList, key: str, steps: int) -> None:
            super().__init__(rows, key)
            self.steps = steps

    def _turn(self, steps: int) -> None:
        if self.key:
            self.post_message(self.Turned(self, self.key, steps))

    def action_less(self) -> None:
        self._turn(-1)

    def action_more(self) -> None:
        self._turn(1)

    def action_much_less(self) -> None:
        self._turn(-5)

    def action_much_more(self) -> None:
        self._turn(5)

    def action_own(self) -> None:
        self._turn(0)


class ReviewRows(BuiltRows):
    """The queue of the review."""

    BINDINGS = bindings("review")

    @dataclass
    class Settled(Message):
        """What was decided of the row under the cursor."""

        how: How

    def _settle(self, how: How) -> None:
        if self.key:
            self.post_message(self.Settled(how))

    def action_keep(self) -> None:
        self._settle("keep")

    def action_skip(self) -> None:
        self._settle("skip")

    def action_fix(self) -> None:
        self._settle("fix")

    def action_merge(self) -> None:
        self._settle("merge")

    def action_archive(self) -> None:
        self._settle("archive")

    def action_pin(self) -> None:
        self._settle("pin")

    def action_forget(self) -> None:
        self._settle("forget")
