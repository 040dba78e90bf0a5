"""Words of Chinese and Japanese where an index does not split them: pairs of letters, scored by BM25.

The default tokenizer of LanceDB, which the plugins use, makes one word of a whole run of such letters, and finds
next to nothing. Two letters side by side are nearly as good as a word (spec/quality 4: .93 to .99 of the answers
among the first ten).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.core.text import composed
from memtui.engine.recall.recipes.memtui.scripts import UNSPACED, script_of
from memtui.engine.store.agent_words import bm25

if TYPE_CHECKING:
    from memtui.engine.recall.candidates import Floats
    from memtui.engine.store.index_status import FtsStatus


SPLITS = ("icu", "ngram", "jieba", "lindera")
"""Tokenizers that split such texts by themselves."""

MOST = 48
"""Pairs that are looked for: those of a long question's beginning."""

_RUN = re.compile(r"[^\W\d_]+")


def pairs_of(question: str) -> tuple[str, ...]:
    """The pairs of letters of a question in scripts without spaces, each once; a letter that stands alone too."""
    found: dict[str, None] = {}
    for run in _RUN.findall(question):
        for unspaced, letters in groupby(run, lambda letter: script_of(letter) in UNSPACED):
            text = "".join(letters)
            if unspaced:
                found |= dict.fromkeys(text[at : at + 2] for at in range(max(1, len(text) - 1)))
    return tuple(found)[:MOST]


def needed(index: FtsStatus) -> bool:
    """Whether the index leaves such runs whole."""
    return not index.exists or not index.tokenizer.startswith(SPLITS)


def scores(texts: Sequence[str], pairs: Sequence[str], rows: int) -> Floats:
    """BM25 over the pairs of each of `texts`, which are all that hold any; `rows` were looked through; [texts]."""
    if not texts:
        return np.array([], np.float64)
    texts = [composed(text).lower() for text in texts]
    counts = np.array([[text.count(pair.lower()) for text in texts] for pair in pairs], np.float64)
    lengths = np.array([len(text) for text in texts], np.float64)
    weights = bm25.idf((counts > 0).sum(axis=1), max(rows, len(texts)))[:, None]
    total: Floats = (weights * bm25.weight(counts, lengths, lengths.mean())).sum(axis=0)
    return total
