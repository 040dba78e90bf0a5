"""What Health asks of the engine about findings and indexes, each one call for a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine


def examined(engine: Engine, deep: bool, cancel: CancelToken, report: Any) -> Any:
    """Every check of the passes that are asked for; for a worker."""
    from memtui.engine.health import (
        examine,
        patient_of,
    )

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
    from memtui.engine import CaseBook, History
    from memtui.engine.health import (
        own_vectors,
    )
    from memtui.paths import questions_file, store_state_dir

    cases = CaseBook(store_state_dir(engine.info.uri) / "cases.json").cases()
    return own_vectors(engine, cases, History(questions_file()))


def read_indexes(engine: Engine, cancel: CancelToken) -> Any:
    """Each index with its verdict, and the advice for a table of this size; for a worker."""
    from memtui.engine.health import (
        advice,
        patient_of,
        report_indexes,
    )

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    assert patient.facts is not None
    own = engine.store.dialect.can.own_store
    asked = own_questions(engine) if any(each.is_vector for each in patient.facts.indexes) else None
    return report_indexes(engine.store, patient.facts, cancel, questions=asked), advice(
        patient.facts.rows, own=own
    )


def plan_safe(engine: Engine, found: Any, cancel: CancelToken) -> tuple[Any, ...]:
    """The remedies of everything that may be mended beside the agent, planned and not written; for a worker."""
    from memtui.engine.health import patient_of, plan_remedy

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    safe = [each for each in found.findings if each.check.how == "safe" and each.check.safe]
    return tuple(plan for each in safe if (plan := plan_remedy(patient, each)).writes)
