"""Looking into texts: by the full-text index where that can answer, else by reading the column."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import Catalog, Mask, Positions
from memtui.engine.catalog.select import positions_of
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import composed
from memtui.engine.store import sql
from memtui.engine.store.errors import explained
from memtui.engine.store.snapshot import ROW_ID_ALONE, WINDOW

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store


_REFUSALS = ("regex parse error:", "Regular expression did not compile:")

_SPLITS_CJK = ("icu", "ngram", "jieba", "lindera")


INSIDE = 2
"""So few characters are found inside words."""


class TextLookup:
    """Finds the rows of one catalog by their text; answers are positions, in no particular order."""

    def __init__(self, store: Store, catalog: Catalog, cancel: CancelToken | None = None) -> None:
        self._catalog = catalog
        self._pin = store.pin(catalog.version)
        self._cancel = cancel

    def words(self, term: str) -> Positions:
        """Rows whose text holds the word, by the index; inside other words too where there is no index.

        One or two characters are looked for inside words, too: `84` finds 8443. The index would have them whole only.

        Where the index cannot know the word (Chinese or Japanese without a tokenizer for them, a stop word,
        a term with punctuation in it), the text is read instead.
        """
        if not term.strip():
            return np.arange(self._catalog.n, dtype=np.int64)
        if len(term) > INSIDE and self._pin.fts.exists and term.isalnum() and not self._unsplit(term):
            try:
                found = self._pin.fts_search(term, k=max(1, self._pin.count()), columns=(), with_row_id=True)
            except MemtuiError:  # the index went away or cannot be read: the text is still there
                return self.substring(term)
            positions = positions_of(self._catalog, found.column("_rowid").to_numpy())
            if found.num_rows and unicodedata.is_normalized("NFD", term):
                return positions
            if found.num_rows:  # the index splits a decomposed letter from its mark: such a text is read
                return np.union1d(positions, self._decomposed(term))
        return np.union1d(self.substring(term), self._decomposed(term))

    def substring(self, text: str) -> Positions:
        """Rows whose text holds exactly these characters, upper and lower case alike."""
        return self._scan(sql.contains(self._pin.dialect.columns.text, text))

    def _decomposed(self, term: str) -> Positions:
        """Rows that hold the word in decomposed letters, as files of macOS do, marks aside: `schlussel` is found."""
        column, wanted = self._pin.dialect.columns.text, _plain(term)
        found = [np.empty(0, dtype=np.int64)]
        where = sql.regex(column, sql.DECOMPOSED)
        for batch in self._pin.scan([column], where=where, with_row_id=True, batch_size=WINDOW):
            if self._cancel:
                self._cancel.check()
            held = [wanted in _plain(text or "") for text in batch.column(column).to_pylist()]
            rows = batch.column("_rowid").to_numpy()[np.array(held, dtype=np.bool_)]
            found.append(positions_of(self._catalog, rows))
        return np.concatenate(found)

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


def _plain(text: str) -> str:
    """Lower case, without the marks of Latin letters; Korean syllables composed."""
    parts = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


def _is_cjk(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL"))


# Words as the full-text index sees them: split, lower-cased, stemmed, stop words left out.

_WORD = re.compile(r"\w+")


def index_tokens(pin: Snapshot, text: str, *, agent: bool = False) -> tuple[str, ...]:
    """The tokens of `text` in order, by the index's own tokenizer; without an index, or where its dictionary is not
    here, by the engine's default.

    Letters are composed first. With `agent` as the engine of the table's own program makes them, of the letters as
    they are stored.
    """
    if agent and not isinstance(pin.agent_words, str):
        return pin.agent_words.tokens(text)
    if not agent:
        text = composed(text)
    if pin.fts.exists and not pin.unsplit:
        return pin.split(text)
    from memtui.engine.store.lancedb_import import import_lancedb

    return tuple(token.text for token in import_lancedb().tokenize(text))


def words_by_token(pin: Snapshot, text: str, *, agent: bool = False) -> dict[str, str]:
    """Each token that the index makes of `text`, in order, with the word as it is written there; see above."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text if agent else composed(text)):
        for token in index_tokens(pin, word, agent=agent):
            written = token if not word.isascii() and token in word else word  # no spaces between CJK words
            found.setdefault(token, written)
    return found


def in_index(pin: Snapshot, token_text: str, row_id: int) -> bool | None:
    """Whether the index itself covers a row that holds the words of `token_text`; None where that cannot be told.

    Rows that are not folded into the index yet are found all the same, by reading them, with other statistics.
    """
    if not pin.fts.exists or pin.unsplit:
        return None
    if not pin.fts.unindexed_rows:
        return True
    if not isinstance(pin.agent_words, str):
        return row_id not in pin.agent_words.beside.row_ids
    with explained(pin.where):
        query = pin.table.search(token_text, query_type="fts", fts_columns=pin.dialect.columns.text)
        found = query.select(ROW_ID_ALONE).with_row_id(True).limit(pin.rows).fast_search().to_arrow()
    return bool((found.column("_rowid").to_numpy() == row_id).any())


# Terms of the filter language that need more than the catalog: texts, vectors, keys of the metadata.

_VECTOR_BYTES = 16 << 20
"""Bytes of vectors that are held at a time."""


class StoreFacts:
    """Decides what the catalog lacks: `is:duplicate`, `envelope`, `injection`, `noise`, `pinned`, `zero-vector` ..."""

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        cancel: CancelToken | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._catalog = catalog
        self._pin = store.pin(catalog.version)
        self._cancel, self._on_progress = cancel, on_progress

    def provides(self) -> frozenset[str]:
        """The terms it decides."""
        keyed = self._pin.dialect.columns.json_object or self._own_columns
        return frozenset([*self._decisions(), *(["meta"] if keyed else [])])

    @property
    def _own_columns(self) -> tuple[str, ...]:
        """Columns that say of a row without metadata what else its program keeps."""
        known = self._pin.dialect.columns.known()
        return tuple(name for name in self._pin.row_columns if name not in known)

    def rows(self, field: str, value: str) -> Mask:
        """The rows of which `field:value` is true: bool [n] in catalog order; looked for once in each version."""
        term = f"{field}:{value}"
        decide = partial(self._keyed, value) if field == "meta" else self._decisions()[term]
        return self._pin.derived(("fact", term, self._catalog.n), decide)

    def values(self, field: str) -> tuple[str, ...]:
        """No field with free values is decided here."""
        return ()

    def _decisions(self) -> dict[str, Callable[[], Mask]]:
        found: dict[str, Callable[[], Mask]] = {
            "is:duplicate": self._duplicates,
            "is:noise": self._noise,
            "is:secret": self._secrets,
            "is:injection": self._injections,
            "is:envelope": self._envelopes,
            "is:untrusted": self.untrusted,
        }
        if self._pin.dialect.columns.metadata:
            found["is:pinned"] = self._pinned
        if self._pin.dims is not None:
            found |= {"is:zero-vector": self.without_vector, "has:vector": lambda: ~self.without_vector()}
        return found

    def without_vector(self) -> Mask:
        """Rows whose vector is NULL or all zero: search by meaning cannot find them."""
        from memtui.engine.dialects.base import unusable

        column, dims = self._pin.dialect.columns.vector, self._pin.dims
        assert column is not None
        assert dims is not None
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, vectors in self._batches(column, min(WINDOW, 1 + _VECTOR_BYTES // (4 * dims))):
            mask[at[unusable(vectors)]] = True
        return mask

    def _duplicates(self) -> Mask:
        """Rows whose text another row has too, surrounding white space aside; blank texts are not counted."""
        digests = np.zeros(self._catalog.n, dtype=np.int64)
        blank = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, texts in self._batches(self._pin.dialect.columns.text):
            stripped = [(text or "").strip() for text in texts.to_pylist()]
            digests[at] = [hash(text) for text in stripped]
            blank[at] = [not text for text in stripped]
        _, group, sizes = np.unique(digests, return_inverse=True, return_counts=True)
        return np.asarray((sizes[group] > 1) & ~blank)

    def _noise(self) -> Mask:
        from memtui.engine.core.content_rules import noise_rule

        return self._by_text(lambda text: noise_rule(text) is not None)

    def _secrets(self) -> Mask:
        from memtui.engine.core.secrets import find_secrets

        return self._by_text(lambda text: bool(find_secrets(text)))

    def _injections(self) -> Mask:
        from memtui.engine.core.content_rules import injection

        return self._by_text(lambda text: injection(text) is not None)

    def _envelopes(self) -> Mask:
        from memtui.engine.core.envelopes import MARKS, find_envelopes

        column = self._pin.dialect.columns.text
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        where = " OR ".join(sql.contains(column, mark) for mark in MARKS)
        for batch in self._pin.scan([column], where=where, with_row_id=True, batch_size=WINDOW):
            if self._cancel:
                self._cancel.check()
            at = positions_of(self._catalog, batch.column("_rowid").to_numpy())
            mask[at] = [bool(find_envelopes(text or "")) for text in batch.column(column).to_pylist()]
        return mask

    def untrusted(self) -> Mask:
        """Rows of which the host itself says that they came from untrusted content."""
        from memtui.engine.core.origin import COLUMNS, is_untrusted
        from memtui.engine.metadata.read import parse_object

        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for name in COLUMNS:
            if name in self._pin.row_columns:
                for at, values in self._batches(name):
                    mask[at] |= [is_untrusted({name: each}, {}) for each in values.to_pylist()]
        column = self._pin.dialect.columns.json_object
        if column is None:
            return mask
        where = f"{sql.contains(column, 'untrusted')} OR {sql.contains(column, 'quarantined')}"
        for batch in self._pin.scan([column], where=where, with_row_id=True):
            at = positions_of(self._catalog, batch.column("_rowid").to_numpy())
            found = [is_untrusted({}, parse_object(raw)[0]) for raw in batch.column(column).to_pylist()]
            mask[at] |= found
        return mask

    def _by_text(self, decide: Callable[[str], bool]) -> Mask:
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for at, texts in self._batches(self._pin.dialect.columns.text):
            mask[at] = [decide(text or "") for text in texts.to_pylist()]
        return mask

    def _pinned(self) -> Mask:
        from memtui.engine.metadata.read import parse_object

        column = self._pin.dialect.columns.metadata
        assert column is not None
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        for batch in self._pin.scan([column], where=sql.contains(column, '"pinned"'), with_row_id=True):
            at = positions_of(self._catalog, batch.column("_rowid").to_numpy())
            mask[at] = [
                parse_object(raw)[0].get("pinned") is True for raw in batch.column(column).to_pylist()
            ]
        return mask

    def _keyed(self, wanted: str) -> Mask:
        """Rows whose metadata has the key `wanted` (and not null), or behind a = its value, in any case.

        Where rows have no metadata, the columns beside the known ones take its place.
        """
        from memtui.engine.metadata.read import parse_object

        column = self._pin.dialect.columns.json_object
        key, asked, value = wanted.partition("=")
        mask = np.zeros(self._catalog.n, dtype=np.bool_)
        if column is None:
            for at, values in self._batches(key) if key in self._own_columns else ():
                own = values.to_pylist()
                mask[at] = [each is not None and (not asked or _same(each, value)) for each in own]
            return mask
        for at, texts in self._batches(column):
            found = (parse_object(raw)[0].get(key) for raw in texts.to_pylist())
            mask[at] = [each is not None and (not asked or _same(each, value)) for each in found]
        return mask

    def _batches(self, column: str, rows: int = WINDOW) -> Iterator[tuple[Positions, Any]]:
        done = 0
        for batch in self._pin.read_through([column], rows=rows):
            if self._cancel:
                self._cancel.check()
            row_ids: NDArray[np.uint64] = batch.column("_rowid").to_numpy()
            yield positions_of(self._catalog, row_ids), batch.column(column)
            done += batch.num_rows
            if self._on_progress:
                self._on_progress(Progress("Looking through the memories", done, self._catalog.n))


def _same(stored: Any, value: str) -> bool:
    """Whether a value of the metadata reads like this: texts as they are, all others as JSON writes them."""
    text = stored if isinstance(stored, str) else json.dumps(stored, ensure_ascii=False)
    return text.strip().casefold() == value.strip().casefold()
