"""The question as a vector: given, embedded, or not to be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.recall.outside import Outside
from memtui.engine.recall.pool import Floats
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.trace import StageSummary


@dataclass(frozen=True)
class QuestionVector:
    """The vector, float64 [dims], or None and why; the embedding as an operation when it was asked for."""

    vector: Floats | None
    warnings: list[str] = field(default_factory=list)
    operation: StageSummary | None = None
    failed: str = ""
    """What the embedder said when it was asked and failed, whole; empty otherwise."""


def question_vector(request: RecallRequest, outside: Outside, *, needed: bool) -> QuestionVector:
    """The vector that the request gives, else the embedder's.

    Where neither is to be had the keyword lane works alone, which the warning says; with `needed` that is an
    error, unless the request brings recorded vector hits. An embedder that was asked and failed is told in
    `failed`: what follows from it is the recipe's own rule.
    """
    if request.query_vector is not None:
        return QuestionVector(_given(request.query_vector))
    if outside.embed_text is None:
        why = outside.no_embedder or "there is no embedder for this store"
        if needed and not (request.lanes or {}).get("vector"):
            raise MemtuiError(
                f"This recall asks by meaning only, and its question has no vector. {_sentence(why)}",
                fix="Choose a recipe that also asks by words, or give a question vector.",
            )
        return QuestionVector(None, [f"keyword only: {why}"])
    start = outside.clock()
    try:
        vector = outside.embed(request.query)
        check_dims(vector, outside.pin.dims)
    except MemtuiError as error:
        ms = (outside.clock() - start) * 1000
        said = " ".join(part.strip() for part in (error.message, error.details, error.fix) if part.strip())
        asked = StageSummary("embed_query", "embed", "operation", 1, 0, ms, note=f"asked and failed: {said}")
        return QuestionVector(None, [f"keyword only: {said}"], asked, said)
    ms = (outside.clock() - start) * 1000
    return QuestionVector(vector, [], StageSummary("embed_query", "embed", "operation", 1, 1, ms))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."


def _given(given: Sequence[float]) -> Floats:
    try:
        vector = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        vector = np.array([[]])
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise UsageError(
            "The question vector is not a flat list of finite numbers.", fix="Give one flat list of floats."
        )
    return vector


def check_dims(vector: Floats | None, dims: int | None) -> None:
    """Raise UsageError when the question's vector does not fit the table's."""
    if vector is not None and dims is not None and len(vector) != dims:
        raise UsageError(
            f"The question vector has {len(vector)} dimensions, the table's vectors {dims}.",
            fix="Use the embedding model that made the store's vectors.",
        )
