"""The import wizard: source, map, review, run, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import CancelToken, MemtuiError, Progress
from memtui.engine.transfer import (
    GROUPS,
)
from memtui.tui.host import host
from memtui.tui.layouts import Shape
from memtui.tui.messages import ShowInBrowse
from memtui.tui.paint.cells import right
from memtui.tui.paint.numbers import full, plural, size
from memtui.tui.screens.transfer import import_review_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_review import ReviewPart
from memtui.tui.screens.transfer.import_source import MapPart, SourcePart
from memtui.tui.screens.transfer.import_state import DetectedSources, ImportState
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.task import STOPPED, Heading, ImportPart, Stepped
from memtui.tui.wizard.view import (
    RunProgress,
    blank,
    fact_row,
    heading_row,
    heard,
    ledger_rows,
    pace_rows,
    text_rows,
    ticked,
    warning_rows,
)

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        Unfinished,
    )
    from memtui.tui.screens.transfer.screen import TransferScreen


# The last steps of an import: agreeing to what will be written, writing it, and what came of it.

TYPE_FROM = 1
"""So many memories whose text is replaced: the number has to be typed."""


class RunPart(ImportPart):
    """Says everything that will be written; writes when the person agrees."""

    slots = ("run",)

    def shape(self) -> Shape:
        return Shape("two", side_rows=8)

    def heading(self, panel: str) -> Heading:
        if panel == "a":
            return Heading("Will be written")
        return Heading(
            "Run",
            "writing" if self.busy("run") else "not begun",
            "{transfer.stop} stops it" if self.busy("run") else "",
        )

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        return self._what(width) if panel == "a" else self._run(width)

    def _what(self, width: int) -> list[Row]:
        state, plan, glyphs = self.state, self.state.plan, self.glyphs
        if plan is None:
            return []
        replaced = state.replaced
        added = state.taken - replaced
        left = sum(reduce.left(state)[group] for group in GROUPS)
        facts: list[tuple[str, str | Content]] = [
            ("added", plural(added, "memory", "memories")),
            ("replaced", plural(replaced, "memory", "memories")),
            ("left out", full(left)),
            ("embedding", import_review_view.cost_words(state)),
            ("changed", plural(len(state.losses), "ledger line")),
            ("journal", "one entry, undone as a whole"),
            ("store", self.engine.info.name),
        ]
        return [fact_row(name, value, width, glyphs) for name, value in facts]

    def _run(self, width: int) -> list[Row]:
        state, glyphs = self.state, self.glyphs
        if state.pace.phases:
            rows = pace_rows(state.pace, width, glyphs, running=self.busy("run"))
            if state.stopping:
                rows += text_rows(
                    "Stopping at the next safe place; nothing is written before the end.", width, "$stale"
                )
            if state.error is not None:
                rows += [blank(), *warning_rows(str(state.error), width, glyphs), blank()]
                rows += text_rows(
                    self.words(
                        "Nothing was written. {transfer.write} begins again; what a service made is kept."
                    ),
                    width,
                    "$dim",
                )
            return rows
        if state.error is not None:
            return [
                *warning_rows(str(state.error), width, glyphs),
                blank(),
                *text_rows(self.words("Nothing was written. {transfer.write} tries again."), width, "$dim"),
            ]
        if why := self.forbidden:
            rows = warning_rows(why, width, glyphs)
            rows += [
                blank(),
                *text_rows(
                    "The plan stays here while you look at it; nothing is lost by going back.", width, "$dim"
                ),
            ]
            return rows
        rows = [*text_rows(self._how(), width, "bold $foreground"), blank()]
        for each in self._agreeing():
            rows += warning_rows(each, width, glyphs)
        rows += text_rows(
            self.words(
                "One commit: it is wholly there or not at all. {transfer.undo} takes it back afterwards."
            ),
            width,
            "$dim",
        )
        return rows

    def _agreeing(self) -> list[str]:
        """What a person agrees to by going on."""
        plan = self.state.plan
        access = self.engine.curate.access
        found = [access.reason] if access.verdict == "confirm" else []
        found += [access.warning] if access.warning else []
        if plan is not None and plan.draft.broken:
            found.append(
                f"{plural(plan.draft.broken, 'part')} of the source cannot be read and will be left out."
            )
        if plan is not None and plan.flags["orders"]:
            found.append(
                f"{plural(plan.flags['orders'], 'text reads', 'texts read')} like orders to an agent."
            )
        replaced = self.state.replaced
        if replaced:
            found.append(f"The text of {plural(replaced, 'memory', 'memories')} here is replaced.")
        return found

    def _how(self) -> str:
        key = "Y, when the agent is stopped," if self.engine.curate.access.verdict == "confirm" else "y"
        return f"{key} writes it."

    def advice(self) -> str:
        return "Nothing is written yet." if not self.busy("run") else ""

    def missing(self) -> str:
        return self.forbidden if not self.busy("run") else ""

    def able(self, act: str, panel: str, key: str) -> bool:
        plan = self.state.plan
        if act not in ("write", "stopped") or self.forbidden or self.busy("run") or plan is None:
            return False
        if self.busy("sums"):  # how many are replaced is not known yet
            return False
        if not self.state.taken:
            return False
        return (act == "stopped") == (self.engine.curate.access.verdict == "confirm")

    def acted(self, act: str, panel: str, key: str) -> None:
        replaced = self.state.replaced
        if replaced < TYPE_FROM:
            self._begin()
            return

        def typed(text: str) -> None:
            if text.replace(",", "").strip() == str(replaced):
                self._begin()
            else:
                self.screen.flash("Another number: nothing was written.", "note")

        hint = f"The text of {plural(replaced, 'memory', 'memories')} here is replaced. Type {replaced} to agree."
        self.flow.ask("Replace memories", hint, "", typed)

    def _begin(self) -> None:
        engine, plan = self.engine, self.state.plan
        assert plan is not None
        self.set(error=None, stopping=False, pace=RunProgress())
        self.work(
            "run",
            lambda report, stop: engine.transfer.run(plan, confirmed=True, on_progress=report, cancel=stop),
        )
        self.flow.paint()

    def stop(self) -> bool:
        running = self.busy("run")
        if running:
            self.screen.stop_calls()
            self.set(stopping=True)
        return running

    def finished(self, slot: str, value: Any) -> None:
        if value is STOPPED:
            error = MemtuiError("It was stopped.", fix="The start page offers to go on with it.")
            self.set(error=error, stopping=False)
            return
        self.set(step="report", done=value, stopping=False)
        written = value.added + value.replaced
        if value.entry is not None:
            host(self.screen).take(
                "changed", f"{plural(written, 'memory', 'memories')} imported (entry {full(value.entry)})"
            )

    def failed(self, slot: str, error: MemtuiError) -> None:
        self.set(error=error, stopping=False)

    def advanced(self, slot: str, progress: Progress) -> None:
        if slot:
            self.set(pace=heard(self.state.pace, progress, self.now_ms))
        elif self.busy("run"):
            self.set(pace=ticked(self.state.pace, self.now_ms))

    def opened(self, panel: str, key: str) -> None:
        """Enter never writes."""

    def goes_on(self) -> bool:
        return False

    def back(self) -> bool:
        if not self.busy("run"):
            self.set(step="review", error=None, pace=RunProgress())
        return True


class ReportPart(ImportPart):
    """What was written, what was left out and changed, and the way back."""

    def shape(self) -> Shape:
        return Shape("two", side_rows=8)

    def heading(self, panel: str) -> Heading:
        if panel == "a":
            return Heading("Done" if not self.state.undone else "Taken back")
        return Heading("What is other than in the source", plural(len(self.state.losses), "line"))

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, self.glyphs
        if panel == "b":
            return [*ledger_rows(state.losses, width, glyphs), blank(), *self._left(width)]
        done = state.done
        if done is None:
            return []
        rows = [
            fact_row("added", plural(done.added, "memory", "memories"), width, glyphs),
            fact_row("replaced", plural(done.replaced, "memory", "memories"), width, glyphs),
            fact_row(
                "journal", "no entry" if done.entry is None else f"entry {full(done.entry)}", width, glyphs
            ),
            blank(),
        ]
        ways = [("again", "import something else"), ("browse", "look at them in Browse")]
        if done.entry is not None and not state.undone:
            ways.insert(0, ("undo", "u  take it back, all of it"))
        rows += [Row((Content.styled(f" {text}", "$foreground"),), f"way:{name}") for name, text in ways]
        rows.append(blank())
        known = state.plan.warnings if state.plan is not None else []
        for each in (each for each in done.warnings if each not in known):
            rows += warning_rows(each, width, glyphs)
        return rows

    def _left(self, width: int) -> list[Row]:
        state = self.state
        rows = [heading_row("LEFT OUT")]
        found = reduce.left(state)
        for group in GROUPS:
            if found.get(group):
                why = import_review_view.meaning(group) if group != "new" else "new, left out as decided"
                line = Content.assemble((right(full(found[group]), 8), "$foreground"), "  ", (why, "$dim"))
                rows.append(Row((line,)))
        return rows if len(rows) > 1 else [heading_row("LEFT OUT"), *text_rows("nothing", width, "$dim")]

    def advice(self) -> str:
        return (
            "It is one entry of the journal: {transfer.undo} takes it back, also later and from the Journal."
        )

    def able(self, act: str, panel: str, key: str) -> bool:
        done = self.state.done
        return act == "undo" and done is not None and done.entry is not None and not self.state.undone

    def acted(self, act: str, panel: str, key: str) -> None:
        done = self.state.done
        if done is None or done.entry is None:
            return
        entry = done.entry
        self.screen.staging.stage(
            lambda engine: engine.curate.undo(entry),
            force=lambda engine, ids: engine.curate.undo(entry, forced=ids),
            then=lambda outcome: self.set(undone=True),
        )

    def opened(self, panel: str, key: str) -> None:
        way = key.removeprefix("way:")
        if way == "undo":
            self.acted("undo", "", "")
        elif way == "browse":
            self.screen.app.post_message(ShowInBrowse(""))
        elif way == "again":
            from memtui.tui.screens.transfer.start_page import flow_named

            self.screen.go(flow_named("import", self.screen))

    def next(self) -> None:
        self.screen.home()


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
        return import_review_view.strip_line(self.state, width, self.glyphs) if planned else Content()

    def line_text(self) -> str:
        return self.state.typed

    # ------------------------------------------------------------------ what several steps ask for

    def look_closely(self) -> None:
        """The format, the mapping and the first records of what is to be imported."""
        engine, request = self.engine, self.state.request

        def look(_: object, stop: CancelToken) -> Any:
            found = engine.transfer.detect(request.sources, request.format)
            bytes_ = sum(each.path.stat().st_size for each in found if each.path.is_file())
            return DetectedSources("", found, bytes_), engine.transfer.preview(request)

        self.work("preview", look)
        self.paint()

    def make_plan(self) -> None:
        """Plan what is asked for; the plan before stays until the new one is there."""
        engine, request = self.engine, self.state.request
        self.state = replace(self.state, step="review", error=None, pace=RunProgress())
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
