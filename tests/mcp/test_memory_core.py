"""memory-core's tools over the server: what is searched, what is read, and what is none of the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from memtui.engine import open_engine
from memtui.mcp.door import Door
from memtui.mcp.memory_core import memory_core_tools
from memtui.mcp.server import make_server
from tests.engine.core_home import AT_MS, CoreHome, make_core_home

FILES = {
    "MEMORY.md": "# Memory\n\n- The relay port is 9443. <!-- importance: 9 -->\n- Second.\n- Third.\n",
    "memory/2026-11-01.md": "# Day\n\n- A note.\n",
    "../shared/vendor.md": "# Vendor\n",
}


@pytest.fixture
def home(tmp_path: Path) -> CoreHome:
    extra = ["../shared", {"path": "../more", "pattern": "docs/**/*.txt"}]
    made = make_core_home(tmp_path, FILES, extra=extra)
    (tmp_path / "shared" / "new.md").write_text("# New\n")
    (tmp_path / "shared" / "key.txt").write_text("secret\n")
    (tmp_path / "shared" / "out.md").symlink_to(tmp_path / ".openclaw" / "openclaw.json")
    (tmp_path / "more" / "docs" / "deep").mkdir(parents=True)
    for name in ("docs/a.txt", "docs/deep/b.txt", "docs/c.md", "d.txt"):
        (tmp_path / "more" / name).write_text(f"{name}\n")
    (made.workspace / "memory" / "link.md").symlink_to(tmp_path / ".openclaw" / "openclaw.json")
    return made


async def called(home: CoreHome, tool: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
    door = Door(
        lambda: open_engine(home.database, now=lambda: AT_MS, environ=home.environ, cwd=home.path),
        tools=memory_core_tools(),
    )
    async with Client(make_server(door)) as client:
        names = [found.name for found in (await client.list_tools()).tools]
        assert names == ["memory_search", "memory_get"]
        answer = await client.call_tool(tool, arguments)
        return bool(answer.is_error), dict(answer.structured_content or {})


async def test_a_search_answers_as_the_host_does(home: CoreHome) -> None:
    failed, answer = await called(home, "memory_search", query="relay port", maxResults=1)
    assert not failed
    (result,) = answer["results"]
    assert (result["path"], result["startLine"], result["endLine"]) == ("MEMORY.md", 3, 3)
    assert result["importance"] == 9
    assert result["provenance"]["originClass"] == "agent"
    assert result["snippet"].endswith("Source: MEMORY.md#L3")


async def test_lines_of_a_file(home: CoreHome) -> None:
    _, answer = await called(home, "memory_get", **{"path": "MEMORY.md", "from": 3, "lines": 1})
    assert answer["text"].startswith("- The relay port is 9443. <!-- importance: 9 -->\n\n[More content")
    assert (answer["from"], answer["lines"], answer["truncated"], answer["nextFrom"]) == (3, 1, True, 4)
    _, answer = await called(home, "memory_get", path="MEMORY.md")
    assert (answer["text"], answer["truncated"]) == (FILES["MEMORY.md"].rstrip("\n"), False)


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("memory/2026-11-01.md", "memory/2026-11-01.md"),
        ("./memory/../MEMORY.md", "MEMORY.md"),
        ("../shared/vendor.md", "../shared/vendor.md"),
        ("../shared/new.md", "../shared/new.md"),
        ("../more/docs/a.txt", "../more/docs/a.txt"),
        ("../more/docs/deep/b.txt", "../more/docs/deep/b.txt"),
        ("../more/docs/c.md", None),
        ("../more/d.txt", None),
        ("../shared/key.txt", None),
        ("../shared/out.md", None),
        ("memory/link.md", None),
        ("../.openclaw/openclaw.json", None),
        ("memory/../../.openclaw/openclaw.json", None),
        ("/etc/passwd", None),
        ("", None),
    ],
)
async def test_what_is_outside_the_memory_is_refused(home: CoreHome, path: str, served: str | None) -> None:
    failed, answer = await called(home, "memory_get", path=path)
    assert failed == (served is None)
    assert answer.get("path") == served
    assert "gateway" not in str(answer)
