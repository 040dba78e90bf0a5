"""What a change will do, row by row, before it is made; and what stands in its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from textual import events, on
from textual.app import ComposeResult

from memtui.engine import MemtuiError, Progress, counted, one_line, veiled
from memtui.engine.changes import ChangeSet
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import EngineCalls, Report
from memtui.tui.dialogs.answer_effect_view import effect_lines, else_lines, shares, unchanged_lines
from memtui.tui.dialogs.change_preview_view import linked_ids, plan_rows, would
from memtui.tui.host import host
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import DialogKeys, Way

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.changes import RecallEffect


Effect = Callable[[ChangeSet, "CancelToken", Report], "RecallEffect"]
"""Works out, in a thread, what a change set does to recall."""

_ONLY_PAST = "The memories stay as they are, and no recall reads the older versions that go."

EXPECTED = 18
"""Lines kept for the answers while they are asked for: one question that is answered otherwise, and the rest."""

MANY = 20
"""From so many deletions the count has to be typed: one key is pressed too easily."""


@dataclass(frozen=True, slots=True)
class PreviewAnswer:
    """What the person says to a preview.

    "apply" `change_set`; `confirmed`: the person agreed to what needs it (a deletion, a stopped agent). "force":
    plan again, over what others changed. "stage": keep it with what is staged. "send": plan
    and measure it again, sending what that needs. "amend": edit the staged `row`. "keep": plan the merge again with
    `row` as the memory that is kept.
    """

    what: Literal["apply", "force", "stage", "send", "amend", "keep"]
    change_set: ChangeSet
    confirmed: bool = False
    row: str = ""


def linked_texts(engine: Engine, ids: Sequence[str]) -> dict[str, str]:
    """The texts of these memories, each on one line; for a worker."""
    return {id: one_line(veiled(memory.text)) for id, memory in engine.memories(ids).items()}


def only_past(plan: ChangeSet) -> bool:
    """Whether nothing goes but the history of memories that stay."""
    return plan.shrinks and not deletions(plan)


def deletions(plan: ChangeSet) -> int:
    """How many memories go for good with it; 0 for a change that destroys nothing."""
    gone = sum(change.op == "delete" for change in plan.changes) + len(plan.purges)
    return gone if plan.destroys else 0


class PreviewRows(RowList, inherit_bindings=False):
    """The changes; with several, one of them is under the cursor."""

    BINDINGS = [*bindings("preview"), *bindings("narrow")]  # noqa: RUF012

    def __init__(self, plan: ChangeSet, notes: Sequence[str]) -> None:
        super().__init__()
        self.plan, self.notes = plan, tuple(notes)
        self.whole = False
        """Whether every text is shown to its end."""
        self.names: Mapping[str, str] = {}
        """Texts of memories that the changes only speak of."""

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        return plan_rows(self.plan, self.notes, width, glyphs, whole=self.whole, names=self.names)

    def action_down(self) -> None:
        if not self._scrolls_effect(1):
            super().action_down()

    def action_up(self) -> None:
        if not self._scrolls_effect(-1):
            super().action_up()

    def action_page_down(self) -> None:
        if not self._scrolls_effect(1, pages=True):
            super().action_page_down()

    def action_page_up(self) -> None:
        if not self._scrolls_effect(-1, pages=True):
            super().action_page_up()

    def _scrolls_effect(self, by: int, *, pages: bool = False) -> bool:
        """Scroll the effect instead where the changes are all in sight and none is to be chosen; whether it was so."""
        effect = self.screen.query(EffectRows).first()
        if self.max_scroll_y or len(self._keys()) > 1 or not effect.max_scroll_y:
            return False
        lines = max(1, effect.container_size.height - 1) if pages else 1
        effect.scroll_relative(y=by * lines, animate=False)
        return True


class EffectRows(RowList, inherit_bindings=False):
    """What the change does to recall, and what else; `tab` goes to it where it has to be scrolled."""

    BINDINGS = [*bindings("preview"), *bindings("narrow")]  # noqa: RUF012

    def __init__(self, plan: ChangeSet) -> None:
        super().__init__()
        self.plan = plan
        self.value: RecallEffect | Progress | MemtuiError | None = None

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        lines = effect_lines(self.value, width, glyphs)
        if self.value is None and only_past(self.plan):
            lines = unchanged_lines(_ONLY_PAST, width, glyphs)
        if not self.plan.conflicts:
            lines += else_lines(self.plan, width, glyphs, self._way_back())
        return [Row((line,)) for line in lines]

    def _way_back(self) -> str:
        """How the change is taken back; nothing is said where that is not known before it is written."""
        keys = host(self).keys
        if self.plan.shrinks:
            return "This cannot be undone: the history goes with it."
        if not self.plan.changes:
            return ""
        if self.plan.action == "undo":
            return f"{keys.cap('app.make-again')} redoes it from any screen; the Journal, any day"
        return f"{keys.cap('app.take-back')} undoes it from any screen; the Journal, any day"


class ChangePreview(QuickModal[PreviewAnswer | None]):
    """Shows a change set; returns the answer, None when nothing is to be changed.

    `stop_agent`: why the agent has to be stopped first, empty when it need not be. `locked`: the store is open for
    reading, applying unlocks it first. `forcible`: the rows that
    others changed may be overwritten. `effect` works out what it does to recall, while it is looked at.
    `staging`: it may be "offered" to keep it with what is staged, or that may be the "only" way to take it.
    `turns`: the memory under the cursor may be redacted in place of deleted, and the other way.
    `keeps`: it is a merge of which another memory may be kept. `way_out`: what closing it means, with its key.
    """

    DEFAULT_CSS = """
    ChangePreview { align: center middle; }
    ChangePreview Panel {
        width: 90%; max-width: 140; min-width: 100; height: auto; max-height: 94%; border: round $frame-focus;
    }
    ChangePreview.-narrow Panel {
        width: 100%; max-width: 100%; min-width: 0; height: 100%; max-height: 100%;
    }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("change")
    BESIDE = frozenset(("effect", "names"))

    def __init__(
        self,
        plan: ChangeSet,
        *,
        notes: Sequence[str] = (),
        stop_agent: str = "",
        locked: bool = False,
        forcible: bool = False,
        effect: Effect | None = None,
        staging: Literal["", "offered", "only"] = "",
        turns: bool = False,
        way_out: str = "cancel",
        sends: bool = False,
        keeps: bool = False,
    ) -> None:
        super().__init__()
        self.plan = plan
        self._said, self._stop_agent, self._way_out = tuple(notes), stop_agent, way_out
        self._locked = locked
        self._turns = turns
        self._forcible = forcible or any(conflict.reason == "changed" for conflict in plan.conflicts)
        self._typed = ""
        self._lines = 0
        self._staging = staging
        self._effect, self.runner = effect, EngineCalls(self)
        self._sends, self._keeps = sends, keeps
        self._rows = PreviewRows(plan, self._notes())

    def compose(self) -> ComposeResult:
        with Panel(title=would(self.plan)):
            yield self._rows
            yield EffectRows(self.plan)
            yield DialogKeys()

    def on_mount(self) -> None:
        self._say_ways()
        self._rows.focus()
        self._ask_effect()
        self._ask_names()

    def _ask_names(self) -> None:
        """Read the texts of memories that are linked to and not changed: they are spoken of by their words."""
        engine, ids = host(self).session.engine, linked_ids(self.plan)
        if engine is not None and ids:
            self.runner.call(
                "names",
                lambda cancel, report: linked_texts(engine, ids),
                self._have_names,
                failed=lambda error: None,  # without them the beginnings of the ids stand there
            )

    def _have_names(self, found: Mapping[str, str]) -> None:
        self._rows.names = found
        self._share_kept()

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    def _notes(self) -> tuple[str, ...]:
        return tuple(note for note in dict.fromkeys((self._stop_agent, *self._said)) if note)

    # what may be done now

    @property
    def _clean(self) -> bool:
        return not self.plan.conflicts and bool(self.plan.changes or self.plan.purges)

    @property
    def _for_good(self) -> bool:
        """Whether something is lost: then Enter does not do it, a yes of its own does."""
        return bool(deletions(self.plan)) or only_past(self.plan)

    @property
    def _count(self) -> str:
        """What has to be typed; empty where a key will do."""
        gone = deletions(self.plan)
        return str(gone) if gone >= MANY and self._staging != "only" else ""

    def _say_ways(self) -> None:
        plan, gone = self.plan, deletions(self.plan)
        agent = "the agent is stopped: " if self._stop_agent else ""
        unlock = "unlock and " if self._locked else ""
        apply = self.apply_words()
        ways: list[Way] = []
        if plan.conflicts:
            ways += [("change.leave-out", "exclude them")] if plan.changes else []
            ways += [("change.force", "overwrite")] if self._forcible else []
        elif not self._clean:
            ways.append(("", "nothing is left to apply"))
        elif self._staging == "only":
            pass
        elif self._count:
            ways.append(("", f"{agent}type {full(gone)} to delete  {self._typed}_"))
            if self._typed == self._count:
                ways.append(("change.apply", f"{unlock}delete them"))
        elif agent:
            ways.append(("change.stopped", f"{agent}{unlock + 'delete' if gone else apply}"))
        elif self._for_good:
            ways.append(("change.agree", f"{unlock}{self.agreed_words(gone)}"))
        else:
            ways.append(("change.apply", apply))
        if self._staging and self._clean:
            ways.append(("change.stage", "stage"))
        if self._sends and self._clean:
            ways.append(("change.send", "send, measure"))
        if self._turns and self._row and not plan.conflicts:
            op = next((change.op for change in plan.changes if change.id == self._row), "")
            ways.append(("change.redact", "delete" if op == "edit" else "redact"))
        if self._can_keep:
            ways.append(("change.survivor", "keep this one"))
        if self._can_drop:
            ways.append(("change.drop", "exclude this row"))
            if not self._turns:  # the way out needs its cells
                ways.append(("change.zoom", "short texts" if self._rows.whole else "full texts"))
        keys = self.query_one(DialogKeys)
        before = keys.rows
        keys.say(*ways, *self.more_ways(), ("change.close", self._way_out))
        if keys.rows != before:
            self.call_after_refresh(self._arrange)

    def apply_words(self) -> str:
        """What the key does that applies it, where nothing is deleted."""
        count = counted(self.plan.count, "change")
        return f"unlock and apply {count}" if self._locked else "apply"

    def agreed_words(self, gone: int) -> str:
        """What one agrees to, where that is no plain change."""
        return f"delete {counted(gone, 'memory', 'memories')}" if gone else "remove the history"

    def more_ways(self) -> list[Way]:
        """What else can be done with this kind of preview."""
        return []

    @property
    def _can_drop(self) -> bool:
        return not self.plan.conflicts and len(self.plan.changes) > 1 and bool(self._rows.key)

    @property
    def _can_keep(self) -> bool:
        replaced = {change.id for change in self.plan.changes if change.why != "kept"}
        return self._keeps and not self.plan.conflicts and self._rows.key in replaced

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        plan, stop = self.plan, bool(self._stop_agent)
        gone = self._for_good
        typed = not self._count or self._typed == self._count
        ready = self._clean and self._staging != "only"
        able = {
            "apply": ready and ((not gone and not stop) or (bool(self._count) and typed)),
            "agree": ready and gone and not self._count and not stop,
            "stopped": ready and stop and not self._count,
            "stage": self._clean and bool(self._staging),
            "send": self._sends and self._clean,
            "leave_out": bool(plan.conflicts) and bool(plan.changes),
            "force": bool(plan.conflicts) and self._forcible,
            "drop": self._can_drop,
            "survivor": self._can_keep,
            "redact": self._turns and not plan.conflicts and bool(self._row),
            "zoom": len(plan.changes) > 1,
        }
        return True if able.get(action, True) else None

    def why_disabled(self, action: str) -> str:
        """What applying waits for here."""
        if action != "apply":
            return ""
        keys, gone = host(self).keys, deletions(self.plan)
        if self.plan.conflicts:
            return "there are conflicts to settle first"
        if not self._clean:
            return "nothing is left to apply"
        if self._staging == "only":
            return "it can only be staged here"
        if self._count:
            return f"type {full(gone)}, and then {keys.cap('change.apply')} deletes them"
        if self._stop_agent:
            return f"{keys.cap('change.stopped')} does it, once the agent is stopped"
        return f"{keys.cap('change.agree')} does it: {self.agreed_words(gone)}"

    def on_key(self, event: events.Key) -> None:
        if not self._count or not self._clean:
            return
        if event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.character is not None and event.character.isdecimal() and event.character.isascii():
            self._typed = (self._typed + event.character)[-len(self._count) :]
        else:
            return
        event.stop()
        self._say_ways()
        self.refresh_bindings()

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        self._say_ways()
        self.refresh_bindings()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        event.stop()

    # what it does to recall: worked out beside, and waited for by nobody

    def _ask_effect(self) -> None:
        effect, plan = self._effect, self.plan
        rows = self.query_one(EffectRows)
        rows.plan, rows.value = plan, None
        if effect is not None and self._clean:
            rows.value = Progress("asking the questions again", 0, 0, "questions")
            self.runner.start("effect", lambda cancel, report: effect(plan, cancel, report))
        self.call_after_refresh(self._arrange)

    def _say_effect(self, value: RecallEffect | Progress | MemtuiError) -> None:
        self.query_one(EffectRows).value = value
        self._share_kept()

    def _share_kept(self) -> None:
        """Share the lines that there are anew: what arrives moves no key that is about to be pressed."""
        self._arrange(kept=self._lines)

    def _arrange(self, kept: int = 0) -> None:
        """Give the changes and what they do the lines that they need, as far as there are so many.

        `kept`: so many lines in all, as before. Answers that are asked for have their room from the beginning.
        """
        panel, effect = self.query_one(Panel), self.query_one(EffectRows)
        narrow = self.has_class("-narrow")
        width = panel.content_size.width or self.size.width
        above = [child for child in self.children if child.styles.dock == "top" and child.display]  # the tour
        high = self.size.height - sum(each.outer_size.height + each.styles.margin.height for each in above)
        room = (high if narrow else high * 94 // 100) - panel.gutter.height
        room = kept or max(2, room - self.query_one(DialogKeys).rows)
        needed = [sum(len(row.lines) for row in each.paint(width)) for each in (self._rows, effect)]
        if self._effect is not None and self._clean and not narrow:
            needed[1] = max(needed[1], EXPECTED, room // 2)
        changes, consequences = self._shares(needed[0], needed[1], room)
        if kept:
            consequences = kept - changes
        self._lines = 0 if narrow else changes + consequences
        self._rows.styles.height = "1fr" if narrow else max(1, changes)
        effect.styles.height = max(1, consequences)
        effect.display = consequences > 0
        self._rows.repaint()
        effect.repaint()

    def _shares(self, changes: int, effect: int, room: int) -> tuple[int, int]:
        """How many lines the changes and what they do get."""
        return shares(changes, effect, room)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._arrange)

    @on(RunAdvanced)
    def _advanced(self, message: RunAdvanced) -> None:
        message.stop()
        if self.runner.is_current(message):
            self._say_effect(message.value)

    @on(RunFinished)
    def _finished(self, message: RunFinished) -> None:
        message.stop()
        if self.runner.done(message):
            self._say_effect(message.value)

    @on(RunFailed)
    def _failed(self, message: RunFailed) -> None:
        message.stop()
        if self.runner.done(message):
            self._say_effect(message.error)

    # doing it

    def action_apply(self) -> None:
        self.dismiss(PreviewAnswer("apply", self.plan, confirmed=bool(deletions(self.plan))))

    def action_agree(self) -> None:
        self.dismiss(PreviewAnswer("apply", self.plan, confirmed=True))

    def action_stopped(self) -> None:
        self.dismiss(PreviewAnswer("apply", self.plan, confirmed=True))

    def action_zoom(self) -> None:
        self._rows.whole = not self._rows.whole
        self._arrange()
        self._say_ways()

    @property
    def _row(self) -> str:
        """The memory under the cursor; of a single one, that."""
        alone = len({change.group or change.id for change in self.plan.changes}) == 1
        return self._rows.key or (self.plan.changes[0].id if alone else "")

    def action_redact(self) -> None:
        self.dismiss(PreviewAnswer("amend", self.plan, row=self._row))

    def action_survivor(self) -> None:
        self.dismiss(PreviewAnswer("keep", self.plan, row=self._rows.key))

    def action_send(self) -> None:
        self.dismiss(PreviewAnswer("send", self.plan))

    def action_stage(self) -> None:
        self.dismiss(PreviewAnswer("stage", self.plan))

    def action_leave_out(self) -> None:
        self._take(self.plan.without([conflict.id for conflict in self.plan.conflicts]))

    def action_drop(self) -> None:
        self._take(self.plan.without([self._rows.key]))

    def _take(self, plan: ChangeSet) -> None:
        self.plan, self._typed = plan, ""
        self.query_one(Panel).headline(what=would(plan))
        self._rows.plan = plan
        self._rows.repaint()
        self._say_ways()
        self.refresh_bindings()
        self._ask_effect()

    def action_force(self) -> None:
        self.dismiss(PreviewAnswer("force", self.plan))

    def action_close(self) -> None:
        self.dismiss(None)


# The staged changes: every row with its diff; drop one, edit one, drop all, or apply them as one change.


class StagedSet(ChangePreview):
    """A preview of what is staged; `dropped` hears of every row that is left out, whatever the answer will be.

    `amends`: a row can be edited.
    """

    BINDINGS = bindings("staged")

    def __init__(
        self, plan: ChangeSet, *, dropped: Callable[[ChangeSet], None], amends: bool = False, **more: Any
    ) -> None:
        super().__init__(plan, **more)
        self._dropped, self._amends = dropped, amends

    @property
    def _can_amend(self) -> bool:
        op = next((change.op for change in self.plan.changes if change.id == self._row), "delete")
        return self._amends and not self.plan.conflicts and op != "delete"

    def more_ways(self) -> list[Way]:
        amend = [("staged.amend", "edit this row")] if self._can_amend else []
        return [*amend, ("staged.clear", "drop all")]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "amend":
            return True if self._can_amend else None
        return super().check_action(action, parameters)

    def _take(self, plan: ChangeSet) -> None:
        self._dropped(plan)
        if plan.changes:
            super()._take(plan)
        else:
            self.dismiss(None)

    def action_amend(self) -> None:
        self.dismiss(PreviewAnswer("amend", self.plan, row=self._row))

    def action_clear(self) -> None:
        self._take(self.plan.without(self.plan.ids))
