"""The bundled model: one vector a word piece, no network, no transformer.

A text's vector is the mean of its word pieces' vectors, made unit length. The stored vectors are int8, so
sums are exact integers: to the last bit, the result depends neither on batching nor order nor machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.core.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


BUNDLED = "static-minilm-256"

BUNDLED_DIMS = 256

_BATCH = 1024

_MAX_CHARS = 100_000
"""Far more than 512 word pieces of any language; tokenising megabytes to drop them would take seconds."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class TokenVectors(NamedTuple):
    """The known word pieces of one text."""

    tokens: list[str]
    """Word pieces; `##` marks one that continues a word."""
    spans: list[tuple[int, int]]
    """Start and end of each piece in the text, in characters."""
    matrix: NDArray[np.float32]
    """[pieces, 256] as stored: the direction is the meaning, the length the weight (rare pieces: longer)."""


class _Weights(NamedTuple):
    tokenizer: Tokenizer
    matrix: NDArray[np.int8]
    unknown: int | None


@lru_cache(maxsize=2)
def _load(folder: Path) -> _Weights:
    """The model's files, read once a process: they never change."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        matrix = load_file(folder / "model.safetensors")["embeddings"]
    except Exception as error:  # tokenizers raises plain Exception
        raise EmbeddingError(
            f"The bundled embedding model in {folder} cannot be read.",
            fix="Install memtui again.",
            details=str(error),
        ) from error
    matrix.setflags(write=False)
    tokenizer.no_padding()
    tokenizer.enable_truncation(int(config["max_length"]))
    return _Weights(tokenizer, matrix, tokenizer.token_to_id("[UNK]"))


@lru_cache(maxsize=2)
def _lengths(folder: Path) -> NDArray[np.float32]:
    import numpy as np

    matrix = _load(folder).matrix
    squares = [np.square(part, dtype=np.int32).sum(axis=1) for part in np.array_split(matrix, 32)]
    found: NDArray[np.float32] = np.sqrt(np.concatenate(squares)).astype(np.float32)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=2)
def _beginnings(folder: Path) -> tuple[str, ...]:
    pieces: dict[str, int] = _load(folder).tokenizer.get_vocab()
    return tuple(piece for piece in pieces if not piece.startswith(("##", "[")))


COMMON = 8_000
"""The vocabulary begins with the commonest pieces of the English that it was made of."""


@lru_cache(maxsize=2)
def _common(folder: Path) -> frozenset[str]:
    pieces: dict[str, int] = _load(folder).tokenizer.get_vocab()
    return frozenset(
        piece for piece, at in pieces.items() if at < COMMON and not piece.startswith(("##", "["))
    )


class StaticEmbedder:
    """A static embedding model in `folder`; its files are read at the first use, safe from any thread."""

    def __init__(self, folder: Path, name: str, dims: int) -> None:
        self._folder = folder
        self._name = name
        self._dims = dims

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dims(self) -> int:
        """Vector length."""
        return self._dims

    def describe(self) -> str:
        """The model and its vector length, on one line."""
        return f"{self._name}, bundled, offline, {self._dims} dimensions"

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, float32 [dims].

        Raises EmbeddingError when the model knows no word of it: zeros are equally far from everything.
        """
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        if not vector.any():
            raise EmbeddingError(
                f"The bundled model knows no word of {text[:60]!r}.",
                fix="Ask in English, or rely on the keyword lane.",
            )
        return vector

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of stored texts, float32 [n, dims], the same alone or in a batch.

        A text without a known word gets zeros: keep such rows out of a search by meaning.
        """
        import numpy as np

        weights = _load(self._folder)
        sums = np.zeros((len(texts), self._dims))
        for start in range(0, len(texts), _BATCH):
            batch = _sound(texts[start : start + _BATCH])
            for row, encoding in enumerate(weights.tokenizer.encode_batch_fast(batch), start):
                known = [piece for piece in encoding.ids if piece != weights.unknown]
                sums[row] = weights.matrix[known].sum(axis=0, dtype=np.int32)
        lengths = np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
        unit: NDArray[np.float64] = np.divide(sums, lengths, out=sums, where=lengths > 0)
        return unit.astype(np.float32)

    def piece_ids(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """The known word pieces of each text as numbers of the vocabulary, of its first 512 pieces."""
        import numpy as np

        weights = _load(self._folder)
        encodings = weights.tokenizer.encode_batch_fast(_sound(texts))
        return [
            np.array([piece for piece in encoding.ids if piece != weights.unknown], np.int32)
            for encoding in encodings
        ]

    def vocabulary(self) -> tuple[str, ...]:
        """The pieces that begin a word, in no particular order."""
        return _beginnings(self._folder)

    def common_words(self) -> frozenset[str]:
        """The commonest words and beginnings of words of its language, lower case."""
        return _common(self._folder)

    def piece_vectors(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """The stored vectors of word pieces, [len(ids), 256]; see `TokenVectors.matrix`."""
        import numpy as np

        return _load(self._folder).matrix[ids].astype(np.float32)

    def piece_lengths(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """The lengths of `piece_vectors`, [len(ids)]."""
        return _lengths(self._folder)[ids]

    def token_vectors(self, text: str) -> TokenVectors:
        """The known word pieces of `text` with their places and vectors, of its first 512 pieces."""
        return self.token_vectors_many([text])[0]

    def token_vectors_many(self, texts: Sequence[str]) -> list[TokenVectors]:
        """`token_vectors` of each text; tokenised together, which uses every core."""
        import numpy as np

        weights = _load(self._folder)
        out = []
        for encoding in weights.tokenizer.encode_batch(_sound(texts)):
            ids, tokens, spans = encoding.ids, encoding.tokens, encoding.offsets
            kept = [i for i, piece in enumerate(ids) if piece != weights.unknown]
            matrix = weights.matrix[[ids[i] for i in kept]].astype(np.float32)
            out.append(TokenVectors([tokens[i] for i in kept], [spans[i] for i in kept], matrix))
        return out


def _sound(texts: Sequence[str]) -> list[str]:
    """Texts that the tokenizer takes: no lone surrogate (one character for one), no endless input."""
    return [_SURROGATE.sub("\ufffd", text[:_MAX_CHARS]) for text in texts]


def bundled() -> StaticEmbedder:
    """The model that comes with memtui: English first, 256 dimensions. Costs nothing until it is used."""
    return StaticEmbedder(Path(__file__).with_name("models") / BUNDLED, BUNDLED, BUNDLED_DIMS)
