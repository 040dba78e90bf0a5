"""The export wizard: what, in which form, where to; then written, and counted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import ListQuery, Memory, MemtuiError, Progress, one_line
from memtui.engine.transfer.export import FOLDERS, FORMATS, TITLES, ExportRequest
from memtui.engine.transfer.export_fields import fields_of, left_out, parse_fields
from memtui.tui.dialogs.pick import Option
from memtui.tui.paint.numbers import plural
from memtui.tui.paint.places import tilde
from memtui.tui.screens.transfer import export_rows, source
from memtui.tui.screens.transfer.arrange import Shape
from memtui.tui.screens.transfer.export_rows import SHOWN, SUFFIX, ExportState
from memtui.tui.screens.transfer.flow import STOPPED, Flow, Heading
from memtui.tui.screens.transfer.pace import Pace, heard, ticked
from memtui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from memtui.tui.screens.transfer.screen import TransferScreen


NOWHERE = ".memtui-trial"
"""What a trial is written to: nothing is."""


class Export(Flow):
    """Memories into a file or a folder; the store is only read."""

    name, title = "export", "Export"
    steps = ("what", "form", "place", "report")

    def __init__(
        self,
        screen: TransferScreen,
        ids: tuple[str, ...] = (),
        filter: str = "",
        scopes: tuple[str | None, ...] | None = None,
    ) -> None:
        super().__init__(screen)
        self.state = ExportState(ids=ids, filter=filter, scopes=scopes)

    @property
    def step(self) -> str:
        return self.state.step

    def set(self, **changes: Any) -> None:
        """Replace parts of the state and show it."""
        self.state = replace(self.state, **changes)
        self.paint()

    def renewed(self) -> None:
        if self.state.step == "what":
            self._count()
        elif self.state.step in ("form", "place"):
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
            return export_rows.what_rows(state, panel, width, glyphs)
        if state.step == "form":
            return export_rows.form_rows(state, panel, width, glyphs)
        if state.step == "place":
            running = self.busy("run")
            return export_rows.place_rows(state, panel, width, glyphs, path=self._path(), running=running)
        return export_rows.report_rows(state, panel, width, glyphs)

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
        self.state = replace(self.state, error=None, pace=Pace())
        self.work(
            "run", lambda report, stop: engine.transfer.export(request, on_progress=report, cancel=stop)
        )
        self.paint()

    def _path(self) -> Path:
        from memtui.engine.transfer.places import given_paths

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
            self.set(pace=Pace(), error=MemtuiError("It was stopped; nothing was kept."))
        else:
            self.set(step="report", done=value, pace=Pace())
            self.screen.flash(
                f"{plural(value.rows, 'memory', 'memories')} written to {tilde(str(value.path))}"
            )

    def failed(self, slot: str, error: MemtuiError) -> None:
        counted = None if slot == "count" else self.state.counted
        self.set(error=error, pace=Pace(), counted=counted, first=() if slot == "count" else self.state.first)

    def advanced(self, slot: str, progress: Progress) -> None:
        if slot == "run":
            self.set(pace=heard(self.state.pace, progress, self.now_ms))
        elif not slot and self.busy("run"):
            self.set(pace=ticked(self.state.pace, self.now_ms))

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        if act == "switch":
            return any(each.key == key and each.on is not None for each in export_rows.settings(self.state))
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
            from memtui.engine.transfer.places import completions

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
                else source.longest(self.state.places, self.state.place)
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
            options = [Option(name, name, TITLES[name]) for name in FORMATS]

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
