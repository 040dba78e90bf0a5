"""The architecture page names files: each of them is there, and every kind of addition has its list."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
KINDS = ("recipe", "format to import", "format to export", "screen", "command", "dialect", "key", "theme")


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = set(re.findall(r"`((?:memtui|tests|themes)/[\w./-]*)`", PAGE))
    assert named
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_file_that_the_page_of_the_code_names_is_there() -> None:
    page = (ROOT / "docs" / "code.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:memtui|tests|\.ci)/[\w./-]*)`", page))
    assert len(named) > 25
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_kind_of_addition_has_its_list_of_files() -> None:
    rows = dict(
        re.findall(r"^\| ([a-z ]+) \| (.+) \|$", PAGE.split("## Where to add")[1], flags=re.MULTILINE)
    )
    assert set(KINDS) <= set(rows)
    assert all("`" in rows[kind] for kind in KINDS)


def test_the_picture_shows_every_package_in_the_order_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    picture = PAGE.split("```")[1].split("---\n", 1)[1]
    shown = [line.split()[0] for line in picture.splitlines() if line.strip()]
    assert shown == [name.strip() for layer in layers if layer != "engine" for name in layer.split(":")]


def test_every_module_that_is_named_within_the_engine_is_there() -> None:
    engine = ROOT / "memtui" / "engine"
    bases = [ROOT, ROOT / "memtui", engine, *(each for each in engine.iterdir() if each.is_dir())]
    named = set(re.findall(r"`([\w.]+/[\w./]+)`", PAGE))
    gone = [
        name
        for name in sorted(named)
        if not any((base / name).exists() or (base / f"{name}.py").exists() for base in bases)
    ]
    assert len(named) > 30
    assert gone == []


def test_the_lock_names_no_index() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert lock.count("--hash=sha256:") > 100


def test_the_menu_of_the_site_names_every_page_of_the_documentation() -> None:
    menu = set(re.findall(r'= "([^"]+\.md)"', (ROOT / ".ci" / "site.toml").read_text(encoding="utf-8")))
    written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert len(written) > 15
    assert written - menu == set()
    assert sorted(page for page in menu if not (ROOT / page).is_file()) == []
