"""Full-text search over rows that the plugin's index has not folded in yet, scored as its engine scores them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from memtui.engine.capture.draft import Draft
from memtui.engine.recall.lanes import logistic
from memtui.engine.store.tokens import index_tokens

K1, B = 1.2, 0.75


def search_unfolded(
    draft: Draft, query: str, scopes: Sequence[str] | None, *, limit: int, now_ms: int
) -> list[tuple[str, float]]:
    """(id, score 0.5 to 1) of the rows with words of the query, best first, only those that are valid now.

    The statistics run along: a row is scored with what the rows up to it hold (spec/retrieval 2.3).
    """
    pin = draft.store.pin()
    wanted = list(dict.fromkeys(index_tokens(pin, query)))
    seen = Counter[str]()
    rows = words = 0
    found: list[tuple[str, float]] = []
    for row in draft.rows(scopes):
        counts = Counter(index_tokens(pin, row.text))
        rows += 1
        words += sum(counts.values())
        hits = {token: counts[token] for token in wanted if counts[token]}
        seen.update(hits)
        if not hits or not row.meta(now_ms).active(now_ms):
            continue
        length = sum(hits.values()) / max(1, words // rows)
        norm = K1 * (1 - B + B * length)
        raw = sum(
            math.log(1 + (rows - seen[token] + 0.5) / (seen[token] + 0.5)) * count * (K1 + 1) / (count + norm)
            for token, count in hits.items()
        )
        found.append((row.id, logistic(raw)))
    return sorted(found, key=lambda hit: -hit[1])[:limit]
