"""The working set of a scope: what must be kept in mind there, made of its memories. Derived, never a source.

Source: spec A13 (openclaw-mem-engine). Nothing is written; the engine that keeps it as a row is another program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import ConfigError
from memtui.engine.dialects.importance_labels import label_of
from memtui.engine.query.errors import FilterError
from memtui.engine.recall.recipes.mem_engine.settings import EngineSettings, configured, resolve_engine
from memtui.engine.recall.recipes.mem_engine.stages import stale_todo

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.engine import Engine

PREFIX = "working_set:"

MOST_DECISIONS = 12

MOST_QUESTIONS = 3

_CONSTRAINT = re.compile(
    r"\b(?:must|only|never|don't|do not|avoid|required|forbid(?:den)?)\b|必須|只能|不要|禁止|務必",
    re.IGNORECASE,
)

_WORDED = r"/(?i)^\s*(todo|to-do|remind me to|remember to)\b/"
"""To-dos of stores that have no such category."""

_RANKS = {"must_remember": 0, "nice_to_have": 1}


@dataclass(frozen=True, slots=True)
class WorkingRow:
    """A memory as the working set takes it. `label` as the engine names importance."""

    id: str
    category: str
    text: str
    created_ms: int
    label: str = "unknown"


@dataclass(frozen=True, slots=True)
class WorkingRules:
    """The settings, with the engine's defaults. Characters and counts."""

    enabled: bool = True
    max_chars: int = 240
    per_section: int = 2
    item_chars: int = 100


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The text that goes before a prompt, and the memories that it says already: recall leaves those out."""

    scope: str
    text: str
    constraints: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    next_actions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    consumed: tuple[str, ...] = ()
    cut: int = 0
    """Characters that did not fit."""

    @property
    def id(self) -> str:
        """The id of the row that the engine keeps it under."""
        return f"{PREFIX}{self.scope}"

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """(name, lines) in the order of the text."""
        return (
            ("constraints", self.constraints),
            ("decisions", self.decisions),
            ("next_actions", self.next_actions),
            ("open_questions", self.open_questions),
        )

    def receipt(self, *, enabled: bool = True, suppressed: int = 0) -> dict[str, Any]:
        """The account in the engine's form."""
        made = bool(self.text)
        return {
            "enabled": enabled,
            "generated": made,
            "id": self.id if made else None,
            "chars": len(self.text),
            "sections": {
                "goal": False,
                "constraints": len(self.constraints),
                "decisions": len(self.decisions),
                "nextActions": len(self.next_actions),
                "openQuestions": len(self.open_questions),
            },
            "consumedCount": len(self.consumed),
            "suppressedRecallCount": suppressed,
            "persisted": False,
        }


def build_working_set(
    scope: str, rows: Sequence[WorkingRow], prompt: str = "", rules: WorkingRules = WorkingRules()
) -> WorkingSet:
    """The working set of these rows; its text is empty where one item that is no constraint is all there is."""
    if not rules.enabled:
        return WorkingSet(scope, "")
    usable = [row for row in rows if not row.id.startswith(PREFIX)]
    ranked = sorted(usable, key=lambda row: (_RANKS.get(row.label, 2), -row.created_ms))
    consumed: list[str] = []

    def lines(chosen: Sequence[WorkingRow]) -> tuple[str, ...]:
        found: dict[str, str] = {}
        for row in chosen:
            if len(found) == rules.per_section:
                break
            line = _line(row.text, rules.item_chars)
            if line and line.lower() not in found:
                found[line.lower()] = line
                if row.id not in consumed:
                    consumed.append(row.id)
        return tuple(found.values())

    kept = [row for row in ranked if row.category in ("preference", "decision")]
    constraints = lines([row for row in kept if _CONSTRAINT.search(row.text)])
    decisions = lines([row for row in ranked if row.category == "decision"])
    actions = lines([row for row in ranked if row.category == "todo"])
    asked = [line for line in prompt.splitlines() if "?" in line or "？" in line]
    questions = tuple(
        dict.fromkeys(
            _line(each, rules.item_chars) for each in asked[: min(MOST_QUESTIONS, rules.per_section)]
        )
    )
    made = WorkingSet(scope, "", constraints, decisions, actions, questions, tuple(consumed))
    count = sum(len(part) for _, part in made.sections)
    if count == 0 or (count == 1 and not constraints):
        return WorkingSet(scope, "")
    text = "\n".join(
        f"{name}:\n" + "\n".join(f"- {line}" for line in part) for name, part in made.sections if part
    )
    return WorkingSet(
        scope,
        text[: rules.max_chars],
        constraints,
        decisions,
        actions,
        questions,
        tuple(consumed),
        max(0, len(text) - rules.max_chars),
    )


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def working_row(memory: Memory) -> WorkingRow:
    """A memory of any store as the working set takes it."""
    given = memory.extra.get("importance_label")
    label = label_of(given if isinstance(given, str) else None, memory.importance)
    return WorkingRow(memory.id, memory.category or "other", memory.raw_text, memory.timestamp_ms, label)


def working_set_of(
    engine: Engine, scope: str, prompt: str = "", rules: WorkingRules | None = None
) -> WorkingSet:
    """The working set of a scope of an opened store: its newest preferences and decisions, and its to-dos.

    Without `rules`, by the lengths that openclaw-mem-engine is configured with.
    """
    if rules is None:
        told = _configured(engine).working
        rules = WorkingRules(True, told.max_chars, told.per_section, told.item_chars)
    rows: list[WorkingRow] = []
    for category in ("preference", "decision", "todo"):
        rows += [working_row(memory) for memory in _newest(engine, f"cat:{category}", MOST_DECISIONS, scope)]
    return build_working_set(scope, rows, prompt, rules)


def _newest(engine: Engine, filter: str, most: int, scope: str | None = None) -> Sequence[Memory]:
    """The newest memories that pass a filter; none in a store that has no such category."""
    from memtui.engine import ListQuery

    engine.load_metadata()
    try:
        view = engine.view(ListQuery(filter=filter, scopes=None if scope is None else (scope,)))
    except FilterError:
        return []
    return engine.page(view, 0, most)


@dataclass(frozen=True, slots=True)
class Todo:
    """A to-do of the store."""

    memory: Memory
    stale: bool
    """Older than to-dos go into a prompt: it is listed, and goes into none."""


def _configured(engine: Engine) -> EngineSettings:
    """The settings of the plugin that owns the store; the usual ones where none is known or one makes no sense."""
    found = engine.found.settings if engine.found is not None else {}
    try:
        return resolve_engine(configured(None, found))[0]
    except ConfigError:
        return EngineSettings()


def todos_of(engine: Engine, *, ttl_days: float | None = None, limit: int = 500) -> tuple[Todo, ...]:
    """The to-dos of a store, the newest first; stale from `ttl_days` on, else from the age that is configured."""
    ttl_days = _configured(engine).todo_days if ttl_days is None else ttl_days
    found: dict[str, Memory] = {}
    for filter in ("cat:todo", _WORDED):
        found |= {memory.id: memory for memory in _newest(engine, filter, limit)}
    now = engine.now_ms
    todos = [
        Todo(memory, stale_todo(memory.timestamp_ms, now_ms=now, ttl_days=ttl_days))
        for memory in found.values()
    ]
    return tuple(sorted(todos, key=lambda each: -each.memory.timestamp_ms))
