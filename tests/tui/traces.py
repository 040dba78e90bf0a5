"""Traces as the screen sees them, made by hand: numbers of a recorded recall, and random ones that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from memtui.engine import Memory
from memtui.engine.recall import Candidate, Proof, StageSummary, Step
from tests.conftest import NOW_MS

DAY = 86_400_000


PROVED = Proof(True, 1e-16, 42)


@dataclass(frozen=True)
class MadeTrace:
    """What the painters read of a trace."""

    stages: tuple[StageSummary, ...]
    candidates: tuple[Candidate, ...]
    memories: Mapping[str, Memory] = field(default_factory=dict)
    operations: tuple[StageSummary, ...] = ()
    query: str = "deploy window friday"
    recipe: str = "pro/agent"
    mode: str = "hybrid"
    now_ms: int = NOW_MS
    limit: int = 6
    config: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    proof: Proof = PROVED
    total_ms: float = 71.0
    bm25_query: str | None = "deploy window friday"
    neighbors: Mapping[str, Any] = field(default_factory=dict)
    asker: Any = None
    words_alone: Any = None
    failure: Any = None
    plan: Any = None
    confidence: Any = None

    @property
    def results(self) -> tuple[Candidate, ...]:
        """The returned ones."""
        return tuple(c for c in self.candidates if c.rank is not None)

    def as_json(self, *, explain: bool) -> dict[str, Any]:
        """Enough to be copied."""
        return {"query": self.query, "explain": explain}


STAGES = (
    StageSummary("vector_ranked", "vector", "search", 267, 20, 14.0, params={"via": "native"}),
    StageSummary("bm25_ranked", "bm25", "search", 267, 9, 12.0, params={"via": "fts"}),
    StageSummary("fused", "fusion", "score", 23, 23, 0.2),
    StageSummary(
        "rerank_input",
        "min score, window",
        "filter",
        23,
        12,
        0.1,
        {"rerank_window": 11},
        "",
        {"minScore": 0.3, "window": 12},
    ),
    StageSummary("reranked", "rerank", "score", 12, 12, 31.0),
    StageSummary("length_normalization", "length", "score", 12, 12, 0.1),
    StageSummary("decay_boost", "decay", "score", 12, 12, 0.2),
    StageSummary(
        "hard_cutoff", "hard cutoff", "filter", 12, 7, 0.0, {"hard_cutoff": 5}, "", {"hardMinScore": 0.35}
    ),
    StageSummary("limit", "limit", "filter", 7, 6, 0.0, {"limit": 1}, "", {"limit": 6}),
)
EMBED = StageSummary("embed_query", "embed", "operation", 1, 1, 9.0)


def memory(id: str, text: str = "Deploy window is Tue and Thu, 10 to 15 CET", **more: Any) -> Memory:
    """A memory that a trace may name."""
    values: dict[str, Any] = {
        "scope": "agent:main",
        "category": "decision",
        "tier": "core",
        "importance": 0.9,
        "access_count": 33,
        "timestamp_ms": NOW_MS - 40 * DAY,
        "last_accessed_ms": NOW_MS - 3 * 3_600_000,
    } | more
    return Memory(id=id, text=text, raw_text=text, dialect="pro", **values)


def recorded(id: str = "m-1") -> Candidate:
    """Recorded recall a002, first result: both lanes, reranked, a little decay."""
    v, b = 0.744907382, 0.683104
    fused = 0.7 * v + 0.3 * b
    reranked = max(0.5 * fused, 0.6 * 0.94 + 0.4 * fused)
    final = reranked * 0.97
    return Candidate(
        id=id,
        disposition="returned",
        reason="",
        score=final,
        limit=None,
        rank=1,
        sources={
            "vector": {"score": v, "rank": 3},
            "bm25": {"score": b, "rank": 1},
            "fused": {"score": fused, "rank": 3},
            "reranked": {"score": 0.94, "rank": 1},
        },
        steps=(
            Step("vector_ranked", None, v, None, 3, "inverse_distance", {"distance": 1 / v - 1}),
            Step("bm25_ranked", None, b, None, 1, "bm25_logistic", {"raw_bm25": 3.84}),
            Step(
                "fused",
                None,
                fused,
                None,
                3,
                "weighted_sum",
                {"vector": v, "bm25": b, "vector_weight": 0.7, "bm25_weight": 0.3},
            ),
            Step("rerank_input", fused, fused, 3, 3, "unchanged"),
            Step("reranked", fused, reranked, 3, 1, "rerank_blend", {"reranked": 0.94, "keep": 0.5}),
            Step("length_normalization", reranked, reranked, 1, 1, "length", {"length": 42.0, "anchor": 500}),
            Step(
                "decay_boost",
                reranked,
                final,
                1,
                1,
                "decay_boost",
                {"multiplier": 0.97, "tier": "core", "recency": 0.98},
            ),
            Step("hard_cutoff", final, final, 1, 1, "unchanged"),
            Step("limit", final, final, 1, 1, "unchanged"),
        ),
    )


def missed(id: str = "m-2") -> Candidate:
    """A candidate that the hard cutoff stopped."""
    return Candidate(
        id=id,
        disposition="hard_cutoff",
        reason="hard_cutoff",
        score=0.331,
        limit=0.35,
        rank=None,
        sources={"bm25": {"score": 0.512, "rank": 7}, "fused": {"score": 0.512, "rank": 9}},
        steps=(
            Step("bm25_ranked", None, 0.512, None, 7, "bm25_logistic", {"raw_bm25": 0.24}),
            Step("fused", None, 0.512, None, 9, "keyword_only", {"bm25": 0.512}),
            Step("reranked", 0.512, 0.4096, 9, 11, "rerank_unreturned", {"keep": 0.8}),
            Step(
                "decay_boost",
                0.4096,
                0.331,
                11,
                12,
                "decay_boost",
                {"multiplier": 0.808, "tier": "working", "recency": 0.4},
            ),
            Step(
                "hard_cutoff",
                0.331,
                None,
                12,
                None,
                "dropped",
                {"gate": "hard_cutoff", "value": 0.331, "limit": 0.35},
            ),
        ),
    )


def made(**changes: Any) -> MadeTrace:
    """One result and one miss."""
    texts = {"m-1": memory("m-1"), "m-2": memory("m-2", "Deploy keys rotate monthly", tier="working")}
    values: dict[str, Any] = {
        "stages": STAGES,
        "operations": (EMBED,),
        "candidates": (recorded(), missed()),
        "memories": texts,
    } | changes
    return MadeTrace(**values)


_NAMES = (
    "reranked",
    "recency_boost",
    "importance_weight",
    "length_normalization",
    "time_decay",
    "decay_boost",
)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """A candidate whose steps follow each other; scores anywhere in 0 to 1."""
    score = draw(st.floats(0, 1))
    steps = [Step("fused", None, score, None, draw(st.integers(1, 40)), "keyword_only", {"bm25": score})]
    for name in draw(st.lists(st.sampled_from(_NAMES), unique=True)):
        after = draw(st.one_of(st.just(score), st.floats(0, 1)))
        steps.append(
            Step(name, score, after, draw(st.integers(1, 40)), draw(st.integers(1, 40)), "importance", {})
        )
        score = after
    return Candidate("m-1", "returned", "", score, None, 1, {}, tuple(steps))
