"""Words as the full-text index sees them: split, lower-cased, stemmed, stop words left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memtui.engine.store.faults import explained

if TYPE_CHECKING:
    from memtui.engine.store.pin import Pin

_WORD = re.compile(r"\w+")


def index_tokens(pin: Pin, text: str, *, agent: bool = False) -> tuple[str, ...]:
    """The tokens of `text` in order, by the index's own tokenizer; without an index by the engine's default.

    With `agent` as the engine of the table's own program makes them.
    """
    if agent and not isinstance(pin.agent_words, str):
        return pin.agent_words.tokens(text)
    if pin.fts.exists:
        with explained(pin.where):
            return tuple(token.text for token in pin.table.tokenize(text, column=pin.dialect.columns.text))
    from memtui.engine.store.lance import import_lancedb

    return tuple(token.text for token in import_lancedb().tokenize(text))


def words_by_token(pin: Pin, text: str, *, agent: bool = False) -> dict[str, str]:
    """Each token that the index makes of `text`, in order, with the word as it is written there; see above."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text):
        for token in index_tokens(pin, word, agent=agent):
            written = token if not word.isascii() and token in word else word  # no spaces between CJK words
            found.setdefault(token, written)
    return found


def in_index(pin: Pin, token_text: str, row_id: int) -> bool | None:
    """Whether the index itself covers a row that holds the words of `token_text`; None where that cannot be told.

    Rows that are not folded into the index yet are found all the same, by reading them, with other statistics.
    """
    if not pin.fts.exists:
        return None
    if not pin.fts.unindexed_rows:
        return True
    if not isinstance(pin.agent_words, str):
        return row_id not in pin.agent_words.beside.row_ids
    with explained(pin.where):
        query = pin.table.search(token_text, query_type="fts", fts_columns=pin.dialect.columns.text)
        found = query.select([]).with_row_id(True).limit(pin.rows).fast_search().to_arrow()
    return bool((found.column("_rowid").to_numpy() == row_id).any())
