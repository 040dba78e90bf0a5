"""Why nothing was injected into a turn: by the host's log, the question, the store of that moment, or what is dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.alive.check import check_alive
from memtui.engine.alive.gateway_log import GatewayLog
from memtui.engine.alive.home import Home, homes_here
from memtui.engine.core.errors import MemtuiError
from memtui.engine.discovery.agents import normalized_agent_id
from memtui.engine.discovery.types import BUILTIN, PRO
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.witness import ReplayedSession, ReplayedTurn


_LOGGED = (
    "timed-out", "hook-timeout", "width", "cool-down", "recall-failed", "recall-denied", "filtered",
    "lane-failed", "lane-done", "lane-skipped",
)  # fmt: skip
"""Kinds of messages that say why a turn got nothing, the surest first."""

_BEFORE_MS, _AFTER_MS, _ALONE_MS = 1_000, 2_000, 60_000
"""A turn's messages lie between its question and its prompt; without a prompt's time, within a minute."""


def explain_silence(
    replayed: ReplayedSession, environ: Mapping[str, str], cwd: Path, engine: Engine | None = None
) -> None:
    """Say in each silent turn of a session why it got nothing, as far as what lies on disk tells. Reads only.

    The log of the turn's own moment comes first, then what is dead by the configuration, then the question, and the
    rows of that version.
    """
    _Reasons(environ, cwd, engine).explain(replayed.turns, replayed.file.agent)


@dataclass
class _Reasons:
    """What is read once to say why turns of a home were silent."""

    environ: Mapping[str, str]
    cwd: Path
    engine: Engine | None = None

    def explain(self, turns: Sequence[ReplayedTurn], agent: str) -> None:
        """Add the reason to each turn that was recorded as silent; what cannot be told stays as it is."""
        for replayed in turns:
            turn = replayed.turn
            if replayed.memories or replayed.memories is None or turn.active or turn.intents or turn.block:
                continue
            why = self._reason(replayed, agent)
            if why:
                turn.why = f"nothing was injected: {why}"

    def _reason(self, replayed: ReplayedTurn, agent: str) -> str:
        turn = replayed.turn
        return (
            self._logged(turn.time_ms, turn.prompt_ms, agent)
            or self._dead(agent)
            or self._short(turn.question)
            or self._empty(turn.prompt_ms or turn.time_ms, agent)
            or self._gate(turn.question)
        )

    @cached_property
    def _home(self) -> Home | None:
        return next(iter(homes_here(self.environ, self.cwd, 0)), None)

    @cached_property
    def _log(self) -> GatewayLog:
        return self._home.log if self._home is not None else GatewayLog()

    def _logged(self, asked_ms: int, prompt_ms: int, agent: str) -> str:
        """The host's own words in the time of the turn."""
        last = prompt_ms + _AFTER_MS if prompt_ms >= asked_ms > 0 else asked_ms + _ALONE_MS
        for kind in _LOGGED:
            for event in self._log.of(kind):
                if event.agent in ("", agent) and asked_ms - _BEFORE_MS <= event.time_ms <= last:
                    return f"the host's log says: {event.text}"
        return ""

    @cached_property
    def _dead_recalls(self) -> dict[str, str]:
        """By agent, why its recall is dead by the configuration and the files as they are."""
        found: dict[str, str] = {}
        for memory in check_alive(self.environ, self.cwd, now_ms=0).agents:
            for part in memory.parts:
                causes = [cause.sentence for cause in part.causes if cause.state == "dead"]
                if part.part == "recall" and part.state == "dead":
                    found.setdefault(
                        normalized_agent_id(memory.agent), " ".join(dict.fromkeys(causes)) or part.said
                    )
        return found

    def _dead(self, agent: str) -> str:
        home = self._home
        if home is not None and home.slot == "none":
            return 'no memory plugin: plugins.slots.memory is "none"'
        return self._dead_recalls.get(normalized_agent_id(agent), "")

    def _short(self, question: str) -> str:
        from memtui.engine.recall.recipes.builtin_prompt import SHORTEST_PROMPT, skip_rule

        if self._slot == BUILTIN and skip_rule(question.strip()):
            return f"the prompt is shorter than {SHORTEST_PROMPT} characters, so nothing is recalled"
        return ""

    def _gate(self, question: str) -> str:
        """The rule by which memory-lancedb-pro looks nothing up for a question."""
        if self._slot != PRO:
            return ""
        from memtui.engine.recall.recipes.pro.question import skip_rule

        rule = skip_rule(question)
        return f"the adaptive gate skips this question ({rule})" if rule else ""

    @property
    def _slot(self) -> str:
        return self._home.slot if self._home is not None else ""

    def _empty(self, moment_ms: int, agent: str) -> str:
        """What the store held for the agent at the moment of the prompt."""
        store = None if self.engine is None else self.engine.store
        versions = [] if store is None else store.versions()
        if store is None or not versions:
            return ""
        before = [version for version, time_ms in versions if time_ms <= moment_ms]
        real = sql.not_sentinel(store.dialect.columns.id)
        if not before:
            # A table that begins with rows was put here whole: when they were written is not known.
            begins_empty = versions[0][0] == 1 and not store.pin(1).count(real)
            return "the store was not there yet" if begins_empty else ""
        owner = "agentId" if "agentId" in store.dialect.labels else None
        try:
            pinned = store.pin(before[-1])
            if not pinned.count(real):
                return "the store held no memory yet"
            if owner and not pinned.count(sql.is_in(owner, [agent])):
                return f"the store held no memory of agent {agent}: its rows belong to others"
        except MemtuiError:  # the version was cleaned away meanwhile
            return ""
        return ""
