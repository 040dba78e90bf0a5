"""The plugin in one process: each event of its host, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.capture.recipes.pro import learning_tools, management_tools, tools
from memtui.engine.capture.recipes.pro import queues as capture
from memtui.engine.capture.recipes.pro.queues import Queues
from memtui.engine.capture.recipes.pro.tools import Answer, Caller
from memtui.engine.capture.recipes.pro.world import World

TOOLS: Mapping[str, Callable[[World, Caller, Mapping[str, Any]], Answer]] = {
    "memory_store": tools.memory_store,
    "memory_update": tools.memory_update,
    "memory_forget": tools.memory_forget,
    "memory_list": management_tools.memory_list,
    "memory_stats": management_tools.memory_stats,
    "memory_promote": management_tools.memory_promote,
    "memory_archive": management_tools.memory_archive,
    "memory_compact": management_tools.memory_compact,
    "memory_explain_rank": management_tools.memory_explain_rank,
    "self_improvement_log": learning_tools.self_improvement_log,
    "self_improvement_review": learning_tools.self_improvement_review,
    "self_improvement_extract_skill": learning_tools.self_improvement_extract_skill,
}
"""The tools by name: each takes the world, its caller and JSON arguments, and answers with text and data."""
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
        elif kind == "tool":
            caller = Caller(
                str(context.get("agentId") or "main"), str(context.get("workspaceDir") or "<root>/ws")
            )
            found["answer"] = TOOLS[step["name"]](self.world, caller, step.get("params") or {}).as_json()
        elif kind == "hook":
            found["answer"] = self._hook(step["name"], step.get("event") or {}, context)
        if kind in _MESSAGES:
            found["queues"] = self.queues.as_json(self.world.now_ms)
        found["trace"] = self.world.records
        return found

    def _hook(self, name: str, event: Mapping[str, Any], context: Mapping[str, Any]) -> list[Any]:
        if name == "agent:bootstrap":
            return learning_tools.bootstrap(self.world, event)
        return []
