"""How each embedding service wants to be asked: pure data, no network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from memtui.engine.embed.settings import EmbeddingSettings

QWEN3_TASK = "Given a memory search query, retrieve relevant stored knowledge entries that match the query"
"""The task that memory-lancedb-pro puts before a question for qwen3-embedding when none is configured."""
_QWEN3 = re.compile(r"qwen3[-_]embedding", re.IGNORECASE)
_OLLAMA = re.compile(r":11434(/|$)|/ollama\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Service:
    """What a service understands beyond `model` and `input`."""

    name: str
    encoding_format: bool = True
    normalized: bool = False
    task_field: str | None = None
    task_values: Mapping[str, str] = field(default_factory=dict)
    """Translation of task hints; others are sent as they are."""
    dimensions_field: str | None = "dimensions"


_QUERY = {"retrieval.query": "query"}
_SERVICES = {
    service.name: service
    for service in (
        Service("openai"),
        Service("azure-openai"),
        Service("jina", normalized=True, task_field="task"),
        Service(
            "voyage",
            encoding_format=False,
            task_field="input_type",
            task_values={**_QUERY, "retrieval.passage": "document", "passage": "document"},
            dimensions_field="output_dimension",
        ),
        Service("nvidia", task_field="input_type", task_values={**_QUERY, "retrieval.passage": "passage"}),
        Service("ollama", encoding_format=False, dimensions_field=None),
        Service("generic"),
    )
}
# The owner of the endpoint counts before the name of the model, and only the host is looked at.
_HOSTS = (
    ("api.openai.com", "openai"),
    (".openai.azure.com", "azure-openai"),
    ("api.jina.ai", "jina"),
    ("api.voyageai.com", "voyage"),
    (".nvidia.com", "nvidia"),
)
_MODELS = (("jina-", "jina"), ("voyage", "voyage"), ("nvidia/", "nvidia"), ("nv-embed", "nvidia"))


def service_of(settings: EmbeddingSettings) -> Service:
    """The service behind `settings`: named there, else told by the host, else by the model's name."""
    if settings.provider in _SERVICES:
        return _SERVICES[settings.provider]
    if _OLLAMA.search(settings.url):
        return _SERVICES["ollama"]
    by_model = (name for beginning, name in _MODELS if settings.model.lower().startswith(beginning))
    return _SERVICES[_by_host(settings) or next(by_model, "generic")]


def needs_key(settings: EmbeddingSettings) -> bool:
    """Whether a request without a key is pointless: the host is one of the well-known services."""
    return _by_host(settings) is not None


def _by_host(settings: EmbeddingSettings) -> str | None:
    host = settings.host.rsplit(":", 1)[0].lower()
    return next((name for ending, name in _HOSTS if host.endswith(ending)), None)


def question(settings: EmbeddingSettings, text: str) -> str:
    """The text to embed for a question: qwen3-embedding wants its task in front of it."""
    if not _QWEN3.search(settings.model):
        return text
    task = settings.task_query if (settings.task_query or "").strip() else QWEN3_TASK
    return f"Instruct: {task}\nQuery:{text}"


def request(
    settings: EmbeddingSettings, service: Service, texts: Sequence[str], *, task: str | None, key: str
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Address, headers (without the content type) and body of one request for the vectors of `texts`."""
    headers = {} if not key else {"Authorization": f"Bearer {key}"}
    if service.name == "ollama":
        root = settings.url.removesuffix("/v1")
        # The OpenAI form of some Ollama versions answers single texts with an empty list.
        if len(texts) == 1:
            return f"{root}/api/embeddings", headers, {"model": settings.model, "prompt": texts[0]}
        return f"{root}/v1/embeddings", headers, {"model": settings.model, "input": list(texts)}
    if service.name == "azure-openai" and key:
        headers = {"api-key": key}
    body: dict[str, Any] = {"model": settings.model, "input": texts[0] if len(texts) == 1 else list(texts)}
    if service.encoding_format:
        body["encoding_format"] = "float"
    if service.normalized and settings.normalized is not None:
        body["normalized"] = settings.normalized
    if service.task_field and task:
        body[service.task_field] = service.task_values.get(task, task)
    if service.dimensions_field and settings.request_dimensions and not settings.omit_dimensions:
        body[service.dimensions_field] = settings.request_dimensions
    return _address(settings), headers, body


def _address(settings: EmbeddingSettings) -> str:
    parts = urlsplit(settings.url)
    path = parts.path.rstrip("/").removesuffix("/embeddings") + "/embeddings"
    query = dict(parse_qsl(parts.query))
    if settings.api_version:
        query["api-version"] = settings.api_version
    return urlunsplit((parts.scheme, parts.netloc, path, urlencode(query), ""))


def vectors(answer: Any, count: int) -> list[Any] | None:
    """The `count` vectors of an answer in the order of the request, unchecked; None when they are missing."""
    if not isinstance(answer, Mapping):
        return None
    if count == 1 and isinstance(answer.get("embedding"), list):
        return [answer["embedding"]]
    items = answer.get("data")
    if not isinstance(items, list) or len(items) != count:
        return None
    if not all(isinstance(item, Mapping) and isinstance(item.get("embedding"), list) for item in items):
        return None
    if sorted(index for item in items if isinstance(index := item.get("index"), int)) == list(range(count)):
        items = sorted(items, key=lambda item: int(item["index"]))
    return [item["embedding"] for item in items]
