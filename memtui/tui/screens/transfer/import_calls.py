"""What the steps of an import ask of the engine, and what its answers change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, MemtuiError, transfer
from memtui.tui.screens.transfer import import_review_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_state import PAGE, DetectedSources, ImportState, PlanPage
from memtui.tui.wizard.view import RunProgress
from memtui.tui.wizard.wizard import TaskRun

if TYPE_CHECKING:
    from memtui.engine import OnProgress
    from memtui.engine.changes import RecallEffect
    from memtui.engine.transfer import ImportPreview
    from memtui.tui.screens.transfer.import_state import PlannedImport


Run = TaskRun[ImportState]


def say_error(run: Run, error: MemtuiError) -> None:
    """An error that does not stand in the way of the step."""
    run.frame.flash(str(error), "error")


# ------------------------------------------------------------------ asking for something


def look_closely(run: Run) -> None:
    """The form, the mapping and the first records of what is to be imported."""
    engine, request = run.engine, run.state.request

    def look(_: object, stop: CancelToken) -> tuple[DetectedSources, ImportPreview]:
        found = transfer.detect_sources(engine, request.sources, request.format)
        bytes_ = sum(each.path.stat().st_size for each in found if each.path.is_file())
        return DetectedSources("", found, bytes_), transfer.preview_import(engine, request)

    run.work(
        "preview",
        look,
        lambda read: run.set(found=read[0], preview=read[1], error=None),
        failed=lambda error: run.set(error=error),
        paced=False,
    )
    run.paint()


def make_plan(run: Run) -> None:
    """Plan what is asked for; the plan before stays until the new one is there."""
    engine, request = run.engine, run.state.request
    run.keep(step="review", error=None, pace=RunProgress())
    run.work(
        "plan",
        lambda report, stop: reduce.added_up(transfer.plan_import(engine, request, report, stop)),
        lambda found: planned(run, found),
        failed=lambda error: run.set(error=error, request=run.state.planned or run.state.request),
        stopped=lambda: not_planned(run),
    )
    run.paint()


def ask_for(run: Run, **changes: Any) -> None:
    """Ask for something else, and see what that gives."""
    take(run, reduce.asked(run.state, **changes))


def take(run: Run, state: ImportState) -> None:
    """Ask for what `state` asks for."""
    run.state = state
    if state.step == "map":
        look_closely(run)
    else:
        make_plan(run)


# ------------------------------------------------------------------ the plan


def _sums(value: PlannedImport) -> dict[str, Any]:
    return {name: getattr(value, name) for name in ("losses", "taken", "bare", "replaced", "kept")}


def planned(run: Run, found: PlannedImport) -> None:
    """Show a new plan in place of the one before; one that is being written stays the plan."""
    if run.busy("run"):
        found.close()
        return
    before, plan = run.state.plan, found.plan
    run.keep(
        plan=plan,
        request=plan.request,
        planned=plan.request,
        cost=plan.cost,
        page=None,
        source=None,
        error=None,
        effect=None,
        **_sums(found),
    )
    if before is not None:
        before.close()
    ask_answers(run)
    view = reduce.best_view(run.state) if before is None else run.state.view
    run.keep(view=view, offset=0, item=-1)
    read_page(run)
    run.paint()
    if before is None:
        run.frame.later(lambda: rest_on(run, view))


def rest_on(run: Run, view: str) -> None:
    """Put the cursor on a group, and the keyboard where something is to be decided."""
    run.frame.move_to("a", view)
    run.frame.focus_list("b" if view == "conflict" or not run.frame.shows("a") else "a")


def not_planned(run: Run) -> None:
    """Planning was stopped: the plan before is the plan, or the step before is shown."""
    if run.state.plan is None:
        run.set(step="map", pace=RunProgress())
    else:
        run.set(request=run.state.planned, pace=RunProgress())


def decide(run: Run, state: ImportState) -> None:
    """Show a decision at once, and add up what it changes."""
    run.state = state
    plan = state.plan
    assert plan is not None
    ask_answers(run)
    run.work(
        "sums",
        lambda _, stop: reduce.added_up(plan),
        lambda found: run.set(**_sums(found)),
        failed=lambda error: say_error(run, error),
        paced=False,
    )
    run.paint()


def ask_answers(run: Run, *, send: bool = False) -> None:
    """Ask the saved cases and the last questions of a copy with the import in it; nothing waits for that.

    Texts and questions go to a service only with `send`.
    """
    from memtui.tui.change_request import effect_on_recall

    engine, plan = run.engine, run.state.plan
    if plan is None:
        return
    run.keep(effect=None)

    def ask(report: OnProgress, stop: CancelToken) -> RecallEffect:
        tried = transfer.tried_import(engine, plan, stop, send=send)
        return effect_on_recall(engine, tried, stop, report, send=send)

    run.work(
        "answers",
        ask,
        lambda effect: run.set(effect=effect),
        failed=lambda error: run.set(effect=error),
        paced=False,
    )


def measure(run: Run) -> None:
    """How long embedding takes, measured on a few texts."""
    engine, plan = run.engine, run.state.plan
    assert plan is not None
    run.work(
        "measure",
        lambda _, stop: transfer.measure_import(engine, plan),
        lambda cost: run.set(cost=cost),
        failed=lambda error: say_error(run, error),
        paced=False,
    )


# ------------------------------------------------------------------ its records


def show(run: Run, view: str) -> None:
    """List another group, or another sheet."""
    page = run.state.page
    if view != run.state.view or page is None or page.group != view:
        run.keep(view=view, offset=0, item=-1)
        read_page(run)
        run.paint()


def read_page(run: Run) -> None:
    """The records of the group that is shown, with the memories that they are compared with."""
    plan, engine = run.state.plan, run.engine
    if plan is None or not import_review_view.is_group(run.state.view):
        return
    group, offset = import_review_view.group_of(run.state.view), run.state.offset

    def read(_: object, stop: object) -> PlanPage:
        items = tuple(plan.page(group, offset, PAGE))
        ids = [item.match.id for item in items if item.match is not None and not item.match.where]
        return PlanPage(group, offset, items, engine.memories(ids) if ids else {})

    def got(page: PlanPage) -> None:
        if page.group == run.state.view and page.offset == run.state.offset:
            there = any(item.number == run.state.item for item in page.items)
            run.set(page=page, item=run.state.item if there else -1)
            look_into_source(run)

    run.work("page", read, got, failed=lambda error: say_error(run, error), paced=False)


def look_into_source(run: Run) -> None:
    """The lines of the record under the cursor, where there is room to show them."""
    from memtui.engine.transfer import source_lines

    state, plan = run.state, run.state.plan
    item = reduce.current(state) if import_review_view.is_group(state.view) else None
    seen = state.source is not None and item is not None and state.source[0] == item.number
    if plan is None or item is None or seen or not run.frame.shows("d"):
        return
    number, where, encoding = item.number, item.where, plan.request.encoding
    sources = plan.sources
    run.work(
        "source",
        lambda _, stop: (number, source_lines(sources, where, encoding, stop)),
        lambda lines: run.set(source=lines),
        failed=lambda error: say_error(run, error),
        paced=False,
    )
