"""The import wizard: source, map, review, run, report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import MemtuiError, counted, transfer
from memtui.engine.transfer import GROUPS
from memtui.tui.messages import ShowInBrowse
from memtui.tui.paint.cells import right
from memtui.tui.paint.numbers import full, size
from memtui.tui.screens.transfer import import_review_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_calls import Run
from memtui.tui.screens.transfer.import_review import REVIEW
from memtui.tui.screens.transfer.import_source import MAP, SOURCE
from memtui.tui.screens.transfer.import_state import ImportState
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import (
    RunProgress,
    blank,
    fact_row,
    heading_row,
    ledger_rows,
    pace_rows,
    text_rows,
    warning_rows,
)
from memtui.tui.wizard.wizard import Heading, Key, Task, TaskStep

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.transfer import ImportResult, Unfinished


# The last steps of an import: agreeing to what will be written, writing it, and what came of it.

TYPE_FROM = 1
"""So many memories whose text is replaced: the number has to be typed."""


def run_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the run."""
    if panel == "a":
        return Heading("Will be written")
    if run.busy("run"):
        return Heading("Run", "writing", "{transfer.stop} stops it")
    return Heading("Run", "not begun")


def run_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """Everything that will be written, and how far it is."""
    return _what(run, width) if panel == "a" else _run(run, width)


def _what(run: Run, width: int) -> list[Row]:
    state, plan = run.state, run.state.plan
    if plan is None:
        return []
    added = state.taken - state.replaced
    left = sum(reduce.left(state)[group] for group in GROUPS)
    facts: list[tuple[str, str | Content]] = [
        ("added", counted(added, "memory", "memories")),
        ("replaced", counted(state.replaced, "memory", "memories")),
        ("left out", full(left)),
        ("vectors", import_review_view.cost_words(state)),
        ("changed", counted(len(state.losses), "line of what is lost", "lines of what is lost")),
        ("journal", "one entry, undone as a whole"),
        ("store", run.engine.info.name),
    ]
    return [fact_row(name, value, width, run.glyphs) for name, value in facts]


def _run(run: Run, width: int) -> list[Row]:
    state, glyphs = run.state, run.glyphs
    if state.pace.phases:
        rows = pace_rows(state.pace, width, glyphs, running=run.busy("run"))
        if state.stopping:
            stopping = "Stopping at the next safe place; nothing is written before the end."
            rows += text_rows(stopping, width, "$stale")
        if state.error is not None:
            again = "Nothing was written. {transfer.write} begins again; what a service made is kept."
            rows += [blank(), *warning_rows(str(state.error), width, glyphs), blank()]
            rows += text_rows(run.words(again), width, "$dim")
        return rows
    if state.error is not None:
        again = run.words("Nothing was written. {transfer.write} tries again.")
        return [
            *warning_rows(str(state.error), width, glyphs),
            blank(),
            *text_rows(again, width, "$dim"),
        ]
    if why := run.forbidden:
        stays = "The plan stays here when you go back."
        return [*warning_rows(why, width, glyphs), blank(), *text_rows(stays, width, "$dim")]
    rows = [*text_rows(_how(run), width, "bold $foreground"), blank()]
    for each in _agreeing(run):
        rows += warning_rows(each, width, glyphs)
    once = "Written at once: wholly there or not at all. {transfer.undo} undoes it afterwards."
    return [*rows, *text_rows(run.words(once), width, "$dim")]


def _agreeing(run: Run) -> list[str]:
    """What a person agrees to by going on."""
    plan, access = run.state.plan, run.engine.write_state.access
    found = [access.reason] if access.verdict == "confirm" else []
    found += [access.warning] if access.warning else []
    if plan is not None and plan.draft.broken:
        found.append(
            f"{counted(plan.draft.broken, 'part')} of the source cannot be read and will be left out."
        )
    if plan is not None and plan.flags["orders"]:
        found.append(f"{counted(plan.flags['orders'], 'text reads', 'texts read')} like prompt injection.")
    if run.state.replaced:
        found.append(f"The text of {counted(run.state.replaced, 'memory', 'memories')} here is replaced.")
    return found


def _how(run: Run) -> str:
    key = (
        "{transfer.stopped}, when the agent is stopped,"
        if run.engine.write_state.access.verdict == "confirm"
        else "{transfer.write}"
    )
    return run.words(f"{key} writes it.")


def writable(run: Run, *, confirmed: bool) -> bool:
    """Whether it can be written, with the key that says that no agent runs or with the other one."""
    if run.forbidden or run.state.plan is None or not run.state.taken:
        return False
    if run.busy("run", "plan", "sums"):  # how many are replaced is not known before the sums are
        return False
    return confirmed == (run.engine.write_state.access.verdict == "confirm")


def agree(run: Run, panel: str, key: str) -> None:
    """Write it; where texts are replaced, their number is typed first."""
    replaced = run.state.replaced
    if replaced < TYPE_FROM:
        write(run)
        return

    def typed(text: str) -> None:
        if text.replace(",", "").strip() == str(replaced):
            write(run)
        else:
            run.frame.flash("Another number: nothing was written.", "note")

    hint = (
        f"The text of {counted(replaced, 'memory', 'memories')} here is replaced. Type {replaced} to agree."
    )
    run.ask("Replace memories", hint, "", typed)


def write(run: Run) -> None:
    """Write what the plan says, in one commit."""
    engine, plan = run.engine, run.state.plan
    assert plan is not None

    def done(result: ImportResult) -> None:
        run.set(step="report", done=result, stopping=False)
        if result.entry is not None:
            rows = counted(result.added + result.replaced, "memory", "memories")
            run.frame.host.take("changed", f"{rows} imported (entry {full(result.entry)})")

    def failed(error: MemtuiError) -> None:
        run.set(error=error, stopping=False)

    run.set(error=None, stopping=False, pace=RunProgress())
    run.work(
        "run",
        lambda report, stop: transfer.run_import(
            engine, plan, confirmed=True, on_progress=report, cancel=stop
        ),
        done,
        failed=failed,
        stopped=lambda: failed(MemtuiError("It was stopped.", fix="The start page offers to go on with it.")),
    )
    run.paint()


def stop(run: Run) -> bool:
    """Stop writing at the next safe place."""
    running = run.busy("run")
    if running:
        run.frame.stop_calls()
        run.set(stopping=True)
    return running


def to_review(run: Run) -> bool:
    """Go back to the plan, unless it is being written."""
    if not run.busy("run"):
        run.set(step="review", error=None, pace=RunProgress())
    return True


RUN = TaskStep[ImportState](
    "run",
    run_rows,
    run_heading,
    advice=lambda run: "Nothing is written yet." if not run.busy("run") else "",
    missing=lambda run: run.forbidden if not run.busy("run") else "",
    line=lambda state: state.typed,
    goes_on=False,
    keys={
        "write": Key(agree, lambda run, panel, key: writable(run, confirmed=False), unlocks="import them"),
        "stopped": Key(agree, lambda run, panel, key: writable(run, confirmed=True), unlocks="import them"),
    },
    back=to_review,
    stop=stop,
)


# What was written, what was left out and changed, and the way back.


def report_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the report."""
    if panel == "a":
        return Heading("Done" if not run.state.undone else "Undone")
    return Heading("What differs from the source", counted(len(run.state.losses), "line"))


def report_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """What came of it, and where to go from here."""
    state, glyphs, done = run.state, run.glyphs, run.state.done
    if panel == "b":
        return [*ledger_rows(state.losses, width, glyphs), blank(), *_left(state, width)]
    if done is None:
        return []
    entry = "no entry" if done.entry is None else f"entry {full(done.entry)}"
    rows = [
        fact_row("added", counted(done.added, "memory", "memories"), width, glyphs),
        fact_row("replaced", counted(done.replaced, "memory", "memories"), width, glyphs),
        fact_row("journal", entry, width, glyphs),
        blank(),
    ]
    ways = [("browse", "show them in Browse"), ("again", "import something else")]
    if undoable(run, "", ""):  # never the first: there the cursor rests
        ways.append(("undo", "undo, all of it"))
    rows += [Row((Content.styled(f" {text}", "$foreground"),), f"way:{name}") for name, text in ways]
    rows.append(blank())
    known = state.plan.warnings if state.plan is not None else []
    for warning in (warning for warning in done.warnings if warning not in known):
        rows += warning_rows(warning, width, glyphs)
    return rows


def _left(state: ImportState, width: int) -> list[Row]:
    rows = [heading_row("LEFT OUT")]
    found = reduce.left(state)
    for group in GROUPS:
        if found.get(group):
            why = import_review_view.meaning(group) if group != "new" else "new, left out as decided"
            line = Content.assemble((right(full(found[group]), 8), "$foreground"), "  ", (why, "$dim"))
            rows.append(Row((line,)))
    return rows if len(rows) > 1 else [heading_row("LEFT OUT"), *text_rows("nothing", width, "$dim")]


def undoable(run: Run, panel: str, key: str) -> bool:
    """Whether there is something to take back."""
    done = run.state.done
    return done is not None and done.entry is not None and not run.state.undone


def undo(run: Run, panel: str, key: str) -> None:
    """Take the whole import back."""
    done = run.state.done
    if done is not None and done.entry is not None:
        run.frame.take_back(done.entry, lambda: run.set(undone=True))


def report_opened(run: Run, panel: str, key: str) -> None:
    """Take it back, look at it, or import something else."""
    way = key.removeprefix("way:")
    if way == "undo":
        undo(run, panel, key)
    elif way == "browse":
        run.frame.send(ShowInBrowse(""))
    elif way == "again":
        run.frame.begin("import")


REPORT = TaskStep[ImportState](
    "report",
    report_rows,
    report_heading,
    advice="It is one entry of the journal: {transfer.undo} undoes it, also later and from the Journal.",
    line=lambda state: state.typed,
    keys={"undo": Key(undo, undoable)},
    opened=report_opened,
    next=lambda run: run.frame.begin(""),
)


# Memories from somewhere else, planned whole before a row is written.


def start(engine: Engine, run: Unfinished | None = None) -> ImportState:
    """From the beginning, or as a run that was begun and not finished."""
    if run is None:
        return ImportState()
    return ImportState(request=run.request, typed=str(run.request.sources[0]), again=True)


def about(run: Run) -> str:
    """The source: its name, its size, its records."""
    state = run.state
    paths = state.request.sources
    if state.step == "source" or not paths:
        return ""
    name = paths[0].name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
    bytes_ = f", {size(state.found.size)}" if state.found is not None and state.found.size else ""
    records = f", {counted(state.plan.total, 'record')}" if state.plan is not None else ""
    return f"{name}{bytes_}{records}"


def strip(run: Run, width: int) -> Content:
    """The groups of the plan in one line."""
    planned = run.state.plan is not None and run.state.step == "review"
    return import_review_view.strip_line(run.state, width, run.glyphs) if planned else Content()


def close(state: ImportState) -> None:
    """The plan is not needed any more."""
    if state.plan is not None:
        state.plan.close()


TASK = Task[ImportState](
    "import",
    "Import",
    start=start,
    about=about,
    strip=strip,
    close=close,
    steps=(SOURCE, MAP, REVIEW, RUN, REPORT),
)
