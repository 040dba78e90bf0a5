"""One table of everything that is compared with the real systems: cases, equal, different, why.

python -m tests.conformance.table [../shared]
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

from tests.conftest import SHARED


def rows(shared: Path) -> list[tuple[str, int, int, dict[str, list[str]]]]:
    """(what, cases, equal, different by reason) for every comparison."""
    from tests.conformance.engine_recalls import compare_engine
    from tests.conformance.functions import compare_functions
    from tests.conformance.recalls import compare_builtin
    from tests.conformance.replay import Peer

    out = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("store-clean", "store-lived"):
            with tarfile.open(shared / "fixtures" / "peer" / f"{name}.tar.gz") as tar:
                tar.extractall(folder, filter="data")
        peer = Peer(shared, Path(folder) / "store-clean", Path(folder) / "store-lived")
        for title, recorded in (("recalls, recorded hits", True), ("recalls, own searches", False)):
            outcome = peer.run(recorded=recorded)
            out.append((title, outcome.cases, outcome.equal, outcome.different))
        peer.reranker.close()
        out += compare_builtin(shared, Path(folder))
        out += compare_engine(shared, Path(folder))
        out += [
            (f"function {row.name}", row.cases, row.equal, row.different) for row in compare_functions(shared)
        ]
    return out


def main() -> int:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    if not shared.is_dir():
        print(f"the recorded material is not at {shared}: nothing compared")
        return 1
    print(f"{'what':<34}{'cases':>7}{'equal':>7}{'different':>11}  why")
    for name, cases, equal, different in rows(shared):
        reasons = [
            f"{len(names)} {why}" for why, names in sorted(different.items(), key=lambda item: -len(item[1]))
        ]
        print(f"{name:<34}{cases:>7}{equal:>7}{cases - equal:>11}  {reasons[0] if reasons else ''}")
        for reason in reasons[1:]:
            print(f"{'':<61}{reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
