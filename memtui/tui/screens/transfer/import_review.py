"""The third step of an import: the plan, every record of it, and what is decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine import counted, one_line
from memtui.engine.transfer import SWITCHABLE
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.layouts import Shape
from memtui.tui.paint.numbers import full, score
from memtui.tui.screens.transfer import import_record_view, import_review_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_calls import (
    Run,
    ask_answers,
    decide,
    look_closely,
    look_into_source,
    make_plan,
    measure,
    read_page,
    show,
    take,
)
from memtui.tui.screens.transfer.import_source import ask_scope
from memtui.tui.screens.transfer.import_state import PAGE, ImportState
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import Choice, State, failed
from memtui.tui.wizard.view import RunProgress
from memtui.tui.wizard.wizard import Heading, Key, TaskStep

if TYPE_CHECKING:
    from memtui.engine.transfer import PlannedRecord, Resolution


_DECIDE = "{wizard.ours} ours  {wizard.theirs} theirs  {wizard.both} both  {wizard.every} all of them"


# ------------------------------------------------------------------ what it shows


def shape(run: Run) -> Shape:
    """Groups on the left, what is in one on the right, the record under the cursor below."""
    if run.state.plan is None:
        return Shape("one", said=True)
    return Shape("review", record=import_review_view.is_group(run.state.view))


def said(run: Run) -> State | None:
    """Words while there is no plan."""
    state = run.state
    if state.plan is not None:
        return None
    if state.error is not None:
        ways = (Choice("back", "step back"), Choice("again", "try again"))
        return failed("there is no plan", state.error, *ways)
    progress = state.pace.phases[-1][0] if state.pace.phases else None
    return State("loading", one_line(progress.what) if progress else "planning", progress=progress)


def current(run: Run) -> PlannedRecord | None:
    """The record under the cursor."""
    return reduce.current(run.state) if import_review_view.is_group(run.state.view) else None


def rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The rows of one of the four panels."""
    state, glyphs = run.state, run.glyphs
    if panel == "a":
        return import_review_view.group_rows(state, width, glyphs)
    if panel == "b":
        return import_review_view.main_rows(state, width, glyphs)
    if panel == "d":
        return import_record_view.source_rows(current(run), state.source, width, glyphs)
    here = state.page.here if state.page is not None else {}
    versioned = run.engine.store.dialect.can.versioned_text
    return import_record_view.record_rows(current(run), here, width, height, glyphs, versioned=versioned)


def heading(run: Run, panel: str) -> Heading:
    """The words in the frames."""
    state, plan = run.state, run.state.plan
    if plan is None:
        return Heading("Plan")
    if panel == "a":
        doing = "planning again" if run.busy("plan") else f"{full(state.taken)} to write"
        return Heading("Plan", doing, "dry run, nothing is written")
    if panel == "b":
        return list_heading(state)
    if panel == "d":
        return Heading("In the source, and as it will be stored")
    item = current(run)
    if item is None:
        return Heading("Record")
    cosine = f"   cosine {score(item.match.cosine)}" if item.match is not None and item.match.cosine else ""
    which = f"{import_review_view.NAMES[item.group]}{cosine}"
    return Heading(f"Record {full(item.number + 1)} of {full(plan.total)}", which)


def list_heading(state: ImportState) -> Heading:
    """The words over the records of a group, or over a sheet."""
    what = import_review_view.NAMES[state.view].capitalize()
    if not import_review_view.is_group(state.view):
        return Heading(what)
    total = reduce.listed(state, import_review_view.group_of(state.view))
    keys = {
        "conflict": _DECIDE,
        "new": "{wizard.switch} excludes one, or includes it again",
    }.get(state.view, "")
    keys = "{wizard.switch} switches the rule" if state.view in SWITCHABLE else keys
    wanted = reduce.counts(state).get(import_review_view.group_of(state.view), 0)
    some = f"{full(wanted)} of " if wanted != total else ""
    places = import_review_view.places(state.page, total)
    if state.page is not None and total > len(state.page.items):
        keys = f"{keys}   {{wizard.earlier}} {{wizard.later}} page".lstrip()
    return Heading(what, f"{import_review_view.meaning(state.view)}   {some}{places}", keys)


def advice(run: Run) -> str:
    """What the plan costs, and what there is to know."""
    if run.state.plan is None:
        return "{transfer.stop} stops it"
    if run.busy("plan"):
        phases = run.state.pace.phases
        doing = one_line(phases[-1][0].what) if phases else "planning again"
        return f"{doing}; the plan before is shown"
    warnings = import_review_view.notes(run.state)
    more = f"; {counted(len(warnings), 'note')}" if warnings else ""
    cost = import_review_view.cost_words(run.state)
    answers = import_review_view.answers_said(run.state.effect)
    return f"answers: {answers}; embedding: {cost}; undone as a whole{more}"


def missing(run: Run) -> str:
    """What is not decided yet."""
    state = run.state
    if state.plan is None:
        return ""
    if state.error is not None:
        return f"{state.error} This is the plan before."
    if left := reduce.open_conflicts(state):
        done = len(state.request.choices)
        one = "{wizard.ours} {wizard.theirs} {wizard.both} decide one"
        return f"{counted(done, 'conflict')} decided, {full(left)} open: {one}, {{wizard.every}} all."
    return ""


# ------------------------------------------------------------------ its keys


def planned(run: Run, panel: str, key: str) -> bool:
    """Whether there is a plan."""
    return run.state.plan is not None


def measurable(run: Run, panel: str, key: str) -> bool:
    """Whether there is something to embed whose cost can be measured."""
    plan, cost = run.state.plan, run.state.cost
    if plan is None or cost is None:
        return False
    return bool(cost.rows) and not cost.problem and plan.vectors is None


def answerable(run: Run, panel: str, key: str) -> bool:
    """Whether the answers are not known because nothing was sent for them."""
    from memtui.engine import RefusedError

    effect = run.state.effect
    unknown = isinstance(effect, RefusedError) or (
        effect is not None and bool(getattr(effect, "not_known", ""))
    )
    return run.state.plan is not None and run.engine.sends and unknown


def _meant(run: Run, panel: str, key: str) -> str:
    """What a switch is about: on the group of the new ones, the record under the cursor of their list, or the first."""
    page = run.state.page
    if panel != "a" or key != "new" or page is None or page.group != "new" or not page.items:
        return key
    return run.frame.at("b") or f"item:{page.items[0].number}"


def switchable(run: Run, panel: str, key: str) -> bool:
    """Whether a rule, or a single new record, can be left out."""
    view, key = run.state.view, _meant(run, panel, key)
    single = view == "new" and key.startswith("item:")
    return run.state.plan is not None and (single or (key if panel == "a" else view) in SWITCHABLE)


def switch(run: Run, panel: str, key: str) -> None:
    """Leave a record out, or switch a rule."""
    state, key = run.state, _meant(run, panel, key)
    if key.startswith("item:") and state.view == "new":
        decide(run, reduce.left_out(state, int(key.removeprefix("item:"))))
        if panel == "a":  # the keyboard goes along: the next one is a key away
            run.frame.move_to("b", key)
            run.frame.focus_list("b")
        run.frame.move_to("b")
    else:
        take(run, reduce.switched(state, key if panel == "a" else state.view))


def page_key(by: int) -> Key[ImportState]:
    """The records after or before those that are listed."""

    def able(run: Run, panel: str, key: str) -> bool:
        if run.state.plan is None or panel != "b":
            return False
        total = reduce.listed(run.state, import_review_view.group_of(run.state.view))
        return run.state.offset + PAGE < total if by > 0 else run.state.offset > 0

    def turn(run: Run, panel: str, key: str) -> None:
        run.keep(offset=max(0, run.state.offset + by), item=-1)
        read_page(run)

    return Key(turn, able)


def _at_conflicts(run: Run, panel: str, key: str) -> bool:
    """Whether the list shows the conflicts."""
    return run.state.plan is not None and panel == "b" and run.state.view == "conflict"


def conflict_key(choice: Resolution) -> Key[ImportState]:
    """Decide the conflict under the cursor."""

    def able(run: Run, panel: str, key: str) -> bool:
        return _at_conflicts(run, panel, key) and key.startswith("item:")

    def settle(run: Run, panel: str, key: str) -> None:
        decide(run, reduce.decided(run.state, int(key.removeprefix("item:")), choice))
        run.frame.move_to("b")

    return Key(settle, able)


def _every(run: Run, panel: str, key: str) -> None:
    """Ask for one answer to every conflict; what is here is kept by the first."""

    def took(value: str) -> None:
        choice: Resolution = "take" if value == "take" else "both" if value == "both" else "keep"
        decide(run, reduce.decided_all(run.state, choice))

    count = counted(reduce.listed(run.state, "conflict"), "conflict")
    options = [
        Option("keep", "ours", "keep the memories that are here", "o"),
        Option("take", "theirs", "the texts of the file take their places", "t"),
        Option("both", "both", "theirs are added beside ours", "b"),
    ]
    run.pick(f"All {count}", options, None, took)


EVERY = Key(_every, _at_conflicts)


def turn_to(run: Run, view: str) -> None:
    """Show another group or sheet, the cursor on it."""
    show(run, view)
    run.frame.move_to("a", view)


def turn_by(run: Run, by: int) -> None:
    """Show the next group or sheet, or the one before."""
    names = reduce.views(run.state)
    at = names.index(run.state.view) if run.state.view in names else 0
    turn_to(run, names[(at + by) % len(names)])


def moved(run: Run, panel: str, key: str) -> None:
    """The cursor came to a group or a record."""
    if panel == "a":
        show(run, key)
    elif panel == "b" and key.startswith("item:"):
        run.set(item=int(key.removeprefix("item:")))
        look_into_source(run)


def opened(run: Run, panel: str, key: str) -> None:
    """Enter goes into a group, asks for a scope, or goes on."""
    if panel == "a":
        run.frame.focus_list("b")
    elif key.startswith("scope:"):
        ask_scope(run, key.removeprefix("scope:"))
    else:
        to_run(run)


def chosen(run: Run, name: str) -> None:
    """A way out where there is no plan."""
    if name == "again":
        make_plan(run)
    else:
        to_map(run)


# ------------------------------------------------------------------ the step


def to_run(run: Run) -> None:
    """Go on, once every conflict is decided."""
    if run.state.plan is None or run.busy("plan"):
        return
    if reduce.open_conflicts(run.state):
        turn_to(run, "conflict")
        run.frame.focus_list("b")
    else:
        run.frame.stop_calls()  # what is still asked beside the plan
        run.set(step="run", error=None, pace=RunProgress())


def stop(run: Run) -> bool:
    """Stop what runs; what is asked beside the plan is no reason to stay."""
    waited = run.busy("plan", "preview", "measure", "sums", "page", "source")
    run.frame.stop_calls()
    return waited


def to_map(run: Run) -> bool:
    """Go back: the plan is dropped."""
    run.stop()
    plan = run.state.plan
    run.keep(step="map", plan=None, planned=None, page=None, error=None, pace=RunProgress())
    if plan is not None:
        plan.close()
    if run.state.preview is None:
        look_closely(run)
    run.paint()
    return True


REVIEW = TaskStep[ImportState](
    "review",
    rows,
    heading,
    shape=shape,
    said=said,
    stop=stop,
    begin=make_plan,  # on the rows that are there now
    advice=advice,
    missing=missing,
    line=lambda state: state.typed,
    keys={
        "view_before": Key(lambda run, panel, key: turn_by(run, -1), planned),
        "view_after": Key(lambda run, panel, key: turn_by(run, 1), planned),
        "ledger": Key(lambda run, panel, key: turn_to(run, "ledger"), planned),
        "measure": Key(lambda run, panel, key: measure(run), measurable),
        "send": Key(lambda run, panel, key: ask_answers(run, send=True), answerable),
        "switch": Key(switch, switchable),
        "later": page_key(PAGE),
        "earlier": page_key(-PAGE),
        "ours": conflict_key("keep"),
        "theirs": conflict_key("take"),
        "both": conflict_key("both"),
        "every": EVERY,
    },
    moved=moved,
    opened=opened,
    chosen=chosen,
    next=to_run,
    back=to_map,
)
