"""The seven jobs, each typed at once as a terminal hands on a paste of keys, with the number of keys that it takes."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine import CancelToken, ListQuery, changes, open_engine
from memtui.tui.app import MemtuiApp
from memtui.tui.calls import EngineCalls, Report, Work
from memtui.tui.startup.open_store import opener
from tests.conftest import NOW_MS
from tests.engine.curate_world import rows_of, same_rows
from tests.tui.driving import SIZES, screen_text, settle
from tests.tui.test_changing import browsing
from tests.tui.test_typed_ahead import type_at_once

World = Path
"""A folder with the demo's store in `store`, and what the jobs bring or make beside it."""


def texts(world: World) -> list[str]:
    return [str(each) for each in rows_of(world / "store").column("text").to_pylist()]


@dataclass(frozen=True)
class Job:
    """What is typed, piece by piece: `"key"` is a key, `"=words"` is text. `keys` counts the former only."""

    keys: int
    typed: tuple[str, ...]
    done: Callable[[World, list[str], str], bool]
    """Whether it is done: the world now, the texts before, and what is seen."""


def talks(world: World) -> Path:
    """ChatGPT's data export, with four memories that it wrote down."""
    nodes: dict[str, Any] = {}
    for i, name in enumerate(("north", "south", "east", "west")):
        said = f"User closes the {name} gallery at {17 + i} on Sundays."
        for id, role, text, after in (
            (f"w{i}", "assistant", said, f"t{i}"),
            (f"t{i}", "tool", "Model set context updated.", ""),
        ):
            author = {"role": role, "name": "bio" if role == "tool" else None}
            content = {"content_type": "text", "parts": [text]}
            nodes[id] = {
                "id": id,
                "parent": f"w{i}" if role == "tool" else None,
                "children": [after] if after else [],
                "message": {
                    "author": author,
                    "create_time": 1.76e9 + i,
                    "content": content,
                    "recipient": "all",
                },
            }
    path = world / "conversations.json"
    path.write_text(json.dumps([{"title": "Galleries", "create_time": 1.76e9, "mapping": nodes}]))
    return path


PORT = "=which port do I use for ssh to the bastion?"

JOBS = {
    "correct a wrong port": Job(
        5,
        ("3", PORT, "enter", "f", "ctrl+s", "enter"),
        lambda world, before, seen: any("goes through port 48022" in each for each in texts(world)),
    ),
    "merge duplicates of a topic": Job(
        3,
        ("ctrl+p", "=merge duplicates about lint", "enter", "enter"),
        lambda world, before, seen: "merged (entry" in seen,
    ),
    "forget a person with proof": Job(
        3,
        ("ctrl+p", "=forget every trace of Peter Lund", "enter", "y"),
        lambda world, before, seen: (
            "The receipt holds ids and hashes" in seen
            and not any("Peter Lund" in each for each in texts(world))
            and any("Peter Lund" in each for each in before)
        ),
    ),
    "undo a change of yesterday": Job(
        3,
        ("6", "u", "enter"),
        lambda world, before, seen: "undone (entry" in seen,
    ),
    "import an export without two records": Job(
        8,
        ("5", "enter", "=PATH", "enter", "n", "space", "space", "n", "y"),
        lambda world, before, seen: sum(each.startswith("User closes the ") for each in texts(world)) == 2,
    ),
    "export a project as Markdown": Job(
        3,
        ("ctrl+p", "=export atlas as markdown", "enter", "y"),
        lambda world, before, seen: any((world / "out").rglob("*.md")),
    ),
    "mask all secrets": Job(
        3,
        ("ctrl+p", "=mask secrets", "enter", "enter"),
        lambda world, before, seen: any("REDACTED" in each for each in texts(world)),
    ),
}


@asynccontextmanager
async def opening(store: Path, size: tuple[int, int]) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app while it is still opening the store, which takes its time."""
    around = {
        "HOME": str(store.parent),
        "MEMTUI_STATE_DIR": str(store.parent / "state"),
        "MEMTUI_GLYPHS": "unicode",
    }
    at_once = opener(around, store.parent, writable=True)

    def slowly(*given: Any) -> Any:
        time.sleep(1.0)
        return at_once(*given)

    app = MemtuiApp(str(store), opener=slowly, now=lambda: NOW_MS, environ=around)
    async with app.run_test(size=size) as pilot:
        yield app, pilot


@asynccontextmanager
async def late(store: Path, size: tuple[int, int]) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app on an engine each of whose answers comes late, some later than others."""
    chance = random.Random(size[0])
    plain = EngineCalls.call, EngineCalls.start

    def delayed(work: Work) -> Work:
        wait = 0.2 + chance.random() / 2

        def run(token: CancelToken, report: Report) -> Any:
            time.sleep(wait)
            return work(token, report)

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            EngineCalls,
            "call",
            lambda calls, slot, work, then, **more: plain[0](calls, slot, delayed(work), then, **more),
        )
        patch.setattr(EngineCalls, "start", lambda calls, slot, work: plain[1](calls, slot, delayed(work)))
        async with browsing(store, size=size) as (app, pilot):
            yield app, pilot


def archive_one(store: Path) -> None:
    """The change of yesterday."""
    around = {"HOME": str(store.parent), "MEMTUI_STATE_DIR": str(store.parent / "state")}
    here = store.parent
    engine = open_engine(
        store, now=lambda: NOW_MS, environ=around, cwd=here, state=here / "state", writable=True
    )
    try:
        newest = engine.page(engine.view(ListQuery()), 0, 1)[0]
        changes.apply(engine, changes.plan_forget(engine, [newest.id], hard=False))
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("start", [late, opening], ids=["answering late", "being opened"])
@pytest.mark.parametrize("size", SIZES[:2], ids=["80x24", "120x36"])
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
async def test_a_job_is_done_with_so_many_keys_typed_at_once(
    job: Job, size: tuple[int, int], start: Any, demo_store: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    shutil.copytree(demo_store, tmp_path / "store")
    path, untouched = talks(tmp_path), rows_of(tmp_path / "store")
    before = texts(tmp_path)
    assert len([each for each in job.typed if not each.startswith("=")]) == job.keys
    if job is JOBS["undo a change of yesterday"]:
        archive_one(tmp_path / "store")
        assert not same_rows(untouched, rows_of(tmp_path / "store"))
    async with start(tmp_path / "store", size=size) as (app, pilot):
        for piece in job.typed:
            if piece.startswith("="):
                type_at_once(app, str(path) if piece == "=PATH" else piece[1:])
            else:
                type_at_once(app, "", piece)
        await settle(pilot)
        seen = screen_text(app)
    assert job.done(tmp_path, before, seen), seen
    if job is JOBS["undo a change of yesterday"]:
        assert same_rows(untouched, rows_of(tmp_path / "store"))
