"""What Lifecycle asks of the engine: which calls the state needs, and what their answers make of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, MemtuiError, lifecycle
from memtui.engine.cases import CaseBook
from memtui.engine.lifecycle import ReviewProgress
from memtui.paths import cases_file, review_file
from memtui.tui.bound_panel import BoundPart
from memtui.tui.calls import Report
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.engine import Engine, Memory
    from memtui.engine.lifecycle import Board, LifecycleSettings, MemoryLife, Review

POINTS = 320
"""Moments of a curve: more than a wide screen has dots."""


def review_progress(session: Session) -> ReviewProgress:
    """Where the decisions of the review of this store are kept."""
    return ReviewProgress(review_file(session.info.uri if session.info else ""))


def case_book(session: Session) -> CaseBook:
    """The saved questions of this store."""
    return CaseBook(cases_file(session.info.uri if session.info else ""))


class LifecycleQuestions(BoundPart[LifecycleState]):
    """Asks what a change of the state has made unknown, each kind of question in a slot of its own."""

    BESIDE = frozenset(("history", "findings", "effect", "cases"))
    OF_ROW = frozenset(("life", "memory"))

    def __init__(self) -> None:
        super().__init__()
        self._fresh = True
        """Whether what depends on the store alone has to be asked with the next board."""
        self._cases_of: object = None
        """What the cases were asked for: horizon, scenario and settings."""

    def everything(self) -> None:
        """The store is new, or was read anew."""
        self._fresh, self._cases_of = True, None
        self._board()
        if self.state.reviewing:
            self._review()

    def watch_state(self, old: LifecycleState | None, new: LifecycleState | None) -> None:
        """Ask what has become unknown."""
        if old is None or new is None or self.session.engine is None:
            return
        if old.ask != new.ask:
            self._board()
            if old.ask.scopes != new.ask.scopes:
                self._history()
        if new.board is not None and (
            old.selected != new.selected or old.board is not new.board or old.measure != new.measure
        ):
            self._life()
        if new.board is not None and old.board is not new.board:
            self._after_board(new.board)
        if new.reviewing and new.review is None and not self.runner.busy("review"):
            self._review()
        if new.card and old.card != new.card:
            self._memory(new.card)

    def _after_board(self, board: Board) -> None:
        if self._fresh:
            self._fresh = False
            self._history()
            self._findings()
        ask = board.ask
        wanted = (ask.horizon_days, ask.scenario, tuple(sorted(ask.changes.items())))
        if wanted != self._cases_of:
            self._cases_of = wanted
            self._cases()

    # what is answered

    def _have_board(self, settings: LifecycleSettings, board: Board) -> None:
        self.become(lambda state: reduce.answer(replace(state, settings=settings), board))

    def _no_board(self, error: MemtuiError) -> None:
        self.become(lambda state: replace(state, error=error))
        if self.state.board is not None:
            self.call_failed(error)

    def _have_life(self, life: MemoryLife) -> None:
        self.become(lambda state: replace(state, life=life) if life.id == state.selected else state)

    def _have_cases(self, count: int, losses: Any) -> None:
        self.become(lambda state: replace(state, cases=count, losses=losses))

    def _have_review(self, review: Review) -> None:
        def change(state: LifecycleState) -> LifecycleState:
            there = any(card.id == state.card for card in review.cards)
            card = state.card if there else review.cards[0].id if review.cards else ""
            return replace(state, review=review, card=card)

        self.become(change)

    def _have_memories(self, found: Mapping[str, Memory]) -> None:
        def change(state: LifecycleState) -> LifecycleState:
            others = tuple(memory for name, memory in found.items() if name != state.card)
            return replace(state, memory=found.get(state.card), others=others)

        self.become(change)

    def _have_history(self, history: Any) -> None:
        self.become(lambda state: replace(state, history=history))

    def _have_effect(self, effect: Any) -> None:
        self.become(lambda state: replace(state, effect=effect))

    def _have_findings(self, findings: Any) -> None:
        self.become(lambda state: replace(state, findings=findings))
        self._board()  # what is pinned is known only now

    # the calls

    @property
    def _engine(self) -> Engine:
        engine = self.session.engine
        assert engine is not None
        return engine

    def _board(self) -> None:
        engine, ask = self._engine, self.state.ask

        def work(cancel: CancelToken, report: Report) -> Any:
            settings = lifecycle.own_settings(engine)
            return settings, lifecycle.make_board(engine, ask, settings, cancel=cancel)

        self.call("board", work, lambda found: self._have_board(*found), failed=self._no_board)

    def _life(self) -> None:
        engine, state = self._engine, self.state

        def work(cancel: CancelToken, report: Report) -> Any:
            return lifecycle.follow_memory(
                engine,
                state.selected,
                state.ask,
                measure=state.measure,
                points=POINTS,
                settings=state.settings,
            )

        self.call("life", work, self._have_life)

    def _history(self) -> None:
        engine, scopes = self._engine, self.state.ask.scopes
        self.call(
            "history", lambda cancel, report: lifecycle.store_history(engine, scopes), self._have_history
        )

    def _findings(self) -> None:
        engine = self._engine
        self.call(
            "findings",
            lambda cancel, report: lifecycle.lifecycle_findings(engine, cancel=cancel),
            self._have_findings,
        )

    def _review(self) -> None:
        engine, progress = self._engine, review_progress(self.session)
        self.call(
            "review",
            lambda cancel, report: lifecycle.review(engine, progress, limit=200, cancel=cancel),
            self._have_review,
        )

    def _memory(self, memory: str) -> None:
        """The memory of the card, and those that its reasons speak of."""
        engine, review = self.session.engine, self.state.review
        assert engine is not None
        card = next((card for card in (review.cards if review else ()) if card.id == memory), None)
        ids = dict.fromkeys(
            [memory, *(reason.other for reason in (card.reasons if card else ()) if reason.other)]
        )
        self.call("memory", lambda cancel, report: engine.memories(list(ids)), self._have_memories)

    def _cases(self) -> None:
        """What becomes of the saved questions: their measures now, then whose answers get lost, and when."""
        engine, book, state = self._engine, case_book(self.session), self.state
        board, base = state.board, state.base
        if board is None:
            return
        own = base.settings if base is not None else board.settings
        self.become(lambda now: replace(now, effect=None))

        def effect(cancel: CancelToken, report: Report) -> Any:
            cases = book.cases()
            if not cases:
                return None
            before = lifecycle.case_effect(engine, cases, own, cancel=cancel)
            same = board.settings.values == own.values
            return before, before if same else lifecycle.case_effect(
                engine, cases, board.settings, cancel=cancel
            )

        def losses(cancel: CancelToken, report: Report) -> Any:
            cases, ask = book.cases(), board.ask
            if not cases:
                return 0, ()
            found = lifecycle.case_losses(
                engine,
                cases,
                days=ask.horizon_days,
                scenario=ask.scenario,
                settings=board.settings if ask.changes else None,
                cancel=cancel,
            )
            return len(cases), found

        self.call("effect", effect, self._have_effect)
        self.call("cases", losses, lambda found: self._have_cases(*found))
