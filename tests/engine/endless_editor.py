"""Applies one change set after another to all rows of a table, until it is killed: `FOLDER [MANY]`.

More than MANY edits are written as very many are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from memtui.engine import changes
from memtui.engine.changes import stored_changes
from tests.engine.curate_world import engine_at, rows_of
from tests.engine.second_writer import PREFIX


def main(folder: Path) -> None:
    """Move all rows to a scope and a tier of the same name, again and again: half a change would show."""
    ids = [each for each in rows_of(folder).column("id").to_pylist() if not each.startswith(PREFIX)]
    engine = engine_at(folder)
    n = 0
    while True:
        n += 1
        tier = ("core", "peripheral")[n % 2]
        planned = changes.plan_edit(engine, ids, {"tier": tier, "scope": f"agent:{tier}"})
        print("editing", flush=True)  # a kill from here on is during an apply, however slow the start was
        changes.apply(engine, planned)


if __name__ == "__main__":
    for given in sys.argv[2:]:
        stored_changes.MANY = int(given)
    main(Path(sys.argv[1]))
