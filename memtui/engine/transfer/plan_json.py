"""The plan as the command line prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memtui.engine.clean import one_line
from memtui.engine.transfer.rules import MEANINGS, Group

if TYPE_CHECKING:
    from memtui.engine.transfer.plan import Plan

SHOWN = 1_000
"""Rows that are listed with their reason; all are counted."""
TEXT = 100
"""Characters of a text that tell which record it is."""
_HELD: tuple[Group, ...] = ("conflict", "secret", "noise", "short", "near", "exact")


def plan_json(plan: Plan, entry: int | None) -> dict[str, Any]:
    """`format`, `evidence`, `plan`, `loss`, `entry`, `rejected`, and what belongs to them."""
    source = plan.sources[0]
    adds, replaced = plan.decisions()
    return {
        "schema": "memtui.import.v1",
        "format": source.format.name,
        "evidence": [phrase for each in plan.sources for phrase in each.evidence],
        "sources": [str(each.path) for each in plan.sources],
        "records": plan.total,
        "plan": dict(plan.counts),
        "added": len(adds),
        "replaced": len(replaced),
        "left_out": len(plan.left_out),
        "new": _new(plan),
        "flags": plan.flags,
        "rules": sorted(plan.rules.on),
        "near_looked_for": plan.near_looked_for,
        "mapping": dict(plan.mapping),
        "scopes": [{"from": theirs, "to": ours, "rows": rows} for theirs, ours, rows in plan.scopes],
        "embedding": {
            "rows": len(plan.to_embed()),
            "chars": plan.cost.chars,
            "tokens": plan.cost.tokens,
            "seconds": plan.cost.seconds,
            "model": plan.cost.model,
            "problem": plan.cost.problem,
        },
        "loss": [loss.as_json() for loss in plan.losses()],
        "entry": entry,
        "rejected": _rejected(plan),
        "reasons": [
            {"why": why, "rows": rows, "broken": broken} for (why, broken), rows in plan.draft.reasons.items()
        ],
        "warnings": [*plan.draft.remarks, *plan.warnings],
    }


def _new(plan: Plan) -> list[dict[str, Any]]:
    """Records that are new, by the number that leaves one out; the first thousand."""
    return [
        {"record": each.number + 1, "where": each.where, "text": one_line(each.text)[:TEXT]}
        | ({"left_out": True} if each.left_out else {})
        for each in plan.page("new", 0, SHOWN)
    ]


def _rejected(plan: Plan) -> list[dict[str, Any]]:
    """What is left out: what cannot be read, then rows that a rule holds back; the first thousand."""
    found: list[dict[str, Any]] = []
    for each in plan.rejected():
        if len(found) >= SHOWN:
            return found
        found.append({"where": each.where, "why": each.why, "broken": each.broken})
    for group in _HELD:
        for item in plan.page(group, 0, SHOWN - len(found)):
            if group == "conflict" and plan.choice(item.number) != "keep":
                continue
            match = {} if item.match is None else {"match": item.match.id or item.match.where}
            found.append({"where": item.where, "why": MEANINGS[group], "group": group, **match})
    return found
