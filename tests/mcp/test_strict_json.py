"""What the server writes is JSON, whatever numbers the store holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_transfer_not_a_number import IDS, odd_store
from tests.mcp.stdio_host import stdio_host


@pytest.mark.parametrize("dialect", ["", "openclaw"])
def test_every_reading_tool_answers_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: str
) -> None:
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    odd_store(tmp_path / "store")
    ids = [
        "sound",
        "huge",
        *(f"{name}-{part}" for name in IDS for part in ("importance", "time", "vector", "metadata")),
    ]
    with stdio_host(tmp_path / "store", "--as", "main", *(["--tools", dialect] if dialect else [])) as host:
        host.begin()
        listed = host.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
        given: dict[str, dict[str, Any]] = {
            "memory_search": {"query": "bridge harbour kiln key tower"},
            "memory_get": {"ids": ids[:10]},
            "memory_list": {"limit": 50},
            "memory_history": {"id": ids[2]},
            "memory_health": {},
            "memory_why": {"id": ids[2], "query": "bridge"},
            "memory_recall": {"query": "bridge harbour kiln key tower"},
            "memory_stats": {},
        }
        asked = [each["name"] for each in listed if each["name"] in given]
        assert len(asked) > 2, listed
        for number, tool in enumerate(asked, 2):
            answer = host.ask(
                {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "tools/call",
                    "params": {"name": tool, "arguments": given[tool]},
                }
            )
            while answer.get("id") != number:
                answer = host.read()
            said = answer["result"]
            assert not said.get("isError"), said
            assert "NaN" not in json.dumps(said, allow_nan=False)
