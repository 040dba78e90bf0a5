"""Every parameter of a recall that a person can turn: where it stands in a request, its range and its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import UsageError
from memtui.engine.recall.request import SOURCES, RecallRequest

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.store.table import Store


Kind = Literal["number", "whole", "choice", "switch"]


@dataclass(frozen=True, slots=True)
class Knob:
    """One parameter. `path` is where it stands: `limit`, `retrieval.minScore`, `decay.betaCore`, ..."""

    path: str
    kind: Kind
    meaning: str
    low: float = 0.0
    high: float = 1.0
    step: float = 0.001
    """The finest change that is offered, and counted as one step."""
    choices: tuple[Any, ...] = ()
    resolved: str = ""
    """Where the resolved settings have it, where that is not `path`."""

    @property
    def span(self) -> float:
        """Length of its range, the measure that a change is compared with."""
        return self.high - self.low

    @property
    def notch(self) -> float:
        """What one press of a key turns it by: about a fortieth of its range, a round number of steps."""
        rough = self.span / 40 / self.step
        round_ones = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500)
        return self.step * next((each for each in reversed(round_ones) if each <= rough), 1)

    def clamp(self, value: float) -> float | int:
        """The nearest value that lies on a step within the range."""
        steps = round((min(self.high, max(self.low, value)) - self.low) / self.step)
        exact = self.low + steps * self.step
        return round(exact) if self.kind == "whole" else round(exact, 6)


def _share(name: str, meaning: str, high: float = 1.0) -> Knob:
    return Knob(name, "number", meaning, 0.0, high)


def _days(name: str, meaning: str, low: float = 0.0) -> Knob:
    return Knob(name, "number", meaning, low, 365.0, 1.0)


RETRIEVAL = (
    Knob(
        "retrieval.mode",
        "choice",
        "hybrid asks both lanes, vector only the first",
        choices=("hybrid", "vector"),
    ),
    Knob("retrieval.candidatePoolSize", "whole", "hits wanted of each lane; each stops at 20", 1, 20, 1),
    Knob("retrieval.queryExpansion", "switch", "synonyms for the keyword lane, for manual and cli only"),
    Knob("retrieval.disableNativeCosine", "switch", "scan every row instead of asking the index"),
    _share("retrieval.vectorWeight", "share of the vector score"),
    _share("retrieval.bm25Weight", "share of the keyword score; a keyword hit alone counts whole"),
    _share("retrieval.minScore", "a fused score below this is dropped"),
    Knob(
        "retrieval.rerank",
        "choice",
        "cross-encoder asks a service, lightweight blends the cosine",
        choices=("cross-encoder", "lightweight", "none"),
    ),
    _share("retrieval.recencyWeight", "most that a fresh memory gains", 0.5),
    _days("retrieval.recencyHalfLifeDays", "days after which .37 of that gain is left"),
    Knob("retrieval.lengthNormAnchor", "whole", "characters up to which length costs nothing", 0, 5000, 10),
    _days("retrieval.timeDecayHalfLifeDays", "days after which .37 of the losable half is left"),
    Knob("retrieval.reinforcementFactor", "number", "how much use stretches that time", 0, 2, 0.01),
    Knob("retrieval.maxHalfLifeMultiplier", "number", "and at most by this", 1, 10, 0.1),
    _share("retrieval.hardMinScore", "a final score below this is dropped"),
    Knob("retrieval.filterNoise", "switch", "drop greetings, refusals and boilerplate by their words"),
)

DECAY = (
    _days("decay.recencyHalfLifeDays", "days to half, for importance 0", 1.0),
    _share("decay.recencyWeight", "share of recency in the composite"),
    _share("decay.frequencyWeight", "share of use in the composite"),
    _share("decay.intrinsicWeight", "share of importance and confidence in the composite"),
    _share("decay.searchBoostMin", "the least that decay leaves of a score"),
    Knob("decay.importanceModulation", "number", "how much importance stretches the half-life", 0, 10, 0.01),
    Knob("decay.betaCore", "number", "shape of the curve for core memories", 0.1, 5, 0.01),
    Knob("decay.betaWorking", "number", "shape of the curve for working ones", 0.1, 5, 0.01),
    Knob("decay.betaPeripheral", "number", "shape of the curve for peripheral ones", 0.1, 5, 0.01),
    _share("decay.coreDecayFloor", "a core memory never counts as less"),
    _share("decay.workingDecayFloor", "a working one never counts as less"),
    _share("decay.peripheralDecayFloor", "a peripheral one never counts as less"),
    _share("decay.staleThreshold", "a composite below this is called stale"),
)

LIMIT = Knob("limit", "whole", "how many memories come back", 1, 20, 1)

SOURCE = Knob("source", "choice", "who asks", choices=SOURCES)

PRO = (LIMIT, SOURCE, *RETRIEVAL, *DECAY)

BUILTIN = (replace(LIMIT, high=200),)


def _weight(key: str, meaning: str) -> Knob:
    return Knob(f"memtui.{key}", "number", meaning, 0.0, 2.0, 0.01)


OWN = (
    replace(LIMIT, high=100),
    Knob("memtui.pool", "whole", "candidates of each search", 1, 200, 1),
    _weight("vectorWeight", "of the cosine, stretched over the candidates"),
    _weight("lateWeight", "of how well each word of the question is met"),
    Knob("memtui.contextWeight", "number", "of what the memory before meets, same session", step=0.01),
    Knob("memtui.rarity", "number", "how far a rare word of the question counts more", 0.0, 3.0, 0.05),
    _weight("bm25Weight", "of the keyword score, as a share of the best"),
    _weight("identifierWeight", "of identifiers that stand in the text to the letter"),
    _weight("speakerWeight", "for what the named speaker has said"),
    _weight("dateWeight", "for memories of the time that is named"),
    Knob("memtui.previousWeight", "number", "of the score of the memory before, same session", step=0.01),
    Knob("memtui.nextWeight", "number", "of the score of the memory after, same session", step=0.01),
    Knob("memtui.following", "whole", "best ones whose next memory becomes a candidate", 0, 100, 1),
    Knob("memtui.recency", "choice", "whether newer ones gain", choices=("asked", "on", "off")),
    _weight("recencyWeight", "most that the newest gains"),
    Knob("memtui.recencyHalfLifeDays", "number", "days after which half of that is left", 1.0, 365.0, 1.0),
    Knob("memtui.minScore", "number", "a score below this is not returned", 0.0, 3.0, 0.01),
)


def _engine(path: str, resolved: str, meaning: str, low: int, high: int, step: int = 1) -> Knob:
    return Knob(f"memEngine.{path}", "whole", meaning, low, high, step, resolved=f"memEngine.{resolved}")


ENGINE = (
    replace(LIMIT, high=50),
    SOURCE,
    Knob(
        "memEngine.trustMode",
        "choice",
        "which sources of a memory are let through",
        choices=("off", "prefer_trusted", "exclude_quarantined"),
        resolved="memEngine.trust_mode",
    ),
    _engine("autoRecall.maxItems", "hook.max_items", "how many memories the hook wants", 1, 5),
    _engine("autoRecall.trivialMinChars", "hook.trivial_min_chars", "shorter questions are skipped", 2, 40),
    _engine("autoRecall.tierSearchMultiplier", "hook.multiplier", "hits of each tier for one wanted", 1, 6),
    Knob(
        "memEngine.autoRecall.selectionMode",
        "choice",
        "tier after tier, or a share for each",
        choices=("tier_first_v1", "tier_quota_v1"),
        resolved="memEngine.hook.mode",
    ),
    _engine("autoRecall.quotas.mustMax", "hook.quotas.must_max", "most of must_remember", 0, 5),
    _engine("autoRecall.quotas.niceMin", "hook.quotas.nice_min", "least of nice_to_have", 0, 5),
    _engine("autoRecall.quotas.unknownMax", "hook.quotas.unknown_max", "most without a tier", 0, 5),
    _engine("budget.maxChars", "budget.max_chars", "characters of the block for the prompt", 300, 12_000, 50),
    _engine("budget.minRecentSlots", "budget.min_recent_slots", "recent memories that always stay", 0, 5),
    _engine(
        "todoGuardrails.todoStaleTtlDays", "todo_days", "days after which a to-do counts as stale", 1, 90
    ),
)

_RECIPES: Mapping[str, tuple[Knob, ...]] = {
    "memory-lancedb": BUILTIN,
    "memtui": OWN,
    "mem-engine": ENGINE,
}

BLOCKS = ("retrieval", "decay", "memtui", "memEngine")
"""The blocks of a configuration in which parameters stand."""

BY_PATH: Mapping[str, Knob] = {knob.path: knob for knob in (*OWN, *ENGINE, *PRO)}


def knobs_of(recipe: str) -> tuple[Knob, ...]:
    """The parameters of a recipe, in the order of the stages that read them."""
    return _RECIPES.get(recipe, PRO)


def with_value(request: RecallRequest, path: str, value: Any) -> RecallRequest:
    """`request` with one parameter set; `path` is a knob's, or a field of the request itself.

    Raises UsageError for a path that is neither. A setting of `decay` where the decay engine is off stays without
    effect: it is not switched on by that.
    """
    block, _, key = path.partition(".")
    if block in BLOCKS and key:
        config = dict(request.config or {})
        if block == "decay" and "decay" in config and config["decay"] is None:
            return request
        config[block] = _put(config.get(block) or {}, key, value)
        return replace(request, config=config)
    if path not in RecallRequest.__dataclass_fields__:
        raise UsageError(f"There is no parameter {path}.", fix=f"Known parameters: {', '.join(BY_PATH)}.")
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
    known = BY_PATH.get(path)
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
    """What a question can be asked of beside the present store."""

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
