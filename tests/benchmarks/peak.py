"""The most memory that a process had itself."""

from __future__ import annotations

from pathlib import Path


def peak_mb() -> float:
    """The most resident memory of this process since its program began, in MB (1,000,000 bytes).

    `getrusage` is no measure: the figure of a child begins at its parent's peak. VmHWM begins anew with each program.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6
