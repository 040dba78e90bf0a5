"""What decides a recall of Hermes: the plugin's `retrieval` block, and how one recall is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from memtui.engine.core.errors import ConfigError
from memtui.engine.recall.knob import LIMIT, Knob
from memtui.engine.recall.recipes.pro.settings import SettingsBlock, resolve_block

RETRIEVAL, RECALL = "retrieval", "recall"

MODES, KINDS = ("vector", "fts", "hybrid"), ("fact", "turn", "any")

TOOL, PREFETCH = "tool", "prefetch"

RRF, LINEAR, CROSS = "rrf", "linear", "cross-encoder"

LEAST, MOST = 1, 50
"""The plugin cuts every limit to these."""


def _whole(value: Any) -> Any:
    """A number as Python's int() takes it: a text of digits, a fraction cut off."""
    if isinstance(value, bool) or not isinstance(value, str | float):
        return value
    try:
        return int(value)
    except (ValueError, OverflowError):
        return value


def _number(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


class _Block(SettingsBlock):
    """Keys as in Python."""

    model_config = ConfigDict(alias_generator=None)

    def as_block(self) -> dict[str, Any]:
        """The resolved block under its key names."""
        block: dict[str, Any] = self.model_dump()
        return block


class Reranker(_Block):
    """How the two lists of a hybrid search become one; an unknown type is rrf."""

    type: str | None = "rrf"
    weight: Annotated[float, BeforeValidator(_number)] = 0.7
    """Of the vector list, linear alone."""
    model: str | None = "cross-encoder/ettin-reranker-17m-v1"
    rerank_top_n: Annotated[int, BeforeValidator(_whole)] = 50


class HermesRetrieval(_Block):
    """The plugin's `retrieval` block with its defaults; `search_kinds` is read nowhere."""

    mode: str | None = "vector"
    top_k: Annotated[int | None, BeforeValidator(_whole)] = 10
    search_kinds: list[str] | None = Field(default_factory=lambda: ["fact"])
    reranker: Annotated[Reranker, BeforeValidator(lambda given: {} if given is None else given)] = Reranker()


class HermesRecall(_Block):
    """How one recall is asked: by the tool, or for the block before a prompt; None is the plugin's own."""

    via: Literal["tool", "prefetch"] = "tool"
    mode: str | None = None
    kind: str | None = None
    user_id: str | None = None


def mode_of(asked: str | None, configured: str | None) -> str:
    """The way of searching: what was asked, else what is configured; an unknown one is hybrid."""
    mode = asked or configured
    return mode if mode in MODES else "hybrid"


def kind_of(asked: str | None) -> str:
    """Which rows are searched: facts, unless turns or any are asked for."""
    return asked if asked in KINDS else "fact"


def limit_of(asked: int | None, configured: int | None) -> int:
    """How many rows come back: what was asked, 0 or nothing is what is configured; cut to 1 to 50."""
    wanted = asked or configured
    return max(LEAST, min(10 if wanted is None else wanted, MOST))


def resolve_hermes(
    config: Mapping[str, Any] | None, stored: Mapping[str, Any] | None
) -> tuple[HermesRetrieval, HermesRecall, tuple[str, ...]]:
    """The settings of `config` ({"retrieval": {...}, "recall": {...}}) over `stored`, and findings.

    `stored`: the `retrieval` block of the store's own configuration. Raises ConfigError with the path of the first
    fault.
    """
    config = config or {}
    unknown = [key for key in config if key not in (RETRIEVAL, RECALL, "decay", "memory")]
    if unknown:
        raise ConfigError(
            f"{unknown[0]} is not a known block.", path=unknown[0], fix=f"Use {RETRIEVAL} and {RECALL}."
        )
    base = stored if isinstance(stored, Mapping) else {}
    retrieval = resolve_block(RETRIEVAL, HermesRetrieval, config.get(RETRIEVAL) or {}, base)
    recall = resolve_block(RECALL, HermesRecall, config.get(RECALL) or {}, None)
    why = f"those are another program's settings, this recipe reads {RETRIEVAL} and {RECALL}."
    return (
        retrieval,
        recall,
        tuple(f"{key} has no effect: {why}" for key in ("decay", "memory") if config.get(key)),
    )


# What can be turned of it.

KNOBS = (
    replace(LIMIT, high=MOST),
    Knob(f"{RECALL}.via", "choice", "the tool, or automatic injection", choices=(TOOL, PREFETCH)),
    Knob(f"{RETRIEVAL}.mode", "choice", "by meaning, by keywords, or both", choices=MODES),
    Knob(f"{RECALL}.kind", "choice", "facts, turns of talk, or both", choices=KINDS),
    Knob(
        f"{RETRIEVAL}.reranker.type",
        "choice",
        "how both lists become one",
        choices=(RRF, LINEAR, CROSS),
    ),
    Knob(f"{RETRIEVAL}.reranker.weight", "number", "of the list by meaning, linear alone", 0.0, 1.0, 0.01),
    Knob(f"{RETRIEVAL}.reranker.rerank_top_n", "whole", "rows in each list, cross-encoder alone", 1, 200, 1),
)
