"""Compaction: rows that say nearly the same become one, as the plugin merges them at a gateway's start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.stages.similarity import cosine
from memtui.engine.core.javascript import trim, utf16_slice
from memtui.engine.core.memory import TIERS
from memtui.engine.metadata.patch import build_metadata

LONGEST_ABSTRACT = 180

MOST_OVERVIEW = 8

MERGED_CONFIDENCE = 0.7


def clusters(rows: Sequence[StoredRow], threshold: float, smallest: int) -> list[list[StoredRow]]:
    """Rows grouped by a seed: the most important first, each taking all that are near enough to it.

    A seed whose group is too small stays used up.
    """
    order = sorted(range(len(rows)), key=lambda at: -rows[at].importance)
    used: set[int] = set()
    found: list[list[StoredRow]] = []
    for seed in order:
        if seed in used:
            continue
        used.add(seed)
        members = [seed]
        for other in order:
            if other not in used and _near(rows[seed], rows[other]) >= threshold:
                used.add(other)
                members.append(other)
        if len(members) >= smallest:
            found.append([rows[at] for at in members])
    return found


def _near(left: StoredRow, right: StoredRow) -> float:
    if left.vector is None or right.vector is None:
        return 0.0
    return min(1.0, max(0.0, cosine(left.vector, right.vector)))


class Merged(NamedTuple):
    """What a cluster becomes: a row without id and vector."""

    text: str
    category: str
    scope: str | None
    importance: float
    metadata: dict[str, Any]


def compaction_merge(members: Sequence[StoredRow], now_ms: int) -> Merged:
    """One row of several: their lines once each, the highest importance, the commonest category, the seed's scope.

    Validity, state and what replaced what are not carried over, as the plugin does not: history counts again.
    """
    metas = [row.meta(now_ms) for row in members]
    lines: dict[str, str] = {}
    for meta in metas:
        for line in meta.l2_content.split("\n"):
            plain = trim(line)
            if plain:
                lines.setdefault(plain.lower(), plain)
    text = "\n".join(lines.values())
    category = Counter(row.category for row in members).most_common(1)[0][0]
    importance = min(1.0, max(row.importance for row in members))
    best = max(range(len(members)), key=lambda at: members[at].importance)
    overview = list(dict.fromkeys(meta.l0_abstract for meta in metas))[:MOST_OVERVIEW]
    patch = {
        "l0_abstract": utf16_slice(metas[best].l0_abstract, LONGEST_ABSTRACT),
        "l1_overview": "\n".join(f"- {line}" for line in overview),
        "l2_content": text,
        "tier": min((meta.tier for meta in metas), key=TIERS.index),
        "access_count": max(meta.access_count for meta in metas),
        "confidence": max(MERGED_CONFIDENCE, *(meta.confidence for meta in metas)),
    }
    built = build_metadata("{}", patch, text=text, category=category, timestamp_ms=now_ms, now_ms=now_ms)
    marks = {"compacted": True, "sourceCount": len(members), "compactedAt": now_ms}
    return Merged(text, category, members[0].scope, importance, {**built, **marks})
