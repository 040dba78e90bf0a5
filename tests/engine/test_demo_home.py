"""The demo is a whole home: what lies around its memories is true, can be undone, and leaves them as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.demo_store import agents_environ
from memtui.engine import Engine, MemtuiError, changes, open_engine
from memtui.engine.alive import check_alive, plan_revival
from memtui.engine.clients import CallJournal, ClientRegister
from memtui.engine.configuration import open_config, problems_of, undo_write
from memtui.engine.demo import build_demo, demo_folder, demo_home
from memtui.engine.demo_home import build_demo_home
from memtui.engine.hosts import HOSTS, server_file
from memtui.engine.witness import find_sessions
from memtui.paths import state_dir
from tests.conftest import NOW_MS


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine of nobody, with the demo in memtui's cache."""
    found = {"HOME": str(tmp_path / "home")}
    found |= {f"MEMTUI_{name.upper()}_DIR": str(tmp_path / name) for name in ("config", "state", "cache")}
    build_demo_home(demo_folder(tmp_path / "cache"), now_ms=NOW_MS)
    return found


def opened(environ: dict[str, str], tmp_path: Path) -> Engine:
    own = agents_environ("demo", environ)
    folder = demo_folder(tmp_path / "cache")
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ=own, cwd=tmp_path, writable=True, state=state_dir(own)
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


def rows_of(folder: Path) -> list[dict]:
    import lancedb

    table = lancedb.connect(str(folder)).open_table("memories")
    return sorted(table.to_arrow().to_pylist(), key=lambda row: row["id"])


def test_the_memories_are_those_of_the_demo_store(environ: dict[str, str], tmp_path: Path) -> None:
    plain = build_demo(tmp_path / "plain", now_ms=NOW_MS)
    rows = rows_of(demo_folder(tmp_path / "cache"))
    todos = [row for row in rows if row["text"].startswith("TODO")]
    assert len(todos) == 3
    assert [row for row in rows if row not in todos] == rows_of(plain)


def test_every_entry_of_the_journal_can_be_taken_back(environ: dict[str, str], tmp_path: Path) -> None:
    engine = opened(environ, tmp_path)
    entries = engine.write_state.journal.entries(limit=50)
    assert {"import", "edit"} <= {entry.action for entry in entries}
    assert "undone" in {entry.state for entry in entries}
    for entry in entries:
        if entry.state == "applied" and entry.undoes is None:
            planned = changes.plan_undo(engine, entry.entry)
            assert planned.changes
            assert not planned.conflicts
            changes.apply(engine, planned, confirmed=True)
            engine.refresh()


def test_two_clients_called_one_was_refused_and_is_paused(environ: dict[str, str], tmp_path: Path) -> None:
    engine = opened(environ, tmp_path)
    assert engine.state_place is not None
    calls = CallJournal(engine.state_place).read()
    assert {call.client for call in calls} == {"claude", "cursor"}
    assert {call.client for call in calls if call.outcome == "refused"} == {"cursor"}
    register = ClientRegister(demo_home(demo_folder(tmp_path / "cache")) / "clients.json")
    assert [(client.name, client.paused) for client in register.all()] == [("cursor", True)]
    assert not register.needs_token()  # that nobody was told
    assert set(engine.memories([row for call in calls for row in call.ids])) == {
        row for call in calls for row in call.ids
    }


def test_the_configuration_names_the_store_and_has_one_mistake(
    environ: dict[str, str], tmp_path: Path
) -> None:
    engine = opened(environ, tmp_path)
    assert engine.found is not None
    problems = problems_of(open_config(engine.environ, tmp_path))
    assert [problem.path.rpartition(".")[2] for problem in problems] == ["candidatePoolSize"]


def test_one_agent_is_dead_the_others_live_and_the_edit_that_revives_it_can_be_undone(
    environ: dict[str, str], tmp_path: Path
) -> None:
    own = agents_environ("demo", environ)

    def dead() -> set[tuple[str, str]]:
        found = check_alive(own, tmp_path, now_ms=NOW_MS)
        return {
            (agent.agent, part.part) for agent in found.agents for part in agent.parts if part.state == "dead"
        }

    parts = [part for agent in check_alive(own, tmp_path, now_ms=NOW_MS).agents for part in agent.parts]
    assert "unknown" not in {part.state for part in parts}, "a demo on which nothing is left undecided"
    assert dead() == {("research", "workspace")}
    file = demo_home(demo_folder(tmp_path / "cache")) / ".openclaw" / "openclaw.json"
    before = file.read_bytes()
    planned = plan_revival(check_alive(own, tmp_path, now_ms=NOW_MS), "C3", own, tmp_path)
    assert any("workspace-research" in line for line in planned.difference)
    assert file.read_bytes() == before
    record = planned.apply(state=state_dir(own), now_ms=NOW_MS)
    assert dead() == set()
    undo_write(open_config(own, tmp_path), record, state=state_dir(own), now_ms=NOW_MS)
    assert file.read_bytes() == before


def test_sessions_of_each_kind_are_there(environ: dict[str, str], tmp_path: Path) -> None:
    found = find_sessions(agents_environ("demo", environ), tmp_path)
    assert {"cron", "subagent", ""} <= {session.machine for session in found}
    assert {session.agent for session in found} == {"main", "ops", "scribe", "research", "reviewer"}


def test_nothing_of_the_home_lies_in_the_person_s_state(environ: dict[str, str], tmp_path: Path) -> None:
    opened(environ, tmp_path)
    assert not (tmp_path / "state").exists()
    assert not (tmp_path / "config").exists()


def test_no_file_of_the_persons_own_hosts_is_reached_from_the_demo(tmp_path: Path) -> None:
    """Agents' `c` writes a host's file: that of the demo's home, whatever variables name the person's own."""
    mine = tmp_path / "mine"
    names = (
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "CODEX_HOME",
        "APPDATA",
        "USERPROFILE",
        "CLAUDE_CONFIG_DIR",
    )
    around = {name: str(mine / name.lower()) for name in names} | {
        "MEMTUI_CACHE_DIR": str(tmp_path / "cache")
    }
    environ = agents_environ("demo", around)
    home = Path(environ["HOME"])
    for host in HOSTS:
        try:
            file = server_file(host, environ, home)
        except MemtuiError:
            continue  # no file of its own
        assert mine not in file.parents, host
