"""A masked secret is taken out of the table's history and the journal; the memory stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import lancedb
import pytest

from memtui.engine import changes
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.secrets import find_secrets, mask
from memtui.engine.store.open import open_store
from tests.engine.curate_world import (
    WordEmbedder,
    engine_at,
    file_formats,
    row_of,
    rows_of,
    same_rows,
)
from tests.engine.tables import pro_row, uuid, write_table

SECRET = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e"
TEXT = f"The billing agent signs in with {SECRET} on Fridays."
OTHER = "sk-live-00112233445566778899aabb"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Four memories with an index: 1 holds a secret, 2 and 3 another one, 4 none."""
    texts = {
        1: TEXT,
        2: f"Staging uses {OTHER} now.",
        3: f"Yesterday {OTHER} was made.",
        4: "The kiln is warm.",
    }
    folder = tmp_path / "lancedb-pro"
    rows = [pro_row(n, text=text, metadata=json.dumps({"odd": n})) for n, text in texts.items()]
    write_table(folder, rows, new_table_data_storage_version="2.0").create_fts_index(
        "text", with_position=True
    )
    return folder


def masked(folder: Path, n: int):
    """An engine on the store in which memory `n` was just masked, and the entry of that."""
    made = engine_at(folder, embedder=WordEmbedder(2))
    text = mask(str(row_of(folder, uuid(n))["text"]))[0]
    return made, changes.apply(made, changes.plan_texts(made, {uuid(n): text}, in_place=True)).entry


def holds(folder: Path, needle: str) -> set[str]:
    """Where the needle stands: versions of the table by number, and files of store and state."""
    table = lancedb.connect(folder).open_table("memories")
    found = set()
    for each in table.list_versions():
        table.checkout(each["version"])
        if needle in json.dumps(table.to_arrow().drop_columns(["vector"]).to_pylist()):
            found.add(f"version {each['version']}")
    files = (path for path in folder.parent.rglob("*") if path.is_file())
    return found | {path.name for path in files if needle.encode() in path.read_bytes()}


def test_no_version_index_or_file_holds_the_secret_and_the_memory_stays(store: Path) -> None:
    made, entry = masked(store, 1)
    other = changes.apply(made, changes.plan_edit(made, [uuid(4)], {"importance": 0.9})).entry
    assert holds(store, SECRET), "masking alone leaves it in the history and in the journal"
    before, schema, formats = rows_of(store), open_store(store).schema, file_formats(store)

    planned = changes.plan_past(made, [uuid(1)])
    assert planned.destroys
    assert any("1 entry of the journal told of it goes" in each for each in planned.warnings)
    with pytest.raises(RefusedError, match="cannot be undone"):
        changes.apply(made, planned)
    assert holds(store, SECRET), "a refused plan does nothing"
    outcome = changes.apply(made, planned, confirmed=True)

    assert holds(store, SECRET) == set()
    assert same_rows(rows_of(store), before), "every row is as it was, vectors bit for bit"
    assert (open_store(store).schema, file_formats(store)) == (schema, formats)
    assert open_store(store).fts_status().unindexed_rows == 0
    assert outcome.receipt is not None
    assert outcome.receipt["clean"] is True
    assert outcome.receipt["searched"]["files"] > 3
    assert outcome.entry is not None
    told = made.write_state.journal.entry(outcome.entry)
    assert (told.action, told.state, told.rows) == ("clean", "applied", 1)
    assert made.write_state.journal.entry(entry).title == "edit: contents removed"
    for number, why in ((entry, "removed for good"), (outcome.entry, "cannot be undone")):
        with pytest.raises(RefusedError, match=why):
            changes.plan_undo(made, number)
    changes.apply(made, changes.plan_undo(made))
    assert made.write_state.journal.entry(other).state == "undone", (
        "what was changed in other memories can still be undone"
    )
    assert changes.apply(made, changes.plan_past(made, [uuid(1)]), confirmed=True).receipt["clean"] is True


def test_what_another_memory_says_too_is_told_and_stays(store: Path) -> None:
    made, _ = masked(store, 2)
    outcome = changes.apply(made, changes.plan_past(made, [uuid(2)]), confirmed=True)
    assert outcome.receipt is not None
    assert outcome.receipt["same_text"] == {uuid(2): [uuid(3)]}
    assert OTHER in str(row_of(store, uuid(3))["text"])
    assert not find_secrets(str(row_of(store, uuid(2))["text"]))


def test_a_secret_that_the_metadata_still_has_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    write_table(folder, [pro_row(1, text=TEXT, metadata=json.dumps({"heard_as": TEXT}))])
    made = engine_at(folder, embedder=WordEmbedder(2))
    changes.apply(made, changes.plan_edit(made, [uuid(1)], {"text": "Signed in."}, in_place=True))
    assert SECRET in str(row_of(folder, uuid(1))["metadata"])
    outcome = changes.apply(made, changes.plan_past(made, [uuid(1)]), confirmed=True)
    assert outcome.receipt is not None
    assert outcome.receipt["clean"] is False
    assert outcome.receipt["found"]["newest_version"] == [uuid(1)]
    assert "still found" in outcome.warnings[-1]
