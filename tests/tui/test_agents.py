"""Agents: real calls over the server and real hooks, as the screen shows them, on a real store."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client as McpClient

from memtui.engine import CancelToken, Engine, changes, open_engine
from memtui.engine.capture import play, read_event
from memtui.engine.clients import UNANSWERED, Call, CallJournal, Client, ClientRegister
from memtui.engine.documents import take_in
from memtui.mcp.door import Door
from memtui.mcp.server import make_server
from memtui.paths import clients_file
from memtui.tui.paint.glyphs import UNICODE
from memtui.tui.screens.agents import reading, view
from memtui.tui.screens.agents import screen as agents_screen
from memtui.tui.screens.agents.connecting import HostPreview
from memtui.tui.screens.agents.screen import AgentsScreen
from memtui.tui.screens.agents.state import AgentsState, ClientRow, PlannedRights, key_of
from memtui.tui.screens.capture.screen import CaptureScreen
from memtui.tui.screens.recall.screen import RecallScreen
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.view_rows import Look
from tests.conftest import NOW_MS, copied, tree_hash
from tests.engine.pro_store import row, write_store
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
    walk,
)

PORT = "The bastion answers on port 48022."
SIZE_NAMES = [f"{width}x{height}" for width, height in SIZES]


@pytest.fixture
async def home(tmp_path: Path, empty_store: Path) -> Path:
    """A store with memories of two agents, decisions and to-dos."""
    copied(empty_store, tmp_path / "store")
    day = 86_400_000
    for text, kind, agent, age in (
        (PORT, "fact", "main", 1),
        ("Never deploy atlas on a Friday", "decision", "main", 2),
        ("Use Postgres 16 for the tide log", "decision", "main", 3),
        ("TODO: rotate the certificate of kelp", "other", "main", 2),
        ("Remind me to call Wiebe about the crimps", "other", "ops", 20),
    ):
        await called(tmp_path, agent, "memory_store", age * day, text=text, category=kind)
    place = engine_of(tmp_path).state_place
    assert place is not None
    CallJournal(place).path.unlink()
    return tmp_path


@pytest.fixture
def quick_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the journal of calls ten times a second."""
    monkeypatch.setattr(agents_screen, "POLL_S", 0.1)


def engine_of(home: Path, *, writable: bool = False, now: int = NOW_MS) -> Engine:
    return open_engine(
        home / "store",
        now=lambda: now,
        environ={"HOME": str(home), "MEMTUI_CONFIG_DIR": str(home / "config")},
        cwd=home,
        state=home / "state",
        writable=writable,
    )


async def called(home: Path, agent: str, tool: str, at: int, *, keep: bool = False, **arguments: Any) -> None:
    """One call of a tool over the server."""
    door = Door(
        lambda: engine_of(home, writable=True, now=NOW_MS - at),
        agent=agent,
        writable=True,
        client=f"mcp:{agent}",
        keep_texts=keep,
    )
    async with McpClient(make_server(door)) as client:
        await client.call_tool(tool, arguments)
    door.close()


def hooked(home: Path, name: str, at: int, **event: Any) -> None:
    """One event of a host."""
    with engine_of(home, writable=True, now=NOW_MS - at) as engine:
        engine.load_catalog()
        play(engine, read_event(name, json.dumps({"agentId": "main", **event})), {}, home)


async def an_hour(home: Path) -> None:
    """Calls of two clients and a hook, oldest first."""
    await called(home, "main", "memory_list", 7_000_000)
    hooked(home, "prompt_build", 900_000, prompt="Which port does the bastion answer on these days?")
    await called(home, "main", "memory_store", 600_000, text="token is sk-proj-" + "a1B2" * 8)
    await called(home, "ops", "memory_search", 300_000, query="bastion port", scope="custom:finance")
    await called(home, "main", "memory_search", 60_000, keep=True, query="bastion port", limit=3)
    place = engine_of(home).state_place
    assert place is not None
    lines = [json.loads(line) for line in CallJournal(place).path.read_text().splitlines()]
    for at, each in enumerate(line for line in lines if line["outcome"] != UNANSWERED):
        each["ms"] = 10.0 + at  # measured times differ from run to run
    CallJournal(place).path.write_text("".join(json.dumps(each) + "\n" for each in lines))


def screen_of(app: Any) -> AgentsScreen:
    assert isinstance(app.screen, AgentsScreen)
    return app.screen


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_the_feed_tells_each_call_and_what_became_of_it(home: Path, size: tuple[int, int]) -> None:
    await an_hour(home)
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "0")
        await until(pilot, lambda: bool(screen_of(app).state.calls))
        await settle(pilot)
        text = screen_text(app)
        assert "“bastion port”" in text
        assert "✗ secret" in text
        assert "✗ scope" in text
        assert "sk-proj" not in text
        assert PORT in text  # of the call under the cursor
        check_golden(f"agents-live-{size[0]}x{size[1]}", text)
        await press(pilot, "right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: "agent:main" in screen_of(app).state.sets)
        await settle(pilot)
        assert "Never deploy atlas on a Friday" in screen_text(app)
        await press(pilot, "right_square_bracket")
        text = screen_text(app)
        assert "rotate the certificate" in text
        assert "stale" in text


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_a_call_that_was_cut_off_stands_in_the_feed_without_an_answer(
    home: Path, size: tuple[int, int]
) -> None:
    """What a kill in mid-call leaves: a write was begun, and nothing came of it."""
    await called(home, "main", "memory_list", 120_000)
    door = Door(
        lambda: engine_of(home, writable=True, now=NOW_MS - 90_000),
        agent="ops",
        writable=True,
        client="mcp:ops",
    )
    assert door.engine.store.version
    door.begin("memory_store", {"text": "The sluice opens at four"})
    door.close()
    place = engine_of(home).state_place
    assert place is not None
    journal = CallJournal(place).path
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [each["outcome"] for each in lines] == ["ok", UNANSWERED]
    lines[0]["ms"] = 10.0  # a measured time differs from run to run
    journal.write_text("".join(json.dumps(each) + "\n" for each in lines))
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "0")
        await until(pilot, lambda: len(screen_of(app).state.calls or ()) == 2)
        await settle(pilot)
        text = screen_text(app)
        assert "no answer" in text
        assert "sluice" not in text
        assert "under way or cut off" in text
        check_golden(f"agents-unanswered-{size[0]}x{size[1]}", text)


@pytest.mark.usefixtures("quick_feed")
async def test_a_call_that_comes_is_seen_and_a_feed_that_stands_still_keeps_its_place(home: Path) -> None:
    await called(home, "main", "memory_list", 60_000)
    async with running(engine_of(home)) as (app, pilot):
        await press(pilot, "0")
        screen = screen_of(app)
        await until(pilot, lambda: len(screen.state.calls or ()) == 1)
        await called(home, "ops", "memory_list", 30_000)
        await until(pilot, lambda: len(screen.state.calls or ()) == 2)
        assert screen.state.chosen is not None
        assert screen.state.chosen.client == "mcp:ops"  # the cursor was at the top
        await press(pilot, "F")
        await called(home, "ops", "memory_health", 10_000)
        await pilot.pause(5 * agents_screen.POLL_S)
        assert len(screen.state.calls or ()) == 2
        await press(pilot, "F")
        await until(pilot, lambda: len(screen.state.calls or ()) == 3)
    async with running(engine_of(home)) as (app, pilot):  # the feed survives a restart
        await press(pilot, "0")
        await until(pilot, lambda: len(screen_of(app).state.calls or ()) == 3)
        await press(pilot, "slash")
        await type_text(pilot, "ops -health")
        await press(pilot, "enter")
        assert [each.tool for each in screen_of(app).state.shown] == ["memory_list"]


@pytest.mark.usefixtures("quick_feed")
async def test_what_an_agent_stores_beside_the_console_is_shown_and_gone_when_it_is_gone(home: Path) -> None:
    """The console stands at an older version of the store until it is told to read again."""
    said = "The gangway of the ferry is oiled on Mondays"
    async with running(engine_of(home)) as (app, pilot):
        await press(pilot, "0")
        screen = screen_of(app)
        await called(home, "main", "memory_store", 30_000, text=said)
        await until(pilot, lambda: bool(screen.state.chosen and screen.state.chosen.ids))
        await until(pilot, lambda: said in screen_text(app))
        assert "gone since" not in screen_text(app)
        call = screen.state.chosen
        assert call is not None
        with engine_of(home, writable=True) as beside:
            planned = changes.plan_forget(beside, list(call.ids), hard=True)
            changes.apply(beside, planned, confirmed=True)
        await press(pilot, "r")
        await until(pilot, lambda: "gone since" in screen_text(app))


@pytest.mark.slow
async def test_every_panel_has_its_title_however_the_terminal_became_as_large_as_it_is(home: Path) -> None:
    await called(home, "main", "memory_list", 60_000)

    def titles(app: Any) -> dict[str | None, bool]:
        shown = [each for each in screen_of(app).query(Panel) if each.region.height]
        return {each.id: bool(each.border_title) for each in shown}

    async with running(engine_of(home), (80, 24)) as (app, pilot):
        await press(pilot, "0")
        await until(pilot, lambda: bool(screen_of(app).state.calls))
        for size in ((120, 36), (80, 24), (200, 50), (120, 36)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: tuple(screen_of(app).size) == size)
            await settle(pilot)
            assert all(titles(app).values()), (size, titles(app))
            if size[0] > 80:
                assert "day" in titles(app)
                assert "24 hours" in screen_text(app)
            await press(pilot, "2", "0")
            await settle(pilot)
            assert all(titles(app).values()), (size, titles(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_the_documents_that_answers_consult_are_listed(home: Path, size: tuple[int, int]) -> None:
    notes = home / "notes"
    (notes / "decisions").mkdir(parents=True)
    (notes / "ovens.md").write_text("# Ovens\n\n## Heat\n\nRye at 230.\n\n## Care\n\nSweep on Fridays.\n")
    (notes / "decisions" / "van.md").write_text("# Van\n\nWe take the blue one.\n")
    with engine_of(home, writable=True) as engine:
        take_in(engine, {"enabled": True, "sourceRoots": [str(notes)]})
    async with running(engine_of(home), size) as (app, pilot):
        await press(pilot, "0", "right_square_bracket", "right_square_bracket")
        await until(pilot, lambda: len(screen_of(app).state.sources or ()) == 2)
        await until(pilot, lambda: screen_of(app).state.folders is not None)
        await settle(pilot)
        text = screen_text(app)
        assert "3 pieces, asked where memories are few" in text
        assert "decisions/van.md" in text
        assert "decision 1 piece" in text
        assert "documents 2" in text


async def test_a_call_opens_in_recall_as_its_agent_or_in_capture(home: Path) -> None:
    await called(home, "ops", "memory_store", 60_000, keep=True, text="The kelp node has 64 GB of memory")
    await called(home, "main", "memory_search", 30_000, keep=True, query="bastion port", limit=3)
    async with running(engine_of(home)) as (app, pilot):
        await press(pilot, "0")
        await until(pilot, lambda: bool(screen_of(app).state.calls))
        await press(pilot, "enter")
        recall = app.screen
        assert isinstance(recall, RecallScreen)
        assert recall.state.trace is not None
        assert recall.state.trace.query == "bastion port"
        await app.action_go("agents")
        await press(pilot, "j", "enter")
        assert isinstance(app.screen, CaptureScreen)
        assert app.screen.state.trace is not None or app.screen.state.talks


@pytest.mark.slow
async def test_words_that_are_not_kept_are_said_to_be_so(home: Path) -> None:
    await called(home, "main", "memory_search", 30_000, query="bastion port")
    place = engine_of(home).state_place
    assert place is not None
    assert "bastion" not in CallJournal(place).path.read_text()
    async with running(engine_of(home)) as (app, pilot):
        await press(pilot, "0")
        await until(pilot, lambda: bool(screen_of(app).state.calls))
        await press(pilot, "enter")
        assert "not kept" in screen_text(app)


async def test_rights_are_planned_then_applied_paused_and_revoked(home: Path) -> None:
    engine = engine_of(home)
    register = ClientRegister(clients_file(engine.environ))
    token = register.add(Client("codex", agent="main", added_ms=NOW_MS))
    async with running(engine) as (app, pilot):
        await press(pilot, "0", "right_square_bracket")
        screen = screen_of(app)
        await until(pilot, lambda: any(each.name == "codex" for each in screen.state.clients))
        screen.query_one("#list-rows").focus()
        await press(pilot, "g")
        await walk(pilot, lambda: screen.state.client == "codex", lambda: "j")
        await press(pilot, "e")
        await press(pilot, "ctrl+u")
        await type_text(pilot, "reads=global,agent:ops writes=nothing rate=60")
        await press(pilot, "enter")
        assert "plan (not written)" in screen_text(app)
        assert "gains agent:ops: 1 memory" in screen_text(app)
        before = register.named("codex")
        assert before is not None
        assert before.rate == 0
        await press(pilot, "A")
        await until(pilot, lambda: (register.named("codex") or Client("")).rate == 60)
        changed = register.of_token(token)
        assert changed is not None
        assert (changed.reads, changed.writes) == (("global", "agent:ops"), "")
        await press(pilot, "F")
        await until(pilot, lambda: (register.named("codex") or Client("")).paused)
        await press(pilot, "D", "j", "enter")
        await until(pilot, lambda: register.named("codex") is None)
        assert register.of_token(token) is None


@pytest.mark.parametrize("keys", [("right_square_bracket", "G", "enter"), ("i",)], ids=["its row", "its key"])
async def test_a_client_is_let_in_and_its_token_told_once(home: Path, keys: tuple[str, ...]) -> None:
    engine = engine_of(home)
    async with running(engine) as (app, pilot):
        await press(pilot, "0", *keys)
        await type_text(pilot, "cursor")
        await press(pilot, "enter")
        screen = screen_of(app)
        await until(pilot, lambda: screen.state.token is not None)
        assert screen.state.token is not None
        token = screen.state.token[1]
        assert "MEMTUI_TOKEN" in screen_text(app), "what to paste stands beside it"
        assert ClientRegister(clients_file(engine.environ)).of_token(token) is not None
        await press(pilot, "escape")
        assert token[:20] not in screen_text(app)


def test_a_line_of_rights_says_what_is_wrong_with_it() -> None:
    plan = view.parse_plan("codex", "reads=own writes=own rate=0 as=codex")
    assert plan == PlannedRights("codex", "", None, None, 0)
    assert view.plan_line(plan) == "reads=own writes=own rate=0 as=codex"
    assert "rate" in str(view.parse_plan("codex", "rate=fast"))
    assert "scope" in str(view.parse_plan("codex", "scope=x"))


def test_what_the_plugin_injected_by_itself_is_in_the_feed_and_ours_is_told_once(tmp_path: Path) -> None:
    when = NOW_MS - 3_600_000
    marks = {"last_injected_at": when, "injected_count": 1}
    folder = write_store(
        tmp_path / "pro",
        [row("one", PORT, (1, 0), metadata=marks), row("two", "Never deploy on a Friday", (0, 1))],
        dims=2,
    )
    with open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path, state=tmp_path / "state"
    ) as engine:
        (told,) = reading.with_injections(engine, [], CancelToken())
        assert (told.outcome, told.ids, told.time_ms) == ("injected", ("one",), when)
        ours = Call(
            when, "hook:main", "main", "prompt_build", "injected", ("one",), 1.0, "a", via="hook", chars=9
        )
        assert reading.with_injections(engine, [ours], CancelToken()) == [ours]
        _, calls, _, _, about = reading.read_feed(engine, None, CancelToken())
        (row_of_it,) = view.feed(AgentsState(calls=calls, memories=about), 80, Look(UNICODE, UTC, NOW_MS))
        assert PORT in str(row_of_it.lines[0])
        rows = view.call_rows(AgentsState(calls=(told,), call=key_of(told)), 80, Look(UNICODE, UTC, NOW_MS))
        assert "inferred from store counters" in "".join(str(part) for each in rows for part in each.lines)


@pytest.mark.parametrize("way", ["r", "w"])
async def test_a_host_is_connected_by_three_keys_after_a_look_and_undone(
    home: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    file, before = home / ".mcp.json", '{"mcpServers": {"mine": {"command": "x", "note": "é"}}}'
    file.write_text(before, encoding="utf-8")
    stored = tree_hash(home / "store")
    async with running(engine_of(home)) as (app, pilot):
        await press(pilot, "0", "c", "enter", way)
        await until(pilot, lambda: isinstance(app.screen, HostPreview))
        shown = screen_text(app)
        assert "Connect claude" in shown
        assert '"mcp"' in shown
        assert ('"--rw"' in shown) is (way == "w")
        assert file.read_text(encoding="utf-8") == before, "nothing is written by looking"
        await press(pilot, "escape")
        assert file.read_text(encoding="utf-8") == before
        await press(pilot, "c", "enter", way)
        await until(pilot, lambda: isinstance(app.screen, HostPreview))
        await press(pilot, "A")
        await until(pilot, lambda: "memtui" in file.read_text(encoding="utf-8"))
        servers = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]
        assert servers["mine"] == {"command": "x", "note": "é"}
        assert ("--rw" in servers["memtui"]["args"]) is (way == "w")
        assert str(home / "store") in servers["memtui"]["args"]
        await until(pilot, lambda: "backup" in screen_text(app))
        await press(pilot, "c")
        await until(pilot, lambda: "connected" in screen_text(app))
        await press(pilot, "enter", "u")
        await until(pilot, lambda: isinstance(app.screen, HostPreview))
        await press(pilot, "A")
        await until(pilot, lambda: file.read_text(encoding="utf-8") == before)
    assert tree_hash(home / "store") == stored


@pytest.mark.slow
async def test_what_a_host_s_file_says_is_started_and_its_tools_are_listed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """c, the host, c: before it is connected that is said with what to do; then a real server answers."""
    monkeypatch.chdir(home)
    stored = tree_hash(home / "store")
    file = home / ".mcp.json"
    async with running(engine_of(home)) as (app, pilot):
        await press(pilot, "0", "c", "enter", "c")
        await until(pilot, lambda: "memtui connect claude" in screen_text(app))
        assert not file.exists(), "checking writes nothing"
        await press(pilot, "c", "enter", "r")
        await until(pilot, lambda: isinstance(app.screen, HostPreview))
        await press(pilot, "A")
        await until(pilot, lambda: file.exists() and "backup" not in screen_text(app))
        await press(pilot, "c", "enter", "c")
        await until(pilot, lambda: "memory_search" in screen_text(app))
        assert "memory_store" not in screen_text(app), "it may only read"
        told = json.loads(file.read_text(encoding="utf-8"))
        told["mcpServers"]["memtui"]["command"] = str(home / "gone" / "memtui")
        file.write_text(json.dumps(told), encoding="utf-8")
        await press(pilot, "c", "enter", "c")
        await until(pilot, lambda: "gone" in screen_text(app))
    assert tree_hash(home / "store") == stored


@pytest.mark.parametrize("width", [78, 116])
def test_what_clients_read_and_write_never_runs_together(width: int) -> None:
    look = Look(UNICODE, UTC, NOW_MS)
    clients = tuple(
        ClientRow(name, Client(name, "hash", writes=writes, rate=30))
        for name, writes in (("reader1", None), ("reader2", ""), ("a-client-with-a-long-name", None))
    )
    rows = view.rights(AgentsState(clients=clients), width, look)
    for painted, client in zip(rows[1:], clients, strict=False):
        reads, writes, _ = view.told_rights(client)
        text = " ".join(part.plain for part in painted.lines)
        assert f"{reads}{writes}" not in text
        assert f"agent:{client.name}"[:11] in text
        assert all(part.cell_length <= width for part in painted.lines)
