"""A plan for a cluster: a script for Ray that hands each batch of a table to a worker, and keeps what comes back.

Ray reads a table and computes; nothing of it writes one. What it leaves is taken in on this machine by the code that
does the work here, so it is verified, written, journalled and taken back as ever.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import Cancelled, MemtuiError, RefusedError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress

PART_ROWS = 200_000
"""Rows of one part, at least, unless it is the last: whole fragments, so after a failure so much is made again."""

_BATCH = 1_024

_SAID = re.compile(r"^memtui: ([\d,]+) of ([\d,]+) (\w+)$")


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table as Ray reads it: the address of its Lance dataset at a version, and how many rows it has."""

    address: str
    version: int
    rows: int
    options: Mapping[str, str]
    """How the address is reached; no keys."""


@dataclass(frozen=True, slots=True)
class ClusterWork:
    """What the workers do. `worker` is a class, called with an Arrow table of `columns`, that gives an Arrow table."""

    name: str
    """The command that it is for."""
    module: str
    worker: str
    given: Mapping[str, Any]
    """Arguments of the class, by name; literals only."""
    columns: tuple[str, ...]
    makes: str
    """What the parts hold, in words."""
    then: str
    """The command that takes them in."""
    unit: str = "memories"
    row_ids: bool = False
    """Whether the worker needs `_rowid`, too."""
    where: str = ""
    """Rows that are read, as SQL; empty: all."""
    batch: int = _BATCH
    """Rows that a worker gets at a time."""


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A script that was written, and where what it makes will lie."""

    script: Path
    parts: str
    """Folder or address of the parts."""
    rows: int
    version: int


def write_script(
    work: ClusterWork,
    dataset: Dataset,
    folder: Path,
    *,
    parts: str = "",
    workers: int = 2,
    part_rows: int = PART_ROWS,
) -> ClusterPlan:
    """Write the script of `work` over `dataset` into `folder`, for `workers` workers.

    `parts` is where the results go, a folder or an address that all machines of the cluster reach; by default beside
    the script. Raises UsageError for less than one worker, RefusedError when the folder holds a script of something
    else.
    """
    if workers < 1:
        raise UsageError("A cluster needs one worker or more.", fix="Give --workers 2, or more.")
    place = parts or str(folder.absolute() / "parts")
    values = {
        "DATASET": dataset.address,
        "VERSION": dataset.version,
        "OPTIONS": dict(dataset.options),
        "COLUMNS": list(work.columns),
        "ROW_IDS": work.row_ids,
        "WHERE": work.where,
        "GIVEN": dict(work.given),
        "PARTS": place,
        "PART_ROWS": part_rows,
        "ROWS": dataset.rows,
        "UNIT": work.unit,
        "WORKERS": workers,
        "BATCH": work.batch,
    }
    script = folder / f"{work.name}_ray.py"
    written = (
        _SCRIPT.replace("# VALUES\n", "".join(f"{name} = {value!r}\n" for name, value in values.items()))
        .replace("# WORKER\n", f"from {work.module} import {work.worker} as Worker\n")
        .replace("[MAKES]", work.makes)
        .replace("[NAME]", work.name)
        .replace("[THEN]", work.then)
    )
    if script.exists() and _settled(script.read_text(encoding="utf-8")) != _settled(written):
        raise RefusedError(
            f"{script} was written for another version of the store, or another model.",
            fix="Remove that folder, or name another one; what it made would not fit.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    script.write_text(written, encoding="utf-8")
    return ClusterPlan(script, place, dataset.rows, dataset.version)


def _settled(script: str) -> list[str]:
    """The lines of a script that decide what it makes: workers and batches may be changed by hand."""
    names = ("DATASET", "VERSION", "COLUMNS", "ROW_IDS", "WHERE", "GIVEN", "PARTS", "PART_ROWS")
    return [line for line in script.splitlines() if line.startswith(tuple(f"{name} =" for name in names))]


def run_plan(
    script: Path, python: str, *, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> None:
    """Run a script on this machine with the interpreter `python`; what it says of its progress is handed on.

    Raises MemtuiError with its last words when it fails; its parts stay, and the next run goes on after them.
    """
    last: list[str] = []
    with subprocess.Popen(
        [python, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if found := _SAID.match(line.strip()):
                    done, total = (int(number.replace(",", "")) for number in found.groups()[:2])
                    if on_progress:
                        on_progress(Progress("working on the cluster", done, total, found[3]))
                elif line.strip():
                    last = [*last[-4:], line.strip()]
                if cancel is not None:
                    cancel.check()
        except Cancelled:
            running.terminate()
            raise
    if running.returncode:
        raise MemtuiError(
            f"The script stopped with code {running.returncode}: {last[-1] if last else 'it said nothing'}",
            fix="Parts that are done stay done: remove the cause and run it again.",
            details="\n".join(last),
        )


_SCRIPT = '''"""[MAKES], made by Ray. Written by `memtui [NAME] --plan ray`.

Run it where the table and PARTS can be reached, with memtui and its extra installed on every machine:

    pip install 'memtui[ray]'
    RAY_ADDRESS=auto python [NAME]_ray.py        without RAY_ADDRESS it starts Ray on this machine

Nothing is written but PARTS: one folder of Parquet files for each group of fragments. After a
failure run it once more: parts that are done are kept. Then, on the machine that holds the store:

    [THEN]

Keys are read from the variables that are named below, on each machine. Workers and batches may be changed here.
"""

import os

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray writes a token into the home folder
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")

import lance
import lance_ray
import pyarrow.fs
import ray

# WORKER

# VALUES


def place():
    """The file system of PARTS, and the path in it."""
    if "://" in PARTS:
        return pyarrow.fs.FileSystem.from_uri(PARTS)
    return pyarrow.fs.LocalFileSystem(), PARTS


def start():
    """Join the cluster of RAY_ADDRESS, or start Ray here with an object store that leaves the machine its memory."""
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
    else:
        cores = max(2, WORKERS + 1)  # one more for reading and writing
        ray.init(num_cpus=cores, include_dashboard=False, object_store_memory=512 * 1024**2, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False


def groups():
    """(ids of the fragments, rows) of each part: the same for the same version, whoever asks."""
    found, rows = [], PART_ROWS
    for fragment in lance.dataset(DATASET, version=VERSION, storage_options=OPTIONS or None).get_fragments():
        if rows >= PART_ROWS:
            found.append(([], 0))
            rows = 0
        ids, before = found[-1]
        rows = before + fragment.count_rows()
        found[-1] = ([*ids, fragment.fragment_id], rows)
    return found


def make(part, fragments, system, root):
    """What the workers make of some fragments, in a folder of its own."""
    folder = f"{root}/part-{part:05d}"
    system.create_dir(folder, recursive=True)
    system.delete_dir_contents(folder)  # what a run that was stopped left
    rows = lance_ray.read_lance(
        DATASET,
        columns=COLUMNS,
        filter=WHERE or None,
        fragment_ids=fragments,
        storage_options=OPTIONS or None,
        scanner_options={"with_row_id": True} if ROW_IDS else None,
        dataset_options={"version": VERSION},
        override_num_blocks=4 * WORKERS,
    )
    made = rows.map_batches(
        Worker,
        fn_constructor_kwargs=GIVEN,
        batch_format="pyarrow",
        batch_size=BATCH,
        compute=ray.data.ActorPoolStrategy(size=WORKERS),
    )
    made.write_parquet(folder, filesystem=system)


def main():
    system, root = place()
    start()
    done = 0
    for part, (fragments, count) in enumerate(groups()):
        mark = f"{root}/part-{part:05d}/done"
        if system.get_file_info(mark).type != pyarrow.fs.FileType.File:
            make(part, fragments, system, root)
            with system.open_output_stream(mark) as stream:
                stream.write(str(count).encode())
        done += count
        print(f"memtui: {done:,} of {ROWS:,} {UNIT}", flush=True)


if __name__ == "__main__":
    main()
'''
