"""Damaged stores and sources through every command: a reason and an exit code, never a traceback.

`MEMTUI_FUZZ=2000` asks for so many mutations; without it there are a few, enough to notice a door left open.
"""

from __future__ import annotations

import gzip
import json
import os
import queue
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.every_command import call, commands_on_a_source, commands_on_a_store, left_out
from tests.conftest import ROOT, SHARED, thinned, tree_hash
from tests.engine.tables import pro_row, write_table
from tests.engine.transfer_stores import memory, own_store

MUTATIONS = int(os.environ.get("MEMTUI_FUZZ", "60"))
HANGS_S = 120
"""A mutation that is silent for so long, on however busy a machine, will not end."""
STORES = (
    "pro-seconds",
    "builtin-new-sentinel",
    "engine-null-fields",
    "builtin-old-seconds",
    "pro-on-builtin",
    "foreign-schema",
)
DAMAGED = sorted(path.name for path in (SHARED / "fixtures" / "stores" / "damaged").glob("*.tar.gz"))


def all_faults(lines: object) -> list[str]:
    """The faults of many commands."""
    return [fault for line in lines for fault in call(*line).faults]  # type: ignore[attr-defined]


def test_every_command_is_in_a_list() -> None:
    assert left_out() == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGED)
def test_every_command_on_a_damaged_store(
    shared: Path, unpack: Callable[[Path], Path], tmp_path: Path, name: str
) -> None:
    store = unpack(shared / "fixtures" / "stores" / "damaged" / name)
    assert all_faults(commands_on_a_store(store, tmp_path)) == []


def sound_store(folder: Path) -> Path:
    """A small table of memory-lancedb-pro."""
    write_table(folder, [pro_row(n, text=f"the port of host {n} is 80{n}") for n in range(9)])
    return folder


@pytest.mark.parametrize("gone", thinned([(0, 1), (40, 8), (-20, 4), (-16, 16), (-16, 8), (-9, 1)], 3))
def test_a_manifest_with_bytes_missing(tmp_path: Path, gone: tuple[int, int]) -> None:
    store = sound_store(tmp_path / "store")
    newest = min((store / "memories.lance" / "_versions").glob("*.manifest"))
    data = bytearray(newest.read_bytes())
    start = gone[0] % len(data)
    del data[start : start + gone[1]]
    newest.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "ls", "--store", str(store)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "panicked" not in done.stderr
    assert all_faults(commands_on_a_store(store, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("where", ["data", "_versions", "memories.lance", "_indices"])
def test_a_link_that_leads_to_itself(tmp_path: Path, where: str) -> None:
    store = sound_store(tmp_path / "store")
    table = store / "memories.lance"
    if where == "memories.lance":
        shutil.rmtree(table)
        table.symlink_to(table.name)
    else:
        (table / where).mkdir(exist_ok=True)
        for each in [*(table / where).iterdir()][:1]:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
            each.symlink_to(each.name)
        (table / where / "loop").symlink_to("loop")
        (table / where / "up").symlink_to(table, target_is_directory=True)
    assert all_faults(commands_on_a_store(store, tmp_path)) == []


@pytest.mark.slow
def test_metadata_nested_a_thousand_deep(tmp_path: Path) -> None:
    deep = '{"tier":"core","deep":' + "[" * 1_000 + "]" * 1_000 + "}"
    deeper = '{"deep":' + '{"a":' * 20_000 + "1" + "}" * 20_000 + "}"
    rows = [pro_row(n, text=f"a deep row {n}", metadata=each) for n, each in enumerate((deep, deeper, deep))]
    write_table(tmp_path / "store", rows)
    for row in rows[:2]:
        for form in ((), ("--json",)):
            shown = call("show", row["id"], "--store", tmp_path / "store", *form)
            assert (shown.code, shown.faults) == (0, [])
            assert "deep" in shown.out
    assert all_faults(commands_on_a_store(tmp_path / "store", tmp_path)) == []


@pytest.mark.parametrize(
    "name",
    ["cut.jsonl.gz", "sum.jsonl.gz", "block.csv.gz", "cut.zip", "sum.zip", "method.zip", "cut.json.gz"],
)
def test_packed_sources_that_are_not_whole(tmp_path: Path, name: str) -> None:
    path, store = tmp_path / name, own_store(tmp_path / "store", [])
    lines = "".join(json.dumps({"text": f"memory number {n} of the list"}) + "\n" for n in range(4_000))
    if ".zip" in name:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "memories.json", json.dumps([{"conversations_memory": lines, "account_uuid": "1"}])
            )
    else:
        path.write_bytes(gzip.compress(lines.encode()))
    data = bytearray(path.read_bytes())
    if name.startswith("cut"):
        del data[len(data) // 2 :]
    elif name.startswith("method"):
        data[8] = data[data.index(b"PK\x01\x02") + 10] = 99
    elif ".zip" in name:
        at = data.index(b"PK\x01\x02") + 16
        data[at : at + 4] = b"\0\0\0\1"
        data[14:18] = b"\0\0\0\1"
    else:
        data[len(data) // 2 if name.startswith("block") else -8] ^= 0xFF
    path.write_bytes(data)
    before = tree_hash(store)
    called = call("import", path, "--yes", "--store", store)
    assert (called.code, called.faults) == (1, [])
    assert tree_hash(store) == before, "nothing of half a source is taken"
    assert all_faults(commands_on_a_source(path, store, tmp_path)) == []


def test_a_batch_answers_every_line(tmp_path: Path) -> None:
    store = own_store(tmp_path / "store", [memory(n, f"host {n} listens on port 80{n}") for n in range(3)])
    good = {"query": "which port?"}
    wrong: list[tuple[object, str]] = [
        ({**good, "scopes": "global"}, "scopes is not a list of strings"),
        ({**good, "scopes": [1]}, "scopes is not a list of strings"),
        ({**good, "limit": "3"}, "limit is not a whole number"),
        ({**good, "limit": True}, "limit is not a whole number"),
        ({**good, "limit": 1.5}, "limit is not a whole number"),
        ({**good, "now_ms": "today"}, "now_ms is not"),
        ({**good, "now_ms": 1e400}, "now_ms is not"),
        ({**good, "category": 7}, "category is not a string"),
        ({**good, "recipe": ["memtui"]}, "recipe is not a string"),
        ({**good, "recipe": "nobody's"}, "nobody's"),
        ({**good, "config": "x"}, "config is not an object"),
        ({**good, "query_vector": "x"}, "query_vector is not a list of numbers"),
        ({**good, "query_vector": [None]}, "query_vector is not a list of numbers"),
        ({**good, "query_vector": [1.0]}, ""),
        ({**good, "lanes": [1]}, "lanes is not an object"),
        ({**good, "lanes": {"vector": [["a"]]}}, "lanes is not an object"),
        ({**good, "agent": 5}, "agent is not a string"),
        ({**good, "table_version": "1"}, "table_version is not a whole number"),
        ({**good, "table_version": 9_999}, ""),
        ({**good, "rerank_timeout_ms": "x"}, "rerank_timeout_ms is not a number"),
        ({**good, "source": "nowhere"}, "source is not one of"),
        ({"query": 5}, "query is not a string"),
        ({"query": "\ud800"}, "query is not a string"),
        ([1], "not a JSON object"),
        (None, "not a JSON object"),
    ]
    raw = [json.dumps(each).encode() for each, _ in wrong]
    raw += [b"{broken", b'{"query": "\xff"}', b"[" * 100_000, b'{"query": "a", "odd": 1}']
    path = tmp_path / "batch.jsonl"
    lines: list[bytes] = []
    for each in raw:
        lines += [each, json.dumps(good).encode()]
    path.write_bytes(b"\n".join(lines))
    called = call("recall", "--batch", path, "--store", store)
    assert called.faults == []
    answers = [json.loads(line) for line in called.out.splitlines()]
    assert len(answers) == len(lines)
    assert called.code == 1
    for at, answer in enumerate(answers):
        if at % 2:
            assert "error" not in answer, at
            continue
        assert answer["error"]["line"] == at + 1
        if at // 2 < len(wrong):
            assert wrong[at // 2][1] in answer["error"]["message"]
            assert "g,l,o" not in answer["error"]["message"]


def _sources(shared: Path, folder: Path) -> Path:
    """The recorded sources, unpacked."""
    shutil.copytree(shared / "fixtures" / "sources", folder, ignore=shutil.ignore_patterns("discovery"))
    with tarfile.open(folder / "memory-core" / "home.tar.gz") as tar:
        tar.extractall(folder / "memory-core", filter="data")
    shutil.copy(shared / "fixtures" / "stores" / "engine-export.jsonl", folder)
    return folder


@pytest.mark.slow
def test_mutated_stores_and_sources(shared: Path, tmp_path: Path) -> None:
    stores = tmp_path / "stores"
    for name in STORES:
        with tarfile.open(shared / "fixtures" / "stores" / "damaged" / f"{name}.tar.gz") as tar:
            tar.extractall(stores, filter="data")
    sources = _sources(shared, tmp_path / "sources")
    work = tmp_path / "work"
    work.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.fuzz", *map(str, (stores, sources, work, 11, MUTATIONS))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a damaged file may make the engine talk there
        text=True,
    )
    said: queue.Queue[str | None] = queue.Queue()

    def listen() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            said.put(line)
        said.put(None)

    threading.Thread(target=listen, daemon=True).start()
    faults: list[str] = []
    last, done = "nothing", 0
    try:
        while (line := said.get(timeout=HANGS_S)) is not None:
            found = json.loads(line)
            last = f"{found['n']}: {found['what']}"
            done += "faults" in found
            faults += [f"{last}: {each}" for each in found.get("faults", ())]
    except queue.Empty:
        raise AssertionError(f"mutation {last} never ends") from None
    finally:
        child.kill()
        child.wait()
    assert faults == []
    assert done == MUTATIONS, f"the program died of mutation {last}"
