"""Forgetting: what goes is what the preview lists, and afterwards nothing of it is found."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import changes
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.engine import Engine
from memtui.engine.store.open import open_store
from tests.engine.curate_world import engine_at, file_formats, row_of, rows_of, same_rows, version_of
from tests.engine.tables import pro_row, uuid, write_table

SECRET = "The vault code of Uferweg is tulip-seventeen-kestrel."


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Memory 1 has two older versions (2, 3) and a row merged into it (4); 5 and 6 are strangers."""
    links = {
        1: {"supersedes": uuid(2)},
        2: {"supersedes": uuid(3), "superseded_by": uuid(1), "invalidated_at": 1_780_000_000_001},
        3: {"superseded_by": uuid(2), "invalidated_at": 1_780_000_000_001},
        4: {"canonical_id": uuid(1), "state": "archived"},
        5: {"memory_category": "cases"},
        6: {"pinned": True},
    }
    rows = [pro_row(n, text=f"{SECRET} {n}", metadata=json.dumps(meta)) for n, meta in links.items()]
    table = write_table(tmp_path / "lancedb-pro", rows, new_table_data_storage_version="2.0")
    table.create_fts_index("text", with_position=True)
    return tmp_path / "lancedb-pro"


def ids(change_set: Any) -> dict[str, str]:
    return {each.id: each.why for each in change_set.changes}


def test_soft_forgetting_archives_and_restore_brings_back_every_byte(chain: Path) -> None:
    before = rows_of(chain)
    engine = engine_at(chain)
    outcome = changes.apply(engine, changes.plan_forget(engine, [uuid(5)]))
    meta = json.loads(row_of(chain, uuid(5))["metadata"])
    assert (outcome.action, meta["state"], meta["memory_layer"]) == ("forget", "archived", "archive")
    changes.apply(engine, changes.plan_restore(engine, [uuid(5)]))
    assert same_rows(rows_of(chain), before)


def test_the_preview_lists_what_stands_behind(chain: Path) -> None:
    planned = changes.plan_forget(engine_at(chain), [uuid(1)], hard=True)
    assert ids(planned) == {
        uuid(1): "",
        uuid(2): "older version",
        uuid(3): "older version",
        uuid(4): "merged into it",
    }
    assert planned.destroys


def test_hard_forgetting_deletes_exactly_that_and_is_undone(chain: Path) -> None:
    before = rows_of(chain)
    engine = engine_at(chain)
    planned = changes.plan_forget(engine, [uuid(1)], hard=True)
    with pytest.raises(RefusedError, match="deletes 4 memories") as refused:
        changes.apply(engine, planned)
    assert "--yes" in refused.value.fix
    outcome = changes.apply(engine, planned, confirmed=True)
    assert rows_of(chain).column("id").to_pylist() == sorted([uuid(5), uuid(6)])
    assert outcome.receipt is not None
    found = outcome.receipt["found"]
    assert (found["newest_version"], found["index"]) == ([], [])
    assert found["versions"], "older versions hold them until the history is shrunk, and the receipt says so"
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(chain), before)


def test_with_the_history_shrunk_no_byte_is_left(chain: Path) -> None:
    kept = [uuid(5), uuid(6)]
    before, schema, formats = (
        rows_of(chain, but=[uuid(n) for n in range(1, 5)]),
        open_store(chain).schema,
        file_formats(chain),
    )
    engine = engine_at(chain)
    changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"importance": 0.9}))
    outcome = changes.apply(
        engine, changes.plan_forget(engine, [uuid(1)], hard=True, shrink=True), confirmed=True
    )
    assert outcome.receipt is not None
    assert outcome.receipt["clean"] is True
    assert outcome.receipt["found"] == {"newest_version": [], "index": [], "versions": [], "files": []}
    assert outcome.receipt["searched"]["files"] > 3
    everything = b"".join(path.read_bytes() for path in chain.parent.rglob("*") if path.is_file())
    for n in (1, 2, 3, 4):
        assert f"{SECRET} {n}".encode() not in everything
    receipts = list(chain.parent.rglob("forget-*.json"))
    assert [SECRET in path.read_text(encoding="utf-8") for path in receipts] == [False]
    after = open_store(chain)
    assert same_rows(rows_of(chain), before)
    assert rows_of(chain).column("id").to_pylist() == sorted(kept)
    assert after.schema == schema
    assert file_formats(chain) == formats
    assert (after.fts_status().version, after.fts_status().positions, after.fts_status().unindexed_rows) == (
        1,
        True,
        0,
    )
    with pytest.raises(RefusedError, match="removed for good"):
        changes.plan_undo(engine, outcome.entry)


def test_what_was_deleted_earlier_can_be_purged_later(chain: Path) -> None:
    engine = engine_at(chain)
    changes.apply(engine, changes.plan_forget(engine, [uuid(5)], hard=True), confirmed=True)
    planned = changes.plan_forget(engine, [uuid(5)], hard=True, shrink=True)
    assert (planned.changes, planned.purges, planned.conflicts) == ((), (uuid(5),), ())
    outcome = changes.apply(engine, planned, confirmed=True)
    assert outcome.receipt is not None
    assert outcome.receipt["clean"] is True
    assert f"{SECRET} 5".encode() not in b"".join(
        p.read_bytes() for p in chain.parent.rglob("*") if p.is_file()
    )


def test_a_history_can_only_be_shrunk_of_a_hard_forget(chain: Path) -> None:
    with pytest.raises(UsageError):
        changes.plan_forget(engine_at(chain), [uuid(5)], shrink=True)


def test_pinned_memories_are_spared_by_sweeps_and_not_by_name(chain: Path) -> None:
    engine = engine_at(chain)
    swept = changes.plan_forget(engine, [uuid(5), uuid(6)], hard=True, spare_pinned=True)
    assert list(ids(swept)) == [uuid(5)]
    assert any("pinned" in note for note in swept.warnings)
    assert list(ids(changes.plan_forget(engine, [uuid(6)], hard=True))) == [uuid(6)]
    assert list(ids(changes.plan_forget(engine, [uuid(5), uuid(6)], spare_pinned=True))) == [uuid(5)]


def test_a_text_that_changed_underneath_is_not_deleted(chain: Path) -> None:
    import lancedb

    engine = engine_at(chain)
    planned = changes.plan_forget(engine, [uuid(5)], hard=True)
    lancedb.connect(chain).open_table("memories").update(
        where=f"id = '{uuid(5)}'", values={"text": "Another."}
    )
    with pytest.raises(RefusedError, match="text"):
        changes.apply(engine, planned, confirmed=True)
    assert row_of(chain, uuid(5))["text"] == "Another."


def test_another_memory_that_says_the_same_is_named(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1, text=SECRET), pro_row(2, text=SECRET)])
    engine = engine_at(tmp_path / "db")
    outcome = changes.apply(
        engine, changes.plan_forget(engine, [uuid(1)], hard=True, shrink=True), confirmed=True
    )
    assert outcome.receipt is not None
    assert outcome.receipt["same_text"] == {uuid(1): [uuid(2)]}
    assert outcome.receipt["clean"] is True


# ---------------------------------------------------------------------- copies in files


@pytest.fixture
def mirrored(chain: Path) -> Path:
    """Mirror lines, a note and a backup of memory 5 beside the store."""
    text = f"{SECRET} 5"
    mirror = chain.parent / "md-mirror" / "2026-09-01.md"
    mirror.parent.mkdir()
    mirror.write_bytes(
        b"- 2026-09-01T11:00:00.000Z [fact:global] agent=main source=memory_store Something else.\r\n"
        + f"- 2026-09-01T11:00:01.000Z [fact:global] agent=main source=memory_store {text}\r\n".encode()
        + b"- 2026-09-01T11:00:02.000Z [fact:global] agent=main source=memory_store Latin \xe9\r\n"
    )
    (chain.parent / "workspace").mkdir()
    (chain.parent / "workspace" / "NOTES.md").write_text(f"# Notes\n\nRemember: {text}\n", encoding="utf-8")
    (chain.parent / "backups").mkdir()
    backup = (
        json.dumps({"id": uuid(5), "text": text}) + "\n" + json.dumps({"id": uuid(9), "text": "x"}) + "\n"
    )
    (chain.parent / "backups" / "memory-backup-2026-09-01.jsonl").write_text(backup, encoding="utf-8")
    return chain


def test_copies_are_listed_with_what_becomes_of_them(mirrored: Path) -> None:
    copies = changes.plan_forget(engine_at(mirrored), [uuid(5)], hard=True).copies
    found = {(Path(each["path"]).name, each["line"], each["kind"], each["goes"]) for each in copies}
    assert found == {
        ("2026-09-01.md", 2, "mirror", True),
        ("NOTES.md", 3, "notes", False),
        ("memory-backup-2026-09-01.jsonl", 1, "backup", False),
    }


def test_mirror_lines_go_and_come_back_to_the_byte(mirrored: Path) -> None:
    mirror = mirrored.parent / "md-mirror" / "2026-09-01.md"
    before = mirror.read_bytes()
    engine = engine_at(mirrored)
    changes.apply(engine, changes.plan_forget(engine, [uuid(5)], hard=True), confirmed=True)
    assert mirror.read_bytes() == b"".join(before.splitlines(keepends=True)[::2])
    changes.apply(engine, changes.plan_undo(engine))
    assert mirror.read_bytes() == before
    changes.apply(engine, changes.plan_redo(engine))
    assert SECRET.encode() not in mirror.read_bytes()


def test_a_mirror_that_cannot_be_written_is_told_of(mirrored: Path) -> None:
    mirror = mirrored.parent / "md-mirror" / "2026-09-01.md"
    engine = engine_at(mirrored)
    planned = changes.plan_forget(engine, [uuid(5)], hard=True)
    mirror.unlink()
    mirror.mkdir()
    outcome = changes.apply(engine, planned, confirmed=True)
    assert any("still holds a copy" in note for note in outcome.warnings)


def test_the_mirrors_that_the_plugin_itself_wrote(shared: Path, tmp_path: Path) -> None:
    source = shared / "fixtures" / "stores" / "pro-cli" / "mirror"
    for path in source.rglob("*.md"):
        target = tmp_path / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    line = next(path.read_text(encoding="utf-8").splitlines()[0] for path in sorted(tmp_path.rglob("*.md")))
    text = line.split("source=memory_store ", 1)[1]
    write_table(tmp_path / "db", [pro_row(1, text=text)])
    (copy, *_) = changes.plan_forget(engine_at(tmp_path / "db"), [uuid(1)], hard=True).copies
    assert (copy["kind"], copy["line"], copy["goes"]) == ("mirror", 1, True)


# ---------------------------------------------------------------------- real stores


def test_forgetting_in_a_copy_of_the_peers_store(shared: Path, tmp_path: Path) -> None:
    with tarfile.open(shared / "fixtures" / "peer" / "store-clean.tar.gz") as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / "store-clean"
    row = next(each for each in rows_of(folder).to_pylist() if "6543 through pgbouncer" in each["text"])
    formats = file_formats(folder)
    engine: Engine = engine_at(folder)
    outcome = changes.apply(
        engine, changes.plan_forget(engine, [row["id"]], hard=True, shrink=True), confirmed=True
    )
    assert outcome.receipt is not None
    assert outcome.receipt["clean"] is True
    files = b"".join(path.read_bytes() for path in (folder / "memories.lance").rglob("*") if path.is_file())
    assert row["text"].encode() not in files
    assert row["id"].encode() not in files
    assert open_store(folder).count() == 266
    assert file_formats(folder) == formats
    assert version_of(folder) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["builtin-old", "builtin-mixed", "builtin-new"])
def test_the_built_in_stores_delete_edit_and_undo(shared: Path, tmp_path: Path, name: str) -> None:
    with tarfile.open(shared / "fixtures" / "stores" / f"{name}.tar.gz") as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / name
    before, schema = rows_of(folder), open_store(folder).schema
    ids_of = [each for each in before.column("id").to_pylist() if each != "__schema__"][:3]
    engine = engine_at(folder)
    with pytest.raises(RefusedError, match="no state"):
        changes.plan_forget(engine, ids_of)
    with pytest.raises(UsageError, match="have no tier"):
        changes.plan_edit(engine, ids_of, {"tier": "core"})
    changes.apply(engine, changes.plan_edit(engine, ids_of, {"importance": 0.111, "category": "decision"}))
    assert {row_of(folder, each)["importance"] for each in ids_of} == {0.111}
    changes.apply(engine, changes.plan_forget(engine, ids_of[:1], hard=True), confirmed=True)
    assert rows_of(folder).num_rows == before.num_rows - 1
    assert not (folder / ".memory-write.lock").exists(), "these stores have no lock"
    changes.apply(engine, changes.plan_undo(engine))
    changes.apply(engine, changes.plan_undo(engine))
    assert same_rows(rows_of(folder), before)
    assert open_store(folder).schema == schema


def test_forgetting_does_not_read_every_version(chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The receipt names one version that holds what went, however many there are."""
    from memtui.engine.store.writer import Writer

    engine = engine_at(chain)
    for n in range(12):
        changes.apply(engine, changes.plan_edit(engine, [uuid(6)], {"importance": 0.3 + n / 100}))
    opened: list[int] = []
    real = Writer.at

    def counted(self: Writer, version: int) -> Any:
        opened.append(version)
        return real(self, version)

    monkeypatch.setattr(Writer, "at", counted)
    outcome = changes.apply(engine, changes.plan_forget(engine, [uuid(5)], hard=True), confirmed=True)
    assert len(opened) < 5
    assert outcome.receipt is not None
    assert outcome.receipt["found"]["versions"] == [outcome.version_before]
    assert outcome.receipt["searched"] == {"versions": 1, "files": 0}


def test_what_is_said_of_older_versions_is_what_the_table_is_set_to(chain: Path, tmp_path: Path) -> None:
    """A table of Python's engine cleans nothing up by itself; one of the plugin does, at the age it names."""
    (note,) = [
        each
        for each in changes.plan_forget(engine_at(chain), [uuid(5)], hard=True).warnings
        if "Older versions" in each
    ]
    assert "automatically" in note
    assert "14" not in note


def test_a_table_of_the_plugin_says_its_own_age(shared: Path, tmp_path: Path) -> None:
    with tarfile.open(shared / "fixtures" / "peer" / "store-lived.tar.gz") as tar:
        tar.extractall(tmp_path, filter="data")
    folder = next(tmp_path.rglob("memories.lance")).parent
    first = str(rows_of(folder).column("id")[0])
    (note,) = [
        each
        for each in changes.plan_forget(engine_at(folder), [first], hard=True).warnings
        if "Older versions" in each
    ]
    assert "14 days" in note
