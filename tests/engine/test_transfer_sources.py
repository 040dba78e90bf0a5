"""Every real source of fixtures/sources, point by point against what a correct importer must get."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import tree_hash
from tests.engine.transfer_world import Source, expected


@pytest.fixture(scope="session")
def sources(shared: Path) -> Path:
    return shared / "fixtures" / "sources"


def test_basic_memory_gives_each_observation(sources: Path) -> None:
    wanted = expected(sources / "basic-memory")
    source = Source(sources / "basic-memory" / "project")
    assert source.name == "basic-memory"
    assert len(source.records) == wanted["memories"]
    found = {
        (r.text, r.category, r.tags, r.rest.get("context"), r.title, r.foreign_id, r.scope)
        for r in source.records
    }
    assert found == {
        (
            c["text"],
            c["category"],
            tuple(c["tags"]),
            c["context"],
            c["noteTitle"],
            c["foreignId"],
            c["scope"],
        )
        for c in wanted["canonical"]
    }
    assert Counter(r.category for r in source.records) == wanted["byCategory"]
    links = {(r.foreign_id, link) for r in source.records for link in r.links}
    assert len(links) == wanted["relations"]
    assert not set(wanted["mustNotBecomeMemories"]) & set(source.texts)
    gateway = next(r for r in source.records if r.title == "Shore Gateway")
    assert gateway.rest["front_matter"] == wanted["frontmatterCustomKeys"]["keys"]
    assert gateway.rest["note_tags"] == wanted["frontmatterCustomKeys"]["tagsAsText"]


def test_mem0_lists_overlap_and_keep_everything(sources: Path) -> None:
    wanted = expected(sources / "mem0")
    seen = {}
    for name, count in wanted["perFile"].items():
        source = Source(sources / "mem0" / name)
        assert (source.name, len(source.records)) == ("mem0", count)
        seen |= {record.foreign_id: record for record in source.records}
    assert len(seen) == wanted["distinctMemories"]
    for each in wanted["canonical"]:
        record = seen[each["foreignId"]]
        assert record.id == each["foreignId"]
        assert (record.text, record.category, record.scope) == (each["text"], None, each["scope"])
        assert (record.timestamp_ms, record.updated_ms) == (each["timestampMs"], each["updatedMs"])
        assert record.rest.get("metadata") == each["metadata"]
        assert record.rest.get("agent_id") == each["alsoAgent"]
        assert record.rest.get("run_id") == each["run"]
        assert record.rest.get("actor_id") == each["actor"]
        assert record.rest.get("attributed_to") == each["attributedTo"]
        assert record.rest["hash"] == each["md5"]
        assert (record.valid_until_ms is None) == (each["validUntil"] is None)
    guest_desk = seen["106ff8ee-ee86-4797-b025-b547df15d057"]
    assert guest_desk.valid_until_ms == 1_782_863_999_999  # the last millisecond of 2026-06-30
    assert wanted["deletedMustNotAppear"] not in {record.text for record in seen.values()}


def test_mem0_platform_pages(sources: Path) -> None:
    wanted = expected(sources / "mem0")["handmade.platform-v3"]
    pages = [Source(sources / "mem0" / f"handmade.platform-v3-page{n}.json") for n in (1, 2)]
    records = {record.foreign_id: record for page in pages for record in page.records}
    assert len(records) == wanted["memories"]
    for each in wanted["canonical"]:
        record = records[each["foreignId"]]
        assert record.id is None
        assert (record.text, record.category) == (each["text"], each["category"])
        assert (list(record.tags), record.scope) == (each["tags"], each["scope"])
        assert (record.timestamp_ms, record.superseded_by) == (each["timestampMs"], each["replacedBy"])
        assert record.rest["app_id"] == each["app"]
        assert (record.invalidated_ms is not None) == (each["replacedBy"] is not None)
    assert "3 of 5 memories, and a next page" in pages[0].remarks


def test_mem0_other_forms(sources: Path) -> None:
    wanted = expected(sources / "mem0")
    folder = sources / "mem0"
    assert len(Source(folder / "handmade.v1-bare-list.json").records) == 2
    backup = Source(folder / "handmade.openmemory-backup.zip")
    assert [
        (r.foreign_id, r.text, r.category, r.rest["state"], r.timestamp_ms, r.rest["app"])
        for r in backup.records
    ] == [
        (c["foreignId"], c["text"], c["category"], c["state"], c["timestampMs"], c["app"])
        for c in wanted["handmade.openmemory-backup.zip"]["canonical"]
    ]
    assert [r.state for r in backup.records] == ["confirmed", "archived", "archived"]
    assert [each.why for each in backup.rejected] == ["it was deleted there"]
    search = Source(folder / "search.json")
    assert "belongs to a search, not to the memory" in search.said("score")


def test_letta_passages_and_blocks(sources: Path) -> None:
    wanted = expected(sources / "letta")
    pages = [
        Source(sources / "letta" / f"handmade.archival-page{n}.json", agent=wanted["agentName"])
        for n in (1, 2)
    ]
    records = {record.foreign_id: record for page in pages for record in page.records}
    assert len(records) == wanted["memories"]
    for each in wanted["canonical"]:
        record = records[each["foreignId"]]
        assert (record.text, list(record.tags), record.scope) == (each["text"], each["tags"], each["scope"])
        assert record.timestamp_ms == each["timestampMs"]
        assert record.rest["archive_id"] == each["archive"]
        assert record.rest.get("file_name") == each["fileName"]
        assert record.rest.get("metadata") == each["metadata"]
        assert record.vector is None
    assert {each.why for page in pages for each in page.rejected} == {"it was deleted there"}
    blocks = Source(sources / "letta" / "handmade.blocks.json")
    assert blocks.texts == ["Name: Mira. Builds buoys."]
    agent_file = Source(sources / "letta" / "handmade.agent.af")
    assert agent_file.records == []
    assert "no archival passages" in agent_file.remarks
    nameless = Source(sources / "letta" / "handmade.archival-page1.json")
    assert "does not say which agent" in nameless.remarks


def test_mem_engine_exports(sources: Path) -> None:
    wanted = expected(sources / "mem-engine")
    for name, count in wanted["files"].items():
        source = Source(sources / "mem-engine" / name)
        assert (source.name, len(source.records)) == ("mem-engine", count)
    records = {r.id: r for r in Source(sources / "mem-engine" / "export.jsonl").records}
    for each in wanted["canonical"]:
        record = records[each["id"]]
        assert (record.text, record.category) == (each["text"], each["category"])
        assert (record.importance, record.rest["importance_label"]) == (each["importance"], each["label"])
        assert (record.scope, record.trust, record.timestamp_ms) == (
            each["scope"],
            each["trust"],
            each["timestampMs"],
        )
    assert [r.id for r in records.values() if r.masked] == [wanted["redacted"]["id"]]


def test_chat_memory(sources: Path) -> None:
    folder = sources / "chat-memory"
    wanted = expected(folder)
    pasted = Source(folder / "handmade.pasted.txt")
    assert [(r.text, r.timestamp_ms) for r in pasted.records] == [
        (c["text"], c["timestampMs"]) for c in wanted["handmade.pasted.txt"]["canonical"]
    ]
    assert {r.trust for r in pasted.records} == {"low (pasted model output)"}
    assert len(pasted.rejected) == 2
    assert Source(folder / "handmade.pasted-plain.txt").texts == wanted["handmade.pasted-plain.txt"]["texts"]
    plain = Source(folder / "handmade.pasted-nobrackets.txt")
    assert len(plain.records) == 5
    assert plain.records[3].timestamp_ms is None
    for name in ("handmade.claude-memories.json", "handmade.claude-export.zip"):
        claude = Source(folder / name)
        assert claude.texts == wanted["handmade.claude-memories.json"]["candidates"]
        headings = [r.heading for r in claude.records if r.heading]
        assert list(dict.fromkeys(headings)) == wanted["handmade.claude-memories.json"]["headingHints"]
        assert claude.records[-1].scope == "project:11111111-2222-4333-8444-555555555555"
    chatgpt = Source(folder / "handmade.chatgpt-conversations.json")
    assert [(r.text, r.timestamp_ms) for r in chatgpt.records] == [
        (c["text"], c["timestampMs"]) for c in wanted["handmade.chatgpt-conversations.json"]["canonical"]
    ]


def test_memory_core_notes(sources: Path, unpack: Callable[[Path], Path]) -> None:
    wanted = expected(sources / "memory-core")["markdownImport"]
    home = unpack(sources / "memory-core" / "home.tar.gz")
    before = tree_hash(home)
    source = Source(home)
    assert source.name == "markdown"
    assert source.detected.evidence[-1] == "of main"
    root = ".openclaw/workspace/"
    for each in wanted["mustContain"]:
        (record,) = [
            r for r in source.records if r.text == each["text"] and r.rest["path"] == root + each["path"]
        ]
        assert (record.heading, record.scope, record.category) == (each["heading"], each["scope"], None)
        assert (record.timestamp_ms, record.time_from) == (each["timestampMs"], each["timestampFrom"])
    for path, counts in wanted["bulletCounts"].items():
        bullets = sum(r.rest["path"] == root + path for r in source.records)
        assert bullets == sum(count for kind, count in counts.items() if kind != "headerBullets")
    for unwanted in wanted["mustNotContainAsMemory"]:
        assert not [text for text in source.texts if unwanted in text]
    assert "a symbolic link is not followed" in {each.why for each in source.rejected}
    assert tree_hash(home) == before


def test_memory_core_index(sources: Path, unpack: Callable[[Path], Path]) -> None:
    wanted = expected(sources / "memory-core")["sqlite"]
    home = unpack(sources / "memory-core" / "home.tar.gz")
    before = tree_hash(home)
    source = Source(home / ".openclaw" / "memory" / "main.sqlite", sessions=True)
    assert source.name == "memory-core"
    assert "48 numbers each" in source.detected.evidence[1]
    found = {
        (r.foreign_id, r.rest["path"], r.rest["source"], r.rest["start_line"], r.rest["end_line"])
        for r in source.records
    }
    assert found == {
        (c["id"], c["path"], c["source"], c["startLine"], c["endLine"]) for c in wanted["chunks"]
    }
    assert {r.model for r in source.records} == {wanted["model"]}
    assert all(r.vector is not None and r.vector.shape == (wanted["dims"],) for r in source.records)
    assert {r.scope for r in source.records} == {"agent:main"}
    without = Source(home / ".openclaw" / "memory" / "main.sqlite")
    assert len(without.records) == sum(c["source"] == "memory" for c in wanted["chunks"])
    assert tree_hash(home) == before


def test_tables_are_mapped_and_read(sources: Path) -> None:
    wanted = expected(sources / "tabular")["files"]
    pandas = Source(sources / "tabular" / "pandas.csv")
    assert [
        (r.foreign_id, r.text, r.category, r.scope, r.timestamp_ms, r.importance, list(r.tags))
        for r in pandas.records
    ] == [
        (c["foreignId"], c["text"], c["category"], c["scope"], c["timestampMs"], c["importance"], c["tags"])
        for c in wanted["pandas.csv"]["canonical"]
    ]
    assert [each.why for each in pandas.rejected] == ["its text is empty"]
    german = wanted["handmade.semicolon-utf8-bom.csv"]["canonical"]
    for name in ("handmade.semicolon-utf8-bom.csv", "handmade.semicolon-cp1252.csv"):
        source = Source(sources / "tabular" / name)
        assert [(r.foreign_id, r.text, r.category, r.importance, r.timestamp_ms) for r in source.records] == [
            (c["foreignId"], c["text"], c["category"], c["importance"], c["timestampMs"]) for c in german
        ]
    assert "read as Windows-1252" in source.remarks
    nested = Source(sources / "tabular" / "handmade.nested.jsonl")
    assert [(r.foreign_id, r.text, r.timestamp_ms) for r in nested.records] == [
        (c["foreignId"], c["text"], c["timestampMs"]) for c in wanted["handmade.nested.jsonl"]["canonical"]
    ]
    assert nested.records[0].rest["columns"]["meta"]["channel"] == {"name": "telegram", "id": 42}


def test_parquet_of_another_program(sources: Path) -> None:
    wanted = expected(sources / "tabular")["files"]["vectors.parquet"]
    source = Source(sources / "tabular" / "vectors.parquet")
    for record, each in zip(source.records, wanted["canonical"], strict=True):
        assert (record.id, record.text, record.timestamp_ms) == (
            each["foreignId"],
            each["text"],
            each["timestampMs"],
        )
        raw = each["rawImportance"]
        assert record.importance == (None if raw is None else min(raw, 1.0))
        width = None if record.vector is None else len(record.vector)
        assert width == {"ok": 16, "null": None, "wrong length 5": 5}[each["vector"]]


def test_the_plugins_vault_and_mirror(shared: Path, unpack: Callable[[Path], Path]) -> None:
    cli = shared / "fixtures" / "stores" / "pro-cli"
    export = {r.id: r for r in Source(cli / "export-all.json.gz").records if r.id}
    vault = Source(unpack(cli / "vault.tar.gz"))
    assert (vault.name, len(vault.records)) == ("obsidian", 267)
    for record in vault.records:
        original = export[str(record.id)]
        assert (record.text.strip(), record.category, record.scope) == (
            original.text.strip(),
            original.category,
            original.scope,
        )
    mirror = Source(cli / "mirror")
    assert (mirror.name, len(mirror.records)) == ("mirror", 17)
    assert Counter(r.scope for r in mirror.records) == {
        "agent:ops": 6,
        "agent:ghost": 5,
        "agent:main": 5,
        "global": 1,
    }
    assert "cut at 500 characters by the mirror" in mirror.said("text")


def test_an_export_of_claude_with_a_file_for_each_account(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", "[]")
        archive.writestr("users.json", "[]")
        for account in ("one", "two"):
            told = {"conversations_memory": f"The buoy of account {account} is red.", "account_uuid": account}
            archive.writestr(f"memories/{account}.json", json.dumps(told))
    source = Source(path)
    assert source.name == "claude"
    assert sorted(source.texts) == ["The buoy of account one is red.", "The buoy of account two is red."]
