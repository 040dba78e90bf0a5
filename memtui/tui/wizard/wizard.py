"""A task of the wizard: its declaration, and one run of it, which the frame shows and drives.

A task is one value: its steps with their forms, rows, keys and ways back. Nothing in it knows the screen; what a
step needs beside its state it asks of the `TaskRun` that its functions are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, cast

from textual.content import Content

from memtui.engine import CancelToken, MemtuiError, Progress
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.text_prompt import Paste, TextPrompt
from memtui.tui.host import Host
from memtui.tui.layouts import Shape
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import State
from memtui.tui.wizard.view import FormRow, RunProgress, heard, setting_row, ticked

if TYPE_CHECKING:
    from memtui.engine import Engine


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


class TaskState(Protocol):
    """What the state of every task has: it is a frozen dataclass."""

    @property
    def step(self) -> str:
        """The name of the step that is shown."""
        ...

    @property
    def error(self) -> MemtuiError | None:
        """Why the step cannot go on."""
        ...

    @property
    def pace(self) -> RunProgress:
        """How far the running call is."""
        ...


S = TypeVar("S", bound=TaskState)


@dataclass(frozen=True)
class FormField(Generic[S]):
    """One line of a form: Enter asks for its value, Space turns a switch."""

    name: str
    label: str
    meaning: str = ""
    kind: Literal["text", "choice", "switch"] = "text"
    default: Any = ""
    none: str = "-"
    """What is shown where there is no value."""
    path: bool = False
    """The value is a path, of which the end matters most."""
    title: str = ""
    hint: str = ""
    options: Sequence[Option] = ()
    shown: Callable[[TaskRun[S]], str] | None = None
    """How the value is written, where it is not simply itself."""
    value: Callable[[S], Any] | None = None
    """The value, where it is not the part of the state with the field's name."""
    typed: Callable[[TaskRun[S]], str] | None = None
    """What stands in the prompt at first, where it is not the value."""
    take: Callable[[TaskRun[S], Any], None] | None = None
    """What a new value does; otherwise it becomes the part of the state with the field's name."""
    ask: Callable[[TaskRun[S]], None] | None = None
    """How the value is asked for, where a prompt or a choice is not enough."""

    def of(self, run: TaskRun[S]) -> Any:
        """The value as it is now."""
        return self.value(run.state) if self.value is not None else getattr(run.state, self.name)

    def setting(self, run: TaskRun[S]) -> FormRow:
        """The field as a row shows it."""
        value = self.of(run)
        if self.kind == "switch":
            return FormRow(self.name, self.label, meaning=self.meaning, on=bool(value))
        shown = self.shown(run) if self.shown is not None else str(value or "") or self.none
        return FormRow(self.name, self.label, shown, self.meaning, value != self.default, path=self.path)

    def change(self, run: TaskRun[S]) -> None:
        """Ask for another value; a switch is turned at once."""

        def took(value: Any) -> None:
            if self.take is not None:
                self.take(run, value)
            else:
                run.set(**{self.name: value})

        if self.ask is not None:
            self.ask(run)
        elif self.kind == "switch":
            took(not self.of(run))
        elif self.kind == "choice":
            run.pick(self.title, self.options, self.of(run), took)
        else:
            now = self.typed(run) if self.typed is not None else self.of(run)
            run.ask(self.title, self.hint, now, took)


TWO = Shape("two", side_rows=8)
"""A narrow panel and a wide one."""


@dataclass(frozen=True)
class Key(Generic[S]):
    """A letter of a step: when it means something, and what it does. Both get the panel and the row's key."""

    do: Callable[[TaskRun[S], str, str], None]
    able: Callable[[TaskRun[S], str, str], bool] = lambda run, panel, key: True
    unlocks: str = ""
    """What it does to the open store, "import them", which a person unlocks for it; empty: it writes nothing there."""


def _nothing(run: TaskRun[Any]) -> None:
    """A step that asks the engine for nothing, or has nothing after it."""


def _no_text(run: TaskRun[Any], text: str) -> None:
    """A step without a line to type into."""


@dataclass(frozen=True)
class TaskStep(Generic[S]):
    """One step: what its panels show, and what its keys do. Where a function stands a plain value may, too."""

    name: str
    rows: Callable[[TaskRun[S], str, int, int], Sequence[Row]]
    """The rows of a panel: its name, its width and height."""
    heading: Callable[[TaskRun[S], str], Heading] = lambda run, panel: Heading()
    """The words in the frame of a panel."""
    shape: Shape | Callable[[TaskRun[S]], Shape] = TWO
    said: Callable[[TaskRun[S]], State | None] = lambda run: None
    """Words in place of the main panel."""
    form: tuple[FormField[S], ...] | Callable[[TaskRun[S]], tuple[FormField[S], ...]] = ()
    """The settings that `form_rows` lists; Enter on the row of one changes it."""
    advice: str | Callable[[TaskRun[S]], str] = ""
    """What to know or to do here, one line above what is missing."""
    missing: Callable[[TaskRun[S]], str] = lambda run: ""
    """What stands in the way of the next step; empty when nothing does."""
    line: Callable[[S], str] = lambda state: ""
    """What the line to type into holds."""
    first: Callable[[TaskRun[S]], str] = lambda run: ""
    """The list that gets the keyboard when the step is entered; empty: the line, or else the first list."""
    begin: Callable[[TaskRun[S]], None] = _nothing
    """What the step asks of the engine when it is entered, or the store was read anew."""
    goes_on: bool | Callable[[TaskRun[S]], bool] = True
    """Whether there is a next step to go to with a key."""
    next: Callable[[TaskRun[S]], None] = _nothing
    back: Callable[[TaskRun[S]], bool] = lambda run: False
    """Go a step back; False when there is none. True without going keeps the wizard here, as while it writes."""
    keys: Mapping[str, Key[S]] = field(default_factory=dict)
    """What the letters do, by the name of the action: "write", "undo", "switch"."""
    opened: Callable[[TaskRun[S], str, str], None] | None = None
    """Enter on a row that is no setting of the form; without it the next step."""
    moved: Callable[[TaskRun[S], str, str], None] = lambda run, panel, key: None
    typed: Callable[[TaskRun[S], str], None] = _no_text
    took: Callable[[TaskRun[S], str], None] = _no_text
    """Enter in the line to type into."""
    pasted: Callable[[TaskRun[S], str], None] = _no_text
    completed: Callable[[TaskRun[S]], None] = _nothing
    """Tab in the line to type into."""
    chosen: Callable[[TaskRun[S], str], None] = lambda run, name: None
    """A way out that the words offered."""
    stop: Callable[[TaskRun[S]], bool] | None = None
    """Stop what runs, where it is more than that; False when nothing runs."""


@dataclass(frozen=True)
class Task(Generic[S]):
    """What the wizard can do, declared: the steps in their order, and the state that it begins with."""

    name: str
    title: str
    steps: tuple[TaskStep[S], ...]
    start: Callable[..., S]
    """The state at the beginning, of the open store and what else it was begun with."""
    about: Callable[[TaskRun[S]], str] = lambda run: ""
    """What it is about, at the right end of the stepper: a file, its size, its records."""
    strip: Callable[[TaskRun[S], int], Content] = lambda run, width: Content()
    """A second line under the stepper, on a narrow screen."""
    close: Callable[[S], None] = lambda state: None
    """It is left: let go of what the state holds."""


class Frame(Protocol):
    """What shows a task and works for it, as a `TaskRun` sees it."""

    @property
    def host(self) -> Host:
        """The app."""
        ...

    @property
    def engine(self) -> Engine:
        """The open store."""
        ...

    @property
    def forbidden(self) -> str:
        """Why nothing can be written, with what to do; empty when it can."""
        ...

    def work(self, slot: str, call: Call) -> None:
        """Run an engine call; a call of the same slot is stopped first."""
        ...

    def calls_busy(self, slot: str) -> bool:
        """Whether a call is running."""
        ...

    def stop_calls(self) -> bool:
        """Ask everything that runs to stop; False when nothing does."""
        ...

    def paint(self) -> None:
        """The state changed: show it."""
        ...

    def show_dialog(self, dialog: TextPrompt | ChooseOne | Paste, then: Callable[[Any], None]) -> None:
        """Put a dialog on top; `then` gets what it was closed with."""
        ...

    def begin(self, name: str, *given: Any, act: str = "") -> None:
        """Leave this task and begin another; no name is the start page. `act` is a letter to press there."""
        ...

    def take_back(self, entry: int, then: Callable[[], None] | None = None) -> None:
        """Show what taking back an entry of the journal means, and do it when a person agrees."""
        ...

    def send(self, message: Any) -> None:
        """Post a message to the app: open something on another screen."""
        ...

    def flash(self, text: str, kind: Literal["done", "note", "error"] = "done") -> None:
        """Say one line above the key bar."""
        ...

    def focus_list(self, panel: str) -> None:
        """Put the keyboard into a list."""
        ...

    def move_to(self, panel: str, key: str = "") -> None:
        """Put the cursor of a list on a row; without a key, a row further."""
        ...

    def at(self, panel: str) -> str:
        """The key of the row under the cursor of a list."""
        ...

    def has_keyboard(self, panel: str) -> bool:
        """Whether a list has the keyboard."""
        ...

    def shows(self, panel: str) -> bool:
        """Whether a panel has a place at the present size."""
        ...

    def put_line(self, text: str) -> None:
        """Put a text into the line to type into."""
        ...

    def refresh_bindings(self) -> None:
        """Look anew which keys mean something."""
        ...

    def later(self, act: Callable[[], None]) -> None:
        """Do this after what is shown was painted."""
        ...


@dataclass(frozen=True, slots=True)
class _Answer:
    """What becomes of a call that runs."""

    then: Callable[[Any], None]
    failed: Callable[[MemtuiError], None]
    stopped: Callable[[], None]
    paced: bool


class TaskRun(Generic[S]):
    """One task under way: its state, and what its steps may ask of the frame. One call runs in each slot."""

    def __init__(self, task: Task[S], frame: Frame, *given: Any) -> None:
        self.task, self.frame = task, frame
        self.state: S = task.start(frame.engine, *given)
        self._steps = {step.name: step for step in task.steps}
        self._answers: dict[str, _Answer] = {}

    # what its steps may ask

    @property
    def engine(self) -> Engine:
        """The open store."""
        return self.frame.engine

    @property
    def glyphs(self) -> Glyphs:
        """The characters of this terminal."""
        return self.frame.host.glyphs

    @property
    def now_ms(self) -> int:
        """The app's clock."""
        return self.frame.host.now_ms()

    @property
    def forbidden(self) -> str:
        """Why nothing can be written, with what to do; empty when it can."""
        return self.frame.forbidden

    def words(self, hint: str) -> str:
        """A hint with the keys in force, as in `Keymap.words`; advice and headings need no help."""
        return self.frame.host.keys.words(hint)

    def keep(self, **changes: Any) -> None:
        """Replace parts of the state without showing it yet."""
        self.state = cast("S", replace(cast("Any", self.state), **changes))

    def set(self, **changes: Any) -> None:
        """Replace parts of the state and show it."""
        self.keep(**changes)
        self.frame.paint()

    def paint(self) -> None:
        """Show the state."""
        self.frame.paint()

    def work(
        self,
        slot: str,
        call: Call,
        then: Callable[[Any], None],
        *,
        failed: Callable[[MemtuiError], None] | None = None,
        stopped: Callable[[], None] = lambda: None,
        paced: bool = True,
    ) -> None:
        """Run an engine call: `then` gets its answer, `failed` its error, `stopped` is called when it was stopped.

        Without `failed` the error is the state's. `paced` says that its progress is shown.
        """
        self._answers[slot] = _Answer(then, failed or self.fail, stopped, paced)
        self.frame.work(slot, call)

    def fail(self, error: MemtuiError) -> None:
        """The step cannot go on: say why."""
        self.set(error=error, pace=RunProgress())

    def busy(self, *slots: str) -> bool:
        """Whether one of these calls is running."""
        return any(self.frame.calls_busy(slot) for slot in slots)

    def ask(self, title: str, hint: str, value: str, then: Callable[[str], None]) -> None:
        """A line of text; nothing happens when it is closed. A single `-` takes the value away."""

        def got(text: str | None) -> None:
            if text is not None:
                then("" if text.strip() == "-" else text)

        self.frame.show_dialog(TextPrompt(title, hint, value), got)

    def pick(
        self, title: str, options: Sequence[Option], current: str | None, then: Callable[[str], None]
    ) -> None:
        """One of several; nothing happens when it is closed."""

        def got(value: str | None) -> None:
            if value is not None:
                then(value)

        self.frame.show_dialog(ChooseOne(title, options, current), got)

    # what the frame asks: each from the step that is shown

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.task.name

    @property
    def step(self) -> str:
        """The name of the step that is shown."""
        return self.state.step

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps; a task of a single page without a name has none."""
        return tuple(name for name in self._steps if name)

    @property
    def part(self) -> TaskStep[S]:
        """The step that is shown."""
        return self._steps[self.state.step]

    def shape(self) -> Shape:
        """The arrangement of the step."""
        shape = self.part.shape
        return shape if isinstance(shape, Shape) else shape(self)

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        """The rows of a panel."""
        return self.part.rows(self, panel, width, height)

    def advice(self) -> str:
        """What to know or to do here."""
        advice = self.part.advice
        return advice if isinstance(advice, str) else advice(self)

    def goes_on(self) -> bool:
        """Whether there is a next step to go to with a key."""
        on = self.part.goes_on
        return on if isinstance(on, bool) else on(self)

    def form(self) -> tuple[FormField[S], ...]:
        """The settings of the step."""
        form = self.part.form
        return form if isinstance(form, tuple) else form(self)

    def form_rows(self, width: int, label: int = 13) -> list[Row]:
        """The settings of the step as rows; `label` is the width of their names."""
        return [setting_row(each.setting(self), width, self.glyphs, label) for each in self.form()]

    def able(self, act: str, panel: str, key: str) -> bool:
        """Whether a key makes sense on a row, or (with no panel) at all."""
        known = self.part.keys.get(act)
        if known is not None:
            return known.able(self, panel, key)
        return act == "switch" and any(each.name == key and each.kind == "switch" for each in self.form())

    def acted(self, act: str, panel: str, key: str) -> None:
        """A letter on a row, or (with no panel) anywhere."""
        known = self.part.keys.get(act)
        if known is not None:
            known.do(self, panel, key)
        elif act == "switch":
            self._change(key)

    def opened(self, panel: str, key: str) -> None:
        """Enter on a row."""
        if panel == "a" and self._change(key):
            return
        if self.part.opened is not None:
            self.part.opened(self, panel, key)
        else:
            self.part.next(self)

    def _change(self, key: str) -> bool:
        """Change the setting of a row; False for a row that is none."""
        chosen = next((each for each in self.form() if each.name == key), None)
        if chosen is not None:
            chosen.change(self)
        return chosen is not None

    def renewed(self) -> None:
        """Start again on the open store: the task was begun, or other rows were read."""
        self.part.begin(self)

    def stop(self) -> bool:
        """Stop what runs; False when nothing does."""
        return self.part.stop(self) if self.part.stop is not None else self.frame.stop_calls()

    def finished(self, slot: str, value: Any) -> None:
        """A call returned, perhaps because it was stopped."""
        answer = self._answers[slot]
        if value is STOPPED:
            answer.stopped()
        else:
            answer.then(value)

    def failed(self, slot: str, error: MemtuiError) -> None:
        """A call failed."""
        self._answers[slot].failed(error)

    def advanced(self, slot: str, progress: Progress) -> None:
        """A call has come further; with no slot time went on without a report."""
        if not slot:
            if self.state.pace.phases:
                self.set(pace=ticked(self.state.pace, self.now_ms))
        elif self._answers[slot].paced:
            self.set(pace=heard(self.state.pace, progress, self.now_ms))

    def close(self) -> None:
        """Let go of what the run holds; it is being left."""
        self.task.close(self.state)
