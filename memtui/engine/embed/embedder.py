"""What turns text into vectors, or the reason why nothing does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memtui.engine.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """One embedding model. Questions and stored texts may get different vectors, hence the two methods."""

    @property
    def name(self) -> str:
        """The model's name."""

    @property
    def dims(self) -> int | None:
        """Vector length, None when only an answer will tell."""

    def describe(self) -> str:
        """The model, where it runs and its vector length, on one line; never a key."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, float32 [dims]. Raises EmbeddingError; never returns a zero vector."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of stored texts in order, float32 [n, dims]. Raises EmbeddingError."""


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """Search by meaning is unavailable: `reason` says why and `fix` what to do, one sentence each."""

    reason: str
    fix: str
    misfit: bool = False
    """Whether a model is configured whose vectors this table cannot hold: its agent's recall fails as a whole."""


def question_vector(embedder: Embedder | NoEmbedder, words: str) -> NDArray[np.float32]:
    """The vector of `words`, float32 [dims]; EmbeddingError with the reason where nothing embeds."""
    if isinstance(embedder, NoEmbedder):
        raise EmbeddingError(embedder.reason, fix=embedder.fix)
    return embedder.embed_query(words)
