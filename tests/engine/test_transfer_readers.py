"""A format to import is one file of `readers`: its name, how it is recognised, how it is read, what is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.engine import MemtuiError
from memtui.engine.transfer import KINDS
from memtui.engine.transfer.detection import detect
from memtui.engine.transfer.registry import FORMATS
from tests.conftest import ROOT
from tests.engine.transfer_world import Source

READER = '''
"""A diary: a first line with its name, then a memory a line."""

from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Record


def detects(head):
    return Sighting(("the first line of a diary",)) if head.text.body.startswith("DIARY") else None


def read(path, options):
    for number, line in enumerate(path.read_text().splitlines()[1:], 2):
        record = Record(text=line.strip("* "), where=f"line {number}")
        record.lost("timestamp", "a diary has no times")
        yield record


FORMATS = (Format("diary", "a diary", {"text": read}, detects, 155),)
'''

PROGRAM = """
import sys
from memtui.engine.transfer import readers
readers.__path__.append(sys.argv.pop(1))
from memtui.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def _run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line, where the folder of the readers holds one file more."""
    more = tmp_path / "more"
    more.mkdir(exist_ok=True)
    (more / "diary.py").write_text(READER)
    environ = {**os.environ, "MEMTUI_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(more), *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ,
        check=False,
    )


def test_a_new_format_is_one_file(tmp_path: Path) -> None:
    source = tmp_path / "mine.txt"
    source.write_text("DIARY\n* Mara likes her tea without sugar\n* the gate code is on the fridge\n")
    done = _run(tmp_path, "import", str(source), "--store", "demo", "--dry-run", "--json")
    plan = json.loads(done.stdout)
    assert (plan["format"], plan["evidence"]) == ("diary", ["the first line of a diary"])
    assert [each["text"] for each in plan["new"]] == [
        "Mara likes her tea without sugar",
        "the gate code is on the fridge",
    ]
    losses = {(each["field"], each["what"]): each["rows"] for each in plan["loss"]}
    assert losses["timestamp", "a diary has no times"] == 2
    assert detect(source).format.name == "markdown", "without that file it is a list like any other"


@pytest.mark.slow
def test_the_names_that_may_be_given_are_those_of_the_files(tmp_path: Path) -> None:
    source = tmp_path / "mine.txt"
    source.write_text("DIARY\n* Mara likes her tea without sugar\n")
    done = _run(tmp_path, "import", str(source), "--store", "demo", "--dry-run", "--format", "dairy")
    assert done.returncode == 2
    known = [each.name for each in FORMATS]
    at = known.index("csv")
    assert ", ".join((*known[:at], "diary", *known[at:])) in done.stderr


def test_every_format_has_a_place_and_a_name_of_its_own() -> None:
    assert len({each.order for each in FORMATS}) == len({each.name for each in FORMATS}) == len(FORMATS)
    assert {kind for each in FORMATS for kind in each.readers} == set(KINDS)


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([{"text": "tea", "createdAt": 1, "trust_tier": "t", "scope": "s", "metadata": "{}"}], "mem-engine"),
        ([{"text": "tea", "timestamp": 1, "scope": "global"}], "memory-lancedb-pro"),
        ({"agents": [], "blocks": [], "tools": [], "memories": [{"text": "tea"}]}, "letta-agent"),
        ({"items": [{"text": "tea", "timestamp": 1, "scope": "s"}]}, "mem-engine"),
        ([{"text": "tea", "archive_id": "a", "scope": "s", "metadata": {}}], "letta"),
        ([{"memory": "tea", "hash": "a", "label": "b", "value": "c"}], "mem0"),
    ],
)
def test_the_surer_of_two_readers_has_it(tmp_path: Path, rows: object, name: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    assert Source(path).name == name


def test_what_is_known_and_holds_no_memories_is_refused_whoever_else_would_take_it(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text('{"type": "session", "text": "tea", "scope": "global", "timestamp": 1}\n' * 2)
    with pytest.raises(MemtuiError, match="record of a conversation"):
        detect(path)
