"""Which vectors of a source can be kept, which have to be made, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers.embedder import NoEmbedder
from memtui.engine.providers.prices import tokens_of
from memtui.engine.transfer.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.providers.embedder import Embedder


Policy = Literal["auto", "keep", "new"]
"""auto: vectors whose model is known to be the store's; keep: all that fit, by the user's word; new: none."""

OTHER_LENGTH = "vectors of another length than the table's: re-embedded"

OTHER_MODEL = "made by another model than the store's: re-embedded"

UNKNOWN_MODEL = "nothing says that the store's own model made it: re-embedded"

ANEW = "re-embedded, as asked"

_SAMPLE = 32


@dataclass(frozen=True, slots=True)
class Cost:
    """What embedding takes: texts, characters, and seconds measured on a sample (None: not measured)."""

    rows: int
    chars: int
    seconds: float | None = None
    model: str = ""
    problem: str = ""
    """Why nothing can be embedded; empty when it can."""

    @property
    def tokens(self) -> int:
        """About how many tokens a service will count: four characters each, rounded up."""
        return tokens_of(self.chars)


class VectorChoice:
    """Decides for each vector of a source whether the table can have it."""

    def __init__(self, dims: int | None, model: str | None, policy: Policy, *, own: bool) -> None:
        from memtui.engine.providers.embedding_services import bare_model

        self._dims, self._policy, self._own = dims, policy, own
        self._bare: Callable[[str], str] = bare_model
        self._model = bare_model(model) if model else None

    def vector(self, record: Record) -> NDArray[np.float32] | None:
        """The vector to store; None when one has to be made, with a note in the record where one was given."""
        vector = record.vector
        if vector is None or self._dims is None:
            return None
        why = self._why_not(record.model, len(vector))
        if not why and not self._own and not vector.any():
            why = "all zeros, which finds nothing: re-embedded"
        if why:
            record.lost("vector", why)
            return None
        return vector

    def takes(self, model: str | None, length: int) -> bool:
        """Whether the table can have vectors of this model and length."""
        return self._dims is not None and not self._why_not(model, length)

    def _why_not(self, model: str | None, length: int) -> str:
        if self._policy == "new":
            return ANEW
        if length != self._dims:
            return OTHER_LENGTH
        if self._policy == "keep":
            return ""
        theirs = self._bare(model) if model else None
        if theirs and self._model and theirs != self._model:
            return OTHER_MODEL
        return "" if self._own or (theirs is not None and theirs == self._model) else UNKNOWN_MODEL


def is_offline(embedder: Embedder | NoEmbedder) -> bool:
    """Whether embedding asks no service: it may then be done without a person's yes."""
    from memtui.engine.providers.embedder import NoEmbedder
    from memtui.engine.providers.local_models import runs_here

    return not isinstance(embedder, NoEmbedder) and runs_here(embedder.name)


def embedded(embedder: Embedder, texts: Sequence[str], dims: int) -> NDArray[np.float32]:
    """The vectors of texts, float32 [n, dims]. Raises EmbeddingError for any other shape or no numbers."""
    import numpy as np

    made = embedder.embed_passages(texts)
    if made.shape != (len(texts), dims) or not np.isfinite(made).all():
        raise EmbeddingError(
            f"{embedder.name} gave vectors of shape {made.shape} where {dims} finite numbers each were expected.",
            fix="Check the model; nothing was written to the store.",
        )
    return made


def measured(
    embedder: Embedder, sample: Sequence[str], rows: int, chars: int, timer: Callable[[], float]
) -> Cost:
    """The cost of `rows` texts of `chars` characters in all, from the time that the first of `sample` take."""
    texts = list(sample)[:_SAMPLE]
    taken = sum(map(len, texts))
    if not texts or not taken:
        return Cost(rows, chars, 0.0, embedder.name)
    embedder.embed_passages(texts[:1])  # the first call loads a model or opens a connection
    begun = timer()
    embedder.embed_passages(texts)
    return Cost(rows, chars, (timer() - begun) * chars / taken, embedder.name)
