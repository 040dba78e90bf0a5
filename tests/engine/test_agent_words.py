"""The keyword search of the plugin's engine, reproduced from the files of its index, against what it answered."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from memtui.engine.recall.lanes import another_engine
from memtui.engine.store import sql
from memtui.engine.store.agent_words.heap import best_first
from memtui.engine.store.agent_words.inverted import BLOCK, unpacked_bits
from memtui.engine.store.agent_words.lance_file import LanceFile, NotReadable
from memtui.engine.store.agent_words.search import WordIndex
from memtui.engine.store.agent_words.stemmer import stem
from memtui.engine.store.open import open_store
from memtui.engine.store.snapshot import Snapshot
from tests.engine.pro_store import row as stored_row
from tests.engine.pro_store import write_store

CLOSE = 1e-4
FETCHED = 200
ORACLE = os.environ.get("MEMTUI_LANCE_ORACLE", "")
"""The Python of an environment with lancedb 0.29.2, which scores words as the plugin's engine does."""


@pytest.fixture(scope="module")
def recorded(shared: Path) -> Mapping[str, Any]:
    with gzip.open(shared / "fixtures" / "peer" / "traces.json.gz", "rt", encoding="utf-8") as file:
        data: Mapping[str, Any] = json.load(file)
    return data


@pytest.fixture(scope="module")
def stores(shared: Path, unpack: Callable[[Path], Path]) -> dict[str, Path]:
    folder = shared / "fixtures" / "peer"
    return {name: unpack(folder / f"store-{name}.tar.gz") for name in ("clean", "lived")}


def answered(pin: Snapshot, text: str, scopes: list[str] | None = None, k: int = FETCHED) -> dict[str, float]:
    """Ids and BM25 values, best first."""
    ranked = pin.agent_search(text, k=k, where=None if scopes is None else sql.is_in("scope", scopes))
    assert ranked is not None
    ids = pin.take(ranked.row_ids.tolist(), ["id"]).column("id").to_pylist()
    return dict(zip(ids, ranked.scores.tolist(), strict=True))


def same(ours: Mapping[str, float], theirs: Mapping[str, float]) -> bool:
    return ours.keys() == theirs.keys() and all(abs(ours[i] - theirs[i]) < CLOSE for i in theirs)


@pytest.mark.slow
def test_every_word_of_the_corpus_finds_what_the_plugins_engine_found(
    shared: Path, stores: dict[str, Path]
) -> None:
    with gzip.open(shared / "fixtures" / "peer" / "fts_words.json.gz", "rt", encoding="utf-8") as file:
        words = json.load(file)["words"]
    pin = open_store(stores["clean"]).pin()
    ordered = 0
    for word, hits in words.items():
        ours = answered(pin, word)
        assert same(ours, dict(hits)), word
        ordered += list(ours) == [hit[0] for hit in hits]
    assert ordered == len(words) == 1726, "equal scores too come in the engine's order"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clean", "lived"])
def test_whole_questions_find_the_same_rows_with_the_same_scores(
    name: str, recorded: Mapping[str, Any], stores: dict[str, Path]
) -> None:
    pin = open_store(stores[name]).pin()
    for question, hits in recorded["fts_unfiltered"][name].items():
        assert same(answered(pin, question), dict(hits)), question


@pytest.mark.slow
def test_a_filter_that_keeps_few_rows_loses_the_same_ones(
    recorded: Mapping[str, Any], stores: dict[str, Path]
) -> None:
    pins = {name: open_store(path).pin() for name, path in stores.items()}
    narrow = 0
    for search in recorded["searches"]["bm25"].values():
        if search["via"] != "fts" or search["boundary_tie"]:
            continue
        for name in search["stores"]:
            ours = answered(pins[name], search["query"], search["scope_filter"])
            assert all(abs(ours.get(i, 0.0) - raw) < CLOSE for i, _, raw in search["hits"]), search["query"]
            narrow += "filter_bug" in search["flags"]
    assert narrow == 25


def test_each_word_says_what_it_adds(stores: dict[str, Path]) -> None:
    pin = open_store(stores["lived"]).pin()
    ranked = pin.agent_search("which port does the atlas database use", k=20)
    assert ranked is not None
    assert not ranked.indexed.all(), "rows outside the index are among them"
    for at in range(len(ranked.row_ids)):
        words = ranked.account(at)
        assert sum(words.values()) == pytest.approx(ranked.scores[at], abs=1e-12)
        assert set(words) <= {"which", "port", "doe", "atla", "atlas", "databas", "use"}


def test_what_a_word_adds_comes_apart_into_its_parts(stores: dict[str, Path]) -> None:
    pin = open_store(stores["lived"]).pin()
    index = pin.agent_words
    assert isinstance(index, WordIndex)
    ranked = pin.agent_search("which port does the atlas database use", k=20)
    assert ranked is not None
    taken_apart = 0
    for at, row_id in enumerate(ranked.row_ids.tolist()):
        adds = ranked.account(at)
        parts = index.parts_of(row_id, list(adds))
        assert (parts is not None) == bool(ranked.indexed[at])
        if parts is None:
            continue
        taken_apart += 1
        assert set(parts.words) == set(adds)
        for word, (idf, rows_with, times, weight) in parts.words.items():
            assert idf * weight == pytest.approx(adds[word], abs=1e-12)
            assert 1 <= rows_with <= index.rows
            assert 1 <= times <= parts.length
    assert taken_apart


def test_an_index_that_our_engine_made_is_read_with_the_agents_words(tmp_path: Path) -> None:
    rows = [stored_row("a", "what the port of the gateway is", [1.0, 0.0])]
    pin = open_store(write_store(tmp_path / "store", rows, dims=2)).pin()
    assert another_engine(pin) == ""
    assert answered(pin, "gateway").keys() == {"a"}
    assert answered(pin, "what").keys() == set(), "a stop word of the engine that made the index"


def test_rows_that_no_index_holds_yet_are_scored_as_the_plugins_engine_scores_them(tmp_path: Path) -> None:
    """Recorded from LanceDB 0.26.2: stores whose index is empty or older than some rows, eight questions each."""
    import lancedb

    recorded = json.loads((Path(__file__).parent / "golden" / "words_before_fold.json").read_text())
    left_out = 0
    for number, store in enumerate(recorded["stores"]):
        folder = write_store(tmp_path / str(number), [], dims=2)
        table = lancedb.connect(folder).open_table("memories")
        inside = [stored_row(f"i{at}", text, [0, 0]) for at, text in enumerate(store["inside"])]
        if inside:
            table.add(inside)
            table.optimize()
        for at, text in enumerate(store["beside"]):
            table.add([stored_row(f"b{at}", text, [0, 0])])
        pin = open_store(folder).pin()
        for asked in store["asked"]:
            assert same(answered(pin, asked["question"]), asked["found"]), (number, asked["question"])
        words = {word for asked in store["asked"] for word in asked["question"].split()}
        left_out += sum(
            bool(words & set(text.split()))
            and all(f"b{at}" not in asked["found"] for asked in store["asked"])
            for at, text in enumerate(store["beside"])
        )
    assert left_out, "some row holds an asked word so often that its sum is negative: it is not found"


def test_an_index_of_another_form_is_left_to_our_engine_and_said(tmp_path: Path) -> None:
    import lancedb

    rows = [stored_row("a", "the port is 5432", [1.0, 0.0])]
    schema = open_store(write_store(tmp_path / "store", rows, dims=2)).schema
    table = lancedb.connect(tmp_path / "newer").create_table("memories", rows, schema=schema)
    table.create_fts_index("text", with_position=True)
    pin = open_store(tmp_path / "newer").pin()
    assert isinstance(pin.agent_words, str)
    assert "newer one" in another_engine(pin)
    assert pin.agent_search("port", k=5) is None


def test_an_index_whose_files_are_cut_off_is_left_to_ours(stores: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "cut"
    shutil.copytree(stores["clean"], folder)
    for file in folder.glob("memories.lance/_indices/*/part_*_docs.lance"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    pin = open_store(folder).pin()
    assert isinstance(pin.agent_words, str)
    assert another_engine(pin)


def test_a_file_of_another_format_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "x.lance").write_bytes(b"\0" * 38 + b"LANC")
    with pytest.raises(NotReadable):
        LanceFile(tmp_path / "x.lance")


@pytest.mark.parametrize("bits", [1, 3, 7, 8, 13, 17, 31, 32])
def test_packed_numbers_are_read_back(bits: int) -> None:
    rng = np.random.default_rng(bits)
    numbers = rng.integers(0, 2**bits, BLOCK, dtype=np.uint64)
    lanes = [0, 0, 0, 0]
    for at, number in enumerate(numbers.tolist()):
        lanes[at % 4] |= number << (at // 4 * bits)
    words = [(lanes[lane] >> (32 * word)) & 0xFFFFFFFF for word in range(bits) for lane in range(4)]
    packed = b"".join(word.to_bytes(4, "little") for word in words)
    assert unpacked_bits(packed, bits).tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("evening", "even"), ("past", "past"), ("internal", "intern"), ("databases", "databas"), ("dying", "die"),
        ("generously", "generous"), ("happily", "happili"), ("sky", "sky"), ("hopping", "hop"), ("hoping", "hope"),
        ("agreed", "agre"), ("relational", "relat"), ("is", "is"), ("yearly", "year"), ("succeed", "succeed"),
    ],
)  # fmt: skip
def test_words_are_stemmed_by_the_older_rules(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_the_heap_keeps_the_best_whatever_the_order_of_equal_ones() -> None:
    random = Random(3)
    for _ in range(200):
        scored = [(float(random.randrange(6)), row) for row in range(random.randrange(1, 60))]
        best = best_first(scored, 10)
        assert [score for score, _ in best] == sorted((score for score, _ in scored), reverse=True)[:10]
        assert len({row for _, row in best}) == len(best)


def test_no_byte_of_the_store_changes(stores: dict[str, Path]) -> None:
    def state() -> dict[str, bytes]:
        files = (file for file in stores["lived"].rglob("*") if file.is_file())
        return {str(file): file.read_bytes() for file in files}

    before = state()
    pin = open_store(stores["lived"]).pin()
    assert isinstance(pin.agent_words, WordIndex)
    answered(pin, "atlas port", ["agent:main"])
    assert state() == before


@pytest.mark.skipif(not ORACLE, reason="MEMTUI_LANCE_ORACLE names no environment with lancedb 0.29.2")
@pytest.mark.parametrize("name", ["clean", "lived"])
def test_made_up_questions_find_what_lancedb_0_29_finds(
    name: str, shared: Path, stores: dict[str, Path], tmp_path: Path
) -> None:
    asked = _questions(shared)
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    subprocess.run(
        [ORACLE, "-c", _ASK, str(stores[name]), str(tmp_path / "asked.json"), str(tmp_path / "answers.json")],
        check=True,
        capture_output=True,
    )
    answers = json.loads((tmp_path / "answers.json").read_text())
    pin = open_store(stores[name]).pin()
    different = [
        text
        for (text, scopes), hits in zip(asked, answers, strict=True)
        if not same(answered(pin, text, scopes), dict(hits))
    ]
    assert len(different) <= len(asked) // 100, different


def _questions(shared: Path) -> list[tuple[str, list[str] | None]]:
    random = Random(5)
    lines = (shared / "fixtures" / "peer" / "memories.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    scopes = sorted({row["scope"] for row in rows})
    asked: list[tuple[str, list[str] | None]] = []
    for _ in range(300):
        words = random.choice(rows)["text"].replace('"', "").split()
        start = random.randrange(len(words))
        text = " ".join(words[start : start + random.randrange(1, 9)])
        if random.random() < 0.3:
            text = f'"{text}"'
        elif random.random() < 0.3:
            text = f"{text} {text}"
        asked.append((text, random.sample(scopes, random.randrange(1, 4)) if random.random() < 0.5 else None))
    return asked


_ASK = """
import json, sys, lancedb
table = lancedb.connect(sys.argv[1]).open_table("memories")
answers = []
for text, scopes in json.load(open(sys.argv[2])):
    query = table.search(text, query_type="fts")
    if scopes is not None:
        query = query.where("scope IN (%s)" % ", ".join("'%s'" % scope for scope in scopes), prefilter=True)
    found = query.select(["id", "_score"]).limit(200).to_arrow()
    answers.append(list(zip(found.column("id").to_pylist(), found.column("_score").to_pylist())))
json.dump(answers, open(sys.argv[3], "w"))
"""
