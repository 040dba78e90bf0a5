"""What a large capture costs, beside embedding and adding the same rows bare; a kill leaves whole decisions."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memtui.engine import Engine, changes, open_engine
from memtui.engine.capture.commits import commit
from memtui.engine.capture.pipeline import capture, last_writes
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.trace import Message
from memtui.engine.store.create import create_empty
from tests.benchmarks.limits import within
from tests.conftest import NOW_MS, ROOT

RATIO = 3.0
"""Processor time of a capture against embedding and adding the same rows bare, at most."""
KB_A_MESSAGE = 12.0
"""Memory that one message may take while its conversation is captured: text, candidate, row and vector."""
MESSAGES = int(os.environ.get("MEMTUI_BENCH_MESSAGES", "100000"))
_NAMES = (
    "Ines",
    "Bo",
    "Mira",
    "Tobias",
    "Hugo",
    "Renske",
    "Anselm",
    "Odette",
    "Jule",
    "Bernd",
    "Swantje",
    "Lena",
)
_THINGS = (
    "warehouse",
    "greenhouse",
    "archive",
    "ledger",
    "printer",
    "boiler",
    "ferry",
    "workshop",
    "choir",
    "oven",
)
_PLACES = ("Leeds", "Porto", "Linz", "Oslo", "Ghent", "Kassel", "Delft", "Bergen", "York", "Graz")
_CHATTER = (
    "What does the log of run {n} say?", "Thanks, that helped with case {n}!", "Please run test {n} again.",
    "ok", "Show me commit {n}.", "Hmm, number {n} still fails.", "Let's see what happens with {n}.",
)  # fmt: skip


def messages(count: int) -> list[Message]:
    """A long conversation: a statement, some chatter, the answers of an agent."""
    rng = random.Random(14)
    found: list[Message] = []
    for n in range(count):
        kind = n % 5
        if kind == 0:
            found.append(Message("assistant", f"Done, that was step {n}."))
        elif kind == 1:
            found.append(Message("user", rng.choice(_CHATTER).format(n=n)))
        else:
            name, thing, place = rng.choice(_NAMES), rng.choice(_THINGS), rng.choice(_PLACES)
            text = rng.choice(
                (
                    f"{name}'s {thing} in {place} has the number {n}-{rng.randrange(10_000)}.",
                    f"We decided to move {thing} {n} from {place} to {rng.choice(_PLACES)}.",
                    f"I prefer {thing} {n} over the one in {place} because {name} built it.",
                    f"My {thing} {n} is looked after by {name} from {place} every Monday.",
                    f"The {thing} of group {n} closes at {rng.randrange(24)}:30 and {name} has the key.",
                )
            )
            found.append(Message("user", text))
    return found


def opened(folder: Path) -> Engine:
    return open_engine(
        folder / "store",
        now=lambda: NOW_MS,
        environ={},
        cwd=folder,
        writable=True,
        state=folder / "state",
    )


def run(folder: Path, count: int) -> tuple[Engine, int]:
    """Capture so many messages into the store in `folder`; the rows made."""
    engine = opened(folder)
    trace = capture(CaptureRequest(messages(count), "memtui"), engine.capture_context())
    commit(engine, trace)
    return engine, len(trace.writes)


def spent(folder: Path, count: int) -> tuple[float, float, int]:
    """Processor time of a capture, that of embedding and adding its rows bare, and the rows."""
    from memtui.engine.capture.draft import table_of

    for name in ("ours", "bare"):
        create_empty(folder / name / "store", 256)
    engine, bare = opened(folder / "ours"), opened(folder / "bare")
    ask = CaptureRequest(messages(count), "memtui")
    context = engine.capture_context()
    context.embed(["the model is read"])
    began = time.process_time()
    trace = capture(ask, context)
    commit(engine, trace)
    ours = time.process_time() - began

    rows = [each.row for each in last_writes(trace.writes)]
    embed, writer, schema = bare.capture_context().embed, bare.store.writer(), bare.store.schema
    began = time.process_time()
    embed([row.text for row in rows])
    for start in range(0, len(rows), 4096):
        writer.commit(None, table_of(rows[start : start + 4096], schema), ())
    return ours, time.process_time() - began, len(rows)


def test_a_large_conversation_costs_at_most_three_times_its_rows(tmp_path: Path) -> None:
    create_empty(tmp_path / "store", 256)
    run(tmp_path, 300)
    # The least of three, as what else runs on a machine only adds to either.
    rounds = [spent(tmp_path / str(number), MESSAGES) for number in range(3)]
    ours, bare, rows = min(each[0] for each in rounds), min(each[1] for each in rounds), rounds[0][2]
    print(f"\n{MESSAGES:,} messages, {rows:,} rows: {ours:.1f} s, bare {bare:.1f} s: {ours / bare:.2f} times")
    assert rows > MESSAGES // 2
    within(ours / bare, RATIO)


def test_the_same_conversation_twice_leaves_nothing_twice(tmp_path: Path) -> None:
    create_empty(tmp_path / "store", 256)
    began = time.process_time()
    _, made = run(tmp_path, MESSAGES)
    first = time.process_time() - began
    there = opened(tmp_path).store.count()
    assert there == made > MESSAGES // 2
    began = time.process_time()
    again = capture(CaptureRequest(messages(MESSAGES), "memtui"), opened(tmp_path).capture_context())
    second = time.process_time() - began
    print(f"\n{MESSAGES:,} messages: {first:.1f} s, again {second:.1f} s")
    assert not again.writes
    assert {each.gate for each in again.texts if each.fate == "known"} == {"duplicate"}
    assert opened(tmp_path).store.count() == there
    within(second / first, RATIO)


def test_memory_grows_with_the_messages_and_no_faster(tmp_path: Path) -> None:
    script = (
        "import re, sys; from pathlib import Path; from tests.benchmarks.test_capture import run; "
        "run(Path(sys.argv[1]), int(sys.argv[2])); "
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    peak = {}
    for count in (1_000, MESSAGES // 4, MESSAGES // 2):
        create_empty(tmp_path / str(count) / "store", 256)
        command = [sys.executable, "-c", script, str(tmp_path / str(count)), str(count)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        peak[count] = int(done.stdout) / 1024
    low, half, whole = peak.values()
    per_message = (whole - low) * 1024 / (MESSAGES // 2)
    print(
        f"\npeaks {', '.join(f'{n:,}: {mb:.0f} MB' for n, mb in peak.items())}; {per_message:.1f} KB a message"
    )
    within(per_message, KB_A_MESSAGE, "KB a message")
    within((whole - low) / (half - low), 2.6, "twice the messages")


def test_a_kill_at_any_moment_leaves_whole_decisions(tmp_path: Path) -> None:
    kills = int(os.environ.get("MEMTUI_BENCH_KILLS", "5"))
    script = (
        "import sys; from pathlib import Path; from tests.benchmarks.test_capture import run; "
        "run(Path(sys.argv[1]), int(sys.argv[2]))"
    )
    for number in range(kills):
        folder = tmp_path / str(number)
        create_empty(folder / "store", 256)
        run(folder, 50)
        before = opened(folder).store.count()
        child = subprocess.Popen([sys.executable, "-c", script, str(folder), "4000"], cwd=ROOT)
        time.sleep(0.8 + 0.35 * number)
        child.send_signal(signal.SIGKILL)
        child.wait()
        engine = opened(folder)
        whole = engine.store.count()
        changes.find_interrupted(engine)
        _, made = run(folder, 4000)
        after = opened(folder).store.count()
        assert whole in (before, after), "a decision is there or it is not"
        assert (made == 0) == (whole == after)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", "-s"]))
