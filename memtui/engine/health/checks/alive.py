"""The parts of an agent's memory that do nothing, or did nothing for a while: one check for each part."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line
from memtui.engine.health.check import Check, Patient, Seen

if TYPE_CHECKING:
    from memtui.engine.alive import AgentMemory, Cause, MemoryPart


def _of_store(patient: Patient) -> list[AgentMemory]:
    """The agents whose memories are in the store that is looked at; none where no configuration names it."""
    if patient.found is None or not patient.found.configured:
        return []
    own = patient.folder
    if own is None and patient.can.edits_files and patient.engine is not None:
        own = Path(patient.engine.info.uri)  # memory-core's index is a file
    if own is None:
        return []
    place = os.path.realpath(own)
    return [
        memory for memory in patient.alive.agents if memory.store and os.path.realpath(memory.store) == place
    ]


def _has_agent(patient: Patient) -> bool:
    return bool(_of_store(patient))


def _looks_at(part: str) -> Callable[[Patient], Seen | None]:
    """The look at one part; MemtuiError where its files do not decide whether it works: that is no passed check."""

    def look(patient: Patient) -> Seen | None:
        states = [
            (memory, state) for memory in _of_store(patient) for state in memory.parts if state.part == part
        ]
        found = [(memory, state) for memory, state in states if state.state in ("dead", "weak")]
        if found:
            return _seen(found)
        undecided = next((state for _, state in states if state.state == "unknown"), None)
        if undecided is not None:
            raise MemtuiError(undecided.sentence or "its files do not say whether it works")
        return None

    return look


def _seen(found: list[tuple[AgentMemory, MemoryPart]]) -> Seen:
    found = sorted(found, key=lambda item: item[1].state != "dead")
    part = found[0][1]
    causes: list[tuple[str, Cause]] = [(agent.agent, cause) for agent, each in found for cause in each.causes]
    gravest = part.causes[0]
    agents = list(dict.fromkeys(agent.agent for agent, each in found if each.state == part.state))
    return Seen(
        f"{part.part} of {', '.join(map(one_line, agents))} is {part.state}, {gravest.code}: {gravest.sentence}",
        len(agents),
        files=tuple(dict.fromkeys(item.file for _, cause in causes for item in cause.evidence)),
        severity="S2" if part.state == "dead" else "S3",
        evidence=tuple(
            dict.fromkeys(
                f"{cause.code}: {'' if cause == gravest else f'{cause.sentence} '}{item.key}"
                for _, cause in causes
                for item in cause.evidence[:1]
            )
        ),
        remedy=gravest.fix,
        detail={"causes": list(dict.fromkeys(cause.code for _, cause in causes)), "agents": agents},
    )


_PARTS = (
    ("recall", "recall alive", "the agent answers without its memories"),
    ("capture", "capture alive", "nothing new is remembered"),
    ("tools", "memory tools alive", "the agent cannot search or store on its own"),
    ("embedding", "embedding alive", "no text becomes a vector: nothing is found or stored"),
    ("index", "index in order", "search misses what is stored"),
    ("workspace", "workspace in place", "the agent reads and writes elsewhere than before"),
    ("dreaming", "dreaming works", "nothing is promoted automatically"),
)

PROTOCOL = 1

CHECKS = tuple(
    Check(
        f"D{number}", title, "facts", "S2", "wrong", effect, "see: memtui alive", _looks_at(part),
        how="restart", safe=None, reversible=None, back="memtui config undo", price="a restart of the gateway",
        applies=_has_agent,
    )
    for number, (part, title, effect) in enumerate(_PARTS, 41)
)  # fmt: skip
