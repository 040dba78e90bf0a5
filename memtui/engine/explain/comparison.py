"""Two recalls side by side: who moved, who left and which stage did it, what differs in the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

from memtui.engine.recall.trace import Candidate, StageSummary


class ScoreAccount(Protocol):
    """What a comparison reads of a recall: a trace that just ran, or one that was read from a file."""

    @property
    def query(self) -> str: ...
    @property
    def recipe(self) -> str: ...
    @property
    def source(self) -> str | None: ...
    @property
    def config(self) -> Mapping[str, Any]: ...
    @property
    def now_ms(self) -> int: ...
    @property
    def limit(self) -> int: ...
    @property
    def filters(self) -> Mapping[str, Any]: ...
    @property
    def table_version(self) -> int: ...
    @property
    def stages(self) -> Sequence[StageSummary]: ...
    @property
    def candidates(self) -> Sequence[Candidate]: ...


@dataclass(frozen=True, slots=True)
class RankLoss:
    """Where a memory was lost: `stage` and `gate` ("not found" when no search met it), its number, the limit."""

    stage: str
    gate: str
    value: float | None
    limit: float | None


@dataclass(frozen=True, slots=True)
class RankFlow:
    """One memory in both lists."""

    id: str
    rank_a: int | None
    rank_b: int | None
    score_a: float | None
    score_b: float | None
    lost_in_a: RankLoss | None
    lost_in_b: RankLoss | None

    @property
    def moved(self) -> int:
        """Places gained from A to B; 0 where it is not in both."""
        return 0 if self.rank_a is None or self.rank_b is None else self.rank_a - self.rank_b


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A parameter that differs, and the stage that reads it (empty: the whole recall)."""

    parameter: str
    a: Any
    b: Any
    stage: str


@dataclass(frozen=True, slots=True)
class StagePair:
    """One stage in both: candidates in and out; None where a recall does not have the stage."""

    name: str
    title: str
    a: tuple[int, int] | None
    b: tuple[int, int] | None
    differs: bool
    """Whether its counts or its settings differ."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one stage did to a memory in A and in B; None where it has no such step."""

    stage: str
    run_a: tuple[float, float] | None
    """The memory's score before the stage and after it."""
    run_b: tuple[float, float] | None
    rank_a: int | None = None
    """Its 1-based place after the stage."""
    rank_b: int | None = None

    @property
    def a(self) -> float | None:
        """What the stage added in A."""
        return None if self.run_a is None else self.run_a[1] - self.run_a[0]

    @property
    def b(self) -> float | None:
        """What it added in B."""
        return None if self.run_b is None else self.run_b[1] - self.run_b[0]

    @property
    def difference(self) -> float:
        """B's effect minus A's."""
        return (self.b or 0.0) - (self.a or 0.0)

    def printed(self, digits: int = 3) -> tuple[float | None, float | None]:
        """Both effects as differences of rounded running scores, which is how an account prints its steps."""
        found = [
            None if run is None else round(run[1], digits) - round(run[0], digits)
            for run in (self.run_a, self.run_b)
        ]
        return found[0], found[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two recalls."""

    flows: tuple[RankFlow, ...]
    """A's list in order, then what is in B only, in its order."""
    overlap: int
    """Memories in both lists."""
    k: int
    """The longer list's length."""
    kendall_tau: float | None
    """Rank agreement of the shared memories, 1 equal to -1 reversed; None with fewer than two."""
    differences: tuple[SettingDifference, ...]
    stages: tuple[StagePair, ...]
    one_scale: bool = True
    """Whether the scores of both are of one scale; else only places can be compared."""

    @property
    def left(self) -> tuple[RankFlow, ...]:
        """The memories that only A returned."""
        return tuple(flow for flow in self.flows if flow.rank_b is None)

    @property
    def entered(self) -> tuple[RankFlow, ...]:
        """The memories that only B returned."""
        return tuple(flow for flow in self.flows if flow.rank_a is None)


def compare(a: ScoreAccount, b: ScoreAccount) -> Comparison:
    """Compare two recalls of the same question, by whatever recipes, settings, clocks or versions."""
    in_a = {candidate.id: candidate for candidate in a.candidates}
    in_b = {candidate.id: candidate for candidate in b.candidates}
    listed_a, listed_b = _listed(in_a), _listed(in_b)
    order = [*listed_a, *(key for key in listed_b if key not in listed_a)]
    shared = [key for key in listed_a if key in listed_b]
    return Comparison(
        flows=tuple(_flow(key, in_a.get(key), in_b.get(key)) for key in order),
        overlap=len(shared),
        k=max(len(listed_a), len(listed_b)),
        kendall_tau=_tau([listed_b.index(key) for key in shared]),
        differences=differences(a, b),
        stages=_stages(a, b),
        one_scale=scale_of(a.recipe) == scale_of(b.recipe),
    )


def scale_of(recipe: str) -> str:
    """What a recipe's scores are: "share" of 1 (the plugin, the built-in program), else the recipe's own sum."""
    from memtui.engine.recall.recipes.registry import all_recipes

    own = {recipe.name for recipe in all_recipes() if recipe.own_scale}
    return recipe if recipe in own else "share"


def effects(a: ScoreAccount, b: ScoreAccount, memory_id: str) -> tuple[Effect, ...]:
    """What each stage did to one memory's score in both, in the order of the stages; the search's own score first."""
    left, right = _steps(a, memory_id), _steps(b, memory_id)
    names = list(dict.fromkeys([*_names(a), *_names(b)]))
    none = (None, None)
    return tuple(
        Effect(
            name,
            left.get(name, none)[0],
            right.get(name, none)[0],
            left.get(name, none)[1],
            right.get(name, none)[1],
        )
        for name in names
        if name in left or name in right
    )


def differences(a: ScoreAccount, b: ScoreAccount) -> tuple[SettingDifference, ...]:
    """Every parameter that is not the same, with the stage that reads it."""
    left, right = _parameters(a), _parameters(b)
    return tuple(
        SettingDifference(name, left.get(name), right.get(name), STAGE_OF.get(name.split(".")[-1], ""))
        if not name.startswith("decay.")
        else SettingDifference(name, left.get(name), right.get(name), "decay_boost")
        for name in dict.fromkeys([*left, *right])
        if left.get(name) != right.get(name)
    )


STAGE_OF: Mapping[str, str] = {
    "vectorWeight": "fused",
    "bm25Weight": "fused",
    "minScore": "rerank_input",
    "candidatePoolSize": "vector_ranked",
    "disableNativeCosine": "vector_ranked",
    "queryExpansion": "bm25_ranked",
    "rerank": "reranked",
    "rerankModel": "reranked",
    "rerankEndpoint": "reranked",
    "rerankProvider": "reranked",
    "recencyWeight": "recency_boost",
    "recencyHalfLifeDays": "recency_boost",
    "lengthNormAnchor": "length_normalization",
    "timeDecayHalfLifeDays": "time_decay",
    "reinforcementFactor": "time_decay",
    "maxHalfLifeMultiplier": "time_decay",
    "hardMinScore": "hard_cutoff",
    "filterNoise": "noise_filter",
    "limit": "limit",
}
"""Setting of the plugin to the stage that reads it first."""


def _parameters(account: ScoreAccount) -> dict[str, Any]:
    out: dict[str, Any] = {
        "recipe": account.recipe,
        "source": account.source,
        "limit": account.limit,
        "now_ms": account.now_ms,
        "table_version": account.table_version,
        **account.filters,
    }
    for block, values in account.config.items():
        if isinstance(values, Mapping):
            out |= {f"{block}.{key}": value for key, value in values.items()}
        else:
            out[block] = values
    return out


def _listed(candidates: Mapping[str, Candidate]) -> list[str]:
    ranked = [c for c in candidates.values() if c.rank is not None]
    return [c.id for c in sorted(ranked, key=lambda c: c.rank or 0)]


def _flow(key: str, a: Candidate | None, b: Candidate | None) -> RankFlow:
    return RankFlow(
        key,
        a.rank if a else None,
        b.rank if b else None,
        a.score if a else None,
        b.score if b else None,
        _loss(a),
        _loss(b),
    )


def _loss(candidate: Candidate | None) -> RankLoss | None:
    if candidate is None:
        return RankLoss("", "not found", None, None)
    if candidate.rank is not None:
        return None
    return RankLoss(candidate.disposition, candidate.reason, candidate.score, candidate.limit)


def _tau(order: Sequence[int]) -> float | None:
    pairs = list(combinations(order, 2))
    if not pairs:
        return None
    return sum(1 if x < y else -1 for x, y in pairs) / len(pairs)


def _names(account: ScoreAccount) -> list[str]:
    return [stage.name for stage in account.stages]


def _steps(account: ScoreAccount, memory_id: str) -> dict[str, tuple[tuple[float, float], int | None]]:
    """Stage to the score before and after it (0 before the first one) and the place after it."""
    candidate = next((c for c in account.candidates if c.id == memory_id), None)
    return {
        step.stage: ((step.before or 0.0, step.after), step.rank_after)
        for step in (candidate.steps if candidate else ())
        if step.after is not None
    }


def _stages(a: ScoreAccount, b: ScoreAccount) -> tuple[StagePair, ...]:
    left = {stage.name: stage for stage in a.stages}
    right = {stage.name: stage for stage in b.stages}
    changed = {difference.stage for difference in differences(a, b)}
    pairs = []
    for name in dict.fromkeys([*left, *right]):
        one, other = left.get(name), right.get(name)
        counts = [(stage.n_in, stage.n_out) if stage else None for stage in (one, other)]
        title = (one or other).title if one or other else name  # type: ignore[union-attr]
        pairs.append(StagePair(name, title, counts[0], counts[1], counts[0] != counts[1] or name in changed))
    return tuple(pairs)
