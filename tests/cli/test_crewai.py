"""CrewAI's memory from the shell: found at its places, listed and counted as the package itself does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.conftest import tree_hash
from tests.engine.crewai_store import recorded, unpack
from tests.engine.tables import pro_row, write_table


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's store, for tests that read it."""
    return unpack(shared, tmp_path_factory.mktemp("crewai"))


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one project of CrewAI, and a working folder that is not its."""
    project = tmp_path / "home" / ".local" / "share" / "Pedal & Co" / "memory"
    shutil.copytree(made, project)
    (project.parent / "flow_states.db").write_bytes(b"")
    (project.parent.parent / "else" / "memory" / "qdrant-edge").mkdir(parents=True)
    for name in ("CREWAI_STORAGE_DIR", "XDG_DATA_HOME", "REDIS_URL", "OPENCLAW_HOME", "MEMTUI_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return project


def found(run: Run) -> list[dict[str, Any]]:
    code, out, _ = run("stores", "--json")
    assert code == 0
    stores: list[dict[str, Any]] = json.loads(out)["stores"]
    return stores


def listed(run: Run, *arguments: object) -> list[dict[str, Any]]:
    code, out, err = run("ls", "--json", *arguments)
    assert code == 0, err
    rows: list[dict[str, Any]] = json.loads(out)["rows"]
    return rows


def test_a_project_is_found_without_flags_and_read_only_looks(home: Path, run: Run) -> None:
    before = tree_hash(home)
    (store,) = found(run)
    assert store["dialect"].startswith("crewai")
    assert (store["path"], store["rows"], store["name"]) == (str(home), 432, "Pedal & Co")
    assert len(listed(run)) == 432
    assert tree_hash(home) == before


def test_the_store_of_the_working_folder_is_the_one_in_use(
    home: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home.parent, home.parent.parent / "other")
    assert [each["active"] for each in found(run)] == [False, False]
    assert run("ls")[0] != 0
    here = tmp_path / "elsewhere" / "other"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    assert {each["name"]: each["active"] for each in found(run)} == {"other": True, "Pedal & Co": False}
    assert len(listed(run)) == 432


@pytest.mark.parametrize("by", ["variable", "dotenv"])
def test_a_named_folder_counts_from_the_working_folder(
    home: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    shutil.move(home, tmp_path / "work" / "kept here" / "memory")
    if by == "variable":
        monkeypatch.setenv("CREWAI_STORAGE_DIR", "kept here")
    else:
        Path(".env").write_text('CREWAI_STORAGE_DIR="kept here"\n', encoding="utf-8")
    (store,) = found(run)
    assert (store["path"], store["active"]) == (str(tmp_path / "work" / "kept here" / "memory"), True)


def test_a_table_of_another_program_at_the_place_is_not_taken_for_one(
    home: Path, run: Run, tmp_path: Path
) -> None:
    shutil.rmtree(home)
    home.mkdir()
    write_table(home, [pro_row(1)])
    code, out, _ = run("stores", "--json")
    assert code == 1
    assert json.loads(out)["stores"] == []


def test_every_row_reads_as_the_package_reads_it(made: Path, shared: Path, run: Run) -> None:
    """Content, scope, the whole list of categories, importance, both times, source, private, metadata."""
    ours = {each["id"]: each for each in listed(run, "--store", made)}
    theirs = recorded(shared)["rows"]
    assert len(ours) == len(theirs)
    for row in theirs:
        mine = ours[row["id"]]
        assert (mine["text"], mine["scope"], mine["importance"]) == (
            row["content"],
            row["scope"],
            row["importance"],
        )
        assert mine["extra"]["categories"] == row["categories"]
        assert mine["category"] == next(iter(row["categories"]), None)
        assert (mine["timestamp_ms"], mine["last_accessed_ms"]) == (row["created_ms"], row["accessed_ms"])
        assert (mine["extra"]["source"], mine["extra"]["private"]) == (row["source"], row["private"])
        assert json.loads(mine["metadata"]) == row["metadata"]
        assert (mine["tier"], mine["state"], mine["access_count"]) == (None, None, None)


def test_categories_are_counted_and_filtered_as_lists(made: Path, shared: Path, run: Run) -> None:
    theirs = recorded(shared)
    code, out, _ = run("stats", "--store", made, "--json")
    assert code == 0
    counts = dict(json.loads(out)["categories"])
    assert {name: counts.get(name) for name in theirs["category_counts"]} == theirs["category_counts"]
    for word, count in theirs["category_counts"].items():
        assert len(listed(run, "--store", made, f'cat:"{word}"')) == count, word


def test_a_scope_and_what_lies_below_it_can_be_listed(made: Path, shared: Path, run: Run) -> None:
    rows = recorded(shared)["rows"]
    wanted = {each["id"] for each in rows if each["scope"].startswith("/crew/pedal-shop/")}
    assert {each["id"] for each in listed(run, "--store", made, "scope:/crew/pedal-shop/*")} == wanted


def test_one_memory_is_shown_with_what_its_program_keeps(made: Path, shared: Path, run: Run) -> None:
    row = next(each for each in recorded(shared)["rows"] if each["private"] and len(each["categories"]) > 1)
    code, out, _ = run("show", row["id"], "--store", made)
    assert code == 0
    for said in (row["content"], row["scope"], row["categories"][1], row["source"], "private"):
        assert said in out
    assert not any(line.startswith(("tier", "state", "now ")) for line in out.splitlines())


def test_the_commands_write_forget_and_take_back(
    home: Path, shared: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locks").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "locks"))
    row = next(each for each in recorded(shared)["rows"] if each["source"] and each["categories"])
    before = {each["id"]: each for each in listed(run)}
    code, _out, err = run(
        "edit", row["id"], "--set", "category=a,b", "scope=/crew/new", 'metadata={"n": 1}', "--yes"
    )
    assert code == 0, err
    after = {each["id"]: each for each in listed(run)}
    changed = after[row["id"]]
    assert (changed["extra"]["categories"], changed["category"], changed["scope"]) == (
        ["a", "b"],
        "a",
        "/crew/new",
    )
    assert json.loads(changed["metadata"]) == {"n": 1}
    assert {**after, row["id"]: before[row["id"]]} == before
    assert len(list((tmp_path / "locks").glob("crewai:*.lock"))) == 1
    assert run("undo", "--yes")[0] == 0
    assert {each["id"]: each for each in listed(run)} == before
    code, _, err = run("forget", row["id"], "--hard", "--yes")
    assert code == 0, err
    assert row["id"] not in {each["id"] for each in listed(run)}
    assert run("undo", "--yes")[0] == 0
    assert {each["id"]: each for each in listed(run)} == before


def test_a_recall_from_the_shell_takes_the_contract_of_the_commands(
    home: Path, shared: Path, run: Run, tmp_path: Path
) -> None:
    theirs = recorded(shared)
    recall = next(each for each in theirs["recalls"] if each["via"] == "slice" and len(each["results"]) > 3)
    query = theirs["queries"][recall["query"]]
    (tmp_path / "vector.json").write_text(json.dumps(query["vector"]), encoding="utf-8")
    asked = {"categories": recall["categories"], "source": recall["source"], "depth": "shallow"}
    asked["include_private"] = recall["include_private"]
    config = {"memory": theirs["settings"][recall["setting"]], "recall": asked}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    scopes = [word for scope in recall["scope"] for word in ("--scope", scope)]
    code, out, err = run(
        "recall", query["text"], "--recipe", "crewai", "--query-vector", tmp_path / "vector.json", "--now",
        recall["now_ms"], "--limit", recall["limit"], *scopes, "--config", tmp_path / "config.json", "--json",
        "--explain",
    )  # fmt: skip
    assert code == 0, err
    results = json.loads(out)["results"]
    assert [each["id"] for each in results] == [each["id"] for each in recall["results"]]
    for ours, row in zip(results, recall["results"], strict=True):
        assert ours["score"] == pytest.approx(row["score"], abs=1e-6)
        parts = next(step["inputs"] for step in ours["steps"] if step["rule"] == "weighted")
        assert parts["recency"] == pytest.approx(row["recency"], abs=1e-6)
