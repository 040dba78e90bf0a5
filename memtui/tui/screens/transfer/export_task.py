"""The export wizard: what, in which form, where to; then written, and counted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.content import Content

from memtui.engine import ListQuery, Memory, MemtuiError, one_line
from memtui.engine.transfer import (
    CHOOSABLE,
    EXPORT_FORMATS,
    EXPORT_TITLES,
    FOLDERS,
    ExportRequest,
    fields_of,
    left_out,
    parse_fields,
)
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import crop, fit, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, plural, size
from memtui.tui.screens.transfer import import_source_view
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.task import STOPPED, Heading, TaskFlow
from memtui.tui.wizard.view import (
    RunProgress,
    Setting,
    blank,
    fact_row,
    ledger_rows,
    pace_rows,
    setting_row,
    text_rows,
    warning_rows,
)

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        Exported,
        GivenPath,
    )
    from memtui.tui.screens.transfer.screen import TransferScreen


# What the export wizard shows: pure functions of its state.

Step = Literal["what", "form", "place", "report"]

SUFFIX = {"jsonl": ".jsonl", "json": ".json", "csv": ".csv", "parquet": ".parquet"}

SHOWN = 100


@dataclass(frozen=True, slots=True)
class ExportState:
    """`counted` is for `filter` (or `ids`); `trial` for the form that is chosen."""

    step: Step = "what"
    filter: str = ""
    ids: tuple[str, ...] = ()
    """Marked in Browse; they go before the filter."""
    scopes: tuple[str | None, ...] | None = None
    """Chosen in Browse, on top of the filter."""
    counted: int | None = None
    first: tuple[Memory, ...] = ()
    format: str = "jsonl"
    vectors: bool = False
    mask: bool = True
    redact: bool = False
    fields: str = ""
    """Names with commas; empty: all of them."""
    trial: Exported | None = None
    bytes: int | None = None
    place: str = ""
    places: tuple[GivenPath, ...] = ()
    overwrite: bool = False
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    done: Exported | None = None


def what_rows(state: ExportState, panel: str, width: int, glyphs: Glyphs) -> list[Row]:
    """Which memories: the ways to say it, and the first of them."""
    if panel == "a":
        narrowed = bool(state.filter) or state.scopes is not None
        within = f", in {plural(len(state.scopes), 'scope')}" if state.scopes is not None else ""
        ways = [
            ("all", "every memory", not narrowed and not state.ids),
            ("filter", f"those of the filter{within}", narrowed and not state.ids),
        ]
        if state.ids:
            ways.append(("marks", f"the {full(len(state.ids))} marked in Browse", True))
        return [
            Row((Content.assemble(" ", (glyphs.mark if on else " ", "$ok"), f" {label}"),), name)
            for name, label, on in ways
        ]
    if state.error is not None:
        return warning_rows(str(state.error), width, glyphs)
    if state.counted == 0:
        return text_rows("No memory is kept by it: change the filter.", width, "$stale")
    rows = []
    for memory in state.first:
        scope = crop(one_line(memory.scope or "-"), 18, glyphs.ellipsis)
        line = Content.assemble(
            " ",
            (fit(memory.title, max(8, width - 21), glyphs.ellipsis), "$foreground"),
            " ",
            (scope, scope_style(memory.scope)),
        )
        rows.append(Row((line,), f"memory:{memory.id}"))
    return rows


def settings(state: ExportState) -> list[Setting]:
    """What can be decided about the form."""
    found = [Setting("format", "form", state.format, EXPORT_TITLES[state.format])]
    if state.format in CHOOSABLE:
        found.append(
            Setting("fields", "fields", state.fields or "all", "beside id and text", bool(state.fields))
        )
    if state.format in SUFFIX:
        found.append(Setting("vectors", "vectors", meaning="float32, exact", on=state.vectors))
    found += [
        Setting("mask", "mask secrets", meaning="passwords and keys", on=state.mask),
        Setting("redact", "without texts", meaning="shape and numbers alone", on=state.redact),
    ]
    return found


def form_rows(state: ExportState, panel: str, width: int, glyphs: Glyphs) -> list[Row]:
    """The form, and what it loses."""
    if panel == "a":
        rows = [setting_row(each, width, glyphs, 14) for each in settings(state)]
        rows += [blank(), fact_row("memories", full(state.counted), width, glyphs)]
        rows.append(
            fact_row(
                "size",
                "measuring" if state.bytes is None else f"about {size(state.bytes)}",
                width,
                glyphs,
            )
        )
        if state.trial is not None:
            rows.append(fact_row("masked", plural(state.trial.masked, "memory", "memories"), width, glyphs))
        return rows
    if state.trial is None:
        return text_rows("counting what this form loses", width, "$dim")
    return ledger_rows(state.trial.loss, width, glyphs)


def place_rows(
    state: ExportState, panel: str, width: int, glyphs: Glyphs, *, path: Path, running: bool
) -> list[Row]:
    """Where to, and what will be written there."""
    if panel == "a":
        begun = [import_source_view.place_row(each, width, glyphs) for each in state.places]
        return begun or text_rows("Nothing here begins so: a new name.", width, "$dim")
    if state.pace.phases:
        return pace_rows(state.pace, width, glyphs, running=running)
    there = path.exists() and not (path.is_dir() and state.format in FOLDERS)
    rows = [
        fact_row("to", tilde(str(path)), width, glyphs),
        fact_row("memories", full(state.counted), width, glyphs),
        fact_row("form", f"{state.format}: {EXPORT_TITLES[state.format]}", width, glyphs),
        fact_row("size", "measuring" if state.bytes is None else f"about {size(state.bytes)}", width, glyphs),
        fact_row("vectors", "with" if state.vectors else "without", width, glyphs),
        fact_row("secrets", "masked" if state.mask else "left in", width, glyphs),
        blank(),
    ]
    if there:
        rows += warning_rows(
            "There is something already; you are asked before it is replaced.", width, glyphs
        )
    if not state.mask:
        rows += warning_rows("Passwords and keys in the texts are written as they are.", width, glyphs)
    return rows


def report_rows(state: ExportState, panel: str, width: int, glyphs: Glyphs) -> list[Row]:
    """What was written."""
    done = state.done
    if done is None:
        return []
    if panel == "b":
        return ledger_rows(done.loss, width, glyphs)
    equal = done.rows == state.counted
    line = Content.assemble(
        (glyphs.mark if equal else glyphs.warn, "$ok" if equal else "$stale"),
        f" {full(done.rows)} of {full(state.counted)}",
    )
    files = [fact_row("files", full(done.files), width, glyphs)] if done.files > 1 else []
    return [
        fact_row("written", line, width, glyphs),
        fact_row("to", tilde(str(done.path)), width, glyphs),
        fact_row("size", size(done.size_bytes), width, glyphs),
        *files,
        fact_row("masked", plural(done.masked, "memory", "memories"), width, glyphs),
        blank(),
        Row((Content(" copy the path"),), "way:copy"),
        Row((Content(" export something else"),), "way:again"),
    ]


NOWHERE = ".memtui-trial"
"""What a trial is written to: nothing is."""


class Export(TaskFlow[ExportState]):
    """Memories into a file or a folder; the store is only read."""

    name, title = "export", "Export"
    steps = ("what", "form", "place", "report")
    PACED = ("run",)

    def __init__(
        self,
        screen: TransferScreen,
        ids: tuple[str, ...] = (),
        filter: str = "",
        scopes: tuple[str | None, ...] | None = None,
        format: str = "",
    ) -> None:
        super().__init__(screen, ExportState(ids=ids, filter=filter, scopes=scopes))
        if format:
            self.state = replace(self.state, format=format, step="form")

    def renewed(self) -> None:
        if self.state.counted is None or self.state.step == "what":
            self._count()
        if self.state.step in ("form", "place"):
            self._try()

    def _request(self, path: Path | None = None) -> ExportRequest:
        state = self.state
        return ExportRequest(
            path or Path(NOWHERE),
            state.format,
            filter="" if state.ids else state.filter,
            ids=state.ids,
            scopes=None if state.ids else state.scopes,
            vectors=state.vectors,
            mask=state.mask,
            redact=state.redact,
            fields=parse_fields(state.fields),
            overwrite=state.overwrite,
        )

    # ------------------------------------------------------------------ what it shows

    def about(self) -> str:
        counted = self.state.counted
        return "" if counted is None else plural(counted, "memory", "memories")

    def shape(self) -> Shape:
        if self.state.step in ("what", "place"):
            return Shape("two", line=True, side_rows=5)
        return Shape("two", side_rows=9)

    def heading(self, panel: str) -> Heading:
        state = self.state
        if state.step == "what":
            counted = state.counted
            unknown = "not counted" if state.error is not None else "counting"
            count = unknown if counted is None else plural(counted, "memory", "memories")
            return {
                "line": Heading(
                    "Which memories", "a filter, as in Browse: tier:core scope:agent:* age<30d", count
                ),
                "a": Heading("What"),
            }.get(panel, Heading("The first of them", count))
        if state.step == "form":
            return Heading("Form", where="{wizard.open} changes") if panel == "a" else Heading("What is lost")
        if state.step == "place":
            what = "a folder" if state.format in FOLDERS else "a file"
            names = {"line": Heading("Write to", what, "{path.complete} completes"), "a": Heading("Folder")}
            return names.get(panel, Heading("Export", "writing" if self.busy("run") else "not begun"))
        return Heading("Done") if panel == "a" else Heading("What is other than in the store")

    def line_text(self) -> str:
        return self.state.filter if self.state.step == "what" else self.state.place

    def advice(self) -> str:
        return {
            "what": "The store is only read. An empty filter is every memory.",
            "form": "{transfer.next} goes on to where it is written.",
            "place": "{path.take} takes the path, then {transfer.write} writes it: whole or not at all.",
        }.get(self.state.step, "")

    def missing(self) -> str:
        return "" if self.state.error is None else str(self.state.error)

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, self.glyphs
        if state.step == "what":
            return what_rows(state, panel, width, glyphs)
        if state.step == "form":
            return form_rows(state, panel, width, glyphs)
        if state.step == "place":
            running = self.busy("run")
            return place_rows(state, panel, width, glyphs, path=self._path(), running=running)
        return report_rows(state, panel, width, glyphs)

    # ------------------------------------------------------------------ engine calls

    def _count(self) -> None:
        engine, state = self.engine, self.state
        self.state = replace(state, counted=None)
        if state.ids:
            self.work(
                "count", lambda _, stop: (len(state.ids), tuple(engine.memories(state.ids[:SHOWN]).values()))
            )
            return
        query = ListQuery(filter=state.filter, scopes=state.scopes)

        def count(_: object, stop: Any) -> tuple[int, tuple[Memory, ...]]:
            view = engine.view(query, stop)
            return view.total, tuple(engine.page(view, 0, min(SHOWN, view.total)))

        self.work("count", count)

    def _try(self) -> None:
        """What the form loses, and how large it is."""
        engine, request = self.engine, self._request()
        self.state = replace(self.state, trial=None, bytes=None, error=None)
        self.work("trial", lambda _, stop: engine.transfer.export(request, dry_run=True, cancel=stop))
        self.work("size", lambda _, stop: engine.transfer.export_size(request))
        self.paint()

    def _write(self) -> None:
        engine, request = self.engine, self._request(self._path())
        self.state = replace(self.state, error=None, pace=RunProgress())
        self.work(
            "run", lambda report, stop: engine.transfer.export(request, on_progress=report, cancel=stop)
        )
        self.paint()

    def _path(self) -> Path:
        from memtui.engine.transfer import (
            given_paths,
        )

        found = given_paths(self.state.place, Path.cwd())
        return found[0] if found else Path.cwd()

    def finished(self, slot: str, value: Any) -> None:
        if slot == "count":
            self.set(counted=value[0], first=value[1], error=None)
        elif slot == "trial":
            if value is not STOPPED:
                self.set(trial=value)
        elif slot == "size":
            self.set(bytes=value)
        elif slot == "places":
            self.set(places=value)
        elif value is STOPPED:
            self.set(pace=RunProgress(), error=MemtuiError("It was stopped; nothing was kept."))
        else:
            self.set(step="report", done=value, pace=RunProgress())
            self.screen.flash(
                f"{plural(value.rows, 'memory', 'memories')} written to {tilde(str(value.path))}"
            )

    def failed(self, slot: str, error: MemtuiError) -> None:
        counted = None if slot == "count" else self.state.counted
        self.set(
            error=error,
            pace=RunProgress(),
            counted=counted,
            first=() if slot == "count" else self.state.first,
        )

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        if act == "switch":
            return any(each.key == key and each.on is not None for each in settings(self.state))
        return (
            act == "write"
            and self.state.step == "place"
            and not self.busy("run")
            and bool(self.state.counted)
        )

    def goes_on(self) -> bool:
        return self.state.step != "place"

    def typed(self, text: str) -> None:
        if self.state.step == "what" and text != self.state.filter:
            self.state = replace(self.state, filter=text, ids=())
            self._count()
        elif self.state.step == "place":
            from memtui.engine.transfer import (
                completions,
            )

            self.state = replace(self.state, place=text, overwrite=False, error=None)
            self.work("places", lambda _, stop: completions(text, Path.cwd()))
        self.paint()

    def took(self, text: str) -> None:
        if self.state.step == "what":
            self.next()
        else:
            self.screen.focus_list("b")

    def pasted(self, text: str) -> None:
        self.screen.put_line(" ".join(text.split()))

    def completed(self) -> None:
        if self.state.step == "place" and self.state.places:
            self.screen.put_line(
                self.state.places[0].path
                if len(self.state.places) == 1
                else import_source_view.longest(self.state.places, self.state.place)
            )
        else:
            self.screen.focus_list("a")

    def opened(self, panel: str, key: str) -> None:
        state = self.state
        kind, _, rest = key.partition(":")
        if state.step == "what" and panel == "a":
            if key != "marks":
                self.state = replace(state, ids=(), scopes=None if key == "all" else state.scopes)
                self.screen.put_line("" if key == "all" else state.filter)
                self._count()
        elif state.step == "form" and panel == "a":
            self._change(key)
        elif state.step == "place" and kind == "place":
            self.screen.put_line(rest)
        elif key == "way:copy" and state.done is not None:
            from memtui.tui.host import host

            host(self.screen).copy(str(state.done.path), "path")
        elif key == "way:again":
            self.screen.go(Export(self.screen))
        elif state.step != "place":
            self.next()

    def _change(self, key: str) -> None:
        if key == "format":
            options = [Option(name, name, EXPORT_TITLES[name]) for name in EXPORT_FORMATS]

            def took(name: str) -> None:
                self.state = replace(self.state, format=name, place="", fields="")
                self._try()

            self.pick("Form", options, self.state.format, took)
        elif key == "fields":
            there = ", ".join(fields_of(self.engine.store, self.state.format))
            self.ask("Fields", f"With commas, from {there}. - is all.", self.state.fields, self._take_fields)
        else:
            switched: dict[str, Any] = {key: not getattr(self.state, key)}
            self.state = replace(self.state, **switched)
            self._try()

    def _take_fields(self, text: str) -> None:
        try:
            left_out(self.engine.store, self.state.format, parse_fields(text))
        except MemtuiError as error:
            self.screen.flash(str(error), "error")
            return
        self.state = replace(self.state, fields=", ".join(parse_fields(text)))
        self._try()

    def acted(self, act: str, panel: str, key: str) -> None:
        if act == "switch":
            self._change(key)
            return
        path = self._path()
        there = path.is_file()

        def replace_it(answer: str) -> None:
            if answer == "yes":
                self.state = replace(self.state, overwrite=True)
                self._write()

        if there and not self.state.overwrite:
            options = [Option("no", "leave it", "nothing is written"), Option("yes", "replace it", str(path))]
            self.pick(f"{one_line(path.name)} is there already", options, "no", replace_it)
        else:
            self._write()

    def next(self) -> None:
        state = self.state
        if state.step == "what":
            if state.counted and state.error is None:
                self.state = replace(state, step="form")
                self._try()
        elif state.step == "form":
            name = f"memories{SUFFIX.get(state.format, '')}"
            self.state = replace(state, step="place", place=state.place or name, error=None)
            self.typed(self.state.place)
        elif state.step == "report":
            self.screen.home()

    def back(self) -> bool:
        before = {"form": "what", "place": "form"}.get(self.state.step)
        if before is None or self.busy("run"):
            return self.busy("run")
        self.stop()
        self.set(step=before, error=None)
        self.renewed()
        return True
