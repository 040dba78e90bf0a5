"""Bytes that no keyboard should send: the app goes on, and what is typed behind them is read."""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual import events

from memtui.patches.textual_input import TerminalInput

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

JUNK = {
    "meta": b"\xe9",
    "latin-1 paste": b"\x1b[200~caf\xe9 cr\xe8me\x1b[201~",
    "kitty": b"\x1b[97:65;2u",
    "colon": b"\x1b[:A",
    "half a letter": b"\xe2\x82",
    "utf-16": b"\xff\xfe\x00",
    "8-bit control": b"\x9b\x9d\x9c",
    "mouse": b"\x1b[<0;99999999999999999999;1M\x1b[M\xff\xff\xff",
    "device": b"\x1bP1$r0m\x1b\\\x1b]52;c;%%%\x07\x1b_G\x1b\\",
}


def keys(data: bytes, *pieces: int) -> list[str]:
    """The characters of the keys that some bytes mean, fed in pieces that end at these places."""
    reader, found = TerminalInput(), []
    for start, end in zip((0, *pieces), (*pieces, len(data)), strict=True):
        found += [event for event in reader.feed(data[start:end]) if isinstance(event, events.Key)]
    return [event.character or event.key for event in found]


@pytest.mark.parametrize("name", JUNK)
def test_what_is_typed_behind_junk_is_read(name: str) -> None:
    assert keys(JUNK[name] + b"\x1b[Cq")[-1] == "q"


def test_letters_come_whole_however_they_are_cut() -> None:
    data = "ä€q".encode()
    assert [keys(data, at) for at in range(1, len(data))] == [["ä", "€", "q"]] * (len(data) - 1)


def test_a_paste_in_latin_1_is_pasted() -> None:
    (paste,) = [e for e in TerminalInput().feed(JUNK["latin-1 paste"]) if isinstance(e, events.Paste)]
    assert paste.text == "caf\ufffd cr\ufffdme"


def test_no_bytes_end_the_reading() -> None:
    chance = random.Random(28)
    signs = b"\x1b\x1b[[]OP<>?;:0123456789mMuRtyc~$\x9b\xff\x80\x00\x07 abA"
    for _ in range(3_000):
        reader = TerminalInput()
        for _ in range(4):
            list(reader.feed(bytes(chance.choice(signs) for _ in range(chance.randrange(20)))))


@pytest.fixture
def console(demo_store: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The app on the demo store in a terminal of its own, and the other end of that terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("OPENCLAW")},
        **{f"MEMTUI_{name}_DIR": str(tmp_path / name) for name in ("STATE", "CONFIG", "CACHE")},
        **{"HOME": str(tmp_path), "TERM": "xterm-256color"},
    }
    app = subprocess.Popen(
        [sys.executable, "-m", "memtui", "--store", str(demo_store)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environ,
        start_new_session=True,
    )
    os.close(slave)
    yield app, master
    app.kill()
    app.wait()
    os.close(master)


def read_until(master: int, words: bytes, *, patience_s: float = 60) -> bytes:
    """What the terminal got until it got these words."""
    seen, end = b"", time.monotonic() + patience_s
    while words not in seen and time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                seen += os.read(master, 65_536)
            except OSError:
                break
    assert words in seen, f"{words!r} never came; the last: {seen[-2_000:]!r}"
    return seen


def test_the_app_goes_on_after_any_junk(console: tuple[subprocess.Popen[bytes], int]) -> None:
    app, master = console
    read_until(master, b"Home")
    time.sleep(2)
    for junk in JUNK.values():
        os.write(master, junk)
        time.sleep(0.1)
    os.write(master, b"\x1b\\\x07")  # ends what a sequence left open
    time.sleep(0.5)
    os.write(master, b"\x10")  # the palette
    read_until(master, b"Commands")
    assert app.poll() is None
