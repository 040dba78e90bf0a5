"""What keys and rows do on Lifecycle beside changing the view: choose, copy, settle, go elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from memtui.engine import KNOBS, one_line
from memtui.tui.dialogs.palette import Entry
from memtui.tui.dialogs.pick import Option, Pick
from memtui.tui.host import host
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.past import TITLES as CHART_TITLES
from memtui.tui.screens.lifecycle.words import TITLES, span

if TYPE_CHECKING:
    from memtui.tui.screens.lifecycle.screen import LifecycleScreen

MOST_SCOPES = 40


class Acting:
    """The actions of one Lifecycle screen."""

    def __init__(self, screen: LifecycleScreen) -> None:
        self._screen = screen

    def turned(self, key: str, steps: int) -> None:
        """A slider was moved; no steps puts it back."""
        knob = reduce.knob(key)
        if knob is None:
            return
        state = self._screen.state
        self._screen.state = reduce.turn(state, knob, steps) if steps else reduce.reset(state, key)

    def opened(self, key: str) -> None:
        """Enter on a row: tiers and ranges lead into Browse, memories show their numbers."""
        screen = self._screen
        kind, _, rest = key.partition(":")
        if kind in ("core", "working", "peripheral"):
            screen.show_filter(f"tier:{kind}")
        elif kind == "filter":
            screen.show_filter(rest)
        elif kind == "line":
            screen.show_filter("is:stale")
        elif kind == "remedy":
            screen.state = replace(screen.state, remedy=rest)
        elif kind == "card":
            screen.action_browse()
        elif kind in ("stale", "rises", "sinks", "expires", "move", "loss"):
            screen.state = replace(reduce.select(screen.state, rest), aside="numbers", panel="numbers")

    def next_remedy(self) -> None:
        """Draw what the next remedy would do; after the last, none."""
        state = self._screen.state
        names = ("", *(each.name for each in state.life.remedies)) if state.life else ("",)
        self._screen.state = replace(state, remedy=reduce.following(names, state.remedy))

    def choose_scope(self) -> None:
        """One scope, or all."""
        screen = self._screen
        stats = screen.session.stats
        scopes = stats.scopes[:MOST_SCOPES] if stats is not None else ()
        options = [Option("all", "all scopes", "every memory", "0")]
        options += [
            Option(str(i), one_line(scope or "(none)") or '" "', f"{count:,}")
            for i, (scope, count) in enumerate(scopes)
        ]

        def taken(value: str | None) -> None:
            if value is not None:
                chosen = None if value == "all" else (scopes[int(value)][0],)
                screen.state = reduce.asked(screen.state, scopes=chosen)

        screen.app.push_screen(Pick("Scope", options), taken)

    # ------------------------------------------------------------------ review

    def settle(self, how: Literal["keep", "skip"]) -> None:
        """Note what was decided of the card, and go to the next one."""
        screen = self._screen
        state = screen.state
        if state.review is None or not state.card:
            return
        ids = [card.id for card in state.review.cards]
        at = ids.index(state.card) if state.card in ids else 0
        screen.progress().settle(state.card, how, screen.now_ms)
        review = state.review.without(state.card, settled=how != "skip")
        left = [card.id for card in review.cards]
        card = left[min(at, len(left) - 1)] if left else ""
        screen.state = replace(state, review=review, card=card)
        screen.flash(f"{'kept' if how == 'keep' else 'skipped'}, {review.waiting} waiting", "done")

    # ------------------------------------------------------------------ copying

    def copy(self) -> None:
        """Id, numbers, plan or settings."""
        screen, state = self._screen, self._screen.state
        memory = state.card if state.reviewing else state.selected
        options = []
        if memory:
            options.append(Option("id", "id", memory, "i"))
        if state.life is not None and not state.reviewing:
            options.append(Option("numbers", "numbers", "every formula of the memory", "n"))
        if state.board is not None:
            options.append(
                Option("settings", "settings", "the decay and tier blocks, tried values included", "s")
            )
            options.append(Option("plan", "plan", "the listed moves as JSON", "p"))

        def taken(value: str | None) -> None:
            if value is not None:
                host(screen).copy(self._text(value, memory), value)

        screen.app.push_screen(Pick("Copy", options), taken)

    def _text(self, what: str, memory: str) -> str:
        state = self._screen.state
        if what == "numbers" and state.life is not None:
            lines = [f"{line.symbol} = {line.formula} = {line.value:.12g}" for line in state.life.lines]
            return "\n".join([*lines, state.life.verdict])
        if what == "settings" and state.board is not None:
            return json.dumps(state.board.settings.as_blocks(), indent=2)
        if what == "plan" and state.board is not None:
            return json.dumps([move.as_json() for move in state.board.moves], indent=2)
        return memory

    # ------------------------------------------------------------------ palette

    def entries(self) -> list[Entry]:
        """Panels, horizons, charts and settings by name."""
        screen = self._screen
        found = [
            Entry("PANELS", f"Panel: {TITLES[name]}", partial(screen.action_panel, name))
            for name in reduce.PANELS
        ]
        found += [
            Entry("HORIZON", f"Look ahead {span(days)}", partial(self._ahead, days))
            for days in reduce.HORIZONS
        ]
        found += [
            Entry("CHARTS", f"Chart: {CHART_TITLES[name]}", partial(self._chart, name))
            for name in reduce.CHARTS
        ]
        found += [
            Entry("WHAT IF", f"Try: {each.title}", partial(self._try, each.key), each.meaning)
            for each in KNOBS
        ]
        return found

    def _ahead(self, days: float) -> None:
        self._screen.state = reduce.asked(self._screen.state, horizon_days=days)

    def _chart(self, name: reduce.Chart) -> None:
        self._screen.state = replace(self._screen.state, chart=name, aside="history", panel="history")

    def _try(self, key: str) -> None:
        from memtui.tui.widgets.built_rows import KnobRows

        self._screen.action_whatif()
        self._screen.query_one(KnobRows).choose(key)
