"""Receipts as files: written whole or not at all, and read back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtui.engine.errors import UsageError
from memtui.engine.lab.receipt import Receipt, read_receipt


def save_receipt(document: Mapping[str, Any], path: Path) -> Path:
    """Write a receipt (readable by its owner only) and say where; UsageError when that cannot be done."""
    path = path.expanduser()
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    try:
        beside.touch(mode=0o600)
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    except OSError as failure:
        with suppress(OSError):
            beside.unlink()
        raise UsageError(
            f"{path} cannot be written: {failure.strerror}.", fix="Name a file in a folder of yours."
        ) from None
    return path


def open_receipt(path: Path) -> Receipt:
    """The receipt in a file; UsageError when it cannot be read or is none."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is not text"
        raise UsageError(
            f"{path} cannot be read: {why}.", fix="Name a file that was saved as a receipt."
        ) from None
    return read_receipt(text)
