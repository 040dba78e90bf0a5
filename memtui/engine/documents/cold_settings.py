"""The settings of the cold lane; read before each prompt, so nothing of the lane itself is loaded with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.core.errors import ConfigError
from memtui.engine.documents.cold_rules import LONGEST, MOST_CHARS, SHORTEST, Strategy

BLOCK = "docsColdLane"


@dataclass(frozen=True, slots=True)
class ColdRules:
    """The `docsColdLane` block, clamped as the engine clamps it."""

    enabled: bool = False
    roots: tuple[str, ...] = ()
    globs: tuple[str, ...] = ("**/*.md",)
    max_chunk_chars: int = MOST_CHARS
    max_items: int = 2
    max_snippet_chars: int = 280
    min_hot_items: int = 2
    fts_k: int = 20
    rrf_k: int = 60
    strategy: Strategy = "repo_prefix"
    scope_map: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ingest_on_start: bool = False
    """Whether what changed is read before the documents are asked."""


_NUMBERS = {
    "maxChunkChars": ("max_chunk_chars", SHORTEST, LONGEST),
    "maxItems": ("max_items", 1, 5),
    "maxSnippetChars": ("max_snippet_chars", 80, 600),
    "minHotItems": ("min_hot_items", 0, 5),
    "searchFtsK": ("fts_k", 1, 100),
    "searchRrfK": ("rrf_k", 1, 200),
}

_LISTS = {"sourceRoots": "roots", "sourceGlobs": "globs"}

_STRATEGIES = ("none", "repo_prefix", "path_prefix", "map")

_OTHERS = ("enabled", "scopeMappingStrategy", "scopeMap", "embedOnIngest", "ingestOnStart", "searchVecK")


def read_cold_rules(block: Mapping[str, Any]) -> ColdRules:
    """The rules in a configuration. ConfigError for a key that is unknown; what is out of range is clamped."""
    known = (*_NUMBERS, *_LISTS, *_OTHERS)
    if wrong := next((key for key in block if key not in known), None):
        raise ConfigError(
            f"{BLOCK}.{wrong} is not a known setting.",
            path=f"{BLOCK}.{wrong}",
            fix=f"Known: {', '.join(known)}.",
        )
    made: dict[str, Any] = {
        "enabled": block.get("enabled") is True,
        "ingest_on_start": block.get("ingestOnStart") is True,
    }
    for key, (name, low, high) in _NUMBERS.items():
        value = block.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            made[name] = min(high, max(low, math.floor(value)))
    for key, name in _LISTS.items():
        given = block.get(key)
        if isinstance(given, list) and (
            words := [item for item in given if isinstance(item, str) and item.strip()]
        ):
            made[name] = tuple(dict.fromkeys(words))[:32]
    if block.get("scopeMappingStrategy") in _STRATEGIES:
        made["strategy"] = block["scopeMappingStrategy"]
    named = block.get("scopeMap")
    if isinstance(named, Mapping):
        made["scope_map"] = {
            str(scope): [entry for entry in entries if isinstance(entry, str)]
            for scope, entries in named.items()
            if isinstance(entries, list)
        }
    return ColdRules(**made)
