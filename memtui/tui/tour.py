"""The guided first run: real key presses on the demo store, from a wrong answer to its undo, and to a lost text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from memtui.tui.host import host
from memtui.tui.jump import Jump
from memtui.tui.messages import AskCapture, AskRecall

if TYPE_CHECKING:
    from memtui.tui.actions.dispatch import KeymapApp
    from memtui.ui_state import UiState


# What the guided run says and waits for.

QUESTION = "Which port do I use for SSH to the bastion?"

RIGHT = "48022"
"""What the right memory says."""

TALK = """User: The bastion's jump host is heron-02 since Monday.
User: maybe we rename otter to seal
Assistant: Noted.
User: ok
"""
"""A conversation of which one text is kept and the others are lost, each by another rule."""


@dataclass(frozen=True, slots=True)
class TourSituation:
    """What the app looks like at this moment, as far as a step may ask."""

    mode: str
    dialog: str
    """Class name of the dialog on top; empty for none."""
    version: int
    """Version of the table."""
    answered: bool
    """Whether the question has been answered."""
    right: bool
    """Whether the first memory of the answer says the right port."""
    lost: bool = False
    """Whether it is told why a text of a conversation became no memory."""


def look(app: App[Any]) -> TourSituation:
    """What there is to see; screens are asked for what they show, not for how."""
    stack = app.screen_stack
    frame = stack[0]
    info = app.session.info  # type: ignore[attr-defined]
    trace = getattr(getattr(frame, "state", None), "trace", None) if _mode(frame) == "recall" else None
    mine = trace is not None and getattr(trace, "query", "") == QUESTION
    verdict = getattr(getattr(frame, "state", None), "verdict", None) if _mode(frame) == "capture" else None
    texts = [trace.memories[result.id].text for result in trace.results] if trace is not None and mine else []
    return TourSituation(
        mode=_mode(frame),
        dialog=type(stack[-1]).__name__ if len(stack) > 1 else "",
        version=info.version if info is not None else 0,
        answered=mine,
        right=bool(texts) and RIGHT in texts[0],
        lost=verdict is not None and not verdict.kept,
    )


def _mode(frame: object) -> str:
    return str(getattr(frame, "MODE", ""))


@dataclass(frozen=True, slots=True)
class TourStep:
    """One thing to do: why, which key, and how to see that it was done since the step began."""

    why: str
    do: str
    """`{browse.filter}` stands for the key of that action."""
    done: Callable[[TourSituation, TourSituation], bool]
    """Given what there was to see when the step began, and what there is now."""
    fill: Callable[[], Message] | None = None
    """What is filled in when the step begins: a question, a conversation."""


STEPS = (
    TourStep(
        "An agent was asked for the SSH port of the bastion. It said 2222, and nobody could log in.",
        "Press {app.go-recall}: Recall asks the memory what the agent asked.",
        lambda before, now: now.mode == "recall",
    ),
    TourStep(
        "The question is filled in.",
        "Press {question.run} to ask it.",
        lambda before, now: now.answered,
        fill=lambda: AskRecall(QUESTION, run=False),
    ),
    TourStep(
        "Number 1 is the wrong answer. Below it stands where its score comes from.",
        "Press {recall.explain} for every stage that brought it there.",
        lambda before, now: now.dialog == "StageLedger",
    ),
    TourStep(
        "It has every word of the question; the right memory says 48022 in other words, so it was not recalled.",
        "Press {ledger.close}, then {recall.replace}: what should have been read instead.",
        lambda before, now: now.dialog == "CorrectAnswer",
    ),
    TourStep(
        "The sentence that was found gets the right port; the wrong memory is replaced, and kept as history.",
        "Press {paste.take}: preview it. Nothing is written yet.",
        lambda before, now: now.dialog == "ChangePreview",
    ),
    TourStep(
        "The preview: what changes, and below it the effect on recall, before and now.",
        "Press {change.apply} to write it.",
        lambda before, now: now.version > before.version and not now.dialog,
    ),
    TourStep(
        "Saved as a case and asked again: number 1 is the right port now. Every change can be undone.",
        "Press {app.go-browse}, then {browse.undo}, then {change.apply}; {app.skip-tour} keeps it.",
        lambda before, now: now.version > before.version and not now.dialog,
    ),
    TourStep(
        "The wrong port is back, with the words and the fields of before. Redo brings the correction again.",
        "Press {browse.redo}, then {change.apply}: the right port counts.",
        lambda before, now: now.version > before.version and not now.dialog,
    ),
    TourStep(
        "That was correcting. Memories are made of conversations, and most texts become none.",
        "Press {app.go-capture}: Capture shows what becomes of every text.",
        lambda before, now: now.mode == "capture",
    ),
    TourStep(
        "One text was kept; of each other one the rule that dropped it stands beside it. Nothing is written.",
        "Press {rows.down}, then {capture.why-not}: the gate that stopped it.",
        lambda before, now: now.lost,
        fill=lambda: AskCapture(TALK),
    ),
)

THE_END = TourStep(
    "That is the loop: ask, see why, correct, undo; and see why a text was never kept.",
    "{app.help} shows the keys, {app.palette} finds every command; ? in it finds guides.",
    lambda before, now: False,
)


# The lines under the top bar that say what to do next.


class TourStrip(Widget):
    """Why and what to press; a click on the end of it skips the rest."""

    DEFAULT_CSS = """
    TourStrip {
        dock: top; height: auto; margin-top: 1; padding: 0 1; background: $cursor-idle; color: $foreground;
    }
    """
    auto_links = False

    place: reactive[str] = reactive("", layout=True)
    why: reactive[str] = reactive("", layout=True)
    do: reactive[str] = reactive("", layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> list[Content]:
        glyphs = host(self).glyphs
        skip = host(self).keys.by_id["app.skip-tour"].cap
        way_out = Content.assemble((skip, "bold $key"), f" {'close' if self.place == 'done' else 'skip'}")
        way_out = way_out.stylize(Style.from_meta({"@click": "app.skip_tour"}))
        text = Content.assemble((f"TOUR {self.place}  ", "bold $primary"), (self.why, "$foreground"))
        todo = Content.assemble((f"{glyphs.forth} ", "$primary"), (self.do, "bold $key"))
        room = max(20, width - way_out.cell_length - 3)
        lines = [*text.wrap(room), *todo.wrap(room)]
        gap = max(1, width - lines[0].cell_length - way_out.cell_length)
        return [Content.assemble(lines[0], " " * gap, way_out), *lines[1:]]


# The course of the guided run: which step it is at, and where it is shown.

SEEN = "guided"
"""The name under which it is kept that somebody was."""

LOOK_S = 0.15
"""How often it is looked whether a step was done; while nobody is guided, never."""


class Guide:
    """The guided tour, step by step. `kept` stores that it was shown; without `kept` it never starts by itself."""

    def __init__(self, app: KeymapApp, kept: UiState | None) -> None:
        self._app, self._kept = app, kept
        self._timer: Timer | None = None
        self._at = 0
        self._before: TourSituation | None = None
        self._strip: TourStrip | None = None

    @property
    def running(self) -> bool:
        """Whether the tour is on."""
        return self._timer is not None

    @property
    def at(self) -> int:
        """The number of the step, from 0; as many as there are steps: the end."""
        return self._at

    @property
    def coming(self) -> bool:
        """Whether it begins by itself as soon as the demo store is open."""
        if self._kept is not None and self._kept.read().get(SEEN):
            self._kept = None
        return self._kept is not None

    def offer(self) -> None:
        """Begin the tour where it was never shown; over a dialog, or before keys that wait, it would take both away."""
        if not self.coming:
            return
        if len(self._app.screen_stack) != 1 or self._app.typed_ahead:  # none: a screen is being exchanged
            self._app.set_timer(LOOK_S, self.offer)
            return
        self._shown()
        self.start()

    def _shown(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            self._app.run_worker(lambda: kept.put({SEEN: True}), thread=True, group="guided")

    def start(self) -> None:
        """Begin, or begin anew."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_interval(LOOK_S, self.look)
        self._begin(0)

    def stop(self) -> None:
        """Enough, also before it has begun."""
        self._shown()
        if self._timer is None:
            return
        self._timer.stop()
        self._timer = None
        if self._strip is not None and self._strip.is_attached:
            self._strip.remove()
        self._strip = None
        if self._app.screen_stack:
            self._app.screen.refresh_bindings()

    def look(self) -> None:
        """Go on when the step was done, and be seen on whatever is on top."""
        if not self.running or not self._app.screen_stack:
            return
        now = look(self._app)
        if self._before is not None and self._step.done(self._before, now):
            following = STEPS[self._at + 1 : self._at + 2]
            if not (now.dialog and following and following[0].fill):  # what fills in closes what is open
                self._begin(self._at + 1)
        self._show()

    def _begin(self, at: int) -> None:
        self._at, self._before = at, look(self._app)
        if self._step.fill is not None:
            self._app.post_message(self._step.fill())
        self._show()

    @property
    def _step(self) -> TourStep:
        return STEPS[self._at] if self._at < len(STEPS) else THE_END

    def _show(self) -> None:
        screen = self._app.screen
        if not screen.is_mounted or isinstance(screen, Jump):
            return  # the labels of a jump stand where things were before
        there = self._strip is not None and self._strip.is_attached
        if self._strip is None or not there or self._strip.screen is not screen:
            if self._strip is not None and there:
                self._strip.remove()
            self._strip = TourStrip()
            screen.mount(self._strip)
        self._strip.place = f"{self._at + 1} of {len(STEPS)}" if self._at < len(STEPS) else "done"
        self._strip.why = self._step.why
        self._strip.do = self._app.keys.words(self._step.do)
