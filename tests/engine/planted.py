"""Generated stores in which exactly one gate is broken for one memory, the target."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest
from tests.engine.pro_store import NOW_MS, row, write_store

DIMS = 24
TARGET = "target"
QUESTION = "which port does the staging gateway use"
WORDS = [
    "invoice",
    "parcel",
    "label",
    "printer",
    "warehouse",
    "driver",
    "route",
    "depot",
    "scanner",
    "pallet",
    "customs",
    "duty",
    "contract",
    "harbour",
    "ferry",
    "crane",
    "ledger",
    "backup",
    "rota",
    "holiday",
    "onboarding",
    "badge",
    "canteen",
    "lift",
    "window",
    "heating",
    "roof",
    "garden",
    "bicycle",
]


@dataclass
class World:
    """The rows of one store and the question; a plant changes both."""

    rng: random.Random
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)

    def put(self, key: str, text: str, vector: Any, **more: Any) -> None:
        self.rows[key] = row(key, text, vector, **{"age": self.rng.uniform(0, 2), **more})

    def change(self, **more: Any) -> None:
        """Change the target; its vector stays unless given."""
        old = self.rows[TARGET]
        given = {"text": old["text"], "vector": old["vector"], **more}
        self.put(TARGET, given.pop("text"), given.pop("vector"), **given)

    def write(self, folder: Path, **changed: Any) -> Path:
        rows = {key: {**value, **(changed if key == TARGET else {})} for key, value in self.rows.items()}
        order = sorted(rows)
        random.Random(len(order)).shuffle(order)
        return write_store(folder, [rows[key] for key in order], dims=DIMS)

    def ask(self, **more: Any) -> RecallRequest:
        fields: dict[str, Any] = {
            "query": QUESTION,
            "recipe": "pro/tool",
            "limit": 5,
            "query_vector": direction(0).tolist(),
            "scopes": ["global"],
        }
        return RecallRequest(**{**fields, **self.request, **more})


def direction(axis: int) -> np.ndarray[Any, Any]:
    """The unit vector of one axis; axis 0 is the question's."""
    vector = np.zeros(DIMS)
    vector[axis] = 1.0
    return vector


def toward(cosine: float, axis: int) -> list[float]:
    """A unit vector with this cosine to the question, the rest along `axis`."""
    return (cosine * direction(0) + math.sqrt(1 - cosine * cosine) * direction(axis)).tolist()


def sentence(rng: random.Random) -> str:
    return " ".join(rng.sample(WORDS, 7))


def healthy(seed: int) -> World:
    """A store in which the target is the best answer: near, with shared words, fresh, active."""
    world = World(random.Random(seed))
    rng = world.rng
    for n in range(rng.randint(25, 40)):
        cosine = rng.uniform(-0.4, 0.25)
        world.put(f"filler{n:02d}", sentence(rng), toward(cosine, 2 + n % (DIMS - 2)))
    text = f"The staging gateway listens on port {rng.randint(1024, 65535)} {rng.choice(WORDS)}"
    world.put(TARGET, text, toward(rng.uniform(0.8, 0.95), 1))
    world.request["recipe"] = rng.choice(["pro/agent", "pro/tool", "pro/cli"])
    return world


def unknown_id(world: World) -> None:
    del world.rows[TARGET]


def scope(world: World) -> None:
    world.change(scope=world.rng.choice(["agent:ops", "project:atlas", "user:mira"]))


def inactive(world: World) -> None:
    start = NOW_MS - world.rng.randint(2, 90) * 86_400_000
    ended = NOW_MS - world.rng.randint(1, 86_400_000)
    world.change(metadata={"valid_from": start, "invalidated_at": ended, "superseded_by": "newer"})


def expired(world: World) -> None:
    world.change(metadata={"valid_until": NOW_MS - world.rng.randint(0, 9) * 3_600_000})


def adaptive_gate(world: World) -> None:
    world.request["recipe"] = "pro/agent"
    world.request["query"] = world.rng.choice(
        ["gateway port", "staging port", "/port staging gateway", "git gateway port", "ok"]
    )


def candidate_pool(world: World) -> None:
    """No word in common, and more nearer memories than the pool takes."""
    world.change(text=f"{sentence(world.rng)} zx81 spectrum", vector=toward(0.15, 1))
    for n in range(22):
        world.put(f"near{n:02d}", sentence(world.rng), toward(world.rng.uniform(0.2, 0.4), 2 + n % 20))


def category(world: World) -> None:
    world.request["category"] = world.rng.choice(["preference", "entity", "decision"])


def state(world: World) -> None:
    world.request["recipe"] = "pro/agent"
    world.change(
        metadata=world.rng.choice(
            [
                {"state": "archived"},
                {"state": "pending"},
                {"memory_layer": "reflection"},
                {"source": "session-summary"},
            ]
        )
    )


def suppressed(world: World) -> None:
    world.request["recipe"] = "pro/agent"
    world.change(metadata={"suppressed_until_ms": NOW_MS + world.rng.randint(1, 30) * 60_000})


def min_score(world: World) -> None:
    world.change(text=sentence(world.rng), vector=toward(world.rng.uniform(0.6, 0.8), 1))
    world.request["config"] = {"retrieval": {"minScore": world.rng.uniform(0.62, 0.9), "hardMinScore": 0.1}}


def rerank_window(world: World) -> None:
    """Keyword hits far from the question fill the window; the reranker would have put the target first."""
    world.change(text=sentence(world.rng), vector=toward(0.95, 1))
    for n in range(6):
        text = f"staging gateway port use {world.rng.choice(WORDS)}"
        world.put(f"wordy{n}", text, toward(-0.5 - n / 100, 2 + 2 * n))
    world.request["limit"] = 2


def rerank(world: World) -> None:
    """The reranker's service calls the target irrelevant; others that are worse by fusion pass it."""
    world.change(text=f"{sentence(world.rng)} listens")
    for n in range(5):
        text = f"staging notes of the {world.rng.choice(WORDS)} number {n}"
        world.put(f"liked{n}", text, toward(0.6 - n / 50, 2 + 2 * n))
    world.request["limit"] = 6
    world.request["config"] = {"retrieval": {"rerankEndpoint": "LOOPBACK", "rerankApiKey": "k"}}


def rerank_by_cosine(world: World) -> None:
    """Found by its words only, far from the question: the cosine blend takes it down."""
    world.change(text="staging gateway port use", vector=toward(-0.8, 1))
    for n in range(4):
        world.put(f"meant{n}", sentence(world.rng), toward(0.7 - n / 30, 2 + 2 * n))
    world.request["limit"] = 3


def hard_cutoff(world: World) -> None:
    world.request["recipe"] = "pro/tool"
    world.request["config"] = {"retrieval": {"hardMinScore": world.rng.uniform(0.93, 0.99)}}


def hard_cutoff_by_length(world: World) -> None:
    text = f"The staging gateway uses a port {' '.join(sentence(world.rng) for _ in range(200))}"
    world.change(text=text)


def noise_filter(world: World) -> None:
    start = world.rng.choice(
        ["Hint:", "History:", "Highly available:", "Hello world:", "heartbeat interval:"]
    )
    world.change(text=f"{start} the staging gateway uses port {world.rng.randint(1024, 9999)}")


def mmr_diversity(world: World) -> None:
    """A better memory says nearly the same; three others that are worse take the places."""
    world.change(text="The staging gateway uses its port", vector=toward(0.9, 1), age=0)
    world.put("twin", "The staging gateway port of use", toward(0.93, 1), age=0)
    for n in range(4):
        world.put(f"other{n}", f"{sentence(world.rng)} {n}", toward(0.7 - n / 50, 3 + 2 * n))
    world.request["limit"] = 3


def limit(world: World) -> None:
    """Better memories, all different from each other, than may come back."""
    world.change(vector=toward(0.55, 1))
    wanted = world.rng.randint(2, 5)
    for n in range(wanted):
        text = f"The staging gateway port in use {world.rng.choice(WORDS)}"
        world.put(f"better{n}", text, toward(0.75 + n / 50, 2 + 2 * n))
    world.request["limit"] = wanted


PLANTS: dict[str, tuple[Callable[[World], None], ...]] = {
    "unknown_id": (unknown_id,),
    "scope": (scope,),
    "inactive": (inactive,),
    "expired": (expired,),
    "adaptive_gate": (adaptive_gate,),
    "candidate_pool": (candidate_pool,),
    "category": (category,),
    "state": (state,),
    "suppressed": (suppressed,),
    "min_score": (min_score,),
    "rerank_window": (rerank_window,),
    "rerank": (rerank, rerank_by_cosine),
    "hard_cutoff": (hard_cutoff, hard_cutoff_by_length),
    "noise_filter": (noise_filter,),
    "mmr_diversity": (mmr_diversity,),
    "limit": (limit,),
}
"""Gate to the ways in which it is broken, used in turn."""


def planted(gate: str, seed: int) -> World:
    """The store number `seed` in which only `gate` is broken."""
    world = healthy(seed)
    ways = PLANTS[gate]
    ways[seed % len(ways)](world)
    return world
