"""The one door to lancedb: what must be set before it is imported is set here."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any

_LOCK = threading.Lock()

_ARENAS, _MAPPED_FROM = (-8, 2), (-3, 4 << 20)
"""(option, value) of glibc's `mallopt`: how many heaps threads share, and from which size on memory goes back to the
system when it is freed. Columns of a million rows are larger; without this 90 MB of them stay with the process."""

_READ_AHEAD = 32 << 20
"""Bytes that the library reads ahead of a scan. Its own 2 GB let a search through a million vectors without an index
hold all of them; with this it takes a quarter of that memory and no longer."""


def import_lancedb() -> Any:
    """Import lancedb: quiet, in the file formats that older readers understand, and in half its usual time.

    Its warnings go straight to the terminal and would tear a screen apart; and a full-text index
    written in format 2 is dropped by programs on an older engine, so format 1 is asked for.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ["LANCE_FTS_FORMAT_VERSION"] = "1"
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # the usual one keeps what was read
    os.environ.setdefault("LANCE_DEFAULT_IO_BUFFER_SIZE", str(_READ_AHEAD))
    with _LOCK:
        if "lancedb" not in sys.modules:
            _give_back_memory()
            from memtui.patches.lancedb_import import models_on_demand

            # a stand-in must never be the reason that a store does not open: the plain import follows
            with suppress(Exception), models_on_demand():
                import lancedb
        import lancedb

        return lancedb


def _give_back_memory() -> None:
    """Ask the system's allocator to keep little of what is freed; elsewhere than with glibc nothing happens."""
    if sys.platform != "linux" or "MALLOC_ARENA_MAX" in os.environ:
        return
    import ctypes

    with suppress(OSError, AttributeError):
        allocator = ctypes.CDLL(None)
        for option, value in (_ARENAS, _MAPPED_FROM):
            allocator.mallopt(option, value)
