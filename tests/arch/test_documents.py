"""The architecture page names files: each of them is there, and every kind of addition has its list."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
KINDS = ("recipe", "format to import", "format to export", "screen", "command", "dialect", "key", "theme")


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = set(re.findall(r"`((?:memtui|tests|themes)/[\w./-]*)`", PAGE))
    assert named
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_kind_of_addition_has_its_list_of_files() -> None:
    rows = dict(
        re.findall(r"^\| ([a-z ]+) \| (.+) \|$", PAGE.split("## Where to add")[1], flags=re.MULTILINE)
    )
    assert set(KINDS) <= set(rows)
    assert all("`" in rows[kind] for kind in KINDS)


def test_packages_in_the_picture_are_there() -> None:
    picture = PAGE.split("```")[1].split("---\n", 1)[1]
    names = [
        name for line in picture.splitlines() for name in re.findall(r"(?:^ |\s{2,})([a-z]+) {2,}", line)
    ]
    there = {path.stem for path in (ROOT / "memtui" / "engine").iterdir()}
    assert len(names) > 15
    assert sorted(set(names) - there) == []


def test_the_lock_names_no_index() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert lock.count("--hash=sha256:") > 100
