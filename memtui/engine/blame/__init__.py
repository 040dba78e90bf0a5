"""From a wrong answer to its cause: which memory a sentence rests on, or that none is to blame. Reads only.

A sentence is taken apart into values, words and denials (`values`, `statement`), each memory of its turn is weighed
(`evidence`), and a logistic rule makes a probability of that (`judge`). Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.blame.cause import Blame, SuspectedCause, find_cause
    from memtui.engine.blame.evidence import NAMES, BlameEvidence, Grounds, PossibleCause, weigh
    from memtui.engine.blame.judge import ACCUSED
    from memtui.engine.blame.provenance import ProvenanceStep, provenance_of
    from memtui.engine.blame.receipt import blame_receipt

__all__ = [
    "ACCUSED",
    "NAMES",
    "Blame",
    "BlameEvidence",
    "Grounds",
    "PossibleCause",
    "ProvenanceStep",
    "SuspectedCause",
    "blame_receipt",
    "find_cause",
    "provenance_of",
    "weigh",
]

__getattr__ = lazy_names(
    __name__,
    {
        "ACCUSED": "memtui.engine.blame.judge",
        "Blame": "memtui.engine.blame.cause",
        "PossibleCause": "memtui.engine.blame.evidence",
        "BlameEvidence": "memtui.engine.blame.evidence",
        "Grounds": "memtui.engine.blame.evidence",
        "NAMES": "memtui.engine.blame.evidence",
        "ProvenanceStep": "memtui.engine.blame.provenance",
        "SuspectedCause": "memtui.engine.blame.cause",
        "blame_receipt": "memtui.engine.blame.receipt",
        "find_cause": "memtui.engine.blame.cause",
        "provenance_of": "memtui.engine.blame.provenance",
        "weigh": "memtui.engine.blame.evidence",
    },
)
