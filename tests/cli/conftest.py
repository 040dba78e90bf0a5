"""Calling the command line in the tests' own process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memtui.__main__ import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def _run(*arguments: object) -> tuple[int, str, str]:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        out = capsys.readouterr()
        return code, out.out, out.err

    return _run
