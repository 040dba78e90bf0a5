"""Is the memory alive: recorded homes, every silent stop planted, no false alarm, nothing changed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import json5
import pytest

from memtui.engine.alive import Aliveness, add_dead_parts, check_alive, plan_revival, try_services
from memtui.engine.alive.titles import title_of
from memtui.engine.configuration import PLANS, open_config, other_owner, plan_changes, problems_of
from memtui.engine.core.errors import RefusedError, UsageError

NOW = 1_795_730_000_000

HOMES = {
    "lancedb": ("alive", {"A6": "weak", "B1": "weak"}),
    "core": ("alive", {"D3": "weak", "D5": "weak", "D7b": "weak", "D10": "weak"}),
    "pro": ("alive", {"A11": "weak", "A12": "weak"}),
    "external-edit": ("alive", {"C1": "weak"}),
    "sessions": ("unknown", {}),
    "broken-no-conversation": ("dead", {"A1": "dead", "C1": "weak"}),
    "broken-no-injection": ("dead", {"A2": "dead", "C1": "weak"}),
    "broken-slot-core": ("dead", {"A3": "dead"}),
    "broken-plugin-missing": ("dead", {"A4": "dead"}),
    "broken-dims": ("dead", {"B3": "dead", "C1": "weak"}),
    "broken-pro-no-conversation": ("dead", {"A1": "dead", "A11": "weak"}),
    "config-old-list": ("dead", {"A1": "dead", "A9": "dead"}),
}


@pytest.fixture(scope="session")
def recorded(shared: Path, unpack: Callable[[Path], Path]) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def home(name: str) -> Path:
        if name not in made:
            made[name] = unpack(shared / "fixtures" / "openclaw" / f"{name}.tar.gz")
        return made[name]

    return home


@pytest.fixture
def copy(recorded: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    def made(name: str) -> Path:
        return shutil.copytree(recorded(name), tmp_path / name)

    return made


def judge(home: Path, **environ: str) -> Aliveness:
    found = check_alive({"HOME": str(home), **environ}, home, now_ms=NOW)
    keeps_contract(found)
    return found


def keeps_contract(found: Aliveness) -> None:
    told = found.as_json()
    assert told["schema"] == 1
    assert set(told["host"]) == {"name", "version", "known"}
    states = [part["state"] for agent in told["agents"] for part in agent["parts"]]
    assert (told["verdict"] == "dead") == ("dead" in states)
    for agent in told["agents"]:
        for part in agent["parts"]:
            assert set(part) == {"part", "state", "causes", "sentence", "evidence", "fix"}
            assert bool(part["causes"]) == (part["state"] in ("dead", "weak"))
            if part["causes"]:
                assert part["sentence"]
                assert part["fix"]
                assert part["evidence"]
            if part["state"] == "unknown":
                assert part["sentence"]
            for item in part["evidence"]:
                assert Path(item["file"]).exists()
                assert item["key"]
    assert all(note["code"] and note["sentence"] and note["key"] for note in told["notes"])


def states(found: Aliveness) -> dict[str, str]:
    out: dict[str, str] = {}
    for _, _, cause in found.causes:
        out[cause.code] = "dead" if "dead" in (out.get(cause.code), cause.state) else "weak"
    return out


def fingerprint(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(home.rglob("*"))
    }


def configure(home: Path, change: Callable[[dict[str, Any]], None]) -> None:
    file = home / ".openclaw" / "openclaw.json"
    tree = json5.loads(file.read_text())
    change(tree)
    file.write_text(json.dumps(tree, indent=2))


def entry(tree: dict[str, Any]) -> dict[str, Any]:
    return tree["plugins"]["entries"][tree["plugins"]["slots"]["memory"]]


@pytest.mark.parametrize("name", HOMES)
def test_recorded_homes_are_judged_and_left_as_they_are(name: str, recorded: Callable[[str], Path]) -> None:
    home = recorded(name)
    before = fingerprint(home)
    found = judge(home)
    assert (found.verdict, states(found)) == HOMES[name]
    assert found.host_version == "2026.9.6"
    assert found.host_known
    assert fingerprint(home) == before


def lines(home: Path, *messages: str) -> None:
    """Messages at the end of the gateway's log, as the gateway writes them."""
    with (home / ".openclaw" / "logs" / "gateway.log").open("a") as log:
        for number, message in enumerate(messages):
            stamp = time.strftime("%Y-%m-%dT%H:%M:", time.gmtime(NOW / 1000)) + f"{number:02}.000+00:00"
            log.write(json.dumps({"0": "{}", "1": message, "time": stamp, "message": message}) + "\n")


def database(home: Path, statement: str, agent: str = "main", state: bool = False) -> None:
    where = "state/openclaw.sqlite" if state else f"agents/{agent}/agent/openclaw-agent.sqlite"
    with closing(sqlite3.connect(home / ".openclaw" / where)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        db.executescript(statement)
        db.commit()


Plant = Callable[[Path], None]


def setting(change: Callable[[dict[str, Any]], object]) -> Plant:
    return lambda home: configure(home, lambda tree: (change(tree), None)[1])


def drop_agent_column(home: Path) -> None:
    import lancedb

    table = lancedb.connect(home / "store").open_table("memories")
    table.drop_columns(["agentId"])


def move_workspace(home: Path) -> None:
    (home / ".openclaw" / "workspace").mkdir()
    (home / ".openclaw" / "workspace" / "MEMORY.md").write_text("- the relay\n")
    configure(home, lambda tree: tree["agents"]["entries"].update(second={}))


def other_state(home: Path) -> None:
    shutil.copytree(home / ".openclaw" / "agents", home / ".openclaw-work" / "agents")
    for file in (home / ".openclaw-work").rglob("*.sqlite"):
        with closing(sqlite3.connect(file)) as db:
            db.execute("UPDATE transcript_events SET created_at = created_at + 900000000")
            db.commit()


def notes_elsewhere(home: Path) -> None:
    for folder in ("workspace", "workspace-main"):
        (home / ".openclaw" / folder / "memory").mkdir(parents=True)
        (home / ".openclaw" / folder / "memory" / "2026-11-27.md").write_text("noted\n")
    configure(home, lambda tree: tree["agents"]["entries"].update(second={}))


def big_memory(home: Path) -> None:
    with (home / "ws-main" / "MEMORY.md").open("a") as file:
        file.write("x" * 21_000)


ALL = {"recall", "capture", "tools"}


def hooks(**values: bool) -> Plant:
    return setting(lambda tree: entry(tree)["hooks"].update(values))


def plugins(**values: Any) -> Plant:
    return setting(lambda tree: tree["plugins"].update(values))


def config(**values: Any) -> Plant:
    return setting(lambda tree: entry(tree)["config"].update(values))


def search(**values: Any) -> Plant:
    return setting(lambda tree: tree["memory"]["search"].update(values))


def agent(name: str, **values: Any) -> Plant:
    return setting(lambda tree: tree["agents"]["entries"][name].update(values))


def said(*messages: str) -> Plant:
    return lambda home: lines(home, *messages)


def renamed(home: Path) -> None:
    configure(
        home, lambda tree: tree["agents"]["entries"].update(prime=tree["agents"]["entries"].pop("main"))
    )


def old_form(home: Path) -> None:
    shutil.copyfile(home / "openclaw.before.json5", home / ".openclaw" / "openclaw.json")


def trusted_stranger(home: Path) -> None:
    database(home, "DELETE FROM plugin_state_entries WHERE namespace = 'workspace-files';", state=True)
    database(home, "UPDATE memory_index_chunk_provenance SET origin_class = 'agent';")


def new_note(home: Path) -> None:
    (home / "ws-main" / "memory" / "new.md").write_text("a new note\n")


LTM = "external-edit"

INJECTED = "memory-lancedb: injecting 1 memories into context"

PLANTED: dict[str, tuple[str, Plant, str, set[str]]] = {
    "A1-missing": (LTM, setting(lambda tree: entry(tree).pop("hooks")), "dead", {"recall", "capture"}),
    "A1-once-not-loaded": ("lancedb", setting(lambda tree: entry(tree).pop("hooks")), "dead", {"recall", "capture"}),
    "A1-false": ("pro", hooks(allowConversationAccess=False), "dead", {"recall", "capture"}),
    "A2": (LTM, hooks(allowPromptInjection=False), "dead", {"recall"}),
    "A3-unset": (LTM, setting(lambda tree: tree["plugins"].pop("slots")), "dead", ALL),
    "A3-none": ("pro", plugins(slots={"memory": "none"}), "dead", ALL),
    "A4-unknown": ("core", plugins(slots={"memory": "memory-mine"}), "dead", ALL),
    "A4-pro": (LTM, plugins(slots={"memory": "memory-lancedb-pro"}), "dead", ALL),
    "A5-deny": (LTM, plugins(deny=["memory-lancedb"]), "dead", ALL),
    "A5-off": (LTM, setting(lambda tree: entry(tree).update(enabled=False)), "dead", ALL),
    "A5-all-off": ("pro", plugins(enabled=False), "dead", ALL),
    "A5-core": ("core", plugins(deny=["memory-core"]), "dead", {*ALL, "index"}),
    "A5b": (LTM, plugins(allow=["telegram"]), "weak", {"recall", "capture"}),
    "A6": (LTM, said("[plugins] memory-lancedb failed during load from /x/index.js: Error: missing"), "dead", ALL),
    "A7-model": (LTM, setting(lambda tree: entry(tree)["config"]["embedding"].pop("dimensions")), "dead", ALL),
    "A7-variable": ("lancedb", lambda home: (home / ".openclaw" / ".env").unlink(), "dead", ALL),
    "A7-key": (LTM, config(topK=3), "dead", ALL),
    "A7-log": (LTM, said("memory-lancedb: disabled until configured (embedding)"), "dead", ALL),
    "A8-capture": (LTM, setting(lambda tree: entry(tree)["config"].pop("autoCapture")), "dead", {"capture"}),
    "A8-recall": (LTM, config(autoRecall=False), "dead", {"recall"}),
    "A8-pro": ("pro", setting(lambda tree: entry(tree)["config"].pop("autoRecall")), "dead", {"recall"}),
    "A9-agent": ("lancedb", agent("scout", memory={"search": {"enabled": False}}), "dead", ALL),
    "A9-all": (LTM, setting(lambda tree: tree.update(memory={"search": {"enabled": False}})), "dead", ALL),
    "A10-deny": (LTM, setting(lambda tree: tree.update(tools={"deny": ["memory_*"]})), "dead", {"recall", "tools"}),
    "A10-allow": ("lancedb", agent("main", tools={"allow": ["read"]}), "dead", {"recall", "tools"}),
    "A11": (LTM, said("plugin tool name conflict (memory-lancedb): memory_recall"), "weak", {"tools"}),
    "A12": (LTM, said("memory-lancedb: auto-recall timed out after 15000ms", INJECTED), "weak", {"recall"}),
    "B1-over": (LTM, said("memory-lancedb: recall failed: Error: 401", INJECTED), "weak", {"recall", "embedding"}),
    "B1-now": (
        LTM, said("memory-lancedb: recall failed: Error: 429", "memory-lancedb: capture failed: Error: 429"), "dead",
        {"recall", "capture", "embedding"},
    ),
    "B2": (LTM, said("memory-lancedb: embedding timed out; cooldown", INJECTED), "weak", {"recall", "embedding"}),
    "B3": (
        LTM, setting(lambda tree: entry(tree)["config"]["embedding"].update(dimensions=96)), "dead",
        {"recall", "capture", "embedding"},
    ),
    "B5": ("core", said("memory: semantic memory recall is degraded: 401"), "dead", {"embedding", "index"}),
    "B5-never": (
        "core", lambda home: database(home, "DELETE FROM memory_index_meta;"), "dead", {"embedding", "index"},
    ),
    "B6-model": ("core", search(model="other"), "dead", {"index", "tools"}),
    "B6-sources": ("core", search(sources=["memory"]), "dead", {"index", "tools"}),
    "B6-paths": ("core", search(extraPaths=[]), "dead", {"index", "tools"}),
    "C1": ("lancedb", renamed, "dead", {"recall"}),
    "C2": (LTM, move_workspace, "dead", {"workspace"}),
    "C2b": (LTM, notes_elsewhere, "dead", {"workspace"}),
    "C3": ("core", agent("main", workspace="~/new"), "dead", {"workspace", "index"}),
    "C4": (LTM, other_state, "weak", {"workspace"}),
    "C5": (LTM, config(dbPath="store"), "weak", {"index"}),
    "C6": (LTM, drop_agent_column, "dead", {*ALL, "index"}),
    "C7": ("config-old-list", old_form, "dead", ALL),
    "D5b": ("core", trusted_stranger, "weak", {"index"}),
    "D6": ("core", big_memory, "weak", {"recall"}),
    "D7b": ("core", said("memory-core: dreaming sweep failed for workspace /x: lock"), "dead", {"dreaming"}),
    "D10": ("core", new_note, "weak", {"index"}),
    "D11": ("core", lambda home: database(home, "DROP TABLE memory_index_chunks_fts;"), "weak", {"index"}),
    "D14": ("core", setting(lambda tree: tree["memory"].update(backend="qmd")), "dead", ALL),
}  # fmt: skip
"""Source home, how it is broken, the state and the parts of the cause that the name begins with."""

BESIDE = {"A4-pro": {"A3"}, "C7": {"D14"}, "C5": set(), "A3-unset": set()}
"""What the same fault is named by, too."""


@pytest.mark.parametrize("name", PLANTED)
def test_each_silent_stop_is_named(name: str, copy: Callable[[str], Path]) -> None:
    source, plant, state, parts = PLANTED[name]
    code = name.partition("-")[0]
    home = copy(source)
    plant(home)
    found = judge(home)
    assert states(found).get(code) == state
    touched = {
        part.part
        for memory in found.agents
        for part in memory.parts
        if any((cause.code, cause.state) == (code, state) for cause in part.causes)
    }
    assert touched == parts
    assert found.verdict == ("dead" if state == "dead" else "alive")
    assert set(states(found)) <= {code, *HOMES[source][1], *BESIDE.get(name, ())}
    check_names_what_is_dead(home, found)


def check_names_what_is_dead(home: Path, found: Aliveness) -> None:
    """The check of the configuration is never content with a memory that is dead by one of its keys."""
    config = open_config({"HOME": str(home)}, home)
    own = problems_of(config)
    problems = add_dead_parts(own, config, found)
    assert set(own) <= set(problems)
    assert len({(each.path, each.rule) for each in problems}) == len(problems)
    named = {each.path for each in problems if each.severity in ("error", "warning")}
    for _, _, cause in found.causes:
        keys = {item.key for item in cause.evidence if item.file == str(config.main)}
        if cause.state == "dead" and keys:
            assert keys & named, (cause.code, keys)
            (problem, *_) = [each for each in problems if each.path in keys]
            assert problem.remedy
            assert Path(problem.file).is_file()


@pytest.mark.parametrize("name", HOMES)
def test_the_check_of_a_configuration_is_content_where_the_memory_lives(
    name: str, recorded: Callable[[str], Path]
) -> None:
    home = recorded(name)
    found = judge(home)
    check_names_what_is_dead(home, found)
    config = open_config({"HOME": str(home)}, home)
    problems = add_dead_parts(problems_of(config), config, found)
    assert bool([each for each in problems if each.severity == "error"]) == (found.verdict == "dead")


@pytest.mark.parametrize("name", HOMES)
@pytest.mark.parametrize("plan", PLANS)
def test_no_plan_switches_the_owner_of_the_slot(
    plan: str, name: str, recorded: Callable[[str], Path]
) -> None:
    home = recorded(name)
    config = open_config({"HOME": str(home)}, home)
    if name in (
        "pro",
        "broken-pro-no-conversation",
        "sessions",
    ):  # its own, and a host without any memory plugin
        paths = [change.path for change in plan_changes(config, PLANS[plan])]
        assert (("plugins", "slots", "memory") in paths) == (name == "sessions")
        return
    with pytest.raises(RefusedError, match="has the memory slot") as told:
        plan_changes(config, PLANS[plan])
    assert other_owner(config) in str(told.value)


def test_defaults_are_notes_and_change_nothing(copy: Callable[[str], Path]) -> None:
    core = judge(copy("core"))
    assert {note.code for agent in core.agents if agent.agent == "main" for note in agent.notes} == {"D2"}
    home = copy("broken-slot-core")
    codes = {
        note.code for agent in judge(home).agents if agent.owner == "memory-core" for note in agent.notes
    }
    assert {"D1", "D7", "D8", "D12", "D13"} <= codes
    other = {note.code for agent in judge(copy("pro")).agents for note in agent.notes}
    assert other == {"D1", "D13"}


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("external-edit", lambda tree: tree["plugins"].update(allow=["memory-lancedb"])),
        ("external-edit", lambda tree: tree.update(tools={"deny": ["exec"]})),
        ("external-edit", lambda tree: tree.update(tools={"allow": ["group:plugins", "read"]})),
        ("pro", lambda tree: tree["plugins"]["entries"].update({"memory-lancedb": {"enabled": False}})),
        (
            "pro",
            lambda tree: tree["plugins"]["entries"].update({"memory-lancedb": {"config": {"embedding": {}}}}),
        ),
        ("core", lambda tree: tree["plugins"]["entries"].update({"memory-lancedb": {"enabled": False}})),
        ("sessions", lambda tree: tree["agents"]["entries"].update(second={})),
    ],
    ids=[
        "allowed",
        "denies-another",
        "group",
        "old-entry-off",
        "old-entry-left",
        "core-entry-off",
        "no-slot",
    ],
)
def test_no_false_alarm(source: str, change: Any, copy: Callable[[str], Path]) -> None:
    home = copy(source)
    configure(home, change)
    found = judge(home)
    assert (found.verdict, set(states(found))) == (HOMES[source][0], set(HOMES[source][1]))


def test_every_cause_has_a_name_in_words() -> None:
    folder = Path(title_of.__code__.co_filename).parent
    used = {
        code
        for file in folder.glob("*.py")
        for code in re.findall(r'"([A-H]\d+b?)"', file.read_text("utf-8"))
    }
    assert len(used) > 40
    unnamed = [code for code in used if title_of(code) == code]
    assert not unnamed, f"give these causes a title in alive/titles.py: {sorted(unnamed)}"


def test_a_copied_home_is_judged_as_the_recorded_one(copy: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("lancedb", "core", "pro"):
        place = tmp_path / "far" / "away" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(copy(name), place)
        for file in place.rglob("*"):
            os.utime(file)  # as cp does
        assert (judge(place).verdict, states(judge(place))) == HOMES[name]


def test_one_edit_revives_what_an_edit_can_and_is_taken_back(
    copy: Callable[[str], Path], tmp_path: Path
) -> None:
    from memtui.engine.configuration import last_record, open_config, undo_write

    for name, code in (
        ("broken-no-conversation", "A1"),
        ("broken-no-injection", "A2"),
        ("broken-slot-core", "A3"),
    ):
        home = copy(name)
        environ = {"HOME": str(home)}
        file = home / ".openclaw" / "openclaw.json"
        before = file.read_bytes()
        planned = plan_revival(judge(home), code.lower(), environ, home)
        assert file.read_bytes() == before
        assert not any("sk-fake" in line for line in planned.difference)
        planned.apply(state=tmp_path / "kept", now_ms=NOW)
        assert judge(home).verdict == "alive"
        config = open_config(environ, home)
        undo_write(config, last_record(tmp_path / "kept", config.main), state=tmp_path / "kept", now_ms=NOW)
        assert file.read_bytes() == before
    with pytest.raises(UsageError, match="A9"):
        plan_revival(judge(home), "A9", environ, home)
    dims = copy("broken-dims")
    with pytest.raises(UsageError, match="not fixed by an edit"):
        plan_revival(judge(dims), "B3", {"HOME": str(dims)}, dims)


def test_a_repaired_configuration_counts_before_what_the_log_said(copy: Callable[[str], Path]) -> None:
    home = copy("external-edit")
    lines(home, "memory-lancedb: disabled until configured (embedding)")
    file = home / ".openclaw" / "openclaw.json"
    later = NOW / 1000 + 100_000
    os.utime(file, (later, later))
    assert judge(home).verdict == "alive"


def test_the_service_is_asked_only_when_wanted(copy: Callable[[str], Path]) -> None:
    home = copy("external-edit")
    environ = {"HOME": str(home)}
    found = judge(home)
    tried = try_services(found, environ, home, timeout_s=2)
    keeps_contract(tried)
    assert (found.verdict, tried.verdict) == ("alive", "dead")
    assert states(tried)["B1"] == "dead"


def test_lancedb_is_not_imported_where_no_table_is_opened(recorded: Callable[[str], Path]) -> None:
    import subprocess
    import sys

    script = (
        "import sys, pathlib\nfrom memtui.engine.alive import check_alive\nhome = pathlib.Path(sys.argv[1])\n"
        "check_alive({'HOME': str(home)}, home, now_ms=0)\nprint('lancedb' in sys.modules, 'pyarrow' in sys.modules)"
    )
    for name, imported in (("core", "False"), ("sessions", "False"), ("lancedb", "True")):
        told = subprocess.run(
            [sys.executable, "-c", script, str(recorded(name))], capture_output=True, text=True, check=True
        ).stdout.split()
        assert told[0] == imported, name


def spoil(home: Path, number: int) -> None:
    """One of the ways in which a database, a log or a configuration can be something else than what it was."""
    state = home / ".openclaw"
    files = [*state.rglob("*.sqlite"), state / "logs" / "gateway.log", state / "openclaw.json"]
    file = files[number % len(files)]
    data = file.read_bytes()
    cut = len(data) * (number % 7) // 7
    kind = number // len(files) % 5
    if kind == 0:
        data = data[:cut]
    elif kind == 1:
        data = data[:cut] + bytes(64) + data[cut + 64 :]
    elif kind == 2:
        data = data[:cut] + b"\xff\xfe{[" * 40 + data[cut:]
    elif kind == 3 and file.suffix == ".sqlite":
        data = data[:60] + (99).to_bytes(4, "big") + data[64:]
    elif kind == 4 and file.suffix == ".sqlite":
        with closing(sqlite3.connect(file)) as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            table = tables[number % len(tables)]
            if re.fullmatch(r"\w+", table) and not table.startswith("sqlite_"):
                db.execute("PRAGMA foreign_keys = OFF")
                try:
                    db.execute(f"DROP TABLE {table}")
                    db.commit()
                except sqlite3.Error:
                    pass
        return
    file.write_bytes(data)


@pytest.mark.parametrize("name", ["core", "lancedb", "pro"])
def test_nothing_on_disk_makes_it_fail_or_write(
    name: str, recorded: Callable[[str], Path], tmp_path: Path
) -> None:
    base = recorded(name)
    for number in range(60):
        home = shutil.copytree(base, tmp_path / f"{name}{number}")
        spoil(home, number)
        before = fingerprint(home)
        judge(home)
        assert fingerprint(home) == before
        shutil.rmtree(home)
