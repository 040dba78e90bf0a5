"""The contradiction radar: right about planted pairs, silent where nothing disagrees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.cases.case import demo_cases
from memtui.engine.demo import build_demo
from memtui.engine.explain.radar import find_disagreements
from memtui.engine.explain.receipts import receipt_of
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.pro_store import DAY_MS, row, write_store
from tests.quality import dialogues

OLD = 300.0
"""Days; so old a memory is a core one in these stores, which an agent reads first."""
PAIRS = (
    (
        "When does the nightly backup run?",
        "The nightly backup of the archive starts at 02:30.",
        "The nightly backup of the archive now starts at 04:15.",
    ),
    (
        "Which port does the metrics exporter use?",
        "The metrics exporter listens on port 9273.",
        "The metrics exporter listens on port 9311 behind the proxy.",
    ),
    (
        "How long are invoices kept?",
        "Invoices are kept for 7 years in the vault.",
        "Invoices are kept for 10 years in the vault.",
    ),
    (
        "Which day is the team lunch?",
        "The team lunch is on Thursday at the canteen.",
        "The team lunch is on Tuesday at the canteen.",
    ),
    (
        "Which version of the compiler do we use?",
        "The firmware builds with compiler version 11.2.",
        "The firmware builds with compiler version 13.1 now.",
    ),
    (
        "When is the tax report due?",
        "The tax report is due on 14 March.",
        "The tax report is due on 28 March this year.",
    ),
    (
        "How big may an upload be?",
        "An upload through the portal may be 25 MB.",
        "An upload through the portal may be 80 MB.",
    ),
    (
        "What time is the stand-up?",
        "The stand-up of the hardware team is at 09:45.",
        "The stand-up of the hardware team is at 10:30.",
    ),
    (
        "How long is the trial period?",
        "The trial period of a new shop lasts 30 days.",
        "The trial period of a new shop lasts 14 days.",
    ),
    (
        "How many seats does the room have?",
        "The large meeting room has 24 seats.",
        "The large meeting room has 18 seats after the rebuild.",
    ),
    (
        "Which port does the camera stream use?",
        "The camera stream of the yard is served on port 8554.",
        "The camera stream of the yard is served on port 8090.",
    ),
    (
        "How long does the door code live?",
        "The visitor door code lives for 12 hours.",
        "The visitor door code lives for 4 hours.",
    ),
    (
        "When does the ferry leave?",
        "The last ferry to the island leaves at 18:40.",
        "The last ferry to the island leaves at 19:05.",
    ),
    (
        "Which day are the bins collected?",
        "The paper bins are collected on Wednesday.",
        "The paper bins are collected on Friday.",
    ),
)
"""A question, what was so, and what is so now."""
DECOYS = (
    "The nightly backup of Kelp starts at 01:10.",
    "The nightly backup of Whale starts at 03:20.",
    "The small meeting room has 6 seats.",
    "Printer-3 answers on port 9100.",
    "Printer-4 answers on port 9101.",
    "The tax report of 2023 was sent on 3 April.",
    "Standup notes of the software team go out at 10:00.",
    "The annual audit lasts 5 days.",
    "Deploys of Atlas stop at 16:00, deploys of Mango at 17:00.",
    "The first ferry to the mainland leaves at 06:15.",
    "Plastic is collected on Monday.",
    "Contracts are kept for 12 years by the notary.",
    "Load of board 19 was 40 % on Monday.",
    "Load of board 21 was 55 % on Tuesday.",
)
"""Other subjects in the same words, which contradict nothing."""


def built(folder: Path, texts: Sequence[tuple[str, float]]) -> Engine:
    vectors = bundled().embed_passages([text for text, _ in texts])
    rows = [
        row(
            f"m{n}",
            text,
            vector.tolist(),
            timestamp=int(NOW_MS - age * DAY_MS),
            importance=0.95 if age == OLD else 0.5,
            metadata={"tier": "core" if age == OLD else "working"},
        )
        for n, ((text, age), vector) in enumerate(zip(texts, vectors, strict=True))
    ]
    store = write_store(folder, rows, dims=BUNDLED_DIMS)
    return open_engine(store, now=lambda: NOW_MS, environ={}, cwd=folder)


def asked(engine: Engine, question: str):
    vector = bundled().embed_query(question).tolist()
    return engine.recall(RecallRequest(question, recipe="pro/tool", query_vector=vector))


def test_planted_pairs_are_found_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [(old, OLD) for _, old, _ in PAIRS] + [(new, 20.0) for _, _, new in PAIRS]
    texts += [(text, 100.0 + n) for n, text in enumerate(DECOYS)]
    engine = built(tmp_path / "store", texts)
    right = wrong = found = hidden = 0
    for question, old, new in PAIRS:
        trace = asked(engine, question)
        ids = {text: f"m{n}" for n, (text, _) in enumerate(texts)}
        told = find_disagreements(trace)
        pairs = {(texts[int(each.recalled[1:])][0], texts[int(each.newer[1:])][0]) for each in told}
        planted = {(a, b) for _, a, b in PAIRS}
        right += len(pairs & planted)
        wrong += len(pairs - planted)
        ranks = {each: n for n, each in enumerate(trace.returned)}
        first = ids[old] in ranks and ranks[ids[old]] < min(3, ranks.get(ids[new], 99))
        hidden += first  # the older one is read first: the radar has something to say
        found += first and (old, new) in pairs
    with capsys.disabled():
        print(f"\nradar: {right} right, {wrong} wrong; {found} of {hidden} that an agent would read wrongly")
    assert right
    assert right / (right + wrong) >= 0.9
    assert found >= 0.8 * hidden


def test_a_store_without_disagreement_is_silent(tmp_path: Path) -> None:
    engine = built(tmp_path / "store", [(text, 5.0 + 7 * n) for n, text in enumerate(DECOYS)])
    for text in DECOYS:
        assert find_disagreements(asked(engine, text)) == ()
    for question, _, _ in PAIRS:
        assert find_disagreements(asked(engine, question)) == ()


@pytest.mark.slow
def test_dialogues_are_silent(tmp_path: Path) -> None:
    name = dialogues.names()[0]
    turns, questions = dialogues.read(name)
    store = open_store(str(dialogues.write(tmp_path / name, turns)))
    bench = RecallContext(store, NOW_MS, bundled().embed_query, bundled=True)
    for question in questions:
        assert find_disagreements(recall(RecallRequest(question.query, recipe="memtui"), bench)) == ()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


@pytest.mark.parametrize("recipe", ["pro/agent", "memtui"])
def test_the_port_of_the_bastion_is_told_unasked(demo: Engine, recipe: str) -> None:
    trace = demo.recall(RecallRequest("Which port do I use for SSH to the bastion?", recipe=recipe))
    (told,) = find_disagreements(trace)
    assert (told.kind, told.value, told.newer_value, told.way) == ("port", "2222", "48022", "ended")
    assert told.recalled == trace.returned[0]
    assert told.newer_ms > told.recalled_ms
    rest = [case.query for case in demo_cases(NOW_MS) if "port" not in case.query.lower()]
    assert rest
    for question in rest:
        assert find_disagreements(demo.recall(RecallRequest(question, recipe=recipe))) == ()


def test_a_scope_that_is_not_read_tells_nothing(demo: Engine) -> None:
    question = "Which port do I use for SSH to the bastion?"
    trace = demo.recall(RecallRequest(question, recipe="memtui", scopes=["project:atlas"]))
    assert find_disagreements(trace) == ()


def test_a_receipt_keeps_what_disagreed_without_texts_only_who(tmp_path: Path) -> None:
    texts = [(old, OLD) for _, old, _ in PAIRS] + [(new, 20.0) for _, _, new in PAIRS]
    engine = built(tmp_path / "store", texts)
    trace, told = next(
        (trace, told[0])
        for question, _, _ in PAIRS
        if (told := find_disagreements(trace := asked(engine, question)))
    )
    kept = receipt_of(trace, engine.info, saved_ms=NOW_MS)["disagreements"]
    assert kept[0] == told.as_json()
    bare = receipt_of(trace, engine.info, saved_ms=NOW_MS, texts=False)["disagreements"]
    assert (bare[0]["recalled"], bare[0]["newer"], bare[0]["kind"]) == (told.recalled, told.newer, told.kind)
    assert not any(words in str(bare) for words in (told.text, told.newer_text, "'value'", "'newer_value'"))
