"""The page of the public names is what their docstrings say today."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from tests.arch.test_faces import FACES
from tests.conftest import ROOT


def test_the_page_is_as_its_generator_writes_it() -> None:
    command = [sys.executable, str(ROOT / ".ci" / "api"), "--print"]
    made = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == made, "run .ci/api"


@pytest.mark.parametrize("face", ["", *FACES])
def test_every_public_name_is_on_it_and_says_what_it_is(face: str) -> None:
    offered = import_module(f"memtui.engine.{face}".rstrip("."))
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    own = page.partition(f"\n## memtui.engine.{face}\n")[2] if face else page
    own = own.partition("\n## memtui.engine.")[0]
    for name in offered.__all__:
        assert f"### {name}\n" in own or f"- `{name}`" in own
