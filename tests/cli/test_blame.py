"""`memtui blame`: its document, its exit codes, and that it leaves no byte anywhere."""

from __future__ import annotations

import gc
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import tree_hash
from tests.quality.blame.planted import families, write_home, write_store

FAMILY = next(family for family in families() if family.agent == "kitchen")

KEYS = {"schema", "turn", "verdict", "suspects", "instead", "missing"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("blame")
    write_home([FAMILY], place / "home")
    write_store([FAMILY], place / "store")
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "all")
    monkeypatch.setenv("HOME", str(tmp_path / "all" / "home"))
    for name in ("MEMTUI_STATE_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "all" / name))
    return tmp_path / "all"


def test_the_document_has_the_keys_of_the_contract_and_nothing_is_written(run: Run, place: Path) -> None:
    before = tree_hash(place)
    code, out, err = run(
        "blame", "Set the deck to two hundred and eighty", "--store", place / "store", "--json"
    )
    assert code == 0, err
    document = json.loads(out)
    assert set(document) == KEYS
    assert document["schema"] == 1
    assert set(document["turn"]) == {"session", "n", "question"}
    assert (document["turn"]["session"], document["turn"]["n"]) == (FAMILY.session, 1)
    assert document["verdict"] == "memory"
    for suspect in document["suspects"]:
        assert set(suspect) == {"id", "confidence", "shares", "why"}
        assert 0 <= suspect["confidence"] <= 1
    assert document["suspects"][0]["id"] == FAMILY.memories["oven-old"].id
    assert all(set(each) == {"id"} for each in (*document["instead"], *document["missing"]))
    assert tree_hash(place) == before


def test_a_turn_is_named_and_none_is_an_answer(run: Run, place: Path) -> None:
    turn = next(turn for turn in FAMILY.turns if not turn.guilty and turn.told)
    where = ("--session", FAMILY.session[:8], "--turn", turn.number, "--store", place / "store")
    code, out, err = run("blame", turn.sentence, *where, "--json")
    assert code == 0, err
    document = json.loads(out)
    assert document["verdict"] == "none"
    assert not [each for each in document["suspects"] if each["confidence"] >= 0.5]
    assert document["instead"] == document["missing"] == []
    assert "No memory of this turn" in run("blame", turn.sentence, *where)[1]


def test_without_sessions_the_whole_store_is_asked(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    code, out, _ = run("blame", "the serial is TX 7719 Q", "--store", place / "store", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["turn"] is None
    assert document["suspects"][0]["id"] == FAMILY.memories["card"].id
    assert "TX 7719 Q" in document["suspects"][0]["shares"]
    assert "Memory " in run("blame", "the serial is TX 7719 Q", "--store", place / "store")[1]


def test_wrong_usage_and_nothing_known_end_with_their_own_codes(run: Run, place: Path) -> None:
    store = ("--store", place / "store")
    assert run("blame", " ", *store)[0] == 2
    assert run("blame", "anything", "--session", "nobody", *store)[0] == 2
    assert run("blame", "anything", "--session", FAMILY.session, "--turn", 99, *store)[0] == 2
    agent = place / "home" / ".openclaw" / "agents" / "other" / "sessions"
    agent.mkdir(parents=True)
    lines = [
        {"type": "session", "version": 3, "id": "bare", "timestamp": "2026-10-01T10:00:00Z"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": "2026-10-01T10:00:00Z",
            "message": {"role": "user", "content": "How hot?"},
        },
        {
            "type": "message",
            "id": "b",
            "parentId": "a",
            "timestamp": "2026-10-01T10:00:05Z",
            "message": {"role": "assistant", "content": "The oven wants 280 degrees today."},
        },
    ]
    (agent / "bare.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, _ = run("blame", "280 degrees", "--session", "bare", "--turn", 1, *store, "--json")
    assert code == 4
    assert json.loads(out)["verdict"] == "unknown"


def test_a_receipt_is_saved_with_every_text_or_with_none(run: Run, place: Path, tmp_path: Path) -> None:
    said = "Set the deck to two hundred and eighty"
    for name, options, texts in (("full", (), True), ("bare", ("--no-text",), False)):
        file = tmp_path / f"{name}.json"
        before = tree_hash(place)
        code, _, err = run("blame", said, "--store", place / "store", "--save", file, *options)
        assert code == 0, err
        written = file.read_text(encoding="utf-8")
        document = json.loads(written)
        assert document["schema"] == "memtui.blame.v1"
        assert document["suspects"][0]["id"] == FAMILY.memories["oven-old"].id
        assert document["suspects"][0]["came_from"]
        for text in (said, FAMILY.memories["oven-old"].text, FAMILY.memories["oven-new"].text):
            assert (text in written) is texts
        assert tree_hash(place) == before
        code, _, err = run("blame", said, "--store", place / "store", "--save", file, *options)
        assert code == 2
        assert "exists already" in err
    assert run("blame", said, "--store", place / "store", "--no-text")[0] == 2


def test_a_secret_is_masked_in_a_receipt(run: Run, place: Path, tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 2
    file = tmp_path / "receipt.json"
    code, _, err = run(
        "blame", f"the key of the deck oven is {secret}", "--store", place / "store", "--save", file
    )
    assert code in (0, 4), err
    assert secret not in file.read_text(encoding="utf-8")


def test_the_origin_and_each_edit_are_told_with_their_entry(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(place / "state"))
    guilty = FAMILY.memories["oven-old"].id
    code, _, err = run("edit", guilty, "--set", "importance=0.4", "--store", place / "store", "--yes")
    assert code == 0, err
    gc.collect()  # the journal of the edit is closed
    before = tree_hash(place)
    code, out, err = run("blame", "Set the deck to two hundred and eighty", "--store", place / "store")
    assert code == 0, err
    assert "changed with memtui, entry 1: confidence, importance" in out
    assert "would have been right, and did not come" in out
    assert tree_hash(place) == before
