"""The one door to lancedb: what must be set before it is imported is set here."""

from __future__ import annotations

import os
from typing import Any


def import_lancedb() -> Any:
    """Import lancedb, quiet and in the file formats that older readers understand.

    Its warnings go straight to the terminal and would tear a screen apart; and a full-text index
    written in format 2 is dropped by programs on an older engine, so format 1 is asked for.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ["LANCE_FTS_FORMAT_VERSION"] = "1"
    import lancedb

    return lancedb
