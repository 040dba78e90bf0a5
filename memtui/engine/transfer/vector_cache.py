"""Vectors that a service made once, kept until they are in the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.transfer.answer_cache import AnswerCache, key_of
from memtui.engine.transfer.importing.embedding_cost import embedded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.providers.embedder import Embedder


BATCH = 64
"""Texts that are embedded between two writes: so much is lost at most when the program is killed."""


class VectorCache:
    """The vectors of one embedder, `dims` numbers each, in a file below `folder`."""

    def __init__(self, folder: Path, embedder: Embedder, dims: int) -> None:
        digest = blake2b(f"{_made_by(embedder)}\0{dims}".encode(), digest_size=8).hexdigest()
        self._kept = AnswerCache(folder / f"{digest}.vectors")
        self._embedder, self._dims = embedder, dims

    def missing(self, texts: Sequence[str]) -> list[int]:
        """Places of the texts that have no vector yet."""
        keys = [key_of(text) for text in texts]
        there = self._kept.there(keys)
        return [at for at, key in enumerate(keys) if key not in there]

    def get(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts that all have one: float32 [n, dims]."""
        import numpy as np

        keys = [key_of(text) for text in texts]
        kept = self._kept.get(keys)
        flat = np.frombuffer(b"".join(kept[key] for key in keys), dtype="<f4")
        return flat.reshape(len(texts), self._dims).astype(np.float32)

    def fill(self, texts: Sequence[str], done: Callable[[int], None]) -> None:
        """Make the vectors that are missing, a batch at a time; `done` hears how many texts have one."""
        missing = self.missing(texts)
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            batch = list(dict.fromkeys(texts[at] for at in part))
            vectors = embedded(self._embedder, batch, self._dims).astype("<f4")
            self._kept.put({key_of(text): row.tobytes() for text, row in zip(batch, vectors, strict=True)})
            done(len(part))

    def take(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors that were made elsewhere: `key_of` a text to its little-endian float32 numbers."""
        self._kept.put(vectors)

    def remove(self) -> None:
        """The vectors are in the store: they need not be kept here."""
        self._kept.remove()


def _made_by(embedder: Embedder) -> str:
    """What a text's vector depends on, beside the text."""
    if not isinstance(embedder, OpenAIEmbedder):
        return embedder.name
    asked = embedder.settings
    parts = (asked.model, asked.url, asked.task_passage, asked.normalized, asked.input_limit, asked.chunking)
    return "\0".join(map(str, parts))
