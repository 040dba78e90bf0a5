"""A kill at any moment leaves whole decisions only, and the same transcripts afterwards leave nothing twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from memtui.engine import Engine, changes, open_engine
from memtui.engine.capture.commits import commit
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.trace import Message
from memtui.engine.store.create import create_empty
from tests.conftest import NOW_MS, ROOT

TALKS = 40

_CHILD = (
    "import sys; from pathlib import Path; from tests.engine.capture.test_capture_kill import run; "
    "run(Path(sys.argv[1]), sys.argv[2], told=True)"
)


def opened(folder: Path) -> Engine:
    return open_engine(
        folder / "store",
        now=lambda: NOW_MS,
        environ={},
        cwd=folder,
        writable=True,
        state=folder / "state",
    )


WORDS = [
    "piano",
    "harbour",
    "invoice",
    "tomato",
    "telescope",
    "brother",
    "violin",
    "contract",
    "glacier",
    "kitchen",
    "lizard",
    "embassy",
    "pottery",
    "thunder",
    "bicycle",
    "orchard",
    "widow",
    "compass",
    "laundry",
    "senator",
    "blanket",
    "granite",
    "festival",
    "mustard",
    "chimney",
    "dolphin",
    "treaty",
    "slipper",
    "furnace",
    "beetle",
    "sermon",
    "ladder",
    "pepper",
    "colonel",
    "lantern",
    "turnip",
    "archive",
    "saddle",
    "magnet",
    "cottage",
]


def talk(number: int) -> list[Message]:
    """A conversation that leaves two memories, which only it can leave."""
    one, other = WORDS[number], WORDS[-number - 1]
    return [
        Message("user", f"We decided to sell the {one} because of {other} {number:03d}-a."),
        Message("user", f"I prefer {other} over any {one}, see page {number:03d}-b."),
    ]


def run(folder: Path, recipe: str, *, told: bool = False) -> None:
    """Capture every conversation, each in one entry."""
    engine = opened(folder)
    changes.find_interrupted(engine)
    for number in range(TALKS):
        request = CaptureRequest(talk(number), recipe, scope="agent:main")
        commit(engine, capture(request, engine.capture_context()))
        engine.store.refresh()
        if told:
            print(number, flush=True)


def left(folder: Path) -> Counter[str]:
    """Memories by the conversation that they are of."""
    store = opened(folder).store
    texts = [text for batch in store.scan(["text"]) for text in batch.column("text").to_pylist()]
    return Counter(text[-6:-3] for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["memtui", "pro"])
def test_a_kill_leaves_whole_decisions_and_a_second_run_nothing_twice(tmp_path: Path, recipe: str) -> None:
    rng = random.Random(14)
    create_empty(tmp_path / "whole" / "store", 256)
    run(tmp_path / "whole", recipe)
    whole = left(tmp_path / "whole")
    assert len(whole) > TALKS // 2
    interrupted = 0
    for kill in range(6):
        folder = tmp_path / str(kill)
        create_empty(folder / "store", 256)
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(folder), recipe], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for _ in range(rng.randrange(1, 12)):
            child.stdout.readline()
        time.sleep(rng.random() * 0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        there = left(folder)
        assert all(whole[name] == count for name, count in there.items()), (
            "a conversation is there or it is not"
        )
        interrupted += 0 < len(there) < TALKS
        run(folder, recipe)
        assert left(folder) == whole
    assert interrupted
