"""Which reranker to ask, where, and how long to wait."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.engine.post import host_of

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
