"""What `memtui/patches` changes or looks at of a library is as it was when the patch was written.

A new release that touches one of these fails here: read what has changed, see whether the patch still fits (and is
still needed), then write down the new sum, which the message gives.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
from importlib import import_module
from importlib.metadata import version

import pytest

from memtui.patches import lancedb_import
from tests.conftest import ROOT

PATCHES = sorted(path.stem for path in (ROOT / "memtui" / "patches").glob("[!_]*.py"))
UPSTREAM: dict[str, dict[str, str]] = {
    "textual_painting": {
        "textual.app:App._check_bindings": "45c13f7cd80a",
        "textual.app:App.get_line_filters": "9104fe0a9def",
        "textual.app:App.get_theme": "6283c6c351dd",
        "textual.app:App.on_event": "39c95bbbc848",
        "textual.app:App._background_screens": "f8669254503c",
        "textual.message_pump:MessagePump._dispatch_message": "c531d3f6b1b9",
        "textual.message_pump:MessagePump.call_after_refresh": "83d6d7649b6f",
        "textual.message_pump:MessagePump._on_invoke_later": "944d75019c82",
        "textual.screen:Screen._compositor_refresh": "1091b0a544aa",
        "textual.screen:Screen._invoke_later": "77065d067264",
        "textual._compositor:Compositor._get_renders": "a795c5243234",
        "textual.renderables.background_screen:BackgroundScreen": "7614a6c206f8",
    },
    "textual_stylesheet": {
        "textual.css.stylesheet:Stylesheet.set_variables": "96ffb674ebdf",
        "textual.css.stylesheet:Stylesheet.reparse": "a0444f1b02be",
        "textual.css.stylesheet:Stylesheet._parse_rules": "d05c32a923d6",
    },
    "textual_scrollbar": {"textual.scroll_view:ScrollView.watch_scroll_y": "0a597c08c7b8"},
    "textual_timers": {
        "textual.message_pump:MessagePump.set_timer": "76c179b55a6e",
        "textual.timer:Timer._run": "1f5039e465c8",
    },
    "textual_input": {
        "textual.drivers.linux_driver:LinuxDriver.run_input_thread": "4cda6f75a3f0",
        "textual._parser:Parser.feed": "04224e0ac761",
        "textual._parser:Parser.tick": "2d34da307341",
    },
    "textual_ellipsis": {"textual.filter:LineFilter": "383f7fdea355"},
    "textual_emoji": {"textual.filter:LineFilter": "383f7fdea355"},
    "lancedb_import": {},
}
"""Patch -> what it stands on -> sum of its source."""


def source_sum(name: str) -> str:
    """The first 12 characters of the SHA-256 of the source of `module:Class.method`, blanks left out.

    Read from the module's file: tests of the screen put another painting in the place of Textual's.
    """
    module, _, path = name.partition(":")
    text = inspect.getsource(import_module(module))
    node: ast.AST = ast.parse(text)
    for part in path.split("."):
        node = next(each for each in ast.iter_child_nodes(node) if getattr(each, "name", "") == part)
    source = ast.get_source_segment(text, node) or ""
    return hashlib.sha256(re.sub(r"\s+", "", source).encode()).hexdigest()[:12]


def test_every_patch_says_what_it_stands_on() -> None:
    assert sorted(UPSTREAM) == PATCHES


@pytest.mark.parametrize("patch", PATCHES)
def test_upstream_is_as_it_was(patch: str) -> None:
    now = {name: source_sum(name) for name in UPSTREAM[patch]}
    assert now == UPSTREAM[patch], f"{patch}: preview again under textual {version('textual')}"


def test_lancedb_is_of_the_releases_that_the_patch_knows() -> None:
    assert version("lancedb").startswith(lancedb_import.LANCEDB)
    assert import_module(lancedb_import.MODELS).__name__ == lancedb_import.MODELS
