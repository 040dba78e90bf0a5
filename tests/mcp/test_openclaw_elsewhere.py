"""`--tools openclaw` on a store of every kind: it lists what the store can do, and each tool on the list does it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.main import parser_of
from memtui.cli.mcp import opened_door
from memtui.engine import ListQuery
from memtui.mcp.elsewhere import OF_ANY_STORE
from memtui.mcp.server import called
from tests.conftest import copied

KINDS = ("builtin-old", "builtin-legacy", "builtin-new", "builtin-mixed", "engine")
STATEMENT = "Anna prefers the weekly report as a printed grid on yellow card."


def place_of(kind: str, shared: Path, unpack: Callable[[Path], Path], folder: Path) -> Path:
    table = next(unpack(shared / "fixtures" / "stores" / f"{kind}.tar.gz").rglob("*.lance"))
    return copied(table.parent, folder / kind)


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_tool_that_is_listed_answers(
    kind: str,
    writable: bool,
    shared: Path,
    unpack: Callable[[Path], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = place_of(kind, shared, unpack, tmp_path)
    words = ["--store", str(place), "--tools", "openclaw", *(["--rw"] if writable else [])]
    door = opened_door(parser_of("mcp").parse_args(words))
    tools = door.tools
    assert tools is not None
    assert {tool.name for tool in tools} == set(OF_ANY_STORE)
    view = door.listed()
    ids = [memory.id for memory in door.engine.page(view, 0, 3)]
    asked: dict[str, dict[str, Any]] = {
        "memory_recall": {"query": "which port is used", "limit": 2},
        "memory_list": {"limit": 3, "offset": 1},
        "memory_stats": {},
        "memory_store": {"text": STATEMENT, "category": "reflection"},
        "memory_update": {"memoryId": ids[0], "importance": 0.87},
        "memory_forget": {"memoryId": ids[1]},
    }
    for tool in tools:
        if tool.writes and not writable:
            continue
        result, _ = called(door, tool, asked[tool.name])
        text = result.content[0].text  # type: ignore[union-attr]
        if tool.name in ("memory_recall", "memory_store") and "embed" in text:
            continue  # no service answers here: the store says so, as the plugin does
        assert not result.is_error, (tool.name, text)
        assert result.structured_content is not None
        assert result.structured_content["untrusted"] is True
    if writable:
        now = {memory.id: memory for memory in door.engine.page(door.engine.view(ListQuery()), 0, 500)}
        assert ids[1] not in now
        assert now[ids[0]].importance == pytest.approx(0.87)
        found, _ = called(door, {tool.name: tool for tool in tools}["memory_forget"], {"query": "port"})
        assert len(door.engine.page(door.engine.view(ListQuery()), 0, 500)) == len(now), found
    door.close()
