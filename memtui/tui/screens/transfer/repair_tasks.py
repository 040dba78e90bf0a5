"""Upgrade, repair and missing vectors: what to mend, every row that changes, then written as one entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from memtui.engine import CancelToken, MemtuiError, OnProgress, Progress, changes, counted, one_line, transfer
from memtui.engine.changes import ChangeSet, Outcome
from memtui.engine.transfer import REPAIRS
from memtui.tui.change_request import effect_on_recall
from memtui.tui.dialogs.answer_effect_view import EFFECT, effect_lines
from memtui.tui.dialogs.change_preview_view import heading, plan_rows, sentences
from memtui.tui.layouts import Shape
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import State
from memtui.tui.wizard.view import RunProgress, blank, fact_row, pace_rows, text_rows, warning_rows
from memtui.tui.wizard.wizard import FormField, Heading, Key, Task, TaskRun, TaskStep

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import RecallEffect


@dataclass(frozen=True, slots=True)
class RepairState:
    """`plan` is what the settings give; None before it was made."""

    step: Literal["what", "review", "report"] = "what"
    kinds: frozenset[str] = frozenset(REPAIRS)
    scope: str = "global"
    llm: str = ""
    """Root of a chat service for summaries; empty: beginnings of the texts."""
    llm_model: str = ""
    llm_key: str = ""
    """Name of the variable that holds its key."""
    plan: ChangeSet | None = None
    effect: RecallEffect | Progress | MemtuiError | None = None
    """What the plan does to the answers, or how far the asking is; None where nothing is asked for it."""
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    outcome: Outcome | None = None
    undone: bool = False


Run = TaskRun[RepairState]

Plan = Callable[["Engine", RepairState, bool, OnProgress, CancelToken], ChangeSet]
"""Makes the change set, in a thread; with the third argument no service is asked."""


# ------------------------------------------------------------------ what it shows


def about(run: Run) -> str:
    """How many memories the plan changes."""
    plan = run.state.plan
    return "" if plan is None else counted(len(plan.changes), "memory", "memories")


def looking(run: Run) -> State | None:
    """Words in place of the plan while it is made."""
    state = run.state
    if state.plan is not None or state.error is not None:
        return None
    progress = state.pace.phases[-1][0] if state.pace.phases else None
    what = one_line(progress.what) if progress else "looking through the store"
    return State("loading", what, progress=progress)


def review_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the plan."""
    if panel == "a":
        return Heading("Plan", where="nothing is written")
    return Heading("Every row that changes", about(run))


def report_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the report."""
    if panel == "b":
        return Heading("Every row that was changed", about(run))
    return Heading("Done" if not run.state.undone else "Undone")


def review_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The plan: how many rows for which reason, and each of them."""
    state, glyphs, plan = run.state, run.glyphs, run.state.plan
    if panel == "b":
        if state.error is not None:
            return warning_rows(str(state.error), width, glyphs)
        if run.busy("run"):
            return pace_rows(state.pace, width, glyphs, running=True)
        if plan is None:
            return []
        if not plan.changes:
            if not plan.warnings:
                return text_rows("Nothing to repair: every row is as it should be.", width, "$ok")
            found = text_rows("There is nothing to write; these stay as they are:", width)
            return [
                *found,
                *(row for warning in plan.warnings for row in warning_rows(warning, width, glyphs)),
            ]
        return [*answers_rows(run, width), *plan_rows(plan, (), width, glyphs)]
    if plan is None:
        return []
    counts: dict[str, int] = {}
    for change in plan.changes:
        for why in change.why.split(", "):
            counts[why] = counts.get(why, 0) + 1
    rows = [fact_row("rows", full(len(plan.changes)), width, glyphs)]
    rows += [fact_row(one_line(why)[:12], full(count), width, glyphs) for why, count in counts.items()]
    if plan.changes:
        rows += [blank(), fact_row("journal", "one entry, undone as a whole", width, glyphs)]
    return rows


def answers_rows(run: Run, width: int) -> list[Row]:
    """What the agent would then read, above the rows that change."""
    state = run.state
    if state.effect is not None:
        lines = effect_lines(state.effect, width, run.glyphs)
    else:
        why = "Known once they are made: the model is asked when it is written, and not before."
        lines = [*heading(EFFECT), *sentences([why], width, run.glyphs.dot, "$dim")]
    return [*(Row((line,)) for line in (*lines, *heading("EVERY ROW THAT CHANGES"))), blank()]


def report_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """What was written, and the way back."""
    state, glyphs, outcome = run.state, run.glyphs, run.state.outcome
    if outcome is None:
        return []
    if panel == "b":
        known = state.plan.warnings if state.plan is not None else ()
        new = [warning for warning in outcome.warnings if warning not in known]
        warned = [row for each in new for row in warning_rows(each, width, glyphs)]
        return [*warned, *(plan_rows(state.plan, (), width, glyphs) if state.plan is not None else [])]
    rows = [
        fact_row("changed", counted(outcome.changed, "memory", "memories"), width, glyphs),
        fact_row("journal", f"entry {full(outcome.entry)}", width, glyphs),
        blank(),
    ]
    undo = [] if state.undone else [Row((Content(" undo, all of it"),), "way:undo")]
    return [*rows, Row((Content(" back to the start"),), "way:start"), *undo]


def review_advice(run: Run) -> str:
    """How the plan is written."""
    plan = run.state.plan
    if plan is None:
        return ""
    if not plan.changes:
        return "There is nothing to write. {transfer.back} goes back."
    key = "{transfer.stopped}, when the agent is stopped," if confirm(run) else "{transfer.write}"
    return f"{key} writes it; {{transfer.undo}} undoes it afterwards."


# ------------------------------------------------------------------ its keys


def confirm(run: Run) -> bool:
    """Whether a person has to agree that no agent runs."""
    return run.engine.write_state.access.verdict == "confirm"


def writable(run: Run, *, confirmed: bool) -> bool:
    """Whether the plan can be written, with the key that says that no agent runs or with the other one."""
    ready = run.state.plan is not None and bool(run.state.plan.changes)
    return ready and not run.forbidden and not run.busy("run") and confirmed == confirm(run)


def undoable(run: Run, panel: str, key: str) -> bool:
    """Whether there is something to take back."""
    return run.state.outcome is not None and not run.state.undone


def undo(run: Run, panel: str, key: str) -> None:
    """Take the whole entry back."""
    outcome = run.state.outcome
    if outcome is not None and outcome.entry is not None:
        run.frame.take_back(outcome.entry, lambda: run.set(undone=True))


def leave(run: Run, panel: str, key: str) -> None:
    """Enter in the report: taken back, or the start page."""
    if key == "way:undo":
        undo(run, panel, key)
    else:
        run.frame.begin("")


def to_what(run: Run) -> bool:
    """Go back to the settings, unless it is being written."""
    if not run.busy("run"):
        run.stop()
        run.set(step="what", plan=None, error=None, pace=RunProgress())
    return True


# ------------------------------------------------------------------ the three


def mending(
    name: str,
    title: str,
    purpose: tuple[str, ...],
    plan: Plan,
    *,
    form: tuple[FormField[RepairState], ...] = (),
    asks: Callable[[RepairState], bool] = lambda state: False,
    foreseen: bool = True,
) -> Task[RepairState]:
    """A task that plans a change set and writes it as one entry; `purpose` says in a few sentences what it is for.

    `asks`: a plan asks a service, so that one without it is shown first, and the real one is made when it is written.
    `foreseen`: the plan without it says what the agent would read all the same.
    """

    def what_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
        if panel == "a":
            gap = [blank()] if form else []
            return [*run.form_rows(width, 14), *gap, Row((Content(" plan it"),), "way:plan")]
        return [row for text in purpose for row in (*text_rows(text, width), blank())]

    def to_review(run: Run) -> None:
        engine, state, dry = run.engine, run.state, asks(run.state)
        run.keep(step="review", plan=None, effect=None, error=None, pace=RunProgress())

        def planned(made: ChangeSet) -> None:
            run.set(plan=made, pace=RunProgress())
            if made.changes and (foreseen or not dry):
                ask_answers(run, made)

        run.work(
            "plan",
            lambda report, stop: plan(engine, state, dry, report, stop),
            planned,
            stopped=lambda: run.set(step="what", error=None, pace=RunProgress()),
        )
        run.paint()

    def write(run: Run, panel: str, key: str) -> None:
        engine, state, shown = run.engine, run.state, run.state.plan
        assert shown is not None

        def call(report: OnProgress, stop: CancelToken) -> tuple[ChangeSet, Outcome]:
            made = plan(engine, state, False, report, stop) if asks(state) else shown
            stop.check()
            outcome = changes.apply(engine, made, confirmed=True)
            if outcome.entry is not None:
                transfer.forget_answers(engine, made.action)
            return made, outcome

        run.frame.stop_calls()  # what is still asked beside it
        run.keep(error=None, pace=RunProgress())
        run.work("run", call, lambda done: written(run, *done), stopped=lambda: halted(run))
        run.paint()

    able = Key(write, lambda run, panel, key: writable(run, confirmed=False), unlocks="apply the changes")
    confirmed = Key(write, lambda run, panel, key: writable(run, confirmed=True), unlocks="apply the changes")
    return Task(
        name,
        title,
        start=lambda engine: RepairState(),
        about=about,
        steps=(
            TaskStep(
                "what",
                what_rows,
                lambda run, panel: Heading(f"What to {name}" if panel == "a" else "What it does"),
                shape=Shape("two", side_rows=8, mirrored=bool(form)),
                form=form,
                advice="{transfer.next} plans it: the store is read through, nothing is written.",
                next=to_review,
            ),
            TaskStep(
                "review",
                review_rows,
                review_heading,
                shape=lambda run: Shape("two", said=looking(run) is not None, side_rows=8),
                said=looking,
                begin=to_review,
                advice=review_advice,
                missing=lambda run: run.forbidden if not run.busy("run") else "",
                goes_on=False,
                keys={"write": able, "stopped": confirmed},
                back=to_what,
            ),
            TaskStep(
                "report",
                report_rows,
                report_heading,
                keys={"undo": Key(undo, undoable)},
                opened=leave,
                next=lambda run: run.frame.begin(""),
                back=lambda run: run.busy("run"),
            ),
        ),
    )


def ask_answers(run: Run, made: ChangeSet) -> None:
    """Ask the saved cases and the last questions of a copy with the plan in it; nothing waits for that."""
    engine = run.engine
    run.set(effect=Progress("asking the questions again", 0, 0, "questions"))
    run.work(
        "answers",
        lambda report, stop: effect_on_recall(engine, made, stop, report),
        lambda effect: run.set(effect=effect),
        failed=lambda error: run.set(effect=error),
        stopped=lambda: run.set(effect=MemtuiError("It was stopped.")),
        paced=False,
    )


def written(run: Run, made: ChangeSet, outcome: Outcome) -> None:
    """Show what was written."""
    if outcome.entry is None:
        run.set(error=MemtuiError("There was nothing to write."))
        return
    run.set(step="report", plan=made, outcome=outcome, pace=RunProgress())
    changed = counted(outcome.changed, "memory", "memories")
    run.frame.host.take("changed", f"{changed} changed (entry {full(outcome.entry)})")


def halted(run: Run) -> None:
    """Say that a stop left everything as it was."""
    fix = run.words("{transfer.write} goes on: what a service made is kept.")
    run.set(
        step="review", error=MemtuiError("It was stopped; nothing was written.", fix=fix), pace=RunProgress()
    )


def plan_upgrade(
    engine: Engine, state: RepairState, dry: bool, report: OnProgress, stop: CancelToken
) -> ChangeSet:
    """Summaries and classes for rows of the old form, by a chat service where one is named."""
    from memtui.engine.transfer import ChatSettings

    chat = None
    if asks_chat(state):
        key = os.environ.get(state.llm_key, "") if state.llm_key else ""
        chat = ChatSettings(state.llm, state.llm_model, key)
    return transfer.plan_upgrade(engine, chat, dry_run=dry, on_progress=report, cancel=stop)


def asks_chat(state: RepairState) -> bool:
    """Whether a chat service was named, with its model."""
    return bool(state.llm and state.llm_model)


UPGRADE = mending(
    "upgrade",
    "Upgrade",
    (
        "Memories that an older version of the plugin wrote have no summaries (L0, L1, L2), no category of six and no"
        " tier. Recall and lifecycle treat them worse than the others.",
        "Summaries are the beginnings of the texts; a chat service, where you name one, writes better ones. What a row"
        " has already stays as it is.",
    ),
    plan_upgrade,
    form=(
        FormField(
            "llm",
            "chat service",
            "for better summaries",
            none="none",
            title="Chat service",
            hint="Root of an OpenAI-compatible service, with its /v1. - takes it away.",
        ),
        FormField("llm_model", "its model", title="Model", hint="Its name, as the service has it."),
        FormField(
            "llm_key",
            "key in",
            "name of a variable",
            title="Key",
            hint="Name of the environment variable that holds the key, never the key itself.",
        ),
    ),
    asks=asks_chat,
)


def kind_field(kind: str, what: str) -> FormField[RepairState]:
    """The switch of one kind of repair."""
    return FormField(
        kind,
        kind,
        what,
        kind="switch",
        value=lambda state: kind in state.kinds,
        take=lambda run, on: run.set(kinds=run.state.kinds ^ {kind}),
    )


def plan_repair(
    engine: Engine, state: RepairState, dry: bool, report: OnProgress, stop: CancelToken
) -> ChangeSet:
    """The kinds of repair that are switched on."""
    kinds = [kind for kind in REPAIRS if kind in state.kinds]
    return transfer.plan_repair(engine, kinds, target_scope=state.scope, on_progress=report, cancel=stop)


REPAIR = mending(
    "repair",
    "Repair",
    (
        "Memories without a scope are found by no agent; times in seconds count as 1970; metadata that is no JSON"
        " object is lost at the agent's next write. Each kind can be left out.",
    ),
    plan_repair,
    form=(
        *(kind_field(kind, what) for kind, what in REPAIRS.items()),
        FormField(
            "scope",
            "into scope",
            "what has none",
            default="global",
            title="Scope",
            hint="Where memories go that have none.",
            take=lambda run, text: run.set(scope=text or "global"),
        ),
    ),
)


def plan_vectors(
    engine: Engine, state: RepairState, dry: bool, report: OnProgress, stop: CancelToken
) -> ChangeSet:
    """Vectors for rows that have none."""
    return transfer.plan_missing_vectors(engine, dry_run=dry, on_progress=report, cancel=stop)


VECTORS = mending(
    "vectors",
    "Missing vectors",
    (
        "A memory without a vector is never found by meaning. The store's own model makes those that are missing; the"
        " others stay bit for bit.",
        "What a service has made is kept at once: after a failure or a stop nothing is asked for twice.",
    ),
    plan_vectors,
    asks=lambda state: True,
    foreseen=False,
)
