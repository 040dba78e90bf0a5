"""The parameters of a recall that a person can turn: found by name, set in a request, read from what was resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import UsageError
from memtui.engine.recall.knob import Knob
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.recall.recipe import Recipe
    from memtui.engine.store.table import Store


def knobs_of(recipe: str) -> tuple[Knob, ...]:
    """The parameters of a recipe, in the order of the stages that read them."""
    from memtui.engine.recall.recipes.registry import recipe_named

    return recipe_named(recipe).knobs


@cache
def knobs_by_path() -> Mapping[str, Knob]:
    """Every parameter of every recipe, by its path."""
    from memtui.engine.recall.recipes.registry import all_recipes

    return {knob.path: knob for recipe in reversed(all_recipes()) for knob in recipe.knobs}


@cache
def blocks() -> frozenset[str]:
    """The blocks of a configuration in which parameters stand."""
    return frozenset(path.partition(".")[0] for path in knobs_by_path() if "." in path)


def with_value(request: RecallRequest, path: str, value: Any) -> RecallRequest:
    """`request` with one parameter set; `path` is a knob's, or a field of the request itself.

    Raises UsageError for a path that is neither. A setting of `decay` where the decay engine is off stays without
    effect: it is not switched on by that.
    """
    block, _, key = path.partition(".")
    if block in blocks() and key:
        config = dict(request.config or {})
        if block == "decay" and "decay" in config and config["decay"] is None:
            return request
        config[block] = _put(config.get(block) or {}, key, value)
        return replace(request, config=config)
    if path not in RecallRequest.__dataclass_fields__:
        raise UsageError(
            f"There is no parameter {path}.", fix=f"Known parameters: {', '.join(knobs_by_path())}."
        )
    return replace(request, **{path: value})


def _put(block: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """`block` with the value at `key`, which may lead through blocks within it."""
    first, _, rest = key.partition(".")
    return {**block, first: _put(block.get(first) or {}, rest, value) if rest else value}


def with_values(request: RecallRequest, changes: Mapping[str, Any]) -> RecallRequest:
    """`request` with several parameters set."""
    for path, value in changes.items():
        request = with_value(request, path, value)
    return request


def value_of(
    request: RecallRequest, config: Mapping[str, Any], limit: int, source: str | None, path: str
) -> Any:
    """What a parameter stands at: `config`, `limit` and `source` as a trace has them resolved."""
    if path == "limit":
        return limit
    if path == "source":
        return source
    known = knobs_by_path().get(path)
    at: Any = config
    parts = (known.resolved if known is not None and known.resolved else path).split(".")
    if len(parts) == 1:
        return getattr(request, path)
    for part in parts:
        at = at.get(part) if isinstance(at, Mapping) else None
    return at


# How far the clock, the table's versions and the agents of a store reach: what a recall can be asked as of.

AGENT = "agent:"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The ranges that a question may be asked over: times, versions, agents, scopes of the store."""

    oldest_ms: int | None
    """The time of the first memory; None where no memory has one."""
    versions: tuple[tuple[int, int], ...]
    """(version, time in ms) of every version that can still be read, oldest first."""
    agents: tuple[str, ...]
    """Agents with a scope of their own, by name."""
    scopes: tuple[str, ...]
    owners: tuple[str, ...] = ()
    """Agents that rows belong to, by name: stores with an agentId column."""


def bounds(store: Store, catalog: Catalog) -> Bounds:
    """The bounds of what is stored now."""
    times = catalog.timestamp[catalog.timestamp > 0]
    scopes = tuple(sorted(scope for scope in catalog.scopes if scope))
    agents = tuple(scope.removeprefix(AGENT) for scope in scopes if scope.startswith(AGENT))
    owned = catalog.labels.get("agentId")
    owners = () if owned is None else tuple(sorted({owner for owner in owned.values if owner}))
    oldest = int(times.min()) if len(times) else None
    return Bounds(oldest, tuple(store.versions()), agents, scopes, owners)


def signal_words() -> dict[str, str]:
    """What the rules of single recipes say of a score, in words for a person, by the name of the rule."""
    return {rule: words for recipe in _recipes() for rule, words in recipe.signal_words().items()}


def weight_words() -> dict[str, str]:
    """What the weights of single recipes count, in words for a person, by the key of the weight."""
    return {key: words for recipe in _recipes() for key, words in recipe.weight_words().items()}


def _recipes() -> tuple[Recipe, ...]:
    from memtui.engine.recall.recipes.registry import all_recipes

    return all_recipes()
