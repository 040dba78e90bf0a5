"""Health: what is wrong with the store, its indexes and versions, and the agent's configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from memtui.engine import MemtuiError, counted
from memtui.tui import layouts, storeless
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.config_request import ConfigRequests
from memtui.tui.dialogs.repair_preview import Repair, show_repairs
from memtui.tui.dialogs.unlock import unlocked
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, under_views
from memtui.tui.messages import ShowFinding, ShowInBrowse
from memtui.tui.no_store import RETRY, of_session
from memtui.tui.screens.health import config_rows, version_rows, view
from memtui.tui.screens.health.area import Area
from memtui.tui.screens.health.configuring import ConfigArea
from memtui.tui.screens.health.reading import examined, maintain_index, mend, plan_safe, read_indexes, weigh
from memtui.tui.screens.health.reviving import causes_of, revival_to_write
from memtui.tui.screens.health.state import VIEWS, HealthState, Turned, View
from memtui.tui.screens.health.versioning import SHOWN_IN_BROWSE, VersionsArea
from memtui.tui.session import Session
from memtui.tui.storeless import is_storeless
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Build, BuiltRows, Row, RowList
from memtui.tui.widgets.screen_bars import FlashLine
from memtui.tui.widgets.state_panel import State, StatePanel, failed
from memtui.tui.widgets.view_rows import Look, painted

if TYPE_CHECKING:
    from memtui.engine import Engine, Progress
    from memtui.engine.changes import ChangeSet
    from memtui.engine.health import Examination


_TITLES: dict[View, tuple[str, str]] = {
    "doctor": ("Doctor", "Evidence"),
    "indexes": ("Indexes", "Assessment"),
    "versions": ("Versions", "Version"),
    "config": ("Configuration", "Effect"),
}


Paint = Callable[[HealthState, int, Look], list[Row]]

_PAINT: dict[View, tuple[Paint, Paint]] = {
    "doctor": (view.doctor, view.evidence),
    "indexes": (view.indexes, view.index_advice),
    "versions": (version_rows.versions, version_rows.difference),
    "config": (config_rows.config, config_rows.before_writing),
}
"""The list of each view, and what belongs to its row."""


def _shown(panel: int) -> Paint:
    return lambda state, width, look: _PAINT[state.view][panel](state, width, look)


class HealthScreen(BaseScreen):
    """Doctor, indexes, versions and configuration, each a list with what belongs to its row."""

    MODE = "health"
    BESIDE = frozenset(("doctor", "named"))
    OF_ROW = frozenset(("mend",))
    BINDINGS = bindings("health")

    def __init__(self) -> None:
        super().__init__()
        self._state = HealthState()
        self.said = State("loading", "looking at the store", skeleton=True)
        self.engine: Engine | None = None
        self._revision = -1
        self._deep_again = False
        """Whether the next look reads vectors, too: what was mended here was found by such a look."""

    @property
    def state(self) -> HealthState:
        """Everything that is painted."""
        return self._state

    @state.setter
    def state(self, state: HealthState) -> None:
        self._state = state
        for area in self.query(Area):
            area.state, area.engine = state, self.engine

    def body(self) -> ComposeResult:
        panels = LayoutContainer(
            BuiltRows(self._build(view.views), id="views"),
            Panel(StatePanel(), title="Health", id="state"),
            Panel(
                BuiltRows(self._build(_shown(0)), id="list-rows"),
                title="Doctor",
                id="list",
            ),
            Panel(
                BuiltRows(self._build(_shown(1)), id="detail-rows"),
                title="Evidence",
                id="detail",
            ),
            arrange=self._arrange,
        )
        yield ConfigArea(VersionsArea(panels))
        yield ConfigRequests()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#views").can_focus = False

    def _arrange(self, width: int, height: int) -> Arrangement:
        zoom = self.state.zoom
        return under_views(width, height, layouts.health, said=self.said is not None, zoom=zoom)

    def _build(self, paint: Paint) -> Build:
        return painted(host(self), lambda width, look: paint(self.state, width, look))

    # the store, and what it answers

    def session_changed(self, session: Session) -> None:
        if session.engine is None or of_session(session) is not None:
            self._revision, self.engine = -1, None
            self.state = HealthState(view=self.state.view)
            self.say(of_session(session) or State("loading", "opening the store", skeleton=True))
            if is_storeless(session):
                self._read_home(session)
        elif session.revision != self._revision and session.phase == "ready":
            self._revision, self.engine = session.revision, session.engine
            self.state = replace(  # the areas hear of the store; a turned plan is kept
                self.state, indexes=None, versions=None, difference=None, answers=None
            )
            self._look(deep=self._deep_again)
            self._deep_again = False
            if self.state.config is not None:
                self.query_one(ConfigArea).read_plan(None)
            self._read()

    def _read_home(self, session: Session) -> None:
        """Without a store: whether the agents' memory is alive, by their own files."""
        app = host(self)
        self.call(
            "home",
            lambda cancel, report: storeless.read_home(app.environ, app.now_ms(), cancel),
            lambda home: self.say(storeless.health_state(session, home)),
        )

    def receive(self, wish: ShowFinding) -> None:
        """Another screen names a finding: everything is looked at, with the cursor on that kind."""
        self.state = replace(self.state, view="doctor", cursor=wish.kind, zoom="")
        self.query_one(LayoutContainer).rearrange()
        self._look(deep=True)
        self.repaint()

    def _look(self, *, deep: bool) -> None:
        engine = self.engine
        if engine is not None:
            self.state = replace(self.state, looking="looking")
            self.call(
                "doctor",
                lambda cancel, report: examined(engine, deep, cancel, report),
                self._examined,
                progress=self.looking,
                failed=self._not_examined,
            )

    def _read(self) -> None:
        """Read what the view shows, where it was not read yet."""
        engine, state = self.engine, self.state
        if engine is None:
            return
        if state.view == "indexes" and state.indexes is None:
            self.call(
                "indexes",
                lambda cancel, report: read_indexes(engine, cancel),
                lambda found: self.have(indexes=found[0], advice=found[1]),
            )
        elif state.view == "versions" and state.versions is None:
            self.query_one(VersionsArea).read_versions()
        elif state.view == "config" and state.config is None:
            self.query_one(ConfigArea).read_plan(Turned())

    def looking(self, progress: Progress) -> None:
        self.state = replace(self.state, looking=f"{progress.what} {progress.done:,} of {progress.total:,}")
        self.query_one("#views", BuiltRows).repaint()

    def _examined(self, found: tuple[Examination, bool]) -> None:
        self.state = replace(self.state, found=found[0], deep=found[1], looking="", rows={})
        self.say(None)
        self._read_named()

    def _read_named(self) -> None:
        """Read the memories that the finding under the cursor is about, where they are not known yet."""
        engine, finding = self.engine, self.state.finding
        ids = finding.seen.ids[: view.MOST_NAMED] if finding is not None else ()
        missing = [memory_id for memory_id in ids if memory_id not in self.state.rows]
        if engine is not None and missing and self.state.view == "doctor":
            self.call(
                "named",
                lambda cancel, report: engine.memories(missing),
                lambda found: self.have(rows={**self.state.rows, **found}),
            )

    def _not_examined(self, error: MemtuiError) -> None:
        self.state = replace(self.state, looking="")
        if self.state.found is None:
            self.say(failed("the store could not be checked", error, RETRY))
        else:
            self.call_failed(error)

    def have(self, **known: Any) -> None:
        """Something of the present view was read."""
        self.state = replace(self.state, **known)
        self.repaint()

    @on(Area.Had)
    def _had(self, message: Area.Had) -> None:
        message.stop()
        self.have(**message.known)
        self._read()

    @on(ConfigRequests.Written)
    def _written(self) -> None:
        self.query_one(ConfigArea).read_plan(Turned(plan="own"))

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
            "versions": counted(len(state.versions), "line") if state.versions is not None else "",
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
                self.state = replace(self.state, version=int(event.key), difference=None, marked=frozenset())
                self.query_one("#detail-rows", BuiltRows).repaint()
        elif event.key != self.state.cursor:
            self.state = replace(self.state, cursor=event.key)
            self.repaint()
            self._read_named()

    @on(RowList.Opened, "#list-rows")
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self.action_other()

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        finding = self.state.finding if self.state.view == "doctor" else None
        able = {
            "fix": finding is not None or (self.state.view == "indexes" and self.state.index is not None),
            "safe": self.state.view == "doctor" and self.state.found is not None,
            "browse": finding is not None and bool(finding.seen.ids),
        }
        return True if able.get(action, True) else None

    def action_again(self) -> None:
        """What others wrote first; else all passes anew; elsewhere the view is read again."""
        if host(self).session.newer:
            host(self).take("retry")
        elif self.state.view == "doctor":
            self._look(deep=True)
        else:
            self.state = replace(
                self.state, indexes=None, versions=None, difference=None, answers=None, config=None
            )
            self._read()

    def action_fix(self) -> None:
        """The remedy of the finding as a preview; one of the table is asked for, as is what an index needs."""
        if self.state.view == "indexes":
            self._fix_index()
            return
        finding, engine = self.state.finding, self.engine
        if finding is None or engine is None:
            return
        if codes := causes_of(finding):
            self.query_one(ConfigRequests).preview(revival_to_write(codes))
            return
        from memtui.engine.health import patient_of, plan_remedy

        with engine.sending_nothing():
            plan = plan_remedy(patient_of(engine, now_ms=engine.now_ms), finding)
        if plan.refusal:
            self.flash(plan.refusal, "note")
        elif plan.steps:
            self._preview([plan.without_names()])
        else:

            def make(made: Engine) -> ChangeSet:
                planned = plan_remedy(patient_of(made, now_ms=made.now_ms), finding)
                if planned.changes is None:
                    raise MemtuiError(planned.refusal, fix="Refresh.")
                return planned.changes

            self.staging.stage(make)

    def action_safe(self) -> None:
        """Everything that may be mended beside the agent, planned in a worker, then shown as one preview."""
        engine, found = self.engine, self.state.found
        if engine is not None and found is not None:
            self.flash("working out what can be fixed beside the agent", "note")
            self.call("safe", lambda cancel, report: plan_safe(engine, found, cancel), self._preview_safe)

    def _preview_safe(self, plans: tuple[Any, ...]) -> None:
        self.query_one(FlashLine).dismiss()
        if not plans:
            self.flash("Nothing that was found can be fixed beside the agent.", "note")
            return
        self._preview(list(plans))

    def _preview(self, plans: list[Any]) -> None:
        """What mends the findings, with the answers before and now; then it is done."""
        engine, named = self.engine, {str(at): plan for at, plan in enumerate(plans)}
        if engine is None:
            return
        stop = any(plan.finding.check.how == "stop" for plan in plans)
        show_repairs(
            self.staging,
            [
                Repair(
                    key,
                    "; ".join(step.title for step in plan.steps)
                    or (plan.changes.title if plan.changes else ""),
                    f"{plan.finding.kind}  {plan.finding.seen.sentence}: {plan.finding.check.effect}",
                    "; ".join(
                        each
                        for each in (plan.finding.check.price, plan.changes.unsent if plan.changes else "")
                        if each
                    ),
                    plan.changes,
                    any(step.step == "prune" for step in plan.steps),
                )
                for key, plan in named.items()
            ],
            lambda keys, cancel, report, *, send: weigh(
                engine, [named[key] for key in keys], (), cancel, report, send=send
            ),
            lambda keys: self._mend([named[key] for key in keys], ask=True),
            back="; ".join(
                dict.fromkeys(plan.finding.check.back for plan in plans if plan.finding.check.back)
            ),
            stop_agent="Stop the agent first: it would go on with the old files." if stop else "",
        )

    def _fix_index(self) -> None:
        """What the index under the cursor needs: dropped, or made anew, once that was agreed to."""
        engine, report = self.engine, self.state.index
        if engine is None or report is None:
            return
        if not report.steps:
            self.flash(f"{report.index.name}: {report.action}.", "note")
            return
        steps = report.steps
        said = "; ".join(step.title for step in steps)

        def mended(_: Sequence[str]) -> None:
            unlocked(
                self,
                said,
                lambda: self.call(
                    "mend", lambda cancel, report: maintain_index(engine, steps, True), self._maintained
                ),
            )

        show_repairs(
            self.staging,
            [Repair("index", said, f"{report.index.name}: {report.sentence}")],
            lambda keys, cancel, report, *, send: weigh(engine, (), steps, cancel, report, send=send),
            mended,
            back="the Journal has its receipt",
        )

    def _maintained(self, said: str) -> None:
        self._deep_again = self.state.deep
        host(self).take("changed", said)  # every screen hears of it, this one too

    def _mend(self, plans: list[Any], *, ask: bool) -> None:
        engine = self.engine
        if engine is None or not self.staging.able():
            return

        def work(cancel: Any, report: Any) -> str:
            said = mend(engine, plans, ask)
            engine.refresh()
            return said

        unlocked(self, f"fix {counted(len(plans), 'finding')}", lambda: self.call("mend", work, self._mended))

    def _mended(self, said: str) -> None:
        self._deep_again = self.state.deep
        host(self).take("changed", said)

    def action_browse(self) -> None:
        finding = self.state.finding
        if finding is not None and finding.seen.ids:
            self.post_message(ShowInBrowse(f"id:{','.join(finding.seen.ids[:SHOWN_IN_BROWSE])}"))

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

    @property
    def marked(self) -> int:
        """Rows of the difference of a version."""
        return len(self.state.marked)

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.state.marked:
            self.query_one(VersionsArea).have(marked=frozenset())
            return
        if self.state.looking:
            self.runner.cancel("doctor")
            self.state = replace(self.state, looking="")
            self.repaint()
        elif self.state.zoom:
            self.action_zoom()
        else:
            self.query_one("#list-rows").focus()
