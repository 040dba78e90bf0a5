"""Every recorded value of the plugin's pure functions against ours, as one table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance import lifecycle_cases, metadata_cases, store_cases, text_cases

TOLERANCE = 1e-12
Case = tuple[str, Any, Any]
"""What is compared, our value, the recorded one."""

MEMBERS: Mapping[str, Callable[[dict[str, Any], Path], Iterable[Case]]] = {
    "rows": lifecycle_cases.rows,
    "decay_grid": lifecycle_cases.decay_grid,
    "stale": lifecycle_cases.stale,
    "tier_evaluate_all": lifecycle_cases.tier_evaluate_all,
    "tier1_patch": lifecycle_cases.tier1_patch,
    "temporal": lifecycle_cases.temporal,
    "parse_metadata": metadata_cases.parse_metadata,
    "build_metadata": metadata_cases.build_metadata,
    "stringify_caps": metadata_cases.stringify_caps,
    "append_relation": metadata_cases.append_relation_cases,
    "categories": metadata_cases.categories,
    "fact_key": metadata_cases.fact_keys,
    "timestamps": metadata_cases.timestamps,
    "importance": metadata_cases.importance,
    "scopes": metadata_cases.scopes,
    "noise": text_cases.noise,
    "skip_retrieval": text_cases.skip_retrieval,
    "expand_query": text_cases.expand_query,
    "tag_tokens": text_cases.tags,
    "intent": text_cases.intents,
    "category_boost": text_cases.category_boost,
    "format_at_depth": text_cases.depths,
    "store": store_cases.store,
    "lexical_fallback": store_cases.lexical_fallback,
}
KNOWN: Mapping[tuple[str, str], str] = {
    (
        "store",
        "list None patterns 0+500",
    ): "the plugin's list looks for a category in some columns only and so"
    " misses reflections, which its own recall finds under patterns; ours lists them",
}
"""Differences that stay, by function and case, with the reason."""
SETTINGS = {"now_ms", "notes", "decay_config", "tier_config"}


@dataclass(slots=True)
class Row:
    """One recorded function: how many values agree, and the names of the others by what differs."""

    name: str
    cases: int = 0
    equal: int = 0
    different: dict[str, list[str]] = field(default_factory=dict)


def compare_functions(shared: Path) -> list[Row]:
    """Compare every recorded value under `shared`/fixtures/peer/functions.json."""
    folder = shared / "fixtures" / "peer"
    recorded = json.loads((folder / "functions.json").read_text(encoding="utf-8"))
    return [_row(name, cases(recorded, folder)) for name, cases in MEMBERS.items()]


def _row(name: str, cases: Iterable[Case]) -> Row:
    row = Row(name)
    for what, ours, theirs in cases:
        row.cases += 1
        if same(ours, theirs):
            row.equal += 1
        else:
            why = KNOWN.get((name, what)) or f"{ours!r} against {theirs!r}"
            row.different.setdefault(why, []).append(what)
    return row


def same(ours: Any, theirs: Any) -> bool:
    """Equal values; numbers within the tolerance, relative to the size of large ones."""
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return bool(abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs)))
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    return bool(ours == theirs)
