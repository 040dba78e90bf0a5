"""Reranking by a service over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from typing import Any

from memtui.engine.core.errors import RerankError
from memtui.engine.core.javascript import number
from memtui.engine.providers.http import PostError, excerpt, host_of, new_client, post_json

# Which reranker to ask, where, and how long to wait.

DEFAULT_ENDPOINT = "https://api.jina.ai/v1/rerank"

DEFAULT_MODEL = "jina-reranker-v3"


@dataclass(frozen=True, slots=True, repr=False)
class RerankSettings:
    """One reranking service. The defaults are Jina's whatever the provider, as in memory-lancedb-pro."""

    provider: str = "jina"
    """jina, siliconflow, voyage, pinecone, dashscope or tei; any other word speaks Jina's form."""
    endpoint: str = DEFAULT_ENDPOINT
    """The full address that is posted to."""
    model: str = DEFAULT_MODEL
    api_key: str = ""
    timeout_ms: float = 5000.0

    @property
    def host(self) -> str:
        """Host and port, the only part of the address that messages show."""
        return host_of(self.endpoint)

    def __repr__(self) -> str:
        key = "with a key" if self.api_key else "no key"
        return f"RerankSettings(provider={self.provider!r}, host={self.host!r}, model={self.model!r}, {key})"


# The forms in which reranking services take a question and give their scores: pure data, no network.

PINECONE_VERSION = "2024-10"

_RELEVANCE_FIRST = ("relevance_score", "score")

_SCORE_FIRST = ("score", "relevance_score")


def request(
    settings: RerankSettings, query: str, documents: Sequence[str], top_n: int
) -> tuple[dict[str, str], dict[str, Any]]:
    """Headers (without the content type) and body that `settings.provider` wants."""
    texts = list(documents)
    named: dict[str, Any] = {"model": settings.model, "query": query}
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    match settings.provider:
        case "tei":
            return headers, {"query": query, "texts": texts}
        case "dashscope":
            return headers, {"model": settings.model, "input": {"query": query, "documents": texts}}
        case "pinecone":
            headers = {"X-Pinecone-API-Version": PINECONE_VERSION}
            if settings.api_key:
                headers["Api-Key"] = settings.api_key
            wrapped = [{"text": text} for text in texts]
            return headers, {**named, "documents": wrapped, "top_n": top_n, "rank_fields": ["text"]}
        case "voyage":
            return headers, {**named, "documents": texts, "top_k": top_n}
        case _:
            return headers, {**named, "documents": texts, "top_n": top_n}


def scores(provider: str, answer: Any) -> list[tuple[float, float]] | None:
    """(index, score) of every readable item in the order of the answer, or None when there is none.

    The lists are tried in the provider's order; the first with a readable item counts. Scores come as
    delivered, not normalised.
    """
    outer = answer if isinstance(answer, Mapping) else {}
    results, data = outer.get("results"), outer.get("data")
    lists: tuple[Any, ...] = (results, data)
    match provider:
        case "tei":
            lists = (answer, results, data)
        case "dashscope":
            output = outer.get("output")
            lists = (output.get("results") if isinstance(output, Mapping) else results,)
        case "pinecone" | "voyage":
            lists = (data, results)
    keys = _SCORE_FIRST if provider in ("tei", "pinecone") else _RELEVANCE_FIRST
    for items in lists:
        if isinstance(items, list) and (read := list(_readable(items, keys))):
            return read
    return None


def _readable(items: list[Any], keys: tuple[str, ...]) -> Iterator[tuple[float, float]]:
    """Items with a finite index and a finite score; numeric strings count and null is 0, as in JavaScript."""
    for item in items:
        if not isinstance(item, Mapping):
            continue
        values = (number(item[key]) for key in keys if key in item)
        score = next((value for value in values if isfinite(value)), None)
        if score is not None and "index" in item and isfinite(index := number(item["index"])):
            yield index, score


# Asking a reranking service once, within its time budget.


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


__all__ = ["RerankSettings", "rerank"]
