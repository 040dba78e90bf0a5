"""Receipts and the history of questions: saved, read back, replayed; no secret and no word where none may be."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import MemtuiError, RecallRequest, Trace, UsageError, explain
from memtui.engine.engine import Engine
from memtui.engine.explain import History, read_receipt
from memtui.engine.explain.comparison import compare
from memtui.engine.explain.receipts import open_receipt, save_receipt
from memtui.engine.store.open import open_store
from tests.engine.loopback import loopback
from tests.engine.mutation_battery import QUESTION, VECTOR, rows, unit
from tests.engine.pro_store import NOW_MS, row, write_store


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(open_store(write_store(tmp_path / "store", rows(), dims=3)), now=lambda: NOW_MS)


def ask(engine: Engine, **more: Any) -> Trace:
    given = {"query": QUESTION, "recipe": "pro/tool", "query_vector": VECTOR, "limit": 6, **more}
    return engine.recall(RecallRequest(**given))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"recipe": "pro/agent", "query": "which gateway port is it"},
        {"recipe": "pro/cli", "limit": 20},
        {"recipe": "pro/article"},
        {"query": "proj:aif gateway"},
        {"config": {"retrieval": {"mode": "vector"}, "decay": None}},
        {"query": "关配置在哪里都可以找到的", "source": None},
        {"scopes": ["global"], "category": "fact", "source": "auto-recall"},
    ],
)
def test_a_receipt_replays_as_it_was(engine: Engine, more: dict[str, Any]) -> None:
    trace = ask(engine, **more)
    receipt = read_receipt(json.dumps(explain.receipt(engine, trace)))
    assert receipt.returned == trace.returned
    assert receipt.candidates == tuple(
        replace(c, sources={} if c.rank is None else c.sources) for c in trace.candidates
    )
    found = explain.replay(engine, receipt)
    assert (found.same, found.differences) == (True, ())
    assert found.checked > 0
    assert compare(receipt, found.trace).differences == ()  # type: ignore[arg-type]


def test_a_receipt_without_texts_holds_no_word_and_its_sums_are_still_checked(engine: Engine) -> None:
    trace = ask(engine, limit=20)
    document = explain.receipt(engine, trace, texts=False)
    text = json.dumps(document, ensure_ascii=False)
    for words in (QUESTION, "staging", "listens", "8443", "wiki"):
        assert words not in text
    assert document["request"] is None
    assert "query_vector" not in text
    receipt = read_receipt(text)
    found = explain.replay(engine, receipt)
    assert (found.same, found.trace) == (True, None)
    assert found.checked > 100
    assert "no texts" in found.note


def test_a_number_that_was_changed_by_hand_is_found(engine: Engine) -> None:
    document = explain.receipt(engine, ask(engine), texts=False)
    step = document["trace"]["candidates"][0]["steps"][2]
    step["after"] += 0.001
    found = explain.replay(engine, read_receipt(json.dumps(document)))
    assert not found.same
    assert [each.what for each in found.differences] == ["sum"]


def test_every_difference_of_a_store_that_moved_on_is_reported(engine: Engine, tmp_path: Path) -> None:
    trace = ask(engine, limit=20)
    _, gone, edited = trace.returned[:3]
    receipt = read_receipt(json.dumps(explain.receipt(engine, trace)))
    made = {each["id"]: each for each in rows()}
    del made[gone]
    made[edited]["text"] = "The gateway port of the staging cluster is another one"
    made["fresh"] = row("fresh", "gateway port of the staging cluster", unit(0.97, 0.5))
    later = Engine(
        open_store(write_store(tmp_path / "later", list(made.values()), dims=3)), now=lambda: NOW_MS
    )
    found = explain.replay(later, receipt)
    told = {(each.what, each.where) for each in found.differences}
    assert not found.same
    assert ("result", "") in told
    assert ("candidate", gone) in told
    assert ("candidate", "fresh") in told
    assert ("text", edited) in told


def test_a_receipt_of_another_store_or_kind_is_refused_in_words(engine: Engine, tmp_path: Path) -> None:
    receipt = read_receipt(json.dumps(explain.receipt(engine, ask(engine))))
    other = Engine(
        open_store(write_store(tmp_path / "other", [row("x", "a gateway", (1, 0))], dims=2)),
        now=lambda: NOW_MS,
    )
    with pytest.raises(UsageError, match="of another store"):
        explain.replay(other, receipt)
    for text, words in (
        ("{", "not JSON"),
        ("[]", "no receipt"),
        ('{"schema": "memtui.receipt.v9"}', "v9"),
        ('{"schema": "memtui.receipt.v1", "trace": {}}', "damaged"),
    ):
        with pytest.raises(UsageError, match=words):
            read_receipt(text)


def test_a_key_is_in_no_receipt_and_the_stores_own_is_used_again(tmp_path: Path) -> None:
    folder = write_store(tmp_path / "store", rows(), dims=3)
    engine = Engine(open_store(folder), now=lambda: NOW_MS)
    with loopback() as server:
        config = {"retrieval": {"rerankApiKey": "sk-secret-of-mine", "rerankEndpoint": f"{server.url}/r"}}
        trace = ask(engine, config=config)
        assert len(server.requests) == 1
    text = json.dumps(explain.receipt(engine, trace))
    assert "sk-secret" not in text
    found = explain.replay(engine, read_receipt(text))
    assert not found.same  # no key any more: the cosine blend answers
    assert found.trace is not None
    assert any("no API key" in warning for warning in found.trace.warnings)


def test_the_history_keeps_questions_with_their_vectors(engine: Engine, tmp_path: Path) -> None:
    history = History(tmp_path / "state" / "questions.sqlite")
    assert history.search() == ()
    trace = ask(engine, scopes=["global"], source="manual")
    number = explain.remember(engine, trace, history)
    explain.remember(engine, ask(engine, query="another 50% question_", query_vector=None), history)
    assert explain.remember(engine, trace, history) != number  # asked again: the older entry goes
    assert len(history.search()) == 2
    found = history.search("gateway staging")
    assert [each.query for each in found] == [QUESTION]
    assert found[0].returned == trace.returned
    assert history.search("50% question_")[0].dims == 0
    assert history.search("5__ question") == ()
    request = explain.again(found[0], history)
    assert (request.scopes, request.source, request.limit) == (["global"], "manual", 6)
    assert engine.recall(request).returned == trace.returned
    assert stat.S_IMODE(history.path.stat().st_mode) == 0o600
    assert (history.forget(found[0].number), history.forget(), history.search()) == (1, 1, ())


def test_no_secret_reaches_the_history(engine: Engine, tmp_path: Path) -> None:
    history = History(tmp_path / "questions.sqlite")
    question = "is my key sk-abcdefghijklmnopqrstuvwx still valid"
    config = {"retrieval": {"rerankApiKey": "sk-other-secret"}}
    explain.remember(engine, ask(engine, query=question, config=config), history)
    raw = history.path.read_bytes()
    assert b"sk-abc" not in raw
    assert b"sk-other" not in raw
    (kept,) = history.search()
    assert history.vector(kept.number) is None  # a vector would tell the words it was made of


def test_a_history_that_is_none_is_said_in_words(tmp_path: Path) -> None:
    path = tmp_path / "questions.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(MemtuiError, match="history"):
        History(path).search()


def test_a_receipt_file_is_written_whole_for_its_owner_and_read_back(engine: Engine, tmp_path: Path) -> None:
    trace = ask(engine)
    path = save_receipt(explain.receipt(engine, trace), tmp_path / "a.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert open_receipt(path).returned == trace.returned
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["a.json"]
    for bad in (tmp_path / "no" / "a.json", path / "under-a-file.json"):
        with pytest.raises(UsageError, match="cannot be written"):
            save_receipt({}, bad)
    with pytest.raises(UsageError, match="cannot be read"):
        open_receipt(tmp_path / "absent.json")
