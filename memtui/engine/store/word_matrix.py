"""All words of a small table in memory: keyword scores (BM25) that are the same before and after a fold.

The library scores the rows of its full-text index by the statistics of the index alone, and those beside it by the
statistics of both: what is written then moves the scores of everything only when it is folded in. Here every memory
counts, folded or not, and words are split as the table's own index splits them. Rows are known by their address
(fragment and place): files of a table are never rewritten, so an address has one text for ever.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.text import composed
from memtui.engine.store.agent_words import bm25
from memtui.engine.store.vector_matrix import ADDRESS, Addresses, addressed

if TYPE_CHECKING:
    from memtui.engine.store.vector_matrix import Pinned

MOST_ROWS = 20_000
"""Larger tables are searched by the library: this many short texts are split in two tenths of a second."""

MOST_UNSPLIT = 500_000
"""As many of a table whose index cannot split a text here: the library finds nothing in it."""

SPLIT = ("simple", "whitespace", "icu", "icu/split")
"""Tokenizers that need no files."""

PLAIN = "simple"
"""Splits at what is neither letter nor digit: stands in for a tokenizer whose dictionary is not here."""

BETWEEN = "zqxwvzq"
"""A word that stands in no text, between two texts: a call for each text takes seventy times as long."""

AT_ONCE = 2_000
"""Texts that are split by one call."""

MOST_AMONG = 4
"""Parts of a large table whose words are kept: those of the clients that ask most."""

KEPT = 65_536
"""Written words whose form in the index is remembered."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class WordSplitter:
    """Words as an index makes them: split, lower-cased, stemmed, stop words left out; by its own settings.

    Letters are composed first, so that a text counts alike however its letters are stored.
    """

    settings: Mapping[str, Any]
    _forms: dict[str, str] = field(default_factory=dict)
    """Of words written in ASCII their form in the index, empty for a stop word."""

    def words(self, text: str) -> list[str]:
        """The words of a question, in order.

        The library makes its list of stop words anew for each call, half a millisecond's work: known words are
        split only. Of scripts without spaces a word depends on what stands beside it: those are never remembered.
        """
        if not text.isascii():
            return self._split(text)
        written = self._split(
            text, lower_case=False, stem=False, remove_stop_words=False, ascii_folding=False
        )
        if unknown := [word for word in dict.fromkeys(written) if word not in self._forms]:
            if len(self._forms) > KEPT:
                self._forms.clear()
            for word, made in zip(unknown, self.many(unknown), strict=True):
                self._forms[word] = made[0] if made else ""
        return [form for word in written if (form := self._forms.get(word, ""))]

    def many(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text."""
        found: list[list[str]] = []
        for start in range(0, len(texts), AT_ONCE):
            part = texts[start : start + AT_ONCE]
            made: list[list[str]] = [[]]
            for word in self._split(f" {BETWEEN} ".join(part)):
                if word == BETWEEN:
                    made.append([])
                else:
                    made[-1].append(word)
            found += made if len(made) == len(part) else [self._split(text) for text in part]
        return found

    def _split(self, text: str, **other: Any) -> list[str]:
        from memtui.engine.store.lancedb_import import import_lancedb

        plain = composed(text).encode("utf-8", "replace").decode()  # half a character is none
        return [token.text for token in import_lancedb().tokenize(plain, **{**self.settings, **other})]


@lru_cache(maxsize=4)
def _splitter(settings: tuple[tuple[str, Any], ...]) -> WordSplitter:
    made = dict(settings)
    if made["custom_stop_words"] is not None:
        made["custom_stop_words"] = list(made["custom_stop_words"])
    return WordSplitter(made)


def splitter(details: Mapping[str, Any]) -> WordSplitter | None:
    """The splitter of an index with these settings; None for one that cannot be made without its table."""
    if details.get("base_tokenizer") not in SPLIT or details.get("lance_tokenizer") not in (None, "text"):
        return None
    custom = details.get("custom_stop_words")
    settings = {
        "base_tokenizer": details["base_tokenizer"],
        "language": str(details.get("language", "English")),
        "max_token_length": details.get("max_token_length"),
        "lower_case": bool(details.get("lower_case", True)),
        "stem": bool(details.get("stem", True)),
        "remove_stop_words": bool(details.get("remove_stop_words", True)),
        "custom_stop_words": None if custom is None else tuple(map(str, custom)),
        "ascii_folding": bool(details.get("ascii_folding", True)),
    }
    return _splitter(tuple(settings.items()))


@dataclass(frozen=True, eq=False)
class FoundWords:
    """Rows by their ids, best first, with their scores (BM25)."""

    row_ids: Addresses
    scores: np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class WordMatrix:
    """The words of every memory of one version, rows by address in ascending order."""

    version: int
    splitter: WordSplitter
    addresses: Addresses
    row_ids: Addresses
    lengths: Numbers
    """Of each row its number of words."""
    vocabulary: Mapping[str, int]
    starts: Numbers
    """Of each word of the vocabulary where its rows begin in `rows`; one more at the end."""
    rows: Numbers
    times: Numbers
    """How often the word stands in that row."""

    def search(self, text: str, k: int, among: Flags | None, counted: Flags | None = None) -> FoundWords:
        """The `k` best of the rows that hold a word of `text`, equal ones as they are stored.

        `among` keeps rows by place, None every one. A word counts as often as it is asked, as it does in the library.
        With `counted` the score is what it would be in a table of these rows alone.
        """
        scores = np.zeros(len(self.addresses))
        lengths = self.lengths if counted is None else self.lengths[counted]
        average = (float(lengths.mean()) if len(lengths) else 0.0) or 1.0
        for word, asked in Counter(self.splitter.words(text)).items():
            number = self.vocabulary.get(word, len(self.starts))
            if number + 1 >= len(self.starts):  # of no row of this version
                continue
            here = slice(int(self.starts[number]), int(self.starts[number + 1]))
            rows, times = self.rows[here], self.times[here]
            if counted is not None:
                rows, times = rows[counted[rows]], times[counted[rows]]
            idf = bm25.idf(len(rows), len(lengths))
            scores[rows] += asked * idf * bm25.weight(times, self.lengths[rows], average)
        places = np.flatnonzero(scores if among is None else scores * among)
        if len(places) > k:
            least = np.partition(scores[places], len(places) - k)[len(places) - k]
            above = places[scores[places] > least]
            level = places[scores[places] == least]
            places = np.sort(np.concatenate([above, level[: k - len(above)]]))
        order = places[np.argsort(-scores[places], kind="stable")]
        return FoundWords(self.row_ids[order], scores[order])


class WordCache:
    """The newest matrix of a table, shared by its versions; used by several threads."""

    def __init__(self, where: str | None = None) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._kept: WordMatrix | None = None
        self._words: dict[str, int] = {}
        self._texts: dict[int, tuple[Numbers, int]] = {}
        """Of each address the numbers of the text's words, and how many there are."""
        self._among: dict[str, WordCache] = {}
        self.read = 0
        """Texts read from the table so far."""

    def among(self, where: str) -> WordCache:
        """The words of those rows alone that `where` keeps, for a table of which all are too many."""
        with self._lock:
            cache = self._among.pop(where, None) or WordCache(where)
            self._among[where] = cache
            while len(self._among) > MOST_AMONG:
                del self._among[next(iter(self._among))]
            return cache

    def matrix(self, pin: Pinned, by: WordSplitter) -> WordMatrix:
        """The matrix of this version, made of the texts that are known and of those not read yet."""
        with self._lock:
            if self._kept is None or self._kept.version != pin.version or self._kept.splitter is not by:
                self._kept = self._advanced(pin, by)
            return self._kept

    def _advanced(self, pin: Pinned, by: WordSplitter) -> WordMatrix:
        if self._kept is None or self._kept.splitter is not by:
            self._texts, self._words = {}, {}
        addresses, row_ids = addressed(pin, self._where)
        known = self._texts
        fresh = [
            (at, row) for at, row in zip(addresses.tolist(), row_ids.tolist(), strict=True) if at not in known
        ]
        for places, texts in _texts_of(
            pin, fresh, every=self._where is None and len(fresh) == len(addresses)
        ):
            self.read += len(texts)
            for place, words in zip(places, by.many(texts), strict=True):
                numbers = [self._words.setdefault(word, len(self._words)) for word in words]
                known[place] = np.array(numbers, np.int64), len(words)
        self._texts = known = {at: known.get(at, (np.empty(0, np.int64), 0)) for at in addresses.tolist()}
        lengths = np.array([length for _, length in known.values()], np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *(numbers for numbers, _ in known.values())])
        rows = np.repeat(np.arange(len(addresses)), lengths)
        pairs, times = np.unique(flat * max(1, len(addresses)) + rows, return_counts=True)
        of_word, rows = np.divmod(pairs, max(1, len(addresses)))
        starts = np.searchsorted(of_word, np.arange(len(self._words) + 1))
        return WordMatrix(pin.version, by, addresses, row_ids, lengths, self._words, starts, rows, times)


def _texts_of(
    pin: Pinned, wanted: Sequence[tuple[int, int]], *, every: bool
) -> Iterator[tuple[list[int], list[str]]]:
    """(addresses, texts) of the rows at these (address, row id), some thousands at a time."""
    column = pin.dialect.columns.text
    if every:
        for batch in pin.scan([column, ADDRESS]):
            yield (
                batch.column(ADDRESS).to_pylist(),
                [value or "" for value in batch.column(column).to_pylist()],
            )
        return
    for start in range(0, len(wanted), AT_ONCE):
        part = {row: address for address, row in wanted[start : start + AT_ONCE]}
        table = pin.take(list(part), [column])
        texts = [value or "" for value in table.column(column).to_pylist()]
        yield [part[row] for row in table.column("_rowid").to_pylist()], texts
