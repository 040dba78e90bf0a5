"""What keys and rows do on Lifecycle beside changing the view: choose, copy, settle, go elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from memtui.engine import changes, lifecycle, one_line
from memtui.engine.lifecycle import KNOBS
from memtui.tui.bound_panel import BoundPart
from memtui.tui.change_request import ChangeRequests
from memtui.tui.dialogs.choose_field import choose_change
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.messages import ShowInBrowse
from memtui.tui.paint.cells import crop
from memtui.tui.paint.numbers import full
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.board_view import day, outlook, span
from memtui.tui.screens.lifecycle.curves_view import TITLES as CHART_TITLES
from memtui.tui.screens.lifecycle.questions import case_book, review_progress
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.widgets.row_list import How

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import ChangeSet, Outcome
    from memtui.engine.lifecycle import MemoryLife, Settlement, SweepEffect


MOST_SCOPES = 40

_LETTERS = {"pin": "p", "touch": "t", "raise": "r", "promote": "o"}
"""A letter of each remedy, none twice."""

EDITS: dict[str, dict[str, object]] = {"endless": {"valid_until": "never"}, "archive": {"state": "archived"}}
"""What else can be made of a memory, beside what the engine offers against fading."""

_DONE: dict[str, str] = {
    "keep": "kept",
    "skip": "skipped",
    "fix": "fixed",
    "archive": "archived",
    "pin": "pinned",
    "forget": "forgotten",
    "merge": "merged",
}


class Acting(BoundPart[LifecycleState]):
    """What the keys and rows of Lifecycle do beside changing the view."""

    def __init__(self) -> None:
        super().__init__()
        self._decided: list[tuple[str, Settlement]] = []
        """What was decided in the review since the screen was opened, the last one last."""

    @property
    def _staging(self) -> ChangeRequests:
        return self.screen.query_one(ChangeRequests)

    def turned(self, key: str, steps: int) -> None:
        """A slider was moved; no steps puts it back."""
        knob = reduce.knob(key)
        if knob is not None:
            self.become(lambda now: reduce.turn(now, knob, steps) if steps else reduce.reset(now, key))

    def opened(self, key: str) -> None:
        """Enter on a row: tiers and ranges lead into Browse, memories show their numbers."""
        kind, _, rest = key.partition(":")
        if kind in ("core", "working", "peripheral"):
            self._show_filter(f"tier:{kind}")
        elif kind == "filter":
            self._show_filter(rest)
        elif kind == "line":
            self._show_filter("is:stale")
        elif kind == "remedy":
            self.become(lambda now: replace(now, remedy=rest))
        elif kind in ("stale", "rises", "sinks", "expires", "move", "loss"):
            self.become(lambda now: replace(reduce.select(now, rest), aside="numbers", panel="numbers"))

    def _show_filter(self, text: str) -> None:
        self.app.post_message(ShowInBrowse(text))

    def next_remedy(self) -> None:
        """Draw what the next remedy would do; after the last, none."""
        state: LifecycleState = self.state
        names = ("", *(remedy.name for remedy in state.life.remedies)) if state.life else ("",)
        self.become(lambda now: replace(now, remedy=reduce.following(names, now.remedy)))

    def choose_scope(self) -> None:
        """One scope, or all."""
        stats = self.session.stats
        scopes = stats.scopes[:MOST_SCOPES] if stats is not None else ()
        options = [Option("all", "all scopes", "every memory", "0")]
        options += [
            Option(str(i), one_line(scope or "(none)") or '" "', f"{count:,}")
            for i, (scope, count) in enumerate(scopes)
        ]

        def taken(value: str | None) -> None:
            if value is not None:
                chosen = None if value == "all" else (scopes[int(value)][0],)
                self.become(lambda now: reduce.asked(now, scopes=chosen))

        asked = self.state.ask.scopes
        now = next((str(i) for i, (scope, _) in enumerate(scopes) if asked == (scope,)), "all")
        self.app.push_screen(ChooseOne("Scope", options, now), taken)

    # ------------------------------------------------------------------ writing

    def choose_action(self) -> None:
        """What can be done for the chosen memory, with what each would do to its curve."""
        state: LifecycleState = self.state
        memory, life = state.selected, state.life
        if life is None or life.id != memory or not self._staging.able():
            return

        def taken(name: str | None) -> None:
            remedy = next((remedy for remedy in life.remedies if remedy.name == name), None)
            if remedy is not None:
                self._edit(memory, dict(remedy.edit))
            elif name in EDITS:
                self._edit(memory, EDITS[name])
            elif name == "forget":
                self._forget(memory)

        self.app.push_screen(
            ChooseOne(crop(one_line(life.title), 44) or memory[:8], ways(life), state.remedy), taken
        )

    def _edit(self, memory: str, given: dict[str, object], how: Settlement | None = None) -> None:
        self._staging.stage(
            lambda engine: changes.plan_edit(engine, [memory], given), then=self._when_written(memory, how)
        )

    def _forget(self, memory: str, how: Settlement | None = None) -> None:
        self._staging.stage(
            lambda engine: changes.plan_forget(engine, [memory], hard=True),
            then=self._when_written(memory, how),
        )

    def _when_written(self, memory: str, how: Settlement | None) -> Callable[[Outcome], None] | None:
        return None if how is None else lambda outcome: self._settled(memory, how)

    def sweep(self) -> None:
        """The whole plan as one change, with what it does to the saved questions."""
        settings, book = self.state.board.settings if self.state.board else None, case_book(self.session)
        elsewhere = self.state.ask.ahead_days or self.state.ask.scopes is not None

        def make(engine: Engine) -> tuple[ChangeSet, list[str]]:
            planned, moves = lifecycle.plan_sweep(engine, settings)
            notes = ["A sweep is of today and of every scope, whatever is shown."] if elsewhere else []
            if moves and (cases := book.cases()):
                notes += _effect_words(lifecycle.sweep_effect(engine, cases, moves))
            return planned, notes

        self._staging.stage(make)

    @property
    def can_reopen(self) -> bool:
        """Whether the last decision of the review wrote nothing to the store: it can be taken back anywhere."""
        return self.state.reviewing and bool(self._decided) and self._decided[-1][1] in ("keep", "skip")

    def undo(self) -> None:
        """Take back the last change; in the review the last decision, with what it wrote."""
        if not (self.state.reviewing and self._decided):
            self._staging.undo()
            return
        memory, _ = self._decided[-1]
        if self.can_reopen:
            self._reopened(memory)
            return
        self._staging.stage(
            lambda engine: changes.plan_undo(engine),
            force=lambda engine, ids: changes.plan_undo(engine, forced=ids),
            then=lambda outcome: self._reopened(memory),
        )

    def _reopened(self, memory: str) -> None:
        self._decided.pop()
        review_progress(self.session).reopen(memory)
        self.become(lambda now: replace(now, review=None, card=memory))
        self.flash("It waits again.", "done")

    # ------------------------------------------------------------------ review

    def settle(self, how: How) -> None:
        """Decide on the card under the cursor; what writes is planned and looked at first."""
        state: LifecycleState = self.state
        card = next(
            (card for card in (state.review.cards if state.review else ()) if card.id == state.card), None
        )
        if card is None:
            return
        memory = card.id
        if how in ("keep", "skip"):
            self._settled(memory, "keep" if how == "keep" else "skip")
        elif not self._staging.able():
            return
        elif how == "fix":
            self._fix(memory)
        elif how == "archive":
            self._edit(memory, {"state": "archived"}, "archive")
        elif how == "pin":
            self._edit(memory, {"pinned": "yes"}, "pin")
        elif how == "forget":
            self._forget(memory, "forget")
        else:
            other = next((reason.other for reason in card.reasons if reason.other), "")
            if not other:
                self.flash("Nothing says what to merge it with: mark both in Browse.", "note")
                return
            self._staging.merge([memory, other], then=self._when_written(memory, "merge"))

    def _fix(self, memory: str) -> None:
        """Choose a field and its new value."""
        engine, shown = self.session.engine, self.state.memory
        if engine is None:
            return

        def chosen(field: str, value: str) -> None:
            self._edit(memory, {field: value}, "fix")

        one = shown if shown is not None and shown.id == memory else None
        stats = self.session.stats
        scopes = [scope for scope, _ in stats.scopes if scope] if stats is not None else []
        choose_change(self.app, "Fix", engine.editable, one, scopes, chosen)

    def _settled(self, memory: str, how: Settlement) -> None:
        """Note the decision, and go to the next card."""
        state: LifecycleState = self.state
        review_progress(self.session).settle(memory, how, host(self).now_ms())
        self._decided.append((memory, how))
        if state.review is None:
            return
        ids = [card.id for card in state.review.cards]
        at = ids.index(memory) if memory in ids else 0
        review = state.review.without(memory, settled=how != "skip")
        left = [card.id for card in review.cards]
        card = left[min(at, len(left) - 1)] if left else ""
        self.become(lambda now: replace(now, review=review, card=card))
        self.flash(f"{_DONE[how]}, {full(review.waiting)} waiting; {{lifecycle.undo}} undoes it", "done")

    # ------------------------------------------------------------------ copying

    def copy(self) -> None:
        """Id, numbers, plan or settings."""
        state: LifecycleState = self.state
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
                host(self).copy(self._text(value, memory), value)

        self.app.push_screen(ChooseOne("Copy", options), taken)

    def _text(self, what: str, memory: str) -> str:
        state = self.state
        if what == "numbers" and state.life is not None:
            lines = [f"{line.symbol} = {line.formula} = {line.value:.12g}" for line in state.life.lines]
            return "\n".join([*lines, state.life.verdict])
        if what == "settings" and state.board is not None:
            return json.dumps(state.board.settings.as_blocks(), indent=2)
        if what == "plan" and state.board is not None:
            return json.dumps([move.as_json() for move in state.board.moves], indent=2)
        return memory

    # ------------------------------------------------------------------ palette

    def entries(self) -> list[PaletteEntry]:
        """Horizons, charts and settings by name."""
        found = [
            PaletteEntry("HORIZON", f"Look ahead {span(days)}", partial(self._ahead, days))
            for days in reduce.HORIZONS
        ]
        found += [
            PaletteEntry("CHARTS", f"Chart: {CHART_TITLES[name]}", partial(self._chart, name))
            for name in reduce.CHARTS
        ]
        found += [
            PaletteEntry("WHAT IF", f"Try: {knob.title}", partial(self._try, knob.key), knob.meaning)
            for knob in KNOBS
        ]
        return found

    def _ahead(self, days: float) -> None:
        self.become(lambda now: reduce.asked(now, horizon_days=days))

    def _chart(self, name: reduce.Chart) -> None:
        self.become(lambda now: replace(now, chart=name, aside="history", panel="history"))

    def _try(self, key: str) -> None:
        from memtui.tui.widgets.row_list import KnobRows

        self.become(lambda now: replace(now, panel="whatif", zoom="", reviewing=False))
        self.call_after_refresh(self.screen.query_one(KnobRows).choose, key)


def ways(life: MemoryLife) -> list[Option]:
    """What can be done for a memory; where it ends by its own date, nothing helps but another date."""
    ends = [crossing.at_ms for crossing in life.crossings if crossing.kind == "expires"]
    return [
        *(Option("endless", "take the end away", f"else it ends {day(at)}", "e") for at in ends),
        *(
            Option(remedy.name, remedy.title, outlook(remedy, life.horizon_days), _LETTERS[remedy.name])
            for remedy in life.remedies
        ),
        Option("archive", "archive", "out of auto-recall", "a"),
        Option("forget", "forget", "deleted; undo brings it back", "review.forget"),
    ]


def _effect_words(effect: SweepEffect) -> list[str]:
    """What a sweep does to the saved questions as the plugin asks them, in one sentence; none where it does nothing."""
    if not effect.changed:
        return []
    before, after = effect.before.get("ndcg"), effect.after.get("ndcg")
    said = f"Cases: {len(effect.changed)} of {effect.cases} answered differently"
    if before is None or after is None:
        return [f"{said}."]
    return [f"{said}; nDCG {before:.3f}, then {after:.3f}."]
