"""What is said of an agent's memory: parts, their state, causes with evidence, and the one change that revives them.

Codes of causes: spec/openclaw.md, section 6 (A1 to D14).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from memtui.engine.alive.titles import title_of

State = Literal["ok", "dead", "weak", "unknown"]

Verdict = Literal["alive", "dead", "unknown"]

PARTS = ("recall", "capture", "tools", "embedding", "index", "workspace", "dreaming")

_GRAVEST: tuple[State, ...] = ("ok", "unknown", "weak", "dead")


@dataclass(frozen=True, slots=True)
class CauseEvidence:
    """Where a cause can be seen: an existing file, and the key or row in it."""

    file: str
    key: str

    def as_json(self) -> dict[str, str]:
        """For the command line."""
        return {"file": self.file, "key": self.key}


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """One setting of the host's configuration that revives a part."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why parts of a memory do not work, or worked badly for a while."""

    code: str
    parts: tuple[str, ...]
    state: Literal["dead", "weak"]
    sentence: str
    evidence: tuple[CauseEvidence, ...]
    fix: str
    """A command, or what a person does."""
    edits: tuple[ConfigEdit, ...] = ()
    """The edit of the configuration behind the fix; empty where the fix is none."""

    @property
    def title(self) -> str:
        """What it is called, in a few words."""
        return title_of(self.code)


@dataclass(frozen=True, slots=True)
class Note:
    """A default that a person may not expect; it changes no part's state."""

    code: str
    sentence: str
    key: str

    def as_json(self) -> dict[str, str]:
        """For the command line."""
        return {"code": self.code, "sentence": self.sentence, "key": self.key}


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """One part of an agent's memory."""

    part: str
    state: State
    causes: tuple[Cause, ...] = ()
    said: str = ""
    """A sentence where no cause is known: what was seen, or what would decide it."""

    @property
    def sentence(self) -> str:
        """What is the matter, the gravest cause first; empty for a part that is fine."""
        return " ".join(dict.fromkeys(cause.sentence for cause in self.causes)) or self.said

    @property
    def fix(self) -> str:
        """The change that revives it: that of the gravest cause."""
        return self.causes[0].fix if self.causes else ""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        evidence = dict.fromkeys(item for cause in self.causes for item in cause.evidence)
        return {
            "part": self.part,
            "state": self.state,
            "causes": list(dict.fromkeys(cause.code for cause in self.causes)),
            "sentence": self.sentence,
            "evidence": [item.as_json() for item in evidence],
            "fix": self.fix,
        }


@dataclass(frozen=True, slots=True)
class AgentMemory:
    """One agent and the store in which its memories are."""

    agent: str
    store: str
    """Folder of the LanceDB store, the agent's database for memory-core, empty where there is neither."""
    owner: str
    """The plugin whose store it is."""
    parts: tuple[MemoryPart, ...]
    notes: tuple[Note, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "agent": self.agent,
            "store": self.store,
            "parts": [part.as_json() for part in self.parts],
            "notes": [note.as_json() for note in self.notes],
        }


@dataclass(frozen=True, slots=True)
class Aliveness:
    """The answer to "is my agent's memory alive?"."""

    host_name: str
    host_version: str
    host_known: bool
    agents: tuple[AgentMemory, ...]
    remarks: tuple[str, ...] = ()
    """What could not be read, in sentences."""
    homes: Mapping[str, str] = field(default_factory=dict)
    """Configuration and state folder that were looked at."""

    def of_store(self, store: str) -> Aliveness:
        """The answer for the agents whose memories are in `store`, a folder or its name, alone."""
        place = os.path.realpath(os.path.expanduser(store))
        kept = tuple(
            agent
            for agent in self.agents
            if agent.store and (os.path.realpath(agent.store) == place or Path(agent.store).name == store)
        )
        return replace(self, agents=kept)

    @property
    def verdict(self) -> Verdict:
        """dead: any part of any agent is; alive: some recall or capture is decided; unknown: none is."""
        parts = [part for agent in self.agents for part in agent.parts]
        if any(part.state == "dead" for part in parts):
            return "dead"
        decided = any(part.part in ("recall", "capture") and part.state != "unknown" for part in parts)
        return "alive" if decided else "unknown"

    @property
    def summary(self) -> str:
        """The verdict in one sentence, for a line of a screen: the gravest cause by its name, else what works."""
        dead = next(((agent, cause) for agent, _, cause in self.causes if cause.state == "dead"), None)
        if dead is not None:
            agent, cause = dead
            parts = [part.part for part in agent.parts if cause in part.causes and part.state == "dead"]
            return f"{agent.agent}: {cause.title} ({cause.code}); not working: {', '.join(parts)}"
        if self.verdict == "unknown":
            return "no memory to judge"
        weak = dict.fromkeys(f"{cause.title} ({cause.code})" for _, _, cause in self.causes)
        return "recall and capture work" + (f"; weak: {', '.join(weak)}" if weak else "")

    @property
    def causes(self) -> tuple[tuple[AgentMemory, MemoryPart, Cause], ...]:
        """Every cause once for each agent, the dead ones first."""
        seen: dict[tuple[str, str, str], tuple[AgentMemory, MemoryPart, Cause]] = {}
        for agent in self.agents:
            for part in agent.parts:
                for cause in part.causes:
                    seen.setdefault((cause.code, cause.sentence, agent.agent), (agent, part, cause))
        return tuple(sorted(seen.values(), key=lambda item: item[2].state != "dead"))

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of all agents, each once."""
        return tuple(dict.fromkeys(note for agent in self.agents for note in agent.notes))

    def as_json(self) -> dict[str, Any]:
        """The command line's contract."""
        return {
            "schema": 1,
            "host": {"name": self.host_name, "version": self.host_version, "known": self.host_known},
            "verdict": self.verdict,
            "agents": [agent.as_json() for agent in self.agents],
            "notes": [note.as_json() for note in self.notes],
            "remarks": list(self.remarks),
        }


def parts_of(base: Mapping[str, tuple[State, str]], causes: Iterable[Cause]) -> tuple[MemoryPart, ...]:
    """The parts of a memory: `base` holds the state and sentence of each without a cause."""
    found = list(causes)
    out = []
    for name in PARTS:
        state, said = base.get(name, ("unknown", ""))
        own = sorted(
            (cause for cause in found if name in cause.parts), key=lambda cause: cause.state != "dead"
        )
        for cause in own:
            state = max(state, cause.state, key=_GRAVEST.index)
        out.append(MemoryPart(name, state, tuple(own), said))
    return tuple(out)
