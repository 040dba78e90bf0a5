"""Vectors from any service that speaks the OpenAI form of `/v1/embeddings`, and from Ollama."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.embed.client import Budget, EmbeddingClient
from memtui.engine.embed.pieces import split
from memtui.engine.embed.refusals import TooLongError
from memtui.engine.embed.services import question
from memtui.engine.embed.settings import EmbeddingSettings
from memtui.engine.errors import EmbeddingError
from memtui.engine.js import trim

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CACHED_QUESTIONS = 256
BATCH = 64
SHORTEST = 100
"""A text is not made shorter than this many characters: its length is then not what the service minds."""


class OpenAIEmbedder:
    """An embedding model behind HTTP. Keeps its connection and the vectors of the last 256 questions.

    `table_dims` is the vector length of the table to search: an answer of another length is an error, never a
    search. `sleep` waits between two tries. Safe from any thread; `close` when done.
    """

    def __init__(
        self,
        settings: EmbeddingSettings,
        *,
        table_dims: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._dims = table_dims or settings.expected_dimensions
        self._client = EmbeddingClient(settings, self._dims, sleep)
        self._cache: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._settings.model

    @property
    def settings(self) -> EmbeddingSettings:
        """What is asked, and where; with the keys."""
        return self._settings

    @property
    def dims(self) -> int | None:
        """Vector length, None when neither table nor settings nor the model's name tell."""
        return self._dims

    def describe(self) -> str:
        """The model, its host and its vector length, on one line."""
        length = f", {self._dims} dimensions" if self._dims else ""
        return f"{self.name} at {self._settings.host}{length}"

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, float32 [dims], read-only; not asked for again while among the last 256.

        One time budget (`timeout_s`) covers every request. Raises EmbeddingError.
        """
        asked = trim(text)
        if not asked:
            raise EmbeddingError("There is no question to embed.", fix="Type a question.")
        with self._lock:
            if asked in self._cache:
                self._cache.move_to_end(asked)
                return self._cache[asked]
        budget = Budget(self._settings.timeout_s)
        vector = self._one(question(self._settings, asked), self._settings.task_query, budget, patient=False)
        vector.setflags(write=False)
        with self._lock:
            self._cache[asked] = vector
            if len(self._cache) > CACHED_QUESTIONS:
                self._cache.popitem(last=False)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of stored texts, float32 [n, dims], in batches of 64 with a time budget each.

        A rate limit is waited for within that budget. Raises EmbeddingError, for an empty text too.
        """
        import numpy as np

        passages = [trim(text) for text in texts]
        if "" in passages:
            where = passages.index("") + 1
            raise EmbeddingError(f"Text {where} of {len(passages)} is empty.", fix="Leave empty texts out.")
        found: list[NDArray[np.float32]] = []
        for start in range(0, len(passages), BATCH):
            found += self._many(passages[start : start + BATCH])
        return np.stack(found) if found else np.zeros((0, self._dims or 0), np.float32)

    def close(self) -> None:
        """Give the connection back; the next request opens a new one."""
        self._client.close()

    def _many(self, passages: list[str]) -> list[NDArray[np.float32]]:
        settings, limit = self._settings, self._settings.input_limit
        if len(passages) > 1 and (limit is None or max(map(len, passages)) <= limit):
            budget = Budget(settings.batch_timeout_s)
            try:
                return self._client.ask(passages, settings.task_passage, budget, patient=True)
            except TooLongError:
                pass  # some services limit the sum of a batch; one by one tells which text it is, if any
        return [
            self._one(text, settings.task_passage, Budget(settings.batch_timeout_s), patient=True)
            for text in passages
        ]

    def _one(self, text: str, task: str | None, budget: Budget, *, patient: bool) -> NDArray[np.float32]:
        """The vector of one text; one that is too long becomes the mean of its pieces' vectors, or is cut."""
        import numpy as np

        limit = self._settings.input_limit
        if limit is not None and len(text) > limit:
            pieces = split(text, self.name, limit) if self._settings.chunking else [_cut(text, limit)]
        else:
            try:
                return self._client.ask([text], task, budget, patient=patient)[0]
            except TooLongError:
                if len(text) < 2 * SHORTEST:
                    raise
            pieces = split(text, self.name) if self._settings.chunking else []
            if len(pieces) < 2:
                # Our measure says it fits, the service says no: the first half will have to speak for it.
                pieces = [text[: len(text) // 2]]
        vectors = np.stack([self._one(piece, task, budget, patient=patient) for piece in pieces])
        # Not made unit length again: this is how memory-lancedb-pro stores it.
        mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)


def _cut(text: str, limit: int) -> str:
    return text[:limit] if limit <= 3 else text[: limit - 3].rstrip() + "..."
