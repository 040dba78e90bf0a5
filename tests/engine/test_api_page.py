"""The page of the public names is what their docstrings say today."""

from __future__ import annotations

import subprocess
import sys

import memtui.engine
from tests.conftest import ROOT


def test_the_page_is_as_its_generator_writes_it() -> None:
    command = [sys.executable, str(ROOT / ".ci" / "api"), "--print"]
    made = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert (ROOT / "API.md").read_text(encoding="utf-8") == made, "run .ci/api"


def test_every_public_name_is_on_it_and_says_what_it_is() -> None:
    page = (ROOT / "API.md").read_text(encoding="utf-8")
    for name in memtui.engine.__all__:
        assert f"### {name}\n" in page or f"- `{name}`" in page
