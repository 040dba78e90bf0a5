"""The keyword search of a table whose index LanceDB 0.26 owns, as that engine answers it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from memtui.engine.store.agent_words import bm25, few_rows, heap
from memtui.engine.store.agent_words.inverted import Part, PartAmong, Postings, read_parts
from memtui.engine.store.agent_words.lance_file import NotReadable
from memtui.engine.store.agent_words.tokens import TokenSplitter, splitter

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]


FRAGMENT = 32
"""A row id is the number of its fragment, shifted by this many bits, and its place there."""

MOST_BESIDE = 50_000
"""Rows outside the index that are split into words: a second's work, some megabytes."""


@dataclass(frozen=True)
class Ranked:
    """Rows by their score, best first, with what each word added to it.

    `scores` float64 [rows]; `adds` float64 [words, rows]; `indexed` says of each row whether the index holds it.
    """

    row_ids: Numbers
    scores: Numbers
    indexed: Numbers
    words: tuple[str, ...]
    adds: Numbers

    def account(self, row: int) -> dict[str, float]:
        """What each word of the question added to the score of the row at this place; words it lacks left out."""
        added = self.adds[:, row].tolist()
        return {word: adds for word, adds in zip(self.words, added, strict=True) if adds}


@dataclass(frozen=True)
class Scored:
    """What words add to rows, in any order: one entry for each word of a row."""

    row_ids: Numbers
    words: Numbers
    """The word's number in the question."""
    adds: Numbers

    def of(self, rows: Numbers, words: int) -> Numbers:
        """The same as a table, float64 [words, rows], of the rows `rows` (sorted row ids)."""
        import numpy as np

        table = np.zeros((words, len(rows)))
        kept = is_in(self.row_ids, rows)
        table[self.words[kept], np.searchsorted(rows, self.row_ids[kept])] = self.adds[kept]
        return table


@dataclass(frozen=True)
class Beside:
    """The rows outside the index, in storage order, and their words."""

    row_ids: Numbers
    lengths: Numbers
    counts: Mapping[str, Mapping[int, int]]
    """Of each word: how often it stands in which of these rows."""


@dataclass(frozen=True)
class ScoreParts:
    """What the score of a row of the index is made of: of each word idf, rows with it, times, weight."""

    length: int
    average: float
    words: Mapping[str, tuple[float, int, int, float]]


@dataclass(frozen=True)
class WordIndex:
    """An index as its own engine reads it, and the rows beside it, at one version of a table."""

    parts: Sequence[Part | PartAmong]
    splitter: TokenSplitter
    beside: Beside
    rows: int
    """Rows that the index holds, those deleted since included: they count in its statistics."""
    total: int
    """Words of all these rows."""

    def among(self, rows: Numbers) -> WordIndex:
        """The index as though the table held these rows alone (sorted row ids): nothing else is counted."""
        import numpy as np

        parts = [PartAmong(part, rows) for part in self.parts if isinstance(part, Part)]
        kept = np.flatnonzero(is_in(self.beside.row_ids, rows))
        place = {int(before): at for at, before in enumerate(kept.tolist())}
        counts = {
            word: {place[at]: times for at, times in held.items() if at in place}
            for word, held in self.beside.counts.items()
        }
        beside = Beside(self.beside.row_ids[kept], self.beside.lengths[kept], counts)
        total = sum(int(part.lengths.sum()) for part in parts)
        return WordIndex(parts, self.splitter, beside, sum(len(part) for part in parts), total)

    def tokens(self, text: str) -> tuple[str, ...]:
        """The words of a text, in order."""
        return tuple(word for word, _ in self.splitter.tokens(text))

    def search(self, text: str, allowed: Numbers, *, k: int, filtered: bool) -> Ranked:
        """The `k` best rows among `allowed` (sorted row ids) that hold a word of `text`, best first.

        `filtered`: whether a filter chose `allowed`; without one these are all rows. A text in double quotes is a
        phrase: rows that hold its words side by side, and only rows of the index.
        """
        counts = Counter(self.tokens(text))
        words = tuple(counts)
        if is_phrase(text):
            inside, outside = self._phrase(self.tokens(text), allowed), _nothing()
        else:
            inside = self._in_index(words, allowed, k, filtered)
            outside = self._outside(counts, allowed)
        return self._ranked(words, inside, outside, k, merged=not is_phrase(text))

    def parts_of(self, row_id: int, words: Sequence[str]) -> ScoreParts | None:
        """What each of `words` adds to a row, taken apart; None for a row that the index does not hold."""
        import numpy as np

        for part in self.parts:
            for doc in np.flatnonzero(part.row_ids == row_id).tolist():
                length, found = int(part.lengths[doc]), {}
                for word in words:
                    held = part.postings(word)
                    at = int(np.searchsorted(held.docs, doc)) if held is not None else 0
                    if held is not None and at < len(held.docs) and int(held.docs[at]) == doc:
                        times = int(held.freqs[at])
                        weight = float(bm25.weight(float(times), float(length), self._average))
                        found[word] = (self._idf(word), self._rows_with(word), times, weight)
                return ScoreParts(length, self._average, found)
        return None

    def _in_index(self, words: Sequence[str], allowed: Numbers, k: int, filtered: bool) -> Scored:
        found = []
        for part in self.parts:
            lists = {at: held for at, word in enumerate(words) if (held := part.postings(word)) is not None}
            if isinstance(part, Part) and filtered and lists and few_rows.is_narrow(len(allowed), len(part)):
                found += self._walked(part, words, lists, allowed, k)
            else:
                found += [
                    self._scored(part, at, held.docs, words[at], held.freqs) for at, held in lists.items()
                ]
        return _only(found, allowed)

    def _scored(self, part: Part | PartAmong, at: int, docs: Numbers, word: str, freqs: Numbers) -> Scored:
        """What a word adds to rows of a part that hold it `freqs` times."""
        import numpy as np

        lengths = part.lengths[docs].astype(np.float64)
        adds = self._idf(word) * bm25.weight(freqs.astype(np.float64), lengths, self._average)
        return Scored(part.row_ids[docs], np.full(len(docs), at), adds)

    def _walked(
        self, part: Part, words: Sequence[str], lists: Mapping[int, Postings], allowed: Numbers, k: int
    ) -> list[Scored]:
        """The rows that the engine lets through where a filter keeps few."""
        import numpy as np

        weights = {at: self._idf(words[at]) for at in lists}

        def score(word: int, freq: int, doc: int) -> float:
            return float(weights[word] * bm25.weight(freq, float(part.lengths[doc]), self._average))

        docs = few_rows.rows_of_part(part.row_ids, allowed)
        through = few_rows.walk(lists, docs, k, score)
        entries = [(row.doc, word, freq) for row in through for word, freq in row.freqs]
        if not entries:
            return []
        rows, numbers, freqs = (np.array(column) for column in zip(*entries, strict=True))
        return [
            self._scored(part, at, rows[numbers == at], words[at], freqs[numbers == at])
            for at in sorted(set(numbers.tolist()))
        ]

    def _outside(self, counts: Mapping[str, int], allowed: Numbers) -> Scored:
        import numpy as np

        at = np.flatnonzero(is_in(self.beside.row_ids, allowed))
        if not len(at) or not counts:
            return _nothing()
        held = np.zeros((len(counts), len(self.beside.row_ids)), np.int64)
        for number, word in enumerate(counts):
            holding = self.beside.counts.get(word, {})
            held[number, np.array(list(holding), np.int64)] = list(holding.values())
        adds = bm25.beside_index(
            held[:, at],
            self.beside.lengths[at],
            rows=self.rows,
            total=(self.total // self.rows) * self.rows if self.rows else 0,
            rows_with=np.array([self._rows_with(word) for word in counts]),
        )
        adds *= np.array(list(counts.values()))[:, None]  # here a word counts as often as it was asked
        numbers, rows = np.nonzero(adds)
        return Scored(self.beside.row_ids[at][rows], numbers, adds[numbers, rows])

    def _phrase(self, words: Sequence[str], allowed: Numbers) -> Scored:
        """Rows that hold the words of a phrase in their order, with nothing between them.

        A stop word in a row keeps its place, one in the phrase does not: a phrase around one finds nothing. Nor
        does a phrase that has a word twice, or one whose words no part holds all.
        """
        import numpy as np

        found: list[Scored] = []
        for part in self.parts if len(set(words)) == len(words) else ():
            held = [part.postings(word) for word in words]
            lists = [postings for postings in held if postings is not None]
            if not lists or len(lists) < len(held):
                continue
            docs = reduce(np.intersect1d, [postings.docs for postings in lists])
            at = [np.searchsorted(postings.docs, docs) for postings in lists]
            rows = range(len(docs))
            kept = np.array([_in_order(part, lists, [int(each[row]) for each in at]) for row in rows], bool)
            for number, (postings, place) in enumerate(zip(lists, at, strict=True)):
                freqs = postings.freqs[place][kept]
                found.append(self._scored(part, number, docs[kept], words[number], freqs))
        return _only(found, allowed)

    def _ranked(
        self, words: tuple[str, ...], inside: Scored, outside: Scored, k: int, *, merged: bool
    ) -> Ranked:
        """The `k` best rows of the index and, `merged`, those beside it; equal ones in the engine's order."""
        import numpy as np

        best = heap.best_first(_sums(inside), k)
        if merged and len(self.beside.row_ids):
            positive = [entry for entry in _sums(outside) if entry[0] > 0]
            best = heap.best_first([*best, *positive], k)
        rows = np.array([row for _, row in best], np.uint64)
        order = np.argsort(rows)
        both = _joined([inside, outside])
        adds = np.zeros((len(words), len(rows)))
        adds[:, order] = both.of(rows[order], len(words))
        return Ranked(rows, adds.sum(axis=0), ~is_in(rows, np.sort(self.beside.row_ids)), words, adds)

    def _rows_with(self, word: str) -> int:
        return sum(part.size(word) for part in self.parts)

    def _idf(self, word: str) -> float:
        return float(bm25.idf(self._rows_with(word), self.rows))

    @property
    def _average(self) -> float:
        return self.total / self.rows if self.rows else 1.0


def is_phrase(text: str) -> bool:
    """Whether the engine takes a text for a phrase."""
    return text.startswith('"') and text.endswith('"')


def is_in(values: Numbers, of: Numbers) -> Numbers:
    """Of each value whether it is one of `of`, which is sorted."""
    import numpy as np

    if not len(of):
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(of, values), len(of) - 1)
    found: Numbers = of[at] == values
    return found


def _in_order(part: Part | PartAmong, lists: Sequence[Postings], at: Sequence[int]) -> bool:
    """Whether the words of `lists` stand side by side in the row that `at` says of each list."""
    places = [
        set((part.positions(postings, row).astype(int) - place).tolist())
        for place, (postings, row) in enumerate(zip(lists, at, strict=True))
    ]
    return bool(set.intersection(*places))


def _nothing() -> Scored:
    import numpy as np

    return Scored(np.array([], np.uint64), np.array([], np.int64), np.array([], np.float64))


def _joined(found: Sequence[Scored]) -> Scored:
    import numpy as np

    every = [_nothing(), *found]
    return Scored(
        np.concatenate([each.row_ids for each in every]),
        np.concatenate([each.words for each in every]),
        np.concatenate([each.adds for each in every]),
    )


def _only(found: Sequence[Scored], allowed: Numbers) -> Scored:
    """The entries of all that is found whose row is allowed."""
    every = _joined(found)
    kept = is_in(every.row_ids, allowed)
    return Scored(every.row_ids[kept], every.words[kept], every.adds[kept])


def _sums(scored: Scored) -> list[heap.Entry]:
    """(score in single precision, row id) of each row, in storage order."""
    import numpy as np

    rows, which = np.unique(scored.row_ids, return_inverse=True)
    scores = np.bincount(which, scored.adds, len(rows)).astype(np.float32)
    return list(zip(scores.tolist(), rows.tolist(), strict=True))


def word_index(
    indices: Sequence[Any],
    folder: Path,
    rows: Numbers,
    read_texts: Callable[[Numbers], Sequence[str | None]],
    shared: Path | None = None,
) -> WordIndex:
    """The full-text index among the `indices` of the text column, read from the table's `folder`.

    `shared` is the folder of the table that a shallow clone was made of: an index from before is there.
    `rows` are the ids of all rows, sorted; `read_texts` reads the texts of those that the index does not cover.
    Raises `NotReadable` for an index of another form, or in several segments.
    """
    index = next((i for i in indices if i.index_type == "FTS"), None)
    if index is None:
        raise NotReadable("there is no index")
    if getattr(index, "index_version", None) != 1:
        raise NotReadable(f"it has version {getattr(index, 'index_version', None)}")
    if getattr(index, "num_segments", 1) != 1:
        raise NotReadable(f"it has {index.num_segments} segments")
    split = splitter(index.index_details or {})
    files = folder / "_indices" / str(index.index_uuid)
    if shared is not None and not files.is_dir():
        files = shared / "_indices" / str(index.index_uuid)
    parts = read_parts(files)
    indexed = sum(len(part) for part in parts)
    total = sum(int(part.lengths.sum()) for part in parts)
    return WordIndex(parts, split, _beside(rows, read_texts, parts, split), indexed, total)


def _beside(
    every: Numbers,
    read_texts: Callable[[Numbers], Sequence[str | None]],
    parts: Sequence[Part],
    split: TokenSplitter,
) -> Beside:
    """The rows in fragments that the index does not cover, split into words."""
    import numpy as np

    none = np.array([], np.uint64)
    covered = np.unique(np.concatenate([none, *(part.row_ids >> np.uint64(FRAGMENT) for part in parts)]))
    new = every[~is_in(every >> np.uint64(FRAGMENT), covered)]
    lengths: list[int] = []
    counts: dict[str, dict[int, int]] = {}
    if len(new) > MOST_BESIDE:
        raise NotReadable(f"{len(new):,} rows are not in it yet")
    if len(new):
        for at, text in enumerate(read_texts(new)):
            words = [word for word, _ in split.tokens(text or "")]
            for word in words:
                held = counts.setdefault(word, {})
                held[at] = held.get(at, 0) + 1
            lengths.append(len(words))
    return Beside(new, np.array(lengths, np.int64), counts)
