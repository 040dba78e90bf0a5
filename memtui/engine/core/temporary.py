"""The system's folder for temporary files, as Python's programs find it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def temporary_folder(environ: Mapping[str, str]) -> Path:
    """The first of TMPDIR, TEMP and TMP in `environ` that names a folder to write to, else the system's."""
    for name in ("TMPDIR", "TEMP", "TMP"):
        given = environ.get(name, "")
        if given and os.path.isdir(given) and os.access(given, os.W_OK | os.X_OK):
            return Path(os.path.abspath(given))
    return Path(tempfile.gettempdir())
