"""The embedding and reranking services that a plugin's settings name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtui.engine.discovery.secret import MASK, Hidden, KeyRef, key_ref, key_refs, masked
from memtui.engine.discovery.variables import expand_field
from memtui.engine.embed.settings import DEFAULT_MODEL, EmbeddingSettings
from memtui.engine.rerank.settings import RerankSettings


def embedding_of(
    block: Mapping[str, Any], raw: Mapping[str, Any], environ: Mapping[str, str], home: Path | None
) -> tuple[EmbeddingSettings | None, tuple[KeyRef, ...], str]:
    """The embedding provider without keys, where its keys are, and why it cannot be used ("" when it can)."""
    given = block.get("embedding")
    if not isinstance(given, Mapping):
        return None, (), "the plugin's settings name no embedding model"
    raw_given = raw.get("embedding")
    raw_key = raw_given.get("apiKey") if isinstance(raw_given, Mapping) else None
    keys = key_refs("embedding.apiKey", raw_key, given.get("apiKey"), environ, home)
    if not keys and given.get("provider") != "ollama":
        keys = key_refs("embedding.apiKey", None, {"source": "env", "id": "OPENAI_API_KEY"}, environ, home)
    address = _text(given, "baseURL") or _text(given, "baseUrl") or ""
    base_url = expand_field(address, environ)
    settings = EmbeddingSettings(
        model=_text(given, "model") or DEFAULT_MODEL,
        base_url=address if base_url is None else base_url,  # never OpenAI's own, with another service's key
        dimensions=_count(given, "dimensions") or _count(given, "dims") or _count(block, "dimensions"),
        request_dimensions=_count(given, "requestDimensions"),
        omit_dimensions=given.get("omitDimensions") is True,
        task_query=_text(given, "taskQuery"),
        task_passage=_text(given, "taskPassage"),
        normalized=given["normalized"] if isinstance(given.get("normalized"), bool) else None,
        max_input_chars=_count(given, "maxInputChars"),
        chunking=given.get("chunking") is not False,
        batch_timeout_s=(_count(given, "clientTimeoutMs") or 30_000) / 1000,
        provider=_text(given, "provider") or "",
        api_version=_text(given, "apiVersion") or "",
    )
    problem = (
        ""
        if base_url is not None
        else "the address of the embedding service names a variable that is not set"
    )
    if not problem and keys and all(ref.state == "not set" for ref in keys):
        problem = f"its key is not set here ({', '.join(ref.name or ref.where for ref in keys)})"
    return settings, keys, problem


def rerank_of(
    retrieval: Mapping[str, Any], raw: Mapping[str, Any], environ: Mapping[str, str], home: Path | None
) -> tuple[RerankSettings | None, tuple[KeyRef, ...]]:
    """The reranking service without its key, and where its key is; None when no remote one is configured."""
    if retrieval.get("rerank", "cross-encoder") != "cross-encoder":
        return None, ()
    key = key_ref(
        "retrieval.rerankApiKey", raw.get("rerankApiKey"), retrieval.get("rerankApiKey"), environ, home
    )
    if key is None:
        return None, ()
    default = RerankSettings()
    endpoint = _text(retrieval, "rerankEndpoint") or ""
    settings = RerankSettings(
        provider=_text(retrieval, "rerankProvider") or default.provider,
        endpoint=expand_field(endpoint, environ) or endpoint or default.endpoint,
        model=_text(retrieval, "rerankModel") or default.model,
        timeout_ms=float(_count(retrieval, "rerankTimeoutMs") or default.timeout_ms),
    )
    return settings, (key,)


def retrieval_block(block: Mapping[str, Any], keys: tuple[KeyRef, ...]) -> dict[str, Any] | None:
    """The `retrieval` block for the recall engine, secrets masked; a key that is not there is left out."""
    given = block.get("retrieval")
    if not isinstance(given, Mapping):
        return None
    out: dict[str, Any] = masked({name: value for name, value in given.items() if name != "rerankApiKey"})
    if any(ref.state != "not set" for ref in keys):
        out["rerankApiKey"] = MASK
    return out


def storage_options(block: Mapping[str, Any], environ: Mapping[str, str]) -> Hidden[Mapping[str, str]]:
    """The options of a remote store, variables filled in; one with a missing variable is left out."""
    given = block.get("storageOptions")
    options = {}
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if isinstance(value, str) and (text := expand_field(value, environ)) is not None:
            options[str(name)] = text
    return Hidden(options)


def _text(block: Mapping[str, Any], name: str) -> str | None:
    value = block.get(name)
    return value.strip() or None if isinstance(value, str) else None


def _count(block: Mapping[str, Any], name: str) -> int | None:
    """A positive whole number, also written as text, as the plugin accepts it; 0 is not positive."""
    value = block.get(name)
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0.0
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and number >= 1 else None
