"""What mends a finding: a change set where rows change, steps of maintenance where the table does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine import transfer
from memtui.engine.changes.commit import apply
from memtui.engine.changes.plan import plan_reinstate
from memtui.engine.changes.purge_history import plan_past
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.core.text import counted
from memtui.engine.explain import asked_last, by_own_words
from memtui.engine.health.check import HealthFinding, memories
from memtui.engine.health.maintenance import TableStep
from memtui.engine.store.maintenance import TableMaintainer
from memtui.engine.store.sql import SENTINEL

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.changes.recall_effect import EffectQuestion, RecallEffect
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.engine import Engine
    from memtui.engine.explain.question_history import History
    from memtui.engine.health.check import Check, Patient, Seen
    from memtui.engine.store.table import Store


@dataclass(frozen=True, slots=True)
class RemedyPlan:
    """How one finding would be mended; exactly one of `changes`, `steps` and `refusal` says something."""

    finding: HealthFinding
    changes: ChangeSet | None = None
    steps: tuple[TableStep, ...] = ()
    refusal: str = ""
    """Why memtui does not do it by itself."""
    names: tuple[TableStep, ...] = ()
    """Names in the table that hold the versions to be pruned: the steps that remove them, where a person agrees."""

    @property
    def held(self) -> str:
        """What stands in the way, in words; empty where nothing does."""
        return ", ".join(name.about for name in self.names)

    def without_names(self) -> RemedyPlan:
        """The same with the names taken away first."""
        return replace(self, steps=(*self.names, *self.steps), names=())

    @property
    def writes(self) -> bool:
        """Whether there is something to do."""
        return bool(self.steps) or (self.changes is not None and bool(self.changes.changes))

    def as_json(self) -> dict[str, Any]:
        """The plan in `memtui doctor --fix ... --json`."""
        planned = {} if self.changes is None else {"changes": self.changes.as_json()}
        return {
            "kind": self.finding.kind,
            "count": self.finding.seen.count,
            "steps": [step.title for step in self.steps],
            **({"held_by": [name.about for name in self.names]} if self.names else {}),
            **planned,
            "refused": self.refusal or None,
        }


def plan_remedy(patient: Patient, finding: HealthFinding) -> RemedyPlan:
    """Plan what would be written to fix a finding; nothing is. A remedy that a person must carry out says so."""
    engine = patient.engine
    if engine is None:
        return RemedyPlan(finding, refusal=finding.remedy)
    plan = _PLANS.get(finding.kind)
    if plan is None:
        return RemedyPlan(finding, refusal=f"by hand: {finding.remedy}")
    if never := engine.write_state.never_because:
        return RemedyPlan(finding, refusal=f"{never} By hand: {finding.remedy}")
    try:
        found = plan(patient, finding)
    except (RefusedError, UsageError, MemtuiError) as error:
        return RemedyPlan(finding, refusal=str(error))
    if isinstance(found, tuple):
        held = engine.store.writer() if _PRUNE in found else None
        names = () if held is None else TableMaintainer(held).held_back()
        return RemedyPlan(finding, steps=found, names=tuple(TableStep("drop-name", name) for name in names))
    if not found.changes:
        return RemedyPlan(finding, refusal=f"by hand: {finding.remedy}")
    return RemedyPlan(finding, changes=found)


def refused_here(patient: Patient, check: Check, seen: Seen) -> str:
    """What a person has to do first, or instead, where the remedy would be refused; empty where it is not.

    Asked before a remedy is offered: nothing is planned, embedded or sent.
    """
    needed = _NEEDED.get(check.kind)
    if needed is None or patient.engine is None:
        return ""
    try:
        needed(patient, HealthFinding(check, seen))
    except MemtuiError as error:
        said = error.fix or error.message
        return f"{said[:1].lower()}{said[1:]}".rstrip(".")
    return ""


def _again(patient: Patient, finding: HealthFinding) -> ChangeSet:
    """The texts of these memories embedded again by the store's own model."""
    from memtui.engine.health.reembed import plan_again

    assert patient.engine is not None
    return plan_again(patient.engine, _embeddable(patient, finding), finding.kind)


def _embeddable(patient: Patient, finding: HealthFinding) -> list[str]:
    """The memories that a model can embed. Raises MemtuiError where there is no model, or nothing to embed."""
    from memtui.engine.health.reembed import has_text, must_embed

    assert patient.engine is not None
    ids = [memory_id for memory_id in finding.seen.ids if memory_id != SENTINEL]
    if not ids:
        raise RefusedError(
            "The row is its program's own, no memory.", fix="Remove that row with the agent stopped."
        )
    try:
        must_embed(patient.engine)
    except MemtuiError as error:
        first = error.fix.rstrip(".")
        raise RefusedError(error.message, fix=f"{first}, then {finding.check.remedy}.") from error
    if not has_text(patient.engine, ids):
        raise RefusedError("These memories hold no text.", fix="Write their texts, or forget them.")
    return ids


def _scaled(patient: Patient, finding: HealthFinding) -> ChangeSet:
    from memtui.engine.health.reembed import plan_scaled

    assert patient.engine is not None
    return plan_scaled(patient.engine, finding.seen.ids)


SHARED = "global"
"""The scope that a memory without one is moved to."""


def _repair(kind: str) -> Callable[[Patient, HealthFinding], ChangeSet]:
    def plan(patient: Patient, finding: HealthFinding) -> ChangeSet:
        assert patient.engine is not None
        planned = transfer.plan_repair(patient.engine, [kind])
        wanted = set(finding.seen.ids)
        chosen = tuple(change for change in planned.changes if change.id in wanted)
        left = len(wanted) - len({change.id for change in chosen})
        notes = planned.warnings
        shared = sum(
            change.after.get("scope") == SHARED and change.before.get("scope") != SHARED for change in chosen
        )
        if shared:
            go = "memory goes" if shared == 1 else "memories go"
            notes = (
                *notes,
                f"{shared:,} {go} to {SHARED}, which every agent reads: edit those that are one agent's own.",
            )
        if left:
            needs = counted(left, "memory needs", "memories need")
            notes = (
                *notes,
                f"{needs} a value that memtui cannot derive and {'is' if left == 1 else 'are'} left out.",
            )
        return replace(
            planned, changes=chosen, title=f"{memories(len(chosen))}: {finding.check.title}", warnings=notes
        )

    return plan


def _relink(patient: Patient, finding: HealthFinding) -> ChangeSet:
    """Replaced memories without a living winner count again."""
    assert patient.engine is not None
    return plan_reinstate(patient.engine, _hidden(patient, finding))


def _hidden(patient: Patient, finding: HealthFinding) -> list[str]:
    """Replaced memories without a living winner. Raises RefusedError where there are none."""
    light = patient.light
    there = patient.catalog
    found = set(finding.seen.ids)
    hidden = [
        each
        for each, by in light.superseded_by.items()
        if there.find(each).size
        and (
            (by in light.archived and by not in light.superseded_by)
            or not there.find(by).size
            or {each, by} <= found
        )
    ]
    if not hidden:
        raise RefusedError(
            "These memories name replaced ones that are gone: nothing is hidden by that.",
            fix="Ignore them: they name replaced memories that no longer exist, which hides nothing.",
        )
    return hidden


def _steps(*steps: TableStep) -> Callable[[Patient, HealthFinding], tuple[TableStep, ...]]:
    return lambda patient, finding: steps


def _drop_vector_index(patient: Patient, finding: HealthFinding) -> tuple[TableStep, ...]:
    return (TableStep("drop-index", str(finding.seen.detail["index"])),)


def _drop_names(patient: Patient, finding: HealthFinding) -> tuple[TableStep, ...]:
    return tuple(TableStep("drop-name", name) for name in finding.seen.detail["tags"])


_FOLD, _PRUNE, _WORDS = TableStep("fold"), TableStep("prune"), TableStep("index-text")


def _fold_and_prune(patient: Patient, finding: HealthFinding) -> tuple[TableStep, ...]:
    """Only what does something: a table of one file is not folded, and the versions of seven days stay."""
    from memtui.engine.health.checks.storage import too_young

    assert patient.store is not None
    facts, table = patient.facts, TableMaintainer(patient.store.writer())
    if not table.old_enough():  # a fold alone adds a version, and takes none away
        oldest = table.oldest()
        since = patient.now_ms / 1000 if oldest is None else oldest.timestamp()
        raise RefusedError("Every version is younger than 7 days.", fix=_sentence(too_young(since)))
    return (*((_FOLD,) if facts is not None and facts.small_fragments > 1 else ()), _PRUNE)


def _past(patient: Patient, finding: HealthFinding) -> ChangeSet:
    """The older versions go, and what the journal holds of these memories."""
    assert patient.engine is not None
    return plan_past(patient.engine, finding.seen.ids)


def _go_back(patient: Patient, finding: HealthFinding) -> tuple[TableStep, ...]:
    """The newest version without the files that are gone; its words indexed again where they were not then."""
    from memtui.engine.store.table_facts import has_text_index

    store = patient.store
    assert store is not None
    gone = [path.rpartition("/")[2] for path in finding.seen.files]
    version = None if patient.files is None else patient.files.newest_without(gone)
    if version is None:
        raise RefusedError(
            "No version that is left can do without these files.", fix="Bring them back from a backup."
        )
    words = has_text_index(store.pin()) and not has_text_index(store.pin(version))
    return (TableStep("restore", str(version)), *((_WORDS,) if words else ()))


def _without_envelopes(patient: Patient, finding: HealthFinding) -> ChangeSet:
    from memtui.engine.health.envelopes import plan_without_envelopes

    assert patient.engine is not None
    return plan_without_envelopes(patient.engine, finding.seen.ids)


def _some_envelope_clears(patient: Patient, finding: HealthFinding) -> None:
    from memtui.engine.health.envelopes import must_clear

    assert patient.engine is not None
    must_clear(patient.engine, finding.seen.ids)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _leftovers(patient: Patient, finding: HealthFinding) -> tuple[TableStep, ...]:
    if finding.seen.remedy:
        raise RefusedError(_sentence(finding.seen.sentence), fix=_sentence(finding.seen.remedy))
    return (_PRUNE,)


_PLANS: Mapping[str, Callable[[Patient, HealthFinding], ChangeSet | tuple[TableStep, ...]]] = {
    "D1": _steps(_FOLD),
    "D2": _fold_and_prune,
    "D3": _steps(TableStep("unmask"), _FOLD),
    "D4": _steps(_FOLD),
    "D5": _steps(_WORDS),
    "D6": _steps(_WORDS),
    "D7": _steps(_WORDS),
    "D8": _steps(_WORDS),
    "D9": _steps(_WORDS),
    "D10": _steps(TableStep("index-ids")),
    "D11": _drop_vector_index,
    "D12": _again,
    "D13": _again,
    "D14": _again,
    "D15": _scaled,
    "D16": _again,
    "D17": _again,
    "D19": _again,
    "D20": _again,
    "D23": _repair("scopes"),
    "D24": _repair("times"),
    "D26": _repair("metadata"),
    "D27": _relink,
    "D28": _past,
    "D30": _leftovers,
    "D32": _drop_names,
    "D36": _go_back,
    "D60": _without_envelopes,
}

_NEEDED: Mapping[str, Callable[[Patient, HealthFinding], object]] = {
    "D2": _fold_and_prune,
    **dict.fromkeys(("D12", "D13", "D14", "D16", "D17", "D19", "D20"), _embeddable),
    "D27": _hidden,
    "D30": _leftovers,
    "D36": _go_back,
    "D60": _some_envelope_clears,
}
"""What a remedy needs of the store before it can be planned; each raises MemtuiError where that is not there."""


def asking(
    engine: Engine, cases: Sequence[Case], history: History, on_progress: OnProgress | None = None
) -> Callable[[int], Mapping[str, Any]]:
    """What `maintain` asks before and after: the saved cases, and the questions that were asked last."""
    from memtui.engine.changes.recall_effect import maintenance_effect, of_cases

    questions = [*of_cases(cases), *asked_last(engine, history)]
    recipe = engine.default_recipe
    return lambda version: maintenance_effect(
        version, questions, engine.recall_context(), recipe, on_progress=on_progress
    ).as_json()


MOST_FOLDED = 50_000
"""Rows up to which a table is written anew for a trial."""

_READS_THE_SAME = ("prune", "drop-name", "unmask")
"""Steps after which every row and every index is what it was."""


def effect_of_remedies(
    engine: Engine,
    plans: Sequence[RemedyPlan],
    cases: Sequence[Case],
    history: History,
    *,
    steps: Sequence[TableStep] = (),
    own_words: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> RecallEffect:
    """What the plans do to the answers, and `steps` beside them: all are done to a trial copy of the table first.

    Asked are the saved cases and the questions that were asked last; with `own_words`, where there are neither or no
    answer is another one, also the first changed memories' own words. Nothing of the store is written. Raises
    RefusedError where that cannot be tried: a store elsewhere, a table too large to be written anew for it.
    """
    from memtui.engine.changes.recall_effect import RecallEffect, of_cases, trial_effect, write_trial

    unsent = [plan.changes.unsent for plan in plans if plan.changes is not None and plan.changes.unsent]
    if unsent:
        return RecallEffect(0, (), 0, {}, not_known="; ".join(unsent))
    store = engine.store
    steps = (*steps_of(plans), *steps)
    back_to = next((int(step.about) for step in steps if step.step == "restore"), None)
    work = [step for step in steps if step.step not in ("restore", *_READS_THE_SAME)]
    if any(step.step == "fold" for step in work) and store.count() > MOST_FOLDED:
        raise RefusedError(
            f"A table of more than {MOST_FOLDED:,} rows is not rewritten to try this.",
            fix="The answers are compared after it, if you ask for that.",
        )

    def change(trial: Store) -> None:
        for plan in plans:
            if plan.changes is not None and plan.changes.changes:
                write_trial(plan.changes, trial)
        if work:
            table = TableMaintainer(trial.writer())
            for step in work:
                table.do(step.step, step.about)

    def by_their_words() -> list[EffectQuestion]:
        sets = [plan.changes for plan in plans if plan.changes is not None]
        return by_own_words(engine, [change for change_set in sets for change in change_set.changes])

    questions = [*of_cases(cases), *asked_last(engine, history)]
    own = own_words and not questions
    effect = trial_effect(
        change,
        by_their_words() if own else questions,
        store,
        engine.recall_context(),
        engine.default_recipe,
        version=store.version,
        back_to=back_to,
        beside=by_their_words if own_words and not own else None,
        on_progress=on_progress,
        cancel=cancel,
    )
    return replace(effect, own_words=own, not_known=engine.withheld)


def steps_of(plans: Sequence[RemedyPlan]) -> tuple[TableStep, ...]:
    """What the plans do to the table, each thing once."""
    return tuple(dict.fromkeys(step for plan in plans for step in plan.steps))


def carry_out_remedies(
    engine: Engine,
    plans: Sequence[RemedyPlan],
    *,
    confirmed: bool = False,
    ask: Callable[[int], Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Write the plans: one entry for each change set, one receipt for all steps; what was done, for the report.

    `ask` as in `maintain`. Raises RefusedError for a plan whose way names in the table are in: see `without_names`.
    """
    for plan in plans:
        if plan.names:
            raise RefusedError(
                f"{plan.finding.kind}: versions that would go have names in the table: {plan.held}.",
                fix="Repeat with --drop-names to take the names away first; nothing was changed.",
            )
    done: list[dict[str, Any]] = []
    for plan in plans:
        if plan.changes is not None and plan.changes.changes:
            outcome = apply(engine, plan.changes, confirmed=confirmed)
            done.append({"kind": plan.finding.kind, "entry": outcome.entry, "changed": len(outcome.changes)})
    steps = steps_of(plans)
    if steps:
        from memtui.engine.health.maintenance import maintain

        receipt = maintain(engine.store, engine.write_state.applier, steps, confirmed=confirmed, ask=ask)
        kinds = [plan.finding.kind for plan in plans if plan.steps]
        done.append({"kinds": kinds, "entry": receipt.entry, "receipt": receipt.as_json()})
        engine.write_state.behind = True
    return done
