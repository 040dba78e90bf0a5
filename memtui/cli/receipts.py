"""Saving a recall as a receipt, and replaying one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.engine.lab.receipt_file import open_receipt, save_receipt

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace

SHOWN = 40
"""Characters of a value that a table shows."""


def save(engine: Engine, trace: Trace, path: str, *, texts: bool) -> None:
    """Write the receipt of `trace`; UsageError when the file cannot be written."""
    save_receipt(engine.lab.receipt(trace, texts=texts), Path(path))


def replay(engine: Engine, path: str, *, as_json: bool) -> int:
    """Ask a saved recall again; 1 when it comes out differently."""
    receipt = open_receipt(Path(path))
    found = engine.lab.replay(receipt)
    if as_json:
        print_json(
            {
                "schema": "memtui.replay.v1",
                "same": found.same,
                "checked": found.checked,
                "note": found.note,
                "differences": [each.as_json() for each in found.differences],
                "receipt": {
                    "saved_ms": receipt.saved_ms,
                    "store": dict(receipt.store),
                    "texts": receipt.texts,
                },
            }
        )
        return 0 if found.same else 1
    if found.note:
        warning(found.note)
    if found.differences:
        rows = [(d.what, d.where, str(d.was)[:SHOWN], str(d.now)[:SHOWN]) for d in found.differences]
        print_table(rows, ("what", "where", "was", "is"))
    verdict = "as it was" if found.same else "it comes out differently"
    print_text(f"{verdict} ({found.checked} steps of the receipt recomputed)")
    return 0 if found.same else 1
