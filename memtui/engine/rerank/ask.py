"""Asking a reranking service once, within its time budget."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from memtui.engine.errors import RerankError
from memtui.engine.post import PostError, excerpt, new_client, post_json
from memtui.engine.rerank.settings import RerankSettings
from memtui.engine.rerank.shapes import request, scores


def rerank(
    settings: RerankSettings,
    query: str,
    documents: Sequence[str],
    top_n: int,
    *,
    timeout_ms: float | None = None,
) -> list[tuple[int, float]]:
    """Score `documents` against `query`: (position, score as delivered), in the service's order.

    The service may leave documents out or name one twice; positions outside `documents` are left out here.
    `timeout_ms` (default: the settings') covers everything up to the last byte of the body; 0 or less asks
    nobody. Asked once: a caller with a fallback is better served by a quick no than by a retry.

    Raises RerankError with reason `timeout`, `http_error` (any status but 2xx), `invalid_response` (not JSON,
    or no readable score in it) or `request_error` (no connection).
    """
    budget = settings.timeout_ms if timeout_ms is None else timeout_ms
    if budget <= 0:
        raise RerankError(
            "The reranker was not asked: the time budget was used up.",
            reason="timeout",
            fix="Give the recall more time, or switch reranking off.",
        )
    headers, body = request(settings, query, documents, top_n)
    try:
        with closing(new_client(settings.endpoint)) as client:
            reply = post_json(client, settings.endpoint, headers=headers, body=body, timeout_s=budget / 1000)
    except PostError as error:
        raise _no_answer(settings, budget, error) from None
    said = excerpt(reply.text, [settings.api_key])
    if not reply.ok:
        raise RerankError(
            f"The reranker at {settings.host} returned {reply.status}: {said}",
            reason="http_error",
            fix=_STATUS_FIX.get(reply.status, "Check rerankEndpoint, rerankModel and rerankProvider."),
        )
    try:
        read = scores(settings.provider, reply.json())
    except (ValueError, RecursionError):
        read = None
    if read is None:
        raise RerankError(
            f"The reranker at {settings.host} gave no readable scores.",
            reason="invalid_response",
            fix=f"Check that rerankProvider ({settings.provider}) is the form that this endpoint speaks.",
            details=said,
        )
    return [(int(index), score) for index, score in read if index in range(len(documents))]


_STATUS_FIX = {
    401: "Check rerankApiKey.",
    403: "Check rerankApiKey.",
    404: "Check rerankEndpoint and rerankModel.",
    429: "Wait a moment, or use a key with a higher limit.",
}


def _no_answer(settings: RerankSettings, budget: float, error: PostError) -> RerankError:
    if error.kind == "timeout":
        return RerankError(
            f"The reranker at {settings.host} did not answer within {budget:.0f} ms.",
            reason="timeout",
            fix="Raise rerankTimeoutMs, or use a faster model.",
            details=str(error),
        )
    return RerankError(
        f"The reranker at {settings.host} could not be asked: {error}.",
        reason="request_error",
        fix="Check rerankEndpoint and that the service runs.",
        details=error.kind,
    )
