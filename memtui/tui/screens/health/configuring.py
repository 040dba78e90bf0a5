"""The configuration on Health: what it asks of the engine, and what can be done with plans and options."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on

from memtui.engine import MemtuiError, counted
from memtui.tui.actions.table import bindings
from memtui.tui.config_request import ConfigRequests, Make, read_configuration
from memtui.tui.dialogs.answer_effect_view import changed_words
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.choose_one import Option as Choice
from memtui.tui.dialogs.config_preview import PlannedConfig
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.messages import AskRecall
from memtui.tui.screens.health.area import Area
from memtui.tui.screens.health.state import ConfigView, OptionLine, Turned
from memtui.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine, Progress
    from memtui.engine.changes import AnswerChange
    from memtui.engine.configuration import ConfigDraft, Configuration, Flight
    from memtui.tui.calls import Report


OWN = "own"
"""The plan of nothing but what the person turned."""

PLANS = ("A", "B", "C", "D", OWN)


def read_config(engine: Engine, turned: Turned) -> ConfigView:
    """The configuration that names the store, its problems, and the plan as it was turned; for a worker."""
    from memtui.engine.alive import add_dead_parts, check_alive
    from memtui.engine.configuration import (
        PLANS,
        options_of,
        other_owner,
        plan_changes,
        problems_of,
        setting_path,
        value_at,
    )

    try:
        config = read_configuration(engine)
        owner = other_owner(config)
        draft = None if owner else _draft(engine, config, turned)
    except MemtuiError as error:
        from memtui.engine.demo import read_mark

        known = engine.found.config if engine.found is not None else ""
        demo = not engine.is_remote and read_mark(Path(engine.store.uri)) is not None
        return ConfigView(known, turned, error=str(error), of_demo=demo)
    problems = add_dead_parts(
        problems_of(config, store=engine.store),
        config,
        check_alive(engine.environ, Path.cwd(), now_ms=engine.now_ms),
    )
    if draft is None:
        return ConfigView(str(config.main), turned, problems=problems, owner=owner)
    changes = {change.short: change for change in draft.changes}
    lines = []
    for option in options_of(config):
        is_set, value = value_at(config, (*config.config_path, *setting_path(option.path)))
        lines.append(OptionLine(option, value, is_set, changes.get(option.path)))
    offered = tuple((plan.name, plan.title, len(plan_changes(config, plan))) for plan in PLANS.values())
    return ConfigView(str(config.main), turned, draft, problems, tuple(lines), offered=offered)


def _draft(engine: Engine, config: Configuration, turned: Turned) -> ConfigDraft:
    from memtui.engine.configuration import PLANS, draft_of, options_of, plan_changes, plan_option

    plan = PLANS.get(turned.plan)
    changes = {} if plan is None else {change.short: change for change in plan_changes(config, plan)}
    changes = {name: change for name, change in changes.items() if name not in turned.dropped}
    options = {option.path: option for option in options_of(config)} if turned.edits else {}
    for path, value in turned.edits.items():
        known = options.get(path)
        changes.pop(path, None)
        if known is not None:
            changes |= {change.short: change for change in plan_option(config, known, value)}
    title = "your own settings" if plan is None else f"plan {plan.name}, {plan.title}"
    return draft_of(
        config, list(changes.values()), name=turned.plan, title=title,
        keys=() if plan is None else plan.keys, store=engine.store, environ=engine.environ,
    )  # fmt: skip


def plan_to_write(turned: Turned, flight: Flight | None) -> Make:
    """The plan anew, from the files as they are now; what was flown stands above it. For a worker."""

    def make(engine: Engine, config: Configuration) -> PlannedConfig:
        draft = _draft(engine, config, turned)
        first = tuple(said for _, said in flight_words(flight)) if flight else ()
        return PlannedConfig(
            draft,
            (*first, *talks_under(engine, draft)),
            "WHAT WOULD BE ANSWERED, AND KEPT",
            answers_of(flight) if flight else (),
        )

    return make


def talks_under(engine: Engine, draft: ConfigDraft, cancel: CancelToken | None = None) -> tuple[str, ...]:
    """What the saved conversations leave now and under the plan, in sentences; for a worker. No model is asked."""
    from memtui.engine.capture import CaptureCaseBook, trial_words, try_settings
    from memtui.paths import cases_file

    cases = CaptureCaseBook.beside(cases_file(engine.info.uri)).cases()
    return trial_words(try_settings(cases, draft.values, cancel))


def fly_plan(
    engine: Engine, turned: Turned, ask: bool, cancel: CancelToken, report: Report
) -> tuple[Flight | None, tuple[str, ...]]:
    """The cases and the last questions, and the saved conversations, as they are and under the plan; for a worker."""
    from memtui.engine import explain
    from memtui.engine.cases import CaseBook
    from memtui.engine.changes import of_cases
    from memtui.engine.configuration import fly
    from memtui.engine.explain import History
    from memtui.paths import cases_file, questions_file

    config = read_configuration(engine)
    draft = _draft(engine, config, turned)
    history = History(questions_file())
    cases = CaseBook(cases_file(engine.info.uri)).cases()
    asked = [*of_cases(cases), *explain.asked_last(engine, history)]
    talks = talks_under(engine, draft, cancel)
    if talks and not asked:
        return None, talks
    if not asked:
        raise MemtuiError(
            "There is no saved case and no question was asked yet.", fix="Ask something in Recall first."
        )
    flight = fly(
        config, draft.changes, asked, engine.recall_context(), engine.default_recipe,
        ask_provider=ask, on_progress=report, cancel=cancel,
    )  # fmt: skip
    return flight, talks


def last_question(engine: Engine) -> str:
    """The question for a smoke recall: the one that was asked last, else a saved case's; for a worker."""
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.paths import cases_file, questions_file

    asked = History(questions_file()).search(store=engine.store.uri, limit=1)
    cases = CaseBook(cases_file(engine.info.uri)).cases()
    question = asked[0].query if asked else cases[0].query if cases else ""
    if not question:
        raise MemtuiError("There is no question to ask again.", fix="Ask one in Recall.")
    return question


def answers_of(flight: Flight) -> tuple[AnswerChange, ...]:
    """The answers of a flight that are others under the plan."""
    return tuple(question.change for question in flight.questions if question.change is not None)


def flight_words(flight: Flight) -> list[tuple[str, str]]:
    """Label and words of a flight."""
    asked = len(flight.questions)
    out = []
    if flight.cases:
        right = f"first in {flight.right(False)} of {counted(flight.cases, 'case')} now"
        out.append(("correct", f"the expected memory is {right}, {flight.right(True)} with the plan"))
    silent = f"{flight.silent(False)} of {counted(asked, 'question')}"
    out.append(("no result", f"{silent} now, {flight.silent(True)} with the plan"))
    out.append(("answers", changed_words(len(answers_of(flight)), asked)))
    if flight.smaller is not None:
        step = flight.smaller
        out.append(
            ("smaller", f"with minScore {step.min_score:g} then {step.right} right, {step.silent} silent")
        )
    return [*out, *(("note", note) for note in flight.notes)]


def plain(value: Any) -> str:
    """A value as the file would say it, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return str(value)


class ConfigArea(Area):
    """What can be done on the view of the configuration."""

    VIEW = "config"
    BINDINGS = bindings("plans")

    turned = Turned()
    """What was turned last: read again when the files have changed."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        able = {
            **dict.fromkeys(("plan", "options", "edit", "smoke"), self.planned is not None),
            **dict.fromkeys(("fly", "apply"), self.planned is not None and bool(self.planned.changes)),
            "drop": self.changed is not None,
        }
        return (True if able.get(action, True) else None) if self.seen else False

    @on(RowList.Opened, "#list-rows")
    def _opened(self, event: RowList.Opened) -> None:
        if self.seen and self.planned is not None:
            event.stop()
            letter = self.planned.offer(self.state.cursor)
            if letter is not None:
                self.read_plan(replace(self.planned.turned, plan=letter, dropped=frozenset()))
            else:
                self.action_edit()

    def read_plan(self, turned: Turned | None) -> None:
        """Read the configuration, and the plan as it was turned; None: as it was turned last."""
        engine = self.engine
        turned = self.turned = self.turned if turned is None else turned
        if engine is not None:
            self.call(
                "config",
                lambda cancel, report: read_config(engine, turned),
                lambda found: self.have(config=found),
            )

    @property
    def planned(self) -> ConfigView | None:
        """The plan as it is shown, where the configuration can be read and its plugin has plans."""
        config = self.state.config
        return None if config is None or config.error or config.owner else config

    @property
    def changed(self) -> str | None:
        """The planned setting under the cursor."""
        config = self.planned
        found = (
            any(change.short == self.state.cursor for change in config.changes)
            if config is not None
            else False
        )
        return self.state.cursor if found else None

    def action_plan(self) -> None:
        """The next plan: A, B, C, D, and what the person turned alone."""
        config = self.planned
        if config is not None:
            following = PLANS[(PLANS.index(config.plan) + 1) % len(PLANS)]
            self.read_plan(replace(config.turned, plan=following, dropped=frozenset()))

    def action_options(self) -> None:
        self.have(listing=not self.state.listing)

    def action_edit(self) -> None:
        """Another value for the option under the cursor; none, and the default counts."""
        config = self.planned
        line = config.line(self.state.cursor) if config is not None else None
        if config is None or line is None:
            self.flash("No option under the cursor: {plans.options} lists all of them.", "note")
            return
        option = line.option

        def taken(text: str | None) -> None:
            if text is None:
                return
            try:
                value = option.read(text)
            except MemtuiError as error:
                self.call_failed(error)
                return
            self.read_plan(replace(config.turned, edits={**config.turned.edits, option.path: value}))

        now = plain(line.value) if line.is_set else ""
        if option.choices or option.kind == "yes-no":
            names = option.choices or ("true", "false")
            default = "none" if option.default is None else plain(option.default)
            options = [
                *(Choice(name, name) for name in names),
                Choice("", "not set", f"the default: {default}"),
            ]
            self.app.push_screen(ChooseOne(option.path, options, now), taken)
        else:
            words = [option.meaning, f"allowed: {option.range}", f"default: {option.default}", option.note]
            hint = ". ".join(word for word in words if word) + ". Nothing: the default counts."
            self.app.push_screen(TextPrompt(option.path, hint, now), taken)

    def action_drop(self) -> None:
        """Leave the planned setting under the cursor as it is."""
        config, name = self.planned, self.changed
        if config is not None and name is not None:
            edits = {path: value for path, value in config.turned.edits.items() if path != name}
            self.read_plan(replace(config.turned, edits=edits, dropped=config.turned.dropped | {name}))

    def action_fly(self) -> None:
        """The cases and the last questions under the plan; its model and reranker are asked only when agreed."""
        from memtui.engine.configuration import changes_vectors

        config = self.planned
        if config is None or config.draft is None:
            return
        asked = [check.host for check in config.draft.checks if "rerank" in check.purpose]
        embeds = changes_vectors(config.draft.changes)
        if embeds:
            asked += [check.host for check in config.draft.checks if "embedding" in check.purpose]
        if not asked:
            self._fly(config, ask=False)
            return
        sent = (
            "every memory's text and your questions" if embeds else "your questions and the candidates' texts"
        )
        options = (
            Choice(
                "here",
                "without asking anybody",
                "nothing is sent; vectors of today, scores as when it is late",
            ),
            Choice("ask", f"ask {', '.join(dict.fromkeys(asked))}", f"{sent} are sent"),
        )

        def agreed(answer: str | None) -> None:
            if answer is not None:
                self._fly(config, ask=answer == "ask")

        self.app.push_screen(ChooseOne("Answer under the plan", options), agreed)

    def _fly(self, config: ConfigView, *, ask: bool, write: bool = False) -> None:
        """Answer under the plan; to `write` it, its preview follows, also where there is nothing to ask."""
        engine = self.engine
        if engine is None:
            return

        def work(cancel: CancelToken, report: Report) -> tuple[Flight | None, tuple[str, ...]]:
            try:
                return fly_plan(engine, config.turned, ask, cancel, report)
            except MemtuiError:
                if not write:
                    raise
                cancel.check()
                return None, ()

        def flown(found: tuple[Flight | None, tuple[str, ...]]) -> None:
            now = self.planned
            if now is not None and now.turned == config.turned:
                self.have(config=replace(now, flight=found[0], talks=found[1]))
            self.have(looking="")
            if write:
                self.screen.query_one(ConfigRequests).preview(plan_to_write(config.turned, found[0]))

        self.call("flight", work, flown, progress=self._flying)

    def _flying(self, progress: Progress) -> None:
        self.have(looking=f"{progress.what} {progress.done:,} of {progress.total:,}")

    def action_apply(self) -> None:
        config = self.planned
        if config is None:
            return
        if (
            config.flight is None and config.changes
        ):  # the answers are what a plan means: they are asked for first
            self._fly(config, ask=False, write=True)
        else:
            self.screen.query_one(ConfigRequests).preview(plan_to_write(config.turned, config.flight))

    def action_undo(self) -> None:
        """Take back the last change of the configuration that memtui wrote."""
        requests = self.screen.query_one(ConfigRequests)
        requests.undo()

    def action_smoke(self) -> None:
        """Ask the last question again, in Recall; the store keeps the settings that it was opened with."""
        engine = self.engine
        if engine is not None:
            self.call(
                "smoke",
                lambda cancel, report: last_question(engine),
                self._ask_again,
            )

    def _ask_again(self, question: str) -> None:
        self.post_message(AskRecall(question))
