"""Health: what is wrong with the store, its indexes and versions, and the agent's configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from memtui.engine import MemtuiError
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.messages import ShowInBrowse
from memtui.tui.no_store import RETRY, of_session
from memtui.tui.screens.health import layout, painting
from memtui.tui.screens.health.state import VIEWS, ConfigView, HealthState, View
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import State, StatePanel, failed

if TYPE_CHECKING:
    from memtui.engine import CancelToken, ChangeSet, Engine, Progress
    from memtui.engine.health import Examination


SHOWN_IN_BROWSE = 50

PLANS = ("A", "B", "C", "D")

_TITLES: dict[View, tuple[str, str]] = {
    "doctor": ("Doctor", "Evidence"),
    "indexes": ("Indexes", "What they are worth"),
    "versions": ("Versions", "Version"),
    "config": ("Configuration", "What it brings"),
}


def examined(engine: Engine, deep: bool, cancel: CancelToken, report: Any) -> Any:
    """Every check of the passes that are asked for; for a worker."""
    from memtui.engine.health import (
        examine,
        patient_of,
    )

    patient = patient_of(
        engine,
        now_ms=engine.now_ms,
        cancel=cancel,
        on_progress=report,
        questions=lambda: own_questions(engine),
    )
    return examine(patient, passes=("facts", "light", "deep") if deep else ("facts", "light")), deep


def own_questions(engine: Engine) -> Any:
    """The vectors of the saved cases and of the questions asked last; for a worker."""
    from memtui.engine import CaseBook, History
    from memtui.engine.health import (
        own_vectors,
    )
    from memtui.paths import questions_file, store_state_dir

    cases = CaseBook(store_state_dir(engine.info.uri) / "cases.json").cases()
    return own_vectors(engine, cases, History(questions_file()))


def read_indexes(engine: Engine, cancel: CancelToken) -> Any:
    """Each index with its verdict, and the advice for a table of this size; for a worker."""
    from memtui.engine.health import (
        advice,
        patient_of,
        report_indexes,
    )

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    assert patient.facts is not None
    own = engine.store.dialect.can.own_store
    asked = own_questions(engine) if any(each.is_vector for each in patient.facts.indexes) else None
    return report_indexes(engine.store, patient.facts, cancel, questions=asked), advice(
        patient.facts.rows, own=own
    )


def read_versions(engine: Engine, cancel: CancelToken) -> Any:
    """The last versions, injections folded; for a worker."""
    from memtui.engine.health import (
        patient_of,
        time_line,
    )

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    journal = [] if engine.state is None else engine.curate.journal()
    return time_line(engine.store, patient.files, journal=journal, cancel=cancel)


def read_difference(engine: Engine, first: int, last: int) -> Any:
    """What changed from the version before `first` to `last`; for a worker."""
    from memtui.engine.health import (
        diff_versions,
    )

    numbers = [version for version, _ in engine.store.versions()]
    before = max((each for each in numbers if each < first), default=None)
    return () if before is None else diff_versions(engine.store, before, last)


def read_config(engine: Engine, plan: str) -> ConfigView:
    """The configuration that names the store, its problems, and a plan for it; for a worker."""
    from memtui.engine.configuration import (
        PLANS,
        consequences_of,
        open_config,
        plan_changes,
        problems_of,
    )

    known = engine.found.config if engine.found is not None else ""
    chosen = PLANS[plan]
    try:
        config = open_config(engine.environ, Path.cwd(), path=Path(known) if known else None)
    except MemtuiError as error:
        return ConfigView(known, plan, chosen.title, (), (), (), str(error))
    changes = plan_changes(config, chosen)
    consequences = consequences_of(config, changes, engine.store, environ=engine.environ)
    problems = problems_of(config, store=engine.store)
    return ConfigView(str(config.main), plan, chosen.title, problems, changes, consequences)


def plan_safe(engine: Engine, found: Any, cancel: CancelToken) -> tuple[Any, ...]:
    """The remedies of everything that may be mended beside the agent, planned and not written; for a worker."""
    from memtui.engine.health import patient_of, plan_remedy

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    safe = [each for each in found.findings if each.check.how == "safe" and each.check.safe]
    return tuple(plan for each in safe if (plan := plan_remedy(patient, each)).writes)


class HealthScreen(BaseScreen):
    """Doctor, indexes, versions and configuration, each a list with what belongs to its row."""

    MODE = "health"
    BINDINGS = bindings("health")

    def __init__(self) -> None:
        super().__init__()
        self.state = HealthState()
        self.said = State("loading", "looking at the store", skeleton=True)
        self._engine: Engine | None = None
        self._revision = -1

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            BuiltRows(self._build(painting.views), id="views"),
            Panel(StatePanel(), title="Health", id="state"),
            Panel(BuiltRows(self._build(painting.listed), id="list-rows"), title="Doctor", id="list"),
            Panel(BuiltRows(self._build(painting.detail), id="detail-rows"), title="Evidence", id="detail"),
            arrange=self._arrange,
        )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#views").can_focus = False

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layout.health(width, height, said=self.said is not None, zoom=self.state.zoom)

    def _build(
        self, paint: Callable[[HealthState, int, painting.Look], list[Row]]
    ) -> Callable[[int, int], list[Row]]:
        def build(width: int, height: int) -> list[Row]:
            app = host(self)
            return paint(self.state, width, painting.Look(app.glyphs, app.zone))

        return build

    # the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self._engine = -1, None
            self.state = HealthState(view=self.state.view)
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
        elif session.revision != self._revision and session.phase == "ready":
            self._revision, self._engine = session.revision, session.engine
            self._look(deep=False)

    def _look(self, *, deep: bool) -> None:
        engine = self._engine
        if engine is not None:
            self.state = replace(self.state, looking="looking")
            self.call(
                "doctor",
                lambda cancel, report: examined(engine, deep, cancel, report),
                self._examined,
                progress=self._looking,
                failed=self._not_examined,
            )

    def _read(self) -> None:
        """Read what the view shows, where it was not read yet."""
        engine, state = self._engine, self.state
        if engine is None:
            return
        if state.view == "indexes" and state.indexes is None:
            self.call(
                "indexes",
                lambda cancel, report: read_indexes(engine, cancel),
                lambda found: self._have(indexes=found[0], advice=found[1]),
            )
        elif state.view == "versions" and state.versions is None:
            self.call(
                "versions",
                lambda cancel, report: read_versions(engine, cancel),
                lambda found: self._have(versions=found),
            )
        elif state.view == "config" and state.config is None:
            self._read_plan(engine, "A")

    def _read_plan(self, engine: Engine, plan: str) -> None:
        self.call(
            "config",
            lambda cancel, report: read_config(engine, plan),
            lambda found: self._have(config=found),
        )

    def _looking(self, progress: Progress) -> None:
        self.state = replace(self.state, looking=f"{progress.what} {progress.done:,} of {progress.total:,}")
        self.query_one("#views", BuiltRows).repaint()

    def _examined(self, found: tuple[Examination, bool]) -> None:
        self.state = replace(self.state, found=found[0], deep=found[1], looking="")
        self.say(None)

    def _not_examined(self, error: MemtuiError) -> None:
        self.state = replace(self.state, looking="")
        if self.state.found is None:
            self.say(failed("the store could not be looked at", error, RETRY))
        else:
            self.call_failed(error)

    def _have(self, **known: Any) -> None:
        """Something of the present view was read."""
        self.state = replace(self.state, **known)
        self.repaint()

    def focus_first(self) -> None:
        self.query_one(StatePanel if self.said is not None else "#list-rows").focus()

    def repaint(self) -> None:
        state = self.state
        finding = state.finding
        key = {"doctor": finding.kind if finding else "", "versions": str(state.version or "")}.get(
            state.view, state.cursor
        )
        self.query_one("#views", BuiltRows).repaint()
        self.query_one("#list-rows", BuiltRows).repaint(key)
        self.query_one("#detail-rows", BuiltRows).repaint()
        title, aside = _TITLES[state.view]
        list_panel, detail_panel = self.query_one("#list", Panel), self.query_one("#detail", Panel)
        counts = {
            "doctor": f"{len(state.found.findings)} found" if state.found is not None else "",
            "versions": f"{len(state.versions)} lines" if state.versions is not None else "",
        }
        list_panel.headline(what=title, which=counts.get(state.view, ""))
        detail_panel.headline(
            what=aside, which=finding.kind if finding is not None and state.view == "doctor" else ""
        )
        self.refresh_bindings()

    @on(RowList.Highlighted, "#list-rows")
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        if not event.key:
            return
        if self.state.view == "versions":
            if int(event.key) != self.state.version:
                self.state = replace(self.state, version=int(event.key), difference=None)
                self.query_one("#detail-rows", BuiltRows).repaint()
        elif event.key != self.state.cursor:
            self.state = replace(self.state, cursor=event.key)
            self.repaint()

    @on(RowList.Opened, "#list-rows")
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        engine, entry = self._engine, self.state.entry
        if self.state.view == "versions" and engine is not None and entry is not None:
            first = entry.first if entry.first is not None else entry.version
            self.call(
                "difference",
                lambda cancel, report: read_difference(engine, first, entry.version),
                lambda found: self._have(difference=found),
            )
        else:
            self.action_other()

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        finding = self.state.finding if self.state.view == "doctor" else None
        able = {
            "fix": finding is not None,
            "safe": self.state.view == "doctor" and self.state.found is not None,
            "browse": finding is not None and bool(finding.seen.ids),
            "plan": self.state.view == "config",
        }
        return True if able.get(action, True) else None

    def action_again(self) -> None:
        """All passes anew; elsewhere the view is read again."""
        if self.state.view == "doctor":
            self._look(deep=True)
        else:
            self.state = replace(self.state, indexes=None, versions=None, difference=None, config=None)
            self._read()

    def action_fix(self) -> None:
        """The remedy of the finding as a preview; one of the table is asked for."""
        finding, engine = self.state.finding, self._engine
        if finding is None or engine is None:
            return
        from memtui.engine.health import (
            patient_of,
            plan_remedy,
        )

        plan = plan_remedy(patient_of(engine, now_ms=engine.now_ms), finding)
        if plan.refusal:
            self.flash(plan.refusal, "note")
        elif plan.steps:
            said = "; ".join(each.title for each in plan.steps)
            options = (Option("yes", said, finding.check.price), Option("no", "leave it", ""))
            self.app.push_screen(
                ChooseOne(f"{finding.kind}: {finding.seen.count:,}", options),
                lambda answer: self._mend([plan]) if answer == "yes" else None,
            )
        else:

            def make(made: Engine) -> ChangeSet:
                planned = plan_remedy(patient_of(made, now_ms=made.now_ms), finding)
                if planned.changes is None:
                    raise MemtuiError(planned.refusal, fix="Look again.")
                return planned.changes

            self.staging.stage(make)

    def action_safe(self) -> None:
        """Everything that may be mended beside the agent, planned in a worker, then shown as one preview."""
        engine, found = self._engine, self.state.found
        if engine is not None and found is not None:
            self.call("safe", lambda cancel, report: plan_safe(engine, found, cancel), self._preview_safe)

    def _preview_safe(self, plans: tuple[Any, ...]) -> None:
        if not plans:
            self.flash("Nothing that was found can be mended beside the agent.", "note")
            return
        options = [
            Option("all", f"mend all {len(plans)}", "an entry of the Journal each"),
            *(
                Option(
                    str(at),
                    f"only {plan.finding.kind}: "
                    + (plan.changes.title if plan.changes else "; ".join(each.title for each in plan.steps)),
                    plan.finding.check.price,
                )
                for at, plan in enumerate(plans)
            ),
            Option("no", "leave it", ""),
        ]

        def answered(answer: str | None) -> None:
            if answer == "all":
                self._mend(list(plans))
            elif answer and answer.isdigit():
                self._mend([plans[int(answer)]])

        self.app.push_screen(ChooseOne("mend all that is safe", tuple(options)), answered)

    def _mend(self, plans: list[Any]) -> None:
        engine = self._engine
        if engine is None:
            return
        if self.staging.forbidden:
            self.flash(self.staging.forbidden, "error")
            return

        def work(cancel: Any, report: Any) -> str:
            from memtui.engine.health import (
                carry_out_remedies,
            )

            done = carry_out_remedies(engine, plans, confirmed=True)
            entries = ", ".join(str(each["entry"]) for each in done if each["entry"] is not None)
            engine.refresh()
            return f"{len(plans)} mended; see the Journal, entry {entries}"

        self.call("mend", work, self._mended)

    def _mended(self, said: str) -> None:
        self.flash(said)
        self._look(deep=self.state.deep)
        self.repaint()

    def action_browse(self) -> None:
        finding = self.state.finding
        if finding is not None and finding.seen.ids:
            self.post_message(ShowInBrowse(f"id:{','.join(finding.seen.ids[:SHOWN_IN_BROWSE])}"))

    def action_plan(self) -> None:
        """The next plan of A, B, C and D."""
        engine, config = self._engine, self.state.config
        now = config.plan if config is not None else "D"
        following = PLANS[(PLANS.index(now) + 1) % len(PLANS)]
        if engine is not None:
            self._read_plan(engine, following)

    def action_previous_view(self) -> None:
        self._show(VIEWS[(VIEWS.index(self.state.view) - 1) % len(VIEWS)])

    def action_next_view(self) -> None:
        self._show(VIEWS[(VIEWS.index(self.state.view) + 1) % len(VIEWS)])

    def _show(self, view: View) -> None:
        self.state = replace(self.state, view=view, cursor="")
        self._read()
        self.repaint()

    def action_other(self) -> None:
        here = self.query_one("#list-rows")
        (self.query_one("#detail-rows") if self.focused is here else here).focus()

    def action_zoom(self) -> None:
        inside = "detail" if self.focused is self.query_one("#detail-rows") else "list"
        self.state = replace(self.state, zoom="" if self.state.zoom else inside)
        self.query_one(LayoutContainer).rearrange()

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.state.looking:
            self.runner.cancel("doctor")
            self.state = replace(self.state, looking="")
            self.repaint()
        elif self.state.zoom:
            self.action_zoom()
        else:
            self.query_one("#list-rows").focus()
