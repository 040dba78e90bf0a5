"""Keys typed while the program starts reach it as they were typed, and the terminal is as it was afterwards."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

TYPED = b"\x13fx\x7f\r\x16"
"""^s, letters, backspace, Enter, ^v: each means something to a terminal in its usual mode."""

PROGRAM = f"""
import os, sys
from memtui.cli import main

def app(args):
    print("ready", flush=True)
    got = b""
    while len(got) < {len(TYPED)}:
        got += os.read(0, 100)
    print(repr(got), flush=True)
    return 0

main._app = app
sys.exit(main.run([]))
"""


def test_what_is_typed_before_the_app_reads_is_kept_as_it_was_typed():
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        os.write(master, TYPED)
        said, failed = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (said.strip().decode(), failed) == (repr(TYPED), b"")
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


def test_a_program_without_a_terminal_starts_as_ever():
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "--help"], stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == 0
