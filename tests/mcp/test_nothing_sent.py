"""No tool of the server sends anything for a preview: the service of the agent's configuration counts what it gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, open_engine
from memtui.mcp.door import Door, ToolError
from memtui.mcp.tools import forget, update
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of
from tests.engine.loopback import Loopback, loopback
from tests.engine.planted_faults import open_table
from tests.engine.served_home import IDS, served_home


@pytest.fixture
def service() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


def test_a_preview_sends_nothing_and_says_what_doing_it_sends(tmp_path: Path, service: Loopback) -> None:
    store = served_home(tmp_path, service.url)
    open_table(store).update(where="true", values={"scope": "agent:main"})

    def opened() -> Engine:
        return open_engine(
            None,
            now=lambda: NOW_MS,
            environ={"HOME": str(tmp_path)},
            cwd=tmp_path,
            writable=True,
            state=tmp_path / "s",
        )

    door = Door(opened, agent="main", writable=True, client="test")
    service.requests.clear()
    text = "Tool 1 hangs on the door."
    told = update.run(door, update.Update(id=IDS[0], text=text))
    assert forget.run(door, forget.Forget(id=IDS[1])).confirm
    assert forget.run(door, forget.Forget(id=IDS[1], delete=True)).confirm
    assert update.run(door, update.Update(id=IDS[0], importance=0.2)).confirm
    assert service.requests == []
    assert "would be sent to their-model at 127.0.0.1" in told.notes[0]
    assert any("would be sent" in each for each in told.asks)
    with pytest.raises(ToolError, match="agent is stopped"):  # this store is written then only
        update.run(door, update.Update(id=IDS[0], text=text, confirm=told.confirm))
    assert service.requests
    assert row_of(store, IDS[0])["text"] != text
