"""Words as the engine of the plugin's index splits them: LanceDB 0.26, whose rules differ from those of today.

Split and lower-cased as today, then stemmed by the older rules, then without the 33 stop words, then without
accents; in a question a word counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from memtui.engine.store.agent_words.lance_file import NotReadable
from memtui.engine.store.agent_words.stemmer import stem

if TYPE_CHECKING:
    from collections.abc import Mapping


STOP_WORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
        "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they",
        "this", "to", "was", "will", "with",
    )
)  # fmt: skip
"""The English stop words of tantivy, which are those of Lucene."""


@dataclass(frozen=True, slots=True)
class TokenSplitter:
    """How the texts of one index are split; made of the settings that the index itself names."""

    max_length: int | None
    lower_case: bool
    stemmed: bool
    stop_words: frozenset[str]
    folded: bool

    def tokens(self, text: str) -> list[tuple[str, int]]:
        """The words of a text in order, each with its place among all words of the text."""
        from memtui.engine.store.lancedb_import import import_lancedb

        split = import_lancedb().tokenize(
            text.encode("utf-8", "replace").decode(),  # half a character is none
            base_tokenizer="simple",
            max_token_length=self.max_length,
            lower_case=self.lower_case,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        found = []
        for token in split:
            word = stem(token.text) if self.stemmed else token.text
            if word not in self.stop_words:
                found.append((word if word.isascii() or not self.folded else folded(word), token.position))
        return found


def splitter(details: Mapping[str, Any]) -> TokenSplitter:
    """The splitter of an index with these settings; raises `NotReadable` for one that is not reproduced here."""
    if details.get("base_tokenizer") != "simple" or details.get("lance_tokenizer") not in (None, "text"):
        raise NotReadable(f"words split by {details.get('base_tokenizer')!r}")
    if str(details.get("language")) != "English":
        raise NotReadable(f"words of the language {details.get('language')}")
    custom = details.get("custom_stop_words")
    words = STOP_WORDS if custom is None else frozenset(map(str, custom))
    return TokenSplitter(
        max_length=details.get("max_token_length"),
        lower_case=bool(details.get("lower_case", True)),
        stemmed=bool(details.get("stem", True)),
        stop_words=words if details.get("remove_stop_words", True) else frozenset(),
        folded=bool(details.get("ascii_folding", True)),
    )


@lru_cache(8192)
def folded(word: str) -> str:
    """A word without accents, by the engine's own table."""
    from memtui.engine.store.lancedb_import import import_lancedb

    made = list(
        import_lancedb().tokenize(
            word,
            base_tokenizer="raw",
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=True,
        )
    )
    return made[0].text if len(made) == 1 else word
