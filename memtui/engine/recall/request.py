"""A question, and everything that decides how it is answered."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memtui.engine.core.errors import UsageError

SOURCES = ("manual", "cli", "auto-recall")

UNSET: Any = object()
"""A value that was not given, where None means something."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question to the store and how to answer it: recipe, scopes, limit, settings, moment.

    `config` holds the plugin's own blocks: {"retrieval": {...}, "decay": {...} or None}; a `decay` of None
    switches the decay engine off, a missing one keeps the recipe's. `source` UNSET keeps the recipe's.
    `scopes` UNSET leaves them to the asker: an agent's recipe searches what the agent may read; None is no filter,
    an empty sequence denies all. `limit` None is the recipe's default.
    `query_vector` replaces the embedder; `lanes` replaces the searches:
    {"vector": [[id, score], ...], "bm25": [[id, score], ...]}. `now_ms` None means the engine's clock.
    """

    query: str
    recipe: str = ""
    config: Mapping[str, Any] | None = None
    source: Any = UNSET
    scopes: Any = UNSET
    """A sequence of names, None, or UNSET."""
    category: str | None = None
    limit: int | None = None
    now_ms: int | None = None
    query_vector: Sequence[float] | None = None
    lanes: Mapping[str, Sequence[Sequence[Any]]] | None = None
    agent: str = ""
    """Who asks; empty is the agent that the store's configuration names first, else `main`."""
    rerank_timeout_ms: float | None = None
    """Per-call override of the rerank time budget; 0 or less skips the remote reranker."""
    owners: tuple[str, ...] = ()
    """Of a table whose rows have an owner: only the rows of these agents, by a recipe that searches everybody's."""
    table_version: int | None = None
    """Recall on this older version of the table, read only; None is the version that is open."""
    before_prompt: bool = False
    """Whether nobody asked: a message is about to be answered, and the recipe's gate decides if it is looked up."""
    whole_config: bool = False
    """Whether `config` was given as a file: a program that reads its settings from one takes its own defaults, and not
    the store's settings, for what it leaves out."""
    own_words: bool = False
    """Whether keyword scores count only the rows that are searched: for whoever may not read the others."""


PromptForm = Literal["plugin", "as the plugin", "built in", "its own", "prefetched", ""]
"""Whose block a recall fills: memory-lancedb-pro's, the same where nothing is injected, memory-lancedb's, its own,
or that which Hermes hands out with the next message."""


@dataclass(frozen=True)
class RecipeInfo:
    """A recipe as a person chooses it. Others decide by these values, never by its name."""

    name: str
    title: str
    description: str
    limit: int
    """Results where a request names no limit."""
    source: str | None = None
    """The caller that it stands for: manual, cli, auto-recall."""
    hook: str = ""
    """The caller as which the program's hook asks, where that is a recall of its own."""
    family: str = ""
    """The program whose settings it reads: recipes of one family can be asked with the same configuration."""
    of_agent: bool = False
    """Whether an agent asks by it, within the scopes that the agent may read."""
    own_rows: bool = False
    """Whether it searches the rows of the agent that asks, and of nobody else."""
    scope_by_scope: bool = False
    """Whether a policy of its own decides what is searched: scope after scope, and words without an index."""
    unfiltered: str = "all scopes, no filter"
    """What is searched where nobody names a scope or an agent, for a person."""
    on_purpose: str = ""
    """The recipe by which the same agent asks on purpose, where this one asks before each prompt."""
    by_meaning: bool = False
    """Whether it has no answer where the question cannot be embedded."""
    prompt: PromptForm = ""
    """Who writes what it found into a prompt; empty: not known."""
    prompt_gates: tuple[str, ...] = ("governance", "repeat", "prompt_items", "prompt_chars")
    """The gates between its answer and the prompt, in order."""


def scopes_key(request: RecallRequest) -> Any:
    """The scopes of a request as something that can be compared and hashed."""
    given = request.scopes
    return "as the asker" if given is UNSET else None if given is None else tuple(given)


def filters_of(request: RecallRequest) -> dict[str, Any]:
    """The filters of a request whose scopes are decided, as a trace records them."""
    return {
        "scopes": None if request.scopes is None else list(request.scopes),
        "category": request.category,
        "agent": request.agent or None,
    }


def request_from(line: str, otherwise: Mapping[str, Any] | None = None) -> RecallRequest:
    """Return the request that one line of JSON describes; what it does not name is taken from `otherwise`.

    Raises UsageError where it is none; no type is guessed.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as failure:
        raise UsageError(f"The line is not JSON: {failure}.", fix="Write one JSON object a line.") from None
    if not isinstance(value, dict):
        raise UsageError("The line is not a JSON object.", fix='Write {"query": "..."}.')
    unknown = [key for key in value if key not in _SHAPES]
    if unknown:
        raise UsageError(f"{unknown[0]} is not a known key.", fix=f"Known keys: {', '.join(_SHAPES)}.")
    for key, given in value.items():
        wanted, fits = _SHAPES[key]
        if given is not None and not fits(given):
            raise UsageError(f"{key} is not {wanted}.", fix=f"Give {wanted}, or leave {key} out.")
    for key in ("query", "recipe", "agent"):
        if value.get(key) is None and not (otherwise and key in otherwise and key not in value):
            value[key] = ""
    asked = RecallRequest(**{**(otherwise or {}), **value})
    return replace(asked, whole_config=asked.config is not None)


def _is_text(value: Any) -> bool:
    """A string that UTF-8 can hold: no half of a character pair."""
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 and math.isfinite(value)


def _is_hits(value: Any) -> bool:
    """[[id, score], ...]."""
    return isinstance(value, list) and all(
        isinstance(hit, list) and len(hit) >= 2 and _is_text(hit[0]) and _is_number(hit[1]) for hit in value
    )


_SHAPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "query": ("a string", _is_text),
    "query_vector": (
        "a list of numbers",
        lambda value: isinstance(value, list) and all(map(_is_number, value)),
    ),
    "recipe": ("a string", _is_text),
    "config": ("an object", lambda value: isinstance(value, dict)),
    "source": (f"one of {', '.join(SOURCES)}", lambda value: value in SOURCES),
    "now_ms": ("a whole number of milliseconds", lambda value: _is_whole(value) and abs(value) <= _LAST_MS),
    "scopes": ("a list of strings", lambda value: isinstance(value, list) and all(map(_is_text, value))),
    "category": ("a string", _is_text),
    "limit": ("a whole number", _is_whole),
    "lanes": (
        'an object of lists: {"vector": [[id, score], ...], "bm25": [[id, score], ...]}',
        lambda value: isinstance(value, dict) and all(map(_is_hits, value.values())),
    ),
    "agent": ("a string", _is_text),
    "rerank_timeout_ms": ("a number of milliseconds", _is_number),
    "table_version": ("a whole number, 1 or more", lambda value: _is_whole(value) and value > 0),
}

_LAST_MS = 8_640_000_000_000_000
"""The last moment that a JavaScript date holds, and with it every program whose recall this is."""
