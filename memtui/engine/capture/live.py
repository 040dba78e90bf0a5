"""The plugin at work on an opened store: an event of its host, its answer, and what it changed as one change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture.chat import Chat
from memtui.engine.capture.jobs import reflector, world_of
from memtui.engine.capture.pipeline import folded
from memtui.engine.capture.recipes.pro.injection import InjectionMemory
from memtui.engine.capture.recipes.pro.plugin import Plugin, call_tool
from memtui.engine.capture.recipes.pro.queues import Queues
from memtui.engine.capture.recipes.pro.reflection import Reflected
from memtui.engine.capture.recipes.pro.settings import ProSettings, plugin_config
from memtui.engine.capture.recipes.pro.tools import Caller, ToolAnswer
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.changes.applier import ConflictError
from memtui.engine.changes.change_set import ChangeSet
from memtui.engine.changes.commit import apply
from memtui.engine.changes.files_beside import edits_of
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.decay.validity import InjectionPolicy, injection_patch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.engine import Engine


ACTION = "agent"

TRIES = 3
"""How often an event is played when another program changes the same rows meanwhile."""


PROMPT_PATIENCE_S = 2.0
"""How long a prompt waits for the store's write lock; the programs that share it hold it for less."""


@dataclass(slots=True)
class Live:
    """One plugin over one store. `workspace` is the agent's folder; what has a default lives between events.

    Whoever opened the store for writing has agreed to what the plugin does there, deletions too: each event is one
    entry of the journal, which can be taken back.
    """

    engine: Engine
    config: Mapping[str, Any]
    workspace: Path
    chat: Chat | None = None
    queues: Queues = field(default_factory=Queues)
    injected: InjectionMemory = field(default_factory=InjectionMemory)
    reflected: Reflected = field(default_factory=Reflected)
    reminders: set[str] = field(default_factory=set)
    agents: Sequence[Mapping[str, Any]] = ()
    """The host's agents, with `id` and `workspace`."""
    granted: ScopePolicy | None = None
    """What whoever calls may do, where a person said so: instead of the plugin's own rules."""

    skip: Callable[[str], str] | None = None
    """The gate of the store's own recall before a prompt; None: the plugin's."""

    def call(self, name: str, agent: str, params: Mapping[str, Any]) -> ToolAnswer:
        """Call one of the plugin's tools. Raises RefusedError for a file outside of the workspace."""
        left = TRIES
        while True:
            left -= 1
            world = self._world()
            answer = call_tool(world, Caller(agent, str(self.workspace)), name, params)
            if name.startswith("self_improvement"):
                self._check_files(world)
            try:
                self._commit(world, f"{name} by {agent}")
            except ConflictError:
                if not left:
                    raise
            else:
                return answer

    def count_injected(self, ids: Sequence[str], agent: str) -> int:
        """Count that these memories went before a prompt, as the plugin's own hook does; how many were there."""
        world = self._world()
        policy = InjectionPolicy(min_repeated=world.settings.recall_repeat)
        there = [row for id in ids if (row := world.get(id)) is not None]
        for row in there:
            patch = injection_patch(row.meta(world.now_ms), at_ms=world.now_ms, policy=policy)
            world.patch(row.id, patch, why="injected")
        self._commit(world, f"prompt build of {agent or 'a person'}")
        return len(there)

    def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Play one event of the host; see `Plugin.step`. Not played again on a conflict: the queues have moved on.

        Beside what the plugin answers: `writes`, the ids of rows that were `added` and `injected`, and in `failed` what
        a service said that was needed and did not answer. A prompt waits
        for nobody: where the use of its memories cannot be counted, `uncounted` says why, and it has its block.
        """
        world = self._world()
        played = Plugin(world, self.queues, self.injected, self.reflected, self.reminders).step(step)
        agent = str((step.get("ctx") or {}).get("agentId") or "main")
        title = f"{str(step.get('name') or step['do']).replace('_', ' ')} of {agent}"
        uncounted = ""
        if step["do"] == "prompt_build":
            uncounted = self._count(world, title)
        else:
            self._commit(world, title)
        writes = world.draft.writes
        return {
            **played,
            **({"uncounted": uncounted} if uncounted else {}),
            **({"failed": list(world.failures)} if world.failures else {}),
            "writes": len(writes),
            "added": [write.row.id for write in writes if write.op == "add"],
            "injected": [write.row.id for write in writes if write.why == "injected"],
        }

    def _count(self, world: World, title: str) -> str:
        """Write what a prompt's memories were used for, unless that would keep the prompt; why not, else empty."""
        writing, began = self.engine.write_state, monotonic()
        while writing.writable and world.draft.writes and writing.lock_state().held:
            if monotonic() - began > PROMPT_PATIENCE_S:
                return (
                    "The use of these memories is not counted: another program holds the store's write lock."
                )
            sleep(0.05)
        try:
            self._commit(world, title)
        except MemtuiError as error:
            return f"The use of these memories is not counted: {error.message}"
        return ""

    def _world(self) -> World:
        from memtui.engine.capture.recipes.pro.unfolded_search import search_unfolded

        settings: ProSettings = plugin_config(self.config)
        engine = self.engine
        engine.store.refresh()
        reflect = None if self.chat is None else reflector(self.chat)
        world = world_of(engine.capture_context(self.chat), settings, self.workspace, reflect)
        world.agents = self.agents
        world.skip = self.skip
        if engine.state_place is not None:
            world.state_folder = str(engine.state_place)
        embed = world.embed_texts

        def timed(texts: Sequence[str]) -> NDArray[np.float32]:
            began = monotonic()
            try:
                return embed(texts)
            finally:
                world.embed_ms += (monotonic() - began) * 1000

        world.embed_texts = timed
        block = self.config.get("scopes")
        if isinstance(block, Mapping):
            world.policy = ScopePolicy.from_config(block, {})
        if self.granted is not None:
            world.policy = self.granted
        world.own_words = True  # an agent is answered, who may not read everything
        status = engine.store.fts_status()
        if status.exists and not status.indexed_rows:
            # The plugin's index takes rows in later; until then its engine scores them one by one.
            def search_words(query: str, scopes: Sequence[str] | None, limit: int) -> list[tuple[str, float]]:
                return search_unfolded(world.draft, query, scopes, limit=limit, now_ms=world.now_ms)

            world.search_words = search_words
        return world

    def _check_files(self, world: World) -> None:
        root = self.workspace.resolve()
        for path in world.files.changed:
            if not path.resolve().is_relative_to(root):
                raise RefusedError(
                    "This file is not in the agent's workspace; nothing was written.",
                    fix="Name a folder below it, without '..'.",
                )

    def _commit(self, world: World, title: str) -> None:
        """Write what is on top of the store and the files, as one entry. A store opened for reading keeps as it is."""
        if not self.engine.write_state.writable:
            return
        store = world.draft.store
        changes = folded(world.draft.writes, store)
        files = edits_of(world.files.changed)
        if changes or files:
            planned = ChangeSet(ACTION, title, changes, store.version, files=files)
            apply(self.engine, planned, confirmed=True)
            store.refresh()
