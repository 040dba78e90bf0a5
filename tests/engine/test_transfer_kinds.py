"""Sources as people really have them: exports in parts, tables of any make, odd cells, what is no list of memories."""

from __future__ import annotations

import json
import sqlite3
import time
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memtui.engine.capture.conversation import read_conversations
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.transfer.importing.near_copies import kind_of
from tests.engine.transfer_stores import memory, opened, own_store, planned
from tests.engine.transfer_world import Source, write_json


def _talk(number: int, saved: str | None) -> dict[str, Any]:
    """A conversation of ChatGPT's export, with a sentence that went to its memory or without one."""

    def node(role: str, text: str, name: str | None = None) -> dict[str, Any]:
        return {
            "author": {"role": role, "name": name},
            "content": {"parts": [text]},
            "create_time": 1_735_689_660.0,
        }

    told = [node("user", f"I say {number}")]
    if saved:
        told += [node("assistant", saved), node("tool", "Model set context updated.", "bio")]
    mapping = {
        str(at): {"message": each, "parent": str(at - 1) if at else None} for at, each in enumerate(told)
    }
    return {"id": f"c{number}", "title": f"Talk {number}", "mapping": mapping}


def _claude_talk(number: int) -> dict[str, Any]:
    return {
        "uuid": f"u{number}", "name": "", "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
        "chat_messages": [{"uuid": "m", "text": "hello", "sender": "human", "created_at": "2026-01-02T03:04:05Z"}],
    }  # fmt: skip


def _packed(folder: Path, files: dict[str, Any]) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str) else json.dumps(value))
    return path


def _unpacked(folder: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return folder


Make = Callable[[Path, dict[str, Any]], Path]

FORMS = pytest.mark.parametrize("make", [_packed, _unpacked])


# ---------------------------------------------------------------------- exports of chat services


@FORMS
@pytest.mark.parametrize(
    "names",
    [
        ("conversations-000.json", "conversations-001.json"),
        ("conversations-2.json", "conversations-10.json"),
        ("a/conversations.json", "b/conversations.json"),
        ("conversations.json", "conversations (1).json"),
    ],
)
def test_every_part_of_a_chatgpt_export_is_read(tmp_path: Path, make: Make, names: tuple[str, str]) -> None:
    files = {name: [_talk(at, f"Keeps {at} herons."), _talk(at + 9, None)] for at, name in enumerate(names)}
    path = make(tmp_path / "export", {**files, "user.json": {"id": "u"}, "chat.html": "<html></html>"})
    source = Source(path)
    assert (source.name, source.texts) == ("chatgpt", ["Keeps 0 herons.", "Keeps 1 herons."])
    assert len(read_conversations(path)) == 4


@FORMS
def test_an_export_without_a_saved_memory_says_so_and_offers_capture(tmp_path: Path, make: Make) -> None:
    ours = Source(make(tmp_path / "a", {"conversations-000.json": [_talk(1, None)], "user.json": {}}))
    theirs = Source(
        make(tmp_path / "b", {"conversations.json": [_claude_talk(1), _claude_talk(2)], "users.json": []})
    )
    assert (ours.name, theirs.name) == ("chatgpt", "claude")
    for source, many in ((ours, "1 conversation "), (theirs, "2 conversations")):
        assert source.records == []
        assert many in source.remarks
        assert "no saved memory" in source.remarks
        assert "memtui capture" in source.remarks


@FORMS
def test_claudes_memories_come_from_every_part(tmp_path: Path, make: Make) -> None:
    parts = {
        f"memories-{at:03}.json": [{"conversations_memory": f"Likes tea number {at}."}] for at in range(2)
    }
    source = Source(make(tmp_path / "export", {**parts, "conversations.json": [_claude_talk(1)]}))
    assert (source.name, source.texts) == ("claude", ["Likes tea number 0.", "Likes tea number 1."])
    assert "left alone" in source.remarks


def test_a_file_of_claudes_conversations_is_known(tmp_path: Path) -> None:
    source = Source(write_json(tmp_path / "conversations.json", [_claude_talk(1)]))
    assert (source.name, source.records) == ("claude", [])


# ---------------------------------------------------------------------- what is no list of memories


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "2026-01-01\n2026-01-02\n2026-01-03T10:00:00Z\n"),
        ("a.txt", "https://example.org/a\nhttps://example.org/b\n"),
        ("a.txt", "3f2504e0-4f89-41d3-9a0c-0305e82c3301\n3f2504e0-4f89-41d3-9a0c-0305e82c3302\n"),
        ("a.txt", "User: what is up?\nAssistant: nothing at all.\n"),
        ("a.txt", "<?xml version='1.0'?>\n<memories><m>The mill is old.</m></memories>\n"),
        ("a.json", "The mill is old.\nThe lid is tin.\n"),
        ("a.yaml", "memory: The mill is old.\nother: The lid is tin.\n"),
        ("a.vcf", "BEGIN:VCARD\nFN:Ana\nEND:VCARD\n"),
        (
            "a.csv",
            "id,text\n1,The mill, which is old, grinds\n2,a\n3,The lid, of tin, fits\n4,It, too, is, old\n",
        ),
    ],
)
def test_what_is_something_else_is_no_list_of_memories(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MemtuiError) as refused:
        Source(path)
    assert "--format" in f"{refused.value.fix}" or "capture" in f"{refused.value.fix}"
    assert Source(path, "pasted").records, "a person who knows better is believed"


@pytest.mark.parametrize(
    "rows",
    [
        [{"title": "A long title of a talk", "messages": [{"role": "user", "content": "hello"}]}],
        [
            {"role": "user", "content": "What is the port of it?"},
            {"role": "assistant", "content": "It is 80."},
        ],
        [{"conversations": [{"from": "human", "value": "hello"}], "id": "1"}],
    ],
)
def test_conversations_in_json_are_offered_to_capture(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    for path in (write_json(tmp_path / "a.json", rows), lines):
        with pytest.raises(MemtuiError) as refused:
            Source(path)
        assert "memtui capture" in f"{refused.value.fix}"


@pytest.mark.parametrize(
    "rows",
    [
        [{"uuid": "u", "updated": "2026-01-02T03:04:05.123456Z", "n": 3}],
        [{"url": "https://example.org/a/very/long/address/of/a/page", "name": "Ana Silva"}],
        [{"title": "A title that has many words in it", "kind": "x"}],
        [{"text": "https://example.org/a"}, {"text": "https://example.org/b"}],
    ],
)
def test_no_column_is_taken_for_a_text_that_reads_like_none(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    path = write_json(tmp_path / "a.json", rows)
    with pytest.raises(UsageError, match="No column was found"):
        Source(path)
    column = next(key for key in ("updated", "url", "title", "text") if key in rows[0])
    assert len(Source(path, mapping={"text": column}).records) == len(rows)


@pytest.mark.parametrize("form", ["document", "lines", "texts"])
def test_json_that_was_written_twice_is_read(tmp_path: Path, form: str) -> None:
    rows = [{"memory": "The mill is old.", "tags": ["a"]}, {"memory": "The lid is tin.", "tags": []}]
    path = tmp_path / "a.json"
    path.write_text(
        {
            "document": json.dumps(json.dumps(rows)),
            "lines": "\n".join(json.dumps(json.dumps(row)) for row in rows),
            "texts": json.dumps([json.dumps(row) for row in rows]),
        }[form]
    )
    source = Source(path)
    assert (source.name, source.texts) == ("json", ["The mill is old.", "The lid is tin."])


def test_of_several_lists_in_a_document_the_one_with_objects_is_taken(tmp_path: Path) -> None:
    found = {"tags": ["red", "blue"], "users": {"a": 1}, "entries": [{"text": "The mill is old."}]}
    source = Source(write_json(tmp_path / "a.json", found))
    assert source.texts == ["The mill is old."]
    assert "tags, users" in source.remarks


def test_a_knowledge_graph_gives_its_observations(tmp_path: Path) -> None:
    relation = {"type": "relation", "from": "Ana", "to": "Dome", "relationType": "works_at"}
    entities = [
        {
            "type": "entity",
            "name": "Ana",
            "entityType": "person",
            "observations": ["Works late", "Ana likes tea"],
        },
        {"type": "entity", "name": "Dome", "entityType": "place", "observations": [], "extra": 1},
    ]
    lines = tmp_path / "memory.json"
    lines.write_text("\n".join(json.dumps(each) for each in (relation, *entities)), encoding="utf-8")
    document = write_json(tmp_path / "graph.json", {"entities": entities, "relations": [relation]})
    for path in (lines, document):
        source = Source(path)
        assert (source.name, source.texts) == ("knowledge-graph", ["Ana: Works late", "Ana likes tea"])
        assert [record.rest["relations"][0]["to"] for record in source.records] == ["Dome", "Dome"]
        assert [each.text for each in source.rejected] == ["Dome"]


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("text", "texts", "kept"),
    [
        ('sep=;\nid;text;created\n1;"The mill";2024-05-06\n2;The lid;2024-05-07\n', ["The mill", "The lid"], {}),
        ("sep=\t\nid\ttext\n1\tThe mill\n", ["The mill"], {}),
        ("Export of 2024\n\nid,text,at\n1,The mill,2024-05-06\n2,The lid,2024-05-07\n", ["The mill", "The lid"], {}),
        ("Export,,\nmade today,,\n,,\nid,text,note\n1,The mill,x\n2,The lid,y\n", ["The mill", "The lid"],
         {"note": "x"}),
        ("\n\n\nid,text\n1,The mill\n2,The lid\n", ["The mill", "The lid"], {}),
        ("id,text,note,note\n1,The mill,a,b\n2,The lid,c,d\n", ["The mill", "The lid"], {"note": "a", "note (2)": "b"}),
        ("text,text\nThe mill,of stone\nThe lid,of tin\n", ["The mill", "The lid"], {"text (2)": "of stone"}),
        ("memory\n\"The mill, and old\"\nThe lid is tin\n", ["The mill, and old", "The lid is tin"], {}),
        ("1,The mill is old,2024-05-06\n2,The lid,2024-05-07\n", ["The mill is old", "The lid"], {"column 1": "1"}),
        ("The first of them all is data,work\nThe second is too,home\n",
         ["The first of them all is data", "The second is too"], {"column 2": "work"}),
        ("a,,text\nx,y,The mill\nz,w,The lid\n", ["The mill", "The lid"], {"a": "x", "column 2": "y"}),
    ],
)  # fmt: skip
def test_a_table_is_read_as_it_is_laid_out(
    tmp_path: Path, text: str, texts: list[str], kept: dict[str, str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    source = Source(path)
    assert (source.name, source.texts) == ("csv", texts)
    columns = source.records[0].rest.get("columns", {})
    assert {key: columns.get(key) for key in kept} == kept


def test_a_header_may_be_longer_than_what_is_looked_at_first(tmp_path: Path) -> None:
    names = [f"a rather long name of a column {at}" for at in range(20_000)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join([*names, "text"]) + "\n" + ",".join(["x"] * len(names)) + ",The mill is old\n")
    source = Source(path)
    assert (source.name, source.texts) == ("csv", ["The mill is old"])
    assert len(source.records[0].rest["columns"]) == len(names)


def test_a_vector_in_a_table_is_read_where_it_is_one_and_told_where_not(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('id,text,vec\n1,The mill,"[0.5, 1]"\n2,The lid,no vector\n3,The owl,"[""a""]"\n')
    source = Source(path, mapping={"text": "text", "vector": "vec"})
    assert [None if r.vector is None else r.vector.tolist() for r in source.records] == [
        [0.5, 1.0],
        None,
        None,
    ]
    assert source.said("vector") == ["not a list of numbers: re-embedded"] * 2


def _parquet(path: Path, columns: list[tuple[str, pa.Array]]) -> Path:
    arrays = [array for _, array in columns]
    pq.write_table(pa.Table.from_arrays(arrays, names=[name for name, _ in columns]), path)
    return path


TEXTS = pa.array(["The mill is old", "The lid is tin"])


@pytest.mark.parametrize(
    "vectors",
    [
        pa.array([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6]]]),
        pa.array([[[0.1, 0.2]], [[0.5, 0.6]]], pa.list_(pa.list_(pa.float32(), 2), 1)),
        pa.array(["[0.1]", "x"]),
        pa.array([[True], [False]]),
        pa.array([b"\x00\x01", b"\xff"]),
        pa.array([{"a": 1.0}, {"a": 2.0}]),
    ],
    ids=["multivector", "fixed multivector", "text", "bools", "bytes", "struct"],
)
def test_a_column_that_holds_no_vectors_is_told_and_embedded_anew(tmp_path: Path, vectors: pa.Array) -> None:
    path = _parquet(tmp_path / "a.parquet", [("text", TEXTS), ("vector", vectors)])
    source = Source(path, mapping={"text": "text", "vector": "vector"})
    assert [record.vector for record in source.records] == [None, None]
    assert source.said("vector") == ["not a list of numbers: re-embedded"] * 2


def test_a_parquet_table_keeps_doubled_columns_decimals_and_bytes(tmp_path: Path) -> None:
    columns = [
        ("text", TEXTS),
        ("importance", pa.array([Decimal("0.70"), Decimal("1.00")])),
        ("note", pa.array(["a", "b"])),
        ("note", pa.array([Decimal("0.1234567890123456789"), None], pa.decimal128(25, 19))),
        ("raw", pa.array([b"abc", b"\xff"])),
        ("deep", pa.array([{"d": Decimal("1.5")}, {"d": None}])),
    ]
    source = Source(_parquet(tmp_path / "a.parquet", columns))
    first, second = source.records
    assert (first.importance, second.importance) == (0.7, 1.0)
    assert first.rest["columns"] == {
        "note": "a",
        "note (2)": "0.1234567890123456789",
        "raw": "abc",
        "deep": {"d": 1.5},
    }
    assert second.rest["columns"]["raw"] == "/w=="
    json.dumps(first.rest, allow_nan=False)


# ---------------------------------------------------------------------- memory-core's index


def _index(
    path: Path, rows: list[tuple[Any, ...]], mtime: Any = 1_750_000_000_000, *, log: bool = False
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        if log:
            db.execute("PRAGMA journal_mode=WAL")
        db.executescript(
            "CREATE TABLE chunks (id, path, source, start_line, end_line, hash, model, text, embedding, updated_at);"
            "CREATE TABLE files (path, source, hash, mtime, size); CREATE TABLE meta (key, value);"
        )
        db.executemany("INSERT INTO chunks VALUES (?, ?, 'memory', 1, 2, 'h', ?, ?, ?, ?)", rows)
        db.execute("INSERT INTO files VALUES ('MEMORY.md', 'memory', 'h', ?, 1)", (mtime,))
        db.commit()
    return path


SOUND = ("a", "MEMORY.md", "m", "The mill is old.", "[0.1, 0.2]", 1_750_000_000_000)


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        (3, None, "it has no text"),
        (3, b"\xff\xfe", "its text is bytes, not a text"),
        (3, 12.5, "its text is a number, not a text"),
        (1, None, "it has no file"),
        (1, b"\xff", "its file is bytes, not a text"),
        (1, 7, "its file is a number, not a text"),
    ],
)
def test_an_odd_chunk_is_told_and_the_others_are_taken(
    tmp_path: Path, column: int, value: Any, why: str
) -> None:
    odd = list(SOUND)
    odd[0], odd[column] = "b", value
    source = Source(_index(tmp_path / "memory" / "main.sqlite", [SOUND, tuple(odd)]))
    assert source.texts == ["The mill is old."]
    assert [each.why for each in source.rejected] == [why]


@pytest.mark.parametrize("value", [None, "yesterday", b"\xff\x00", float("inf"), -1, 2**62])
def test_odd_times_models_and_vectors_of_an_index_cost_only_themselves(tmp_path: Path, value: Any) -> None:
    row = ("a", "MEMORY.md", value, "The mill is old.", value, value)
    source = Source(_index(tmp_path / "memory" / "main.sqlite", [row], value))
    assert source.texts == ["The mill is old."]
    assert source.records[0].vector is None
    json.dumps(source.records[0].rest, allow_nan=False)


@pytest.mark.parametrize("lead", ["", "memory", "agents/main/agent"])
def test_a_folder_that_holds_indexes_is_read_as_they_are(tmp_path: Path, lead: str) -> None:
    folder = tmp_path / "state"
    name = "openclaw-agent.sqlite" if lead.startswith("agents") else "main.sqlite"
    _index(folder / lead / name, [SOUND, ("b", "MEMORY.md", "m", None, "[0.1, 0.2]", 1)])
    source = Source(folder)
    assert (source.name, source.texts) == ("memory-core", ["The mill is old."])
    assert [each.why for each in source.rejected] == ["it has no text"]
    assert source.rejected[0].where.startswith(f"{lead}/{name}".strip("/"))


def test_of_two_indexes_of_one_agent_in_a_folder_its_own_database_is_read(tmp_path: Path) -> None:
    old, both = ("a", "MEMORY.md", "m", "As it was.", "[0.1, 0.2]", 1), tmp_path / "state"
    _index(both / "memory" / "main.sqlite", [old])
    _index(both / "memory" / "other.sqlite", [("c", "MEMORY.md", "m", "Another's.", "[0.1, 0.2]", 1)])
    _index(both / "agents" / "main" / "agent" / "openclaw-agent.sqlite", [SOUND])
    source = Source(both)
    assert source.texts == ["The mill is old.", "Another's."]
    assert [each.scope for each in source.records] == ["agent:main", "agent:other"]


def test_notes_beside_an_index_are_the_source(tmp_path: Path) -> None:
    _index(tmp_path / "memory" / "main.sqlite", [SOUND])
    (tmp_path / "MEMORY.md").write_text("- The mill is red.\n", encoding="utf-8")
    assert Source(tmp_path).texts == ["The mill is red."]


def test_a_damaged_index_in_a_folder_is_no_folder_without_one(tmp_path: Path) -> None:
    path = _index(tmp_path / "memory" / "main.sqlite", [SOUND])
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 4000)
    with pytest.raises(MemtuiError, match="is damaged"):
        Source(tmp_path)


@pytest.mark.parametrize(
    "head", ["title: >-\n  A long title\n  over two lines", "标题: A long title over two lines"]
)
def test_a_single_note_keeps_its_title(tmp_path: Path, head: str) -> None:
    note = tmp_path / "note.md"
    note.write_text(f"---\n{head}\ntags: [one]\n---\n\n- The mill is old.\n", encoding="utf-8")
    record = Source(note).records[0]
    assert (record.title, record.tags) == ("A long title over two lines", ("one",))


def test_a_title_or_tags_that_are_no_text_stay_with_the_head(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("---\ntitle:\n  de: Mühle\ntags:\n  a: b\n---\n\n- The mill is old.\n", encoding="utf-8")
    record = Source(note).records[0]
    assert record.rest["front_matter"] == {"title": {"de": "Mühle"}, "tags": {"a": "b"}}


def test_reading_a_database_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = _index(tmp_path / "memory" / "main.sqlite", [SOUND], log=True)
    before = path.read_bytes()
    assert sorted(each.name for each in path.parent.iterdir()) == ["main.sqlite"]
    assert Source(path).texts == ["The mill is old."]
    assert sorted(each.name for each in path.parent.iterdir()) == ["main.sqlite"]
    assert path.read_bytes() == before


def test_a_database_whose_log_was_copied_along_is_read_with_it(tmp_path: Path) -> None:
    path = _index(tmp_path / "live" / "memory" / "main.sqlite", [SOUND], log=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE chunks SET text = 'The mill is new.'")
        db.commit()
        copy = tmp_path / "copy" / "memory" / "main.sqlite"
        copy.parent.mkdir(parents=True)
        for end in ("", "-wal"):
            Path(f"{copy}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
        assert Source(path).texts == ["The mill is new."], "beside its running program"
    assert Source(copy).texts == ["The mill is new."]
    assert sorted(each.name for each in copy.parent.iterdir()) == ["main.sqlite", "main.sqlite-wal"]


# ---------------------------------------------------------------------- agent files


def test_blocks_of_an_agent_file_go_to_the_agents_that_have_them(tmp_path: Path) -> None:
    found = {
        "agents": [
            {"id": "agent-0", "name": "scribe", "block_ids": ["b1", "b3"]},
            {"id": "agent-1", "name": "cook", "block_ids": ["b2", "b3"]},
        ],
        "blocks": [
            {"id": "b1", "label": "human", "value": "Writes at night.", "limit": 500},
            {"id": "b2", "label": "human", "value": "Cooks at noon."},
            {"id": "b3", "label": "house", "value": "The door is green."},
            {"id": "b4", "label": "loose", "value": "Nobody's block."},
        ],
        "tools": [{"name": "t"}],
    }
    path = write_json(tmp_path / "two.af", found)
    source = Source(path)
    assert [(record.text, record.scope) for record in source.records] == [
        ("Writes at night.", "agent:scribe"),
        ("Cooks at noon.", "agent:cook"),
        ("The door is green.", "agent:scribe"),
        ("The door is green.", "agent:cook"),
        ("Nobody's block.", None),
    ]
    assert source.records[0].rest["limit"] == 500
    assert "tools" in source.remarks
    picked = Source(path, agent="cook")
    assert [record.text for record in picked.records] == ["Cooks at noon.", "The door is green."]
    assert [each.why for each in picked.rejected] == [
        "it belongs to scribe",
        "it belongs to no agent of the file",
    ]
    assert {record.scope for record in Source(path, agent="other").records} == {"agent:other"}


# ---------------------------------------------------------------------- vaults and archives

HEAD = """---
title: >-
  A long title
  over two lines
summary: |
  first line
  second: line
标题: 会议
author:
  name: me
  email: me@example.org
tags: [[misc], "a, b", two/three]
aliases: [A, "B, C"]
url: https://example.org/a?b=c#d
"odd key": yes
---

- The note itself
"""


@FORMS
def test_a_vault_keeps_what_its_notes_say_of_themselves(tmp_path: Path, make: Make) -> None:
    path = make(
        tmp_path / "vault",
        {
            "a.md": HEAD, "._a.md": "\x00\x05\x16\x07- trash", "__MACOSX/._a.md": "- trash", ".trash/b.md": "- trash",
            ".obsidian/c.md": "- trash",
        },
    )  # fmt: skip
    (record,) = Source(path, "obsidian").records
    assert (record.text, record.title) == ("The note itself", "A long title over two lines")
    assert record.tags == ("misc", "a, b", "two/three")
    assert record.rest["front_matter"] == {
        "summary": "first line\nsecond: line",
        "标题": "会议",
        "author": {"name": "me", "email": "me@example.org"},
        "aliases": ["A", "B, C"],
        "url": "https://example.org/a?b=c#d",
        "odd key": "yes",
    }


def test_a_rule_at_the_top_of_a_note_is_no_head(tmp_path: Path) -> None:
    path = _unpacked(tmp_path / "vault", {"a.md": "---\n- The mill is old\n---\n- The lid is tin\n"})
    assert Source(path, "obsidian").texts == ["The mill is old", "The lid is tin"]


def test_backslashes_divide_folders_of_an_archive(tmp_path: Path) -> None:
    path = _packed(
        tmp_path / "vault",
        {"notes\\a.md": HEAD, "notes\\.trash\\b.md": "- trash", "..\\c.md": "- out", "C:\\d.md": "- out"},
    )
    source = Source(path, "obsidian")
    assert [record.rest["path"] for record in source.records] == ["notes/a.md"]
    assert {each.why for each in source.rejected} == {"its name leaves the archive"}


# ---------------------------------------------------------------------- time that grows as the input does


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


RUNS = {
    "letters": "a", "digits": "1", "mixed": "a1", "dots": "1.", "spaces": " ", "open": "[[a", "bracket": "[",
    "hashes": "#", "tags": "#1", "dashes": "- ", "quotes": '"', "ticks": "`", "stars": "*", "colons": "a:", "han": "会",
    "underscores": "_a", "slashes": "/", "backslashes": "\\\\", "commas": ",", "braces": "{",
}  # fmt: skip


@pytest.mark.parametrize("unit", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("form", ["pasted", "obsidian", "csv", "kind", "claude"])
def test_a_long_run_without_a_break_takes_time_in_proportion(tmp_path: Path, form: str, unit: str) -> None:
    """Four times the text may take eight times as long at the most; a square would take sixteen."""

    def work(length: int) -> Callable[[], object]:
        run = f"The mill {unit * (length // len(unit))}x"
        if form == "kind":
            return lambda: kind_of(run)
        if form == "claude":
            path = write_json(tmp_path / f"{length}.json", [{"conversations_memory": run}])
        else:
            path = tmp_path / f"{length}.{'md' if form == 'obsidian' else 'txt'}"
            lines = {
                "pasted": run,
                "obsidian": f"---\na: {run}\n---\n- {run}\n\n# {run}\n",
                "csv": f"id,text\n1,{run}\n",
            }
            path.write_text(lines[form], encoding="utf-8")
        return lambda: _read(path, form)

    small, large = work(10_000), work(40_000)
    small()
    assert _seconds(large) < 8 * _seconds(small) + 0.1


def _read(path: Path, form: str) -> None:
    with suppress(MemtuiError):  # a table of quotes alone is none; how long it takes to say so counts as well
        Source(path, form)


@pytest.mark.parametrize("form", ["obsidian", "markdown"])
def test_an_archive_of_many_files_takes_time_in_proportion(tmp_path: Path, form: str) -> None:
    def packed(count: int) -> Path:
        notes = {f"n{at}/memory/2026-01-01.md": f"- The note number {at}" for at in range(count)}
        return _packed(tmp_path / f"notes{count}", notes)

    small, large = packed(250), packed(1_500)
    assert len(Source(large, form).records) == 1_500
    assert _seconds(lambda: Source(large, form)) < 12 * _seconds(lambda: Source(small, form)) + 0.1


# ---------------------------------------------------------------------- through the whole import


def test_what_is_left_out_of_an_index_reaches_the_plan(tmp_path: Path) -> None:
    odd = ("b", None, "m", "Lost in place.", "[0.1]", 1)
    engine = opened(own_store(tmp_path / "store", [memory(1, "The kiln needs a seal.")]), tmp_path / "state")
    plan = planned(engine, _index(tmp_path / "memory" / "main.sqlite", [SOUND, odd]))
    assert plan.counts["new"] == 1
    assert any("it has no file" in each["why"] for each in plan.as_json()["rejected"])
    plan.close()


def test_a_table_in_the_first_data_format_is_listed(tmp_path: Path) -> None:
    import lancedb

    new = own_store(tmp_path / "store", [memory(1, "The kiln."), memory(2, "The lid.")])
    (name,) = (each.stem for each in new.iterdir() if each.suffix == ".lance")
    rows = lancedb.connect(str(new)).open_table(name).to_arrow()
    old = tmp_path / "old"
    legacy = {"new_table_data_storage_version": "legacy"}
    lancedb.connect(str(old), storage_options=legacy).create_table(name, rows)
    read = opened(old, tmp_path / "state")
    read.load_catalog()
    read.load_metadata()
    ids = [f"00000000-0000-4000-8000-{number:012x}" for number in (2, 1)]
    assert [each.raw_text for each in read.memories(ids).values()] == ["The lid.", "The kiln."]
