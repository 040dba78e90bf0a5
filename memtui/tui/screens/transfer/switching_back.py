"""The way back from another model: the table of before is the store's again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError
from memtui.tui.host import host
from memtui.tui.paint.numbers import ago, full
from memtui.tui.paint.places import tilde
from memtui.tui.screens.transfer.arrange import Shape
from memtui.tui.screens.transfer.flow import Flow, Heading
from memtui.tui.screens.transfer.parts import blank, fact_row, text_rows, warning_rows
from memtui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from memtui.tui.screens.transfer.screen import TransferScreen


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
