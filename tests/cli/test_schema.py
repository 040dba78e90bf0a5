"""`memtui schema`: each schema says of a file what the program says when it reads the file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memtui.cli.schema import SCHEMAS
from memtui.engine import ConfigError
from memtui.settings import SETTINGS, load_settings
from memtui.tui.actions.table import load_keys
from memtui.tui.theme.files import ThemeError, read_theme
from tests.conftest import ROOT

THEME = 'name = "mine"\n[base]\nprimary = "#e08a4f"\n'

FILES = {
    "config": (
        "", 'store = "demo"\nkeys = "vim"', 'glyphs = "ascii"', 'glyphs = "fancy"', "theme = 3", 'them = "paper"',
        "[embedding]\ntimeout_s = 5", "[embedding]\ntimeout_s = -1", "[embedding]\ndimensions = 1.5",
        '[embedding]\napi_key = "sk-1"', "[chat]\nprice_in = 2.5\ncalls_per_hour = 3", "chat = 3",
        '[storage.shelf]\nuri = "s3://bucket/store"\nregion = "eu"\nallow_http = true',
        '[storage.shelf]\nuri = "bucket"', '[storage.shelf]\njournal = "elsewhere"', "storage = 3",
    ),
    "keys": (
        "", 'preset = "vim"', 'preset = "none"', '[browse]\nsort = "f9"', '[browse]\nsort = ["f9", "f8"]',
        "[browse]\nsort = 3", '[browse]\nsrot = "o"',
    ),
    "theme": (
        THEME, "", 'name = ""\n[base]\nprimary = "#fff"', THEME + 'secundary = "#fff"', 'dark = "yes"\n' + THEME,
        "ansi = true\n" + THEME, THEME + '[tokens]\ndim = "#b8a593"', THEME + '[tokens]\ndimm = "#b8a593"',
        'name = "mine"\n[base]\nbackground = "#000"', 'name = "mine"\nbase = "#fff"',
    ),
}  # fmt: skip


def taken(kind: str, file: Path) -> bool:
    """Whether the program uses all of the file."""
    if kind == "keys":
        return not load_keys(file).problems
    try:
        load_settings(file, {}) if kind == "config" else read_theme(file)
    except (ConfigError, ThemeError):
        return False
    return True


def valid(kind: str, data: dict[str, Any]) -> bool:
    return jsonschema.Draft202012Validator(SCHEMAS[kind]()).is_valid(data)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in FILES.items() for text in texts])
def test_the_schema_and_the_program_judge_a_file_alike(kind: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_text(text, encoding="utf-8")
    assert valid(kind, tomllib.loads(text)) == taken(kind, file)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_each_schema_is_one(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind]())


def test_every_shipped_theme_and_every_setting_passes() -> None:
    themes = sorted((ROOT / "themes").glob("*.toml"))
    assert len(themes) >= 5
    assert [path.name for path in themes if not valid("theme", tomllib.loads(path.read_text("utf-8")))] == []
    for setting in SETTINGS:
        table, _, key = setting.key.rpartition(".")
        assert valid("config", {table: {key: setting.default}} if table else {key: setting.default}), (
            setting.key
        )
