"""Which embedding model to ask, where, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from memtui.engine.post import host_of

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
