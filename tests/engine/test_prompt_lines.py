"""What the plugin's auto-recall asks for and packs: its own loop, written out, against ours over many settings."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memtui.engine import RecallRequest, explain, open_engine
from memtui.engine.recall.prompt_lines import fitted, settings_of
from tests.engine.pro_store import NOW_MS, row, write_store

QUESTION = "Which port does the gateway listen on there?"


def plugins_loop(texts: list[str], most: int, budget: int) -> list[tuple[int, str]]:
    """The loop of the plugin's hook: (place, text) of what it selects."""
    selected: list[tuple[int, str]] = []
    used = 0
    for place, text in enumerate(texts):
        if len(selected) >= most or budget - used <= 0:
            break
        if not text:
            continue
        if len(text) <= budget - used:
            selected.append((place, text))
            used += len(text)
            continue
        cut = text[: budget - used].strip()
        if cut:
            selected.append((place, cut))
        break
    return selected


def test_the_texts_alone_fill_the_budget() -> None:
    random = Random(28)
    ends = {"items": 0, "chars": 0, "cut": 0}
    for _ in range(2_000):
        texts = ["ab c " * random.randrange(40) for _ in range(random.randrange(20))]
        texts = [text.strip() for text in texts]
        most, budget = random.randrange(1, 21), random.randrange(1, 2_000)
        ours = fitted(texts, most, budget)
        kept = [(place, part.text) for place, part in enumerate(ours) if not part.gate]
        assert kept == plugins_loop(texts, most, budget), (texts, most, budget)
        ends["items"] += any(part.gate == "prompt_items" for part in ours)
        ends["chars"] += any(part.gate == "prompt_chars" for part in ours)
        ends["cut"] += any(text != texts[place] for place, text in kept)
    assert min(ends.values()) > 100, ends


@pytest.mark.parametrize(
    ("block", "items", "asked"),
    [
        ({}, 3, 6),
        ({"autoRecallMaxItems": 1}, 1, 2),
        ({"autoRecallMaxItems": 8}, 8, 16),
        ({"autoRecallMaxItems": 20, "maxRecallPerTurn": 50}, 20, 20),
        ({"autoRecallMaxItems": 20}, 10, 20),
        ({"autoRecallMaxItems": 5, "maxRecallPerTurn": 2}, 2, 4),
        ({"autoRecallMaxItems": 400, "maxRecallPerTurn": 400}, 20, 20),
        ({"autoRecallMaxItems": "8"}, 8, 16),
        ({"autoRecallMaxItems": 2.9}, 2, 4),
        ({"autoRecallMaxItems": 0}, 3, 6),
        ({"autoRecallMaxItems": True}, 3, 6),
        ({"autoRecallMaxItems": float("inf")}, 3, 6),
        ({"autoRecallMaxItems": "many"}, 3, 6),
    ],
)
def test_the_agent_asks_for_twice_what_its_prompt_holds(
    block: dict[str, Any], items: int, asked: int, tmp_path: Path
) -> None:
    found = settings_of(block)
    assert (found.items, found.asked) == (items, asked)
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    texts = [f"The gateway in hall {n} listens on port {8000 + n}" for n in range(30)]
    rows = [
        row(f"m{n}", text, (1, 0.01 * n), metadata={"state": "confirmed"}) for n, text in enumerate(texts)
    ]
    write_store(store, rows, dims=2)
    retrieval = {"rerank": "none", "hardMinScore": 0, "minScore": 0, "lengthNormAnchor": 0}
    plugins = {
        "slots": {"memory": "memory-lancedb-pro"},
        "entries": {"memory-lancedb-pro": {"enabled": True, "config": {**block, "retrieval": retrieval}}},
    }
    (tmp_path / ".openclaw" / "openclaw.json").write_text(json.dumps({"plugins": plugins}), "utf-8")
    engine = open_engine(None, now=lambda: NOW_MS, environ={"HOME": str(tmp_path)}, cwd=tmp_path)
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/agent", query_vector=[1, 0]))
    assert len(trace.returned) == asked
    prompt = explain.injected(trace)
    reached = [part.id for part in prompt.parts if part.line]
    assert reached == list(trace.returned[: len(reached)])
    assert len(reached) == items or prompt.chars + len(texts[0]) > 600
    assert engine.recall(RecallRequest(QUESTION, recipe="pro/agent", query_vector=[1, 0], limit=7)).returned[
        6:
    ]
