"""`memtui since`: its document, its exit codes, and that no secret is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memtui.cli.main import run
from tests.conftest import tree_hash
from tests.engine import planted_faults as planted


def test_the_document_and_the_table(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"MEMTUI_{name}_DIR", str(tmp_path / name.lower()))
    folder = planted.sound(tmp_path / "lancedb-pro", 5)
    version = planted.open_table(folder).version
    secret = "sk-abcdefghijklmnop1234567890"
    planted.add(folder, [planted.memory(90, text=f"The deploy key is {secret} for now.")])
    on = ("--store", str(folder))
    before = tree_hash(folder)
    assert run(["since", str(version), "--json", *on]) == 0
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert (found["schema"], found["new"], found["changed"], found["gone"]) == ("memtui.since.v1", 1, 0, 0)
    assert [each["id"] for each in found["rows"]] == [planted.key_of(90)]
    assert secret not in printed
    assert run(["since", f"v{version}", *on]) == 0
    printed = capsys.readouterr().out
    assert "1 new, 0 changed, 0 gone" in printed
    assert secret not in printed
    assert run(["since", "1", "--writer", "nobody", *on]) == 2
    assert run(["since", "nonsense", *on]) == 2
    assert tree_hash(folder) == before
