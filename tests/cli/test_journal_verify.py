"""`memtui journal --verify` on a real store: 0 while nobody changed the journal, 1 with the first entry that was."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from memtui.cli.main import run
from tests.engine import planted_faults as planted


def call(capsys: Any, *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run(list(arguments))
    return code, capsys.readouterr().out


def test_a_changed_journal_is_told(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    state = tmp_path / "state"
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"MEMTUI_{name}_DIR", str(tmp_path / name.lower()))
    folder = planted.sound(tmp_path / "lancedb-pro")
    on = ("--store", str(folder))
    assert call(capsys, "journal", "--verify", *on) == (
        0,
        "The journal has no chain yet: it begins with the next entry.\n",
    )
    for n in range(3):
        assert run(["edit", planted.key_of(n), "--set", "importance=0.5", "--yes", *on]) == 0
    assert run(["undo", "--yes", *on]) == 0
    code, said = call(capsys, "journal", "--verify", *on)
    assert (code, said) == (0, "The journal is whole: 4 entries checked.\n")
    assert run(["forget", planted.key_of(1), "--hard", "--shrink-history", "--yes", *on]) == 0
    code, said = call(capsys, "journal", "--verify", "--json", *on)
    found = json.loads(said)
    assert (code, found["whole"], found["contents_removed"]) == (0, True, [2, 5])
    path = next(state.glob("**/journal.sqlite"))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE entries SET title = 'another' WHERE entry = 3")
    db.close()
    code, said = call(capsys, "journal", "--verify", *on)
    assert code == 1
    assert said.startswith("Entry 3 of the journal was changed outside memtui")
    code, said = call(capsys, "journal", "--verify", "--json", *on)
    assert (code, json.loads(said)["broken"]["entry"]) == (1, 3)
