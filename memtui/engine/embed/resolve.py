"""Which embedder serves a store: its vectors can only be searched with the model that made them."""

from __future__ import annotations

from memtui.engine.embed.embedder import Embedder, NoEmbedder
from memtui.engine.embed.openai import OpenAIEmbedder
from memtui.engine.embed.services import needs_key
from memtui.engine.embed.settings import EmbeddingSettings, bare_model
from memtui.engine.embed.static import BUNDLED, BUNDLED_DIMS, bundled


def resolve_embedder(
    settings: EmbeddingSettings | None, *, own_store: bool, dims: int | None, model_hint: str | None = None
) -> Embedder | NoEmbedder:
    """The embedder for a table with vectors of `dims` numbers, or why there is none. Asks no server.

    `model_hint`, the model that the store itself names, is a fact: no other may search it. Without one, the
    configured provider (the user's, else the agent's) comes first, then, for stores that memtui made
    (`own_store`), the bundled model. A model whose vectors are of another length is not used either.
    """
    configured = bare_model(settings.model) if settings else None
    if BUNDLED in (model_hint, configured) or (own_store and not settings and not model_hint):
        return _fitting(bundled(), BUNDLED_DIMS, dims)
    if model_hint and bare_model(model_hint) != configured:
        other = f"the configured model is {configured}" if configured else "no provider is configured"
        return NoEmbedder(
            f"The store's vectors were made by {model_hint}, and {other}.",
            f"Configure an embedding provider with {model_hint}, or re-embed the store.",
        )
    if settings is None:
        return NoEmbedder(
            "No embedding provider is configured for this store.",
            "Configure the provider and model that made its vectors.",
        )
    if not settings.url.lower().startswith(("http://", "https://")):
        return NoEmbedder(
            "The address of the embedding service is not an http or https address.",
            "Set embedding.baseURL, or the environment variable that it names.",
        )
    if needs_key(settings) and not any(key.strip() for key in settings.api_keys):
        return NoEmbedder(
            f"There is no API key for {settings.host}.",
            "Set embedding.apiKey, or the environment variable that it names.",
        )
    return _fitting(OpenAIEmbedder(settings, table_dims=dims), settings.expected_dimensions, dims)


def _fitting(embedder: Embedder, given: int | None, dims: int | None) -> Embedder | NoEmbedder:
    if dims is None or given is None or given == dims:
        return embedder
    return NoEmbedder(
        f"{embedder.name} gives {given} dimensions, this table holds {dims}.",
        "Configure the model that made the store's vectors, or re-embed the store.",
        misfit=True,
    )
