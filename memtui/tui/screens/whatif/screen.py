"""What if: turn every setting of a recall and see the list turn over, before anything is changed for good."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.reactive import reactive

from memtui.engine import CancelToken, MemtuiError, counted, explain
from memtui.engine.explain import Bounds, ValueStrip
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound
from memtui.tui.calls import Report
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, Arrangement
from memtui.tui.screens.whatif import state as reduce
from memtui.tui.screens.whatif import view
from memtui.tui.screens.whatif.state import WhatIfState
from memtui.tui.screens.whatif.value_prompts import ValuePrompts
from memtui.tui.screens.whatif.view import Painted, about, result_rows, slider_rows
from memtui.tui.session import Session
from memtui.tui.trace import results, stages
from memtui.tui.widgets.breakdown import Breakdown, ScoreReasons
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, KnobRows, Row, RowList
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine, RecallRequest, Trace
    from memtui.engine.explain import Parameter, WhatIf


Taken = Callable[[Mapping[str, Any], "Trace"], None]
"""Takes what was tried, and its answer."""

LIST, FLIPS = "list", "flips"

ROOM_FOR_TITLE = 16


def _differ(old: WhatIfState, new: WhatIfState, *names: str) -> bool:
    return any(getattr(old, name) is not getattr(new, name) for name in names)


_TURN = (
    "{knobs.less} {knobs.more} turn   {whatif.previous-flip} {whatif.next-flip} next flip"
    "   {whatif.reset} all back"
)


class SettingRows(KnobRows):
    """The sliders; Enter types a value."""

    BINDINGS = bindings("settings")

    def in_sight(self) -> list[str]:
        """Keys of the rows on the screen, the one under the cursor first."""
        top, height = self.scroll_offset.y, self.container_size.height
        placed = zip(self._rows, self._tops, strict=True)
        keys = [row.key for row, at in placed if row.key and at + len(row.lines) > top and at < top + height]
        return sorted(keys, key=lambda key: key != self.key)


class WhatIfScreen(BaseScreen):
    """The answer to `request` (`trace` where it is known) with `tried` in place of its own settings."""

    MODE = "recall"
    BESIDE = frozenset((FLIPS,))
    OF_ROW = frozenset((LIST,))
    CSS_PATH = "whatif.tcss"
    BINDINGS = bindings("whatif")
    state: reactive[WhatIfState] = reactive(WhatIfState(), init=False, repaint=False)

    def __init__(
        self,
        engine: Engine,
        request: RecallRequest,
        trace: Trace | None,
        tried: Mapping[str, Any],
        memory_id: str,
        taken: Taken,
    ) -> None:
        super().__init__()
        self.engine, self._request, self._taken = engine, request, taken
        self._painted: Painted = {}
        first = next(iter(tried), "limit")
        start = WhatIfState(tried=dict(tried), base=trace, key=first, selected=memory_id)
        self.set_reactive(WhatIfScreen.state, start)

    def body(self) -> ComposeResult:
        yield ValuePrompts(self.engine).data_bind(state=WhatIfScreen.state)
        yield LayoutContainer(
            Panel(SettingRows(partial(self._build, "sliders")), title="What if", id="sliders"),
            Panel(TextLines(), title="Setting", id="about"),
            Panel(BuiltRows(partial(self._build, "list")), title="Results", id="list"),
            Panel(Breakdown(), title="Score", id="why"),
            arrange=self._arrange,
        )

    @property
    def _setting(self) -> ValuePrompts:
        return self.query_one(ValuePrompts)

    @on(Bound.Become)
    def _become(self, message: Bound.Become) -> None:
        self.tried(message.change(self.state))

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.what_if(width, height, self.state.zoom)

    def on_mount(self) -> None:
        rows = self.query_one(SettingRows)
        rows.repaint(self.state.key)
        rows.focus()
        self.watch(rows, "scroll_y", self._look_for_flips, init=False)
        self._find()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self._look_for_flips)

    def session_changed(self, session: Session) -> None:
        if session.engine is not self.engine:
            self.runner.cancel_all()
            self._setting.runner.cancel_all()
            self.call_later(self._leave)

    def on_screen_resume(self) -> None:
        self._leave()

    def _leave(self) -> None:
        """The question was one to another store: there is nothing to be tried on it here."""
        if self.is_current and self.session.engine is not self.engine:
            self.dismiss()

    # ------------------------------------------------------------------ asking

    def _find(self) -> None:
        """The answer to what is tried, from what was found before where that suffices."""
        engine, base, request, tried = self.engine, self.state.base, self._request, self.state.tried
        known = self.state.bounds
        self.runner.cancel(FLIPS)

        def work(cancel: CancelToken, report: Report) -> tuple[Mapping[str, Any], WhatIf]:
            fetches = stages.told_waits(report)
            own = base if base is not None else engine.recall(request, fetches, cancel)
            if base is None or known is None:
                _ = own.candidates, own.memories
                report((own, explain.parameters(own), known or explain.bounds(engine.store, engine.catalog)))
            found = explain.what_if(engine, own, tried, cancel, fetches)
            _ = found.trace.candidates, found.trace.proof
            if view.fresh(found.trace, own):
                _ = found.trace.memories
            report(explain.parameters(found.trace))
            return tried, found

        self.state = replace(self.state, running=True, waits="")
        self.call(LIST, work, self._have_list, progress=self._have_part, failed=self._no_list)

    def _look_for_flips(self) -> None:
        """Where the list turns over: for the settings in sight, that under the cursor first."""
        trace, engine, state = self.state.trace, self.engine, self.state
        if trace is None or self.runner.busy(FLIPS) or self.runner.busy(LIST):
            return
        wanted = [reduce.parameter(state, key) for key in self.query_one(SettingRows).in_sight()]
        paths = [
            parameter.knob.path
            for parameter in wanted
            if parameter is not None and reduce.flips_wanted(state, parameter)
        ]

        def work(cancel: CancelToken, report: Report) -> None:
            for path in paths:
                cancel.check()
                report(explain.flips(engine, trace, path, cancel))

        if paths:
            self.call(
                FLIPS,
                work,
                lambda done: self._look_for_flips(),
                progress=self._have_strip,
                failed=lambda error: None,  # the sliders do without
            )

    def _have_part(self, value: Any) -> None:
        """The base with its parameters and bounds, the parameters as things stand, or words on what it waits for."""
        if isinstance(value, str):
            self.state = replace(self.state, waits=value)
        elif isinstance(value[-1], Bounds):
            base, parameters, bounds = value
            self.state = replace(self.state, base=base, parameters=parameters, bounds=bounds)
        else:
            self.state = replace(self.state, parameters=self._as_of_base(value))

    def _have_strip(self, strip: ValueStrip) -> None:
        self.state = replace(self.state, strips={**self.state.strips, strip.path: strip})

    def _have_list(self, found: tuple[Mapping[str, Any], WhatIf]) -> None:
        self.state = reduce.answer(self.state, *found)
        self._look_for_flips()

    def _no_list(self, error: MemtuiError) -> None:
        self.state = replace(self.state, running=False, error=error)
        self._look_for_flips()
        self.call_failed(error)

    def _as_of_base(self, now: Sequence[Parameter]) -> tuple[Parameter, ...]:
        """The parameters with the base's own values, and with what is idle and found as things stand."""
        idle = {parameter.knob.path: parameter for parameter in now}
        return tuple(
            replace(
                parameter, inert=idle[parameter.knob.path].inert, findings=idle[parameter.knob.path].findings
            )
            if parameter.knob.path in idle
            else parameter
            for parameter in self.state.parameters
        )

    def tried(self, new: WhatIfState) -> None:
        """Another set of trials: ask for its list."""
        before, self.state = self.state, new
        if dict(before.tried) != dict(new.tried):
            self._find()

    # ------------------------------------------------------------------ painting

    def watch_state(self, old: WhatIfState, new: WhatIfState) -> None:
        if not self.query(LayoutContainer):
            return
        rows = self.query_one(SettingRows)
        if rows.key != new.key:
            rows.choose(new.key)
        if _differ(old, new, "tried", "parameters", "strips", "bounds", "base", "as_question"):
            rows.repaint(new.key)
        if _differ(old, new, "found", "base"):
            listed = self.query_one("#list BuiltRows", BuiltRows)
            listed.repaint(new.selected)
        if old.zoom != new.zoom:
            self.query_one(LayoutContainer).rearrange()
        self._words()
        if _differ(old, new, "found", "base", "selected"):
            self._why()
        if _differ(old, new, "key", "tried", "strips", "selected", "found"):
            self.refresh_bindings()

    def _build(self, name: str, width: int, height: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        if name == "sliders":
            return slider_rows(self.state, width, glyphs, self._painted)
        return result_rows(self.state, width, glyphs)

    def _words(self) -> None:
        """Headlines, the setting under the cursor, the account of the selected memory."""
        state, glyphs = self.state, host(self).glyphs
        narrow = self.app.size.width < NORMAL_WIDTH
        count = f"{counted(len(state.tried), 'setting')} tried" if state.tried else "nothing tried yet"
        self.query_one("#sliders", Panel).headline(
            which=count,
            where="" if narrow else _TURN,
        )
        said = view.summary(state)
        how = "asking" if state.running else view.asked(state)
        listed = self.query_one("#list", Panel)
        both = f"{said}   {how}" if said and how else said or how
        fits = len(both) + ROOM_FOR_TITLE <= listed.size.width
        which = both if fits else said or how
        listed.headline(which=(state.running and state.waits) or which, where=self._badge())
        panel = self.query_one("#about", Panel)
        self.query_one("#about TextLines", TextLines).show(
            about(state, max(20, panel.size.width), glyphs, host(self).keys)
        )

    def _badge(self) -> Any:
        """Whether the account of the selected memory adds up."""
        state, glyphs = self.state, host(self).glyphs
        candidate = results.candidate_of(state.trace, state.selected)
        if state.trace is None or candidate is None:
            return ""
        return results.trust(state.trace, candidate, stages.fall(state.trace, candidate, glyphs), glyphs)

    def _why(self) -> None:
        state, glyphs = self.state, host(self).glyphs
        trace, base = state.trace, state.base
        candidate = results.candidate_of(trace, state.selected)
        if trace is None or base is None or candidate is None:
            self.query_one(Breakdown).show(None)
            return
        facts = results.facts(view.known(trace, base, candidate.id), glyphs, host(self).now_ms())
        gates = results.gates_of(trace, candidate, glyphs)
        self.query_one(Breakdown).show(ScoreReasons(stages.fall(trace, candidate, glyphs), facts, gates))
        place = f"Why #{candidate.rank}" if candidate.rank else "Why not"
        self.query_one("#why", Panel).headline(what=place, which=self._badge())

    # ------------------------------------------------------------------ what rows do

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        if isinstance(event, KnobRows.Turned):
            state = replace(self.state, key=event.key)
            self.tried(
                reduce.turn(state, event.key, event.steps) if event.steps else reduce.reset(state, event.key)
            )
        elif isinstance(event.rows, SettingRows):
            if self.state.parameters:  # before, the row that is wanted may not be there yet
                self.state = replace(self.state, key=event.key)
                self._look_for_flips()
        else:
            self.state = replace(self.state, selected=event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if isinstance(event.rows, SettingRows):
            self._setting.open(event.key)
        else:
            self.action_why_not()

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("next_flip", "previous_flip"):
            by = 1 if action == "next_flip" else -1
            return True if reduce.next_flip(self.state, self.state.key, by) is not None else None
        if action in ("reset", "copy"):
            return True if self.state.tried else None
        if action == "why_not":
            return True if self.state.selected and self.state.trace is not None else None
        return True

    def action_next_flip(self) -> None:
        self._flip(1)

    def action_previous_flip(self) -> None:
        self._flip(-1)

    def _flip(self, by: int) -> None:
        at, each = (
            reduce.next_flip(self.state, self.state.key, by),
            reduce.parameter(self.state, self.state.key),
        )
        if at is not None and each is not None:
            self.tried(reduce.put(self.state, self.state.key, each.knob.clamp(at)))

    def action_reset(self) -> None:
        self.tried(reduce.reset(self.state))

    def action_set(self) -> None:
        self._setting.open(self.state.key)

    def action_copy(self) -> None:
        self._setting.copy()

    def action_why_not(self) -> None:
        """Why the selected memory stands where it stands, or does not come back, under what is tried."""
        from memtui.tui.screens.whynot.screen import WhyNotScreen

        if self.state.trace is None or not self.state.selected:
            return

        def try_it(changes: Mapping[str, Any], memory_id: str) -> None:
            tried = {**self.state.tried, **changes}
            self.tried(replace(self.state, tried=tried, selected=memory_id, key=next(iter(changes))))

        self.app.push_screen(WhyNotScreen(self.engine, self.state.trace, self.state.selected, try_it))

    def action_zoom(self) -> None:
        around = self.focused.ancestors if self.focused else ()
        panel = next((node.id for node in around if isinstance(node, Panel)), None) or "sliders"
        self.state = replace(self.state, zoom="" if self.state.zoom else panel)

    def action_back(self) -> None:
        """Back to the question, with what is tried and its answer."""
        if self.dismiss_flash():
            return
        if self.state.zoom:
            self.state = replace(self.state, zoom="")
            return
        answers = self.state.answers if self.state.found is not None else {}
        trace = self.state.trace if answers else self.state.base  # that of the question as it is set
        self.dismiss()
        if trace is not None:
            self._taken(answers, trace)
