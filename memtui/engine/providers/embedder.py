"""What turns text into vectors, or the reason why nothing does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memtui.engine.core.errors import EmbeddingError, RefusedError, UsageError
from memtui.engine.providers.embedding_services import EmbeddingSettings, bare_model, needs_key
from memtui.engine.providers.local_models import LOCAL_MODELS, runs_here
from memtui.engine.providers.multilingual_embedder import INSTALL, MULTILINGUAL, installed
from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.providers.static_embedder import BUNDLED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """One embedding model. Questions and stored texts may get different vectors, hence the two methods."""

    @property
    def name(self) -> str:
        """The model's name."""

    @property
    def dims(self) -> int | None:
        """Vector length, None when only an answer will tell."""

    def describe(self) -> str:
        """The model, where it runs and its vector length, on one line; never a key."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, float32 [dims]. Raises EmbeddingError; never returns a zero vector."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of stored texts in order, float32 [n, dims]. Raises EmbeddingError."""


@dataclass(frozen=True, slots=True)
class NoEmbedder:
    """Search by meaning is unavailable: `reason` says why and `fix` what to do, one sentence each."""

    reason: str
    fix: str
    misfit: bool = False
    """Whether a model is configured whose vectors this table cannot hold: its agent's recall fails as a whole."""


def question_vector(embedder: Embedder | NoEmbedder, words: str) -> NDArray[np.float32]:
    """The vector of `words`, float32 [dims]; EmbeddingError with the reason where nothing embeds."""
    if isinstance(embedder, NoEmbedder):
        raise EmbeddingError(embedder.reason, fix=embedder.fix)
    return embedder.embed_query(words)


# Which embedder serves a store: its vectors can only be searched with the model that made them.


def resolve_embedder(
    settings: EmbeddingSettings | None, *, own_store: bool, dims: int | None, model_hint: str | None = None
) -> Embedder | NoEmbedder:
    """The embedder for a table with vectors of `dims` numbers, or why there is none. Asks no server.

    `model_hint`, the model that the store itself names, is a fact: no other may search it. Without one, the
    configured provider (the user's, else the agent's) comes first, then, for stores that memtui made
    (`own_store`), the bundled model. A model whose vectors are of another length is not used either.
    """
    configured = bare_model(settings.model) if settings else None
    here = next((name for name in (model_hint, configured) if name in LOCAL_MODELS), None)
    if here is not None or (own_store and not settings and not model_hint):
        return _local(here or BUNDLED, dims)
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


def _local(name: str, dims: int | None) -> Embedder | NoEmbedder:
    if name == MULTILINGUAL and not installed():
        return NoEmbedder(f"The model {name} is not installed.", INSTALL)
    embedder = LOCAL_MODELS[name]()
    return _fitting(embedder, embedder.dims, dims)


def _fitting(embedder: Embedder, given: int | None, dims: int | None) -> Embedder | NoEmbedder:
    if dims is None or given is None or given == dims:
        return embedder
    return NoEmbedder(
        f"{embedder.name} gives {given} dimensions, this table holds {dims}.",
        "Configure the model that made the store's vectors, or re-embed the store.",
        misfit=True,
    )


# A model that a person names: the bundled one, or one of a service, its keys from the environment.


def embedder_named(
    model: str,
    environ: Mapping[str, str],
    *,
    base_url: str = "",
    key_variables: str = "",
    dimensions: int | None = None,
    task: str | None = None,
) -> Embedder:
    """The embedder of `model`; asks no server.

    `key_variables` are names of variables that hold keys, with commas between them. Raises UsageError without
    a name of a model, for a variable that is not set, and for a service that asks for a key where none is named.
    """
    from memtui.engine.providers.embedding_services import EmbeddingSettings, needs_key

    if not model.strip():
        raise UsageError(
            "The new model has no name.",
            fix="Name it, and the root of its service (--model and --base-url in the shell).",
        )
    names = [name.strip() for name in key_variables.split(",") if name.strip()]
    unset = next((name for name in names if not environ.get(name, "").strip()), None)
    if unset is not None:
        raise UsageError(
            f"The variable {unset} is not set.", fix="Set it to the service's key, or name another one."
        )
    settings = EmbeddingSettings(
        model=model.strip(),
        base_url=base_url.strip(),
        api_keys=tuple(environ[name] for name in names),
        request_dimensions=dimensions,
        task_passage=task,
    )
    if not names and not runs_here(model) and needs_key(settings):
        raise UsageError(
            f"{settings.host} asks for a key.",
            fix="Name the environment variable that holds it: “keys in” on the screen, --key-env in the shell.",
        )
    return embedder_of(settings)


# Re-embedding a store with another model: what the screen and the command line call.


def embedder_of(settings: EmbeddingSettings) -> Embedder:
    """The new model, asked for nothing yet. Raises RefusedError without a usable address or a key."""

    found = resolve_embedder(settings, own_store=False, dims=None)
    if isinstance(found, NoEmbedder):
        raise RefusedError(found.reason, fix=found.fix)
    return found
