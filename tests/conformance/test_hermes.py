"""The recorded recalls of the real plugin for Hermes, compared in ids, order, numbers and blocks."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import Engine, explain, open_engine
from memtui.engine.core.errors import ConfigError, UsageError
from memtui.engine.recall.request import RecallRequest
from tests.conftest import tree_hash
from tests.engine.hermes_store import NOW_MS, recorded, unpack
from tests.engine.tables import pro_row, write_table

EXACT = 1e-6


@pytest.fixture(scope="module")
def engine(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return opened(unpack(shared, tmp_path_factory.mktemp("hermes")))


def opened(folder: Path) -> Engine:
    """The store in `folder`, for reading."""
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def request_of(recall: dict[str, Any], everything: dict[str, Any]) -> RecallRequest:
    """The request that stands for a recorded recall, by the contract of the commands."""
    query = everything["queries"][recall["query"]]
    asked = {"via": "tool" if recall["via"] == "recall" else "prefetch", "user_id": recall["user_id"]}
    asked |= {name: recall[name] for name in ("mode", "kind")}
    workspace = recall["workspace"]
    return RecallRequest(
        query=query["text"],
        recipe="hermes",
        config={"retrieval": everything["settings"][recall["setting"]], "recall": asked},
        scopes=[workspace] if workspace else None,
        category=recall["category"],
        limit=recall["limit"],
        query_vector=query["vector"],
    )


@pytest.mark.parametrize("via", ["recall", "prefetch"])
def test_every_recorded_recall_comes_out_the_same(engine: Engine, shared: Path, via: str) -> None:
    everything = recorded(shared)
    recalls = [each for each in everything["recalls"] if each["via"] == via]
    assert len(recalls) >= 25
    for recall in recalls:
        trace = engine.recall(request_of(recall, everything))
        theirs = recall["results"]
        assert list(trace.returned) == [each["id"] for each in theirs], recall["n"]
        assert trace.proof.recomputed, (recall["n"], trace.proof.failures)
        for ours, row in zip(trace.results, theirs, strict=True):
            assert ours.score == pytest.approx(row["score"], abs=EXACT)
        if "legs" in recall:
            for lane, leg in (("vector", "vector"), ("bm25", "fts")):
                hits = sorted(getattr(trace.pool, lane).values(), key=lambda hit: hit.rank)
                assert [hit.row.id for hit in hits] == [each[0] for each in recall["legs"][leg]]
                for hit, (_, number) in zip(hits, recall["legs"][leg], strict=True):
                    assert hit.score == pytest.approx(number, abs=EXACT)
        if via == "prefetch":
            block = explain.injected(trace).block
            assert sha256(block.encode()).hexdigest() == recall["block"]["sha256"]


def asked(shared: Path, number: int = 0, **more: Any) -> RecallRequest:
    query = recorded(shared)["queries"][number]
    return RecallRequest(query["text"], recipe="hermes", query_vector=query["vector"], **more)


def hybrid(**reranker: Any) -> dict[str, Any]:
    return {"retrieval": {"mode": "hybrid", "reranker": reranker}}


@pytest.mark.parametrize(("limit", "found"), [(None, 10), (0, 10), (-3, 1), (3, 3), (500, 50)])
def test_a_limit_is_cut_as_the_plugin_does(
    engine: Engine, shared: Path, limit: int | None, found: int
) -> None:
    trace = engine.recall(asked(shared, limit=limit))
    assert (trace.limit, len(trace.returned)) == (found, found)


def test_rows_of_one_id_stand_apart_in_the_account(engine: Engine, shared: Path) -> None:
    asks = asked(shared, limit=50, config={**hybrid(), "recall": {"kind": "turn"}})
    trace = engine.recall(asks)
    ids = [row.id for row in trace.pool.rows]
    assert len(set(ids)) < len(ids)
    assert [each.id for each in trace.candidates if each.rank is not None] == list(trace.returned)


def test_a_user_finds_their_own_and_nobodys(engine: Engine, shared: Path) -> None:
    owner = {each["id"]: each["user_id"] for each in recorded(shared)["rows"]}
    config = {"recall": {"user_id": "d'arcy#4"}}
    trace = engine.recall(asked(shared, limit=50, scopes=["hermes"], config=config))
    assert {owner[each] for each in trace.returned} == {"", "d'arcy#4"}


def test_why_not_names_the_kind_the_user_the_category_and_the_workspace(engine: Engine, shared: Path) -> None:
    rows = recorded(shared)["rows"]
    config = {"recall": {"user_id": "tg-55013"}}
    asks = asked(shared, scopes=["hermes"], category="event", config=config)

    def gates(row: dict[str, Any]) -> set[str]:
        verdict = explain.why_not(engine, row["id"], asks, changes=False)
        return {each.gate for each in verdict.ladder if each.passed is False}

    fits = {"kind": "fact", "user_id": "", "category": "event", "agent_workspace": "hermes"}
    for name, gate in (
        ("kind", "kind"),
        ("user_id", "user"),
        ("category", "category"),
        ("agent_workspace", "scope"),
    ):
        row = next(
            each
            for each in rows
            if each[name] not in (fits[name], "tg-55013")
            and all(each[other] == value for other, value in fits.items() if other not in (name, "category"))
        )
        assert gate in gates(row), row


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"retrieval": {"topK": 3}}, "retrieval.topK"),
        ({"retrieval": {"reranker": {"weight": "much"}}}, "retrieval.reranker.weight"),
        ({"recall": {"via": "hook"}}, "recall.via"),
        ({"mode": {}}, "mode"),
    ],
)
def test_a_setting_that_is_none_is_named(engine: Engine, shared: Path, config: Any, path: str) -> None:
    with pytest.raises(ConfigError, match=path):
        engine.recall(asked(shared, config=config))


@pytest.mark.parametrize(
    "more",
    [
        {"limit": 3},
        {"category": "event"},
        {"config": {"recall": {"via": "prefetch", "kind": "turn"}}},
        {"config": {"recall": {"via": "prefetch", "mode": "fts"}}},
    ],
)
def test_before_a_prompt_nothing_else_is_set(engine: Engine, shared: Path, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="Automatic injection takes no"):
        engine.recall(asked(shared, **{"config": {"recall": {"via": "prefetch"}}, **more}))


def test_the_plugin_asks_in_one_workspace(engine: Engine, shared: Path) -> None:
    with pytest.raises(UsageError, match="2 workspaces"):
        engine.recall(asked(shared, scopes=["hermes", "quiet"]))
    everywhere = [engine.recall(asked(shared, scopes=each)).returned for each in (None, [""])]
    assert everywhere[0] == everywhere[1]
    assert engine.recall(asked(shared, scopes=[])).returned == ()


def test_a_reader_of_some_workspaces_gets_no_others(engine: Engine, shared: Path) -> None:
    trace = engine.recall(asked(shared, scopes=["quiet", "allotment"], limit=50, own_words=True))
    assert {each.scope for each in trace.pool.rows} == {"quiet", "allotment"}


def test_the_tools_answer_goes_into_no_prompt(engine: Engine, shared: Path) -> None:
    block = explain.injected(engine.recall(asked(shared)))
    assert (block.block, block.parts) == ("", ())
    assert "prefetch" in block.why_nothing


def test_without_an_index_a_hybrid_question_is_asked_by_meaning(shared: Path, tmp_path: Path) -> None:
    folder = unpack(shared, tmp_path)
    lancedb.connect(folder).open_table("memories").drop_index("content_idx")
    store = opened(folder)
    trace = store.recall(asked(shared, config=hybrid()))
    assert trace.mode == "vector"
    assert trace.returned == store.recall(asked(shared)).returned
    assert any("Keyword search failed" in each for each in trace.warnings)


def test_a_table_of_another_program_is_recalled_by_the_same_arithmetic(tmp_path: Path) -> None:
    write_table(tmp_path / "pro", [pro_row(1, vector=[0.0, 1.0]), pro_row(2, vector=[1.0, 0.0])])
    request = RecallRequest("who", recipe="hermes", query_vector=[0.0, 1.0], now_ms=NOW_MS)
    trace = opened(tmp_path / "pro").recall(request)
    assert [each.score for each in trace.results] == pytest.approx([0.0, 2.0])


def test_recalling_changes_nothing(shared: Path, tmp_path: Path) -> None:
    folder = unpack(shared, tmp_path)
    before = tree_hash(tmp_path)
    store = opened(folder)
    for mode in ("vector", "fts", "hybrid"):
        store.recall(asked(shared, config={"recall": {"mode": mode}}))
    assert tree_hash(tmp_path) == before
