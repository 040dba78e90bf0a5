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

from memtui.engine.cluster.script import SCRIPT
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
        raise UsageError("A cluster has at least one worker.", fix="Give --workers 2, or more.")
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
        SCRIPT.replace("# VALUES\n", "".join(f"{name} = {value!r}\n" for name, value in values.items()))
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
            fix="Parts that are done stay done: mend the cause and run it again.",
            details="\n".join(last),
        )
