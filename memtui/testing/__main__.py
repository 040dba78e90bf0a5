"""`python -m memtui.testing DIALECT FOLDER`: the kit on one store, its page on standard output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from memtui.testing import StoreSample, check_dialect


def main(arguments: list[str] | None = None) -> int:
    """Run the kit; 1 where a property does not hold."""
    parser = argparse.ArgumentParser(prog="python -m memtui.testing", description=__doc__)
    parser.add_argument("dialect", help="the dialect's name")
    parser.add_argument("folder", type=Path, help="a folder with a table of the real program; it is copied")
    parser.add_argument("--table", help="the table, where the folder has several")
    args = parser.parse_args(arguments)
    with TemporaryDirectory() as scratch:
        report = check_dialect(StoreSample(args.dialect, args.folder, args.table), Path(scratch))
    sys.stdout.write(f"{report.page()}\n")
    return 0 if report.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
