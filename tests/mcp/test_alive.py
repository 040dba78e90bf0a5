"""The health tool says which part of the agents' memory is dead, as doctor does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memtui.engine import open_engine
from memtui.mcp.door import Door
from memtui.mcp.tools.health import TOOL, Findings, Health

NOW_MS = 1_795_730_000_000


def test_the_health_tool_names_the_dead_part(shared: Path, unpack: Callable[[Path], Path]) -> None:
    home = unpack(shared / "fixtures" / "openclaw" / "broken-no-conversation.tar.gz")
    door = Door(lambda: open_engine(None, now=lambda: NOW_MS, environ={"HOME": str(home)}, cwd=home))
    told = TOOL.run(door, Health()).data
    assert isinstance(told, Findings)
    found = {finding.kind: finding for finding in told.findings}
    assert {"D41", "D42"} <= set(found)
    assert "allowConversationAccess" in found["D41"].sentence
    assert found["D41"].remedy == "memtui alive --fix A1"
