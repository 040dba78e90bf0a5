"""Real clients start the server, call its tools and hand on what a model reads; each is left out where it is not there.

tests/mcp/clients/install.sh FOLDER
MEMTUI_CLIENTS=FOLDER .venv/bin/python -m pytest -m slow tests/mcp/test_real_clients.py
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, copied
from tests.mcp.clients.loopback_model import loopback_model
from tests.mcp.stdio_host import stdio_host
from tests.mcp.test_raw_hosts import message
from tests.mcp.test_tools import NAMES

PLACE = Path(os.environ.get("MEMTUI_CLIENTS", "") or "/nowhere")
DRIVERS = ROOT / "tests" / "mcp" / "clients"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PLACE.is_dir(), reason="MEMTUI_CLIENTS names no folder of clients"),
]

TEXT = "The gateway of the Kelp office listens on port 8443"
QUESTION = {"query": "which port does the Kelp gateway listen on"}
CALLS = [
    ("memory_store", {"text": TEXT}),
    ("memory_search", QUESTION),
    ("memory_search", {"query": "umbrellas of a zebra in autumn"}),
]

OFFICIAL = ("mcp-1.2", "mcp-1.9", "mcp-1", "mcp-2")
LIBRARIES = ("fastmcp", "openai_agents", "pydantic_ai", "langchain", "smolagents")
TYPESCRIPT = ("sdk-1-0", "@modelcontextprotocol/sdk", "@ai-sdk/mcp")
HOSTS = ("claude", "codex", "qwen")


def there(path: Path) -> Path:
    """What is installed; the test is left out where it is not."""
    if not path.exists():
        pytest.skip(f"left out: {path} is not installed")
    return path


def server(store: Path) -> str:
    return json.dumps([sys.executable, "-m", "memtui", "mcp", "--store", str(store), "--rw", "--as", "main"])


def told(home: Path, *words: object) -> dict[str, Any]:
    """What a driver printed."""
    environ = {**os.environ, "HOME": str(home)}
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=300, cwd=home, env=environ
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def check(answer: Mapping[str, Any]) -> None:
    """A model is told which tools there are, what is data of others, and where nothing answers."""
    assert set(answer["tools"]) == NAMES
    stored, found, nothing = answer["answers"]
    assert "stored" in stored
    assert "8443" in found
    assert "<memories trust=" in found
    assert "answer found" in found
    assert "no memory answers this" in nothing


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_sdks_in_python(name: str, empty_store: Path, tmp_path: Path) -> None:
    python = there(PLACE / name / "bin" / "python")
    store = copied(empty_store, tmp_path / "store")
    check(told(tmp_path, python, DRIVERS / "python_sdk.py", server(store), json.dumps(CALLS)))


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_for_agents(name: str, empty_store: Path, tmp_path: Path) -> None:
    python = there(PLACE / name / "bin" / "python")
    store = copied(empty_store, tmp_path / "store")
    check(told(tmp_path, python, DRIVERS / "agent_libraries.py", name, server(store), json.dumps(CALLS)))


@pytest.mark.parametrize("name", TYPESCRIPT)
def test_sdks_in_typescript(name: str, empty_store: Path, tmp_path: Path) -> None:
    there(PLACE / "node_modules" / name)
    node = shutil.which("node")
    if node is None:
        pytest.skip("left out: node is not installed")
    store = copied(empty_store, tmp_path / "store")
    driver = DRIVERS / "typescript.mjs"
    check(told(tmp_path, node, driver, PLACE, name, server(store), json.dumps(CALLS)))


def claude(home: Path, address: str) -> tuple[list[str], dict[str, str]]:
    words = ["-p", "which port?", "--mcp-config", ".mcp.json", "--strict-mcp-config"]
    environ = {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return [*words, "--allowedTools", "mcp__memtui__memory_search"], environ


def codex(home: Path, address: str) -> tuple[list[str], dict[str, str]]:
    file = home / ".codex" / "config.toml"
    own = (
        'model = "m"\nmodel_provider = "here"\n\n[model_providers.here]\nname = "here"\nwire_api = "responses"\n'
        f'env_key = "HERE_KEY"\nbase_url = "{address}/v1"\n\n'
    )
    file.write_text(own + file.read_text())
    words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "which port?"]
    return words, {"HERE_KEY": "none"}


def qwen(home: Path, address: str) -> tuple[list[str], dict[str, str]]:
    environ = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_MODEL": "m"}
    return ["--yolo", "--auth-type", "openai", "-p", "which port?"], environ


ASKED: Mapping[str, Callable[[Path, str], tuple[list[str], dict[str, str]]]] = {
    "claude": claude,
    "codex": codex,
    "qwen": qwen,
}


@pytest.mark.parametrize("name", HOSTS)
def test_hosts_with_a_model_on_this_machine(name: str, empty_store: Path, tmp_path: Path) -> None:
    """The host's own file is written by `memtui connect`; its model calls the search and reads the answer."""
    program = there(PLACE / "node_modules" / ".bin" / name)
    store = copied(empty_store, tmp_path / "store")
    with stdio_host(store, "--rw", "--as", "main") as host:
        host.begin()
        host.ask(message("memory_store", {"text": TEXT}))
    plain = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
    (tmp_path / f".{name}").mkdir(exist_ok=True)
    words = [sys.executable, "-m", "memtui", "connect", name, "--store", str(store), "--rw", "--as", "main"]
    subprocess.run([*words, "--yes"], cwd=tmp_path, env=plain, check=True, capture_output=True)
    with loopback_model("memory_search", QUESTION) as model:
        asked, environ = ASKED[name](tmp_path, model.address)
        done = subprocess.run(
            [str(program), *asked], cwd=tmp_path, env={**plain, **environ}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, (done.stdout[-1_000:], done.stderr[-1_000:])
    read = json.dumps([[body.get("messages"), body.get("input")] for body in model.seen])
    assert "8443" in read, done.stdout[-1_000:]
    assert "<memories trust=" in read
    assert "answer found" in read
