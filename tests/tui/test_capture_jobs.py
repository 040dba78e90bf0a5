"""The jobs of Capture in the app: each looked at, applied as one entry, taken back, made again, on a real store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.capture.draft import table_of
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.store.create import create_pro, pro_schema
from tests.engine.capture.test_jobs import DAY, NOW, REPORT, row
from tests.engine.loopback import Request, chat_answer, loopback
from tests.tui.driving import SIZES, press, running, screen_text, settle, until, walk

TALK = (
    "User: The gate was open again, who left it?\nAssistant: I latched it.\nUser: thanks, keep it latched\n"
)


def rows() -> list[Any]:
    legacy = row("legacy", 2.5, 40)
    return [
        row("a", 0.0, 20),
        row("b", 0.1, 21),
        row("past", 0.05, 30, invalidated_at=NOW - 25 * DAY, valid_from=5),
        row("young", 1.2, 1),
        row("copy", 1.22, 0.5),
        type(legacy)(
            legacy.id, "Herr Wiebe wants a call, not a mail.", "preference", legacy.scope, 0.7, legacy.timestamp,
            "{}", legacy.vector,
        ),
    ]  # fmt: skip


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.chdir(tmp_path)
    create_pro(tmp_path / "db", table_of(rows(), pro_schema(256)))
    return opened(tmp_path, EmbeddingSettings("static-minilm-256"))


def opened(folder: Path, embedding: EmbeddingSettings | None) -> Engine:
    return open_engine(
        folder / "db", now=lambda: NOW, environ={}, cwd=folder, embedding=embedding, writable=True,
        state=folder / "state",
    )  # fmt: skip


def kept(engine: Engine) -> dict[str, tuple[str, str]]:
    engine.refresh()
    return {each.id: (each.text, each.metadata) for each in engine.capture_context().draft.rows()}


async def to_job(pilot: Any, screen: Any, name: str) -> None:
    await walk(pilot, lambda: screen.state.view == "jobs", lambda: "right_square_bracket")
    await walk(pilot, lambda: screen.state.job == name, lambda: "j")
    await press(pilot, "enter")
    await settle(pilot)


async def agreed(app: Any, pilot: Any, key: str) -> None:
    """Ask for a change and agree to its preview: by y where memories are deleted, else by enter."""
    await press(pilot, key)
    await settle(pilot)
    await press(pilot, "y" if " y delete" in screen_text(app).replace("│", " ") else "enter")
    await settle(pilot)


async def written_and_back(app: Any, pilot: Any, engine: Engine, action: str) -> None:
    """Apply the job under the cursor, take it back, make it again, take it back."""
    before = kept(engine)
    await agreed(app, pilot, "A")
    after = kept(engine)
    assert engine.write_state.journal.entries()[0].action == action
    assert after != before
    await agreed(app, pilot, "u")
    assert kept(engine) == before
    await agreed(app, pilot, "U")
    assert kept(engine) == after
    await agreed(app, pilot, "u")
    assert kept(engine) == before
    assert "undone" in screen_text(app)


async def seen_at_three_sizes(app: Any, pilot: Any, told: str, last: tuple[int, int]) -> None:
    """The words stand on the screen at each size; what follows is done at the last."""
    for size in (*(each for each in SIZES if each != last), last):
        await pilot.resize_terminal(*size)
        await until(pilot, lambda size=size: tuple(app.screen.size) == size)
        await settle(pilot)
        assert told in " ".join(screen_text(app).replace("│", " ").split()), size


@pytest.mark.parametrize(
    ("job", "action", "told", "size"),
    [
        ("compaction", "compact", "no longer valid or archived", SIZES[0]),
        pytest.param("dreaming", "dream", "tiers are only revised", SIZES[1], marks=pytest.mark.slow),
        pytest.param("upgrade", "upgrade", "Herr Wiebe", SIZES[2], marks=pytest.mark.slow),
    ],
)
async def test_a_job_is_looked_at_applied_and_taken_back(engine, job, action, told, size):
    async with running(engine, size) as (app, pilot):
        await press(pilot, "7")
        screen = app.screen
        await to_job(pilot, screen, job)
        assert screen.state.plans[job].changes.changes
        await seen_at_three_sizes(app, pilot, told, size)
        await written_and_back(app, pilot, engine, action)


@pytest.mark.slow
async def test_a_reflection_is_asked_for_applied_and_taken_back(engine, monkeypatch):
    def report(request: Request) -> Any:
        assert "latched" in json.dumps(request.body)
        return chat_answer(REPORT)

    with loopback() as server:
        server.chat = report
        monkeypatch.setenv("MEMTUI_CHAT_MODEL", "small")
        monkeypatch.setenv("MEMTUI_CHAT_BASE_URL", f"{server.url}/v1")
        async with running(engine, SIZES[0]) as (app, pilot):
            await press(pilot, "7")
            screen = app.screen
            screen._add_text(TALK)
            await settle(pilot)
            await press(pilot, "f")
            await to_job(pilot, screen, "reflection")
            await seen_at_three_sizes(app, pilot, "Always latch the gate.", SIZES[0])
            await written_and_back(app, pilot, engine, "reflect")
            assert len(server.requests) == 1, "asked once: what was agreed to is what is written"


async def test_a_compaction_without_vectors_says_so_and_not_that_there_is_nothing_to_do(tmp_path, engine):
    bare = opened(tmp_path, None)
    async with running(bare, (120, 36)) as (app, pilot):
        await press(pilot, "7")
        await to_job(pilot, app.screen, "compaction")
        assert "no change" not in screen_text(app)
        assert "No embedding provider" in screen_text(app)
