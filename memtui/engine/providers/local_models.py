"""The models that run in this process: no service, no key, and no text leaves the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memtui.engine.providers.multilingual_embedder import MULTILINGUAL, MultilingualEmbedder
from memtui.engine.providers.static_embedder import BUNDLED, StaticEmbedder, bundled

LOCAL_MODELS: Mapping[str, Callable[[], StaticEmbedder | MultilingualEmbedder]] = {
    BUNDLED: bundled,
    MULTILINGUAL: MultilingualEmbedder,
}
"""How each is made, by name. Making one loads nothing."""


def runs_here(name: str) -> bool:
    """Whether the model of this name needs no service."""
    return name.strip() in LOCAL_MODELS
