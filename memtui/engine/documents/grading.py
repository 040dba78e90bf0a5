"""Importance graded by plain signals of a text, as openclaw-mem's `heuristic-v1` does, and written as one change.

Source: spec A20, A16. Words match inside of other words, as there: "mustard" counts as "must".
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.plan import plan_each
from memtui.engine.core.errors import UsageError
from memtui.engine.dialects.importance_labels import label_of

if TYPE_CHECKING:
    from memtui.engine.changes import ChangeSet
    from memtui.engine.engine import Engine

START = 0.30

FIELDS = ("importance",)
"""What a grade may be written to; it is only filled in where nothing stands, unless it is named."""

_SECRET = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-|ghp_|AKIA")

_RULE = (
    "prefer",
    "always",
    "never",
    "must",
    "should",
    "do not",
    "don't",
    "required",
    "rule",
    "policy",
    "hard requirement",
    *["偏好", "規則", "一定", "必須", "不要", "禁止", "原則", "硬性", "需求", "不做", "不改"],
)

_DECISION = re.compile(
    r"decide|decision|\bchose\b|\bchosen\b|we will|we'll|\bmvp\b|\bscope\b|architecture"
    "|決定|選擇|採用|方案|架構|範圍",
    re.IGNORECASE,
)

_MADE, _MADE_OF = re.compile(r"\b(created|added|set up)\b"), re.compile(r"repo|cron|jobid|github\.com")

_CLI = re.compile(r"\b(uv run|openclaw|docker|kubectl|systemctl|python -m)\b")

_IDENTIFIER = re.compile(
    r"https?://|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\bagents\.[a-z]|OPENCLAW_[A-Z]",
    re.IGNORECASE,
)

_RUNBOOK = re.compile(r"\bcron\b|every |\btz\b|how to")

_ERROR = re.compile(r"\berror|\bfail|exception|traceback|timeout|timed out|錯誤|失敗")

_CAUSE = re.compile(r"root cause|caused by|\bfix|workaround|resolved|solution|原因|修正|解決")

_TASK = re.compile(r"\b(TODO|TASK|REMINDER)\b")

_DEADLINE = re.compile(
    r"\d{4}-\d{2}-\d{2}|\bby (mon|tues|wednes|thurs|fri|satur|sun)day|\b(due|deadline|before|until)\b|期限|截止"
)

_CHAT = re.compile(r"\b(lol|thanks|thx|ok|got it|nice)\b|收到|謝謝|哈哈")

_PROGRESS = re.compile(r"\b(done|finished|pushed|merged|wip)\b")

_CALENDAR, _CLOCK = (
    re.compile(r"\b(meeting|call)\b"),
    re.compile(r"\b\d{1,2}(:\d{2})?\s*(am|pm)\b|\b\d{1,2}:\d{2}\b"),
)


@dataclass(frozen=True, slots=True)
class Grade:
    """How much a text is worth keeping, from 0 to 1, and why."""

    score: float
    reasons: tuple[str, ...]
    penalties: tuple[str, ...]

    @property
    def label(self) -> str:
        """must_remember, nice_to_have or ignore."""
        return label_of(None, self.score)

    @property
    def rationale(self) -> str:
        """The first two reasons and the first penalty."""
        return " ".join((*self.reasons[:2], *self.penalties[:1])) or "Heuristic grade."


def grade(text: str, *, tool: str = "", kind: str = "note") -> Grade:
    """Grade a text; `tool` is what it came from, `kind` task for an action item."""
    whole = f"{tool}: {text}".strip() if tool else text
    low = whole.lower()
    is_task = kind == "task" or _TASK.search(whole) is not None
    reasons: list[str] = []
    penalties: list[str] = []
    score = START

    def count(signal: object, worth: float, why: str) -> bool:
        nonlocal score
        if signal:
            score += worth
            (reasons if worth > 0 else penalties).append(why)
        return bool(signal)

    count(_SECRET.search(whole), -0.40, "Secret-like content; down-ranked for safety.")
    count(any(word in low for word in _RULE), 0.40, "Durable preference/policy that affects future behavior.")
    decided = _DECISION.search(whole) or (_MADE.search(low) and _MADE_OF.search(low))
    count(decided and not is_task, 0.30, "Captures a decision that should be consistent over time.")
    known_cli = _CLI.search(low)
    stable = count(
        _IDENTIFIER.search(whole) or known_cli,
        0.20,
        "Contains stable identifiers useful for future lookup/automation.",
    )
    count(_RUNBOOK.search(low) or known_cli, 0.20, "Repeatable operational step; useful as a runbook.")
    broken = count(_ERROR.search(low), 0.15, "Operational issue with potential future recurrence.")
    count(broken and _CAUSE.search(low), 0.10, "Includes a cause/fix/workaround.")
    count(is_task, 0.20, "Action item that remains relevant until done.")
    count(is_task and _DEADLINE.search(low), 0.10, "Has an explicit deadline/time window.")
    count(_CHAT.search(low), -0.25, "Acknowledgement/chit-chat; low reuse.")
    bare = not (stable or broken or is_task)
    count(bare and _PROGRESS.search(low), -0.20, "Pure progress update; low reuse.")
    alone = not reasons and _CALENDAR.search(low) and _CLOCK.search(low)
    count(alone, -0.15, "Calendar-only note without lasting context.")
    return Grade(round(min(1.0, max(0.0, score)), 4), tuple(reasons), tuple(penalties))


def importance_score(value: Any) -> float:
    """An importance as people write it: 0.86, 86, "86%", "43/50", {"score": ...}, {"label": ...}; 0 for all else."""
    if isinstance(value, Mapping):
        if value.get("score") is not None:
            return importance_score(value["score"])
        label = value.get("label")
        known = label_of(label, None) if isinstance(label, str) else ""
        return {"must_remember": 0.8, "nice_to_have": 0.5}.get(known, 0.0)
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).strip()
        try:
            if text.endswith("%"):
                return _share(float(text[:-1]) / 100)
            above, slash, below = text.partition("/")
            return _share(float(above) / float(below)) if slash else importance_score(float(text))
        except (ValueError, ZeroDivisionError):
            return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    percent = float(value).is_integer() and 2 <= value <= 100
    return _share(value / 100 if percent else value)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


# ------------------------------------------------------------------ writing grades


@dataclass(frozen=True, slots=True)
class Graded:
    """One memory with its grade, what stands there, and whether the grade would be written."""

    id: str
    text: str
    before: float | None
    grade: Grade
    written: bool


@dataclass(frozen=True, slots=True)
class Grading:
    """A run over memories: what it would write, as a change that can be applied and undone."""

    rows: tuple[Graded, ...]
    changes: ChangeSet | None
    """None where nothing would change."""
    forced: tuple[str, ...]

    @property
    def receipt(self) -> dict[str, Any]:
        """Counts in the sidecar's words."""
        labels = dict.fromkeys(("must_remember", "nice_to_have", "ignore", "unknown"), 0)
        for row in self.rows:
            labels[row.grade.label] += 1
        written = sum(row.written for row in self.rows)
        over = sum(row.written and row.before is not None for row in self.rows)
        return {
            "total_seen": len(self.rows),
            "graded_filled": written - over,
            "overwritten": over,
            "overwrittenFields": list(self.forced) if over else [],
            "skipped_existing": len(self.rows) - written,
            "label_counts": labels,
        }


def plan_grading(engine: Engine, filter: str, *, forced: Collection[str] = ()) -> Grading:
    """Grade what the filter matches. Only empty fields are filled; a field in `forced` is written over, too.

    Raises UsageError for a field that no grade is written to.
    """
    unknown = [name for name in forced if name not in FIELDS]
    if unknown:
        raise UsageError(f"{unknown[0]} is no field of a grade.", fix=f"Known: {', '.join(FIELDS)}.")
    from memtui.engine.catalog.views import select_ids

    ids = select_ids(engine.view, filter)
    memories = engine.memories(ids)
    rows = []
    for memory_id in ids:
        if (memory := memories.get(memory_id)) is None:
            continue
        made = grade(memory.raw_text)
        empty = memory.importance is None
        differs = empty or abs((memory.importance or 0.0) - made.score) > 1e-9
        rows.append(
            Graded(
                memory_id,
                memory.raw_text,
                memory.importance,
                made,
                differs and (empty or "importance" in forced),
            )
        )
    edits = {row.id: {"importance": row.grade.score} for row in rows if row.written}
    title = f"grade {len(edits)} memories" if len(edits) != 1 else "grade a memory"
    changes = plan_each(engine, edits, title, reason="heuristic-v1") if edits else None
    return Grading(tuple(rows), changes, tuple(forced))
