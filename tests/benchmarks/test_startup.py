"""How long until something can be seen: ratios of CPU time against a bare interpreter and an empty app."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.limits import spread_of, within
from tests.conftest import ROOT
from tests.engine.openclaw_homes import AFTER_MS, unpack_home

RUNS = 5
"""The least of them counts: it is the closest to a quiet machine."""
VERSION_RATIO = 4.0
FRAME_RATIO = 1.5
INJECT_RATIO = 0.6
"""A hook runs `memtui inject` before each prompt: less than the library alone takes to be imported as it is."""
ALIVE_RATIO = 0.4
"""`memtui alive` where no table must be opened."""
ALIVE_WITH_A_TABLE_RATIO = 0.8
"""`memtui alive` where the owners of rows are counted, with LanceDB."""
HEAVY = ("lancedb", "pyarrow", "numpy", "httpx", "pydantic")

_OURS = """
import json, sys, time
from memtui.tui.app import MemtuiApp
def measure(self):
    cpu = time.process_time()
    tree = []
    def walk(node, depth):
        for child in node.children:
            base = next(c for c in type(child).__mro__ if c.__module__.startswith("textual."))
            tree.append([depth, base.__module__, base.__qualname__])
            walk(child, depth + 1)
    walk(self.screen, 0)
    modules = sorted({m.split(".")[0] for m in sys.modules})
    print(json.dumps({"cpu": cpu, "tree": tree, "modules": modules}), file=sys.__stdout__, flush=True)
    self.exit()
MemtuiApp._start = measure
MemtuiApp("/nowhere").run(headless=True, size=(120, 36))
"""
_EMPTY = """
import json, sys, time
from importlib import import_module
from textual.app import App
tree = json.loads(sys.argv[1])
class Empty(App):
    def compose(self):
        made = []
        def make(position, depth):
            nodes = []
            while position < len(tree) and tree[position][0] == depth:
                _, module, name = tree[position]
                kind = getattr(import_module(module), name)
                children, after = make(position + 1, depth + 1)
                node = kind(*children) if children else build(kind)
                nodes.append(node)
                position = after
            return nodes, position
        def build(kind):
            try:
                return kind()
            except TypeError:
                return kind("")
        yield from make(0, 0)[0]
    def on_mount(self):
        self.call_after_refresh(self.done)
    def done(self):
        print(json.dumps({"cpu": time.process_time()}), file=sys.__stdout__, flush=True)
        self.exit()
Empty().run(headless=True, size=(120, 36))
"""


def _cpu(*arguments: str) -> float:
    """CPU seconds of a fresh interpreter run with `arguments`."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        " u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"
    )
    command = [sys.executable, "-c", script, sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return float(done.stdout)


def _told(code: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=ROOT
    )
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


def test_the_version_is_said_in_at_most_four_bare_starts() -> None:
    bare, ours = [], []
    for _ in range(RUNS):
        bare.append(_cpu("-c", "pass"))
        ours.append(_cpu("-m", "memtui", "--version"))
    ratio = min(ours) / min(bare)
    print(f"memtui --version: {ratio:.2f} x python -c pass")
    within(ratio, VERSION_RATIO, spread=spread_of(ours))


def test_the_first_frame_costs_little_more_than_an_empty_app_with_the_same_widgets() -> None:
    ours, empty = [], []
    for _ in range(RUNS):
        told = _told(_OURS)
        assert set(told["modules"]).isdisjoint(HEAVY)
        ours.append(told["cpu"])
        empty.append(_told(_EMPTY, json.dumps(told["tree"]))["cpu"])
    ratio = min(ours) / min(empty)
    print(f"first frame: {ratio:.2f} x an empty app with the same {len(told['tree'])} widgets")
    within(ratio, FRAME_RATIO, spread=spread_of(ours))


def test_a_hook_before_a_prompt_takes_less_than_the_librarys_own_import(tmp_path: Path) -> None:
    store = _unpacked(tmp_path)
    theirs, ours = [], []
    for _ in range(RUNS):
        theirs.append(_cpu("-c", "import lancedb"))
        ours.append(_cpu("-m", "memtui", "inject", "which port does pgbouncer use", "--store", str(store)))
    ratio = min(ours) / min(theirs)
    print(f"memtui inject: {ratio:.2f} x import lancedb")
    within(ratio, INJECT_RATIO, spread=spread_of(ours))


@pytest.mark.parametrize(("name", "most"), [("core", ALIVE_RATIO), ("lancedb", ALIVE_WITH_A_TABLE_RATIO)])
def test_alive_takes_little_more_than_the_library_that_it_may_need(
    name: str, most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = unpack_home(ROOT.parent / "shared", name, tmp_path).path
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "own"))
    theirs, ours = [], []
    for _ in range(RUNS):
        theirs.append(_cpu("-c", "import lancedb"))
        ours.append(_cpu("-m", "memtui", "alive", "--now", str(AFTER_MS)))
    ratio = min(ours) / min(theirs)
    print(f"memtui alive on {name}: {ratio:.2f} x import lancedb (limit {most})")
    assert ratio <= most


def _unpacked(folder: Path) -> Path:
    archive = ROOT.parent / "shared" / "fixtures" / "peer" / "store-clean.tar.gz"
    if not archive.is_file():
        pytest.skip("left out: the recorded material (../shared) is not there")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "store-clean"
