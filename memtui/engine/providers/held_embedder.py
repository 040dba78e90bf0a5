"""An embedder of a preview: it sends nothing, and counts what would have been sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from memtui.engine.core.errors import WithheldError
from memtui.engine.core.text import counted
from memtui.engine.providers.prices import price_in_words, price_of

if TYPE_CHECKING:
    from memtui.engine.providers.embedder import Embedder


class HeldEmbedder:
    """A service's model that is not asked: each question and text is kept back, which is told as WithheldError."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._kept: set[str] = set()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def dims(self) -> int | None:
        """Vector length, None when only an answer would tell."""
        return self._model.dims

    def describe(self) -> str:
        """The model, where it runs and its vector length, on one line; never a key."""
        return self._model.describe()

    def embed_query(self, text: str) -> NoReturn:
        """Raises WithheldError: no question is sent."""
        self.withhold([text])
        raise WithheldError(self.sentence)

    def embed_passages(self, texts: Sequence[str]) -> NoReturn:
        """Raises WithheldError: no text is sent."""
        self.withhold(texts)
        raise WithheldError(self.sentence)

    def withhold(self, texts: Sequence[str]) -> None:
        """Count texts that would be sent, each once."""
        self._kept.update(texts)

    @property
    def sentence(self) -> str:
        """What would be sent, where to and at what price; empty where nothing would be.

        "3 texts with 120 characters would be sent to X (price not known)"
        """
        if not self._kept:
            return ""
        chars = sum(map(len, self._kept))
        price = price_in_words(price_of(self.name, getattr(self._model, "host", None), chars))
        texts = counted(len(self._kept), "text")
        return f"{texts} with {chars:,} characters would be sent to {self.describe()} ({price})"
