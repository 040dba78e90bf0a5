"""The forms in which reranking services take a question and give their scores: pure data, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from memtui.engine.js import number
from memtui.engine.rerank.settings import RerankSettings

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
