"""Upgrade, repair and missing vectors: what to mend, every row that changes, then written as one entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual.content import Content

from memtui.engine import (
    CancelToken,
    ChangeSet,
    MemtuiError,
    OnProgress,
    Outcome,
    one_line,
)
from memtui.engine.transfer import (
    REPAIRS,
)
from memtui.tui.dialogs.change_preview_view import plan_rows
from memtui.tui.layouts import Shape
from memtui.tui.paint.numbers import full, plural
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import State
from memtui.tui.wizard.task import STOPPED, Heading, TaskFlow
from memtui.tui.wizard.view import (
    RunProgress,
    Setting,
    blank,
    fact_row,
    pace_rows,
    setting_row,
    text_rows,
    warning_rows,
)

if TYPE_CHECKING:
    from memtui.tui.screens.transfer.screen import TransferScreen


Step = Literal["what", "review", "report"]


@dataclass(frozen=True, slots=True)
class MendState:
    """`plan` is what the settings give; None before it was made."""

    step: Step = "what"
    kinds: frozenset[str] = frozenset(REPAIRS)
    scope: str = "global"
    llm: str = ""
    """Root of a chat service for summaries; empty: beginnings of the texts."""
    llm_model: str = ""
    llm_key: str = ""
    """Name of the variable that holds its key."""
    plan: ChangeSet | None = None
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    outcome: Outcome | None = None
    undone: bool = False


class Mend(TaskFlow[MendState]):
    """The three differ in their settings and in the plan that they make."""

    steps = ("what", "review", "report")
    about_it: ClassVar[tuple[str, ...]] = ()
    """What it is for, in a few sentences."""

    def __init__(self, screen: TransferScreen) -> None:
        super().__init__(screen, MendState())

    def settings(self) -> list[Setting]:
        """What can be decided."""
        return []

    def plan(self, report: OnProgress, stop: CancelToken, *, dry: bool) -> ChangeSet:
        """Make the plan, in a thread; `dry` asks no service."""
        raise NotImplementedError

    @property
    def asks(self) -> bool:
        """Whether a real plan asks a service, so that one without it is shown first."""
        return False

    def renewed(self) -> None:
        if self.state.step == "review":
            self._plan()

    # ------------------------------------------------------------------ what it shows

    def about(self) -> str:
        plan = self.state.plan
        return "" if plan is None else plural(len(plan.changes), "memory", "memories")

    def shape(self) -> Shape:
        mirrored = self.state.step == "what" and bool(self.settings())
        return Shape("two", said=self.said() is not None, side_rows=8, mirrored=mirrored)

    def said(self) -> State | None:
        state = self.state
        if state.step == "review" and state.plan is None and state.error is None:
            progress = state.pace.phases[-1][0] if state.pace.phases else None
            return State(
                "loading",
                one_line(progress.what) if progress else "looking through the store",
                progress=progress,
            )
        return None

    def heading(self, panel: str) -> Heading:
        state = self.state
        if state.step == "what":
            return Heading("What to mend") if panel == "a" else Heading("What it does")
        if state.step == "review":
            if panel == "a":
                return Heading("Plan", where="nothing is written")
            return Heading("Every row that changes", self.about())
        if panel == "b":
            return Heading("Every row that was changed", self.about())
        return Heading("Done" if not state.undone else "Taken back")

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, self.glyphs
        if state.step == "what":
            if panel == "a":
                settings = [setting_row(each, width, glyphs, 14) for each in self.settings()]
                gap = [blank()] if settings else []
                return [*settings, *gap, Row((Content(" plan it"),), "way:plan")]
            return [row for text in self.about_it for row in (*text_rows(text, width), blank())]
        if state.step == "review":
            return self._plan_rows(panel, width)
        outcome = state.outcome
        if outcome is None:
            return []
        if panel == "b":
            known = state.plan.warnings if state.plan is not None else ()
            new = [each for each in outcome.warnings if each not in known]
            warned = [row for each in new for row in warning_rows(each, width, glyphs)]
            return [*warned, *(plan_rows(state.plan, (), width, glyphs) if state.plan is not None else [])]
        rows = [
            fact_row("changed", plural(outcome.changed, "memory", "memories"), width, glyphs),
            fact_row("journal", f"entry {full(outcome.entry)}", width, glyphs),
            blank(),
        ]
        undo = [] if state.undone else [Row((Content(" u  take it back, all of it"),), "way:undo")]
        return [*rows, *undo, Row((Content(" back to the start"),), "way:start")]

    def _plan_rows(self, panel: str, width: int) -> list[Row]:
        state, glyphs, plan = self.state, self.glyphs, self.state.plan
        if panel == "b":
            if state.error is not None:
                return warning_rows(str(state.error), width, glyphs)
            if self.busy("run"):
                return pace_rows(state.pace, width, glyphs, running=True)
            if plan is None:
                return []
            if not plan.changes:
                if not plan.warnings:
                    return text_rows("Nothing to mend: every row is as it should be.", width, "$ok")
                found = text_rows("There is nothing to write; these stay as they are:", width)
                return [*found, *(row for each in plan.warnings for row in warning_rows(each, width, glyphs))]
            return plan_rows(plan, (), width, glyphs)
        if plan is None:
            return []
        counts: dict[str, int] = {}
        for change in plan.changes:
            for why in change.why.split(", "):
                counts[why] = counts.get(why, 0) + 1
        rows = [fact_row("rows", full(len(plan.changes)), width, glyphs)]
        rows += [fact_row(one_line(why)[:12], full(count), width, glyphs) for why, count in counts.items()]
        if plan.changes:
            rows += [blank(), fact_row("journal", "one entry, undone as a whole", width, glyphs)]
        return rows

    def advice(self) -> str:
        if self.state.step == "review" and self.state.plan is not None and self.state.plan.changes:
            key = "{transfer.stopped}, when the agent is stopped," if self._confirm else "{transfer.write}"
            return f"{key} writes it; {{transfer.undo}} takes it back afterwards."
        if self.state.step == "review" and self.state.plan is not None:
            return "There is nothing to write. {transfer.back} goes back."
        return (
            "{transfer.next} plans it: the store is read through, nothing is written."
            if self.state.step == "what"
            else ""
        )

    def missing(self) -> str:
        return self.forbidden if self.state.step == "review" and not self.busy("run") else ""

    # ------------------------------------------------------------------ planning and writing

    def _plan(self) -> None:
        dry = self.asks
        self.state = replace(self.state, step="review", plan=None, error=None, pace=RunProgress())
        self.work("plan", lambda report, stop: self.plan(report, stop, dry=dry))
        self.paint()

    @property
    def _confirm(self) -> bool:
        return self.engine.curate.access.verdict == "confirm"

    def _write(self) -> None:
        engine, plan, asks = self.engine, self.state.plan, self.asks
        assert plan is not None
        shown: ChangeSet = plan

        def write(report: OnProgress, stop: CancelToken) -> tuple[ChangeSet, Outcome]:
            made = self.plan(report, stop, dry=False) if asks else shown
            stop.check()
            outcome = engine.curate.apply(made, confirmed=True)
            if outcome.entry is not None:
                engine.transfer.applied(made.action)
            return made, outcome

        self.state = replace(self.state, error=None, pace=RunProgress())
        self.work("run", write)
        self.paint()

    def finished(self, slot: str, value: Any) -> None:
        from memtui.tui.host import host

        if value is STOPPED:
            step = "what" if slot == "plan" else "review"
            error = (
                None
                if slot == "plan"
                else MemtuiError(
                    "It was stopped; nothing was written.",
                    fix=self.words("{transfer.write} goes on: what a service made is kept."),
                )
            )
            self.set(step=step, error=error, pace=RunProgress())
        elif slot == "plan":
            self.set(plan=value, pace=RunProgress())
        elif (outcome := value[1]).entry is None:
            self.set(error=MemtuiError("There was nothing to write."))
        else:
            self.set(step="report", plan=value[0], outcome=outcome, pace=RunProgress())
            changed = plural(outcome.changed, "memory", "memories")
            host(self.screen).take("changed", f"{changed} changed (entry {full(outcome.entry)})")

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        state = self.state
        if act == "switch":
            return any(each.key == key and each.on is not None for each in self.settings())
        if act in ("write", "stopped"):
            ready = state.step == "review" and state.plan is not None and bool(state.plan.changes)
            return (
                ready and not self.forbidden and not self.busy("run") and (act == "stopped") == self._confirm
            )
        return act == "undo" and state.step == "report" and state.outcome is not None and not state.undone

    def goes_on(self) -> bool:
        return self.state.step != "review"

    def change(self, key: str) -> None:
        """Enter on a setting."""

    def opened(self, panel: str, key: str) -> None:
        if key == "way:undo":
            self.acted("undo", "", "")
        elif key.startswith("way:") or panel == "b":
            self.next()
        else:
            self.change(key)

    def acted(self, act: str, panel: str, key: str) -> None:
        outcome = self.state.outcome
        if act == "switch":
            self.change(key)
        elif act in ("write", "stopped"):
            self._write()
        elif act == "undo" and outcome is not None and outcome.entry is not None:
            entry = outcome.entry
            self.screen.staging.stage(
                lambda engine: engine.curate.undo(entry),
                force=lambda engine, ids: engine.curate.undo(entry, forced=ids),
                then=lambda outcome: self.set(undone=True),
            )

    def next(self) -> None:
        if self.state.step == "what":
            self._plan()
        elif self.state.step == "report":
            self.screen.home()

    def back(self) -> bool:
        if self.busy("run"):
            return True
        if self.state.step != "review":
            return False
        self.stop()
        self.set(step="what", plan=None, error=None, pace=RunProgress())
        return True


# Upgrade: rows of the old form.


class Upgrade(Mend):
    """Rows of the old form get what the plugin's own upgrade gives them."""

    name, title = "upgrade", "Upgrade"
    about_it = (
        "Memories that an older version of the plugin wrote have no summaries (L0, L1, L2), no category of six and no"
        " tier. Recall and lifecycle treat them worse than the others.",
        "Summaries are the beginnings of the texts; a chat service, where you name one, writes better ones. What a row"
        " has already stays as it is.",
    )

    def settings(self) -> list[Setting]:
        state = self.state
        return [
            Setting("llm", "chat service", state.llm or "none", "for better summaries", bool(state.llm)),
            Setting("llm_model", "its model", state.llm_model or "-", "", bool(state.llm_model)),
            Setting("llm_key", "key in", state.llm_key or "-", "name of a variable", bool(state.llm_key)),
        ]

    @property
    def asks(self) -> bool:
        return bool(self.state.llm and self.state.llm_model)

    def change(self, key: str) -> None:
        titles = {
            "llm": ("Chat service", "Root of an OpenAI-compatible service, with its /v1. - takes it away."),
            "llm_model": ("Model", "Its name, as the service has it."),
            "llm_key": ("Key", "Name of the environment variable that holds the key, never the key itself."),
        }
        title, hint = titles[key]
        self.ask(title, hint, getattr(self.state, key), lambda text: self.set(**{key: text}))

    def plan(self, report: OnProgress, stop: CancelToken, *, dry: bool) -> ChangeSet:
        import os

        from memtui.engine.transfer import (
            ChatSettings,
        )

        state = self.state
        chat = None
        if self.asks:
            chat = ChatSettings(
                state.llm, state.llm_model, os.environ.get(state.llm_key, "") if state.llm_key else ""
            )
        return self.engine.transfer.upgrade(chat, dry_run=dry, on_progress=report, cancel=stop)


# Repair: what agents cannot find or would misread.


class Repair(Mend):
    """What agents cannot find or would misread."""

    name, title = "repair", "Repair"
    about_it = (
        "Memories without a scope are found by no agent; times in seconds count as 1970; metadata that is no JSON"
        " object is lost at the agent's next write. Each kind can be left out.",
    )

    def settings(self) -> list[Setting]:
        kinds = [
            Setting(kind, kind, meaning=what, on=kind in self.state.kinds) for kind, what in REPAIRS.items()
        ]
        return [
            *kinds,
            Setting("scope", "into scope", self.state.scope, "what has none", self.state.scope != "global"),
        ]

    def change(self, key: str) -> None:
        if key == "scope":
            self.ask(
                "Scope",
                "Where memories go that have none.",
                self.state.scope,
                lambda text: self.set(scope=text or "global"),
            )
        else:
            self.set(kinds=self.state.kinds ^ {key})

    def plan(self, report: OnProgress, stop: CancelToken, *, dry: bool) -> ChangeSet:
        kinds = [kind for kind in REPAIRS if kind in self.state.kinds]
        return self.engine.transfer.repair(
            kinds, target_scope=self.state.scope, on_progress=report, cancel=stop
        )


# Missing vectors: made where there are none.


class Vectors(Mend):
    """Rows that were stored without a vector, or with zeros."""

    name, title = "vectors", "Missing vectors"
    about_it = (
        "A memory without a vector is never found by meaning. The store's own model makes those that are missing; the"
        " others stay bit for bit.",
        "What a service has made is kept at once: after a failure or a stop nothing is asked for twice.",
    )

    @property
    def asks(self) -> bool:
        return True

    def plan(self, report: OnProgress, stop: CancelToken, *, dry: bool) -> ChangeSet:
        return self.engine.transfer.missing_vectors(dry_run=dry, on_progress=report, cancel=stop)
