"""The inspector of the protocol's authors (npm) lists and calls every tool; left out where it is not installed.

npm install --prefix FOLDER @modelcontextprotocol/inspector
MEMTUI_INSPECTOR=FOLDER .venv/bin/python -m pytest tests/mcp/test_inspector.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.mcp.test_tools import NAMES, store

__all__ = ["store"]

PLACE = os.environ.get("MEMTUI_INSPECTOR", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PLACE, reason="MEMTUI_INSPECTOR names no folder with the inspector"),
]


def asked(store: Path, home: Path, method: str, *words: str) -> dict[str, Any]:
    """The answer of one run of the inspector's command line."""
    told = subprocess.run(
        [
            f"{PLACE}/node_modules/.bin/mcp-inspector",
            *("--cli", sys.executable, "-m", "memtui", "mcp", "--store", str(store), "--rw", "--as", "main"),
            *("--method", method, *words),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        timeout=300,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2_000:]
    return dict(json.loads(told.stdout))


def test_it_lists_and_calls_every_tool(store: Path, tmp_path: Path) -> None:
    def call(tool: str, **given: str) -> Mapping[str, Any]:
        words = [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]
        told = asked(store, tmp_path, "tools/call", "--tool-name", tool, *words)
        assert not told.get("isError"), told
        called.add(tool)
        return dict(told["structuredContent"])

    called: set[str] = set()
    listed = asked(store, tmp_path, "tools/list")["tools"]
    assert {each["name"] for each in listed} == NAMES
    made = call("memory_store", text="The gateway listens on port 8443")["id"]
    assert call("memory_search", query="which port has the gateway?")["results"][0]["id"] == made
    assert call("memory_get", ids=json.dumps([made]))["memories"][0]["id"] == made
    assert call("memory_list")["memories"][0]["id"] == made
    assert call("memory_why", query="parcel of umbrellas", id=made)["id"] == made
    assert call("memory_history", id=made)["versions"][0]["id"] == made
    assert call("memory_update", id=made, importance="0.9")["action"] == "preview"
    assert call("memory_forget", id=made)["action"] == "preview"
    assert call("memory_feedback", query="port", id=made, verdict="right")["id"] == made
    assert call("memory_health")["memories"] == 1
    assert called == NAMES
    assert {each["name"] for each in asked(store, tmp_path, "prompts/list")["prompts"]} >= {"memories_for"}
    assert len(asked(store, tmp_path, "resources/list")["resources"]) == 3
