"""Record what memtui keeps on disk, by its own commands: `python -m tests.upgrade.record FILE.tar.gz`.

Run it with the version that is to be recorded; tests/cli/test_upgrade.py then reads the file with every later one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import lancedb

TEXTS = {
    "a1a1a1a1-0000-4000-8000-000000000001": "The staging gateway listens on port 8443.",
    "a1a1a1a1-0000-4000-8000-000000000002": "The staging gateway is at port 8080.",
    "a1a1a1a1-0000-4000-8000-000000000003": "Mara prefers short answers in the morning.",
    "a1a1a1a1-0000-4000-8000-000000000004": "The backups of otter run at 02:15.",
    "a1a1a1a1-0000-4000-8000-000000000005": "Die Urlaubsliste liegt im Ordner Personal.",
    "a1a1a1a1-0000-4000-8000-000000000006": "The old wiki was switched off in May.",
}

PLACE = "/the/recorded/place"
"""What stands in the recorded files for the folder in which they were made."""

FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH = TEXTS


def environment(place: Path) -> dict[str, str]:
    """An environment in which memtui keeps everything below `place`."""
    folders = {f"MEMTUI_{kind.upper()}_DIR": str(place / kind) for kind in ("config", "state", "cache")}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MEMTUI_", "XDG_"))}
    return {
        **kept,
        **folders,
        "HOME": str(place / "home"),
        "OPENCLAW_STATE_DIR": str(place / "home" / "none"),
    }


def memtui(place: Path, *words: str) -> str:
    """Run one command; what it printed. Raises where it fails."""
    command = [sys.executable, "-m", "memtui", *words]
    done = subprocess.run(
        command, env=environment(place), cwd=place, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def fill(place: Path) -> None:
    """Make a store and leave a trace of every kind in memtui's own files."""
    (place / "home").mkdir(parents=True)
    store = str(place / "store")
    source = place / "source.jsonl"
    source.write_text(
        "\n".join(
            json.dumps({"id": id, "text": text, "scope": "agent:main", "timestamp": 1_795_000_000_000 + at})
            for at, (id, text) in enumerate(TEXTS.items())
        ),
        "utf-8",
    )
    memtui(place, "new", store)
    memtui(place, "import", str(source), "--store", store, "--yes")
    memtui(place, "edit", FIFTH, "--set", "importance=0.9", "--store", store, "--yes")
    memtui(
        place, "edit", FOURTH, "--set", "text=The backups of otter run at 03:45.", "--store", store, "--yes"
    )
    memtui(place, "merge", FIRST, SECOND, "--into", FIRST, "--store", store, "--yes")
    memtui(place, "forget", SIXTH, "--hard", "--store", store, "--yes")
    memtui(place, "edit", THIRD, "--set", "importance=0.2", "--store", store, "--yes")
    memtui(place, "undo", "--store", store, "--yes")
    memtui(place, "recall", "which port has the staging gateway?", "--store", store)
    memtui(place, "cases", "add", "which port has the staging gateway?", "--expect", FIRST, "--store", store)
    memtui(place, "versions", "name", "--store", store, "3", "before the clean-up")
    memtui(place, "clients", "add", "laptop", "--store", store, "--allow", "update")
    notes = place / "notes"
    lancedb.connect(notes).create_table("notes", [{"key": "n1", "body": "The kiln needs a seal.", "when": 1}])
    memtui(place, "columns", str(notes), "--keep", "kiln", "--yes")
    (place / "config" / "keys.toml").write_text('preset = "vim"\n', "utf-8")
    (place / "config" / "config.toml").write_text('theme = "ansi"\n', "utf-8")


def main(argv: list[str]) -> int:
    """Record into the file that is named."""
    with TemporaryDirectory(prefix="memtui-record-") as folder:
        place = Path(folder) / "recorded"
        fill(place)
        for name in ("cache", "source.jsonl"):
            subprocess.run(["rm", "-rf", str(place / name)], check=True)
        for file in (*place.glob("config/*.json"), *place.glob("state/**/*.json")):
            file.write_text(file.read_text("utf-8").replace(str(place), PLACE), "utf-8")
        with tarfile.open(argv[0], "w:gz") as archive:
            archive.add(place, "recorded")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
