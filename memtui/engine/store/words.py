"""Looking into texts: by the full-text index where that can answer, else by reading the column."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.errors import MemtuiError
from memtui.engine.progress import CancelToken
from memtui.engine.store import sql
from memtui.engine.store.catalog import Catalog, Positions
from memtui.engine.store.pin import WINDOW
from memtui.engine.store.select import positions_of

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

_REFUSALS = ("regex parse error:", "Regular expression did not compile:")
_SPLITS_CJK = ("icu", "ngram", "jieba", "lindera")


class TextLookup:
    """Finds the rows of one catalog by their text; answers are positions, in no particular order."""

    def __init__(self, store: Store, catalog: Catalog, cancel: CancelToken | None = None) -> None:
        self._catalog = catalog
        self._pin = store.pin(catalog.version)
        self._cancel = cancel

    def words(self, term: str) -> Positions:
        """Rows whose text holds the word, by the index; inside other words too where there is no index.

        Where the index cannot know the word (Chinese or Japanese without a tokenizer for them, a stop word,
        a term with punctuation in it), the text is read instead.
        """
        if not term.strip():
            return np.arange(self._catalog.n, dtype=np.int64)
        if self._pin.fts.exists and term.isalnum() and not self._unsplit(term):
            try:
                found = self._pin.fts_search(term, k=max(1, self._pin.count()), columns=(), with_row_id=True)
            except MemtuiError:  # the index went away or cannot be read: the text is still there
                return self.substring(term)
            if found.num_rows:
                return positions_of(self._catalog, found.column("_rowid").to_numpy())
        return self.substring(term)

    def substring(self, text: str) -> Positions:
        """Rows whose text holds exactly these characters, upper and lower case alike."""
        return self._scan(sql.contains(self._pin.dialect.columns.text, text))

    def regex(self, pattern: str) -> Positions:
        """Rows whose text the pattern finds, upper and lower case alike.

        In time linear in the text; raises `ValueError` for a pattern that the engine does not accept.
        """
        try:
            return self._scan(sql.regex(self._pin.dialect.columns.text, pattern))
        except MemtuiError as error:
            for refusal in _REFUSALS:
                if refusal in error.details:
                    raise ValueError(error.details.partition(refusal)[2]) from error
            raise

    def _scan(self, where: str) -> Positions:
        found = [np.empty(0, dtype=np.int64)]
        for batch in self._pin.scan([], where=where, with_row_id=True, batch_size=WINDOW):
            if self._cancel:
                self._cancel.check()
            found.append(positions_of(self._catalog, batch.column("_rowid").to_numpy()))
        return np.concatenate(found)

    def _unsplit(self, term: str) -> bool:
        """Whether the index keeps runs of the term's script as one word each."""
        return not self._pin.fts.tokenizer.startswith(_SPLITS_CJK) and any(map(_is_cjk, term))


def _is_cjk(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL"))
