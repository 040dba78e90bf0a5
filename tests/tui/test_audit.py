"""Audit: sessions, rights, leaks, the reach of a memory and the live view, on real stores and real files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import Engine, open_engine
from memtui.engine.witness import Injected, ReplayedSession, ReplayedTurn
from memtui.engine.witness.got import GotIndex, read_got
from memtui.engine.witness.session import SessionFile
from memtui.engine.witness.turns import Turn
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ShowMemory
from memtui.tui.paint.glyphs import choose
from memtui.tui.screens.audit import view
from memtui.tui.screens.audit.screen import AuditScreen
from memtui.tui.screens.audit.state import AuditState
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.lifecycle.screen import LifecycleScreen
from memtui.tui.screens.recall.bisect import BisectScreen
from memtui.tui.widgets.row_list import BuiltRows
from memtui.tui.widgets.view_rows import Look
from tests.conftest import tree_hash
from tests.engine import pro_store
from tests.engine.session_world import MadeTurn, line, write_session
from tests.tui.driving import (
    EACH_SIZE,
    SIZES,
    check_golden,
    press,
    running,
    screen_text,
    settle,
    type_text,
    until,
)

DAY = 1_750_000_000_000
NOW_MS = 1_788_864_000_000
PORT = "The bastion answers on port 2222."
PRIVATE = "Ines sees a physiotherapist on Monday mornings."
LIST = ("j", "j", "space", "enter")
"""Grants user:ines, the second scope of the list."""
SIZE_NAMES = [f"{width}x{height}" for width, height in SIZES]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two agents, their sessions, and a store in which one memory was replaced since."""
    state = tmp_path / "home" / ".openclaw"
    store = state / "memory" / "lancedb-pro"
    store.mkdir(parents=True)
    rows = [
        pro_store.row("11111111-a", PORT, [1, 0, 0], timestamp=DAY, metadata={"superseded_by": "22222222-b"}),
        pro_store.row("22222222-b", "The bastion answers on port 48022.", [0, 1, 0], timestamp=DAY + 5000),
        pro_store.row("33333333-c", PRIVATE, [0, 0, 1], scope="user:ines", timestamp=DAY),
        pro_store.row("44444444-d", "password: hunter22X9", [0, 1, 1], timestamp=DAY),
    ]
    pro_store.write_store(store, rows, dims=3, fts=False)
    block = {"agentAccess": {"main": ["global", "agent:main", "user:ines"]}}
    plugin = {"enabled": True, "config": {"embedding": {"apiKey": "x"}, "scopes": block}}
    config = {
        "agents": {"list": [{"id": "main"}, {"id": "scribe"}]},
        "plugins": {"slots": {"memory": "memory-lancedb-pro"}, "entries": {"memory-lancedb-pro": plugin}},
    }
    (state / "openclaw.json").write_text(json.dumps(config), "utf-8")
    asked = [
        MadeTurn("which port does the bastion have", (line(PORT),)),
        MadeTurn("ok"),
        MadeTurn("what is the password", (line("password: hunter22X9"), line(PRIVATE, "user:ines"))),
    ]
    write_session(tmp_path / "home", "blocks", asked, session="session-of-scribe", agent="scribe")
    write_session(
        tmp_path / "home", "trajectory", [MadeTurn("good morning"), MadeTurn("lost", None)], session="quiet"
    )
    return tmp_path / "home"


def engine_of(home: Path, **more: Any) -> Engine:
    return open_engine(None, now=lambda: NOW_MS, environ={"HOME": str(home)}, cwd=home, **more)


def screen_of(app: Any) -> AuditScreen:
    assert isinstance(app.screen, AuditScreen)
    return app.screen


@asynccontextmanager
async def at_reach(home: Path, tmp_path: Path) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app on Audit at the reach of a memory that a turn got, the store open for writing."""
    engine = engine_of(home, writable=True, state=tmp_path / "state")
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "j")
        await settle(pilot)
        await press(pilot, "tab", "tab")
        screen_of(app).query_one("#detail-rows", BuiltRows).choose("0:11111111-a")
        await press(pilot, "X")
        await settle(pilot)
        yield app, pilot


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_a_turn_whose_block_held_a_replaced_row(home: Path, size: tuple[int, int]) -> None:
    before = tree_hash(home)
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "j")
        await settle(pilot)
        text = screen_text(app)
        check_golden(f"audit-turn-{size[0]}x{size[1]}", text)
        assert "≠ replaced" in text
        await press(pilot, "comma", "full_stop", "full_stop")
        text = screen_text(app)
        assert "hunter22X9" not in text
        assert "[REDACTED]" in text
        await press(pilot, "V")
        assert "hunter22X9" in screen_text(app)
    assert tree_hash(home) == before


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_who_reads_what(home: Path, size: tuple[int, int]) -> None:
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "8", "right_square_bracket")
        await settle(pilot)
        await press(pilot, "j", "l")
        check_golden(f"audit-access-{size[0]}x{size[1]}", screen_text(app))
        state = screen_of(app).state
        assert (state.agent, state.scopes[state.column]) == ("scribe", "user:ines")
        text = screen_text(app)
        assert "1 line in 1 turn, minimum" in text
        assert "openclaw.json has no" in text


@pytest.mark.slow
async def test_a_sentence_of_the_palette_ends_on_the_agent_or_the_scope_it_names(home: Path) -> None:
    async with running(engine_of(home)) as (app, pilot):
        for said, view_shown, there in (
            ("what did scrbe get", "sessions", lambda state: state.session == "session-of-scribe"),
            ("what did main get", "sessions", lambda state: state.session == "quiet"),
            ("what can scribe read", "access", lambda state: state.agent == "scribe"),
            ("who reads ines", "access", lambda state: state.scopes[state.column] == "user:ines"),
        ):
            await press(pilot, "2", "ctrl+p")
            await type_text(pilot, said)
            await press(pilot, "enter")
            await until(pilot, lambda: isinstance(app.screen, AuditScreen))
            await until(pilot, lambda view=view_shown: screen_of(app).state.view == view)
            await until(pilot, lambda there=there: there(screen_of(app).state))
            await settle(pilot)
            assert there(screen_of(app).state), said
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, "what did nobody get")
        await press(pilot, "enter")
        await until(pilot, lambda: "no session of nobody: there are some of main, scribe" in screen_text(app))


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_a_leak_with_its_proof(home: Path, size: tuple[int, int]) -> None:
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "8", "right_square_bracket", "right_square_bracket")
        await settle(pilot)
        text = screen_text(app)
        check_golden(f"audit-leak-{size[0]}x{size[1]}", text)
        assert "did" in text
        assert "user:ines: main may read it" in text
        await press(pilot, "X")
        await settle(pilot)
        reach = screen_of(app).state.reach
        assert reach is not None
        assert (reach.id, reach.agents) == ("33333333-c", {"scribe": 1})


async def test_the_memory_of_a_leak_is_shown_masked_until_it_is_revealed(home: Path) -> None:
    import lancedb

    table = lancedb.connect(home / ".openclaw" / "memory" / "lancedb-pro").open_table("memories")
    table.update(where="id = '33333333-c'", values={"text": f"{PRIVATE} password: hunter33Y8"})
    async with running(engine_of(home), (120, 36)) as (app, pilot):
        await press(pilot, "8", "right_square_bracket", "right_square_bracket")
        await settle(pilot)
        leak = screen_of(app).state.shown_leak
        assert leak is not None
        assert "hunter33Y8" not in repr(leak) + json.dumps(leak.as_json())
        text = screen_text(app)
        assert "physiotherapist" in text
        assert "hunter33Y8" not in text
        assert "[REDACTED]" in text
        await press(pilot, "V")
        assert "hunter33Y8" in screen_text(app)


async def test_the_turns_of_a_cell_are_listed_and_lead_to_themselves(home: Path) -> None:
    async with running(engine_of(home), (200, 50)) as (app, pilot):
        await press(pilot, "8", "right_square_bracket")
        await settle(pilot)
        await press(pilot, "l")
        text = screen_text(app)
        assert '"main": ["global", "agent:main", "user:ines"]' in text
        assert "no turn is known" in text
        await press(pilot, "j")
        await settle(pilot)
        assert "session- turn 3  transcript" in screen_text(app)
        screen = screen_of(app)
        rows = screen.query_one("#detail-rows", BuiltRows)
        rows.choose("session-of-scribe#3")
        rows.focus()
        await press(pilot, "enter")
        await settle(pilot)
        assert (screen.state.view, screen.state.session, screen.state.turn) == (
            "sessions",
            "session-of-scribe",
            3,
        )


async def test_a_turn_is_bisected_and_made_a_case(home: Path, tmp_path: Path) -> None:
    now = "The bastion answers on port 48022."
    write_session(home, "blocks", [MadeTurn("which port is it", (line(now),))], session="z", agent="scribe")
    engine = engine_of(home, writable=True, state=tmp_path / "state")
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "j", "j")
        await settle(pilot)
        await press(pilot, "E")
        await settle(pilot)
        assert "kept as a case: 1 memory expected" in screen_text(app)
        await press(pilot, "B")
        await settle(pilot)
        opened = app.screen
        assert isinstance(opened, BisectScreen)
        assert opened.found is not None
        assert (opened._memory, opened._request.agent) == ("22222222-b", "scribe")
        assert opened._request.query == "which port is it"


@pytest.mark.slow
async def test_a_transcript_is_shown_as_previews_until_it_is_revealed(home: Path) -> None:
    long = "please " * 60 + "tell me the end"
    write_session(home, "blocks", [MadeTurn(long, (line(PORT),))], session="a-long-one", agent="scribe")
    async with running(engine_of(home), (200, 50)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "j", "j")
        await settle(pilot)
        assert "please" in screen_text(app)
        assert "tell me the end" not in screen_text(app)
        await press(pilot, "V")
        assert "tell me the end" in screen_text(app)


async def test_the_detail_of_a_memory_says_which_turns_got_it(home: Path) -> None:
    async with running(engine_of(home), (200, 50)) as (app, pilot):
        app.screen.post_message(ShowMemory("11111111-a"))
        await settle(pilot)
        await until(pilot, lambda: "USED BY" in screen_text(app))
        text = screen_text(app)
        assert "minimum 1" in text
        assert "scribe, session- turn 1" in text
        assert "not recorded" in text
        app.screen.post_message(ShowMemory("22222222-b"))
        await settle(pilot)
        await until(pilot, lambda: "not recorded" in screen_text(app))
        assert "scribe, session-" not in screen_text(app)


def test_the_session_that_a_memory_was_captured_from_is_named(home: Path) -> None:
    engine = engine_of(home)
    found = read_got(engine, engine.environ, home)
    memory = replace(engine.get("44444444-d"), source_session="quiet")
    got = found.of(memory)
    assert got is not None
    assert (got.captured_by, got.captured_in) == ("main", "quiet")
    assert [(each.agent, each.n) for each in got.turns] == [("scribe", 3)]
    nothing = GotIndex().of(memory)
    assert nothing is None


@pytest.mark.parametrize("size", SIZES[1:], ids=SIZE_NAMES[1:])
async def test_home_tells_of_injections_silent_turns_and_dear_memories(
    home: Path, size: tuple[int, int]
) -> None:
    async with running(engine_of(home), size) as (app, pilot):
        await until(pilot, lambda: "Injections" in screen_text(app))
        text = screen_text(app)
        assert "2 of 5 without memory" in text
        assert "unused (tokens, times)" in text
        assert "15   1x  password: [REDACTED]" in text


async def test_not_recorded_is_not_nothing(home: Path) -> None:
    async with running(engine_of(home), (120, 36)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        assert screen_of(app).state.session == "quiet"
        assert "nothing was injected" in screen_text(app)
        await press(pilot, "full_stop")
        assert "not recorded what was injected" in screen_text(app)


async def test_a_reach_is_taken_out_by_one_change_and_written_as_a_pack(home: Path, tmp_path: Path) -> None:
    async with at_reach(home, tmp_path) as (app, pilot):
        text = screen_text(app)
        assert "ONE CHANGE" in text
        assert "copies" in text
        reach = screen_of(app).state.reach
        assert reach is not None
        assert reach.removable == ["11111111-a"]
        await press(pilot, "x")
        app.screen.query_one("Input").value = str(tmp_path / "pack.zip")
        await press(pilot, "enter")
        await settle(pilot)
        assert (tmp_path / "pack.zip").is_file()


async def test_what_becomes_of_each_row_of_a_reach_is_chosen_on_the_screen(
    home: Path, tmp_path: Path
) -> None:
    async with at_reach(home, tmp_path) as (app, pilot):
        screen = screen_of(app)
        assert {each: mend.verb for each, mend in screen.state.mends.items()} == {"11111111-a": "archive"}
        screen.query_one("#list-rows").focus()
        await press(pilot, "space", "l")
        assert screen.state.mends["11111111-a"].verb == "leave"
        assert "nothing is chosen" in screen_text(app)
        assert screen.check_action("apply", ()) is None
        await press(pilot, "f", "s")
        app.screen.query_one("Input").value = "user:ines"
        await press(pilot, "enter")
        assert screen.state.mends["11111111-a"].words == "moved to user:ines"
        await press(pilot, "A")
        await settle(pilot)
        assert "user:ines" in screen_text(app)
        await press(pilot, "Y")
        await settle(pilot)
        assert app.session.engine.memories(["11111111-a"])["11111111-a"].scope == "user:ines"


async def test_the_live_view_shows_what_another_program_writes(home: Path) -> None:
    import lancedb

    engine = engine_of(home)
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "8", "left_square_bracket", "left_square_bracket")
        await settle(pilot)
        table = lancedb.connect(home / ".openclaw" / "memory" / "lancedb-pro").open_table("memories")
        table.add([pro_store.row("55555555-e", "Stored by somebody else.", [1.0, 0.0, 0.0])])
        injected = json.dumps({"last_injected_at": 4_000_000_000_000, "injected_count": 1})
        table.update(where="id = '22222222-b'", values={"metadata": injected})
        screen = screen_of(app)
        screen._poll()
        await settle(pilot)
        assert [(each.kind, each.id) for each in screen.state.live] == [
            ("changed", "22222222-b"),
            ("stored", "55555555-e"),
        ]
        await press(pilot, "slash")
        app.screen.query_one("Input").value = "stored -48022"
        await press(pilot, "enter")
        assert [each.id for each in screen.state.live_shown] == ["55555555-e"]
        assert "only stored -48022" in screen_text(app)
        await press(pilot, "slash")
        app.screen.query_one("Input").value = "no such word"
        await press(pilot, "enter")
        assert "passes the filter" in screen_text(app)
        await press(pilot, "escape")
        assert len(screen.state.live_shown) == 2
        await press(pilot, "F")
        assert screen.state.paused


async def test_no_text_of_a_transcript_is_left_in_our_state(home: Path, tmp_path: Path) -> None:
    """Every view of the sessions is looked at, a case is kept of a turn; then every file of the state is read."""
    state = tmp_path / "state"
    engine = engine_of(home, writable=True, state=state)
    async with running(engine, (120, 36)) as (_, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "j")
        await settle(pilot)
        await press(pilot, "full_stop", "full_stop", "V", "R")
        await settle(pilot)
        for _ in range(4):
            await press(pilot, "right_square_bracket")
            await settle(pilot)
    from memtui.paths import state_dir

    places = [state, state_dir()]
    files = [path for place in places if place.is_dir() for path in place.rglob("*") if path.is_file()]
    assert any(path.name == "injections.sqlite" for path in files)
    secrets = [
        b"which port does the bastion",
        b"what is the password",
        b"hunter22X9",
        b"An answer.",
        b"physiotherapist",
    ]
    found = {
        (path.name, text) for path in files for text in secrets if text.lower() in path.read_bytes().lower()
    }
    assert found == set()


async def test_an_environment_without_sessions_says_what_the_store_tells(tmp_path: Path) -> None:
    folder = pro_store.write_store(
        tmp_path / "store", [pro_store.row("m1", PORT, [1, 0, 0])], dims=3, fts=False
    )
    engine = open_engine(folder, now=lambda: NOW_MS, environ={"HOME": str(tmp_path)}, cwd=tmp_path)
    async with running(engine, (80, 24)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        text = screen_text(app)
        assert "Sessions of agents will be listed here" in text
        assert "not recorded" in text


async def test_a_memory_of_browse_leads_to_the_turns_that_got_it(home: Path) -> None:
    async with running(engine_of(home), (120, 36)) as (app, pilot):
        await press(pilot, "2")
        await settle(pilot)
        chosen = app.screen.query_one(MemoryList).current
        app.screen.action_reach()
        await settle(pilot)
        reach = screen_of(app).state.reach
        assert reach is not None
        assert reach.id == chosen.id


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_what_an_agent_reads_is_edited_as_a_planned_change(
    home: Path, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The difference of cells comes first; the file is written when agreed, and taken back byte for byte."""
    file = home / ".openclaw" / "openclaw.json"
    before = file.read_bytes()
    environ = {"HOME": str(home), "MEMTUI_STATE_DIR": str(tmp_path / "state")}
    engine = open_engine(
        None, now=lambda: NOW_MS, environ=environ, cwd=home, writable=True, state=tmp_path / "state"
    )
    async with running(engine, size) as (app, pilot):
        await press(pilot, "8", "right_square_bracket")
        await settle(pilot)
        await press(pilot, "j", "e")
        assert "What scribe may read and write" in screen_text(app)
        await press(pilot, *LIST)
        await settle(pilot)
        text = screen_text(app)
        assert "scribe gains 1 memory of user:ines" in text
        assert file.read_bytes() == before
        await press(pilot, "escape")
        assert file.read_bytes() == before
        await press(pilot, "e", *LIST)
        await settle(pilot)
        await press(pilot, "A")
        await settle(pilot)
        assert "you restart the gateway" in screen_text(app)
        block = json.loads(file.read_bytes())["plugins"]["entries"]["memory-lancedb-pro"]["config"]["scopes"]
        assert block["agentAccess"]["scribe"] == ["global", "agent:scribe", "user:ines"]
        rights = screen_of(app).state.rights
        assert rights is not None
        cell = rights.matrix.cell("scribe", "user:ines")
        assert cell is not None
        assert cell.read
        await press(pilot, "u")
        await settle(pilot)
        await press(pilot, "A")
        await settle(pilot)
        assert file.read_bytes() == before
        cell = screen_of(app).state.rights.matrix.cell("scribe", "user:ines")  # type: ignore[union-attr]
        assert cell is not None
        assert not cell.read


async def test_keys_mean_the_first_changed_memory_while_none_is_under_the_cursor(home: Path) -> None:
    async with running(engine_of(home), (80, 24)) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "j")
        await settle(pilot)
        await press(pilot, "X")
        await settle(pilot)
        reach = screen_of(app).state.reach
        assert reach is not None
        assert reach.id == "11111111-a"


def test_the_gates_of_then_and_of_today_stand_beside_each_other() -> None:
    """What was asked as of then does not change what today's answer said, and says itself when nothing came back."""
    made = Turn(1, NOW_MS, "e1", "which port", "transcript")
    file = SessionFile("s1", "main", Path("s1.jsonl"), "jsonl")
    look = Look(choose({"MEMTUI_GLYPHS": "unicode"}), UTC, NOW_MS)

    def shown(memory: Injected, *, today: bool) -> str:
        session = ReplayedSession(file, [ReplayedTurn(made, "transcript", [memory])])
        asked = frozenset({("s1", 1)} if today else ())
        state = AuditState(session="s1", replayed=session, turn=1, asked=asked)
        rows = view.turn(state, 76, look)
        return "\n".join(line.plain for row in rows for line in row.lines)

    memory = Injected(PORT, "11111111-a", "same", PORT, "global", rank_then=1)
    assert "WOULD IT COME BACK" not in shown(memory, today=False)
    then = shown(replace(memory, gate_as_of="mmr_diversity"), today=False)
    assert "as of then  none of them" in then
    assert "gate then   11111111: mmr diversity" in then
    assert "first gate" not in then
    both = shown(replace(memory, rank_as_of=2, gate="scope"), today=True)
    assert "as of then  2 11111111" in both
    assert "gate then   none: the same comes back" in both
    assert "first gate  11111111: scope" in both


async def test_lifecycle_and_filters_go_on_after_a_reach(home: Path, tmp_path: Path) -> None:
    async with at_reach(home, tmp_path) as (app, pilot):
        await press(pilot, "4")
        await settle(pilot)
        assert isinstance(app.screen, LifecycleScreen)
        assert app.screen.state.board is not None
        assert app.screen.said is None
        await press(pilot, "2")
        await press(pilot, "slash", *"tier:", *"working", "enter")
        await settle(pilot)
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.state.view is not None
        assert app.screen.state.view.query.filter == "tier:working"
        assert app.screen.state.view.total > 0


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_what_memory_costs_is_a_view_with_a_label_at_each_figure(
    home: Path, size: tuple[int, int]
) -> None:
    before = tree_hash(home)
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "8")
        await settle(pilot)
        await press(pilot, "dollar_sign")
        await settle(pilot)
        await until(pilot, lambda: screen_of(app).state.cost is not None)
        await press(pilot, "j")
        state = screen_of(app).state
        assert state.view == "cost"
        assert state.cost is not None
        assert state.cost.turns
        day = state.cost.days()[0]
        assert state.cost_row == f"{day.day} {day.agent}"
        assert state.cost_sum is not None
        assert state.cost_sum.turns == day.sum.turns
        text = screen_text(app)
        check_golden(f"audit-cost-{size[0]}x{size[1]}", text)
        for words in ("all days", "tok", "estimated", "not recorded"):
            assert words in text, f"{words}\n{text}"
        if size[0] >= 120:
            assert "WHAT IF, HYPOTHETICAL" in text
            assert "No figure was ever compared with a real bill." in text
        await press(pilot, "k")
        assert screen_of(app).state.cost_sum == state.cost.total
    assert tree_hash(home) == before
