"""The manual page: it is today's, and the formatter takes it without a complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from memtui.cli.main import COMMANDS
from tests.conftest import ROOT

PAGE = ROOT / "packaging" / "memtui.1"


def test_the_page_is_as_the_parsers_are() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "man"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff on this machine")
def test_the_formatter_shows_every_command_and_complains_of_nothing() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", str(PAGE)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert [command for command in COMMANDS if f"memtui {command}" not in shown] == []
