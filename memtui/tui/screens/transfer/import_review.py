"""The third step of an import: the plan, every record of it, and what is decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError, Progress, one_line
from memtui.engine.transfer import (
    SWITCHABLE,
)
from memtui.tui.layouts import Shape
from memtui.tui.paint.numbers import full, plural, score
from memtui.tui.screens.transfer import import_record_view, import_review_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_source import ask_scope
from memtui.tui.screens.transfer.import_state import PAGE, PlanPage
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import Choice, State, failed
from memtui.tui.wizard.task import STOPPED, Heading, ImportPart
from memtui.tui.wizard.view import RunProgress, heard

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        Resolution,
    )
    from memtui.tui.screens.transfer.import_state import ImportState, Planned


def _sums(value: Planned) -> dict[str, Any]:
    return {name: getattr(value, name) for name in ("losses", "taken", "bare", "replaced", "kept")}


_ALL = "{wizard.all-ours} {wizard.all-theirs} {wizard.all-both}"

_DECIDE = f"{{wizard.ours}} ours  {{wizard.theirs}} theirs  {{wizard.both}} both  {_ALL} all"

_CHOICES: dict[str, Resolution] = {"ours": "keep", "theirs": "take", "both": "both"}


class ReviewPart(ImportPart):
    """Groups on the left, what is in one on the right, the record under the cursor below."""

    slots = ("plan", "page", "measure", "sums", "source")

    # ------------------------------------------------------------------ what it shows

    def shape(self) -> Shape:
        return (
            Shape("one", said=True)
            if self.state.plan is None
            else Shape("review", record=import_review_view.is_group(self.state.view))
        )

    def said(self) -> State | None:
        state = self.state
        if state.plan is not None:
            return None
        if state.error is not None:
            return failed(
                "there is no plan", state.error, Choice("back", "step back"), Choice("again", "try again")
            )
        progress = state.pace.phases[-1][0] if state.pace.phases else None
        return State("loading", one_line(progress.what) if progress else "planning", progress=progress)

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, self.glyphs
        if panel == "a":
            return import_review_view.group_rows(state, width, glyphs)
        if panel == "b":
            return import_review_view.main_rows(state, width, glyphs)
        item = reduce.current(state) if import_review_view.is_group(state.view) else None
        if panel == "d":
            return import_record_view.source_rows(item, state.source, width, glyphs)
        here = state.page.here if state.page is not None else {}
        versioned = self.engine.store.dialect.can.versioned_text
        return import_record_view.record_rows(item, here, width, height, glyphs, versioned=versioned)

    def heading(self, panel: str) -> Heading:
        state, plan = self.state, self.state.plan
        if plan is None:
            return Heading("Plan")
        if panel == "a":
            busy = self.busy("plan")
            return Heading(
                "Plan",
                "planning again" if busy else f"{full(state.taken)} to write",
                "dry run, nothing is written",
            )
        item = reduce.current(state) if import_review_view.is_group(state.view) else None
        if panel == "b":
            if not import_review_view.is_group(state.view):
                return Heading(import_review_view.NAMES[state.view].capitalize())
            total = reduce.listed(state, import_review_view.group_of(state.view))
            what = import_review_view.NAMES[state.view].capitalize()
            keys = {
                "conflict": _DECIDE,
                "new": "{wizard.switch} leaves one out, or takes it back",
            }.get(state.view, "")
            keys = "{wizard.switch} switches the rule" if state.view in SWITCHABLE else keys
            wanted = reduce.counts(state).get(import_review_view.group_of(state.view), 0)
            some = f"{full(wanted)} of " if wanted != total else ""
            which = f"{import_review_view.meaning(state.view)}   {some}{import_review_view.places(state.page, total)}"
            return Heading(what, which, keys)
        if panel == "d":
            return Heading("In the source, and as it will be stored")
        if item is None:
            return Heading("Record")
        cosine = (
            f"   cosine {score(item.match.cosine)}" if item.match is not None and item.match.cosine else ""
        )
        which = f"{import_review_view.NAMES[item.group]}{cosine}"
        return Heading(f"Record {full(item.number + 1)} of {full(plan.total)}", which)

    def advice(self) -> str:
        if self.state.plan is None:
            return "{transfer.stop} stops it"
        if self.busy("plan"):
            phases = self.state.pace.phases
            doing = one_line(phases[-1][0].what) if phases else "planning again"
            return f"{doing}; the plan before is shown"
        warnings = import_review_view.notes(self.state)
        more = f"; {plural(len(warnings), 'thing')} to know" if warnings else ""
        cost = import_review_view.cost_words(self.state)
        return f"embedding {cost}; one step in the journal, undone as a whole{more}"

    def missing(self) -> str:
        state = self.state
        if state.plan is None:
            return ""
        if state.error is not None:
            return f"{state.error} This is the plan before."
        if left := reduce.open_conflicts(state):
            done = len(state.request.choices)
            one = "{wizard.ours} {wizard.theirs} {wizard.both} decide one"
            return f"{full(done)} conflicts decided, {full(left)} open: {one}, {_ALL} all."
        return ""

    # ------------------------------------------------------------------ answers

    def finished(self, slot: str, value: Any) -> None:
        if slot == "plan":
            self._planned(value)
        elif slot == "measure":
            self.set(cost=value)
        elif slot == "sums":
            if value is not STOPPED:
                self.set(**_sums(value))
        elif slot == "source":
            if value is not STOPPED:
                self.set(source=value)
        elif (
            isinstance(value, PlanPage)
            and value.group == self.state.view
            and value.offset == self.state.offset
        ):
            there = any(each.number == self.state.item for each in value.items)
            self.set(page=value, item=self.state.item if there else -1)
            self._look_into_source()

    def _planned(self, value: Any) -> None:
        state = self.state
        if value is STOPPED:
            if state.plan is None:
                self.set(step="map", pace=RunProgress())
            else:
                self.set(request=state.planned, pace=RunProgress())
            return
        plan = value.plan
        self.keep(
            plan=plan,
            request=plan.request,
            planned=plan.request,
            cost=plan.cost,
            page=None,
            source=None,
            error=None,
            **_sums(value),
        )
        if state.plan is not None:
            state.plan.close()
        first = state.plan is None
        self.keep(view=reduce.best_view(self.state) if first else state.view, offset=0, item=-1)
        self._read_page()
        self.flow.paint()
        if first:
            view = self.state.view
            self.screen.call_after_refresh(self._rest_on, view)

    def _rest_on(self, view: str) -> None:
        self.screen.rows("a").repaint(view)
        self.screen.focus_list("b" if view == "conflict" or not self.screen.shows("a") else "a")

    def failed(self, slot: str, error: MemtuiError) -> None:
        if slot == "plan":
            self.set(error=error, request=self.state.planned or self.state.request)
        else:
            self.screen.flash(str(error), "error")

    def advanced(self, slot: str, progress: Progress) -> None:
        if slot == "plan":
            self.set(pace=heard(self.state.pace, progress, self.now_ms))

    # ------------------------------------------------------------------ keys

    def show(self, view: str) -> None:
        """List another group, or another sheet."""
        page = self.state.page
        if view != self.state.view or page is None or page.group != view:
            self.keep(view=view, offset=0, item=-1)
            self._read_page()
            self.flow.paint()

    def _read_page(self) -> None:
        plan, engine = self.state.plan, self.engine
        if plan is None or not import_review_view.is_group(self.state.view):
            return
        group, offset = import_review_view.group_of(self.state.view), self.state.offset

        def read(_: object, stop: object) -> PlanPage:
            items = tuple(plan.page(group, offset, PAGE))
            ids = [each.match.id for each in items if each.match is not None and not each.match.where]
            return PlanPage(group, offset, items, engine.memories(ids) if ids else {})

        self.work("page", read)

    def _look_into_source(self) -> None:
        """The lines of the record under the cursor, where there is room to show them."""
        from memtui.engine.transfer import (
            source_lines,
        )

        state, plan = self.state, self.state.plan
        item = reduce.current(state) if import_review_view.is_group(state.view) else None
        seen = state.source is not None and item is not None and state.source[0] == item.number
        if plan is None or item is None or seen or not self.screen.shows("d"):
            return
        number, where, encoding = item.number, item.where, plan.request.encoding
        sources = plan.sources
        self.work("source", lambda _, stop: (number, source_lines(sources, where, encoding, stop)))

    def _decide(self, state: ImportState) -> None:
        """Show a decision at once, and add up what it changes."""
        self.flow.state = state
        plan = state.plan
        assert plan is not None
        self.work("sums", lambda _, stop: reduce.added_up(plan))
        self.flow.paint()

    def able(self, act: str, panel: str, key: str) -> bool:
        state, plan = self.state, self.state.plan
        if plan is None:
            return False
        if act in ("view_before", "view_after", "ledger"):
            return True
        if act == "measure":
            cost = state.cost
            return cost is not None and bool(cost.rows) and not cost.problem and plan.vectors is None
        if act == "switch":
            single = panel == "b" and state.view == "new" and key.startswith("item:")
            return single or (key if panel == "a" else state.view) in SWITCHABLE
        if act in ("later", "earlier"):
            total = reduce.listed(state, import_review_view.group_of(state.view))
            return panel == "b" and (state.offset + PAGE < total if act == "later" else state.offset > 0)
        if panel != "b" or state.view != "conflict":
            return False
        return act.removeprefix("all_") in _CHOICES and (act.startswith("all_") or key.startswith("item:"))

    def moved(self, panel: str, key: str) -> None:
        if panel == "a":
            self.show(key)
        elif panel == "b" and key.startswith("item:"):
            self.set(item=int(key.removeprefix("item:")))
            self._look_into_source()

    def opened(self, panel: str, key: str) -> None:
        if panel == "a":
            self.screen.focus_list("b")
        elif key.startswith("scope:"):
            ask_scope(self.flow, key.removeprefix("scope:"))
        else:
            self.next()

    def acted(self, act: str, panel: str, key: str) -> None:
        state = self.state
        if act == "switch" and key.startswith("item:") and state.view == "new":
            self._decide(reduce.left_out(state, int(key.removeprefix("item:"))))
            self.screen.rows("b").action_down()
        elif act == "switch":
            self.flow.take(reduce.switched(state, key if panel == "a" else state.view))
        elif act in _CHOICES:
            self._decide(reduce.decided(state, int(key.removeprefix("item:")), _CHOICES[act]))
            self.screen.rows("b").action_down()
        elif act.removeprefix("all_") in _CHOICES:
            self._decide(reduce.decided_all(state, _CHOICES[act.removeprefix("all_")]))
        elif act in ("later", "earlier"):
            self.keep(offset=max(0, state.offset + (PAGE if act == "later" else -PAGE)), item=-1)
            self._read_page()
        elif act == "measure":
            engine, plan = self.engine, state.plan
            assert plan is not None
            self.work("measure", lambda _, stop: engine.transfer.measure(plan))
        else:
            self._turn(act)

    def _turn(self, act: str) -> None:
        names = reduce.views(self.state)
        at = names.index(self.state.view) if self.state.view in names else 0
        to = "ledger" if act == "ledger" else names[(at + (1 if act == "view_after" else -1)) % len(names)]
        self.show(to)
        self.screen.rows("a").repaint(to)

    def chosen(self, name: str) -> None:
        if name == "again":
            self.flow.make_plan()
        else:
            self.back()

    def next(self) -> None:
        if self.state.plan is None or self.busy("plan"):
            return
        if reduce.open_conflicts(self.state):
            self.show("conflict")
            self.screen.rows("a").repaint("conflict")
            self.screen.focus_list("b")
        else:
            self.set(step="run", error=None, pace=RunProgress())

    def back(self) -> bool:
        self.stop()
        plan = self.state.plan
        self.keep(step="map", plan=None, planned=None, page=None, error=None, pace=RunProgress())
        if plan is not None:
            plan.close()
        if self.state.preview is None:
            self.flow.look_closely()
        self.flow.paint()
        return True
