"""Missing vectors: made where there are none."""

from __future__ import annotations

from memtui.engine import CancelToken, ChangeSet
from memtui.engine.progress import OnProgress
from memtui.tui.screens.transfer.mending import Mend


class Vectors(Mend):
    """Rows that were stored without a vector, or with zeros."""

    name, title = "vectors", "Missing vectors"
    about_it = (
        "A memory without a vector is never found by meaning. The store's own model makes those that are missing; the"
        " others stay bit for bit.",
        "What a service has made is kept at once: after a failure or a stop nothing is asked for twice.",
    )

    @property
    def asks(self) -> bool:
        return True

    def plan(self, report: OnProgress, stop: CancelToken, *, dry: bool) -> ChangeSet:
        return self.engine.transfer.missing_vectors(dry_run=dry, on_progress=report, cancel=stop)
