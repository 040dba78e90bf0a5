"""Rows that agents lose or misread: ids, scopes, times, metadata, links."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from memtui.engine.catalog.catalog import INVALID
from memtui.engine.core.text import counted, time_span
from memtui.engine.health.check import Check, Patient, Seen, distinct, memories

SECONDS_BELOW = 1e12

MICROSECONDS_ABOVE = 1e14

DAY_MS = 86_400_000

SKEW_MS = 5_000
"""Clocks of two programs on one machine may differ by so much."""

SKEW_DAYS = 7
"""A clock that is ahead by more is no clock: the time itself is wrong (D24)."""

_UNDEFINED = re.compile(r"(?:.*:)?(?:undefined|null|NaN)", re.IGNORECASE)

_BUILT_IN = re.compile(r"global|(?:agent|custom|project|user|reflection:agent):\S.*")


def _double_ids(patient: Patient) -> Seen | None:
    if patient.store is None:
        return None
    rows = np.flatnonzero(patient.catalog.ids.duplicated())
    if not rows.size:
        return None
    if own := patient.store.dialect.doubled_ids:  # what its program itself gives several times is no fault
        texts = patient.catalog.ids.texts(rows)
        rows = rows[np.array([not (text or "").startswith(own) for text in texts], np.bool_)]
    if not rows.size:
        return None
    ids = patient.ids_at(rows)
    return Seen(f"{memories(rows.size)} share {counted(len(ids), 'id', 'ids')}", rows.size, ids=ids)


def _unread(patient: Patient) -> Seen | None:
    from memtui.engine.transfer.repairs import mended_scope

    if patient.store is None:
        return None
    catalog = patient.catalog
    if patient.can.visibility == "scopes":
        wrong = [_unread_scope(patient, scope) for scope in catalog.scopes]
        codes, names = catalog.scope_codes, catalog.scopes
    elif "agentId" in catalog.labels:
        label = catalog.labels["agentId"]
        wrong = ["no agent" if not (value or "").strip() else "" for value in label.values]
        codes, names = label.codes, label.values
    elif patient.can.visibility == "policy":
        wrong = ["padded" if (scope or "") != (scope or "").strip() else "" for scope in catalog.scopes]
        codes, names = catalog.scope_codes, catalog.scopes
    else:
        return None
    bad = np.array([bool(word) for word in wrong], np.bool_)
    rows = np.flatnonzero(bad[codes]) if bad.size and len(codes) else np.zeros(0, np.int64)
    if not rows.size:
        return None
    counts = np.bincount(codes, minlength=len(names))
    evidence = tuple(
        f"{word if scope is None else f'{word}: {scope!r}'}, {memories(int(counts[at]))}"
        for at, (scope, word) in enumerate(zip(names, wrong, strict=True))
        if word and counts[at]
    )
    known = patient.can.visibility == "scopes" and any(
        mended_scope(scope, patient.dialect, "global") != scope
        for at, (scope, word) in enumerate(zip(names, wrong, strict=True))
        if word and counts[at]
    )
    return Seen(
        f"{memories(rows.size)} in a scope no agent can read",
        rows.size,
        ids=patient.ids_at(rows),
        evidence=evidence[:8],
        by_hand=not known,
        since_ms=_oldest(catalog.timestamp[rows]),
    )


def _unread_scope(patient: Patient, scope: str | None) -> str:
    """Why no agent reads this scope; empty when one may."""
    if scope is None:
        return "no scope"
    if not scope.strip():
        return "blank"
    if scope != scope.strip():
        return "padded"
    if _UNDEFINED.fullmatch(scope):
        return "undefined"
    policy = patient.policy
    if policy is None:
        return "" if _BUILT_IN.fullmatch(scope) else "no agent's by default"
    if scope in policy.definitions or any(scope in scopes for scopes in policy.access.values()):
        return "" if _granted(patient, scope) else "no agent's"
    return "" if _BUILT_IN.fullmatch(scope) and _granted(patient, scope) else "no agent's"


def _granted(patient: Patient, scope: str) -> bool:
    """Whether some agent may read a scope; an agent that is not listed may still run."""
    policy = patient.policy
    assert policy is not None
    if any(scope in policy.accessible(agent) for agent in policy.access):
        return True
    kind, _, name = scope.rpartition(":")
    if scope == "global" or scope in policy.team:
        return True
    if kind in ("agent", "reflection:agent"):
        return scope in policy.accessible(name)
    return False


def _times(patient: Patient) -> Seen | None:
    if patient.store is None or not patient.light.times.size:
        return None
    columns, light, now = patient.store.dialect.columns, patient.light, patient.now_ms
    times = light.times
    made_elsewhere = columns.created is not None and columns.timestamp is not None
    numbers = not patient.store.dialect.written_times
    words = {
        "in seconds": (times > 0) & (times < SECONDS_BELOW) & numbers,
        "in the future": (times > now + DAY_MS) & (times <= MICROSECONDS_ABOVE),
        "in microseconds": (times > MICROSECONDS_ABOVE) & np.isfinite(times),
        "zero or less": (times <= 0) & ~np.isinf(times),
        "infinite": np.isinf(times),
        "missing": np.isnan(times),
    }
    bad = np.logical_or.reduce(list(words.values()))
    if not bad.any():
        return None
    evidence = tuple(f"{name}: {memories(int(mask.sum()))}" for name, mask in words.items() if mask.any())
    known = words["in seconds"].any() or words["in microseconds"].any() or made_elsewhere
    more = ("an older program left the time in createdAt",) if made_elsewhere else ()
    return Seen(
        f"{memories(int(bad.sum()))} with a wrong time",
        int(bad.sum()),
        ids=patient.ids_of_rows(light.row_ids[bad]),
        evidence=(*evidence, *more),
        by_hand=not known,
    )


def _skew(patient: Patient) -> Seen | None:
    if patient.store is None:
        return None
    now, light = patient.now_ms, patient.light
    young = (light.times > now + SKEW_MS) & (light.times <= now + SKEW_DAYS * DAY_MS)
    looked_at = patient.store.version  # what is written meanwhile is younger than the clock that was read
    newest = [version for version in patient.store.versions() if version[0] <= looked_at][-1:]
    committed = newest[0][1] if newest else None
    late = {
        each: stamp
        for each, stamp in light.injected_late.items()
        if committed is not None and committed + SKEW_MS < stamp <= committed + SKEW_DAYS * DAY_MS
    }
    lines = []
    if young.any():
        lines.append(f"{memories(int(young.sum()))} newer than this machine's clock")
    if committed is not None and committed > now + SKEW_MS:
        ahead = time_span((committed - now) / 1000)
        lines.append(f"version {newest[0][0]} was written {ahead} ahead of the clock")
    if committed is not None and late:
        after = time_span((max(late.values()) - committed) / 1000)
        lines.append(f"an injection is noted {after} after the version that holds it")
    if not lines:
        return None
    ids = distinct([*(patient.ids_of_rows(light.row_ids[young]) if young.any() else ()), *late])
    return Seen(f"two clocks disagree: {lines[0]}", max(1, len(ids)), ids=ids, evidence=tuple(lines))


def _metadata(patient: Patient) -> Seen | None:
    if patient.store is None or patient.catalog.meta is None:
        return None
    rows = np.flatnonzero(patient.catalog.meta.flags & INVALID)
    if not rows.size:
        return None
    return Seen(f"{memories(rows.size)} with broken metadata", rows.size, ids=patient.ids_at(rows))


def _chains(patient: Patient) -> Seen | None:
    if patient.store is None or patient.store.dialect.columns.metadata is None:
        return None
    light, catalog = patient.light, patient.catalog
    targets = sorted({*light.superseded_by.values(), *light.supersedes.values()})
    there = {target for target in targets if catalog.find(target).size and _exact(patient, target)}
    dangling = [each for each, by in light.superseded_by.items() if by not in there]
    orphaned = [each for each, old in light.supersedes.items() if old not in there]
    winners = [
        by
        for by in light.superseded_by.values()
        if by in light.archived and by in there and by not in light.superseded_by
    ]
    circles = _circles(light.superseded_by)
    ids = distinct([*dangling, *orphaned, *winners, *circles])
    if not ids:
        return None
    said = (
        (len(dangling), "replaced by a memory that is not there"),
        (len(orphaned), "names a replaced memory that is not there"),
        (len(set(winners)), "replaced another and is archived itself: neither comes back"),
        (len(circles), "replaced by one that it replaced, round and round: none of them comes back"),
    )
    return Seen(
        f"{memories(len(ids))} with a broken chain of replacements",
        len(ids),
        ids=ids,
        evidence=tuple(f"{count}: {what}" for count, what in said if count),
    )


def _circles(superseded_by: Mapping[str, str]) -> list[str]:
    """Memories that replace each other in a circle."""
    done: set[str] = set()
    out = []
    for start in superseded_by:
        path: dict[str, int] = {}
        here: str | None = start
        while here is not None and here not in done and here not in path:
            path[here] = len(path)
            here = superseded_by.get(here)
        if here is not None and here in path:
            out += list(path)[path[here] :]
        done |= set(path)
    return out


def _exact(patient: Patient, id: str) -> bool:
    places = patient.catalog.find(id)
    return id in patient.catalog.ids.texts(places)


def _oldest(times: np.ndarray) -> int | None:
    known = times[times > 0]
    return int(known.min()) if known.size else None


PROTOCOL = 1

CHECKS = (
    Check(
        "D21", "ids", "light", "S2", "wrong",
        "a delete by id removes all of them, an edit hits one", "merge them by hand, or give each its own id",
        _double_ids, how="by hand", back="the journal",
    ),
    Check(
        "D23", "scopes", "light", "S2", "wrong",
        "no agent can recall them", "move them to a scope that an agent reads", _unread, back="the journal",
        price="one write",
    ),
    Check(
        "D24", "times", "light", "S2", "wrong",
        "they count as ancient, or are hidden until their time comes", "write the time in milliseconds",
        _times, back="the journal", price="one write",
    ),
    Check(
        "D25", "clocks", "light", "S3", "slow",
        "ages, decay and the order of events are off by as much", "set the clock of the machine that wrote them",
        _skew, how="by hand", safe=None, reversible=None,
    ),
    Check(
        "D26", "metadata", "light", "S1", "lost",
        "the agent reads defaults, and its next write loses what is stored",
        "keep what is stored inside a whole object", _metadata, back="the journal", price="one write",
    ),
    Check(
        "D27", "chains of replacements", "light", "S2", "wrong",
        "the replaced memory is hidden and nothing stands in for it", "link them again, or let the old one count",
        _chains, back="the journal", price="one write",
    ),
)  # fmt: skip
