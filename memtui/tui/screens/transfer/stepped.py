"""A flow whose steps are parts of their own: each shows itself and answers its own keys and calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from memtui.engine import MemtuiError, Progress
from memtui.tui.screens.transfer.arrange import Shape
from memtui.tui.screens.transfer.flow import Flow, Heading
from memtui.tui.widgets.rows import Row
from memtui.tui.widgets.state_panel import State


class Part(Flow):
    """One step. `slots` are the engine calls whose answers it takes, also when another step is shown."""

    slots: ClassVar[tuple[str, ...]] = ()


class Stepped(Flow):
    """Hands everything to the step that is shown. A subclass fills `parts` and says `step`."""

    parts: dict[str, Part]

    @property
    def part(self) -> Part:
        """The step that is shown."""
        return self.parts[self.step]

    def shape(self) -> Shape:
        return self.part.shape()

    def said(self) -> State | None:
        return self.part.said()

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        return self.part.rows(panel, width, height)

    def heading(self, panel: str) -> Heading:
        return self.part.heading(panel)

    def advice(self) -> str:
        return self.part.advice()

    def goes_on(self) -> bool:
        return self.part.goes_on()

    def missing(self) -> str:
        return self.part.missing()

    def able(self, act: str, panel: str, key: str) -> bool:
        return self.part.able(act, panel, key)

    def moved(self, panel: str, key: str) -> None:
        self.part.moved(panel, key)

    def opened(self, panel: str, key: str) -> None:
        self.part.opened(panel, key)

    def acted(self, act: str, panel: str, key: str) -> None:
        self.part.acted(act, panel, key)

    def typed(self, text: str) -> None:
        self.part.typed(text)

    def took(self, text: str) -> None:
        self.part.took(text)

    def pasted(self, text: str) -> None:
        self.part.pasted(text)

    def completed(self) -> None:
        self.part.completed()

    def chosen(self, name: str) -> None:
        self.part.chosen(name)

    def next(self) -> None:
        self.part.next()

    def back(self) -> bool:
        return self.part.back()

    def stop(self) -> bool:
        return self.part.stop()

    def finished(self, slot: str, value: Any) -> None:
        for part in self.parts.values():
            if slot in part.slots:
                part.finished(slot, value)

    def failed(self, slot: str, error: MemtuiError) -> None:
        for part in self.parts.values():
            if slot in part.slots:
                part.failed(slot, error)

    def advanced(self, slot: str, progress: Progress) -> None:
        if not slot:
            self.part.advanced(slot, progress)
        for part in self.parts.values():
            if slot in part.slots:
                part.advanced(slot, progress)
