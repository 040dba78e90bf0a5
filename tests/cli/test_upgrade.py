"""What a former version kept on disk is read by this one: journal, cases, names, clients, column maps, keys."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import lancedb
import pytest

from memtui.engine.changes.journal import journal_of
from memtui.paths import store_state_dir
from tests.upgrade.record import FIFTH, FIRST, FOURTH, PLACE, SECOND, SIXTH, THIRD, environment, memtui

RECORDED = sorted((Path(__file__).parents[1] / "upgrade").glob("state-*.tar.gz"))


@pytest.fixture(params=RECORDED, ids=lambda file: file.name.removesuffix(".tar.gz"))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home as that version left it, moved here with what is kept under the address of the store."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    place = tmp_path / "recorded"
    for file in (*place.glob("config/*.json"), *place.glob("state/**/*.json")):
        file.write_text(file.read_text("utf-8").replace(PLACE, str(place)), "utf-8")
    state, store = place / "state", str(place / "store")
    table = lancedb.connect(store).table_names()[0]
    (kept,) = (state / "curate").iterdir()
    kept.rename(journal_of(state, store, table).parent)
    (own,) = (state / "stores").iterdir()
    own.rename(store_state_dir(store, environment(place)))
    return place


@pytest.fixture
def told(place: Path) -> Callable[..., str]:
    return lambda *words: memtui(place, *words)


def rows(place: Path) -> dict[str, dict[str, object]]:
    db = lancedb.connect(place / "store")
    found = db.open_table(db.table_names()[0]).to_arrow().to_pylist()
    return {row["id"]: row for row in found}


def test_the_journal_is_listed_and_undone(place: Path, told: Callable[..., str]) -> None:
    store = str(place / "store")
    listed = json.loads(told("journal", "--store", store, "--json"))
    actions = [entry["action"] for entry in listed["entries"]]
    assert [each for each in actions if each not in ("import", "name")] == [
        "undo",
        "edit",
        "forget",
        "merge",
        "edit",
        "edit",
    ]
    assert SIXTH not in rows(place)
    for entry in sorted(listed["entries"], key=lambda entry: -entry["entry"]):
        if entry["action"] in ("forget", "merge", "edit") and entry["state"] == "applied":
            told("undo", str(entry["entry"]), "--store", store, "--yes")
    back = rows(place)
    assert back[SIXTH]["text"] == "The old wiki was switched off in May."
    assert back[FOURTH]["text"] == "The backups of otter run at 02:15."
    assert "superseded_by" not in str(back[SECOND]["metadata"])
    assert back[FIFTH]["importance"] != 0.9
    assert {FIRST, THIRD} <= back.keys()


def test_cases_names_clients_maps_and_keys_are_there(place: Path, told: Callable[..., str]) -> None:
    store = str(place / "store")
    (case,) = json.loads(told("cases", "list", "--store", store, "--json"))["cases"]
    assert case["query"] == "which port has the staging gateway?"
    assert "before-the-clean-up" in told("versions", "--store", store)
    assert "laptop" in told("clients", "--store", store)
    assert "The kiln needs a seal." in told("ls", "--store", str(place / "notes"))
    assert told("keys")
