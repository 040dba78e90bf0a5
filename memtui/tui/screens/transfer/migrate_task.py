"""Migration: a new store of another form out of the open one, which is only read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textual.content import Content

from memtui.engine import MemtuiError, one_line
from memtui.engine.transfer import (
    FORM_TITLES,
    FORMS,
    Form,
)
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.host import host
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import tilde
from memtui.tui.paint.numbers import full, plural
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
    from memtui.engine import Engine
    from memtui.engine.transfer import (
        Migration,
        Migrator,
    )
    from memtui.tui.screens.transfer.screen import TransferScreen


Step = Literal["check", "run", "report"]


@dataclass(frozen=True, slots=True)
class MigrateState:
    """`checked` says what a run with these settings would do."""

    step: Step = "check"
    form: Form = "pro"
    source: str = ""
    """Folder of the store to read; empty: the open one."""
    scope: str = ""
    place: str = ""
    checked: Migration | None = None
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)
    done: Migration | None = None


def _known(engine: Engine) -> list[tuple[str, str]]:
    """Name and folder of every store on this machine that discovery knows, but for the open one; in a thread."""
    from memtui.engine.discovery import discover

    found = discover(os.environ, cwd=Path.cwd()).stores
    return [
        (each.name, each.path)
        for each in found
        if "://" not in each.path and Path(each.path) != engine.store.folder
    ]


class Migrate(TaskFlow[MigrateState]):
    """Check, run, and the verification of every row."""

    name, title, steps = "migrate", "Migrate", ("check", "run", "report")
    PACED = ("run",)

    def __init__(self, screen: TransferScreen) -> None:
        super().__init__(screen, MigrateState())

    def renewed(self) -> None:
        if self.state.step == "check":
            self._check()

    def about(self) -> str:
        source = self.state.source
        return one_line(Path(source).name if source else self.engine.info.dialect_title)

    def shape(self) -> Shape:
        return Shape("two", side_rows=8)

    def heading(self, panel: str) -> Heading:
        state = self.state
        if panel == "a":
            return Heading("New store", where="{wizard.open} changes" if state.step == "check" else "")
        if state.step == "run":
            return Heading("Run", "writing" if self.busy("run") else "not begun")
        return Heading("What is other than in the store that is read")

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, self.glyphs
        if panel == "a":
            return self._settings(width) if state.step == "check" else self._facts(width)
        if state.step == "run":
            if state.pace.phases:
                return pace_rows(state.pace, width, glyphs, running=self.busy("run"))
            rows = text_rows(
                "A new store is made, and every row of it compared with its source.",
                width,
                "bold $foreground",
            )
            return [
                *rows,
                blank(),
                *text_rows(
                    "The source is only read. The folder appears whole, after the comparison, or not at all.",
                    width,
                    "$dim",
                ),
            ]
        found = state.done or state.checked
        if state.error is not None:
            return warning_rows(str(state.error), width, glyphs)
        if found is None:
            return text_rows("checking every row", width, "$dim")
        rows = ledger_rows(found.loss, width, glyphs)
        rows += [blank()] if found.left_out or found.warnings else []
        rows += [
            fact_row("left out", f"{full(count)}: {why}", width, glyphs) for why, count in found.left_out
        ]
        for each in (*found.warnings, *found.problems):
            rows += warning_rows(each, width, glyphs)
        return rows

    def _settings(self, width: int) -> list[Row]:
        state, glyphs = self.state, self.glyphs
        settings = [
            Setting("source", "from", tilde(state.source) or "this store", "", bool(state.source), path=True),
            Setting("form", "form", FORM_TITLES[state.form], "", state.form != "pro"),
            Setting("scope", "into scope", state.scope or "global", "what has none", bool(state.scope)),
            Setting("place", "folder", tilde(str(self._place())), "", bool(state.place), path=True),
        ]
        return [*(setting_row(each, width, glyphs) for each in settings), blank(), *self._facts(width)]

    def _facts(self, width: int) -> list[Row]:
        state, glyphs = self.state, self.glyphs
        found = state.done or state.checked
        if found is None:
            return []
        rows = [
            fact_row("to read", plural(found.rows, "row"), width, glyphs),
            fact_row("to write", plural(found.written, "row"), width, glyphs),
        ]
        if state.done is not None:
            rows.append(fact_row("verified", plural(found.verified, "row"), width, glyphs))
            rows += [fact_row("in", tilde(str(found.destination)), width, glyphs), blank()]
            rows += [
                Row((Content(" open the new store"),), "way:open"),
                Row((Content(" back to the start"),), "way:start"),
            ]
        return rows

    def _place(self) -> Path:
        if self.state.place:
            return Path(self.state.place).expanduser().absolute()
        folder = Path(self.state.source) if self.state.source else self.engine.store.folder
        base = (folder or Path("memories").absolute()).with_suffix("")
        names = (f"{base.name}-{self.state.form}{f'-{n}' if n > 1 else ''}" for n in count(1))
        return next(each for name in names if not (each := base.with_name(name)).exists())

    def advice(self) -> str:
        if self.state.step == "check":
            return "{transfer.next} goes on. This store is only read; the new one is a folder of its own."
        return (
            "" if self.state.step == "report" or self.busy("run") else "{transfer.write} makes the new store."
        )

    def missing(self) -> str:
        return str(self.state.error) if self.state.error is not None and self.state.step == "run" else ""

    # ------------------------------------------------------------------ calls

    def _check(self) -> None:
        engine, state = self.engine, self.state
        self.state = replace(state, checked=None, error=None)
        self.work("check", lambda report, stop: self._migrator(engine, state).check(report, stop))
        self.paint()

    @staticmethod
    def _migrator(engine: Engine, state: MigrateState) -> Migrator:
        source = Path(state.source) if state.source else None
        return engine.transfer.migration(state.form, scope=state.scope or None, source=source)

    def _run(self) -> None:
        engine, state, place = self.engine, self.state, self._place()
        self.state = replace(state, error=None, pace=RunProgress())
        self.work("run", lambda report, stop: self._migrator(engine, state).run(place, report, stop))
        self.paint()

    def finished(self, slot: str, value: Any) -> None:
        if value is STOPPED:
            self.set(
                pace=RunProgress(),
                error=MemtuiError("It was stopped; nothing was kept.") if slot == "run" else None,
            )
        elif slot == "check":
            self.set(checked=value)
        elif slot == "stores":
            self._choose_source(value)
        else:
            self.set(step="report", done=value, pace=RunProgress())
            self.screen.flash(f"{plural(value.verified, 'row')} made and verified")

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        return act == "write" and self.state.step == "run" and not self.busy("run")

    def goes_on(self) -> bool:
        return self.state.step != "run"

    def opened(self, panel: str, key: str) -> None:
        if key == "way:open" and self.state.done is not None:
            host(self.screen).take("store", str(self.state.done.destination))
        elif key == "way:start":
            self.screen.home()
        elif self.state.step != "check" or panel == "b":
            self.next()
        elif key == "source":
            self.work("stores", lambda _, stop: _known(self.engine))
        elif key == "form":
            options = [Option(form, FORM_TITLES[form]) for form in FORMS]
            self.pick(
                "Form of the new store", options, self.state.form, lambda form: self._ask_for(form=form)
            )
        elif key == "scope":
            self.ask(
                "Scope",
                "Where memories go that have none.",
                self.state.scope,
                lambda text: self._ask_for(scope=text),
            )
        elif key == "place":
            self.ask(
                "Folder",
                "Of the new store; there must be nothing in it.",
                str(self._place()),
                lambda text: self.set(place=text),
            )

    def _choose_source(self, stores: Sequence[tuple[str, str]]) -> None:
        """One of the discovered stores, or a folder that is typed."""
        options = [
            Option("", "this store", tilde(str(self.engine.store.folder or ""))),
            *(Option(path, name, tilde(path)) for name, path in stores),
            Option("?", "another folder", "with a LanceDB table"),
        ]

        def typed(text: str) -> None:
            self._ask_for(source=str(Path(text).expanduser().absolute()) if text else "", place="")

        def took(value: str) -> None:
            if value == "?":
                self.ask("Store", "Folder of the store to read. - is this store.", self.state.source, typed)
            else:
                self._ask_for(source=value, place="")

        self.pick("Store to read", options, self.state.source, took)

    def _ask_for(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self._check()

    def acted(self, act: str, panel: str, key: str) -> None:
        self._run()

    def next(self) -> None:
        if self.state.step == "check" and self.state.checked is not None:
            self.set(step="run", error=None)
        elif self.state.step == "report":
            self.screen.home()

    def back(self) -> bool:
        if self.busy("run"):
            return True
        if self.state.step != "run":
            return False
        self.set(step="check", error=None, pace=RunProgress())
        return True
