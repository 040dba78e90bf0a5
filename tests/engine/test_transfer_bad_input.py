"""Sources and disks that fail in the middle: what was not taken is said, and nothing half-done is left."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import changes, transfer
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.progress import Progress
from memtui.engine.transfer.importing.request import ImportRequest
from tests.conftest import ROOT, tree_hash
from tests.engine.loopback import loopback
from tests.engine.transfer_stores import (
    imported,
    jsonl,
    memory,
    opened,
    own_store,
    planned,
    rows_of,
)
from tests.engine.transfer_world import Source

GIB = 1 << 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start", "said"),
    [
        ("big.jsonl", b'{"text":"The first line is fine."}\n', "line 2: the line is longer than 64 MiB"),
        (
            "big.json",
            b'{"version":"1.0","memories":[{"text":"Fine."},',
            "Expecting value at line 1, column 47",
        ),
        ("big.md", b"# Notes\n- The first line is fine.\n", "is no text"),
    ],
)
def test_two_gigabytes_need_no_more_memory_than_others(
    tmp_path: Path, name: str, start: bytes, said: str
) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(start)
        file.truncate(2 * GIB)
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from memtui.engine.core.errors import MemtuiError\n"
        "from tests.engine.transfer_world import Source\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({GIB}, {GIB}))\n"
        "try:\n"
        "    print(*[f'{each.where}: {each.why}' for each in Source(Path(sys.argv[1])).rejected])\n"
        "except MemtuiError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said in done.stdout


@pytest.mark.parametrize("how", ["grows", "shrinks", "vanishes"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, how: str) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    source = jsonl(tmp_path / "rows.jsonl", [{"text": f"Memory {n} of the kiln."} for n in range(2_000)])
    before = tree_hash(tmp_path / "store")
    done: list[int] = []

    def meddle(progress: Progress) -> None:
        if progress.what.startswith("reading") and progress.done and not done:
            done.append(progress.done)
            if how == "grows":
                with source.open("a", encoding="utf-8") as file:
                    file.write('{"text": "Written meanwhile."}\n')
            elif how == "shrinks":
                os.truncate(source, source.stat().st_size // 2)
            else:
                source.unlink()

    with pytest.raises(MemtuiError):
        transfer.plan_import(engine, ImportRequest((source,)), on_progress=meddle)
    assert done
    assert tree_hash(tmp_path / "store") == before


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("- Nobody asked for this.\n", encoding="utf-8")
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Notes\n- The kiln needs a seal.\n", encoding="utf-8")
    (folder / "memory" / "2026-01-01.md").symlink_to(outside / "secret.md")
    (folder / "more").symlink_to(outside, target_is_directory=True)
    source = Source(folder)
    assert source.texts == ["The kiln needs a seal."]
    assert {each.where: each.why for each in source.rejected} == {
        "memory/2026-01-01.md": "a symbolic link is not followed",
        "more": "a symbolic link is not followed",
    }


def test_vectors_of_another_length_are_said_and_made_anew(tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    other = opened(
        own_store(tmp_path / "other", [memory(1, "The kiln needs a seal.")]),
        tmp_path / "state",
        writable=False,
    )
    row = next(iter(rows_of(other).values()))
    path = jsonl(
        tmp_path / "rows.jsonl",
        [
            {"text": "The kiln needs a seal.", "vector": [0.5] * 8},
            {"text": "The door is green.", "vector": "none"},
            {"text": "The ferry leaves at nine.", "vector": [float("nan")] * 256},
        ],
    )
    plan = planned(engine, path, vectors="keep")
    assert {loss.what for loss in plan.losses() if loss.field == "vector"} >= {
        "vectors of another length than the table's: re-embedded"
    }
    assert len(plan.to_embed()) == 3
    transfer.run_import(engine, plan)
    plan.close()
    made = {each["text"]: each["vector"] for each in rows_of(engine).values()}
    assert made["The kiln needs a seal."] == row["vector"]


# ---------------------------------------------------------------------- a full disk

LIMIT = 300_000
"""Bytes that no file of the program may be longer than: the same refusal as a disk without room."""


def _limited(words: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "MEMTUI_STATE_DIR": str(folder / "state"), "TMPDIR": str(folder / "tmp"),
               "PYTHONPATH": str(ROOT), "MEMTUI_EMBEDDING_MODEL": "static-minilm-256"}  # fmt: skip
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "memtui", *map(str, words), "--json"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)),
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 400 rows with 400 kB of vectors."""
    folder = tmp_path_factory.mktemp("full")
    return own_store(folder / "store", [memory(n, f"Memory {n} of the kiln.") for n in range(1, 401)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("export", "NEW.jsonl", "--vectors", "--store", "STORE"),
        ("export", "NEW.parquet", "--vectors", "--store", "STORE"),
        ("migrate", "run", "STORE", "NEW"),
        ("reembed", "--model", "static-minilm-256", "--to", "NEW", "--store", "STORE"),
    ],
)
def test_a_full_disk_leaves_nothing_of_a_new_file_or_store(
    filled: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    before = tree_hash(filled)
    named = [word.replace("NEW", str(tmp_path / "new")).replace("STORE", str(filled)) for word in words]
    done = _limited(list(named), tmp_path)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert any(sign in done.stderr for sign in ("no room", "too large", "cannot be"))
    assert tree_hash(filled) == before
    assert {each.name for each in tmp_path.iterdir()} <= {"state", "tmp"}
    assert [each for each in (tmp_path / "tmp").rglob("*") if each.is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize("rows", [400, 2_500])
def test_a_full_disk_leaves_nothing_of_an_import(tmp_path: Path, rows: int) -> None:
    folder = own_store(tmp_path / "store", [memory(9_999, "Here before.")])
    source = jsonl(
        tmp_path / "rows.jsonl", [{"text": f"Memory {n} of the kiln in Uferweg."} for n in range(rows)]
    )
    done = _limited(["import", source, "--store", folder, "--no-find-near"], tmp_path)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert [each for each in (tmp_path / "tmp").rglob("*") if each.is_file()] == []
    engine = opened(folder, tmp_path / "state")
    assert [row["text"] for row in rows_of(engine).values()] == ["Here before."]
    assert changes.find_interrupted(engine) == []
    assert imported(engine, source, find_near=False).added == rows


@pytest.mark.slow
def test_no_room_for_the_answers_of_a_service(filled: Path, tmp_path: Path) -> None:
    with loopback() as server:
        server.dims = 1_536
        words = ["reembed", "--model", "other", "--base-url", f"{server.url}/v1", "--to", tmp_path / "new",
                 "--store", filled]  # fmt: skip
        done = _limited(words, tmp_path)
    assert done.returncode == 1
    assert "cannot be kept" in done.stderr
    assert not (tmp_path / "new").exists()


def test_an_export_without_a_memory_is_no_fault(shared: Path, tmp_path: Path) -> None:
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    plan = planned(engine, shared / "fixtures/stores/pro-cli/export-nothing.json")
    assert (plan.sources[0].format.name, plan.total) == ("memory-lancedb-pro", 0)
    assert plan.warnings == ["There is no memory in it."]
    assert transfer.run_import(engine, plan).entry is None
    plan.close()


def test_a_report_of_what_was_left_out(tmp_path: Path) -> None:
    """Everything at once: each part is in one count, and the whole says how many there were."""
    source = tmp_path / "rows.jsonl"
    good = [{"text": f"Fact {n} about the kiln."} for n in range(3)]
    source.write_text(
        "\ufeff"
        + "\r\n".join([*map(json.dumps, good), '{"text": ', '{"text": "   "}', "[1]", '{"text": "ok"}', ""]),
        encoding="utf-8",
    )
    engine = opened(own_store(tmp_path / "store"), tmp_path / "state")
    plan = planned(engine, source)
    document: dict[str, Any] = plan.as_json()
    assert document["plan"]["new"] == 3
    assert document["plan"]["short"] == 1
    assert document["plan"]["invalid"] == 3
    assert [each["where"] for each in document["rejected"]] == ["line 4", "line 5", "line 6", "line 7"]
    with pytest.raises(RefusedError, match="cannot be read"):
        transfer.run_import(engine, plan)
    assert transfer.run_import(engine, plan, confirmed=True).added == 3
    plan.close()
