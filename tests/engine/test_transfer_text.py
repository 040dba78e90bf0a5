"""The parts that every reader stands on: streamed JSON, Markdown entries, front matter, long texts, times."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.transfer.detection import detect
from memtui.engine.transfer.sources import json_stream
from memtui.engine.transfer.sources.fields import PIECE, pieces
from memtui.engine.transfer.sources.front_matter import split
from memtui.engine.transfer.sources.json_stream import BrokenJsonError, JsonReader
from memtui.engine.transfer.sources.markdown import entries
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.original_lines import source_lines
from memtui.engine.transfer.sources.text import numbered
from memtui.engine.transfer.sources.values import FIRST_MS, read_importance, read_time
from tests.engine.transfer_world import NOW_MS

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _reader(text: str) -> JsonReader:
    return JsonReader(io.BufferedReader(io.BytesIO(text.encode("utf-8", "surrogatepass"))), "x.json")


@settings(deadline=None)
@given(st.lists(json_values, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]))
def test_items_are_those_of_the_whole_document(values: list[Any], chunk: int, indent: int | None) -> None:
    text = json.dumps({"before": [1], "rows": values, "after": {}}, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        reader = _reader(text)
        found: dict[str, Any] = {}
        for key in reader.members():
            found[key] = [item.value for item in reader.items()] if key != "after" else reader.value()
        reader.finish()
    assert found == {"before": [1], "rows": values, "after": {}}


@settings(deadline=None)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=30), st.integers(1, 20))
def test_the_place_of_a_fault_is_that_of_the_standard_parser(values: list[int], chunk: int) -> None:
    text = json.dumps([{"n": value} for value in values], indent=1).replace("}", "} x", 1)
    with pytest.raises(json.JSONDecodeError) as standard:
        json.loads(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        with pytest.raises(BrokenJsonError) as ours:
            list(_reader(text).items())
    assert (ours.value.line, ours.value.column) == (standard.value.lineno, standard.value.colno)


def test_lines_are_numbered_without_marks_and_ends() -> None:
    data = b"\xef\xbb\xbfone\r\n\ntwo\nlast"
    assert list(numbered(io.BufferedReader(io.BytesIO(data)))) == [
        (1, b"one"),
        (2, b""),
        (3, b"two"),
        (4, b"last"),
    ]
    wide = "a\nb".encode("utf-16")
    assert [line for _, line in numbered(io.BufferedReader(io.BytesIO(wide)))] == [b"a", b"b"]


NOTE = """\
# Top

Some prose that
goes on.

## Under

- first
  continues
  - nested with [ ] no box
    1. deep
- [x] done thing
* star

1. one
2) two

```
- code, not a list
```

Setext
------
- last
"""


def test_entries_know_their_place() -> None:
    found = [(e.kind, e.text, e.line, e.depth, e.heading, e.under, e.box) for e in entries(NOTE)]
    assert found == [
        ("paragraph", "Some prose that\ngoes on.", 3, 0, "Top", "", ""),
        ("bullet", "first\ncontinues", 8, 0, "Under", "", ""),
        ("bullet", "nested with [ ] no box", 10, 1, "Under", "first\ncontinues", ""),
        ("number", "deep", 11, 2, "Under", "nested with [ ] no box", ""),
        ("bullet", "done thing", 12, 0, "Under", "", "x"),
        ("bullet", "star", 13, 0, "Under", "", ""),
        ("number", "one", 15, 0, "Under", "", ""),
        ("number", "two", 16, 0, "Under", "", ""),
        ("paragraph", "- code, not a list", 18, 0, "Under", "", ""),
        ("bullet", "last", 24, 0, "Setext", "", ""),
    ]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab #-*+.1[]x\t\r\n`~=§_", max_size=30).map(str), max_size=20))
def test_no_word_of_any_note_is_lost_twice_or_crashes(lines: list[str]) -> None:
    text = "\n".join(lines)
    for entry in entries(text, bold_headings=True):
        assert entry.line >= 1
        assert entry.depth >= 0


@given(st.lists(st.text(alphabet="abc def", min_size=1, max_size=20).filter(str.strip), max_size=12))
def test_every_plain_bullet_becomes_one_entry(texts: list[str]) -> None:
    note = "\n".join(f"- {text.strip()}" for text in texts)
    assert [entry.text for entry in entries(note)] == [text.strip() for text in texts]


def test_front_matter_of_every_shape() -> None:
    keys = "title: 'It''s: a title'\r\ntags: [a, \"b, c\"]\nmore:\n- x\n- y\nn: 3\nempty:\ndate: 2026-01-02"
    head, body, lines = split(f"\ufeff---\r\n{keys}\n---\nbody")
    assert head == {
        "title": "It's: a title",
        "tags": ["a", "b, c"],
        "more": ["x", "y"],
        "n": 3,
        "empty": None,
        "date": "2026-01-02",
    }
    assert (body, lines) == ("body", 10)
    assert split("no head\n---\n") == ({}, "no head\n---\n", 0)
    assert split("---\nnever closed") == ({}, "---\nnever closed", 0)


def test_a_head_is_read_as_it_was_typed() -> None:
    """What YAML has other ideas about, and a line that it would refuse the whole head for."""
    head, _, _ = split(
        "---\nagreed: yes\ncode: 010\nat: 12:30\nday: 2026-01-02\n\tof: [a\nname: Mara: or so\n---\n"
    )
    assert {key: head[key] for key in ("agreed", "code", "at", "day", "name")} == {
        "agreed": "yes",
        "code": 10,
        "at": "12:30",
        "day": "2026-01-02 of: [a",
        "name": "Mara: or so",
    }


@settings(deadline=None)
@given(st.text(alphabet="ab.;! \n", max_size=6000))
def test_pieces_lose_nothing_but_white_space(text: str) -> None:
    parts = list(pieces(text))
    assert all(0 < len(part) <= PIECE for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        ("2026-03-01T00:00:00.250+01:00", 1_772_319_600_250),
        ("14.02.2026", 1_771_027_200_000),
        ("03.03.2026 17:45", 1_772_559_900_000),
        ("31/12/2025", 1_767_139_200_000),
        ("20260301", 1_772_323_200_000),
        ("03/04/2026", None),
        ("12", None),
        ("may", None),
        ("3pm", None),
        ("2026-02-30", None),
        (True, None),
        ([1], None),
        (float("inf"), None),
        (10**400, None),
        ("9" * 60, None),
    ],
)
def test_a_time_is_right_or_unknown(value: Any, ms: int | None) -> None:
    found, note = read_time(value, NOW_MS)
    assert found == ms
    assert ms is not None or note


@given(st.integers(FIRST_MS, NOW_MS))
def test_a_moment_reads_the_same_in_every_unit(ms: int) -> None:
    assert {read_time(ms * factor, NOW_MS)[0] for factor in (1, 1000, 1_000_000)} == {ms}
    seconds = read_time(ms // 1000, NOW_MS)[0]
    assert seconds is None or seconds == ms // 1000 * 1000


@given(st.one_of(st.floats(), st.integers(), st.text(), st.booleans(), st.none(), st.lists(st.floats())))
def test_importance_is_a_share_or_unknown(value: Any) -> None:
    share, note = read_importance(value)
    assert share is None or 0 <= share <= 1
    if share is None and value is not None and not (isinstance(value, str) and not value.strip()):
        assert note


@pytest.mark.parametrize(
    ("name", "text", "first", "expected"),
    [
        (
            "a.json",
            '{"n": 1, "memories": [\n {"text": "one"},\n {"text":\n  "two"}]}',
            3,
            ('{"text":', '  "two"}'),
        ),
        ("a.jsonl", '{"text": "one"}\n\n{"text": "two"}\n', 3, ('{"text": "two"}',)),
        ("a.csv", 'text,n\none,1\n"two\nlines",2\n', 3, ('"two', 'lines",2')),
        ("a.md", "# Kilns\n\n- one\n- two\n  goes on\n- three\n", 4, ("- two", "  goes on")),
    ],
)
def test_a_record_is_shown_as_its_source_has_it(
    tmp_path: Path, name: str, text: str, first: int, expected: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = detect(path)
    records = list(found.format.reader(found.kind)(path, ReadOptions(now_ms=NOW_MS)))
    seen = source_lines([found], next(each.where for each in records if "two" in each.text))
    assert seen is not None
    assert (seen.first, seen.lines, seen.cut) == (first, expected, False)
    path.unlink()
    assert source_lines([found], "line 1") is None
