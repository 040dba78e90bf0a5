"""What Health asks of the engine about findings and indexes, each one call for a worker."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memtui.engine import CancelToken, Engine
    from memtui.engine.changes import RecallEffect
    from memtui.engine.health import TableStep


def examined(engine: Engine, deep: bool, cancel: CancelToken, report: Any) -> Any:
    """Every check of the passes that are asked for; for a worker."""
    from memtui.engine.health import examine, patient_of

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
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.engine.health import own_vectors
    from memtui.paths import cases_file, questions_file

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    return own_vectors(engine, cases, History(questions_file()))


def read_indexes(engine: Engine, cancel: CancelToken) -> Any:
    """Each index with its verdict, and the advice for a table of this size; for a worker."""
    from memtui.engine.health import advice, patient_of, report_indexes

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    assert patient.facts is not None
    own = engine.store.dialect.can.own_store
    asked = own_questions(engine) if any(index.is_vector for index in patient.facts.indexes) else None
    return report_indexes(engine.store, patient.facts, cancel, questions=asked), advice(
        patient.facts.rows, own=own
    )


def plan_safe(engine: Engine, found: Any, cancel: CancelToken) -> tuple[Any, ...]:
    """The remedies of everything that may be mended beside the agent, planned and not written; for a worker."""
    from memtui.engine.health import patient_of

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    with engine.sending_nothing():
        return _planned_safe(patient, found)


def _planned_safe(patient: Any, found: Any) -> tuple[Any, ...]:
    from memtui.engine.health import plan_remedy

    safe = [finding for finding in found.findings if finding.check.how == "safe" and finding.check.safe]
    plans = (plan_remedy(patient, each) for each in safe)
    return tuple(plan for plan in plans if plan.writes and not plan.names)


def weigh(
    engine: Engine,
    plans: Sequence[Any],
    steps: Sequence[TableStep],
    cancel: CancelToken,
    report: Any,
    *,
    send: bool = False,
) -> RecallEffect:
    """What the agent would read once the plans and steps are done, tried on a copy; for a worker.

    Texts and questions go to a service only with `send`; else what would be sent stands in place of the answers.
    """
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.engine.health import effect_of_remedies
    from memtui.paths import cases_file, questions_file

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    with nullcontext() if send else engine.sending_nothing():
        if send:
            plans = _with_vectors(engine, plans)
        return effect_of_remedies(
            engine,
            plans,
            cases,
            History(questions_file()),
            steps=steps,
            own_words=True,
            on_progress=report,
            cancel=cancel,
        )


def mend(engine: Engine, plans: Sequence[Any], ask: bool) -> str:
    """Carry the plans out; with `ask` the cases and last questions before and after. What to say; for a worker."""
    from memtui.engine.health import answers_in_words, carry_out_remedies

    plans = _with_vectors(engine, plans)
    if refused := next((plan.refusal for plan in plans if plan.refusal), ""):
        raise MemtuiError(refused, fix="Nothing was changed.")
    done = carry_out_remedies(engine, plans, confirmed=True, ask=before_and_after(engine) if ask else None)
    entries = ", ".join(str(each["entry"]) for each in done if each["entry"] is not None)
    answers = [each["receipt"]["answers"] for each in done if "receipt" in each]
    said = f"{len(plans)} fixed; see the Journal, entry {entries}"
    return "; ".join([said, *(answers_in_words(answer) for answer in answers if answer is not None)])


def _with_vectors(engine: Engine, plans: Sequence[Any]) -> list[Any]:
    """The plans, those anew whose vectors were not made for a look at them: this sends."""
    from memtui.engine.health import patient_of, plan_remedy

    patient = patient_of(engine, now_ms=engine.now_ms)
    return [
        plan_remedy(patient, plan.finding) if plan.changes is not None and plan.changes.unsent else plan
        for plan in plans
    ]


def maintain_index(engine: Engine, steps: tuple[TableStep, ...], ask: bool) -> str:
    """Do what an index needs, with its receipt; what to say of it; for a worker."""
    from memtui.engine.health import maintain

    asked = before_and_after(engine) if ask else None
    receipt = maintain(engine.store, engine.write_state.applier, steps, confirmed=True, ask=asked)
    engine.refresh()
    said = (
        f"{'; '.join(step.title for step in steps)}: done; the Journal has the receipt, entry {receipt.entry}"
    )
    return f"{said}; {receipt.sentence}" if receipt.sentence else said


def before_and_after(engine: Engine) -> Callable[[int], Mapping[str, Any]]:
    """What is asked before and after a maintenance: the saved cases and the questions asked last."""
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.engine.health import asking
    from memtui.paths import cases_file, questions_file

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    return asking(engine, cases, History(questions_file()))
