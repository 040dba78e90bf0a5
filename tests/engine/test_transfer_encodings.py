"""Texts in UTF-16 and UTF-32, with and without a byte order mark: read whole or refused, never full of NULs."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from memtui.engine.core.errors import MemtuiError
from tests.engine.transfer_world import Source

TEXTS = [
    "The tide gauge reports every 6 minutes.",
    "波高グラフは毎朝六時に更新される。",
    "Ćwiczenie 🌊 żółć",
    "end",
]
MARKED = [
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-8", codecs.BOM_UTF8),
]


def table(rows: int) -> tuple[str, list[str]]:
    """A CSV text of so many rows, and their texts."""
    texts = [f"{TEXTS[n % len(TEXTS)]} {n}" for n in range(rows)]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["text", "scope"])
    writer.writerows([each, "global"] for each in texts)
    return out.getvalue(), texts


def outcome(path: Path, **options: object) -> tuple[str, list[str]]:
    """Why a source was refused, whole or in part, and the texts that were taken."""
    try:
        source = Source(path, **options)  # type: ignore[arg-type]
    except MemtuiError as error:
        return str(error), []
    return " ".join(each.why for each in source.rejected), source.texts


@pytest.mark.parametrize("rows", [3, 2_000])
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize(("encoding", "mark"), MARKED)
def test_a_table_with_a_byte_order_mark(
    tmp_path: Path, encoding: str, mark: bytes, rows: int, pad: int
) -> None:
    text, texts = table(rows)
    path = tmp_path / "table.csv"
    path.write_bytes(mark + ("x" * pad + text).encode(encoding))
    source = Source(path) if not pad else Source(path, "csv", mapping={"text": "xtext", "scope": "scope"})
    assert source.texts == texts
    assert "Windows" not in source.remarks


@pytest.mark.parametrize("wanted", ["utf-16", "UTF16", "utf-16-le", "utf_32"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF16_LE])
def test_a_named_encoding_is_taken_or_refused_with_a_reason(tmp_path: Path, wanted: str, mark: bytes) -> None:
    text, texts = table(900)
    path = tmp_path / "table.csv"
    path.write_bytes(mark + text.encode("utf-16-le"))
    if "32" in wanted:
        with pytest.raises(MemtuiError, match="UTF-32"):
            Source(path, "csv", encoding=wanted)
        return
    assert Source(path, "csv", encoding=wanted).texts == texts


@pytest.mark.parametrize("name", ["no-such", "base64", "rot13", "zlib", "idna", ""])
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    for file, content in (("a.csv", "text,scope\na,b\n"), ("a.md", "# A\n\n- one line of it\n")):
        path = tmp_path / file
        path.write_text(content)
        if not name:
            assert Source(path, encoding=name).texts
            continue
        # alone it is an error; as a file among others it is left out, with the reason
        why, texts = outcome(path, encoding=name)
        assert texts == []
        assert "encoding" in why


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("name", ["a.csv", "a.md", "a.txt", "a.jsonl", "a.json"])
def test_without_a_mark_it_is_refused_and_not_stored_with_nuls(
    tmp_path: Path, encoding: str, name: str
) -> None:
    path = tmp_path / name
    text = {
        "csv": table(20)[0],
        "json": json.dumps(["one", "two"]),
        "jsonl": '{"text": "one"}\n{"text": "two"}\n',
    }
    path.write_bytes(
        text.get(name.partition(".")[2], "# Notes\n\n- a first line\n- a second line\n").encode(encoding)
    )
    why, texts = outcome(path)
    assert texts == []
    assert why


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_notes_lists_and_lines_with_a_mark(tmp_path: Path, encoding: str) -> None:
    for name, content in (
        ("notes.md", "# Notes\n\n- the tide gauge reports\n- 波高グラフ\n"),
        ("lines.jsonl", '{"text": "the tide gauge reports"}\n{"text": "波高グラフ"}\n'),
        ("list.json", '["the tide gauge reports", "波高グラフ"]'),
    ):
        path = tmp_path / name
        path.write_bytes(content.encode(encoding))
        assert Source(path).texts == ["the tide gauge reports", "波高グラフ"], name


def test_a_mark_that_the_rest_contradicts_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(codecs.BOM_UTF16_LE + "text\none\n".encode("utf-16-le") + b"\x00")
    with pytest.raises(MemtuiError, match="UTF-16"):
        Source(path)
    packed = tmp_path / "odd.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(MemtuiError):
        Source(packed, "csv")


def test_no_text_with_a_nul_comes_out_of_any_format_of_others(tmp_path: Path) -> None:
    for name, content in (
        ("a.jsonl", '{"text": "be\\u0000fore"}\n'),
        ("a.json", '["be\\u0000fore"]'),
        ("a.csv", "text,scope\nbe\x00fore,global\n"),
        ("mem0.json", '{"results": [{"memory": "be\\u0000fore", "hash": "x", "created_at": null}]}'),
        ("note.md", "- be\x00fore\n"),
    ):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        source = Source(path)
        assert source.texts == ["before"], name
        assert source.said("text") == ["NUL characters removed"], name
