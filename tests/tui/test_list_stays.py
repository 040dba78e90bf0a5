"""A list that is read once more (tiers have come, somebody wrote) keeps its rows until the new ones are there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memtui.engine import Engine, Memory
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.tui.screens.browse.memory_list import MemoryList
from tests.conftest import NOW_MS
from tests.engine.object_storage import rows
from tests.tui.driving import press, running, screen_text, settle

MANY = 300


async def test_rows_stay_until_the_new_ones_have_come(tmp_path: Path) -> None:
    create_own(tmp_path / "store", rows(MANY))
    engine = Engine(open_store(tmp_path / "store"), now=lambda: NOW_MS)
    gate = threading.Event()
    async with running(engine) as (app, pilot):
        await press(pilot, "2")
        listing = app.screen.query_one(MemoryList)
        first = listing.current
        assert first is not None
        assert f"gauge {MANY - 1} of the weir" in screen_text(app)

        def fetch(offset: int, limit: int) -> Sequence[Memory]:
            gate.wait(60)
            return [replace(first, id=f"{at:08d}", text=f"lock {at}") for at in range(offset, offset + limit)]

        listing.show(MANY, listing.sort, fetch, keep_cursor=True)
        listing.show(MANY, listing.sort, fetch, keep_cursor=True)  # twice: nothing has come in between
        await pilot.pause()
        assert f"gauge {MANY - 1} of the weir" in screen_text(app)
        assert listing.current is None, "what is acted on is what the list holds"
        gate.set()
        await settle(pilot)
        assert "lock 3" in screen_text(app)
        assert "of the weir" not in "\n".join(screen_text(app).splitlines()[3:8])
        gate.clear()
        listing.show(MANY - 1, listing.sort, fetch, keep_cursor=True)
        await pilot.pause()
        assert "lock 3" not in screen_text(app), "another list has other rows"
        gate.set()
        await settle(pilot)
