"""Bisect: "it answered well on Tuesday". One memory's rank over the table's versions, and what changed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive

from memtui.engine import CancelToken, MemtuiError, Progress, RecallRequest, counted, explain, one_line
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, Box, size_class
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished, ShowMemory
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.line_plot import RankPoint, rank_lines
from memtui.tui.paint.numbers import ago, date
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.cases import (
        Bisection,
        BisectPoint,
    )
    from memtui.tui.screens.recall.judging import ChangeRequest


WORDS_ROWS = {"narrow": 5, "normal": 6, "wide": 6}

Cases = Callable[["ChangeRequest", "ChangeRequest | None"], None]


def arrange(width: int, height: int, *, answered: bool) -> Arrangement:
    """What was found on top; the line and the versions beside each other, or below."""
    kind = size_class(width)
    head = WORDS_ROWS[kind]
    body = max(4, height - head)
    found = {"found": Box(0, 0, width, head)}
    if not answered:
        return found | {"line": Box(0, head, width, body)}
    if kind == "narrow":
        upper = body * 55 // 100
        return found | {
            "line": Box(0, head, width, upper),
            "versions": Box(0, head + upper, width, body - upper),
        }
    left = width * 58 // 100
    return found | {"line": Box(0, head, left, body), "versions": Box(left, head, width - left, body)}


def version_rows(found: Bisection, now_ms: int, width: int, glyphs: Glyphs) -> list[Row]:
    """Every version that was looked at, the newest first."""
    rows = []
    for point in reversed(found.points):
        changed = found.changed_at is not None and point.version == found.changed_at.version
        when = date(point.time_ms) if width >= 62 else ago(point.time_ms, now_ms)
        cells = 18 if width >= 62 else 13
        what = what_became(point)
        room = max(6, width - 10 - cells - 6)
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ",
                        (glyphs.forth if changed else " ", "bold $stage-cut"),
                        (right(f"v{point.version}", 6), "$foreground"),
                        "  ",
                        (fit(when, cells), "$dim"),
                        (right(f"#{point.rank}" if point.rank else glyphs.cross, 4), "bold $foreground"),
                        "  ",
                        (fit(what, room, glyphs.ellipsis), "$dim" if point.rank else "$stage-cut"),
                    ),
                ),
                str(point.version),
            )
        )
    return rows


def what_became(point: BisectPoint) -> str:
    """What became of the memory at one version, in words."""
    if point.rank is not None:
        return "returned"
    known = {"no candidate": "no search found it", "unreadable": "this version cannot be asked"}
    if point.disposition in known:
        return known[point.disposition]
    from memtui.engine.cases import (
        dropped_by,
    )

    return one_line(dropped_by(point))


def stops(found: Bisection) -> list[RankPoint]:
    """The versions as the line shows them; those that cannot be asked are left out."""
    at = found.changed_at.version if found.changed_at is not None else None
    return [
        RankPoint(f"v{point.version}", point.rank, point.version == at)
        for point in found.points
        if point.disposition != "unreadable"
    ]


class BisectScreen(BaseScreen):
    """Opened over Recall for one memory and the present question; only reads, whatever it finds."""

    MODE = "recall"
    CSS_PATH = "bisect.tcss"
    BINDINGS = bindings("bisect")

    found: reactive[Bisection | None] = reactive(None, init=False)

    def __init__(
        self, engine: Engine, request: RecallRequest, memory_id: str, text: str, cases: Cases
    ) -> None:
        super().__init__()
        self._engine, self._request, self._memory, self._text = engine, request, memory_id, text
        self._cases = cases
        self._then_ms: int | None = None
        self._then_config: RecallRequest | None = None
        self._then_file = ""
        self._progress: Progress | None = None
        self._error: MemtuiError | None = None

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            Panel(TextLines(), title="Bisect", id="found"),
            Panel(BuiltRows(self._line, id="drawn"), StatePanel(), title="Rank over versions", id="line"),
            Panel(BuiltRows(self._versions, id="points"), title="Versions checked", id="versions"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return arrange(width, height, answered=self.found is not None)

    def _line(self, width: int, height: int) -> Sequence[Row]:
        if self.found is None:
            return []
        lines = rank_lines(stops(self.found), width, height, host(self).glyphs)
        return [Row((line,)) for line in lines]

    def _versions(self, width: int, height: int) -> Sequence[Row]:
        if self.found is None:
            return []
        return version_rows(self.found, host(self).now_ms(), width, host(self).glyphs)

    def on_mount(self) -> None:
        self._run()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._paint()

    def session_changed(self, session: Session) -> None:
        """What was found is about the versions that were there; `^r` looks again."""

    # ------------------------------------------------------------------ looking

    def _run(self) -> None:
        engine, request, memory_id = self._engine, self._request, self._memory
        then_ms, then_config = self._then_ms, self._then_config
        self._error = self._progress = None

        def work(cancel: CancelToken, report: Report) -> Bisection:
            return explain.bisect(
                engine,
                replace(request, table_version=None, now_ms=None),
                memory_id,
                then_ms=then_ms,
                then_config=then_config,
                on_progress=report,
                cancel=cancel,
            )

        self.runner.start("bisect", work)
        self._paint()

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.runner.is_current(message):
            self._progress = message.value
            self._paint()

    def on_run_finished(self, message: RunFinished) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "settings":
            self._then_file, self._then_config = message.value
            self._run()
            return
        self.found = message.value
        self._paint()
        self.hand_over(self.query_one("#points", RowList).focus)

    def on_run_failed(self, message: RunFailed) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "bisect" and self.found is None:
            self._error = message.error
            self._paint()
        else:
            self.flash(str(message.error), "error")
            self._paint()

    # ------------------------------------------------------------------ painting

    def _paint(self) -> None:
        if not self.query(LayoutContainer):
            return
        self._paint_found()
        panel = self.query_one("#line", Panel)
        said = self._instead()
        panel.set_class(said is not None, "-state")
        if said is not None:
            if self.query_one(StatePanel).state != said:
                self.query_one(StatePanel).state = said
            self.hand_over(self.query_one(StatePanel).focus)
        for rows in self.query(BuiltRows):
            rows.repaint()
        panel.headline(which="#1 on top" if said is None else "")
        self.query_one("#versions", Panel).headline(
            which="version   rank", where="{rows.open} compares it with now"
        )
        self.query_one(LayoutContainer).rearrange()
        self.refresh_bindings()

    def _instead(self) -> State | None:
        if self._error is not None:
            return failed("The versions cannot be asked.", self._error, Choice("again", "try again"))
        if self.found is None:
            return State("loading", "asking older versions of the table", skeleton=True)
        return None

    def _paint_found(self) -> None:
        glyphs = host(self).glyphs
        width = self.app.size.width
        room = max(20, width - 4)
        verdict = Content.styled("looking", "$dim")
        if self.runner.busy("bisect"):
            count = self._progress.done if self._progress is not None else 0
            verdict = Content.styled(
                f"asking: {counted(count, 'version')} so far   {host(self).keys.cap('bisect.back')} stops",
                "$primary",
            )
        elif self.found is not None:
            verdict = Content.styled(one_line(self.found.sentence), "bold $match")
        since = "the oldest version" if self._then_ms is None else date(self._then_ms)
        told = f"compared with {since}" + (f", settings then: {self._then_file}" if self._then_file else "")
        lines = [
            Content.styled(crop(one_line(self._request.query), room, glyphs.ellipsis), "bold $foreground"),
            Content.styled(crop(one_line(self._text[:400]), room, glyphs.ellipsis), "$foreground"),
            *verdict.wrap(room)[:2],
            Content.styled(crop(f"{told}   nothing is restored", room, glyphs.ellipsis), "$dim"),
        ]
        if size_class(width) == "narrow":
            lines = lines[1:]
        self.query_one("#found TextLines", TextLines).show([Content.assemble(" ", line) for line in lines])
        cause = self.found.cause if self.found is not None else ""
        self.query_one("#found", Panel).headline(which=f"cause: {cause}" if cause else "")

    # ------------------------------------------------------------------ keys

    @on(StatePanel.Chosen)
    def _chosen(self) -> None:
        self._run()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        self._compare(int(event.key))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "compare":
            return True if self.found is not None and self.found.before is not None else None
        return True

    def action_compare(self) -> None:
        """The version before the change beside the one that changed it."""
        if self.found is not None and self.found.before is not None and self.found.changed_at is not None:
            self._beside(self.found.before.version, self.found.changed_at.version)

    def _compare(self, version: int) -> None:
        if self.found is not None:
            self._beside(version, self.found.now.version)

    def _beside(self, a: int, b: int) -> None:
        from memtui.tui.screens.compare.screen import CompareScreen
        from memtui.tui.screens.compare.state import Side

        sides = [Side(f"version {v}", replace(self._request, table_version=v, now_ms=None)) for v in (a, b)]
        self.app.push_screen(CompareScreen(sides[0], sides[1], cases=self._cases))

    def action_as_of(self) -> None:
        """When it was still right."""

        def taken(text: str | None) -> None:
            from memtui.engine.transfer import (
                read_time,
            )

            if text is None:
                return
            moment, why = read_time(text, host(self).now_ms())
            if moment is None:
                self.flash(f"{one_line(text)}: {why or 'no time'}. Type a date: 2026-05-31.", "error")
                return
            self._then_ms = moment
            self._run()

        self.app.push_screen(
            TextPrompt("When was it still right?", "A date, or date and time (UTC): 2026-05-31."), taken
        )

    def action_load(self) -> None:
        """The settings as they were then, from a file."""
        request = self._request

        def taken(path: str | None) -> None:
            def read(cancel: CancelToken, report: Report) -> tuple[str, RecallRequest]:
                from memtui.engine.discovery import (
                    read_config,
                )

                return Path(path or "").name, replace(request, config=read_config(path), table_version=None)

            if path:
                self.runner.start("settings", read)

        hint = 'The file of that time: {"retrieval": {...}, "decay": {...}}.'
        self.app.push_screen(TextPrompt("Settings as they were", hint), taken)

    def action_again(self) -> None:
        self._run()

    def action_browse(self) -> None:
        self.app.post_message(ShowMemory(self._memory))

    def action_back(self) -> None:
        if self.runner.busy("bisect"):
            self.runner.cancel("bisect")
            self._paint()
            self.flash("stopped", "note")
            if self.found is None:
                self.app.pop_screen()
        else:
            self.app.pop_screen()
