"""A model that a person names: the bundled one, or one of a service, its keys from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.engine.errors import UsageError

if TYPE_CHECKING:
    from memtui.engine.embed.embedder import Embedder


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
    from memtui.engine.embed.services import needs_key
    from memtui.engine.embed.settings import EmbeddingSettings
    from memtui.engine.embed.static import BUNDLED
    from memtui.engine.transfer.another_model import embedder_of

    if not model.strip():
        raise UsageError("The new model has no name.", fix="Give --model, and --base-url for its service.")
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
    if not names and model.strip() != BUNDLED and needs_key(settings):
        raise UsageError(
            f"{settings.host} asks for a key.",
            fix="Name the environment variable that holds it: “keys in” on the screen, --key-env in the shell.",
        )
    return embedder_of(settings)
