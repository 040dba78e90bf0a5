"""`memory_health`: what is known to be wrong with the store, without reading its rows."""

from __future__ import annotations

from typing import Literal

from memtui.engine import MemtuiError, counted
from memtui.mcp.door import Door, usage
from memtui.mcp.tools.base import Answer, Arguments, Reply, Tool


class Health(Arguments):
    """Nothing."""


class Finding(Answer):
    """One thing that is wrong."""

    kind: str
    severity: str
    sentence: str
    remedy: str


class Findings(Answer):
    """What is wrong, worst first; a client that may not read everything gets its own memories' number, and no other."""

    memories: int
    findings: list[Finding]


def run(door: Door, given: Health) -> Reply:
    """The doctor's first pass."""
    from memtui.engine.health import examine, patient_of

    engine = door.engine
    first: tuple[Literal["facts"], ...] = ("facts",)
    try:
        found = examine(patient_of(engine, now_ms=engine.now_ms), passes=first)
    except MemtuiError as error:
        raise usage(error) from None
    limited = door.reach.limited
    findings = [
        Finding(
            kind=finding.kind,
            severity=finding.severity,
            sentence=finding.check.effect
            if limited
            else finding.seen.sentence,  # the sentence counts everybody's rows
            remedy=finding.check.remedy if limited else finding.remedy,
        )
        for finding in found.findings
    ]
    memories = door.listed().total if limited else engine.info.rows
    lines = "\n".join(f"{finding.sentence} To fix: {finding.remedy}" for finding in findings)
    counts = f"{counted(memories, 'memory', 'memories')}, {counted(len(findings), 'finding')}"
    text = f"untrusted health answer: {counts}\n{lines}".strip()
    return Reply(Findings(memories=memories, findings=findings), text)


TOOL = Tool(
    "memory_health",
    "Health of the store",
    "Call this when searches fail or return nothing: it reports what a person should fix.",
    Health,
    Findings,
    run,
    order=10,
)
