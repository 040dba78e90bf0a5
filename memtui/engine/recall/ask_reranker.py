"""Asking the remote reranker within its time budget (spec/retrieval 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine.errors import RerankError
from memtui.engine.recall.setting import RerankAnswer
from memtui.engine.recall.trace import StageSummary

if TYPE_CHECKING:
    from memtui.engine.recall.config import Retrieval
    from memtui.engine.recall.outside import Outside

_FALLBACK = "so the cosine blend"


def ask_reranker(
    outside: Outside,
    retrieval: Retrieval,
    query: str,
    documents: Sequence[str],
    top_n: int,
    timeout_ms: float | None,
) -> tuple[RerankAnswer, StageSummary | None]:
    """The reranker's scores, or why there are none; and the call as an operation when one was made.

    `timeout_ms` overrides the configured budget; 0 or less skips the call, as the peer does.
    """
    if not retrieval.rerank_api_key:
        return RerankAnswer(None, f"no API key, {_FALLBACK}"), None
    budget = retrieval.rerank_timeout_ms if timeout_ms is None else timeout_ms
    if budget <= 0:
        return RerankAnswer(None, f"timeout: no time left to ask, {_FALLBACK}"), None
    if not documents:
        return RerankAnswer(()), None
    start = outside.clock()
    answer = outside.rerank(retrieval, query, documents, top_n, budget)
    ms = (outside.clock() - start) * 1000
    n_out = len(answer.scores or ())
    return answer, StageSummary(
        "rerank_request", "ask reranker", "operation", len(documents), n_out, ms, note=answer.note
    )


def request_scores(
    retrieval: Retrieval, query: str, documents: Sequence[str], top_n: int, budget_ms: float
) -> RerankAnswer:
    """One request over HTTP; a failure is an answer without scores."""
    from memtui.engine.rerank import RerankSettings, rerank

    key = retrieval.rerank_api_key if isinstance(retrieval.rerank_api_key, str) else ""
    settings = RerankSettings(
        provider=retrieval.rerank_provider,
        endpoint=retrieval.rerank_endpoint,
        model=retrieval.rerank_model,
        api_key=key,
        timeout_ms=budget_ms,
    )
    try:
        return RerankAnswer(rerank(settings, query, list(documents), top_n, timeout_ms=budget_ms))
    except RerankError as error:
        return RerankAnswer(None, f"{error.reason}: {error.message} {_FALLBACK}")
