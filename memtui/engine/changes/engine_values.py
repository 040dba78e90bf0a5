"""What a row of openclaw-mem-engine may hold: everything that is set there is read by the plugin's own rules."""

from __future__ import annotations

from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.dialects.importance_labels import LABELS, label_word
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.recall.recipes.mem_engine import scope_rules, trust

CATEGORIES = ("preference", "fact", "decision", "entity", "todo", "other")

QUARANTINE_NOTE = (
    "The plugin's own recall still returns a quarantined memory; only its sidecar's packer leaves it out."
)

LABEL_NOTE = "The importance label follows the number, as the plugin's own writer does."


def read_category(name: str, value: Any, now_ms: int) -> tuple[str, str]:
    """(word, column) of a category; UsageError for one that the plugin would store as other."""
    word = str(value).strip().lower()
    if word not in CATEGORIES:
        raise UsageError(
            f"openclaw-mem-engine knows no category {value!r}.", fix=f"It knows {', '.join(CATEGORIES)}."
        )
    return word, word


def read_scope(name: str, value: Any, now_ms: int) -> str:
    """The scope as the plugin's strict rule stores it; UsageError for one that it would send to its default scope."""
    found = scope_rules.normalised(str(value), scope_rules.ScopeRules())
    if found.invalid or not str(value).strip():
        raise UsageError(
            f"openclaw-mem-engine does not take the scope {str(value)!r}.",
            fix=f"A scope begins with a letter from a to z or a digit and goes on with those and . _ : / -, "
            f"{scope_rules.USUAL} characters at the most.",
        )
    return found.scope


def read_label(name: str, value: Any, now_ms: int) -> str:
    """The importance label that a word means under the plugin's aliases; UsageError for any other word."""
    word = label_word(str(value))
    if word is None:
        raise UsageError(f"There is no {LABEL} {value!r}.", fix=f"It is one of {', '.join(LABELS)}.")
    return word


def read_trust(name: str, value: Any, now_ms: int) -> str:
    """The trust tier as it was typed: the plugin stores any word there."""
    word = str(value)
    if not word.strip() or not word.isprintable():
        raise UsageError(
            f"{TRUST} takes a word.", fix=f"For example: {TRUST}=trusted, untrusted or quarantined."
        )
    return word


def is_quarantine(word: str) -> bool:
    """Whether the sidecar reads this trust tier as quarantined."""
    return trust.strict_tier(word) == trust.QUARANTINED
