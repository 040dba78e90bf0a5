"""The one door to lancedb: what must be set before it is imported is set here."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Any

_LOCK = threading.Lock()


def import_lancedb() -> Any:
    """Import lancedb: quiet, in the file formats that older readers understand, and in half its usual time.

    Its warnings go straight to the terminal and would tear a screen apart; and a full-text index
    written in format 2 is dropped by programs on an older engine, so format 1 is asked for.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ["LANCE_FTS_FORMAT_VERSION"] = "1"
    with _LOCK:
        if "lancedb" not in sys.modules:
            from memtui.patches.lancedb_import import models_on_demand

            # a stand-in must never be the reason that a store does not open: the plain import follows
            with suppress(Exception), models_on_demand():
                import lancedb
        import lancedb

        return lancedb
