"""The start page: what can be done, what was begun and not finished, what was done last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import CancelToken, MemtuiError, one_line
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.numbers import ago, full, plural
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.task import Flow, Heading
from memtui.tui.wizard.view import blank, heading_row, text_rows

if TYPE_CHECKING:
    from memtui.engine import JournalEntry
    from memtui.engine.transfer import (
        PastExport,
        Unfinished,
    )
    from memtui.tui.screens.transfer.screen import TransferScreen


ACTIONS = ("import", "upgrade", "repair", "reembed")
"""Entries of the journal that were made here."""

RECENT = 12


@dataclass(frozen=True, slots=True)
class Task:
    """Something to begin: its name, what it does, and the class that does it."""

    name: str
    title: str
    about: str
    place: str


TASKS = (
    Task("import", "Import", "memories from files, folders and other stores", "import_task:Import"),
    Task("export", "Export", "memories to a file or a folder, secrets masked", "export_task:Export"),
    Task("migrate", "Migrate", "a new store of another form, verified row by row", "migrate_task:Migrate"),
    Task("upgrade", "Upgrade", "rows of the old form get summaries, category, tier", "repair_tasks:Upgrade"),
    Task("repair", "Repair", "scopes, summaries, times and metadata that mislead", "repair_tasks:Repair"),
    Task("vectors", "Missing vectors", "made for rows that were stored without one", "repair_tasks:Vectors"),
    Task("reembed", "Re-embed", "another embedding model: rehearse, make, switch", "reembed_task:Reembed"),
)


def flow_named(name: str, screen: TransferScreen, *given: Any) -> Flow:
    """A new flow of this name; its module is loaded now."""
    place = next(task.place for task in TASKS if task.name == name)
    module, _, cls = place.partition(":")
    made: Flow = getattr(import_module(f"memtui.tui.screens.transfer.{module}"), cls)(screen, *given)
    return made


@dataclass(frozen=True, slots=True)
class Known:
    """What the store's own folder of work and its journal say."""

    unfinished: tuple[Unfinished, ...] = ()
    recent: tuple[JournalEntry, ...] = ()
    exports: tuple[PastExport, ...] = ()
    settled: tuple[str, ...] = ()
    switch: str = ""
    """The folder with the table as it was before the last switch."""


class Start(Flow):
    """The way into every other flow."""

    name, title = "start", "Transfer"

    def __init__(self, screen: TransferScreen) -> None:
        super().__init__(screen)
        self.known: Known | None = None
        self.error: MemtuiError | None = None

    def renewed(self) -> None:
        engine = self.screen.session.engine
        if engine is None:
            return

        def look(_: object, stop: CancelToken) -> Known:
            transfer = engine.transfer
            settled = transfer.settle()
            entries = [each for each in engine.curate.journal(200) if each.action in ACTIONS]
            switch = transfer.last_switch
            return Known(
                tuple(transfer.runs.all()),
                tuple(entries[:RECENT]),
                tuple(transfer.exports.all()[:RECENT]),
                settled,
                switch.kept if switch else "",
            )

        self.work("look", look)

    def finished(self, slot: str, value: Any) -> None:
        if isinstance(value, Known):
            self.known = value
            self.paint()

    def failed(self, slot: str, error: MemtuiError) -> None:
        self.known, self.error = Known(), error
        self.paint()

    def shape(self) -> Shape:
        return Shape("two", side_rows=2 * len(TASKS), even=True)

    def heading(self, panel: str) -> Heading:
        if panel == "a":
            return Heading("What to do", where="{wizard.open} begin")
        waiting = len(self.known.unfinished) if self.known else 0
        which = f"{waiting} not finished" if waiting else ""
        return Heading("Begun and done", which)

    def advice(self) -> str:
        return "Everything is planned and shown first; nothing is written before you say so."

    def missing(self) -> str:
        why = self.forbidden
        return f"{why} Planning, exporting and migrating work all the same." if why else ""

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        if panel == "a":
            return [row for task in TASKS for row in self._task(task, width, height)]
        if self.known is None:
            return text_rows("reading the journal", width, "$dim")
        rows: list[Row] = []
        if self.error is not None:
            rows += text_rows(str(self.error), width, "$danger")
        for sentence in self.known.settled:
            rows += text_rows(sentence, width)
        if self.known.unfinished:
            rows.append(heading_row("NOT FINISHED"))
            rows += [self._unfinished(each, width) for each in self.known.unfinished]
            rows.append(blank())
        if self.known.switch:
            rows.append(heading_row("THE WAY BACK"))
            line = Content.styled(" take the last switch of models back", "$foreground")
            rows += [Row((line,), "back"), *text_rows(f"kept in {self.known.switch}", width, "$dim", "   ")]
            rows.append(blank())
        rows.append(heading_row("DONE LATELY"))
        done = [(each.time_ms, self._recent(each, width)) for each in self.known.recent]
        done += [(each.time_ms, self._export(each, at, width)) for at, each in enumerate(self.known.exports)]
        rows += [row for _, row in sorted(done, key=lambda each: -each[0])]
        if not done:
            rows += text_rows(
                "Nothing yet. What is imported or mended is listed here, to be taken back; and where exports went.",
                width,
                "$dim",
            )
        return rows

    def _task(self, task: Task, width: int, height: int) -> list[Row]:
        title = Content.styled(f" {task.title}", "bold $foreground")
        about = Content.styled(f"   {crop(task.about, width - 4, self.glyphs.ellipsis)}", "$dim")
        if height >= 3 * len(TASKS):
            return [Row((title, about, Content()), f"task:{task.name}")]
        if height >= 2 * len(TASKS):
            return [Row((title, about), f"task:{task.name}")]
        line = Content.assemble(
            " ",
            (fit(task.title, 17), "bold $foreground"),
            (crop(task.about, max(4, width - 19), self.glyphs.ellipsis), "$dim"),
        )
        return [Row((line,), f"task:{task.name}")]

    def _unfinished(self, run: Unfinished, width: int) -> Row:
        what = ", ".join(one_line(str(each).rsplit("/", 1)[-1]) for each in run.what.get("sources", ()))
        what = what or f"with {one_line(str(run.what.get('model', '')))}"
        kind = "import of" if run.kind == "import" else "re-embedding"
        why = one_line(run.why) or "Its program was ended."
        ways = self.words("{wizard.open} goes on, {wizard.forget} forgets it")
        first = crop(f" {kind} {what}", width - 14, self.glyphs.ellipsis)
        return Row(
            (
                Content.assemble((first, "$foreground"), "  ", (ago(run.time_ms, self.now_ms), "$dim")),
                Content.styled(crop(f"   {why}  {ways}", width - 1, self.glyphs.ellipsis), "$dim"),
            ),
            f"run:{run.name}",
        )

    def _recent(self, entry: JournalEntry, width: int) -> Row:
        when = ago(entry.time_ms, self.now_ms)
        state = "" if entry.state == "applied" else f"{entry.state}: "
        text = f" {full(entry.entry)}  {state}{one_line(entry.title)}"
        style = "$foreground" if entry.state == "applied" else "$dim"
        return Row((self._dated(text, style, when, width),), f"entry:{entry.entry}")

    def _export(self, each: PastExport, at: int, width: int) -> Row:
        """Where an export went; Enter copies the path."""
        rows = plural(each.rows, "memory", "memories")
        text = f" {self.glyphs.forth}  {rows} to {one_line(each.path.rsplit('/', 1)[-1])} ({each.format})"
        return Row((self._dated(text, "$foreground", ago(each.time_ms, self.now_ms), width),), f"export:{at}")

    def _dated(self, text: str, style: str, when: str, width: int) -> Content:
        line = fit(text, max(8, width - len(when) - 2), self.glyphs.ellipsis)
        return Content.assemble((line, style), " ", (when, "$dim"))

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        if act == "forget":
            return key.startswith("run:")
        if act == "undo":
            return self._entry() is not None
        return act == "paste"

    def _entry(self) -> int | None:
        key = self.screen.rows("b").key if self.screen.is_mounted else ""
        number = int(key.removeprefix("entry:")) if key.startswith("entry:") else 0
        recent = self.known.recent if self.known else ()
        return next((each.entry for each in recent if each.entry == number and each.state == "applied"), None)

    def moved(self, panel: str, key: str) -> None:
        self.screen.refresh_bindings()

    def opened(self, panel: str, key: str) -> None:
        kind, _, name = key.partition(":")
        if kind == "task":
            self.screen.go(flow_named(name, self.screen))
        elif kind == "run":
            self._go_on(name)
        elif kind == "export" and self.known is not None:
            host(self.screen).copy(self.known.exports[int(name)].path, "path")
        elif kind == "back":
            from memtui.tui.screens.transfer.reembed_task import SwitchBack

            self.screen.go(SwitchBack(self.screen))

    def acted(self, act: str, panel: str, key: str) -> None:
        if act == "forget":
            self.engine.transfer.runs.forget(key.removeprefix("run:"))
            self.renewed()
        elif act == "undo" and (entry := self._entry()) is not None:
            self.screen.staging.undo(entry)
        elif act == "paste":
            flow = flow_named("import", self.screen)
            self.screen.go(flow)
            flow.acted("paste", "", "")

    def _go_on(self, name: str) -> None:
        run = (
            next((each for each in self.known.unfinished if each.name == name), None) if self.known else None
        )
        if run is not None:
            self.screen.go(flow_named(run.kind, self.screen, run))

    def entries(self) -> list[PaletteEntry]:
        from memtui.tui.dialogs.palette_entry import PaletteEntry

        return [
            PaletteEntry(
                "TRANSFER",
                task.title,
                lambda name=task.name: self.opened("a", f"task:{name}"),  # type: ignore[misc]
                task.about,
            )
            for task in TASKS
        ]
