"""The plugin in one process: each event of its host, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.capture.recipes.pro import (
    injection,
    jobs,
    learning_tools,
    management_tools,
    recall_tools,
    reflection,
    tools,
)
from memtui.engine.capture.recipes.pro import queues as capture
from memtui.engine.capture.recipes.pro.injection import InjectionMemory
from memtui.engine.capture.recipes.pro.queues import Queues
from memtui.engine.capture.recipes.pro.reflection import Reflected
from memtui.engine.capture.recipes.pro.reflection_resolve import memory_reflection_resolve
from memtui.engine.capture.recipes.pro.settings import dreaming_config
from memtui.engine.capture.recipes.pro.tools import Caller, ToolAnswer
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.core.errors import EmbeddingError, UsageError

TOOLS: Mapping[str, Callable[[World, Caller, Mapping[str, Any]], ToolAnswer]] = {
    "memory_recall": recall_tools.memory_recall,
    "memory_store": tools.memory_store,
    "memory_update": tools.memory_update,
    "memory_forget": tools.memory_forget,
    "memory_list": management_tools.memory_list,
    "memory_stats": management_tools.memory_stats,
    "memory_fact_query": recall_tools.memory_fact_query,
    "memory_promote": management_tools.memory_promote,
    "memory_archive": management_tools.memory_archive,
    "memory_compact": management_tools.memory_compact,
    "memory_explain_rank": management_tools.memory_explain_rank,
    "memory_reflection_resolve": memory_reflection_resolve,
    "self_improvement_log": learning_tools.self_improvement_log,
    "self_improvement_review": learning_tools.self_improvement_review,
    "self_improvement_extract_skill": learning_tools.self_improvement_extract_skill,
}
"""The tools by name: each takes the world, its caller and JSON arguments, and answers with text and data."""

_MESSAGES = ("message_received", "agent_end", "session_end")


def call_tool(world: World, caller: Caller, name: str, params: Mapping[str, Any]) -> ToolAnswer:
    """Call one of the plugin's tools. Raises UsageError for a name that is none."""
    if name not in TOOLS:
        raise UsageError(f"There is no tool {name}.", fix=f"Take one of {', '.join(TOOLS)}.")
    try:
        return TOOLS[name](world, caller, params)
    except EmbeddingError as error:
        doing = name.removeprefix("memory_").replace("_", " ").capitalize()
        return ToolAnswer(
            f"{doing} failed: {error.message}", {"error": f"{name}_failed", "message": error.message}
        )


@dataclass(slots=True)
class Plugin:
    """The state of a plugin's process around its world."""

    world: World
    queues: Queues = field(default_factory=Queues)
    injected: InjectionMemory = field(default_factory=InjectionMemory)
    reflected: Reflected = field(default_factory=Reflected)
    reminders: set[str] = field(default_factory=set)
    """Sessions whose next prompt gets a reminder to write down what was learnt."""

    def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Play one event of the host; what a recording keeps of it: `trace`, `queues` and `answer`."""
        self.world.records = []
        kind = step["do"]
        context = step.get("ctx") or {}
        capture.learn_alias(self.queues, context)
        found: dict[str, Any] = {}
        if kind == "message_received":
            injection.remember_message(self.injected, step)
            capture.message_received(self.world, self.queues, step)
        elif kind == "agent_end":
            injection.remember_answer(self.injected, step, context)
            capture.agent_end(self.world, self.queues, step, context)
        elif kind == "session_end":
            capture.session_end(self.world, self.queues, step.get("event") or {}, context)
        elif kind == "tool":
            caller = Caller(
                str(context.get("agentId") or "main"), str(context.get("workspaceDir") or "<root>/ws")
            )
            found["answer"] = call_tool(
                self.world, caller, str(step.get("name")), step.get("params") or {}
            ).as_json()
        elif kind == "hook":
            found["answer"] = self._hook(step["name"], step.get("event") or {}, context)
        elif kind == "prompt_build":
            found["answer"] = self._prompt(step.get("event") or {}, context)
        elif kind == "gateway_start":
            if self.world.settings.compaction is not None and self.world.settings.compaction.enabled:
                jobs.compact(self.world, self.world.settings.compaction)
        elif kind == "dream":
            found["answer"] = jobs.dream(self.world, dreaming_config(self.world.settings.raw.get("dreaming")))
        elif kind == "reflection_slices":
            found["answer"] = reflection.load(self.world, str(step.get("agentId") or "main"))
        if kind in _MESSAGES:
            found["queues"] = self.queues.as_json(self.world.now_ms)
        found["trace"] = self.world.records
        return found

    def _hook(self, name: str, event: Mapping[str, Any], context: Mapping[str, Any]) -> list[Any]:
        if name == "agent:bootstrap":
            return learning_tools.bootstrap(self.world, event)
        if name == "after_tool_call":
            reflection.tool_called(self.world, self.reflected, event, context)
        elif name in ("command:new", "command:reset"):
            reflection.session_command(self.world, self.reflected, event)
            self._remind(event)
        elif name == "before_reset":
            reflection.before_reset(self.world, self.reflected, event, context)
        return []

    def _remind(self, event: Mapping[str, Any]) -> None:
        learning = self.world.settings.learning
        if learning is None or not learning.enabled or not learning.before_reset_note:
            return
        session = (event.get("context") or {}).get("sessionEntry") or {}
        channel = str(session.get("Provider") or session.get("provider") or "").lower()
        thread = session.get("MessageThreadId") or session.get("threadId")
        if event.get("sessionKey") and (channel != "discord" or thread):
            self.reminders.add(str(event["sessionKey"]))

    def _prompt(self, event: Mapping[str, Any], context: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What each handler puts in front of a prompt, in their order."""
        found: list[tuple[int | None, dict[str, Any]]] = []
        found += reflection.prompt_blocks(self.world, self.reflected, context)
        recalled = injection.auto_recall(self.world, self.injected, event, context)
        if recalled is not None:
            found.append((10, recalled))
        injection.score_usage(self.world, self.injected, context)
        key = str(context.get("sessionKey") or "")
        if key in self.reminders:
            self.reminders.discard(key)
            found.append((None, {"prependContext": learning_tools.RESET_REMINDER, "ephemeral": True}))
        return [{"priority": priority, "result": result} for priority, result in found]
