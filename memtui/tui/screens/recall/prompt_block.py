"""What the agent would see: the block that is put before its prompt, what was cut, what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from memtui.engine import MemtuiError, counted, explain, one_line
from memtui.engine.explain import Mode, PromptBlockSettings, settings_of
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import EngineCalls
from memtui.tui.host import host
from memtui.tui.messages import RunFailed, RunFinished
from memtui.tui.paint.bars import progress as progress_bar
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.explain import BlockPart, PromptBlock


MODES: tuple[Mode, ...] = ("full", "summary", "adaptive", "off")

MOST_ITEMS = 10

BUDGET_STEP, LEAST_BUDGET, MOST_BUDGET = 100, 100, 3000


def injected_rows(found: PromptBlock, names: dict[str, str], width: int, glyphs: Glyphs) -> list[Row]:
    """The block as it goes out, the cut parts hatched; below it what was left out."""
    room = max(16, width - 4)
    lines: list[Content] = []
    if found.note:
        note = Content.styled(f"{glyphs.warn} {found.note}", "$stale")
        lines += [*(Content.assemble(" ", line) for line in note.wrap(room)), Content()]
    if not found.block:
        lines.append(
            Content.styled(f" Nothing is injected: {found.why_nothing or 'the block is empty'}.", "$stale")
        )
    parts = {part.line: part for part in found.parts if part.line}
    for line in found.block.split("\n") if found.block else ():
        part = parts.get(line)
        style = "$foreground" if part is not None else "$dim"
        lines += [Content.assemble(" ", each) for each in Content.styled(one_line(line), style).wrap(room)]
        if part is not None and part.cut > 0:
            lines += _cut(part, room, glyphs)
    out = [part for part in found.parts if part.left_out]
    if out:
        lines += [Content(), Content.styled(" LEFT OUT", "bold $heading")]
        for part in out:
            why = f"{glyphs.cross} {one_line(part.left_out)}  "
            text = crop(one_line(names.get(part.id, part.full)), max(8, room - len(why)), glyphs.ellipsis)
            lines.append(Content.assemble(" ", (why, "$stage-cut"), (text, "$dim")))
    return [Row((line,)) for line in lines]


def _cut(part: BlockPart, room: int, glyphs: Glyphs) -> list[Content]:
    """What the agent does not see of a memory."""
    rest = part.full[len(part.line) :] if part.full.startswith(part.line) else part.full
    said = f"{glyphs.loss * 2} {part.cut:,} characters cut: {one_line(rest)}"
    return [Content.assemble(" ", line) for line in Content.styled(said, "$stage-cut").wrap(room)]


def headline(found: PromptBlock, glyphs: Glyphs) -> Content:
    """`3 of 5 memories   409 of 600 characters   about 155 tokens`."""
    shown = sum(1 for part in found.parts if part.line)
    budget = f"{found.chars:,} characters"
    bar = ""
    if found.budget:
        budget = f"{found.chars:,} of {found.budget:,} characters"
        bar = progress_bar(found.chars / found.budget, 10, glyphs) + " "
    return Content.assemble(
        (f"{shown} of {counted(len(found.parts), 'memory', 'memories')}   ", "$foreground"),
        (bar, "$primary"),
        (f"{budget}   about {found.tokens:,} tokens", "$dim"),
    )


class PromptBlockDialog(QuickModal[None]):
    """Shows the block of one recall, and how it changes with the plugin's injection settings."""

    DEFAULT_CSS = """
    PromptBlockDialog { align: center middle; }
    PromptBlockDialog Panel { width: 120; max-width: 96%; height: 90%; border: round $frame-focus; }
    PromptBlockDialog.-narrow Panel { width: 100%; max-width: 100%; height: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("injected")

    def __init__(self, engine: Engine, trace: Trace) -> None:
        super().__init__()
        self._engine, self._trace = engine, trace
        self.settings: PromptBlockSettings = settings_of(trace.auto_recall)
        self.runner = EngineCalls(self)
        self.found: PromptBlock | None = None
        self._error: MemtuiError | None = None

    @property
    def _tunable(self) -> bool:
        """Only the plugin's block has these settings; the others' are as their recipe makes them."""
        from memtui.engine.recall import recipe_named

        return recipe_named(self._trace.recipe).prompt in ("plugin", "as the plugin")

    def compose(self) -> ComposeResult:
        with Panel(title="What the agent would see"):
            yield BuiltRows(self._build)

    def on_mount(self) -> None:
        self._look()
        self.query_one(BuiltRows).focus()

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    def _look(self) -> None:
        """Neighbours of a memory may have to be read, so this is asked like everything else."""
        trace, settings = self._trace, self.settings
        self.runner.start("injected", lambda cancel, report: explain.injected(trace, settings))

    def on_run_finished(self, message: RunFinished) -> None:
        if self.runner.done(message):
            self.found, self._error = message.value, None
            self._show()

    def on_run_failed(self, message: RunFailed) -> None:
        if self.runner.done(message):
            self.found, self._error = None, message.error
            self._show()

    def _show(self) -> None:
        s = self.settings
        where = (
            f"{{injected.mode}} {s.mode}   {{injected.more}} {{injected.fewer}} {counted(s.max_items, 'item')}"
            f"   {{injected.smaller}} {{injected.larger}} {s.max_chars} characters   "
            if self._tunable
            else ""
        )
        head = headline(self.found, host(self).glyphs) if self.found is not None else Content()
        narrow = self.app.size.width < 100
        self.query_one(Panel).headline(
            what="Injected block" if narrow else None,
            which=head,
            where=where + "{injected.copy} copy   {injected.close} close",
        )
        self.query_one(BuiltRows).repaint()

    def _build(self, width: int, height: int) -> Sequence[Row]:
        if self._error is not None:
            said = Content.styled(f" {one_line(str(self._error))}", "$stale")
            return [Row((line,)) for line in said.wrap(max(16, width - 2))]
        if self.found is None:
            return []
        names = {id: one_line(memory.text)[:400] for id, memory in self._trace.memories.items()}
        return injected_rows(self.found, names, width, host(self).glyphs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("mode", "more", "fewer", "larger", "smaller"):
            return True if self._tunable else None
        return True

    def action_mode(self) -> None:
        at = MODES.index(self.settings.mode)
        self.settings = replace(self.settings, mode=MODES[(at + 1) % len(MODES)])
        self._look()

    def action_more(self) -> None:
        self.settings = replace(self.settings, max_items=min(MOST_ITEMS, self.settings.max_items + 1))
        self._look()

    def action_fewer(self) -> None:
        self.settings = replace(self.settings, max_items=max(1, self.settings.max_items - 1))
        self._look()

    def action_larger(self) -> None:
        chars = min(MOST_BUDGET, self.settings.max_chars + BUDGET_STEP)
        self.settings = replace(self.settings, max_chars=chars)
        self._look()

    def action_smaller(self) -> None:
        chars = max(LEAST_BUDGET, self.settings.max_chars - BUDGET_STEP)
        self.settings = replace(self.settings, max_chars=chars)
        self._look()

    def action_copy(self) -> None:
        if self.found is not None and self.found.block:
            host(self).copy(self.found.block, "injected block")

    def action_close(self) -> None:
        self.dismiss()
