"""Full-text search over rows that the plugin's index has not folded in yet, scored as its engine scores them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from memtui.engine.capture.draft import Draft
from memtui.engine.catalog.text_search import index_tokens
from memtui.engine.recall.lanes import logistic

K1, B = 1.2, 0.75

_WORD = re.compile(r"\w+")

_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ]
)
"""What the plugin's engine leaves out; ours leaves out more."""


def search_unfolded(
    draft: Draft, query: str, scopes: Sequence[str] | None, *, limit: int, now_ms: int
) -> list[tuple[str, float]]:
    """(id, score 0.5 to 1) of the rows with words of the query, best first, only those that are valid now.

    The statistics run along: a row is scored with what the rows up to it hold (spec/retrieval 2.3).
    """
    words_of = _Words(draft)
    wanted = list(dict.fromkeys(words_of(query)))
    seen = Counter[str]()
    rows = words = 0
    found: list[tuple[str, float]] = []
    for row in draft.rows(scopes):
        counts = Counter(words_of(row.text))
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


class _Words:
    """The tokens of a text as the plugin's engine makes them, each word looked up once."""

    def __init__(self, draft: Draft) -> None:
        self._pin = draft.store.pin()
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> list[str]:
        return [token for word in _WORD.findall(text.lower()) for token in self._tokens(word)]

    def _tokens(self, word: str) -> tuple[str, ...]:
        if word not in self._known:
            left_out = () if word in _STOP else (word,)
            self._known[word] = index_tokens(self._pin, word) or left_out
        return self._known[word]
