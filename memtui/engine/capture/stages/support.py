"""How often a memory was confirmed or contradicted, by the context it was said in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from memtui.engine.core.javascript import number, trim

MOST_SLICES = 8

GENERAL = "general"

_CONTEXTS = (
    "general", "morning", "afternoon", "evening", "night", "weekday", "weekend", "work", "leisure", "summer",
    "winter", "travel",
)  # fmt: skip

_ALIASES = {
    alias: context
    for context, aliases in {
        "morning": "早上 上午 早晨",
        "afternoon": "下午",
        "evening": "傍晚 晚上",
        "night": "深夜 夜晚 凌晨",
        "weekday": "工作日 平时",
        "weekend": "周末 假日 休息日",
        "work": "工作 上班 办公",
        "leisure": "休闲 放松 休息",
        "summer": "夏天 夏季",
        "winter": "冬天 冬季",
        "travel": "旅行 出差 旅游",
    }.items()
    for alias in aliases.split()
}


def normalize_context(label: Any) -> str:
    """The context that a label means: a known word, an alias of one, or the label itself in lower case."""
    text = trim(label).lower() if isinstance(label, str) else ""
    if not text:
        return GENERAL
    return _ALIASES.get(text, text)


def support_update(
    stored: Any, label: Any, event: Literal["support", "contradict"], now_ms: int
) -> dict[str, Any]:
    """The statistics of a memory after one more confirmation or contradiction.

    `stored` is what the metadata holds: the form with slices, the old flat one, or nothing. Of more than eight
    contexts the newest stay; the totals count those that were just dropped, and no earlier ones.
    """
    slices = _slices(stored, now_ms)
    context = normalize_context(label)
    hit = next((piece for piece in slices if piece["context"] == context), None)
    if hit is None:
        hit = _slice(context, 0, 0, now_ms)
        slices.append(hit)
    hit["confirmations" if event == "support" else "contradictions"] += 1
    hit["last_observed_at"] = now_ms
    hit["strength"] = _strength(hit)
    confirmed = sum(piece["confirmations"] for piece in slices)
    total = confirmed + sum(piece["contradictions"] for piece in slices)
    if len(slices) > MOST_SLICES:
        slices = sorted(slices, key=lambda each: -each["last_observed_at"])[:MOST_SLICES]
    return {
        "global_strength": confirmed / total if total else 0.5,
        "total_observations": total,
        "slices": slices,
    }


def _slices(stored: Any, now_ms: int) -> list[dict[str, Any]]:
    if not isinstance(stored, Mapping):
        return []
    listed = stored.get("slices")
    if isinstance(listed, list):
        return [
            _slice(
                item["context"],
                _count(item.get("confirmations")),
                _count(item.get("contradictions")),
                _time(item.get("last_observed_at"), now_ms),
            )
            for item in listed
            if isinstance(item, Mapping) and isinstance(item.get("context"), str)
        ]
    confirmed, against = _count(stored.get("confirmations")), _count(stored.get("contradictions"))
    return [_slice(GENERAL, confirmed, against, now_ms)] if confirmed or against else []


def _slice(context: str, confirmed: float, against: float, at_ms: float) -> dict[str, Any]:
    made: dict[str, Any] = {
        "context": context,
        "confirmations": confirmed,
        "contradictions": against,
        "strength": 0.5,
        "last_observed_at": at_ms,
    }
    made["strength"] = _strength(made)
    return made


def _strength(each: Mapping[str, Any]) -> float:
    total = each["confirmations"] + each["contradictions"]
    return each["confirmations"] / total if total else 0.5


def _count(value: Any) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and number(value) >= 0
    return value if usable else 0


def _time(value: Any, default: int) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return value if usable else default
