"""The import wizard: source, map, review, run, report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import CancelToken
from memtui.tui.paint.numbers import full, size
from memtui.tui.screens.transfer import review
from memtui.tui.screens.transfer import state as reduce
from memtui.tui.screens.transfer.import_map import MapPart
from memtui.tui.screens.transfer.import_part import ImportPart
from memtui.tui.screens.transfer.import_review import ReviewPart
from memtui.tui.screens.transfer.import_run import ReportPart, RunPart
from memtui.tui.screens.transfer.import_source import SourcePart
from memtui.tui.screens.transfer.pace import Pace
from memtui.tui.screens.transfer.state import Found, ImportState
from memtui.tui.screens.transfer.stepped import Stepped

if TYPE_CHECKING:
    from memtui.engine.transfer.unfinished import Unfinished
    from memtui.tui.screens.transfer.screen import TransferScreen


class Import(Stepped):
    """Memories from somewhere else, planned whole before a row is written."""

    name, title, steps = "import", "Import", reduce.STEPS

    def __init__(self, screen: TransferScreen, run: Unfinished | None = None) -> None:
        super().__init__(screen)
        self.state = ImportState()
        self._again = run
        parts: dict[str, type[ImportPart]] = {
            "source": SourcePart,
            "map": MapPart,
            "review": ReviewPart,
            "run": RunPart,
            "report": ReportPart,
        }
        self.parts = {name: part(screen, self) for name, part in parts.items()}

    @property
    def step(self) -> str:
        return self.state.step

    def set(self, **changes: Any) -> None:
        """Replace parts of the state and show it."""
        self.state = replace(self.state, **changes)
        self.paint()

    def renewed(self) -> None:
        if self._again is not None:
            run, self._again = self._again, None
            request = run.request
            self.state = replace(self.state, request=request, typed=str(request.sources[0]))
            self.look_closely()
            self.make_plan()
        elif self.state.step == "source":
            self.typed(self.state.typed)
        elif self.state.step == "review":
            self.make_plan()  # on the rows that are there now

    def close(self) -> None:
        if self.state.plan is not None:
            self.state.plan.close()

    def about(self) -> str:
        state = self.state
        paths = state.request.sources
        if state.step == "source" or not paths:
            return ""
        name = paths[0].name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        bytes_ = f", {size(state.found.size)}" if state.found is not None and state.found.size else ""
        records = f", {full(state.plan.total)} records" if state.plan is not None else ""
        return f"{name}{bytes_}{records}"

    def strip(self, width: int) -> Content:
        planned = self.state.plan is not None and self.state.step == "review"
        return review.strip_line(self.state, width, self.glyphs) if planned else Content()

    def line_text(self) -> str:
        return self.state.typed

    # ------------------------------------------------------------------ what several steps ask for

    def look_closely(self) -> None:
        """The format, the mapping and the first records of what is to be imported."""
        engine, request = self.engine, self.state.request

        def look(_: object, stop: CancelToken) -> Any:
            found = engine.transfer.detect(request.sources, request.format)
            bytes_ = sum(each.path.stat().st_size for each in found if each.path.is_file())
            return Found("", found, bytes_), engine.transfer.preview(request)

        self.work("preview", look)
        self.paint()

    def make_plan(self) -> None:
        """Plan what is asked for; the plan before stays until the new one is there."""
        engine, request = self.engine, self.state.request
        self.state = replace(self.state, step="review", error=None, pace=Pace())
        self.work("plan", lambda report, stop: reduce.added_up(engine.transfer.plan(request, report, stop)))
        self.paint()

    def ask_for(self, **changes: Any) -> None:
        """Ask for something else, and see what that gives."""
        self.take(reduce.asked(self.state, **changes))

    def take(self, state: ImportState) -> None:
        """Ask for what `state` asks for."""
        self.state = state
        if state.step == "map":
            self.look_closely()
        else:
            self.make_plan()
