"""Reading a reflection report: its rules, what changed, what it says of the people, and what to learn from it."""

from __future__ import annotations

import re
from typing import Any

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import trim

MOST_INVARIANTS, MOST_DERIVED, MOST_MAPPED = 8, 10, 100

INVARIANTS, DERIVED = "Invariants", "Derived"

_MERGED = "Invariants & Reflections"

_LOOPS = "Open loops / next actions"

_DECISIONS = "Decisions (durable)"

_GOVERNANCE = "Learning governance candidates (.learnings / promotion / skill extraction)"

MAPPED = (
    ("user-model", "User model deltas (about the human)", "preference"),
    ("agent-model", "Agent model deltas (about the assistant/system)", "preference"),
    ("lesson", "Lessons & pitfalls (symptom / cause / fix / prevention)", "fact"),
    ("decision", _DECISIONS, "decision"),
)
"""(kind, heading, category) of the sections whose bullets become memories, in the order they are read."""

GOVERNANCE_ACTION = "Decide whether this becomes a lasting rule, and write it where rules are kept."

GOVERNANCE_SUMMARY = "Reflection learning governance candidates"

_LEAD = pattern(r"\A(?:invariants?|reflections?|derived)\s*[:：]\s*")

_NOTHING = pattern(
    r"\A\(none(?: captured)?\)\Z|\A(?:invariants?|reflections?|derived)[:：]\Z|apply this session'?s deltas next run"
    r"|apply this session'?s distilled changes next run|investigate why embedded reflection generation failed"
)

_UNSAFE = pattern(
    r"\A\s*(?:(?:next|this)\s+run\s+)?(?:ignore|disregard|forget|override|bypass)\b[\s\S]{0,80}"
    r"\b(?:instructions?|guardrails?|policy|developer|system)\b"
    r"|\b(?:reveal|print|dump|show|output)\b[\s\S]{0,80}\b(?:system prompt|developer prompt|hidden prompt"
    r"|hidden instructions?|full prompt|prompt verbatim|secrets?|keys?|tokens?)\b"
    r"|<\s*/?\s*(?:system|assistant|user|tool|developer|inherited-rules|derived-focus)\b[^>]*>"
    r"|\A(?:system|assistant|user|developer|tool)\s*:"
)

_RULE = pattern(
    r"\A(?:always|never|(?:when|if|before|after|prefer|avoid|require|only|do not|must|should)\b)"
    r"|\b(?:must|should|never|always|prefer|avoid|required?)\b"
)

_DELTA = pattern(
    r"\A(?:this run|next run|going forward|follow-up|re-check|retest|verify|confirm|avoid repeating|adjust|change"
    r"|update|retry|keep|watch)\b|\b(?:this run|next run|delta|change|adjust|retry|re-check|retest|verify|confirm"
    r"|avoid repeating|follow-up)\b"
)

_ACTION = pattern(
    r"\A(?:investigate|verify|confirm|re-check|retest|update|add|remove|fix|avoid|keep|watch|document)\b"
)

_OLD_RULE = pattern(r"invariant|stable|policy|rule")

_OLD_DELTA = pattern(r"reflect|inherit|derive|change|apply")

_ENTRY = pattern(r"(?:\A|\n)###\s+Entry\b[^\n]*")


def normalized_line(line: str) -> str:
    """The line without bold marks and without the name of its section in front."""
    return trim(_LEAD.sub("", line.replace("**", ""), count=1))


def is_placeholder(line: str) -> bool:
    """Whether a line says that there is nothing to say."""
    plain = trim(line.replace("**", ""))
    return not plain or _NOTHING.search(plain) is not None


def is_unsafe(line: str) -> bool:
    """Whether a line must not be put into a prompt: an order, a question for secrets, a role's tag."""
    plain = normalized_line(line)
    return not plain or _UNSAFE.search(plain) is not None


def section(report: str, heading: str) -> str:
    """The text under a level-2 heading, the heading compared without case; empty where there is none."""
    found: list[str] = []
    inside = False
    for line in re.split(r"\r?\n", report):
        if line.startswith("## "):
            if inside:
                break
            inside = trim(line[3:]).lower() == heading.lower()
        elif inside:
            found.append(line)
    return trim("\n".join(found))


def bullets(report: str, heading: str) -> list[str]:
    """The bullets under a level-2 heading, as written."""
    lines = (trim(line) for line in section(report, heading).split("\n"))
    return [trim(line[2:]) for line in lines if line.startswith(("- ", "* ")) and trim(line[2:])]


def _clean(lines: list[str], *, injectable: bool) -> list[str]:
    plain = [normalized_line(line) for line in lines if not is_placeholder(line)]
    return [line for line in plain if not is_placeholder(line) and not (injectable and is_unsafe(line))]


def slices(report: str, *, injectable: bool) -> dict[str, list[str]]:
    """The rules (`invariants`) and changes (`derived`) of a report; `injectable` leaves out what orders about."""

    def read(lines: list[str]) -> list[str]:
        return _clean(lines, injectable=injectable)

    merged = bullets(report, _MERGED)
    rules = [line for line in read(bullets(report, INVARIANTS)) if _RULE.search(line)]
    if not rules:
        rules = [
            line for line in read([each for each in merged if _OLD_RULE.search(each)]) if _RULE.search(line)
        ]
    if not rules:
        rules = [line for line in read(bullets(report, _DECISIONS)) if _RULE.search(line)]
    deltas = [line for line in read(bullets(report, DERIVED)) if _DELTA.search(line)]
    if not deltas:
        old = [
            line for line in read([each for each in merged if _OLD_DELTA.search(each)]) if _DELTA.search(line)
        ]
        loops = [
            line for line in read(bullets(report, _LOOPS)) if _ACTION.search(line) and _DELTA.search(line)
        ]
        deltas = [*old, *loops]
    return {"invariants": rules[:MOST_INVARIANTS], "derived": deltas[:MOST_DERIVED]}


def mapped_items(report: str) -> list[dict[str, Any]]:
    """The bullets that become memories of their own, with their kind, place and heading."""
    found: list[dict[str, Any]] = []
    for kind, heading, category in MAPPED:
        lines = _clean(bullets(report, heading), injectable=True)
        found += [
            {
                "text": line,
                "category": category,
                "heading": heading,
                "mappedKind": kind,
                "ordinal": at,
                "groupSize": len(lines),
            }
            for at, line in enumerate(lines)
        ]
    return found[:MOST_MAPPED]


def governance(report: str) -> list[dict[str, Any]]:
    """What the report proposes to learn: its entries, else all its bullets as one."""
    text = section(report, _GOVERNANCE)
    if not text:
        return []
    blocks = _ENTRY.split(text)[1:]
    found = [entry for block in blocks if (entry := _entry(block)) is not None]
    if found:
        return found
    lines = [f"- {line}" for line in _clean(bullets(report, _GOVERNANCE), injectable=False)]
    if not lines:
        return []
    return [
        {
            "priority": "medium",
            "status": "pending",
            "area": "config",
            "summary": GOVERNANCE_SUMMARY,
            "details": "\n".join(lines),
            "suggestedAction": GOVERNANCE_ACTION,
        }
    ]


def _entry(block: str) -> dict[str, Any] | None:
    def mark(name: str) -> str | None:
        match = re.search(rf"^\*\*{name}\*\*:\s*(.+)$", block, re.IGNORECASE | re.MULTILINE)
        return trim(match[1]) or None if match else None

    def part(name: str) -> str | None:
        """One line: the plugin's pattern ends at the first line end."""
        match = re.search(rf"###\s+{name}\s*\n([^\n]*)", block, re.IGNORECASE)
        return trim(match[1]) or None if match else None

    summary = part("Summary")
    if not summary:
        return None
    entry = {
        "priority": mark("Priority"),
        "status": mark("Status"),
        "area": mark("Area"),
        "summary": summary,
        "details": part("Details"),
        "suggestedAction": part("Suggested Action"),
    }
    return {key: value for key, value in entry.items() if value is not None}
