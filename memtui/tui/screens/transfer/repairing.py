"""Repair: what agents cannot find or would misread."""

from __future__ import annotations

from memtui.engine import CancelToken, ChangeSet
from memtui.engine.progress import OnProgress
from memtui.engine.transfer.mend import REPAIRS
from memtui.tui.screens.transfer.mending import Mend
from memtui.tui.screens.transfer.parts import Setting


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
