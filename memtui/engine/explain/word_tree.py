"""The keyword score of one memory by word: how rare the word is, how often it stands there, how long the text is."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.catalog.text_search import index_tokens
from memtui.engine.explain.variation import memory_of
from memtui.engine.recall.far_rows import row_id_of
from memtui.engine.store.agent_words import bm25

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace
    from memtui.engine.store.snapshot import Snapshot

NEARLY = 1e-6
"""What recomputed numbers may differ from those of the trace, whose engine may count in single precision."""

MOST_ROWS = 20_000
"""Rows whose texts are counted where the index tells only the sum: some tenths of a second, once for a version."""

BETWEEN = "zqxwvzq"
"""A word that stands in no text, between two texts."""


@dataclass(frozen=True, slots=True)
class WordShare:
    """What one word of the question adds; None where the index does not tell."""

    word: str
    adds: float
    """As the trace has it."""
    idf: float | None = None
    """ln(1 + (rows - rows with it + .5) / (rows with it + .5)), as often as the question has the word."""
    rows_with: int | None = None
    times: int | None = None
    """How often it stands in the memory."""
    weight: float | None = None
    """times x 2.2 / (times + 1.2 x (.25 + .75 x length / average)); adds = idf x weight."""


@dataclass(frozen=True, slots=True)
class KeywordTree:
    """The keyword score (BM25) of a memory as a sum over words; no words where the index tells only the sum."""

    raw: float
    words: tuple[WordShare, ...] = ()
    rows: int | None = None
    """Rows that the index counts."""
    length: int | None = None
    """Words of the memory."""
    average: float | None = None

    @property
    def adds_up(self) -> bool:
        """Whether the words, each recomputed from its parts, give the score of the trace."""
        parts = [
            word.adds if word.idf is None or word.weight is None else word.idf * word.weight
            for word in self.words
        ]
        return bool(parts) and abs(math.fsum(parts) - self.raw) <= NEARLY * max(1.0, abs(self.raw))


def keyword_tree(trace: Trace, memory_id: str) -> KeywordTree | None:
    """The tree of a memory that the keyword lane of `trace` found; None for one that it did not find.

    What each word adds is quoted from the trace where it has that, and its parts are read from the index at the
    version of the trace; they are left out for a memory that the index does not hold yet. Of an index that tells
    only the sum the parts are counted from the texts, and shown where they give that very sum.
    """
    hit = next((each for each in trace.pool.bm25.values() if each.row.id == memory_id), None)
    raw = None if hit is None else hit.inputs.get("raw_bm25")
    if hit is None or not raw:
        return None
    pin = memory_of(trace).pin
    row_id = row_id_of(pin, memory_id)
    adds = sorted((hit.inputs.get("words") or {}).items(), key=lambda each: -each[1])
    if not adds:
        return _counted(trace, pin, row_id, float(raw))
    index = pin.agent_words
    parts = None if isinstance(index, str) else index.parts_of(row_id, [word for word, _ in adds])
    if parts is None or isinstance(index, str):
        return KeywordTree(float(raw), tuple(WordShare(word, each) for word, each in adds))
    words = tuple(WordShare(word, each, *parts.words.get(word, ())) for word, each in adds)
    return KeywordTree(float(raw), words, index.rows, parts.length, parts.average)


def _counted(trace: Trace, pin: Snapshot, row_id: int, raw: float) -> KeywordTree:
    """The tree counted from all texts; without words where that does not give `raw`."""
    texts = pin.derived(("words of all texts", pin.counted), lambda: _words_of_all(pin))
    here = texts.get(row_id, ()) if texts is not None else ()
    if not texts or not here or trace.bm25_query is None:
        return KeywordTree(raw)
    rows, average = len(texts), sum(map(len, texts.values())) / len(texts)
    shares = []
    for word, asked in Counter(index_tokens(pin, trace.bm25_query.replace('"', " "))).items():
        if times := here.count(word):
            rows_with = sum(word in text for text in texts.values())
            idf = float(bm25.idf(rows_with, rows)) * asked  # a word that is asked twice counts twice
            weight = float(bm25.weight(times, len(here), average))
            shares.append(WordShare(word, idf * weight, idf, rows_with, times, weight))
    shares.sort(key=lambda each: -each.adds)
    tree = KeywordTree(raw, tuple(shares), rows, len(here), average)
    return tree if tree.adds_up else KeywordTree(raw)


def _words_of_all(pin: Snapshot) -> dict[int, tuple[str, ...]] | None:
    """The words of every text that counts, as the index makes them, by row id; None: too many, or no index."""
    if pin.word_rows > MOST_ROWS or not pin.fts.exists:
        return None
    column = pin.dialect.columns.text
    found: dict[int, tuple[str, ...]] = {}
    for batch in pin.scan([column], where=pin.counted, with_row_id=True):
        texts = [text or "" for text in batch.column(column).to_pylist()]
        parts: list[list[str]] = [[]]
        for word in index_tokens(
            pin, f" {BETWEEN} ".join(texts)
        ):  # one call: a call for each text takes 70 times as long
            if word == BETWEEN:
                parts.append([])
            else:
                parts[-1].append(word)
        if len(parts) != len(texts):
            return None  # the index parts words otherwise
        found |= {
            row: tuple(words) for row, words in zip(batch.column("_rowid").to_pylist(), parts, strict=True)
        }
    return found
