"""What the Cases screen knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from memtui.engine.cases import (
    DEFAULT_K,
    CaseSetup,
)

if TYPE_CHECKING:
    from memtui.engine import Memory, MemtuiError, Progress
    from memtui.engine.capture import CaptureCase, CaseResult, CaseTrial
    from memtui.engine.cases import (
        Case,
        CaseAnswer,
        CaseReport,
        TuningResult,
    )


Shown = Literal["measures", "case"]

Work = Literal["", "reading", "running", "tuning"]


@dataclass(frozen=True, slots=True)
class Named:
    """A setup and what it is called on the screen."""

    title: str
    setup: CaseSetup


@dataclass(frozen=True, slots=True)
class Book:
    """The cases as they are saved, with the memories that they name and that are still there."""

    cases: tuple[Case, ...] = ()
    talks: tuple[CaptureCase, ...] = ()
    """Conversations, each with the memories that it should leave."""
    memories: Mapping[str, Memory] = field(default_factory=dict)
    demo: bool = False
    """Whether the store is the demo store, which has questions of its own."""


@dataclass(frozen=True, slots=True)
class CasesState:
    """`report` may be older than the cases and the setups; `stale` says so."""

    a: Named
    b: Named | None = None
    k: int = DEFAULT_K
    work: Work = "reading"
    progress: Progress | None = None
    waits: str = ""
    """What the case that is asked has to fetch first, where that takes long."""
    book: Book | None = None
    error: MemtuiError | None = None
    report: CaseReport | None = None
    ran: tuple[Named, Named | None, int] | None = None
    """What `report` answers."""
    tuning: TuningResult | None = None
    selected: str = ""
    shown: Shown = "measures"
    trials: Mapping[str, CaseTrial] = field(default_factory=dict)
    """How the conversations came out, as they are and under B's settings, by the id of their case."""
    removed: Case | CaptureCase | None = None

    @property
    def stale(self) -> bool:
        """Whether the report is about other setups than those that are chosen."""
        return self.ran is not None and self.ran != (self.a, self.b, self.k)

    @property
    def case(self) -> Case | None:
        """The case under the cursor."""
        cases = self.book.cases if self.book is not None else ()
        return next((case for case in cases if case.id == self.selected), None)

    @property
    def talk(self) -> CaptureCase | None:
        """The conversation under the cursor."""
        talks = self.book.talks if self.book is not None else ()
        return next((talk for talk in talks if talk.id == self.selected), None)

    @property
    def empty(self) -> bool:
        """Whether nothing was saved."""
        return self.book is None or not (self.book.cases or self.book.talks)


def read(state: CasesState, book: Book) -> CasesState:
    """The cases are there; one that has come is looked at."""
    ids = _ids(book)
    before = set(ids if state.book is None else _ids(state.book))
    come = [id for id in ids if id not in before]
    selected = state.selected if state.selected in ids else (ids[-1] if ids else "")
    if len(come) == 1:
        selected = come[0]
    return replace(state, book=book, work="", error=None, selected=selected)


def _ids(book: Book) -> list[str]:
    return [*(case.id for case in book.cases), *(talk.id for talk in book.talks)]


def fail(state: CasesState, error: MemtuiError) -> CasesState:
    """The cases cannot be read."""
    return replace(state, work="", error=error, progress=None, waits="")


def start(state: CasesState, work: Work) -> CasesState:
    """Something that takes a while begins."""
    return replace(state, work=work, progress=None, waits="")


def stop(state: CasesState) -> CasesState:
    """The state after a run that ended without a result."""
    return replace(state, work="", progress=None, waits="")


def finish(state: CasesState, report: CaseReport | None, trials: Mapping[str, CaseTrial]) -> CasesState:
    """Every case was asked, and every conversation captured."""
    ran = (state.a, state.b, state.k)
    return replace(
        state, work="", progress=None, waits="", report=report, trials=trials, ran=ran, shown="measures"
    )


def tuned(state: CasesState, tuning: TuningResult) -> CasesState:
    """The search for settings ended."""
    return replace(state, work="", progress=None, waits="", tuning=tuning, shown="measures")


def select(state: CasesState, id: str) -> CasesState:
    """Another case is looked at."""
    return replace(state, selected=id)


def turn(state: CasesState) -> CasesState:
    """The other lower panel."""
    return replace(state, shown="case" if state.shown == "measures" else "measures")


def answers(state: CasesState, case: Case) -> tuple[CaseAnswer | None, CaseAnswer | None]:
    """What A and B gave for a case, if it was asked."""
    report = state.report
    reports = (report, report.other if report is not None else None)
    found = [
        next((answer for answer in r.answers if answer.case.id == case.id), None) if r is not None else None
        for r in reports
    ]
    return found[0], found[1]


def results(state: CasesState, talk: CaptureCase) -> tuple[CaseResult | None, CaseResult | None]:
    """What a conversation left as it is, and under B's settings, if it was captured."""
    trial = state.trials.get(talk.id)
    if trial is None:
        return None, None
    return trial.now, trial.then if state.b is not None else None


def missing(state: CasesState, case: Case) -> tuple[str, ...]:
    """The memories that a case names and that are gone from the store."""
    known = state.book.memories if state.book is not None else {}
    return tuple(id for id in (*case.expected, *case.rejected) if id not in known)
