"""The plugin in one process: each event of its host, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.capture.recipes.pro import queues as capture
from memtui.engine.capture.recipes.pro.queues import Queues
from memtui.engine.capture.recipes.pro.world import World

_MESSAGES = ("message_received", "agent_end", "session_end")


@dataclass(slots=True)
class Plugin:
    """The state of a plugin's process around its world."""

    world: World
    queues: Queues = field(default_factory=Queues)

    def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Play one event of the host; what a recording keeps of it: `trace`, `queues` and `answer`."""
        self.world.records = []
        kind = step["do"]
        context = step.get("ctx") or {}
        found: dict[str, Any] = {}
        if kind == "message_received":
            capture.message_received(self.world, self.queues, step)
        elif kind == "agent_end":
            capture.agent_end(self.world, self.queues, step, context)
        elif kind == "session_end":
            capture.session_end(self.world, self.queues, step.get("event") or {}, context)
        if kind in _MESSAGES:
            found["queues"] = self.queues.as_json(self.world.now_ms)
        found["trace"] = self.world.records
        return found
