"""The seven jobs in a real terminal, each typed in one go: `python -m tests.benchmarks.jobs FOLDER [ROWS] [JOB WORDS]`.

FOLDER keeps the stores that are made: the demo's, and with ROWS the same with so many more memories beside it. Each
job is typed into tmux at 80x24 and at 120x36, before the program has opened its store, and looked for in the store.
Prints a line for each: keys, whether it was done, seconds by the clock and processor seconds of the program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memtui.engine.demo.build import build_demo
from memtui.engine.providers.static_embedder import bundled
from tests.benchmarks.million import uuids
from tests.tui.test_jobs import JOBS, Job, archive_one, talks, texts

LONGEST_S = float(os.environ.get("LONGEST", "240"))
"""What has not been done by then is not done."""

BEFORE_S = float(os.environ.get("BEFORE", "1.5"))
"""From the start of the program to the first key; the interpreter's own start cannot be typed into."""

AT_ONCE = 20_000

NAMES = {"enter": "Enter", "escape": "Escape", "space": "Space", "tab": "Tab"}


def with_more(demo: Path, folder: Path, rows: int) -> Path:
    """The demo's store and `rows` memories beside it, of words of its own in an order drawn by chance, embedded."""
    if folder.is_dir():
        return folder
    shutil.copytree(demo, folder.with_suffix(".making"), dirs_exist_ok=True)
    table = lancedb.connect(folder.with_suffix(".making")).open_table("memories")
    known = table.to_arrow()
    rng = np.random.default_rng(7)
    words = sorted({word for text in known["text"].to_pylist() for word in text.split() if word.isalpha()})
    words = [word for word in words if 2 < len(word) < 12 and not word[0].isupper()]
    embedder = bundled()
    for start in range(0, rows, AT_ONCE):
        n = min(AT_ONCE, rows - start)
        said = [" ".join(rng.choice(words, rng.integers(8, 22))) for _ in range(n)]
        like = known.take(pa.array(rng.integers(0, known.num_rows, n)))
        vectors = np.asarray(embedder.embed_passages(said), dtype=np.float32)
        parts = ['{"l0_abstract":"', pa.array(said), '","tier":"working","access_count":1,"confidence":0.7']
        parts += [',"state":"confirmed","source":"manual","memory_layer":"working","injected_count":0}']
        width = known.schema.field("vector").type.list_size
        new = {
            "id": uuids(rng, n),
            "text": pa.array(said),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width),
            "metadata": pc.binary_join_element_wise(*parts, ""),
        }
        arrays = [new.get(name, like[name]) for name in known.column_names]
        table.add(pa.table(dict(zip(known.column_names, arrays, strict=True))).cast(known.schema))
    table.optimize()
    folder.with_suffix(".making").rename(folder)
    return folder


def tmux(*args: str) -> str:
    return subprocess.run(["tmux", "-L", f"jobs-{os.getpid()}", *args], capture_output=True, text=True).stdout


def processor_s(pid: int) -> float:
    """Processor time that a process has taken."""
    after = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")


def typed(job: Job, path: Path) -> list[list[str]]:
    """The calls of tmux that type a job."""
    calls = []
    for piece in job.typed:
        if piece.startswith("="):
            calls.append(["send-keys", "-l", str(path) if piece == "=PATH" else piece[1:]])
        else:
            calls.append(["send-keys", NAMES.get(piece, piece.replace("ctrl+", "C-"))])
    return calls


def run(job: Job, store: Path, size: tuple[int, int]) -> str:
    """Type a job in one go, wait until it is done; what there is to say of it."""
    world = store.parents[1] / "world"
    shutil.rmtree(world, ignore_errors=True)
    (world / "out").mkdir(parents=True)
    shutil.copytree(store, world / "store")
    path, before = talks(world), texts(world)
    if job is JOBS["undo a change of yesterday"]:
        archive_one(world / "store")
    around = f"HOME={world} MEMTUI_STATE_DIR={world}/state TERM=xterm-256color"
    command = f"cd {world}/out && exec env {around} {sys.executable} -m memtui --rw {world}/store"
    width, height = map(str, size)
    tmux("new-session", "-d", "-x", width, "-y", height, command)
    pid = int(tmux("display", "-p", "#{pane_pid}"))
    time.sleep(BEFORE_S)
    begun, said, seen = time.monotonic(), False, ""
    for call in typed(job, path):
        tmux(*call)
    try:
        while not said and time.monotonic() - begun < LONGEST_S:
            time.sleep(0.5)
            seen = tmux("capture-pane", "-p")
            said = job.done(world, before, seen)
        spent = processor_s(pid)
    finally:
        tmux("kill-server")
    took = time.monotonic() - begun
    print(
        f"{'done' if said else 'NOT DONE':9}{job.keys} keys {took:6.1f} s, {spent:6.1f} of the processor",
        flush=True,
    )
    return seen if not said else ""


def main(folder: str, rows: str = "0", wanted: str = "", sizes: str = "80x24,120x36") -> None:
    home = Path(folder).resolve()
    demo = home / "demo"
    if not demo.is_dir():
        build_demo(demo, now_ms=int(time.time() * 1000))
    store = with_more(demo, home / f"more-{rows}", int(rows)) if int(rows) else demo
    for name, job in JOBS.items():
        for size in sizes.split(","):
            if wanted in name:
                print(f"{name:38}{size:8}", end="", flush=True)
                width, height = map(int, size.split("x"))
                print(run(job, store, (width, height)), end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
