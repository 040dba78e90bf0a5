"""One thing that Transfer can do, step by step: what its panels show, and what its keys do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast

from textual.content import Content

from memtui.engine import CancelToken, MemtuiError, Progress
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layouts import Shape
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import State
from memtui.tui.wizard.view import RunProgress, heard, ticked

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.tui.dialogs.palette_entry import PaletteEntry
    from memtui.tui.screens.transfer.import_state import ImportState
    from memtui.tui.screens.transfer.import_task import Import
    from memtui.tui.screens.transfer.screen import TransferScreen


Call = Callable[[Callable[[Progress], None], CancelToken], Any]
"""An engine call, in a thread: reports progress, looks at the token."""


class Stopped:
    """What a call that was stopped answers."""


STOPPED = Stopped()


@dataclass(frozen=True, slots=True)
class Heading:
    """The words in the frame of a panel."""

    what: str = ""
    which: Content | str = ""
    where: Content | str = ""


class Flow:
    """A subclass keeps its state in one frozen value, and overrides what it needs of the rest."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    steps: ClassVar[tuple[str, ...]] = ()

    def __init__(self, screen: TransferScreen) -> None:
        self.screen = screen

    # ------------------------------------------------------------------ what it shows

    @property
    def step(self) -> str:
        """Where it is, one of `steps`."""
        return self.steps[0] if self.steps else ""

    def about(self) -> str:
        """What it is about, at the right end of the stepper: a file, its size, its records."""
        return ""

    def shape(self) -> Shape:
        """The arrangement of the step."""
        return Shape()

    def said(self) -> State | None:
        """Words in place of the main panel."""
        return None

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        """The rows of a panel."""
        return []

    def heading(self, panel: str) -> Heading:
        """The words in its frame."""
        return Heading()

    def strip(self, width: int) -> Content:
        """A second line under the stepper, on a narrow screen."""
        return Content()

    def missing(self) -> str:
        """What stands in the way of the next step; empty when nothing does."""
        return ""

    def goes_on(self) -> bool:
        """Whether there is a next step to go to with a key."""
        return True

    def advice(self) -> str:
        """What to know or to do here, one line above what is missing."""
        return ""

    def line_text(self) -> str:
        """What the line to type into holds."""
        return ""

    # ------------------------------------------------------------------ what its keys do

    def able(self, act: str, panel: str, key: str) -> bool:
        """Whether a key makes sense on a row, or (with no panel) at all."""
        return False

    def moved(self, panel: str, key: str) -> None:
        """The cursor came to a row."""

    def opened(self, panel: str, key: str) -> None:
        """Enter on a row."""
        self.next()

    def acted(self, act: str, panel: str, key: str) -> None:
        """A letter on a row, or (with no panel) anywhere."""

    def typed(self, text: str) -> None:
        """The line to type into has another text."""

    def took(self, text: str) -> None:
        """Enter in the line to type into."""

    def pasted(self, text: str) -> None:
        """A text came in one piece into the line."""

    def completed(self) -> None:
        """Tab in the line to type into."""

    def chosen(self, name: str) -> None:
        """A way out that the words offered."""

    def next(self) -> None:
        """Go on."""

    def back(self) -> bool:
        """Go a step back; False when there is none."""
        return False

    # ------------------------------------------------------------------ what its calls answer

    def finished(self, slot: str, value: Any) -> None:
        """A call returned."""

    def failed(self, slot: str, error: MemtuiError) -> None:
        """A call failed."""

    def advanced(self, slot: str, progress: Progress) -> None:
        """A call has come further."""

    def stop(self) -> bool:
        """Stop what runs; False when nothing does."""
        return self.screen.stop_calls()

    def renewed(self) -> None:
        """The store was read anew: the same store, other rows."""

    def close(self) -> None:
        """It is left: let go of what it holds."""

    def entries(self) -> list[PaletteEntry]:
        """What the palette can do here beside the keys."""
        return []

    # ------------------------------------------------------------------ help for subclasses

    @property
    def engine(self) -> Engine:
        """The open store."""
        engine = self.screen.session.engine
        assert engine is not None
        return engine

    @property
    def glyphs(self) -> Glyphs:
        """The characters of this terminal."""
        return host(self.screen).glyphs

    @property
    def now_ms(self) -> int:
        """The app's clock."""
        return host(self.screen).now_ms()

    @property
    def forbidden(self) -> str:
        """Why nothing can be written, with what to do; empty when it can."""
        return self.screen.staging.forbidden

    def words(self, hint: str) -> str:
        """A hint with the keys in force, as in `Keymap.words`; advice and headings need no help."""
        return host(self.screen).keys.words(hint)

    def work(self, slot: str, call: Call) -> None:
        """Run an engine call; its answer comes to `finished` or `failed` of this flow."""
        self.screen.work(slot, call)

    def busy(self, slot: str) -> bool:
        """Whether a call is running."""
        return self.screen.calls_busy(slot)

    def paint(self) -> None:
        """The state changed: show it."""
        self.screen.paint()

    def ask(self, title: str, hint: str, value: str, then: Callable[[str], None]) -> None:
        """A line of text; nothing happens when it is closed. A single `-` takes the value away."""

        def got(text: str | None) -> None:
            if text is not None:
                then("" if text.strip() == "-" else text)

        self.screen.app.push_screen(TextPrompt(title, hint, value), got)

    def pick(self, title: str, options: Sequence[Option], current: str, then: Callable[[str], None]) -> None:
        """One of several; nothing happens when it is closed."""

        def got(value: str | None) -> None:
            if value is not None:
                then(value)

        self.screen.app.push_screen(ChooseOne(title, options, current), got)


class TaskState(Protocol):
    """What the state of a task has beside its own: a frozen dataclass."""

    @property
    def step(self) -> str:
        """Where the task is, one of its steps."""
        ...

    @property
    def pace(self) -> RunProgress:
        """How far the running call is."""
        ...


S = TypeVar("S", bound=TaskState)


class TaskFlow(Flow, Generic[S]):
    """A flow whose state is one frozen value with a step, an error, and the pace of what runs."""

    PACED: ClassVar[tuple[str, ...]] = ()
    """The slots whose progress is shown; empty: every one."""

    def __init__(self, screen: TransferScreen, state: S) -> None:
        super().__init__(screen)
        self.state = state

    @property
    def step(self) -> str:
        return self.state.step

    def set(self, **changes: Any) -> None:
        """Replace parts of the state and show it."""
        self.state = cast("S", replace(cast("Any", self.state), **changes))
        self.paint()

    def failed(self, slot: str, error: MemtuiError) -> None:
        self.set(error=error, pace=RunProgress())

    def advanced(self, slot: str, progress: Progress) -> None:
        if slot and (not self.PACED or slot in self.PACED):
            self.set(pace=heard(self.state.pace, progress, self.now_ms))
        elif not slot and self.state.pace.phases:
            self.set(pace=ticked(self.state.pace, self.now_ms))


# A flow whose steps are parts of their own: each shows itself and answers its own keys and calls.


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


# A step of the import wizard.


class ImportPart(Part):
    """Works on the state of its flow."""

    def __init__(self, screen: TransferScreen, flow: Import) -> None:
        super().__init__(screen)
        self.flow = flow

    @property
    def state(self) -> ImportState:
        """What the wizard knows."""
        return self.flow.state

    def keep(self, **changes: Any) -> None:
        """Replace parts of the state without showing it yet."""
        self.flow.state = replace(self.flow.state, **changes)

    def set(self, **changes: Any) -> None:
        """Replace parts of the state and show it."""
        self.flow.set(**changes)
