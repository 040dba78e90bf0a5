"""Re-embedding: another model chosen, rehearsed on the saved questions, made beside the store, then switched to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import (
    CancelToken,
    CaseBook,
    MemtuiError,
    OnProgress,
    UsageError,
)
from memtui.paths import store_state_dir
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.host import host
from memtui.tui.layouts import Shape
from memtui.tui.paint.cells import tilde
from memtui.tui.paint.numbers import ago, full, plural
from memtui.tui.screens.transfer import reembed_view
from memtui.tui.screens.transfer.reembed_view import BUNDLED, STEPS, ReembedState
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.task import STOPPED, Flow, Heading, TaskFlow
from memtui.tui.wizard.view import RunProgress, blank, fact_row, text_rows, warning_rows

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        Embedder,
        Unfinished,
    )
    from memtui.tui.screens.transfer.screen import TransferScreen


_ASKS = {
    "model": (
        "Model",
        "Its name, as its service has it; static-minilm-256 is the bundled one, without a service.",
    ),
    "base_url": ("Service", "Root of an OpenAI-compatible service, with its /v1. - is OpenAI's own."),
    "key_env": (
        "Keys",
        "Names of environment variables that hold keys, with commas; never the keys themselves.",
    ),
    "dimensions": (
        "Vector length",
        "Numbers to ask for, where the model offers several. - leaves it to the model.",
    ),
    "task": ("Task hint", "For stored texts, such as retrieval.passage. - gives none."),
    "place": ("Folder", "Of the second table, on the disk of the store; there must be nothing in it."),
}

_ASKED = ("model", "base_url", "key_env", "dimensions", "task")
"""What a run is asked for; never a key."""


class Reembed(TaskFlow[ReembedState]):
    """Four steps; the store is only read before the last one."""

    name, title, steps = "reembed", "Re-embed", STEPS

    def __init__(self, screen: TransferScreen, run: Unfinished | None = None) -> None:
        what = dict(run.what) if run is not None else {}
        given: dict[str, Any] = {key: str(what.get(key) or "") for key in _ASKED}
        super().__init__(screen, ReembedState(**given, place=str(what.get("destination") or "")))
        if run is not None:
            self.state = replace(self.state, step="make")
        elif not self.state.model:
            self.state = replace(self.state, model=BUNDLED)
        self._model_now = self.engine.transfer.workshop.model_name

    def renewed(self) -> None:
        if self.state.step == "model":
            self._estimate(ask=self._offline)

    # ------------------------------------------------------------------ what it shows

    def about(self) -> str:
        return f"{self.engine.info.name}, {plural(self.engine.info.rows, 'memory', 'memories')}"

    def shape(self) -> Shape:
        return Shape("two", side_rows=8)

    def heading(self, panel: str) -> Heading:
        running = "{transfer.stop} stops it" if self.busy("run") or self.busy("rehearse") else ""
        titles = {
            "model": ("The new model", "What it takes"),
            "rehearse": ("Rehearsal", "The saved questions, old model against new"),
            "make": ("The second table", "Run"),
            "switch": ("Verified", "Switch"),
        }[self.state.step]
        changes = "{wizard.open} changes" if self.state.step == "model" else ""
        return Heading(titles[0] if panel == "a" else titles[1], where=running if panel == "b" else changes)

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, self.glyphs
        if state.step == "model":
            place, now = self._destination(), self._model_now
            return reembed_view.model_rows(state, panel, width, glyphs, place=place, now=now)
        if state.step == "rehearse":
            cases, busy = len(self._cases()), self.busy("rehearse")
            return reembed_view.rehearse_rows(state, panel, width, glyphs, cases=cases, busy=busy)
        if state.step == "make":
            place, busy = self._destination(), self.busy("run")
            return reembed_view.make_rows(
                state, panel, width, glyphs, place=place, busy=busy, there=place.exists()
            )
        return reembed_view.switch_rows(state, panel, width, glyphs, forbidden=self.forbidden)

    def advice(self) -> str:
        if self.busy("run") or self.busy("rehearse") or self.busy("switch"):
            return ""
        measure = "" if self._offline else " {transfer.measure} measures the time: a few texts are sent out."
        rehearse = "{transfer.write} rehearses on a sample; " if self._cases() else ""
        return {
            "model": "{transfer.next} goes on to the rehearsal." + measure,
            "rehearse": rehearse + "{transfer.next} goes on to making the table.",
            "make": "{transfer.write} makes the second table beside the store, which is only read.",
            "switch": "{transfer.stopped} switches, once the agent and other programs are stopped."
            " The old table is kept.",
        }[self.state.step]

    def missing(self) -> str:
        state = self.state
        if state.error is not None:
            return state.error.message  # the panel has what to do
        return self.forbidden if state.step == "switch" else ""

    # ------------------------------------------------------------------ calls

    @property
    def _offline(self) -> bool:
        return self.state.model == BUNDLED

    def _embedder(self) -> Embedder:
        from memtui.engine.transfer import (
            embedder_named,
        )

        state = self.state
        if state.dimensions and not state.dimensions.isdigit():
            raise UsageError(f"{state.dimensions} is no vector length.", fix="Give a number such as 512.")
        return embedder_named(
            state.model,
            os.environ,
            base_url=state.base_url,
            key_variables=state.key_env,
            dimensions=int(state.dimensions) if state.dimensions else None,
            task=state.task or None,
        )

    def _destination(self) -> Path:
        if self.state.place:
            return Path(self.state.place).expanduser().absolute()
        return self.engine.transfer.another_model.destination(self.state.model)

    def _cases(self) -> tuple[Any, ...]:
        return tuple(CaseBook(store_state_dir(self.engine.info.uri) / "cases.json").cases())

    def _estimate(self, *, ask: bool) -> None:
        engine = self.engine
        self.state = replace(self.state, estimate=None, error=None)
        self.work(
            "estimate",
            lambda _, stop: engine.transfer.another_model.estimate(self._embedder(), ask=ask, cancel=stop),
        )
        self.paint()

    def _rehearse(self) -> None:
        engine, cases = self.engine, self._cases()

        def rehearse(report: OnProgress, stop: CancelToken) -> Any:
            return engine.transfer.another_model.rehearse(
                self._embedder(),
                cases,
                recipe=engine.default_recipe,
                bench=engine.bench(),
                on_progress=report,
                cancel=stop,
            )

        self.state = replace(self.state, error=None, rehearsal=None, pace=RunProgress())
        self.work("rehearse", rehearse)
        self.paint()

    def _make(self) -> None:
        engine, place, state = self.engine, self._destination(), self.state
        what = {key: getattr(state, key) for key in _ASKED}

        def make(report: OnProgress, stop: CancelToken) -> Any:
            new = self._embedder()
            with engine.transfer.runs.running("reembed", {**what, "destination": str(place)}):
                return engine.transfer.another_model.make(new, place, report, stop)

        self.state = replace(state, error=None, pace=RunProgress())
        self.work("run", make)
        self.paint()

    def _switch(self) -> None:
        engine, place = self.engine, self._destination()
        self.set(error=None)
        self.work("switch", lambda _, stop: engine.transfer.another_model.switch(place, confirmed=True))

    def finished(self, slot: str, value: Any) -> None:
        if value is STOPPED:
            how = self.words("{transfer.write} goes on where it stopped: what was made is kept.")
            error = MemtuiError("It was stopped.", fix=how)
            self.set(pace=RunProgress(), error=error if slot == "run" else None)
        elif slot == "estimate":
            self.set(estimate=value)
        elif slot == "rehearse":
            self.set(rehearsal=value, pace=RunProgress())
        elif slot == "run":
            self.set(step="switch", made=value, pace=RunProgress())
            self.screen.flash(f"{plural(value.rows, 'memory', 'memories')} embedded and verified")
        else:
            self.screen.flash(f"{value.model} is the store's model now; the way back is listed here")
            host(self.screen).take("store", value.store)

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        step, busy = self.state.step, self.busy("run") or self.busy("rehearse") or self.busy("switch")
        if act == "measure":
            return step == "model" and not self._offline
        if act == "write":
            return not busy and (step == "make" or (step == "rehearse" and bool(self._cases())))
        return act == "stopped" and step == "switch" and not busy and not self.forbidden

    def goes_on(self) -> bool:
        return self.state.step in ("model", "rehearse")

    def opened(self, panel: str, key: str) -> None:
        if self.state.step != "model" or panel == "b":
            self.next()
        elif key == "model":
            self._choose_model()
        elif key in _ASKS:
            self._ask(key)

    def _choose_model(self) -> None:
        from memtui.engine.transfer import (
            KNOWN_DIMENSIONS,
        )

        options = [
            Option(BUNDLED, BUNDLED, "built in"),
            Option("?", "another one", "by its name"),
        ]
        options += [Option(name, name, f"{dims} numbers") for name, dims in KNOWN_DIMENSIONS.items()]

        def took(name: str) -> None:
            if name == "?":
                self._ask("model", "")
            else:
                self._take("model", name)

        self.pick("The new model", options, self.state.model, took)

    def _ask(self, key: str, now: str | None = None) -> None:
        title, hint = _ASKS[key]
        if now is None:
            now = getattr(self.state, key) or (str(self._destination()) if key == "place" else "")
        self.ask(title, hint, now, lambda text: self._take(key, text))

    def _take(self, key: str, text: str) -> None:
        changes: dict[str, Any] = {key: text}
        self.state = replace(self.state, **changes, rehearsal=None, made=None)
        if key == "place":
            self.paint()
        else:
            self._estimate(ask=self._offline)

    def acted(self, act: str, panel: str, key: str) -> None:
        if act == "measure":
            self._estimate(ask=True)
        elif act == "stopped":
            self._switch()
        elif self.state.step == "rehearse":
            self._rehearse()
        else:
            self._make()

    def next(self) -> None:
        if self.state.step == "model" and self.state.error is None:
            self.set(step="rehearse", pace=RunProgress())
        elif self.state.step == "rehearse" and not self.busy("rehearse"):
            self.set(step="make", error=None, pace=RunProgress())

    def back(self) -> bool:
        if self.busy("run") or self.busy("switch"):
            return True
        before = {"rehearse": "model", "make": "rehearse"}.get(self.state.step)
        if before is None:
            return False
        self.stop()
        self.set(step=before, error=None, pace=RunProgress())
        if before == "model":
            self.renewed()
        return True


# The way back from another model: the table of before is the store's again.


class SwitchBack(Flow):
    """One page: what was switched, and what taking it back means."""

    name, title, steps = "back", "The way back", ("switch",)

    def __init__(self, screen: TransferScreen) -> None:
        super().__init__(screen)
        self.error: MemtuiError | None = None
        self.switch = self.engine.transfer.last_switch

    def shape(self) -> Shape:
        return Shape("two", side_rows=6)

    def heading(self, panel: str) -> Heading:
        return Heading("The last switch" if panel == "a" else "Taking it back")

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        glyphs, switch = self.glyphs, self.switch
        if switch is None:
            return text_rows("No switch is known for this store.", width, "$dim")
        if panel == "a":
            return [
                fact_row("model", switch.model, width, glyphs),
                fact_row("numbers", full(switch.dims), width, glyphs),
                fact_row("made", ago(switch.time_ms, self.now_ms), width, glyphs),
                fact_row("kept in", tilde(switch.kept), width, glyphs),
            ]
        rows = [
            *text_rows("The table of before is put back in its place.", width, "bold $foreground"),
            blank(),
        ]
        rows += warning_rows(
            "Stop the agent first; what was written since the switch is in the new table only.", width, glyphs
        )
        rows += warning_rows("Configure the old model for the agent again.", width, glyphs)
        return [*rows, *(warning_rows(str(self.error), width, glyphs) if self.error else [])]

    def missing(self) -> str:
        return self.forbidden

    def able(self, act: str, panel: str, key: str) -> bool:
        return act == "stopped" and self.switch is not None and not self.forbidden and not self.busy("back")

    def goes_on(self) -> bool:
        return False

    def acted(self, act: str, panel: str, key: str) -> None:
        engine = self.engine
        self.work("back", lambda _, stop: engine.transfer.another_model.back(confirmed=True))

    def finished(self, slot: str, value: Any) -> None:
        self.screen.flash(
            f"the table of before is the store's again; the other one is in {tilde(str(value.after.parent))}"
        )
        host(self.screen).take("store", value.store)

    def failed(self, slot: str, error: MemtuiError) -> None:
        self.error = error
        self.paint()
