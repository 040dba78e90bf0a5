"""Rows of openclaw-mem-engine's table: as its importer makes them of records, and its store tool of what is typed."""

from __future__ import annotations

import math
from typing import Any

from memtui.engine.changes.engine_values import CATEGORIES
from memtui.engine.core.javascript import trim
from memtui.engine.dialects.importance_labels import importance as importance_of
from memtui.engine.dialects.importance_labels import label_of
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.recall.recipes.mem_engine import scope_rules
from memtui.engine.recall.recipes.mem_engine.scope_rules import GLOBAL, ScopeRules
from memtui.engine.transfer.importing.no_place import without_place
from memtui.engine.transfer.record import ConversionNote, Record
from memtui.engine.transfer.scope_mapping import Scoping

TYPED, IMPORTED = "user", "import"
"""The trust tiers that the plugin's store tool and its importer write where nothing is said."""

NOT_EMBEDDED = "_noembed"
"""What the importer puts behind the trust tier of a row with a vector of zeros."""

NO_TIME = "not known: the time of the import is stored"


class EngineRows:
    """Makes the values of rows. `typed`: the memories were typed in one by one, so the store tool's rules hold."""

    def __init__(self, scoping: Scoping, rules: ScopeRules, now_ms: int, *, typed: bool) -> None:
        self._scoping, self._rules, self._now_ms, self._typed = scoping, rules, now_ms, typed

    def values(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        """The columns of one memory without its vector; what is changed or lost on the way goes into `notes`."""
        given = record.given
        if given is not None:
            notes.clear()  # those of another table's rules
        stored = given or {}
        score = importance_of(stored.get("importance") if given is not None else record.importance)
        label = stored.get("importance_label") if given is not None else record.rest.get(LABEL)
        if given is None:
            notes.extend(without_place(record, "openclaw-mem-engine's", (LABEL,)))
        return {
            "id": record.id or "",
            "text": record.text if self._typed else trim(record.text),
            "createdAt": self._created(record, notes),
            "category": self._category(record, notes),
            "importance": score,
            LABEL: label_of(label if isinstance(label, str) else None, score),
            "scope": self._scope(record, notes),
            TRUST: TYPED if self._typed else trim(record.trust or "") or IMPORTED,
        }

    def _category(self, record: Record, notes: list[ConversionNote]) -> str:
        word = record.category or ""
        if word in CATEGORIES:
            return word
        plain = trim(word).lower()
        if plain in CATEGORIES:
            return plain
        if word:
            notes.append(ConversionNote("category", "unknown to openclaw-mem-engine: stored as other"))
        return "other"

    def _created(self, record: Record, notes: list[ConversionNote]) -> float:
        if record.given is not None:
            stored = _finite(record.given.get("createdAt"))
            if stored > 0:
                return float(math.floor(stored))
        elif record.timestamp_ms is not None:
            return float(record.timestamp_ms)
        if not self._typed:
            notes.append(ConversionNote("createdAt", NO_TIME))
        return float(self._now_ms)

    def _scope(self, record: Record, notes: list[ConversionNote]) -> str:
        if self._typed:
            return self._typed_scope(record, notes)
        placed, _ = self._scoping.place(record.scope, keep_bare=True)
        scope = scope_rules.cleaned(placed or "", self._rules.max_length) or GLOBAL
        if scope != placed:
            notes.append(
                ConversionNote(
                    "scope", "written as openclaw-mem-engine writes scopes: lower case, with hyphens"
                )
            )
        return scope

    def _typed_scope(self, record: Record, notes: list[ConversionNote]) -> str:
        found = scope_rules.resolve(record.scope, record.text, self._rules)
        if found.invalid:
            notes.append(
                ConversionNote(
                    "scope", f"not valid under the plugin's scope policy: stored in {found.scope}, as it does"
                )
            )
        self._scoping.keep(record.scope)
        return found.scope


def mark_not_embedded(values: dict[str, Any]) -> None:
    """Write into the trust tier that the row's vector is all zeros, as the importer does."""
    values[TRUST] = f"{values[TRUST]}{NOT_EMBEDDED}"


def _finite(value: object) -> float:
    """A number as the importer takes one; 0 for everything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else 0.0  # type: ignore[arg-type]
