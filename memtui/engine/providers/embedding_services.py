"""How each embedding service wants to be asked: pure data, no network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers.clip import ClipRules
from memtui.engine.providers.http import HttpReply, PostError, excerpt, host_of

# Which embedding model to ask, where, and how.

OPENAI_URL = "https://api.openai.com/v1"

DEFAULT_MODEL = "text-embedding-3-small"

KNOWN_DIMENSIONS: Mapping[str, int] = MappingProxyType(
    {
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
        "text-embedding-004": 768,
        "gemini-embedding-001": 3072,
        "nomic-embed-text": 768,
        "mxbai-embed-large": 1024,
        "bge-m3": 1024,
        "all-minilm": 384,
        "all-minilm-l6-v2": 384,
        "all-mpnet-base-v2": 768,
        "jina-embeddings-v5-text-small": 1024,
        "jina-embeddings-v5-text-nano": 768,
        "voyage-4": 1024,
        "voyage-4-lite": 1024,
        "voyage-4-large": 1024,
        "voyage-3": 1024,
        "voyage-3-lite": 512,
        "voyage-3-large": 1024,
    }
)
"""Vector length of well-known models, by lower-case name without owner and tag."""


def bare_model(model: str) -> str:
    """The model's name without its owner and its tag, lower case: `BAAI/bge-m3:latest` is `bge-m3`."""
    return model.strip().lower().rsplit("/", 1)[-1].split(":", 1)[0]


@dataclass(frozen=True, slots=True, repr=False)
class EmbeddingSettings:
    """One embedding provider. Neither `repr` nor any message made from it shows a key."""

    model: str = DEFAULT_MODEL
    base_url: str = ""
    """Root of the OpenAI-compatible service, with its `/v1`; empty means OpenAI's own."""
    api_keys: tuple[str, ...] = ()
    """Used in turn; the next one steps in when one is rate limited. Local servers need none."""
    dimensions: int | None = None
    """Expected vector length: for checking only, never sent."""
    request_dimensions: int | None = None
    """Vector length to ask for; sent unless `omit_dimensions`."""
    omit_dimensions: bool = False
    task_query: str | None = None
    """Task hint for questions, for example `retrieval.query`."""
    task_passage: str | None = None
    """Task hint for stored texts, for example `retrieval.passage`."""
    normalized: bool | None = None
    """Ask for unit vectors; only Jina knows the field."""
    max_input_chars: int | None = None
    """Longest input in characters; None is the model's default (1,400 for nomic-embed-text, else none)."""
    clip: ClipRules | None = None
    """How a long text is clipped before it is sent, as openclaw-mem-engine does; None: it is not."""
    chunking: bool = True
    """Whether a text that is too long becomes the mean of its pieces; else it is cut."""
    timeout_s: float = 10.0
    """Seconds for one question, everything included."""
    batch_timeout_s: float = 30.0
    """Seconds for one batch of stored texts, everything included."""
    provider: str = ""
    """openai, azure-openai, jina, voyage, nvidia or ollama; anything else: told by host and model."""
    api_version: str = ""
    """Azure's `api-version`."""

    @property
    def url(self) -> str:
        """The service's root without a trailing slash."""
        return (self.base_url.strip() or OPENAI_URL).rstrip("/")

    @property
    def host(self) -> str:
        """Host and port, the only part of the address that messages show."""
        return host_of(self.url)

    @property
    def expected_dimensions(self) -> int | None:
        """Vector length by configuration, else by what is known of the model, else None."""
        asked = None if self.omit_dimensions else self.request_dimensions
        return asked or self.dimensions or KNOWN_DIMENSIONS.get(bare_model(self.model))

    @property
    def input_limit(self) -> int | None:
        """Longest input in characters that is sent in one piece, or None."""
        if self.max_input_chars is not None and self.max_input_chars > 0:
            return self.max_input_chars
        return 1400 if "nomic-embed-text" in self.model.lower() else None

    def __repr__(self) -> str:
        return f"EmbeddingSettings(model={self.model!r}, host={self.host!r}, keys={len(self.api_keys)})"


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


# What a service's refusal means, and the sentence for it.


class Refusal(Enum):
    """What to do about an answer that is not 2xx."""

    RATE = "another key may help, or waiting"
    LENGTH = "a shorter text may help"
    PASSING = "the same request may succeed"
    FINAL = "nothing helps but a person"


class TooLongError(EmbeddingError):
    """The service finds the input too long for its model."""


_QUOTA = re.compile(r"rate.?limit|quota|too many requests|insufficient.{0,20}(credit|balance)", re.IGNORECASE)

_LENGTH = re.compile(
    r"context.{0,30}(length|limit|window|size)|too (long|large|many tokens)"
    r"|max\w*.{0,20}(token|length|size)|exceed.{0,25}(token|length|limit)",
    re.IGNORECASE,
)

_PASSING = (408, 500, 502, 504)


def kind_of(reply: HttpReply) -> Refusal:
    """Sort an answer that is not 2xx; its text counts where the status says little."""
    if reply.status in (429, 503) or _QUOTA.search(reply.text):
        return Refusal.RATE
    if reply.status == 413 or (reply.status not in (401, 403, 404) and _LENGTH.search(reply.text)):
        return Refusal.LENGTH
    return Refusal.PASSING if reply.status in _PASSING else Refusal.FINAL


def refused(settings: EmbeddingSettings, reply: HttpReply) -> EmbeddingError:
    """The error for an answer that is not 2xx, a TooLongError where a shorter text may help.

    The service's own words are quoted with every key masked.
    """
    host, said = settings.host, excerpt(reply.text, settings.api_keys)
    kind = kind_of(reply)
    if kind is Refusal.RATE:
        keys = len(settings.api_keys)
        who = f"all {keys} API keys at {host} are" if keys > 1 else f"{host} is"
        return EmbeddingError(
            f"No vector: {who} rate limited, out of quota or overloaded ({reply.status}).",
            fix="Wait a moment, or add an API key with quota left.",
            details=said,
        )
    fix = "Check the embedding settings (model, baseURL, dimensions)."
    if reply.status in (401, 403):
        fix = f"Check embedding.apiKey for {host}."
    elif reply.status == 404:
        fix = f"Check embedding.baseURL, and that {host} has the model {settings.model}."
    elif kind is Refusal.LENGTH:
        fix = "Set embedding.maxInputChars to what the model takes."
        return TooLongError(
            f"No vector: the text is too long for {settings.model} at {host}: {said}", fix=fix
        )
    elif kind is Refusal.PASSING:
        fix = f"Try again; if it stays, look at the log of {host}."
    return EmbeddingError(f"No vector: {host} answered {reply.status}: {said}", fix=fix)


def unanswered(settings: EmbeddingSettings, error: PostError, budget_s: float) -> EmbeddingError:
    """The error for a request that got no answer."""
    host = settings.host
    if error.kind == "timeout":
        return EmbeddingError(
            f"No vector: {host} did not answer within {budget_s:g} s.",
            fix="Check that the service is up, or give it more time.",
            details=str(error),
        )
    return EmbeddingError(
        f"No vector: {host} cannot be asked: {error}.",
        fix=f"Check embedding.baseURL and that a service runs at {host}.",
        details=error.kind,
    )
