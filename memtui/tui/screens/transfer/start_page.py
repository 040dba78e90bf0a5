"""The start page: what can be done, what was begun and not finished, what was done last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import CancelToken, MemtuiError, counted, one_line, transfer
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, full
from memtui.tui.screens.transfer import tasks
from memtui.tui.screens.transfer.about_tasks import about_others, about_task
from memtui.tui.screens.transfer.tasks import TaskEntry
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import RunProgress, blank, heading_row, text_rows
from memtui.tui.wizard.wizard import Heading, Key, Task, TaskRun, TaskStep

if TYPE_CHECKING:
    from memtui.engine.changes import JournalEntry
    from memtui.engine.transfer import PastExport, Unfinished


ACTIONS = ("import", "upgrade", "repair", "reembed")
"""Entries of the journal that were made here."""

RECENT = 12


@dataclass(frozen=True, slots=True)
class Known:
    """What the store's own folder of work and its journal say."""

    unfinished: tuple[Unfinished, ...] = ()
    recent: tuple[JournalEntry, ...] = ()
    exports: tuple[PastExport, ...] = ()
    settled: tuple[str, ...] = ()
    switch: str = ""
    """The folder with the table as it was before the last switch."""


@dataclass(frozen=True, slots=True)
class StartState:
    """`known` is None until it was read."""

    known: Known | None = None
    step: str = ""
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    chosen: str = tasks.TASKS[0].name
    """The task under the cursor."""


Run = TaskRun[StartState]


def look(run: Run) -> None:
    """Read what was begun, and the journal; what killed imports left in it is put right."""
    engine = run.engine

    def call(_: object, stop: CancelToken) -> Known:
        settled = transfer.settle_imports(engine)
        entries = [
            entry for entry in engine.write_state.journal.entries(limit=200) if entry.action in ACTIONS
        ]
        switch = transfer.switch_to_take_back(engine)
        return Known(
            tuple(transfer.unfinished_runs(engine).all()),
            tuple(entries[:RECENT]),
            tuple(transfer.past_exports(engine).all()[:RECENT]),
            settled,
            switch.kept if switch else "",
        )

    run.work(
        "look",
        call,
        lambda known: run.set(known=known),
        failed=lambda error: run.set(known=Known(), error=error),
        paced=False,
    )


# ------------------------------------------------------------------ what it shows


def heading(run: Run, panel: str) -> Heading:
    """The words in the frames."""
    if panel == "a":
        return Heading("Tasks", where="{wizard.open} begin")
    known = run.state.known
    waiting = len(known.unfinished) if known else 0
    return Heading("History", f"{waiting} not finished" if waiting else "")


def missing(run: Run) -> str:
    """Why nothing can be written."""
    why = run.forbidden
    return f"{why} Planning, exporting and migrating work all the same." if why else ""


def rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The tasks, and what was begun and done."""
    if panel == "a":
        return [row for task in tasks.TASKS for row in _task(task, width, height, run.glyphs)]
    known = run.state.known
    if known is None:
        return text_rows("reading the journal", width, "$dim")
    rows: list[Row] = []
    if run.state.error is not None:
        rows += text_rows(str(run.state.error), width, "$danger")
    for sentence in known.settled:
        rows += text_rows(sentence, width)
    if known.unfinished:
        rows.append(heading_row("NOT FINISHED"))
        rows += [_unfinished(run, entry, width) for entry in known.unfinished]
        rows.append(blank())
    if known.switch:
        rows.append(heading_row("UNDO"))
        line = Content.styled(" undo the last change of the embedding model", "$foreground")
        rows += [Row((line,), "back"), *text_rows(f"kept in {known.switch}", width, "$dim", "   ")]
        rows.append(blank())
    rows.append(heading_row("RECENT"))
    done = [(entry.time_ms, _recent(run, entry, width)) for entry in known.recent]
    done += [(export.time_ms, _export(run, export, at, width)) for at, export in enumerate(known.exports)]
    rows += [row for _, row in sorted(done, key=lambda each: -each[0])]
    if not done:
        nothing = "Nothing yet. Imports and repairs will be listed here and can be undone; exports with their folder."
        rows += text_rows(nothing, width, "$dim")
    chosen = [task for task in tasks.TASKS if task.name == run.state.chosen]
    about = [row for each in chosen for row in about_task(each, width, run.glyphs)]
    room = height - sum(len(row.lines) for row in rows) - sum(len(each.lines) for each in about) - 1
    if room < 0:
        return rows
    others = [task for task in tasks.TASKS if task not in chosen]
    return [*rows, blank(), *about, *about_others(others, width, room, run.glyphs)]


def _task(task: TaskEntry, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    title = Content.styled(f" {task.title}", "bold $foreground")
    about = Content.styled(f"   {crop(task.about, width - 4, glyphs.ellipsis)}", "$dim")
    if height >= 3 * len(tasks.TASKS):
        return [Row((title, about, Content()), f"task:{task.name}")]
    if height >= 2 * len(tasks.TASKS):
        return [Row((title, about), f"task:{task.name}")]
    line = Content.assemble(
        " ",
        (fit(task.title, 17), "bold $foreground"),
        (crop(task.about, max(4, width - 19), glyphs.ellipsis), "$dim"),
    )
    return [Row((line,), f"task:{task.name}")]


def _unfinished(run: Run, begun: Unfinished, width: int) -> Row:
    glyphs = run.glyphs
    what = ", ".join(one_line(str(source).rsplit("/", 1)[-1]) for source in begun.what.get("sources", ()))
    what = what or f"with {one_line(str(begun.what.get('model', '')))}"
    kind = "import of" if begun.kind == "import" else "re-embedding"
    why = one_line(begun.why) or "Its program was ended."
    ways = run.words("{wizard.open} goes on, {wizard.forget} forgets it")
    first = crop(f" {kind} {what}", width - 14, glyphs.ellipsis)
    return Row(
        (
            Content.assemble((first, "$foreground"), "  ", (ago(begun.time_ms, run.now_ms), "$dim")),
            Content.styled(crop(f"   {why}  {ways}", width - 1, glyphs.ellipsis), "$dim"),
        ),
        f"run:{begun.name}",
    )


def _recent(run: Run, entry: JournalEntry, width: int) -> Row:
    state = "" if entry.state == "applied" else f"{entry.state}: "
    text = f" {full(entry.entry)}  {state}{one_line(entry.title)}"
    style = "$foreground" if entry.state == "applied" else "$dim"
    return Row((_dated(run, text, style, entry.time_ms, width),), f"entry:{entry.entry}")


def _export(run: Run, each: PastExport, at: int, width: int) -> Row:
    """Where an export went; Enter copies the path."""
    count = counted(each.rows, "memory", "memories")
    text = f" {run.glyphs.forth}  {count} to {one_line(each.path.rsplit('/', 1)[-1])} ({each.format})"
    return Row((_dated(run, text, "$foreground", each.time_ms, width),), f"export:{at}")


def _dated(run: Run, text: str, style: str, time_ms: int, width: int) -> Content:
    when = ago(time_ms, run.now_ms)
    line = fit(text, max(8, width - len(when) - 2), run.glyphs.ellipsis)
    return Content.assemble((line, style), " ", (when, "$dim"))


# ------------------------------------------------------------------ its keys


def entry_at(run: Run) -> int | None:
    """The entry of the journal under the cursor, if it can be taken back."""
    key = run.frame.at("b")
    number = int(key.removeprefix("entry:")) if key.startswith("entry:") else 0
    recent = run.state.known.recent if run.state.known else ()
    return next((entry.entry for entry in recent if entry.entry == number and entry.state == "applied"), None)


def opened(run: Run, panel: str, key: str) -> None:
    """Begin a task, go on with one, copy a path, or take a switch back."""
    kind, _, name = key.partition(":")
    known = run.state.known
    if kind == "task":
        run.frame.begin(name)
    elif kind == "run" and known is not None:
        begun = next((entry for entry in known.unfinished if entry.name == name), None)
        if begun is not None:
            run.frame.begin(begun.kind, begun)
    elif kind == "export" and known is not None:
        run.frame.host.copy(known.exports[int(name)].path, "path")
    elif kind == "back":
        run.frame.begin("back")


def moved(run: Run, panel: str, key: str) -> None:
    """Tell about the task under the cursor."""
    kind, _, name = key.partition(":")
    if panel == "a" and kind == "task" and name != run.state.chosen:
        run.set(chosen=name)
    run.frame.refresh_bindings()


def forget(run: Run, panel: str, key: str) -> None:
    """Take a run that was not finished off the list."""
    transfer.unfinished_runs(run.engine).forget(key.removeprefix("run:"))
    look(run)


def undo(run: Run, panel: str, key: str) -> None:
    """Take back the entry under the cursor."""
    entry = entry_at(run)
    if entry is not None:
        run.frame.take_back(entry)


START = Task[StartState](
    "start",
    "Transfer",
    start=lambda engine: StartState(),
    steps=(
        TaskStep(
            "",
            rows,
            heading,
            shape=lambda run: Shape("two", side_rows=2 * len(tasks.TASKS), even=True),
            begin=look,
            advice="Every task shows a preview first; nothing is written until you apply it.",
            missing=missing,
            keys={
                "forget": Key(forget, lambda run, panel, key: key.startswith("run:")),
                "undo": Key(undo, lambda run, panel, key: entry_at(run) is not None),
                "paste": Key(lambda run, panel, key: run.frame.begin("import", act="paste")),
            },
            moved=moved,
            opened=opened,
        ),
    ),
)
