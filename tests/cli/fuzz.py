"""Stores and sources with bytes changed at random: run as a program, which says after each what it found.

`python -m tests.cli.fuzz STORES SOURCES FOLDER SEED COUNT`: both are folders of sound material; one JSON line for
each mutation. A program of its own, because a damaged file may end or hold up the engine that reads it: whoever
started it sees that, and which mutation it was.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.cli.every_command import call, commands_on_a_source, commands_on_a_store
from tests.conftest import tree_hash

_TOKENS = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\x1b[2J",
        b"\xe2\x80\xae",
        b"\xed\xa0\x80",
        b"\r",
        b"\\ud800",
    ),
    *(
        b"[" * 3000,
        b'{"a":' * 3000,
        b"1" * 5000,
        b"1e999",
        b"NaN",
        b"null",
        b"-0",
        b'""',
        b"{}",
        b"[]",
        b"true",
    ),
    *(
        b"9007199254740993",
        b"\xf0\x9f\xa4\x96",
        b"\t",
        b",",
        b'"',
        b"'",
        b"\n\n---\n",
        b"PAR1",
        b"PK\x03\x04",
        b"\x1f\x8b",
    ),
)


def mutated(content: bytes, dice: random.Random) -> bytes:
    """One to four changes: cut, bytes left out, twice, zeroed, at random, or a token that parsers trip over."""
    data = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(data) + 1)
        length = dice.choice((1, 1, 2, 8, 64, 1024))
        match dice.randrange(8):
            case 0:
                del data[at:]
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length]
            case 3:
                data[at : at + length] = bytes(len(data[at : at + length]))
            case 4:
                data[at:at] = dice.randbytes(length)
            case 5:
                data[at : at + length] = dice.randbytes(len(data[at : at + length]))
            case 6:
                data[at:at] = dice.choice(_TOKENS)
            case _:
                if at < len(data):
                    data[at] ^= 1 << dice.randrange(8)
    return bytes(data)


def _damage_store(store: Path, dice: random.Random) -> str:
    """Change, remove or swap files of a table; what was done."""
    files = sorted(each for each in store.rglob("*") if each.is_file())
    kinds = sorted({each.parent.name if each.suffix != ".lance" else "data" for each in files})
    kind = dice.choice(kinds)
    path = dice.choice([e for e in files if (e.parent.name if e.suffix != ".lance" else "data") == kind])
    name = path.relative_to(store)
    match dice.randrange(8):
        case 0:
            path.unlink()
            return f"{name} removed"
        case 1:
            path.unlink()
            path.symlink_to(path.name)
            return f"{name} is a link to itself"
        case 2:
            other = dice.choice(files)
            shutil.copyfile(other, path) if other != path else path.write_bytes(b"")
            return f"{name} has the bytes of {other.relative_to(store)}"
        case _:
            path.write_bytes(mutated(path.read_bytes(), dice))
            return f"{name} mutated"


def _files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file() and each.stat().st_size < 300_000)


def _some(lines: Iterable[Sequence[object]], dice: random.Random, count: int) -> list[Sequence[object]]:
    every = list(lines)
    return [every[each] for each in sorted(dice.sample(range(len(every)), min(count, len(every))))]


def main(stores: Path, sources: Path, folder: Path, seed: int, count: int) -> None:
    """Mutate, call, look, and say what was found."""
    taking = folder / "taking"
    for n in range(count):
        dice = random.Random(f"{seed} {n}")
        here = folder / f"mutation-{n}"
        here.mkdir(parents=True)
        kind = n % 2
        if kind:
            base = dice.choice(sorted(each for each in stores.iterdir() if each.is_dir()))
            store = here / base.name
            shutil.copytree(base, store)
            what = f"{base.name}: {_damage_store(store, dice)}"
            lines = _some(commands_on_a_store(store, here), dice, 4)
            watched = store
        else:
            base = dice.choice(_files(sources))
            source = here / base.name
            source.write_bytes(mutated(base.read_bytes(), dice))
            what = f"{base.relative_to(sources)} mutated"
            if not taking.exists():
                call("new", taking, "--dims", 8)
            lines = _some(commands_on_a_source(source, taking, here), dice, 4)
            watched = taking
        print(json.dumps({"n": n, "what": what}), flush=True)
        faults: list[str] = []
        for line in lines:
            before = tree_hash(watched)
            called = call(*line)
            faults += called.faults
            if "--yes" not in line and tree_hash(watched) != before:
                faults.append(f"{' '.join(map(str, line))}: changed the store")
        print(json.dumps({"n": n, "what": what, "faults": faults}), flush=True)
        shutil.rmtree(here)


if __name__ == "__main__":
    os.environ["HOME"] = str(Path(sys.argv[3]) / "home")
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
