"""What the agent would see: rendering, cuts and budgets, to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import RecallRequest, Trace
from memtui.engine.core.javascript import utf16_len
from memtui.engine.engine import Engine
from memtui.engine.explain import PromptBlockSettings
from memtui.engine.explain.prompt_block import injected
from memtui.engine.recall.prompt_block import estimated_tokens
from memtui.engine.store.open import open_store
from tests.engine.pro_store import NOW_MS, row, write_store

DAY = "2025-06-15"
"""NOW_MS as a date."""
LONG = "Zebra printers work. " * 30
ROWS = [
    row("plain", "The label printer\nneeds <b>version</b> 4 > 3  now", (0.95, 0.312), metadata={"source": "manual"}),
    row("long", LONG.strip(), (0.9, -0.436), scope="project:mango", age=2),
    row("core", "Label printers are in the warehouse", (0.8, 0.6), metadata={"tier": "core"}, category="preference"),
    row("short", "One more printer", (0.7, -0.714), metadata={"l0_abstract": "Printer four"}),
    row("gone", "An archived printer", (0.6, 0.8), metadata={"state": "archived"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = write_store(tmp_path_factory.mktemp("injected") / "store", ROWS, dims=2)
    engine = Engine(open_store(folder), now=lambda: NOW_MS)
    lanes = {
        "vector": [["plain", 0.95], ["long", 0.9], ["core", 0.85], ["short", 0.8], ["gone", 0.75]],
        "bm25": [],
    }
    config = {"retrieval": {"rerank": "none", "lengthNormAnchor": 0, "hardMinScore": 0}}
    return engine.recall(
        RecallRequest("what about the label printer", recipe="pro/agent", lanes=lanes, config=config)
    )


def test_lines_are_prefixed_cleaned_and_cut(trace: Trace) -> None:
    found = injected(trace)
    lines = found.block.splitlines()
    assert lines[:2] == ["<relevant-memories>", "<mode:full>"]
    assert lines[2].startswith("[UNTRUSTED DATA")
    assert lines[-2:] == ["[END UNTRUSTED DATA]", "</relevant-memories>"]
    first, second, third = lines[3:6]
    assert first == f"- [W][cases:global] {DAY} (manual) The label printer\\nneeds version 4 ＞ 3 now"
    assert second.startswith("- [W][cases:project:mango] 2025-06-13 (legacy) Zebra printers work. Zebra")
    assert len(second) == len("- [W][cases:project:mango] 2025-06-13 (legacy) ") + 180
    assert third == f"- [C][preferences:global] {DAY} (legacy) Label printers are in the warehouse"
    texts = [
        "The label printer\\nneeds version 4 ＞ 3 now",
        LONG[:180].strip(),
        "Label printers are in the warehouse",
    ]
    assert [line[-len(text) :] for line, text in zip(lines[3:6], texts, strict=True)] == texts
    assert found.chars == sum(map(len, texts)), "the plugin counts the texts, neither prefixes nor line ends"
    cut = {part.id: (part.cut, part.left_out) for part in found.parts}
    assert cut["plain"] == (0, "")
    assert cut["long"] == (len(LONG.strip()) - 180, "")
    assert cut["short"][1] == "enough items"
    assert "gone" not in cut  # governance held it back before


def test_the_first_line_that_does_not_fit_is_cut_and_ends_the_list(trace: Trace) -> None:
    found = injected(trace, PromptBlockSettings(max_chars=150, max_items=4))
    lines = [part.line for part in found.parts if part.line]
    assert len(lines) == 2
    first = "The label printer\\nneeds version 4 ＞ 3 now"
    kept = LONG[: 150 - len(first)].strip()
    assert lines[1] == f"- [W][cases:project:mango] 2025-06-13 (legacy) {kept}"
    assert found.chars == len(first) + len(kept)
    assert [part.left_out for part in found.parts if not part.line] == ["the budget is used up"] * 2


def test_summary_and_adaptive_modes_have_budgets_of_their_own(trace: Trace) -> None:
    summary = {part.id: part.line for part in injected(trace, PromptBlockSettings(mode="summary")).parts}
    prefix = "- [W][cases:project:mango] 2025-06-13 (legacy) "
    assert len(summary["long"]) == len(prefix) + 80
    full = PromptBlockSettings(mode="adaptive", max_chars=5000, per_item_chars=400)
    assert injected(trace, full).block.count("\n") > 3
    off = injected(trace, PromptBlockSettings(mode="off"))
    assert (off.block, off.why_nothing) == ("", "recallMode is off")


def test_content_above_300_units_is_never_seen(trace: Trace) -> None:
    found = injected(trace, PromptBlockSettings(per_item_chars=1000, max_chars=8000))
    line = next(part.line for part in found.parts if part.id == "long")
    assert utf16_len(line) == len("- [W][cases:project:mango] 2025-06-13 (legacy) ") + 300


def test_a_memory_injected_lately_is_left_out(trace: Trace) -> None:
    found = injected(trace, turns_since={"plain": 3, "long": 8})
    told = {part.id: part.left_out for part in found.parts}
    assert told["plain"] == "injected 3 turns ago"
    assert told["long"] == ""
    assert told["short"] == ""


def test_the_block_of_the_built_in_program_is_the_recorded_one(
    shared: Path, unpack: Callable[[Path], Path]
) -> None:
    stores = shared / "fixtures" / "stores"
    recorded = json.loads((stores / "recalls" / "builtin-old.json").read_text(encoding="utf-8"))
    questions: dict[str, Any] = {each["query"]: each for each in recorded["recall"]}
    engine = Engine(open_store(unpack(stores / "builtin-old.tar.gz")), now=lambda: NOW_MS)
    compared = 0
    for each in recorded["auto_recall"]:
        known = questions.get(each["prompt"])
        if known is None:
            continue
        vector = np.load(stores / "recalls" / f"query_vectors_{known['dims']}.npy")[known["vector_index"]]
        trace = engine.recall(
            RecallRequest(each["prompt"], recipe="memory-lancedb", query_vector=vector.tolist(), limit=3)
        )
        assert injected(trace).block == (each["prependContext"] or "")
        compared += 1
    assert compared >= 1


def test_tokens_are_estimated_by_script() -> None:
    assert estimated_tokens("") == 0
    assert estimated_tokens("four" * 5) == 5
    assert estimated_tokens("网关配置") == 4
