"""The funnel of Capture at work: every conversation counted, other settings turned, tried on the cases, exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError
from memtui.tui.bound_panel import BoundPart
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.screens.capture import working
from memtui.tui.screens.capture.funnel import words_of
from memtui.tui.screens.capture.state import CaptureState, Talk

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.capture import CaptureRequest, CaptureTrace


RUN, COUNT, TRY, EXPORT, ANSWERS = "run", "count", "try", "export", "answers"

AS_IT_IS = "\0as-it-is"
"""The value of the chooser that is no setting."""


def turned_options(turned: Mapping[str, Any]) -> list[Option]:
    """The settings that can be turned, each with what it would mean; those that are turned say so."""
    found = []
    for number, (name, value) in enumerate(working.turns(), 1):
        hint = "turned" if turned.get(name) == value else ""
        found.append(Option(str(number - 1), words_of(name, value), hint, str(number)))
    return [*found, Option(AS_IT_IS, "every setting at its own value", "", "0")]


def turned_by(answer: str, turned: Mapping[str, Any]) -> dict[str, Any]:
    """The settings after an answer of the chooser."""
    if answer == AS_IT_IS:
        return {}
    name, value = working.turns()[int(answer)]
    if turned.get(name) == value:
        return {key: each for key, each in turned.items() if key != name}
    return {**turned, name: value}


class Counting(BoundPart[CaptureState]):
    """Counts what became of the conversations; it knows the state, not the screen."""

    OF_ROW = frozenset((RUN, COUNT, ANSWERS))

    @property
    def engine(self) -> Engine | None:
        """The open store's."""
        return self.session.engine

    def call_failed(self, error: MemtuiError) -> None:
        self.become(lambda state: replace(state, waiting=""))
        super().call_failed(error)

    def stop(self) -> bool:
        """Stop what is running; False where nothing is."""
        running = [name for name in (RUN, COUNT, TRY, EXPORT, ANSWERS) if self.runner.busy(name)]
        self.runner.cancel_all()
        if running:
            self.become(lambda state: replace(state, waiting=""))
        return bool(running)

    def every(self) -> None:
        """Capture every conversation of the list by rules, and count them; nothing is written."""
        engine, talks = self.engine, self.state.talks
        if engine is None or not talks:
            self.flash("There is no conversation: paste one, or take a file.", "note")
            return

        def have(made: tuple[tuple[Talk, CaptureRequest, CaptureTrace], ...]) -> None:
            kept = {
                talk.key: sum(bool(candidate.writes) for candidate in trace.candidates)
                for talk, _, trace in made
            }
            runs = {talk.key: (request, trace) for talk, request, trace in made}

            def counted(state: CaptureState) -> CaptureState:
                listed = tuple(replace(talk, kept=kept.get(talk.key, talk.kept)) for talk in state.talks)
                return replace(state, talks=listed, runs=runs, decided={}, waiting="")

            self.become(counted)
            self.count(runs)

        self.call(
            RUN,
            lambda token, report: working.every(engine, talks, token, report),
            have,
            progress=lambda value: self.become(lambda state: replace(state, waiting=value[0])),
        )

    def count(
        self,
        runs: Mapping[str, Any] | None = None,
        span: int = 0,
        turned: Mapping[str, Any] | None = None,
    ) -> None:
        """Count what was captured here, under the settings that are turned; what is given is not the state's yet."""
        engine, span = self.engine, span or self.state.span
        turned = dict(self.state.turned if turned is None else turned)
        counted = tuple((self.state.runs if runs is None else runs).values())
        if engine is None:
            return

        def have(found: tuple[Any, ...]) -> None:
            self.become(lambda state: _counted(state, *found))
            if counted:
                self.call(
                    ANSWERS,
                    lambda token, report: working.answers(engine, counted, turned, token, report),
                    lambda answers: self.become(lambda state: replace(state, answers=answers)),
                )

        self.call(
            COUNT, lambda token, report: working.losses_counted(engine, counted, span, turned, token), have
        )

    def look_back(self, days: int) -> None:
        """Set the number of days that are looked back."""
        self.become(lambda state: replace(state, span=days))
        self.count(span=days)

    def settings(self) -> None:
        """Turn a setting: the same conversations are counted as it would leave them; no model is asked."""

        def taken(answer: str | None) -> None:
            if answer is not None:
                turned = turned_by(answer, self.state.turned)
                self.become(lambda state: replace(state, turned=turned))
                self.count(turned=turned)

        self.app.push_screen(ChooseOne("With other settings", turned_options(self.state.turned)), taken)

    def try_on_cases(self, engine: Engine) -> None:
        """The saved conversations as they are, and under the settings that are turned, or under each."""
        turned = dict(self.state.turned)

        def have(said: tuple[str, ...]) -> None:
            if said:
                intro = (
                    "What the saved conversations leave now, and under other settings. No model was asked."
                )
                self.app.push_screen(Sheet("On the cases", [intro, *said], [], []))
            else:
                keys = host(self).keys
                self.flash(
                    f"No conversation is kept as a case: {keys.cap('capture.case')} keeps one.", "note"
                )

        self.call(TRY, lambda token, report: working.tried(engine, turned, token), have)

    def export(self, state: CaptureState) -> None:
        """What the funnel shows, as a JSON file."""

        def named(name: str | None) -> None:
            if name:
                self.call(
                    EXPORT,
                    lambda token, report: working.export_funnel(name, state),
                    lambda path: self.flash(f"wrote {path}"),
                )

        hint = "One JSON file: counts, losses by reason, days, and what other settings would have left."
        self.app.push_screen(TextPrompt("Export the funnel", hint, "capture-funnel.json"), named)


def _counted(state: CaptureState, funnel: Any, days: Any, otherwise: Any, unknown: int) -> CaptureState:
    gates = [loss.gate for loss in funnel.losses]
    loss = state.loss if state.loss in gates else gates[0] if gates else ""
    return replace(
        state, funnel=funnel, days=days, otherwise=otherwise, unknown=unknown, loss=loss, answers={}
    )
