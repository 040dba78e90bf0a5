"""Exports of every form: what is in them, that they are the same each time, and what comes back from them."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from memtui.engine import transfer
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.engine import Engine
from memtui.engine.transfer.exporting.export import FIRST, START_CHARS
from memtui.engine.transfer.exporting.request import Exported, ExportRequest
from memtui.engine.transfer.registry import EXPORT_FORMATS
from tests.conftest import tree_hash
from tests.engine.transfer_stores import (
    imported,
    memory,
    opened,
    own_store,
    planned,
    pro_store,
    rows_of,
)

SECRET = "The deploy token = Tr0ub4dor&3horse for staging."
ODD = [
    memory(1, "Plain text about the kiln.", metadata={"l0_abstract": "kiln", "unknown": [1, {"deep": None}]}),
    memory(2, "Two lines\nand a tab\there \u202e with \x1b[31m colours \U0001f30a.", scope="agent:main"),
    memory(3, "=HYPERLINK(1)", importance=None, category="preference", metadata={"tags": ["a", "b"]}),
    memory(4, SECRET, metadata={"l2_content": SECRET, "memory_category": "cases"}),
    memory(5, "日本語のメモ", scope=None, metadata=None),
    memory(6, "ok", metadata="not json", timestamp=1_772_000_000.0),
    memory(7, "Same again.", category="events"),
    memory(8, "Same again.", category="events", timestamp=0.0),
]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(own_store(tmp_path / "store", ODD), tmp_path / "state")


def _export(engine: Engine, path: Path, format_name: str, **options: Any) -> Exported:
    return transfer.export_memories(engine, ExportRequest(path, format_name, **options))


def _lost(done: Any) -> set[str]:
    return {loss.field for loss in done.loss}


@pytest.mark.parametrize("format_name", ["jsonl", "parquet"])
@pytest.mark.parametrize("make", [own_store, pro_store])
def test_our_own_forms_give_equal_rows(
    tmp_path: Path, format_name: str, make: Callable[[Path, list[dict[str, Any]]], Path]
) -> None:
    engine = opened(make(tmp_path / "store", ODD), tmp_path / "state")
    path = tmp_path / f"all.{format_name}"
    done = _export(engine, path, format_name, vectors=True, mask=False)
    assert (done.rows, done.masked, done.loss) == (8, 0, ())
    copy = opened(make(tmp_path / "copy", []), tmp_path / "state")
    plan = planned(copy, path)
    assert (plan.counts["new"], plan.losses(), len(plan.to_embed())) == (8, (), 0)
    transfer.run_import(copy, plan)
    plan.close()
    assert rows_of(copy) == rows_of(engine)


@pytest.mark.parametrize("format_name", ["jsonl", "json", "csv", "parquet", "markdown", "obsidian"])
def test_the_same_data_gives_the_same_bytes(engine: Engine, tmp_path: Path, format_name: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for path in (first, second):
        _export(engine, path, format_name)
    if first.is_dir():
        names = sorted(each.relative_to(first) for each in first.rglob("*.md"))
        assert names == sorted(each.relative_to(second) for each in second.rglob("*.md"))
        assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    else:
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("format_name", ["jsonl", "json", "csv", "parquet", "markdown", "obsidian"])
def test_secrets_are_masked_everywhere_unless_asked_for(
    engine: Engine, tmp_path: Path, format_name: str
) -> None:
    def holds(path: Path) -> bool:
        if format_name == "parquet":
            return "Tr0ub4dor" in str(pq.read_table(path).to_pylist())
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
        return any(b"Tr0ub4dor" in each.read_bytes() for each in files)

    done = _export(engine, tmp_path / "masked", format_name)
    assert done.masked == 1
    assert not holds(tmp_path / "masked")
    assert "text" in _lost(done)
    _export(engine, tmp_path / "whole", format_name, mask=False)
    assert holds(tmp_path / "whole")


def test_the_plugins_form_has_the_plugins_structure(
    shared: Path, tmp_path: Path, unpack: Callable[[Path], Path]
) -> None:
    theirs = json.loads(gzip.decompress((shared / "fixtures/stores/pro-cli/export-all.json.gz").read_bytes()))
    engine = opened(unpack(shared / "fixtures/peer/store-clean.tar.gz"), tmp_path / "state", writable=False)
    path = tmp_path / "export.json"
    _export(engine, path, "json", mask=False)
    ours = json.loads(path.read_text(encoding="utf-8"))
    assert list(ours) == list(theirs)
    assert ours["version"] == theirs["version"]
    assert ours["count"] == theirs["count"] == len(ours["memories"])
    by_id = {row["id"]: row for row in theirs["memories"]}
    assert {row["id"]: row for row in ours["memories"]} == by_id
    assert [list(row) for row in ours["memories"]] == [list(by_id[row["id"]]) for row in ours["memories"]]
    times = [row["timestamp"] for row in ours["memories"]]
    assert times == sorted(times, reverse=True)
    assert path.read_text(encoding="utf-8").startswith('{\n  "version": "1.0",\n  "exportedAt": "2026-11-2')


def test_their_export_through_our_store_is_their_export(shared: Path, tmp_path: Path) -> None:
    source = shared / "fixtures/stores/pro-cli/export-all.json.gz"
    theirs = json.loads(gzip.decompress(source.read_bytes()))
    engine = opened(pro_store(tmp_path / "store"), tmp_path / "state")
    done = imported(engine, source, rules_off=frozenset(("exact", "near", "secret")))
    assert done.added == 267
    engine.load_catalog()
    engine.load_metadata()
    path = tmp_path / "export.json"
    _export(engine, path, "json", mask=False)
    ours = {row["id"]: row for row in json.loads(path.read_text(encoding="utf-8"))["memories"]}
    changed = Counter(
        field for row in theirs["memories"] for field in row if ours[row["id"]][field] != row[field]
    )
    empty = opened(pro_store(tmp_path / "empty"), tmp_path / "state")
    plan = planned(empty, source, rules_off=frozenset(("exact", "near", "secret")))
    ledger: Counter[str] = Counter()
    for loss in plan.losses():
        ledger[loss.field] += loss.rows
    assert changed == {"metadata": 3}
    assert ledger == {"metadata": 3, "timestamp": 1}  # a time of 0 is left unknown, and stays 0
    plan.close()


def test_csv_runs_nothing_and_comes_back(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    done = _export(engine, path, "csv", mask=False)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert not [row for row in rows if row["text"].startswith("=")]
    assert "text" in _lost(done)
    copy = opened(own_store(tmp_path / "copy"), tmp_path / "state")
    imported(copy, path, rules_off=frozenset(("exact", "near", "short", "secret", "noise")))
    back, were = rows_of(copy), rows_of(engine)
    assert back.keys() == were.keys()
    for each, row in were.items():
        assert back[each]["text"].removeprefix("'") == row["text"]
        assert json.loads(back[each]["metadata"]) is not None


@pytest.mark.parametrize("form", ["markdown", "obsidian"])
def test_notes_are_not_written_to_a_folder_that_is_called_like_a_file(
    engine: Engine, tmp_path: Path, form: str
) -> None:
    with pytest.raises(UsageError, match="folder of files") as refused:
        _export(engine, tmp_path / "notes.md", form)
    assert str(tmp_path / "notes") in str(refused.value.fix)
    assert not (tmp_path / "notes.md").exists()
    (tmp_path / "vault.md").mkdir()
    assert _export(engine, tmp_path / "vault.md", form).rows, "a folder that is there is meant"


def test_markdown_is_what_memory_core_reads(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    done = _export(engine, folder, "markdown", mask=False)
    assert done.files == 1 + len(list((folder / "memory").glob("*.md")))
    copy = opened(own_store(tmp_path / "copy"), tmp_path / "state")
    imported(copy, folder, rules_off=frozenset(("exact", "near", "short", "secret", "noise")))
    texts = {" ".join(row["text"].split()) for row in rows_of(copy).values()}
    assert texts == {" ".join(str(row["text"]).split()) for row in ODD}
    assert {"id", "scope", "metadata", "timestamp", "importance", "category", "vector"} <= _lost(done)


def test_a_vault_comes_back_whole(engine: Engine, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    _export(engine, vault, "obsidian", mask=False)
    before = tree_hash(vault)
    _export(engine, vault, "obsidian", mask=False)
    assert tree_hash(vault) == before
    copy = opened(own_store(tmp_path / "copy"), tmp_path / "state")
    imported(copy, vault, rules_off=frozenset(("exact", "near", "short", "secret", "noise")))
    back, were = rows_of(copy), rows_of(engine)
    assert back.keys() == were.keys()
    for each in ("1", "2", "3", "4"):
        key = memory(int(each), "")["id"]
        for column in ("text", "category", "scope", "timestamp", "tier", "state"):
            assert back[key][column] == were[key][column], column


def test_only_what_a_filter_or_marks_choose(engine: Engine, tmp_path: Path) -> None:
    done = _export(engine, tmp_path / "a.jsonl", "jsonl", filter="scope:agent:main")
    assert done.rows == len((tmp_path / "a.jsonl").read_text().splitlines()) == 1
    ids = (memory(3, "")["id"], memory(1, "")["id"])
    done = _export(engine, tmp_path / "b.jsonl", "jsonl", ids=ids)
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [ids[1], ids[0]]
    with pytest.raises(UsageError):
        _export(engine, tmp_path / "c.jsonl", "jsonl", filter="nonsense:::")
    assert not (tmp_path / "c.jsonl").exists()


def test_a_dry_run_counts_the_same_and_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    request = ExportRequest(tmp_path / "sub" / "a.json", "json")
    dry = transfer.export_memories(engine, request, dry_run=True)
    assert not (tmp_path / "sub").exists()
    done = transfer.export_memories(engine, request)
    assert (dry.rows, dry.masked, dry.loss) == (done.rows, done.masked, done.loss)


def test_nothing_is_overwritten_unasked_and_nothing_left_half_done(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("mine")
    with pytest.raises(RefusedError, match="is there already"):
        _export(engine, path, "jsonl")
    assert path.read_text() == "mine"
    _export(engine, path, "jsonl", overwrite=True)
    assert len(path.read_text().splitlines()) == 8
    with pytest.raises(UsageError, match="is a folder"):
        _export(engine, tmp_path, "jsonl")
    with pytest.raises(UsageError, match="no form 'xml'"):
        _export(engine, tmp_path / "a.xml", "xml")
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".part")] == []


def test_a_full_disk_leaves_no_file(engine: Engine) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("left out: this system has no /dev/full")
    from memtui.engine.transfer.exporting.request import open_text

    with pytest.raises(OSError, match="No space"), open_text(full) as file:
        file.write("x" * (1 << 21))


def test_reading_for_an_export_changes_nothing(tmp_path: Path) -> None:
    folder = own_store(tmp_path / "store", ODD)
    engine = opened(folder, tmp_path / "state", writable=False)
    before = tree_hash(folder)
    _export(engine, tmp_path / "a.jsonl", "jsonl", vectors=True)
    assert tree_hash(folder) == before


@pytest.mark.parametrize("format_name", [each.name for each in EXPORT_FORMATS])
def test_what_is_shown_before_is_how_the_written_files_begin(tmp_path: Path, format_name: str) -> None:
    few = [each for each in ODD if each["text"] != SECRET][:FIRST]
    engine = opened(own_store(tmp_path / "store", few), tmp_path / "state")
    path = tmp_path / "out"
    shown = transfer.first_files(engine, ExportRequest(path, format_name))
    assert not path.exists()
    _export(engine, path, format_name)
    written = {each.relative_to(path).as_posix(): each for each in path.rglob("*.md")} or {"out": path}
    assert {each.name for each in shown} == set(written)
    for each in shown:
        if format_name == "parquet":
            assert all(str(row["id"]) in each.text for row in few)
        else:
            assert each.text == written[each.name].read_text("utf-8")[:START_CHARS]


def test_a_secret_is_never_in_what_is_shown_before(engine: Engine, tmp_path: Path) -> None:
    for format_name in (each.name for each in EXPORT_FORMATS):
        shown = transfer.first_files(engine, ExportRequest(tmp_path / "out", format_name, mask=False))
        assert shown
        assert "Tr0ub4dor" not in "".join(each.text for each in shown)


@pytest.mark.parametrize("format_name", [each.name for each in EXPORT_FORMATS if each.folder])
def test_notes_that_were_there_are_not_counted_as_written(
    engine: Engine, tmp_path: Path, format_name: str
) -> None:
    place = tmp_path / "vault"
    place.mkdir()
    (place / "mine.md").write_text("x" * 1_000_000, "utf-8")
    done = _export(engine, place, format_name)
    written = [each for each in place.rglob("*.md") if each.name != "mine.md"]
    assert done.files == len(written) > 1
    assert done.size_bytes == sum(each.stat().st_size for each in written)


LONG_NAMES = {
    "Chinese": "记" * 400,
    "Japanese": "庭の道具は物置にある。" * 40,
    "emoji of several signs": "👩‍👩‍👧‍👦" * 60,
    "Hindi": "बगीचे की सीढ़ी " * 40,
    "decomposed": "e\u0301a\u0308" * 150,
    "words": "the ladder of the joiner " * 30,
}


@pytest.mark.parametrize("name", LONG_NAMES)
@pytest.mark.parametrize("format_name", ["obsidian", "markdown"])
def test_a_name_longer_than_a_file_system_takes_is_cut_and_its_memory_kept(
    tmp_path: Path, format_name: str, name: str
) -> None:
    text = LONG_NAMES[name].strip()
    rows = [
        memory(1, text, metadata={"l0_abstract": text}),
        memory(2, f"{text} 2", metadata={"l0_abstract": text}),
        memory(3, "Short.", scope=f"custom:{text}"),
    ]
    engine = opened(own_store(tmp_path / "long", rows), tmp_path / "state")
    done = _export(engine, tmp_path / "vault", format_name, mask=False)
    assert done.rows == 3
    files = [each for each in (tmp_path / "vault").rglob("*") if each.is_file()]
    assert all(len(part.encode()) <= 255 for each in files for part in each.relative_to(tmp_path).parts)
    written = "".join(each.read_text(encoding="utf-8") for each in files)
    assert written.count(text) >= 2
