"""A small battery of recalls that reaches every constant of every stage: real tables, every answer remembered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from memtui.engine import RecallRequest, Trace
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache, RerankAnswer
from memtui.engine.recall.request import UNSET
from memtui.engine.recall.store_search import SearchResult
from memtui.engine.store.open import open_store
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store
from tests.engine.tables import write_table

QUESTION = "gateway port of the staging cluster"
VECTOR = [1.0, 0.0, 0.0]


@dataclass
class Case:
    """One recall; everything that it asked is remembered in `outside`."""

    name: str
    bench: RecallContext
    outside: IoCache
    request: RecallRequest
    fresh: bool = False
    """Whether to ask the table anew each time: for constants of the searches themselves."""

    def trace(self) -> Trace:
        outside = IoCache(self.outside.pin) if self.fresh else self.outside
        return recall(self.request, self.bench, outside=outside)


def unit(cosine: float, turn: float = 0.0) -> tuple[float, float, float]:
    """A unit vector with this cosine to the question, turned about it."""
    rest = math.sqrt(1 - cosine * cosine)
    return cosine, rest * math.cos(turn), rest * math.sin(turn)


def rows() -> list[dict[str, Any]]:
    """Every kind of memory that a stage treats differently."""
    day = DAY_MS
    core = {"tier": "core", "access_count": 12, "last_accessed_at": NOW_MS - 9 * day, "confidence": 0.9}
    used = {"tier": "peripheral", "accessCount": 4, "lastAccessedAt": NOW_MS - 5 * day}
    worn = {"access_count": 20_000, "accessCount": 20_000, "lastAccessedAt": NOW_MS - 20_000 * day}
    fast = {"memory_temporal_type": "dynamic", "access_count": 2, "last_accessed_at": NOW_MS - 3 * day}
    at = {"last_accessed_at": NOW_MS - 4 * day, "lastAccessedAt": NOW_MS - 4 * day}
    once = {"access_count": 1, "accessCount": 1, **at}
    never = {"access_count": 0, **at}
    odd = {"accessCount": "many", "lastAccessedAt": "never", "access_count": -3}
    ahead = {"accessCount": 3, "lastAccessedAt": NOW_MS + 5 * day, "tier": "core"}
    made = [
        row("core", "The gateway port of the staging cluster is 8443", unit(0.92), age=40, metadata=core),
        row("twin", "Staging gateway listens on 8443", unit(0.915, 0.1), age=41, importance=0.3),
        row("kin", "A cluster has one port", unit(0.8, 0.8), age=7, metadata=used),
        row("long", "gateway " + "staging words " * 90, unit(0.75, 2), age=12, importance=0.5),
        row("longer", "port " + "of a memory that goes on " * 60, unit(0.7, 3), age=3, importance=0.9),
        row("dynamic", "Today the cluster is slow", unit(0.65, 4), age=20, metadata=fast),
        row("worn", "The port of the old gateway", unit(0.6, 5), age=15, metadata=worn),
        row("future", "Tomorrow the port moves", unit(0.55, 1.5), age=-30, metadata={"valid_from": 1}),
        row("corpus:9", "gateway " * 200, unit(0.5, 2.5), age=300),
        row("faint", "Nothing of the kind", unit(0.3, 0.4), age=200, metadata={"tier": "peripheral"}),
        row("away", "A gateway port, but the other way round", unit(-0.95), age=1),
        row("hi", "Hint: the gateway port is in the wiki", unit(0.85, 2.2)),
        row("tiny", "port", unit(0.4, 1)),
        row("five", "ports", unit(0.41, 5.5)),
        row("abstract", "频道一", (0, 0, 1), metadata={"l0_abstract": "网关配置在哪里都可以找到的"}),
        row("overview", "频道二", (0, 1, 1), metadata={"l1_overview": "网关配置在哪里都可以找到的"}),
        row("content", "频道三", (0, 1, 0), metadata={"l2_content": "网关配置在哪里都可以找到的"}),
        row("whole", "网关配置在哪里都可以找到的,在这里", (0, -1, 0)),
        row("once", "The gateway was asked once", unit(0.58, 0.2), age=50, metadata=once),
        row("never", "The gateway was never asked", unit(0.57, 0.9), age=50, metadata=never),
        row("odd", "The gateway in odd words", unit(0.56, 1.9), age=50, metadata=odd),
        row("ahead", "The gateway of tomorrow", unit(0.54, 2.9), age=50, metadata=ahead),
        row("timeless", "The gateway at no time", unit(0.53, 3.9), timestamp=0),
        row("zero", "gateway port cluster staging", (0, 0, 0)),
        row("expired", "gateway port cluster", unit(0.83, 1.2), metadata={"valid_until": NOW_MS - 5}),
        row("tag", "proj:aif gateway port 1", unit(0.2, 3)),
    ]
    return made + [
        row(f"more{n}", f"port {n} of a gateway in a cluster", unit(0.1 - n / 60, n), age=n)
        for n in range(60)
    ]


def configured(base: Case, name: str, *, fresh: bool = False, **more: Any) -> Case:
    """The same store and question, asked in another way."""
    fields = {"query": QUESTION, "recipe": "pro/tool", "source": None, "query_vector": VECTOR, "limit": 5}
    given = {**fields, **more}
    case = Case(name, base.bench, IoCache(base.outside.pin), RecallRequest(**given), fresh)
    case.trace()
    return case


def retrieval(**keys: Any) -> dict[str, Any]:
    return {"retrieval": keys}


def battery(folder: Path, reranker: str) -> list[Case]:
    """All cases; `reranker` is the address of the loopback server."""
    store = open_store(write_store(folder / "pro", rows(), dims=3))
    bench = RecallContext(store, NOW_MS, None)
    base = Case("base", bench, bench.outside(), RecallRequest(QUESTION))

    def make(name: str, *, fresh: bool = False, **more: Any) -> Case:
        return configured(base, name, fresh=fresh, **more)

    keyed = {"rerankApiKey": "k", "minScore": 0, "hardMinScore": 0}
    open_ = {"minScore": 0, "hardMinScore": 0}
    ones = dict.fromkeys(
        ("lengthNormAnchor", "recencyHalfLifeDays", "recencyWeight", "timeDecayHalfLifeDays"), 1
    )
    shrinking = {"maxHalfLifeMultiplier": 0.5}
    boundless = {"importanceModulation": 1e4, "betaWorking": 800.0}
    lanes = {
        "vector": [["away", 0.34], ["kin", 0.5], ["five", 0.6], ["core", 0.55], ["twin", 0.5]],
        "bm25": [["kin", 0.76], ["five", 0.61], ["long", 0.75], ["core", 0.6], ["twin", 0.55], ["hi", 0.77]],
    }
    edges = [f"more{n}" for n in range(20)]
    marks = (0.755, 0.755, 0.745, 0.745, 0.605, 0.605, 0.595, 0.595, 0.4, 0.4)
    at_the_edge = {
        "vector": [[key, 0.34] for key in edges],
        "bm25": [[key, marks[n % 10]] for n, key in enumerate(edges)],
    }
    half = retrieval(rerankEndpoint=f"{reranker}/partial/", **keyed)
    cli = {"recipe": "pro/cli", "limit": 20}
    cases = [
        make("edges", limit=20, lanes=at_the_edge, config=half),
        make("edges, article", recipe="pro/article", limit=20, lanes=at_the_edge, config=half),
        make("no weight", limit=20, config=retrieval(vectorWeight=0, bm25Weight=0, **open_)),
        make("one day, one unit", **cli, config=retrieval(**ones, **open_)),
        make("all off", **cli, config=retrieval(**dict.fromkeys(ones, 0), **open_)),
        make("recency without weight", **cli, config=retrieval(recencyWeight=0, **open_)),
        make("recency without time", **cli, config=retrieval(recencyHalfLifeDays=0, **open_)),
        make("no reinforcement", **cli, config=retrieval(reinforcementFactor=0, **shrinking, **open_)),
        make("shrinking", **cli, config=retrieval(reinforcementFactor=0.9, **shrinking, **open_)),
        make("heavy decay", limit=20, config={**retrieval(**open_), "decay": {"recencyWeight": 2.0}}),
        make("no limit", limit=0, config=retrieval(**open_)),
        make("an endless limit", limit=math.inf, config=retrieval(**open_)),
        make("agent", recipe="pro/agent", source="auto-recall", limit=7),
        make("guarded", recipe="pro/agent", source=UNSET, query="gateway port of", limit=7),
        make("skipped", query="gateway port", source=UNSET, recipe="pro/agent"),
        make("cli", recipe="pro/cli", limit=20, fresh=True),
        make("low thresholds", limit=20, config=retrieval(**open_)),
        make("small pool", limit=2, config=retrieval(candidatePoolSize=1)),
        make("great pool", limit=60, config=retrieval(candidatePoolSize=200)),
        make("no rerank", limit=20, config=retrieval(rerank="none", minScore=0.5)),
        make("vector", limit=20, config=retrieval(mode="vector", minScore=0.45)),
        make("vector, no decay", limit=20, config={**retrieval(mode="vector"), "decay": None}),
        make("tag", query="proj:aif gateway", limit=20),
        make("article", recipe="pro/article", limit=20),
        make("exact", limit=20, config=retrieval(disableNativeCosine=True, **open_)),
        make("saturated", limit=20, config=retrieval(vectorWeight=1, bm25Weight=1, **open_)),
        make("boundless weights", limit=20, config=retrieval(vectorWeight=1.7e308, bm25Weight=1.7e308)),
        make("boundless decay", limit=20, config={**retrieval(**open_), "decay": boundless}),
        make("recorded", limit=20, lanes=lanes, config=retrieval(**open_)),
        make("reranked", limit=20, lanes=lanes, config=retrieval(rerankEndpoint=f"{reranker}/r", **keyed)),
        make("in part", limit=20, lanes=lanes, config=half),
        make(
            "few documents", limit=4, config=retrieval(rerankEndpoint=reranker, candidatePoolSize=1, **keyed)
        ),
        make("substring", fresh=True, query="网关配置", limit=20, config=retrieval(**open_)),
        make(
            "long substring",
            fresh=True,
            query="关配置在哪里都可以找到的",
            limit=20,
            config=retrieval(**open_),
        ),
        make(
            "ages",
            recipe="pro/cli",
            limit=20,
            config={
                **retrieval(recencyWeight=0.5, timeDecayHalfLifeDays=0.03, recencyHalfLifeDays=50, **open_),
                "decay": None,
            },
        ),
    ]
    odd = _odd_answer(make("odd answer", limit=20, lanes=lanes, config=half))
    return [*cases, odd, _without_evidence(base), _builtin(folder)]


def _odd_answer(case: Case) -> Case:
    """A reranker that names documents that were not sent, and one of them twice."""
    told: dict[Any, Any] = case.outside._answers.by_key
    for key in [key for key in told if key[0] == "rerank"]:
        told[key] = RerankAnswer(((-1, 0.9), (0, 0.5), (2, 0.4), (0, 0.7), (99, 0.2)))
    return case


def _without_evidence(base: Case) -> Case:
    """Keyword hits whose raw value is not positive, which an engine may return for a word in every row."""
    case = configured(base, "no evidence", limit=20, config=retrieval(minScore=0, hardMinScore=0))
    told: dict[Any, Any] = case.outside._answers.by_key
    for key, answer in list(told.items()):
        if key[0] == "words":
            told[key] = SearchResult(
                answer.rows, [-0.5 * (n % 2) for n in range(len(answer.numbers))], answer.asked
            )
    return case


def _builtin(folder: Path) -> Case:
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), 3)),
            ("importance", pa.float64()),
            ("category", pa.string()),
            ("createdAt", pa.float64()),
            ("agentId", pa.string()),
        ]
    )
    made = [
        {
            "id": f"{n:08x}-0000-4000-8000-000000000000",
            "text": f"memory {n}",
            "vector": [1.0 + n / 4, 0.1 * n, 0.0],
            "importance": 0.5,
            "category": "fact",
            "createdAt": float(NOW_MS),
            "agentId": "main",
        }
        for n in range(40)
    ]
    write_table(folder / "builtin", made, schema)
    bench = RecallContext(open_store(folder / "builtin"), NOW_MS, None)
    request = RecallRequest("memory", recipe="memory-lancedb", limit=30, query_vector=VECTOR)
    case = Case("builtin", bench, bench.outside(), request)
    case.trace()
    return case


def small_changes(value: Any) -> list[Any]:
    """`value` a little larger and a little smaller; every number of a tuple in turn."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value + 1, value - 1] if abs(value) < 1000 else [round(value * 1.01), round(value * 0.99)]
    if value == 0.0 and isinstance(value, float):
        return [0.01, -0.01]
    if isinstance(value, float):
        return [value * 1.01 + 1e-6, value * 0.99 - 1e-6]
    if isinstance(value, tuple):
        return [
            (*value[:at], changed, *value[at + 1 :])
            for at, item in enumerate(value)
            for changed in small_changes(item)
        ]
    return []
