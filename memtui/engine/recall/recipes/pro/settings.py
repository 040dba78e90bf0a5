"""The plugin's own `retrieval`, `decay` and `tier` blocks, checked and resolved.

A block is laid over the recipe's defaults key by key. An unknown or ill-typed key is an error that names its
path. A value outside the range that the plugin's schema allows is kept (the code behind the schema takes it)
and reported as a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from memtui.engine.core.errors import ConfigError
from memtui.engine.decay.decay import DecayParams
from memtui.engine.decay.tiers import TierParams
from memtui.engine.discovery.variables import mask_text

JINA_ENDPOINT = "https://api.jina.ai/v1/rerank"

MASKED = "********"


class SettingsBlock(BaseModel):
    """A block of settings under the camelCase key names of configuration files; unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
    )


class NeighborEnrichment(SettingsBlock):
    """Attach memories whose words resemble a result's own text."""

    enabled: bool = False
    max_per_result: int = Field(default=2, ge=1)


class RetrievalSettings(SettingsBlock):
    """memory-lancedb-pro's `retrieval` block with the plugin's defaults (spec/retrieval 14)."""

    mode: Literal["hybrid", "vector"] = "hybrid"
    vector_weight: float = Field(default=0.7, ge=0)
    bm25_weight: float = Field(default=0.3, ge=0)
    query_expansion: bool = True
    min_score: float = 0.3
    hard_min_score: float = 0.35
    rerank: Literal["cross-encoder", "lightweight", "none"] = "cross-encoder"
    rerank_provider: str = "jina"
    rerank_model: str = "jina-reranker-v3"
    rerank_endpoint: str = JINA_ENDPOINT
    rerank_api_key: str | dict[str, str] | None = None
    rerank_timeout_ms: float = 5000
    candidate_pool_size: int = Field(default=20, ge=1)
    recency_half_life_days: float = Field(default=14, ge=0)
    recency_weight: float = Field(default=0.1, ge=0)
    filter_noise: bool = True
    length_norm_anchor: float = Field(default=500, ge=0)
    time_decay_half_life_days: float = Field(default=60, ge=0)
    reinforcement_factor: float = Field(default=0.5, ge=0)
    max_half_life_multiplier: float = Field(default=3, ge=0)
    tag_prefixes: tuple[str, ...] = Field(default=("proj", "env", "team", "scope"), strict=False)
    neighbor_enrichment: NeighborEnrichment = NeighborEnrichment()
    disable_native_cosine: bool = False

    def as_block(self) -> dict[str, Any]:
        """The resolved block under the plugin's key names; the API key and secrets in the address masked."""
        block: dict[str, Any] = self.model_dump(by_alias=True, mode="json")
        if block["rerankApiKey"] is not None:
            block["rerankApiKey"] = MASKED
        block["rerankEndpoint"] = mask_text(block["rerankEndpoint"])
        return block


class DecaySettings(SettingsBlock):
    """memory-lancedb-pro's `decay` block with the plugin's defaults."""

    recency_half_life_days: float = Field(default=30, gt=0)
    recency_weight: float = Field(default=0.4, ge=0)
    frequency_weight: float = Field(default=0.3, ge=0)
    intrinsic_weight: float = Field(default=0.3, ge=0)
    stale_threshold: float = 0.3
    search_boost_min: float = Field(default=0.3, ge=0, le=1)
    importance_modulation: float = 1.5
    beta_core: float = Field(default=0.8, gt=0)
    beta_working: float = Field(default=1.0, gt=0)
    beta_peripheral: float = Field(default=1.3, gt=0)
    core_decay_floor: float = Field(default=0.9, ge=0, le=1)
    working_decay_floor: float = Field(default=0.7, ge=0, le=1)
    peripheral_decay_floor: float = Field(default=0.5, ge=0, le=1)

    def as_block(self) -> dict[str, Any]:
        """The resolved block under the plugin's key names."""
        block: dict[str, Any] = self.model_dump(by_alias=True)
        return block

    def params(self) -> DecayParams:
        """The same numbers for the decay engine."""
        return DecayParams(**self.model_dump())


class Tier(SettingsBlock):
    """memory-lancedb-pro's `tier` block with the plugin's defaults."""

    core_access_threshold: int = Field(default=10, ge=0)
    core_composite_threshold: float = 0.7
    core_importance_threshold: float = 0.8
    peripheral_composite_threshold: float = 0.15
    peripheral_age_days: float = Field(default=60, ge=0)
    working_access_threshold: int = Field(default=3, ge=0)
    working_composite_threshold: float = 0.4

    def as_block(self) -> dict[str, Any]:
        """The resolved block under the plugin's key names."""
        block: dict[str, Any] = self.model_dump(by_alias=True)
        return block

    def params(self) -> TierParams:
        """The same numbers for the tier manager."""
        return TierParams(**self.model_dump())


# Ranges of the plugin's strict schema (openclaw.plugin.json); the host refuses to start outside them.
_SCHEMA_RANGES: dict[str, tuple[float, float]] = {
    "vectorWeight": (0, 1),
    "bm25Weight": (0, 1),
    "minScore": (0, 1),
    "hardMinScore": (0, 1),
    "candidatePoolSize": (10, 100),
    "rerankTimeoutMs": (500, float("inf")),
    "recencyHalfLifeDays": (0, 365),
    "recencyWeight": (0, 0.5),
    "timeDecayHalfLifeDays": (0, 365),
    "reinforcementFactor": (0, 2),
    "maxHalfLifeMultiplier": (1, 10),
    "lengthNormAnchor": (0, 5000),
}

_CODE_ONLY = ("queryExpansion", "tagPrefixes")

_CLI_ONLY = (
    "recencyHalfLifeDays",
    "recencyWeight",
    "timeDecayHalfLifeDays",
    "reinforcementFactor",
    "maxHalfLifeMultiplier",
)


def _refuse(block: str, model: type[SettingsBlock], error: ValidationError) -> ConfigError:
    first = error.errors()[0]
    path = ".".join([block, *(str(part) for part in first["loc"])])
    if first["type"] == "extra_forbidden":
        known = [to_camel(name) for name in model.model_fields]
        near = get_close_matches(str(first["loc"][-1]), known, n=1, cutoff=0.5)
        fix = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(known)}."
        return ConfigError(f"{path} is not a known setting.", path=path, fix=fix)
    given = first.get("input")
    shown = MASKED if "key" in path.lower() else repr(given)[:60]
    return ConfigError(f"{path} is {shown}: {first['msg'].lower()}.", path=path, fix="Correct its value.")


def resolve_block(block: str, model: type[SettingsBlock], given: Any, base: Mapping[str, Any] | None) -> Any:
    """`given` laid over `base` and the defaults of `model`; raises ConfigError with the path of the first fault."""
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"{block} must be an object, not {type(given).__name__}.", path=block, fix="Give it as {...}."
        )
    merged = {**(base or {}), **given}
    for key, below in (base or {}).items():
        if isinstance(below, Mapping) and isinstance(given.get(key), Mapping):
            merged[key] = {**below, **given[key]}
    try:
        return model.model_validate(merged)
    except ValidationError as error:
        raise _refuse(block, model, error) from None


def resolve(
    config: Mapping[str, Any] | None,
    *,
    base_retrieval: Mapping[str, Any] | None = None,
    base_decay: Mapping[str, Any] | None = None,
    decay_on: bool = True,
) -> tuple[RetrievalSettings, DecaySettings | None]:
    """Lay `config` ({"retrieval": {...}, "decay": {...} or None}) over the store's own blocks and the defaults.

    `decay_on` says whether the recipe runs a decay engine when `config` does not speak of it.
    Raises ConfigError with the path of the first key that is unknown or ill-typed.
    """
    config = config or {}
    unknown = [key for key in config if key not in ("retrieval", "decay")]
    if unknown:
        raise ConfigError(
            f"{unknown[0]} is not a known block.", path=unknown[0], fix="Use retrieval and decay."
        )
    retrieval = resolve_block("retrieval", RetrievalSettings, config.get("retrieval", {}), base_retrieval)
    if "decay" in config:
        given = config["decay"]
        decay = None if given is None else resolve_block("decay", DecaySettings, given, base_decay)
    else:
        decay = resolve_block("decay", DecaySettings, {}, base_decay) if decay_on else None
    return retrieval, decay


def resolve_lifecycle(
    config: Mapping[str, Any] | None,
    *,
    base_decay: Mapping[str, Any] | None = None,
    base_tier: Mapping[str, Any] | None = None,
) -> tuple[DecaySettings, Tier]:
    """Lay `config` ({"decay": {...}, "tier": {...}}; other blocks are ignored) over the store's own and the defaults.

    Raises ConfigError with the path of the first key that is unknown, ill-typed or makes no curve.
    """
    given = {
        name: {} if (config or {}).get(name) is None else (config or {})[name] for name in ("decay", "tier")
    }
    return (
        resolve_block("decay", DecaySettings, given["decay"], base_decay),
        resolve_block("tier", Tier, given["tier"], base_tier),
    )


def findings(retrieval: RetrievalSettings, decay: DecaySettings | None) -> tuple[str, ...]:
    """What a person should know about these settings: knobs without effect, limits that reject nothing."""
    out: list[str] = []
    block = retrieval.as_block()
    for key, (low, high) in _SCHEMA_RANGES.items():
        if not low <= block[key] <= high:
            out.append(
                f"retrieval.{key} = {block[key]:g} is outside {low:g} to {high:g}: the plugin's host would refuse it."
            )
    default = RetrievalSettings().as_block()
    out += [
        f"retrieval.{key} cannot be set in openclaw.json: the plugin's strict schema rejects it."
        for key in _CODE_ONLY
        if block[key] != default[key]
    ]
    if retrieval.candidate_pool_size > 20:
        out.append("retrieval.candidatePoolSize above 20 has no effect: each search stops at 20 rows.")
    if retrieval.rerank == "cross-encoder" and not retrieval.rerank_api_key:
        out.append(
            "retrieval.rerank = cross-encoder has no API key: the cosine blend is used instead, silently."
        )
    if retrieval.mode == "vector" and retrieval.min_score <= 1 / 3:
        out.append(
            "retrieval.minScore up to .333 rejects nothing in vector mode: 1/(1+distance) is never lower."
        )
    if retrieval.mode == "hybrid" and retrieval.vector_weight == 0 and retrieval.bm25_weight == 0:
        out.append(
            "retrieval.vectorWeight and retrieval.bm25Weight are both 0: meaning counts nothing, "
            "keywords only where they match alone or strongly."
        )
    if decay is not None:
        out += [
            f"retrieval.{key} has no effect for agents: it is used only without a decay engine (CLI search)."
            for key in _CLI_ONLY
            if block[key] != default[key]
        ]
        if not decay.recency_weight + decay.frequency_weight + decay.intrinsic_weight:
            out.append(
                "decay.recencyWeight, decay.frequencyWeight and decay.intrinsicWeight are all 0: "
                "neither age nor use nor importance counts."
            )
    elif retrieval.recency_weight and retrieval.recency_half_life_days:
        out.append("half-lives here are e-folding times: 14 days halve after 9.7, 60 days after 41.6.")
    return tuple(out)
