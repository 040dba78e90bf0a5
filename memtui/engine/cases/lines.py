"""Cases as JSON lines: read one by one, so that a broken line loses nobody else."""

from __future__ import annotations

import json
from pathlib import Path

from memtui.engine.cases.case import Case, case_from
from memtui.engine.errors import UsageError


def read_cases(path: Path) -> tuple[list[Case], list[tuple[str, str]]]:
    """The cases of a file, one JSON object a line; and for each line that is none, where and why.

    Raises UsageError when the file cannot be read.
    """
    try:
        lines = path.expanduser().read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is not text"
        raise UsageError(f"{path} cannot be read: {why}.", fix="Name an existing file.") from None
    taken: list[Case] = []
    rejected: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            taken.append(case_from(json.loads(line), where))
        except (ValueError, TypeError, RecursionError, UsageError) as failure:
            rejected.append((where, str(failure)))
    return taken, rejected
