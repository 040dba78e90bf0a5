"""How LanceDB 0.26 searches an index for few rows: the answer that its agents get, which is not the right one.

Where a filter keeps no more than a tenth of a part's rows, the engine walks these rows and the words' lists side by
side. A row is passed over when the list in front does not hold it, even where other lists do, and a list that has
not come as far is counted with the row it stands at: rows are lost, others get a score that is not theirs. Later
releases answer otherwise. Reproduced step by step (lance 2.0, inverted/wand.rs), because it decides what an agent
with a narrow scope recalls.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.store.agent_words.inverted import BLOCK, Postings

if TYPE_CHECKING:
    from memtui.engine.store.agent_words.inverted import Numbers


PERCENT = 10
"""A filter that keeps at most this share of a part's rows takes this way."""

_END = 2**63


class _Cursor:
    """A word's list while it is walked: where it stands, and at which block it looks."""

    __slots__ = ("at", "best", "block", "bound", "docs", "freqs", "order", "word")

    def __init__(self, word: int, postings: Postings) -> None:
        self.word = word
        self.docs: list[int] = postings.docs.tolist()
        self.freqs: list[int] = postings.freqs.tolist()
        self.best = postings.block_max
        self.bound = postings.max_score
        self.order = (postings.max_score, postings.token_id, word)
        self.at = self.block = 0

    @property
    def doc(self) -> int:
        return self.docs[self.at] if self.at < len(self.docs) else _END

    @property
    def key(self) -> tuple[int, float, int, int]:
        return (self.doc, *self.order)

    def next(self, least: int) -> None:
        self.at = max(self.at, bisect_left(self.docs, least, self.at))
        self.block = self.at // BLOCK

    def look(self, least: int) -> None:
        while self.block + 1 < len(self.best) and self.docs[(self.block + 1) * BLOCK] <= least:
            self.block += 1

    @property
    def block_first(self) -> int:
        place = self.block * BLOCK
        return self.docs[place] if place < len(self.docs) else _END

    @property
    def next_block(self) -> int:
        return self.docs[(self.block + 1) * BLOCK] if self.block + 1 < len(self.best) else _END

    @property
    def block_best(self) -> float:
        return self.best[self.block] if self.block < len(self.best) else 0.0


@dataclass(frozen=True)
class Walked:
    """A row that was let through, and how often it was counted for which words (their numbers)."""

    doc: int
    freqs: tuple[tuple[int, int], ...]


def walk(
    words: Mapping[int, Postings], docs: Sequence[int], limit: int, score: Callable[[int, int, int], float]
) -> list[Walked]:
    """The rows among `docs` (ascending) that the engine lets through, at most the `limit` best of them.

    `score` gives what a word (by its number) adds with a frequency to a row of `docs`.
    """
    lists = sorted((_Cursor(word, each) for word, each in words.items()), key=lambda each: each.key)
    kept: list[tuple[float, int, Walked]] = []
    threshold, current = 0.0, 0
    for doc in docs:
        if doc < current:
            continue
        current = doc
        if not lists:
            break
        pivot, bound = 0, lists[0].bound
        while pivot + 1 < len(lists) and bound < threshold:
            pivot += 1
            bound += lists[pivot].bound
        if _END > lists[0].block_first > doc:
            current = lists[0].block_first
            continue
        most = 0
        while most + 1 < len(lists):
            lists[most + 1].look(doc)
            if lists[most + 1].block_first > doc:
                break
            most += 1
        for listing in lists[: most + 1]:
            listing.look(doc)
        if sum(listing.block_best for listing in lists[: most + 1]) <= threshold:
            least = min(
                [listing.next_block for listing in lists[: most + 1]]
                + [listing.doc for listing in lists[most + 1 :]]
            )
            if least == _END:
                break
            current = max(doc, least)
            for listing in lists[: most + 1]:
                listing.next(least)
            lists = sorted((listing for listing in lists if listing.doc != _END), key=lambda each: each.key)
            continue
        if not _aligned(lists, pivot, doc):
            continue
        most = 0
        while most + 1 < len(lists) and lists[most + 1].doc == doc:
            most += 1
        counted = tuple(
            (listing.word, listing.freqs[listing.at]) for listing in lists[: most + 1] if listing.doc != _END
        )
        total = sum(score(word, freq, doc) for word, freq in counted)
        entry = (total, -doc, Walked(doc, counted))
        if len(kept) < limit:
            heapq.heappush(kept, entry)
        elif total > kept[0][0]:
            heapq.heapreplace(kept, entry)
        if len(kept) == limit:
            threshold = kept[0][0]
    return [entry for _, _, entry in kept]


def _aligned(lists: list[_Cursor], pivot: int, doc: int) -> bool:
    """Move the lists up to `pivot` to the row; False at the first one that does not hold it."""
    for at in range(pivot, -1, -1):
        each = lists[at]
        each.next(doc)
        if each.doc != doc:
            if each.doc == _END:
                lists[at] = lists[-1]  # the last one takes its place
                lists.pop()
            _settle(lists, at)
            return False
        _settle(lists, at)
    return True


def _settle(lists: list[_Cursor], at: int) -> None:
    """Let the list at `at` sink to where it belongs among the ones after it."""
    for place in range(at + 1, len(lists)):
        if lists[place].key >= lists[place - 1].key:
            break
        lists[place - 1], lists[place] = lists[place], lists[place - 1]


def is_narrow(kept: int, rows: int) -> bool:
    """Whether a filter that keeps `kept` rows makes the engine search a part of `rows` rows this way."""
    return kept * 100 <= PERCENT * rows


def rows_of_part(row_ids: Numbers, allowed: Numbers) -> list[int]:
    """The numbers within a part of the rows that are allowed, ascending."""
    import numpy as np

    found: list[int] = np.flatnonzero(np.isin(row_ids, allowed)).tolist()
    return found
