"""Broken, huge and hostile sources, point by point: each ends in a sentence, none in a traceback."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.core.content_rules import instruction_like
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.secrets import find_secrets, mask
from memtui.engine.core.text import clean
from tests.conftest import tree_hash
from tests.engine.transfer_world import Source, write_json
from tests.timing import spent


@pytest.fixture(scope="session")
def nasty(shared: Path) -> Path:
    return shared / "fixtures" / "sources" / "nasty"


@pytest.fixture(scope="session")
def wanted(nasty: Path) -> dict[str, Any]:
    files: dict[str, Any] = json.loads((nasty / "expected.json").read_text())["files"]
    return files


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken.json", "Expecting ',' delimiter at line 37, column 7"),
        ("empty.json", "empty.json is empty"),
        ("only-bom.json", "only-bom.json is empty"),
        ("html-login.json", "is HTML"),
        ("deep.json", "nested deeper"),
    ],
)
def test_a_document_that_cannot_be_read_says_why(nasty: Path, name: str, message: str) -> None:
    with pytest.raises(MemtuiError, match=message) as caught:
        Source(nasty / name)
    assert caught.value.fix


def test_a_broken_line_is_named_and_the_others_are_offered(nasty: Path, wanted: dict[str, Any]) -> None:
    source = Source(nasty / "broken-line.jsonl")
    assert len(source.records) == wanted["broken-line.jsonl"]["good"]
    (bad,) = source.rejected
    assert bad.broken
    assert bad.where == f"line {wanted['broken-line.jsonl']['line']}"
    assert f"column {wanted['broken-line.jsonl']['columnInLine']}" in bad.why


def test_a_file_cut_off_inside_a_character(nasty: Path) -> None:
    source = Source(nasty / "truncated-utf8.jsonl")
    assert len(source.records) == 1
    assert (source.rejected[0].where, source.rejected[0].broken) == ("line 2", True)
    assert "cut off inside a character" in source.rejected[0].why


def test_nul_bytes(nasty: Path) -> None:
    lines = Source(nasty / "nul.jsonl")
    assert lines.texts == ["escaped  inside", "Row 3"]
    assert lines.said("text") == ["NUL characters removed"]
    assert (lines.rejected[0].where, lines.rejected[0].broken) == ("line 2", True)
    note = Source(nasty / "nul.md")
    assert note.texts == ["beforeafter", "plain row"]
    assert note.said("text") == ["NUL characters removed"]
    assert [each.why for each in note.rejected] == ["its text is empty"]


def test_five_megabytes_on_one_line(nasty: Path, tmp_path: Path) -> None:
    plain = tmp_path / "oneline-5mb.md"
    plain.write_bytes(gzip.decompress((nasty / "oneline-5mb.md.gz").read_bytes()))
    lines = tmp_path / "lines-5mb.md"
    lines.write_text(plain.read_text(encoding="utf-8").replace(". ", ".\n\n"), encoding="utf-8")
    beside = spent(lambda: Source(lines), tries=1)
    for path in (plain, nasty / "oneline-5mb.md.gz"):
        read: list[Source] = []
        assert spent(lambda path=path, read=read: read.append(Source(path)), tries=1) < 10 * beside  # type: ignore[misc]
        source = read[0]
        assert max(map(len, source.texts)) <= 1_600
        assert sum(map(len, source.texts)) > 5_200_000
        assert set(source.said("text")) == {
            "longer than 4,000 characters: split into pieces of at most 1,600"
        }


def test_times_of_every_kind(nasty: Path, wanted: dict[str, Any]) -> None:
    source = Source(nasty / "timestamps.json")
    assert len(source.records) == wanted["timestamps.json"]["rows"]
    for record, each in zip(source.records, wanted["timestamps.json"]["expected"], strict=True):
        assert record.text == each["text"]
        if isinstance(each["timestampMs"], int):
            assert record.timestamp_ms == each["timestampMs"]
            continue
        assert record.timestamp_ms is None
        assert (each["raw"] is None) == (not record.notes)
        if each["raw"] is not None:
            assert record.rest["timestamp_as_given"] == each["raw"]


def test_importance_of_every_kind(nasty: Path, wanted: dict[str, Any]) -> None:
    records = [r for r in Source(nasty / "categories-importance.json").records if "importance" in r.text]
    for record, each in zip(records, wanted["categories-importance.json"]["importance"], strict=True):
        value = str(each["value"])
        if value.startswith("unknown"):
            assert record.importance in (None, 0.8)
            assert record.importance is None or record.notes
        else:
            assert record.importance == float(value.split(maxsplit=1)[0])


def test_only_whole_vectors_are_taken(nasty: Path, wanted: dict[str, Any]) -> None:
    lines = Source(nasty / "vectors.jsonl")
    usable = [
        r.text.removeprefix("vector ") for r in lines.records if r.vector is not None and len(r.vector) == 4
    ]
    assert usable == wanted["vectors.jsonl"]["usable"]
    table = Source(nasty / "vectors.parquet")
    taken = [r.foreign_id for r in table.records if r.vector is not None and len(r.vector) == 4]
    assert taken == wanted["vectors.parquet"]["usableVectors"]


def test_a_hostile_archive_unpacks_nothing(nasty: Path, wanted: dict[str, Any], tmp_path: Path) -> None:
    archive = tmp_path / "inside" / "hostile.zip"
    archive.parent.mkdir()
    archive.write_bytes((nasty / "hostile.zip").read_bytes())
    before = tree_hash(tmp_path)
    source = Source(archive)
    assert tree_hash(tmp_path) == before
    assert set(wanted["hostile.zip"]["harmless"]) <= set(source.texts)
    why = {each.where: each.why for each in source.rejected}
    assert (
        why["../../escape.md"]
        == why["/absolute/evil.md"]
        == why["C:\\evil.md"]
        == "its name leaves the archive"
    )
    assert "symbolic link" in why["memory/link.md"]
    assert "83,886,080 bytes" in why["memory/big.md"]
    assert not [text for text in source.texts if "traversal" in text or "hostname" in text]


def test_hostile_texts_stay_as_they_are_and_orders_are_noticed(nasty: Path, wanted: dict[str, Any]) -> None:
    rows = json.loads((nasty / "hostile-text.json").read_text())["memories"]
    source = Source(nasty / "hostile-text.json")
    assert source.texts == [row["text"] for row in rows]
    flagged = [
        json.loads(row["metadata"])["case"] for row in rows if instruction_like(row["text"]) is not None
    ]
    assert flagged == wanted["hostile-text.json"]["flagAsInjectionLike"]
    notes = Source(nasty / "hostile-text.md")
    assert len(notes.records) == 7
    assert "\x1b" not in clean(" ".join(notes.texts))


def test_secrets_are_found_by_kind_and_masked(nasty: Path) -> None:
    rows = json.loads((nasty / "secrets.parts.json").read_text())["rows"]
    judgement = ("phone",)
    for row in rows:
        text = "".join(row["textParts"])
        found = find_secrets(text)
        assert bool(found) == (row["kind"] not in judgement)
        masked, count = mask(text)
        assert count == len(found)
        assert masked.startswith("Remember: ")
        assert masked.endswith(" (demo)")
        for secret in found:
            assert text[secret.start : secret.end] not in masked


@pytest.mark.parametrize(
    "text",
    [
        "secret: the cake",
        "Wi-Fi guest password rotates on Mondays.",
        "The webhook secret is read from the variable LARK_HOOK_SECRET_V2",
        "The shared 1Password vault is called Larkspur",
        "token: see vault",
        "Rotate the demo key monthly: sk-[REDACTED]",
        "https://example.org/a:b@c",
    ],
)
def test_talk_about_secrets_is_no_secret(text: str) -> None:
    assert find_secrets(text) == ()


def test_duplicate_and_unusable_ids(nasty: Path) -> None:
    records = Source(nasty / "duplicate-ids.json").records
    assert len(records) == 11
    assert [r.id for r in records].count(None) == 5
    assert [r.foreign_id for r in records if r.foreign_id] == ["upper-case-x'y"]


def test_small_oddities(nasty: Path) -> None:
    with pytest.raises(MemtuiError, match="is a tar archive"):
        Source(nasty.parent / "memory-core" / "home.tar.gz")
    assert Source(nasty / "strings.json").texts == ["just", "three", "strings"]
    big = Source(nasty / "bigint.json").records[0]
    assert big.timestamp_ms is None
    surrogate = Source(nasty / "surrogate.json").records[0]
    assert surrogate.text == "lone \ufffd surrogate"
    latin = Source(nasty / "latin1.md")
    assert latin.texts == ["Größe und Maß"]
    assert "read as Windows-1252" in latin.remarks
    assert Source(nasty / "crlf-bom-mixed.md").texts == ["one", "two", "three"]


def test_metadata_that_is_no_object_is_never_lost(nasty: Path) -> None:
    records = Source(nasty / "metadata-broken.json").records
    assert [r.metadata for r in records] == [
        "{not json",
        "[1,2]",
        '"text"',
        None,
        '{"already": "an object"}',
        '{"a":1,"a":2}',
    ]


def test_a_mark_that_the_body_contradicts_names_the_byte(shared: Path) -> None:
    path = shared / "fixtures" / "sources" / "tabular" / "handmade.bom-then-cp1252.csv"
    with pytest.raises(MemtuiError, match="byte 38 is the first"):
        Source(path)
    assert len(Source(path, encoding="cp1252").records) == 4


def test_a_locked_index_says_who_holds_it(nasty: Path, unpack: Callable[[Path], Path]) -> None:
    home = unpack(nasty.parent / "memory-core" / "home.tar.gz")
    index = home / ".openclaw" / "memory" / "main.sqlite"
    holder = (
        "import sqlite3, sys\n"
        f"db = sqlite3.connect({str(index)!r}, isolation_level=None)\n"
        "db.execute('BEGIN EXCLUSIVE')\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        process.stdout.readline()
        with pytest.raises(MemtuiError, match="held by another program"):
            Source(index)
        assert process.poll() is None, "it still holds the index"
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    assert len(Source(index).records) == 11


def test_an_uncommitted_write_beside_us_is_not_seen(nasty: Path, unpack: Callable[[Path], Path]) -> None:
    index = unpack(nasty.parent / "memory-core" / "home.tar.gz") / ".openclaw" / "memory" / "main.sqlite"
    writer = sqlite3.connect(index, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("BEGIN")
    writer.execute("DELETE FROM chunks")
    assert len(Source(index).records) == 11
    writer.execute("ROLLBACK")
    writer.close()


@pytest.mark.parametrize(("size", "message"), [(4096, "damaged"), (0, "is empty")])
def test_a_cut_index_is_damaged_or_empty(
    nasty: Path, unpack: Callable[[Path], Path], size: int, message: str
) -> None:
    index = unpack(nasty.parent / "memory-core" / "home.tar.gz") / ".openclaw" / "memory" / "main.sqlite"
    index.write_bytes(index.read_bytes()[:size])
    with pytest.raises(MemtuiError, match=message):
        Source(index)


def test_what_is_not_there_or_no_format(tmp_path: Path) -> None:
    with pytest.raises(MemtuiError, match="no file or folder"):
        Source(tmp_path / "absent.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MemtuiError, match="neither Markdown nor a LanceDB table"):
        Source(tmp_path / "empty")
    numbers = write_json(tmp_path / "numbers.json", [1, 2, 3])
    with pytest.raises(MemtuiError, match="holds no memories"):
        Source(numbers)
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 40 + bytes(4000))
    with pytest.raises(MemtuiError):
        Source(tmp_path / "noise.bin")
