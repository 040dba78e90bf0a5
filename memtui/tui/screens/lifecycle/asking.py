"""Which engine calls the state needs, and what becomes of their answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.state import LifecycleState

if TYPE_CHECKING:
    from memtui.engine import CancelToken
    from memtui.tui.screens.lifecycle.screen import LifecycleScreen

POINTS = 320
"""Moments of a curve: more than a wide screen has dots."""


class Asking:
    """Runs what one Lifecycle screen needs, each kind of question in a slot of its own."""

    def __init__(self, screen: LifecycleScreen) -> None:
        self._screen = screen
        self._fresh = True
        """Whether what depends on the store alone has to be asked with the next board."""
        self._cases_of: object = None
        """What the cases were asked for: horizon, scenario and settings."""

    @property
    def _state(self) -> LifecycleState:
        return self._screen.state

    @_state.setter
    def _state(self, state: LifecycleState) -> None:
        self._screen.state = state

    def everything(self) -> None:
        """The store is new, or was read anew."""
        self._fresh, self._cases_of = True, None
        self._board()
        if self._state.reviewing:
            self._review()

    def follow(self, old: LifecycleState, new: LifecycleState) -> None:
        """The state changed: ask what has become unknown by that."""
        if self._screen.session.engine is None:
            return
        if old.ask != new.ask:
            self._board()
            if old.ask.scopes != new.ask.scopes:
                self._history()
        if new.board is not None and (
            old.selected != new.selected or old.board is not new.board or old.measure != new.measure
        ):
            self._life()
        if new.reviewing and new.review is None and not self._screen.runner.busy("review"):
            self._review()
        if new.card and old.card != new.card:
            self._memory(new.card)

    def answered(self, slot: str, value: Any) -> None:
        """An answer arrived."""
        state = self._state
        if slot == "board":
            settings, board = value
            self._state = reduce.answer(replace(state, settings=settings), board)
            if self._fresh:
                self._fresh = False
                self._history()
                self._findings()
            ask = board.ask
            wanted = (ask.horizon_days, ask.scenario, tuple(sorted(ask.changes.items())))
            if wanted != self._cases_of:
                self._cases_of = wanted
                self._cases()
        elif slot == "life":
            if value.id == state.selected:
                self._state = replace(state, life=value)
        elif slot == "cases":
            count, losses = value
            self._state = replace(state, cases=count, losses=losses)
        elif slot == "review":
            there = any(each.id == state.card for each in value.cards)
            card = state.card if there else value.cards[0].id if value.cards else ""
            self._state = replace(state, review=value, card=card)
        elif slot == "memory":
            others = tuple(each for name, each in value.items() if name != state.card)
            self._state = replace(state, memory=value.get(state.card), others=others)
        elif slot in ("history", "findings", "effect"):
            self._state = replace(state, **{slot: value})
            if slot == "findings":
                self._board()  # what is pinned is known only now

    # ------------------------------------------------------------------ the calls

    @property
    def _lifecycle(self) -> Any:
        engine = self._screen.session.engine
        assert engine is not None
        return engine.lifecycle

    def _board(self) -> None:
        lifecycle, ask = self._lifecycle, self._state.ask

        def work(cancel: CancelToken) -> Any:
            settings = lifecycle.settings()
            return settings, lifecycle.board(ask, settings, cancel=cancel)

        self._screen.work("board", work)

    def _life(self) -> None:
        lifecycle, state = self._lifecycle, self._state

        def work(cancel: CancelToken) -> Any:
            return lifecycle.life(
                state.selected, state.ask, measure=state.measure, points=POINTS, settings=state.settings
            )

        self._screen.work("life", work)

    def _history(self) -> None:
        lifecycle, scopes = self._lifecycle, self._state.ask.scopes
        self._screen.work("history", lambda cancel: lifecycle.history(scopes))

    def _findings(self) -> None:
        lifecycle = self._lifecycle
        self._screen.work("findings", lambda cancel: lifecycle.findings(cancel=cancel))

    def _review(self) -> None:
        lifecycle, progress = self._lifecycle, self._screen.progress()
        self._screen.work("review", lambda cancel: lifecycle.review(progress, limit=200, cancel=cancel))

    def _memory(self, memory: str) -> None:
        """The memory of the card, and those that its reasons speak of."""
        engine, review = self._screen.session.engine, self._state.review
        assert engine is not None
        card = next((each for each in (review.cards if review else ()) if each.id == memory), None)
        ids = dict.fromkeys([memory, *(each.other for each in (card.reasons if card else ()) if each.other)])
        self._screen.work("memory", lambda cancel: engine.memories(list(ids)))

    def _cases(self) -> None:
        """What becomes of the saved questions: their measures now, then whose answers get lost, and when."""
        lifecycle, book, state = self._lifecycle, self._screen.case_book(), self._state
        board, base = state.board, state.base
        if board is None:
            return
        own = base.settings if base is not None else board.settings
        self._state = replace(state, effect=None)

        def effect(cancel: CancelToken) -> Any:
            cases = book.cases()
            if not cases:
                return None
            before = lifecycle.effect(cases, own, cancel=cancel)
            same = board.settings.values == own.values
            return before, before if same else lifecycle.effect(cases, board.settings, cancel=cancel)

        def losses(cancel: CancelToken) -> Any:
            cases, ask = book.cases(), board.ask
            if not cases:
                return 0, ()
            found = lifecycle.losses(
                cases,
                days=ask.horizon_days,
                scenario=ask.scenario,
                settings=board.settings if ask.changes else None,
                cancel=cancel,
            )
            return len(cases), found

        self._screen.work("effect", effect)
        self._screen.work("cases", losses)
