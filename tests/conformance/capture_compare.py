"""A replayed recording against the recorded one: exact but for scores, which the store computes in float32."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

SCORE = 1e-5


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """What differs, each with its path; empty when they are equal."""
    found: list[str] = []
    for key in ("rows_created", "rows_changed"):
        _rows(key, ours[key], theirs[key], theirs.get("embeddings") or {}, found)
    for key in ("rows_deleted", "rows_total"):
        _compare(key, ours[key], theirs[key], found)
    _files(ours["files_after"], theirs["files_after"], found)
    _compare("steps", len(ours["steps"]), len(theirs["steps"]), found)
    for at, (mine, wanted) in enumerate(zip(ours["steps"], theirs["steps"], strict=False)):
        place = f"step {at} {wanted['do']}"
        for key in ("answer", "queues"):
            if key in wanted:
                _compare(f"{place} {key}", mine.get(key), wanted[key], found)
        _trace(f"{place} trace", mine.get("trace") or [], wanted.get("trace") or [], found)
    return found


def _rows(key: str, ours: Any, theirs: Any, vectors: Mapping[str, Any], found: list[str]) -> None:
    if len(ours) != len(theirs):
        found.append(f"{key}: {[r['text'][:40] for r in ours]} against {[r['text'][:40] for r in theirs]}")
        return
    for mine, wanted in zip(ours, theirs, strict=True):
        place = f"{key} {wanted['id'][-4:]}"
        for name in ("id", "text", "category", "scope", "importance", "timestamp"):
            _compare(f"{place} {name}", mine[name], wanted[name], found)
        _compare(f"{place} metadata", _object(mine["metadata"]), _object(wanted["metadata"]), found)
        of = wanted.get("vector_of")
        expected = wanted.get("vector") or (vectors.get(of) if of is not None else None)
        if mine.get("vector_of") != of or of is None:
            _compare(f"{place} vector", mine.get("vector"), expected, found)


def _object(text: str) -> Any:
    values = json.loads(text)
    if isinstance(values.get("admission_audit"), str):
        values["admission_audit"] = json.loads(values["admission_audit"])
    return values


def _files(ours: Mapping[str, str], theirs: Mapping[str, str], found: list[str]) -> None:
    for name in sorted({*ours, *theirs}):
        mine, wanted = ours.get(name), theirs.get(name)
        if name.endswith(".jsonl") and mine is not None and wanted is not None:
            lines = [[json.loads(line) for line in text.splitlines()] for text in (mine, wanted)]
            _compare(f"file {name}", lines[0], lines[1], found)
        else:
            _compare(f"file {name}", mine, wanted, found)


def _trace(place: str, ours: Any, theirs: Any, found: list[str]) -> None:
    mine, wanted = (
        {text for r in each if r["kind"] == "embed" for text in r["texts"]} for each in (ours, theirs)
    )
    if mine != wanted:
        found.append(
            f"{place} embedded: only ours {sorted(mine - wanted)}, only theirs {sorted(wanted - mine)}"
        )
    left, right = ([r for r in each if r["kind"] != "embed"] for each in (ours, theirs))
    kinds, expected = ([r["kind"] for r in each] for each in (left, right))
    if kinds != expected:
        found.append(f"{place} records: {kinds} against {expected}")
        return
    for at, (record, other) in enumerate(zip(left, right, strict=True)):
        _compare(f"{place} {at} {record['kind']}", record, other, found)


def _compare(place: str, ours: Any, theirs: Any, found: list[str]) -> None:
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in [*theirs, *(each for each in ours if each not in theirs)]:
            if key not in ours or key not in theirs:
                there = "missing" if key not in ours else "not in theirs"
                found.append(f"{place}.{key}: {there} ({str((ours if key in ours else theirs)[key])[:200]})")
            else:
                _compare(f"{place}.{key}", ours[key], theirs[key], found)
        return
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            found.append(f"{place}: {len(ours)} {str(ours)[:300]} against {len(theirs)} {str(theirs)[:300]}")
            return
        for at, (mine, wanted) in enumerate(zip(ours, theirs, strict=True)):
            _compare(f"{place}[{at}]", mine, wanted, found)
        return
    if _number(ours) and _number(theirs):
        whole = isinstance(theirs, int) and isinstance(ours, int)
        if (ours != theirs) if whole else not math.isclose(ours, theirs, rel_tol=SCORE, abs_tol=SCORE):
            found.append(f"{place}: {ours!r} against {theirs!r}")
        return
    if isinstance(ours, bool) is not isinstance(theirs, bool) or ours != theirs:
        found.append(f"{place}: {str(ours)[:400]!r} against {str(theirs)[:400]!r}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
