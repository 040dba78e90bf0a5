"""Hermes' memory from the shell: found in every profile, listed, asked and written as its plugin would."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.conftest import tree_hash
from tests.engine.hermes_store import recorded, unpack
from tests.engine.tables import pro_row, write_table


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin's store, for tests that read it."""
    return unpack(shared, tmp_path_factory.mktemp("hermes"))


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hermes' default home with the store, and a working folder of another project."""
    place = tmp_path / "home" / ".hermes"
    shutil.copytree(made, place / "lancedb")
    for name in ("HERMES_HOME", "XDG_DATA_HOME", "OPENCLAW_HOME", "MEMTUI_STORE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return place


def found(run: Run) -> dict[str, dict[str, Any]]:
    code, out, err = run("stores", "--json")
    assert code == 0, err
    return {each["name"]: each for each in json.loads(out)["stores"]}


def listed(run: Run, *arguments: object) -> list[dict[str, Any]]:
    code, out, err = run("ls", "--json", *arguments)
    assert code == 0, err
    rows: list[dict[str, Any]] = json.loads(out)["rows"]
    return rows


def test_the_default_home_is_found_without_flags_and_only_looked_at(home: Path, run: Run) -> None:
    before = tree_hash(home)
    (store,) = found(run).values()
    assert store["dialect"].startswith("hermes")
    assert (store["path"], store["rows"], store["active"]) == (str(home / "lancedb"), 301, True)
    assert store["notes"] == []
    assert len(listed(run)) == 301
    for command in (["stats"], ["doctor"], ["show", recorded_fact(run)]):
        run(*command)
    assert tree_hash(home) == before


def recorded_fact(run: Run) -> str:
    return str(next(each["id"] for each in listed(run) if each["extra"]["kind"] == "fact"))


def test_every_profile_is_found_and_the_one_switched_to_is_in_use(home: Path, run: Run) -> None:
    for name in ("coder", "d'ébat"):
        shutil.copytree(home / "lancedb", home / "profiles" / name / "lancedb")
    (home / "profiles" / "empty").mkdir()
    stores = found(run)
    assert {name: each["path"] for name, each in stores.items()} == {
        "hermes": str(home / "lancedb"),
        "coder": str(home / "profiles" / "coder" / "lancedb"),
        "d'ébat": str(home / "profiles" / "d'ébat" / "lancedb"),
    }
    assert [name for name, each in stores.items() if each["active"]] == ["hermes"]
    assert len(listed(run)) == 301
    (home / "active_profile").write_text("coder\n", encoding="utf-8")
    assert [name for name, each in found(run).items() if each["active"]] == ["coder"]
    assert len(listed(run, "--store", "d'ébat")) == 301


@pytest.mark.parametrize("which", ["elsewhere", "~/elsewhere", "profile", "blank"])
def test_the_variable_names_the_home(
    home: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    if which == "blank":
        monkeypatch.setenv("HERMES_HOME", "  ")
        assert list(found(run)) == ["hermes"]
        return
    other = tmp_path / "home" / "elsewhere" if which != "profile" else home / "profiles" / "coder"
    shutil.copytree(home / "lancedb", other / "lancedb")
    if which == "profile":
        monkeypatch.setenv("HERMES_HOME", str(other))
        assert [name for name, each in found(run).items() if each["active"]] == ["coder"]
        assert len(found(run)) == 2
        return
    shutil.copytree(home / "lancedb", other / "profiles" / "work" / "lancedb")
    monkeypatch.setenv("HERMES_HOME", which if which.startswith("~") else str(other))
    assert {each["path"]: each["active"] for each in found(run).values()} == {
        str(other / "lancedb"): True,
        str(other / "profiles" / "work" / "lancedb"): False,
    }


def test_a_home_of_another_provider_is_found_and_not_in_use(home: Path, run: Run) -> None:
    (home / "config.yaml").write_text("memory:\n  provider: mem0\n", encoding="utf-8")
    (store,) = found(run).values()
    assert (store["active"], store["enabled"]) == (False, False)
    assert "mem0" in store["why"]


def test_a_table_of_another_program_at_the_place_is_not_taken_for_one(home: Path, run: Run) -> None:
    shutil.rmtree(home / "lancedb")
    write_table(home / "lancedb", [pro_row(1)])
    assert run("stores", "--json")[0] == 1


def test_every_row_reads_as_the_plugin_wrote_it(made: Path, shared: Path, run: Run) -> None:
    """Content, workspace, category, time, and all columns beside; doubled ids, too."""
    names = ("kind", "role", "session_id", "turn_index", "user_id", "tags", "provenance_turn_ids")
    names += ("abstract", "source", "platform", "agent_identity")

    def key(row: dict[str, Any], of: dict[str, Any], text: str, scope: str, time: str) -> str:
        told = [row["id"], row[text], row[scope], row["category"] or "", row[time]]
        return json.dumps([*told, *(of[name] for name in names)])

    ours = listed(run, "--store", made)
    theirs = recorded(shared)["rows"]
    assert Counter(key(each, each["extra"], "text", "scope", "timestamp_ms") for each in ours) == Counter(
        key(each, each, "content", "agent_workspace", "created_ms") for each in theirs
    )
    assert {(each["tier"], each["state"], each["importance"], each["metadata"]) for each in ours} == {
        (None,) * 4
    }


def test_labels_and_categories_are_filters(made: Path, shared: Path, run: Run) -> None:
    rows = recorded(shared)["rows"]
    wanted = [each["id"] for each in rows if each["category"] == "Decision"]
    assert sorted(each["id"] for each in listed(run, "--store", made, "cat:Decision")) == sorted(wanted)
    shown = listed(run, "--store", made, "scope:allotment")
    assert len(shown) == sum(each["agent_workspace"] == "allotment" for each in rows)


def test_one_memory_is_shown_without_a_tier_or_a_state(made: Path, shared: Path, run: Run) -> None:
    row = next(each for each in recorded(shared)["rows"] if each["abstract"] and each["tags"])
    code, out, _ = run("show", row["id"], "--store", made)
    assert code == 0
    for said in (row["content"], row["abstract"], row["agent_workspace"], row["category"], row["tags"][0]):
        assert said in out
    assert not any(line.startswith(("tier", "state", "now ", "importance")) for line in out.splitlines())


def vector(tmp_path: Path, query: dict[str, Any]) -> Path:
    path = tmp_path / "vector.json"
    path.write_text(json.dumps(query["vector"]), encoding="utf-8")
    return path


def settings(tmp_path: Path, config: dict[str, Any]) -> Path:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def test_a_recall_from_the_shell_takes_the_contract_of_the_commands(
    home: Path, shared: Path, run: Run, tmp_path: Path
) -> None:
    everything = recorded(shared)
    recall = next(each for each in everything["recalls"] if each["category"] and len(each["results"]) > 2)
    query = everything["queries"][recall["query"]]
    asked = {name: recall[name] for name in ("mode", "kind", "user_id")}
    config = {"retrieval": everything["settings"][recall["setting"]], "recall": {"via": "tool", **asked}}
    scope = ("--scope", recall["workspace"]) if recall["workspace"] else ("--all-scopes",)
    limit = () if recall["limit"] is None else ("--limit", recall["limit"])
    code, out, err = run(
        "recall", query["text"], "--recipe", "hermes", "--query-vector", vector(tmp_path, query), *scope, *limit,
        "--category", recall["category"], "--config", settings(tmp_path, config), "--json", "--explain",
    )  # fmt: skip
    assert code == 0, err
    results = json.loads(out)["results"]
    assert [each["id"] for each in results] == [each["id"] for each in recall["results"]]
    for ours, row in zip(results, recall["results"], strict=True):
        assert ours["score"] == pytest.approx(row["score"], abs=1e-6)


def test_the_block_of_a_prompt_is_the_plugins_to_the_byte(
    home: Path, shared: Path, run: Run, tmp_path: Path
) -> None:
    everything = recorded(shared)
    recall = next(
        each for each in everything["recalls"] if each["via"] == "prefetch" and each["block"]["lines"] > 3
    )
    query = everything["queries"][recall["query"]]
    config = {
        "retrieval": everything["settings"][recall["setting"]],
        "recall": {"via": "prefetch", "user_id": recall["user_id"]},
    }
    code, out, err = run(
        "recall", query["text"], "--recipe", "hermes", "--query-vector", vector(tmp_path, query),
        *(("--scope", recall["workspace"]) if recall["workspace"] else ()), "--config", settings(tmp_path, config),
        "--injected", "--json",
    )  # fmt: skip
    assert code == 0, err
    block = json.loads(out)["injection"]["block"]
    assert (sha256(block.encode()).hexdigest(), len(block)) == (
        recall["block"]["sha256"],
        recall["block"]["chars"],
    )


CONFIG = """\ufeff# a comment
memory: {provider: lancedb}
plugins:
  lancedb:
    embedding: {model: words-64, base_url: "http://127.0.0.1:9/v1", dimensions: 64, api_key_env: WORDS_KEY}
    retrieval:
      mode: hybrid
      top_k: "4"
      reranker: {type: linear, weight: 0.25}
"""


def test_the_settings_are_those_beside_the_store_and_a_file_stands_for_itself(
    home: Path, shared: Path, run: Run, tmp_path: Path
) -> None:
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (home / ".env").write_text("WORDS_KEY=hidden-words\n", encoding="utf-8")
    query = recorded(shared)["queries"][0]
    asked = ("recall", query["text"], "--query-vector", vector(tmp_path, query), "--json")

    def config(*more: object) -> dict[str, Any]:
        code, out, err = run(*asked, *more)
        assert code == 0, err
        document = json.loads(out)
        retrieval: dict[str, Any] = document["config"]["retrieval"]
        return {**retrieval, "found": len(document["results"])}

    own = config()
    assert (own["mode"], own["top_k"], own["found"]) == ("hybrid", 4, 4)
    assert (own["reranker"]["type"], own["reranker"]["weight"]) == ("linear", 0.25)
    whole = config("--config", settings(tmp_path, {"retrieval": {"top_k": 3}}))
    assert (whole["mode"], whole["found"], whole["reranker"]["type"]) == ("vector", 3, "rrf")
    (store,) = found(run).values()
    assert (store["model"], store["config_dims"], store["dims_match"]) == ("words-64", 64, True)
    assert store["embedding"]["available"]
    assert "hidden-words" not in run("stores", "--json")[1] + run("stores")[1]


@pytest.mark.parametrize("text", ["plugins: [", "plugins: {lancedb: 3}", "a: !!python/object:os.system {}"])
def test_a_file_that_cannot_be_read_leaves_the_defaults_and_is_told(home: Path, run: Run, text: str) -> None:
    (home / "config.yaml").write_text(text, encoding="utf-8")
    code, out, _ = run("stores", "--json")
    assert code == 0
    assert any("goes on with its defaults" in each["message"] for each in json.loads(out)["findings"])
    assert len(listed(run)) == 301


def test_yaml_is_read_only_where_there_is_such_a_file(home: Path) -> None:
    ask = "import sys, os, pathlib; from memtui.engine.discovery import discover; "
    ask += "discover(os.environ, cwd=pathlib.Path.cwd()); print('yaml' in sys.modules)"
    said = [subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout]
    (home / "config.yaml").write_text(CONFIG, encoding="utf-8")
    said.append(
        subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    )
    assert said == ["False\n", "True\n"]


def test_the_commands_write_forget_and_take_back(home: Path, shared: Path, run: Run) -> None:
    row = next(each for each in recorded(shared)["rows"] if each["kind"] == "fact" and each["tags"])
    ids = [each["id"] for each in recorded(shared)["rows"]]
    twice = next(each for each in ids if ids.count(each) == 2)
    before = listed(run)
    code, _, err = run("edit", row["id"], "--set", "category=event", "scope=New place", "tags=a,b", "--yes")
    assert code == 0, err
    changed = next(each for each in listed(run) if each["id"] == row["id"])
    plain = " ".join(row["content"].lower().split())
    assert (changed["category"], changed["scope"], changed["extra"]["tags"]) == (
        "event",
        "New place",
        ["a", "b"],
    )
    assert changed["extra"]["content_hash"] == sha256(f"fact\0New place\0{plain}".encode()).hexdigest()
    assert run("undo", "--yes")[0] == 0
    assert listed(run) == before
    code, out, err = run("forget", twice, "--hard", "--yes")
    assert code == 0, err
    assert "2 memories changed" in out
    assert "2 rows share the id" in err
    assert len(listed(run)) == 299
    assert run("undo", "--yes")[0] == 0
    assert Counter(map(json.dumps, listed(run))) == Counter(map(json.dumps, before))
    assert run("edit", twice, "--set", "category=event", "--yes")[0] != 0
