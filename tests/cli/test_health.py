"""`memtui doctor` and `memtui config`: the documents, the exit codes, and that looking writes nothing."""

from __future__ import annotations

import io
import json
import os
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from memtui.__main__ import main
from tests.cli.conftest import Run
from tests.conftest import ROOT, tree_hash
from tests.engine import planted_faults as planted

CONFIG = """{
  // mine
  plugins: {
    slots: { memory: 'memory-lancedb-pro' },
    entries: { 'memory-lancedb-pro': { enabled: true, config: {
      dbPath: 'STORE',
      embedding: { apiKey: '${KEY}', model: 'nomic-embed-text', dimensions: 32 }, // vectors
    } } },
  },
}
"""


def memtui(home: Path, *arguments: str) -> tuple[int, Any, str]:
    """Call the command in this process, as somebody whose home this is."""
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as there, redirect_stdout(out), redirect_stderr(errors):
        for name in [name for name in os.environ if name.startswith(("OPENCLAW_", "JINA_"))]:
            there.delenv(name)
        there.setenv("HOME", str(home))
        there.setenv("XDG_STATE_HOME", str(home / "state"))
        there.setenv("XDG_CACHE_HOME", str(home / "cache"))
        there.chdir(ROOT)
        code = main([*arguments, "--json"])
    told = out.getvalue()
    return code, json.loads(told) if told.strip() else None, errors.getvalue()


def agent_home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    store = planted.sound(home / ".openclaw" / "memory" / "lancedb-pro")
    (home / ".openclaw" / "openclaw.json").write_text(CONFIG.replace("STORE", str(store)))
    return home


@pytest.mark.slow
def test_doctor_says_what_is_wrong_and_ends_with_one(tmp_path: Path) -> None:
    store = tmp_path / "store"
    planted.PLANTED["D23"][1](store)
    before = tree_hash(store)
    code, found, errors = memtui(tmp_path, "doctor", "--store", str(store), "--deep")
    assert code == 1, errors
    one = next(each for each in found["findings"] if each["kind"] == "D23")
    assert {
        "kind",
        "severity",
        "count",
        "ids",
        "sentence",
        "remedy",
        "safe_beside_agent",
        "reversible",
    } <= set(one)
    assert one["severity"] == "S2"
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(store), "--fix", "D23", "--dry-run")
    assert code == 1
    assert found["fixes"][0]["kind"] == "D23"
    assert tree_hash(store) == before
    code, found, errors = memtui(tmp_path, "doctor", "--store", str(store), "--fix", "D23", "--yes")
    assert found["fixed"][0]["entry"] is not None, errors


@pytest.mark.slow
def test_doctor_on_a_sound_store_and_on_one_that_does_not_open(tmp_path: Path) -> None:
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(planted.sound(tmp_path / "sound")), "--deep")
    assert (code, found["findings"], found["checked"]) == (0, [], 38)
    cut = tmp_path / "cut"
    planted.PLANTED["D35"][1](cut)
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(cut))
    assert code == 1
    assert found["findings"][0]["kind"] == "D35"
    assert found["findings"][0]["files"][0].endswith(".manifest")
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(cut), "--fix", "D35", "--yes")
    assert found["fixed"][0]["kind"] == "D35"
    assert "D35" not in [each["kind"] for each in found["findings"]]


@pytest.mark.parametrize(
    "name", ["foreign-schema", "foreign-table-name", "pro-manifest-cut", "empty-table-dir"]
)
def test_the_document_is_there_when_the_table_cannot_be_opened(
    name: str, tmp_path: Path, shared: Path, unpack: Any
) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "damaged" / f"{name}.tar.gz")
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(folder))
    assert code == (4 if "foreign" in name else 1), "4: nothing opened, nothing found"
    assert found["error"]
    assert isinstance(found["findings"], list)
    assert len(found["not_checked"]) > 20
    assert {each["kind"] for each in found["findings"]} == (set() if "foreign" in name else {"D35"})


@pytest.mark.parametrize("there", ["nothing", "an empty folder", "a file"])
def test_the_document_is_there_when_there_is_no_table_at_all(there: str, tmp_path: Path) -> None:
    place = tmp_path / "store"
    if there == "an empty folder":
        place.mkdir()
    elif there == "a file":
        place.write_text("x")
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(place))
    assert (code, found["findings"]) == (4, [])
    assert len(found["not_checked"]) > 20
    assert str(place) in found["error"]
    code, found, _ = memtui(tmp_path, "doctor", "--store", str(place), "--fix", "safe")
    assert (code, found["findings"], found["fixed"]) == (4, [], [])


def test_a_check_of_no_configuration_is_told_from_one_that_found_something(tmp_path: Path) -> None:
    code, found, errors = memtui(tmp_path, "config", "check")
    assert (code, found) == (4, None)
    assert "openclaw.json" in errors


def test_the_words_of_a_finding_name_its_rows_cost_and_way_back(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, lock = tmp_path / "store", tmp_path / "locked"
    planted.PLANTED["D26"][1](store)
    planted.PLANTED["D34"][1](lock)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def said(folder: Path, *arguments: str) -> str:
        return run("doctor", "--store", folder, *arguments)[1]

    words = said(store)
    for number in range(3):
        assert planted.key_of(number) in words
    for line in ("cost    one write", "undo    the journal", "fix     keep what is stored"):
        assert line in words
    assert "undo with: memtui undo 1" in said(store, "--fix", "D26", "--yes")
    before = tree_hash(lock)
    assert "would fix D34: remove the lock" in said(lock, "--fix", "D34", "--dry-run")
    assert tree_hash(lock) == before


def test_a_lock_from_the_future_is_found_and_can_be_broken(tmp_path: Path, run: Run) -> None:
    planted.PLANTED["D34"][1](tmp_path / "store")
    held = tmp_path / "store" / ".memory-write.lock.lock"
    ahead = time.time() + 7 * 86_400
    os.utime(held, (ahead, ahead))
    code, said, _ = run("doctor", "--store", tmp_path / "store", "--fix", "D34", "--dry-run")
    assert "in the future" in said
    code, said, _ = run("doctor", "--store", tmp_path / "store", "--fix", "D34", "--yes")
    assert code in (0, 1)
    assert not held.exists()


@pytest.mark.slow
def test_doctor_knows_what_the_configuration_says(tmp_path: Path) -> None:
    home = agent_home(tmp_path)
    code, found, _ = memtui(home, "doctor")
    one = next(each for each in found["findings"] if each["kind"] == "D37")
    assert code == 1
    assert one["files"] == [str(home / ".openclaw" / "openclaw.json")]
    path = home / ".openclaw" / "openclaw.json"
    path.write_text(path.read_text().replace("dimensions: 32", "dimensions: 64"))
    code, found, _ = memtui(home, "doctor")
    one = next(each for each in found["findings"] if each["kind"] == "D18")
    assert one["files"] == [str(path)]


@pytest.mark.slow
def test_config_plan_apply_undo(tmp_path: Path) -> None:
    home = agent_home(tmp_path)
    path = home / ".openclaw" / "openclaw.json"
    path.chmod(0o644)
    before = path.read_bytes()
    code, planned, errors = memtui(home, "config", "plan", "A")
    assert code == 0, errors
    assert path.read_bytes() == before
    wanted = {tuple(each["path"])[-2:]: each["to"] for each in planned["changes"]}
    assert wanted["embedding", "model"] == "jina-embeddings-v5-text-small"
    assert wanted["retrieval", "rerank"] == "cross-encoder"
    assert {each["kind"] for each in planned["consequences"]} >= {"restart", "reembed", "access"}
    code, _, _ = memtui(home, "config", "apply", "A", "--no-key-checks")
    assert code == 3
    assert path.read_bytes() == before
    code, _, errors = memtui(home, "config", "apply", "A", "--yes")
    assert code == 1, "no key is set: the checks stop before anything is written"
    assert "JINA_API_KEY" in errors or "KEY" in errors
    assert path.read_bytes() == before
    code, done, errors = memtui(home, "config", "apply", "A", "--yes", "--no-key-checks")
    assert (code, done["written"]) == (0, True), errors
    assert path.stat().st_mode & 0o777 == 0o644
    assert b"// mine" in path.read_bytes()
    assert b"// vectors" in path.read_bytes()
    code, planned, _ = memtui(home, "config", "plan", "A")
    assert planned["changes"] == []
    code, shown, _ = memtui(home, "config", "diff")
    assert any(line.startswith("+") and "jina-reranker-v3" in line for line in shown["diff"])
    code, _, _ = memtui(home, "config", "undo")
    assert code == 3
    code, _, errors = memtui(home, "config", "undo", "--yes")
    assert code == 0, errors
    assert path.read_bytes() == before
    code, checked, _ = memtui(home, "config", "check")
    assert code in (0, 1)
    assert "auto-recall-off" in {each["rule"] for each in checked["problems"]}
