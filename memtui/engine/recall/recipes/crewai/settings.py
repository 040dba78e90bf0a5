"""What decides a recall of CrewAI: the weights that its `Memory` is made with, and how one recall is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from memtui.engine.core.errors import ConfigError
from memtui.engine.recall.recipes.pro.settings import SettingsBlock, resolve_block

MEMORY, RECALL = "memory", "recall"


class _Block(SettingsBlock):
    """Keys as in Python."""

    model_config = ConfigDict(alias_generator=None)

    def as_block(self) -> dict[str, Any]:
        """The resolved block under its key names."""
        block: dict[str, Any] = self.model_dump()
        return block


class MemorySettings(_Block):
    """What is given to `Memory(...)`; the package's defaults."""

    semantic_weight: float = 0.5
    recency_weight: float = 0.3
    importance_weight: float = 0.2
    recency_half_life_days: float = Field(default=30, gt=0)
    root_scope: str | None = None


class RecallSettings(_Block):
    """What is given to one `recall(...)`; `depth` None is deep, and shallow for a slice of several scopes."""

    depth: Literal["shallow", "deep"] | None = None
    categories: list[str] | None = None
    source: str | None = None
    include_private: bool = False
    min_score: float = 0.0
    metadata_filter: dict[str, Any] | None = None


def resolve_crew(
    config: Mapping[str, Any] | None,
) -> tuple[MemorySettings, RecallSettings, tuple[str, ...]]:
    """The settings of `config` ({"memory": {...}, "recall": {...}}), and findings.

    Raises ConfigError with the path of the first fault.
    """
    config = config or {}
    others = ("retrieval", "decay")
    unknown = [key for key in config if key not in (MEMORY, RECALL, *others)]
    if unknown:
        raise ConfigError(
            f"{unknown[0]} is not a known block.", path=unknown[0], fix=f"Use {MEMORY} and {RECALL}."
        )
    memory = resolve_block(MEMORY, MemorySettings, config.get(MEMORY, {}), None)
    recall = resolve_block(RECALL, RecallSettings, config.get(RECALL, {}), None)
    return (
        memory,
        recall,
        tuple(
            f"{key} has no effect: those are another program's settings, this recipe reads {MEMORY} and {RECALL}."
            for key in others
            if config.get(key)
        ),
    )
