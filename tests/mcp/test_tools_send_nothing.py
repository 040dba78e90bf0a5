"""Every tool of the server sends what it is for and nothing else; a new tool has to say what that is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memtui.engine import Engine, open_engine
from memtui.mcp.door import Door, ToolError
from memtui.mcp.openclaw import openclaw_tools
from memtui.mcp.tools.base import Tool
from memtui.mcp.tools.registry import all_tools
from tests.conftest import NOW_MS
from tests.engine.loopback import Loopback, loopback
from tests.engine.planted_faults import open_table
from tests.engine.served_home import IDS, served_home

ASKED = "where does tool 3 hang on the wall?"

SENDS_ITS_QUESTION: dict[str, dict[str, Any]] = {
    "memory_search": {"query": ASKED},
    "memory_why": {"query": ASKED, "id": IDS[1]},
}
"""Tools whose arguments hold a question to answer: that question goes to the agent's own service, and no other text."""

STORES_ITS_TEXT: dict[str, dict[str, Any]] = {"memory_store": {"text": "The ladder of the yard is green."}}
"""Tools that write at once what they are given: that text needs its vector, and no other text is sent."""

SENDS_NOTHING: dict[str, list[dict[str, Any]]] = {
    "memory_get": [{"ids": IDS[:2]}],
    "memory_list": [{}, {"limit": 2}],
    "memory_history": [{"id": IDS[0]}],
    "memory_health": [{}],
    "memory_feedback": [{"query": ASKED, "id": IDS[2], "verdict": "right"}],
    "memory_update": [{"id": IDS[0], "text": "Tool 1 hangs on the door."}, {"id": IDS[0], "importance": 0.2}],
    "memory_forget": [{"id": IDS[1]}, {"id": IDS[1], "delete": True}],
}
"""Everything else: readings, and the previews of changes."""


@pytest.fixture
def service() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)
def test_what_a_tool_sends_is_what_it_is_for(tool: Tool, tmp_path: Path, service: Loopback) -> None:
    store = served_home(tmp_path, service.url)
    open_table(store).update(where="true", values={"scope": "agent:main"})

    def opened() -> Engine:
        return open_engine(
            None,
            now=lambda: NOW_MS,
            environ={"HOME": str(tmp_path)},
            cwd=tmp_path,
            writable=True,
            state=tmp_path / "state",
        )

    door = Door(opened, agent="main", writable=True, client="test")
    known = {**SENDS_ITS_QUESTION, **STORES_ITS_TEXT}
    assert (tool.name in known) != (tool.name in SENDS_NOTHING), f"{tool.name}: say above what it may send"
    for given in SENDS_NOTHING.get(tool.name, [known.get(tool.name, {})]):
        service.requests.clear()
        with (
            suppress(ToolError) if tool.writes else nullcontext()
        ):  # it is written with the agent stopped only
            tool.run(door, tool.arguments(**given))
        sent = [text for request in service.requests for text in _texts(request.body)]
        if tool.name in SENDS_NOTHING:
            assert service.requests == [], (tool.name, given)
        else:
            given_words = tuple(str(value) for value in known[tool.name].values())
            assert sent
            assert all(each.startswith(given_words) for each in sent), (
                "a question, and the same with one word more"
            )


PLUGINS_SEND: dict[str, dict[str, Any]] = {
    "memory_recall": {"query": ASKED},
    "memory_store": {"text": "The ladder of the yard is green."},
    "memory_update": {"memoryId": IDS[0], "text": "Tool 1 hangs on the door."},
    "memory_forget": {"query": ASKED},
    "memory_promote": {"query": ASKED},
    "memory_archive": {"query": ASKED, "reason": "old"},
    "memory_explain_rank": {"query": ASKED},
}
"""The plugin's own tools whose arguments hold a question or a text: those go to the agent's service, nothing else."""


@pytest.mark.parametrize("tool", openclaw_tools(Path(), {}), ids=lambda tool: tool.name)
def test_what_a_tool_of_the_plugin_sends_is_what_it_was_given(
    tool: Tool, tmp_path: Path, service: Loopback
) -> None:
    store = served_home(tmp_path, service.url)
    open_table(store).update(where="true", values={"scope": "agent:main"})
    door = Door(
        lambda: open_engine(
            None,
            now=lambda: NOW_MS,
            environ={"HOME": str(tmp_path)},
            cwd=tmp_path,
            writable=True,
            state=tmp_path / "state",
        ),
        agent="main",
        writable=True,
        client="test",
    )
    config = json.loads((tmp_path / ".openclaw" / "openclaw.json").read_text())
    config = config["plugins"]["entries"]["memory-lancedb-pro"]["config"]
    (own,) = (each for each in openclaw_tools(tmp_path / "ws", config) if each.name == tool.name)
    given = PLUGINS_SEND.get(tool.name, {})
    with suppress(ToolError, ValidationError):
        own.run(door, own.arguments(**given))
    sent = [text for request in service.requests for text in _texts(request.body)]
    words = tuple(str(value) for value in given.values())
    assert [each for each in sent if not words or not each.startswith(words)] == []
    assert bool(sent) == bool(given), (tool.name, given)


def _texts(body: Any) -> list[str]:
    """The texts of a request for vectors or for an order."""
    told = body.get("input", []) if isinstance(body, dict) else []
    return [told] if isinstance(told, str) else [str(each) for each in told]
