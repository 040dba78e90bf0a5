"""Judging what came back: right, wrong, expected, nothing expected; each a saved case of the question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

from memtui.engine import CancelToken, counted, explain
from memtui.engine.cases import CaseBook
from memtui.paths import cases_file, questions_file
from memtui.tui.bound_panel import BoundPart
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.host import host
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.widgets.dropped_list import DroppedList

if TYPE_CHECKING:
    from memtui.engine import RecallRequest, Trace
    from memtui.engine.cases import Case, CaseSetup, Verdict


GRADES = ("it does not belong", "it touches the question", "it helps", "it answers the question")
"""What the grades of a memory mean, 0 first."""

ChangeRequest = tuple[str, "RecallRequest"]
"""A title, and a request of which the question does not matter."""

Change = Callable[["Case"], "tuple[Case, str]"]

KNOWN, JUDGED, KEPT = "case-known", "case-judged", "question-kept"
"""Slots: the case of the question was looked up; it was changed; the question went into the history."""


class Marking(BoundPart[RecallState]):
    """Keeps the case of the question that is shown, and changes it."""

    BESIDE = frozenset((KEPT,))

    @dataclass
    class Judged(Message):
        """The case of the question is another one: which memories are expected, and which rejected."""

        verdicts: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.case: Case | None = None

    def book(self) -> CaseBook:
        """The cases of this store."""
        info = self.session.info
        return CaseBook(cases_file(info.uri if info is not None else ""))

    # ------------------------------------------------------------------ around an answer

    def answered(self, trace: Trace) -> None:
        """A question was answered: look up its case, and keep the question."""
        engine = self.session.engine
        self._take(None)
        if engine is None:
            return
        book = self.book()
        self.call(KNOWN, lambda cancel, report: found(book, trace), self._take)

        def keep(cancel: CancelToken, report: Report) -> int:
            from memtui.engine.explain import History

            return explain.remember(engine, trace, History(questions_file()))

        self.call(KEPT, keep, lambda number: None)

    def _judged(self, case: Case | None, said: str) -> None:
        self._take(case)
        self.flash(said)

    def _take(self, case: Case | None) -> None:
        self.case = case
        verdicts = dict.fromkeys(case.rejected, "rejected") if case is not None else {}
        if case is not None:
            verdicts |= dict.fromkeys(case.expected, "expected")
            verdicts |= {id: str(grade) for id, grade in case.grades}
        self.post_message(self.Judged(verdicts))

    # ------------------------------------------------------------------ the cases

    def open_cases(self) -> None:
        """The cases of this store, asked as the present question is asked."""
        form = self.state.form
        request = form.request()
        title = form.recipe + (", changed" if request.config else "")
        self.cases_of((title, replace(request, recipe=form.recipe)), None)

    def cases_of(self, a: ChangeRequest, b: ChangeRequest | None) -> None:
        """The cases of this store, asked in one way or in two."""
        from memtui.tui.screens.cases.screen import CasesScreen
        from memtui.tui.screens.cases.state import Named

        if self.session.engine is None:
            self.flash("The store is not open yet.", "note")
            return
        one, other = (
            None if each is None else Named(each[0], _setup(name, each[1]))
            for name, each in (("A", a), ("B", b))
        )
        assert one is not None  # A is always given
        self.app.push_screen(CasesScreen(self.book(), one, other, self.ask))

    def ask(self, case: Case) -> None:
        """Ask the question of a case, under its filters; whatever was opened over the screen goes."""
        while self.app.screen is not self.screen:
            self.app.pop_screen()
        self.become(
            lambda state: reduce.edit(
                state,
                query=case.query,
                scopes=case.scopes,
                agent=case.agent,
                everyone=case.everyone,
                category=case.category,
            ),
            ask=True,
        )

    # ------------------------------------------------------------------ judging

    def judge(self, verdict: Verdict) -> None:
        """Mark the selected memory; the same mark again takes it away."""
        selected = self.state.selected
        if selected:
            self._judge(selected, verdict)

    def grade(self, by: int) -> None:
        """Raise or lower the grade of the selected memory; without one it gets the best, or 0; below 0 it has none."""
        selected = self.state.selected
        if not selected:
            return

        def change(case: Case) -> tuple[Case, str]:
            now = case.grade(selected)
            if now == 0 and by < 0:
                return case.without(selected), "mark taken away"
            grade = max(
                0, min(len(GRADES) - 1, (0 if by < 0 else len(GRADES) - 1) if now is None else now + by)
            )
            return case.graded(selected, grade), f"grade {grade} of {len(GRADES) - 1}: {GRADES[grade]}"

        self._change(change, unmarks=True)

    def expect(self) -> None:
        """The dropped memory under the cursor should have come back; else one that the person picks."""
        engine = self.session.engine
        dropped = self.screen.query_one(DroppedList)
        if dropped.has_focus and dropped.key:
            self._judge(dropped.key, "expected")
        elif engine is not None:

            def taken(id: str | None) -> None:
                if id is not None:
                    self._judge(id, "expected")

            self.app.push_screen(MemoryPick(engine, "Which memory is expected?"), taken)

    def corrected(self, right: str, wrong: str) -> None:
        """The right memory is expected from now on, and the wrong one rejected."""

        def change(case: Case) -> tuple[Case, str]:
            return case.marked(right, "right").marked(wrong, "wrong"), "saved as a case; asked again"

        self._change(change)

    def expect_nothing(self) -> None:
        """Nothing should come back for this question."""

        def change(case: Case) -> tuple[Case, str]:
            return replace(case, expected=(), rejected=(), grades=()), "case saved: no result is expected"

        self._change(change)

    def _judge(self, id: str, verdict: Verdict) -> None:
        def change(case: Case) -> tuple[Case, str]:
            now = case.verdict(id)
            if now == ("rejected" if verdict == "wrong" else "expected"):
                return case.without(id), "mark taken away"
            marked = case.marked(id, verdict)
            counts = [counted(len(marked.expected), "memory", "memories") + " expected"]
            if marked.rejected:
                counts.append(f"{len(marked.rejected)} wrong")
            return marked, f"marked {verdict}; the case has {', '.join(counts)}"

        self._change(change, unmarks=True)

    def _change(self, change: Change, *, unmarks: bool = False) -> None:
        """Change the case; one of which the last mark was taken away goes."""
        trace = self.state.trace
        if trace is None or trace.request is None:
            return
        book, now_ms = self.book(), host(self).now_ms()

        def work(cancel: CancelToken, report: Report) -> tuple[Case | None, str]:
            before = found(book, trace)
            case, said = change(before or fresh(trace, now_ms))
            if before is not None and not before.silent and case.silent and unmarks:
                book.remove(case.id)
                return None, f"{said}; no case of this question is left"
            book.put(case)
            return case, said

        self.call(JUDGED, work, lambda changed: self._judged(*changed))


def _setup(name: str, request: RecallRequest) -> CaseSetup:
    """The way a request asks, without its question and filters."""
    from memtui.engine.cases import CaseSetup

    return CaseSetup(
        name, request.recipe, request.config, request.source, request.now_ms, request.table_version
    )


def found(book: CaseBook, trace: Trace) -> Case | None:
    """The case of the question that `trace` answers."""
    request = trace.request
    if request is None:
        return None
    who = trace.asker
    named, everyone = (who.named, who.sees_all) if who is not None else (None, False)
    return book.find(request.query, named, request.category, request.agent, everyone)


def fresh(trace: Trace, now_ms: int) -> Case:
    """A case of the question, nothing judged yet; a vector that was given with the question stays with it."""
    from memtui.engine.cases import new_case

    request = trace.request
    assert request is not None  # asked by the caller
    vector, who = request.query_vector, trace.asker
    return new_case(
        request.query,
        now_ms=now_ms,
        scopes=who.named if who is not None else None,
        category=request.category,
        agent=request.agent,
        query_vector=None if vector is None else tuple(float(x) for x in vector),
        everyone=who is not None and who.sees_all,
    )
