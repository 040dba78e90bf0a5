"""A right, a lock, a time-out: never taken for damage, and nothing that moves or removes a file is offered for it.

The doctor runs as a user who may not read a part of a sound store, whoever runs the tests.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.store.errors import explain
from memtui.engine.store.table_files import list_table
from tests.conftest import ROOT
from tests.engine import planted_faults as planted

_CHILD = """
import ctypes, os, sys
if os.getuid() == 0:  # without its rights to pass over the rights of files
    head, have = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None)
    assert libc.capget(head, have) == 0
    for at in (0, 1, 2):
        have[at] &= ~0b111
    assert libc.capset(head, have) == 0
from memtui.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def doctor(store: Path, home: Path, *more: str) -> tuple[int, dict[str, Any], str]:
    """The doctor, as a user whom the rights of files bind."""
    home.mkdir(exist_ok=True)
    environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    environ |= {"XDG_CONFIG_HOME": str(home), "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", _CHILD, "doctor", "--store", str(store), "--json", *more],
        env=environ,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in run.stderr, run.stderr
    return run.returncode, json.loads(run.stdout) if run.stdout.strip() else {}, run.stderr


def _newest_manifest(folder: Path) -> Path:
    newest = list_table(folder / "memories.lance").newest
    assert newest is not None
    return newest.path


def _older_manifest(folder: Path) -> Path:
    return list_table(folder / "memories.lance").manifests[0].path


HIDDEN = {
    "newest version file": _newest_manifest,
    "an older version's file": _older_manifest,
    "a data file": lambda folder: next((folder / "memories.lance" / "data").glob("*.lance")),
    "folder of data": lambda folder: folder / "memories.lance" / "data",
    "folder of versions": lambda folder: folder / "memories.lance" / "_versions",
    "the table": lambda folder: folder / "memories.lance",
    "the store": lambda folder: folder,
}


@pytest.mark.parametrize("what", HIDDEN)
def test_what_may_not_be_read_is_not_damaged_and_nothing_is_moved(what: str, tmp_path: Path) -> None:
    folder = planted.sound(tmp_path / "stores" / "lancedb-pro")
    planted.add(folder, [planted.memory(900), planted.memory(901)])
    hidden = HIDDEN[what](folder)
    before = sorted(str(each) for each in folder.rglob("*"))
    home, mode = tmp_path / "home", hidden.stat().st_mode
    hidden.chmod(0)
    try:
        code, said, errors = doctor(folder, home)
        destructive = {"D28", "D30", "D34", "D35", "D36"} & {
            each["kind"] for each in said.get("findings", ())
        }
        assert not destructive, said["findings"]
        fixed = [doctor(folder, home, "--fix", kind, "--yes") for kind in ("D35", "D36", "D30")]
    finally:
        hidden.chmod(mode)
    words = json.dumps(said) + errors
    assert "right" in words, words
    assert "is damaged" not in words.replace("whether it is damaged", ""), words
    assert what == "an older version's file" or code, "a store that cannot be read is not called healthy"
    assert sorted(str(each) for each in folder.rglob("*")) == before, fixed
    assert not {"D35", "D36"} & {each["kind"] for each in doctor(folder, home)[1]["findings"]}


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "Permission denied"),
        OSError(errno.ETIMEDOUT, "Connection timed out"),
        OSError(errno.EAGAIN, "Resource temporarily unavailable"),
        RuntimeError("lance error: LanceError(IO): Permission denied (os error 13), Not found: data/x.lance"),
        RuntimeError("LanceError(IO): failed to fill whole buffer: Input/output error (os error 5)"),
        RuntimeError("Generic LocalFileSystem error: Too many open files (os error 24), corrupt"),
    ],
    ids=lambda error: str(error)[:30],
)
def test_what_hinders_a_read_is_told_apart_from_damage(error: Exception) -> None:
    from memtui.engine.core.errors import DamagedStoreError

    said = explain(error, "/home/somebody/lancedb-pro")
    assert not isinstance(said, DamagedStoreError), said
    assert "not known" in said.fix


def test_an_index_that_may_not_be_read_is_not_called_damaged(tmp_path: Path) -> None:
    import sqlite3

    from memtui.engine.core.errors import DamagedStoreError, MemtuiError
    from memtui.engine.transfer.readers.memory_core import opened

    path = tmp_path / "agent.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE chunks (text TEXT)")
    with pytest.raises(MemtuiError) as caught, opened(path) as db:
        db.execute("SELECT nothing FROM nowhere")
    assert not isinstance(caught.value, DamagedStoreError)
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(DamagedStoreError), opened(path) as db:
        db.execute("SELECT 1 FROM sqlite_master").fetchall()
