"""What `--json` prints is JSON in every command, whatever numbers the store holds; so is every file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.every_command import call, commands_on_a_store
from tests.engine.test_transfer_not_a_number import odd_store, refuse


@pytest.mark.slow
def test_every_json_output_parses_strictly_on_a_store_with_numbers_that_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    odd_store(tmp_path / "store")
    (tmp_path / "out").mkdir()
    read, faults = 0, []
    for line in commands_on_a_store(tmp_path / "store", tmp_path / "out"):
        called = call(*line, *([] if "--json" in line else ["--json"]))
        faults += called.faults
        if called.code in (0, 1) and called.out.strip():
            read += 1
            try:
                json.loads(called.out, parse_constant=refuse)
            except (ValueError, AssertionError) as error:
                faults.append(f"{' '.join(called.arguments)}: {error}")
    receipt = call("recall", "bridge", "--save", tmp_path / "receipt.json", "--store", tmp_path / "store")
    faults += receipt.faults
    for file in tmp_path.rglob("*.json"):
        if zipfile.is_zipfile(file):  # a proof pack, whatever it is called
            text = zipfile.ZipFile(file).read("proof.json").decode()
        else:
            text = file.read_text(encoding="utf-8")
        try:
            json.loads(text, parse_constant=refuse)
        except (ValueError, AssertionError) as error:
            faults.append(f"{file}: {error}")
    assert not faults, "\n".join(faults)
    assert read > 50
