"""Recorded values of reading and patching metadata, of categories and of scopes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from memtui.engine.access import ScopePolicy, agent_of_session, is_bypass, scope_of, split_scope
from memtui.engine.core.errors import MemtuiError
from memtui.engine.decay.decay import access_metadata
from memtui.engine.metadata import categories as category_rules
from memtui.engine.metadata.patch import append_relation, as_object, stringify
from memtui.engine.metadata.patch import build_metadata as build
from memtui.engine.metadata.read import (
    coerce_importance,
    coerce_timestamp,
    fact_key,
    legacy_importance,
    normalise,
    parse_object,
)

Recorded = dict[str, Any]
Case = tuple[str, Any, Any]


def _time(entry: Recorded) -> float | None:
    stamp = entry.get("timestamp")
    return stamp if isinstance(stamp, int | float) else None


def parse_metadata(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Odd metadata texts: the whole normalised object, and what is made of it."""
    now = recorded["now_ms"]
    for case in recorded["parse_metadata"]:
        entry, raw = case["entry"], case["raw"]
        what = f"{case['note']}: {str(raw)[:60]}"
        stamp = _time(entry)
        meta = normalise(
            raw, text=entry["text"], category=entry.get("category"), timestamp_ms=stamp, now_ms=now
        )
        yield what, as_object(meta), case["parsed"]
        count, last = access_metadata(raw)
        yield f"{what} access", {"accessCount": count, "lastAccessedAt": last}, case["access"]
        states = (meta.active(now), meta.expired(now), meta.suppressed(now))
        yield f"{what} states", states, (case["active"], case["expired"], case["suppressed"])
        view = case["lifecycle"]
        created = now if stamp is None else stamp
        ours = (
            coerce_importance(entry.get("importance")),
            meta.confidence,
            meta.tier,
            meta.access_count,
            created,
            meta.last_accessed_at or created,
        )
        keys = ("importance", "confidence", "tier", "accessCount", "createdAt", "lastAccessedAt")
        yield f"{what} view", ours, tuple(view[key] for key in keys)


def build_metadata(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """A patch over stored metadata."""
    for case in recorded["build_metadata"]:
        entry = case["entry"]
        ours = build(
            entry.get("metadata"),
            case["patch"],
            text=entry["text"],
            category=entry.get("category"),
            timestamp_ms=_time(entry),
            now_ms=recorded["now_ms"],
        )
        yield f"{case['patch']}", ours, case["built"]


def stringify_caps(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """The lists of metadata cut when it is written; and every stored object written as it is stored."""
    for case in recorded["stringify_caps"]:
        yield "caps", json.loads(stringify(case["input"])), case["output"]
    for line in (folder / "memories.jsonl").read_text().splitlines():
        raw = json.loads(line)["metadata"]
        values, valid = parse_object(raw)
        if valid and values:
            yield "as stored", stringify(values), raw


def append_relation_cases(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """One more relation."""
    for case in recorded["append_relation"]:
        yield f"{case['existing']}", append_relation(case["existing"], case["relation"]), case["result"]


def categories(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """The two vocabularies, and every combination of row, request and metadata."""
    block = recorded["categories"]
    for name in block["names"]:
        yield f"normalise {name}", category_rules.normalise_category(name), block["normalize"][name]
        smart, storage = category_rules.resolve_input(name)
        ours = {"memoryCategory": smart, "storageCategory": storage}
        yield f"resolve {name}", ours, block["resolve_tool"][name]
        yield f"candidates {name}", category_rules.filter_candidates(name), block["filter_candidates"][name]
        yield f"reverse {name}", category_rules.smart_of(name), block["reverse"][name]
    for smart, storage in block["storage"].items():
        yield f"storage {smart}", category_rules.storage_of(smart), storage
    listed = {tuple(triple) for triple in block["matches"]}
    for triple in product(block["names"], block["names"], block["matches_metadata"]):
        stored, requested, raw = triple
        yield (
            f"match {triple}",
            category_rules.matches(stored, requested, parse_object(raw)[0]),
            triple in listed,
        )


def fact_keys(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """What a versioned memory is about."""
    for case in recorded["fact_key"]:
        yield case["abstract"][:40], fact_key(case["category"], case["abstract"]), case["key"]


def timestamps(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Seconds, strings and nonsense in the time column."""
    for case in recorded["timestamps"]:
        yield f"{case['value']!r}", coerce_timestamp(case["value"]), case["normalized"]


def importance(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Importance clamped, and read from the old scale."""
    for case in recorded["importance"]:
        value = case["value"]
        yield (
            f"{value!r}",
            (coerce_importance(value), legacy_importance(value)),
            (case["clamp"], case["legacy"]),
        )


def scopes(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Session keys, scope names, and five configurations seen by thirteen agents."""
    block = recorded["scopes"]
    for case in block["session_keys"]:
        yield f"session {case['key']}", agent_of_session(case["key"]), case["agent"]
    for case in block["scope_ids"]:
        parts = split_scope(case["scope"])
        yield f"scope {case['scope']}", parts and {"type": parts[0], "id": parts[1]}, case["parsed"]
    for kind, made in block["makers"].items():
        yield f"make {kind}", scope_of(kind, "x"), made
    for manager in block["managers"]:
        yield from _manager(manager)


def _manager(case: Recorded) -> Iterator[Case]:
    name = case["name"]
    try:
        policy = ScopePolicy.from_config(case["config"], {})
    except MemtuiError:
        yield f"{name} refused", True, "error" in case
        return
    yield f"{name} accepted", True, "error" not in case
    yield f"{name} all", list(policy.definitions), case["all"]
    yield f"{name} warnings", list(policy.warnings), case["warnings"]
    ours = {
        "totalScopes": len(policy.definitions),
        "agentsWithCustomAccess": len(policy.access),
        "scopesByType": policy.counts(),
    }
    yield f"{name} stats", ours, case["stats"]
    for scope, valid in case["valid"]:
        yield f"{name} valid {scope!r}", policy.is_valid(scope), valid
    for view in case["agents"]:
        agent = view["agent"]
        yield f"{name} {agent!r} accessible", policy.accessible(agent), view["accessible"]
        yield f"{name} {agent!r} filter", policy.store_filter(agent), view["filter"]
        yield f"{name} {agent!r} bypass", is_bypass(agent), view["bypass_id"]
        allowed = [scope for scope, _ in case["valid"] if policy.is_accessible(scope, agent)]
        yield f"{name} {agent!r} can", allowed, view["can"]
        yield f"{name} {agent!r} writes", _write_scope(policy, agent), _recorded_scope(view["default_scope"])


def _write_scope(policy: ScopePolicy, agent: str | None) -> str | None:
    try:
        return policy.default_write_scope(agent)
    except MemtuiError:
        return None


def _recorded_scope(value: Any) -> str | None:
    return value if isinstance(value, str) else None
