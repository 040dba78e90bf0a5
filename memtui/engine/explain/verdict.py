"""The verdict on one memory and one question, as plain values: the gates in order, and what would bring it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.recall.trace import Failure


GATES = (
    "unknown_id",
    "scope",
    "inactive",
    "expired",
    "adaptive_gate",
    "candidate_pool",
    "category",
    "state",
    "suppressed",
    "min_score",
    "rerank_window",
    "rerank",
    "hard_cutoff",
    "noise_filter",
    "mmr_diversity",
    "limit",
)
"""In the order in which a ladder stands: what the memory is, whether it is found, what is made of it."""

_CHECK_NAMES = {
    "unknown_id": "in the store",
    "inactive": "active",
    "expired": "not expired",
    "adaptive_gate": "recall triggered",
    "state": "confirmed",
    "suppressed": "not suppressed",
    "min_score": "minimum score",
    "noise_filter": "not noise",
    "mmr_diversity": "diversity (MMR)",
    "limit": "within the limit",
}


def check_name(gate: str) -> str:
    """What a person calls a gate: the good that it asks for, so that "passed" and "failed" both read right."""
    return _CHECK_NAMES.get(gate) or gate.replace("_", " ")


VECTOR_INDEX = "vector_index"
"""The rung before `candidate_pool`, where the table has an index on its vectors: whether that found the memory."""

DROP = "store.vector_index"
"""The knob of the change that takes the vector index away."""

TIMES = frozenset(
    {"now_ms", "memory.suppressed_until", "memory.valid_until", "memory.invalidated_at", "memory.touch"}
)
"""Knobs whose values are moments, in milliseconds; 0 and None are none."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate. `passed` None: what it would have said is not known, because the memory never came that far."""

    gate: str
    passed: bool | None
    value: Any = None
    limit: Any = None
    sentence: str = ""
    applies: bool = True
    """Whether this recipe asks the gate at all; one that it does not ask is passed."""
    hypothetical: bool = False
    """Whether an earlier gate had stopped the memory already: what would have been."""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the gate as the command-line contract has it, with what we add to it."""
        return {
            "gate": self.gate,
            "passed": self.passed,
            "value": self.value,
            "limit": self.limit,
            "sentence": self.sentence,
            "applies": self.applies,
            "hypothetical": self.hypothetical,
            **({"facts": dict(self.facts)} if self.facts else {}),
        }


@dataclass(frozen=True, slots=True)
class SmallestChange:
    """One change that alone brings the memory back."""

    knob: str
    """A parameter of the request, `memory.<field>` for a change of the memory itself, `store.<part>` of the table."""
    before: Any
    after: Any
    confirmed: bool
    """Whether a full recall with the change, everything asked anew, returned the memory."""
    size: float
    """The measure they are sorted by: the share of the knob's range; a switch counts as the whole range, 1."""
    rank: int | None
    """Where the memory would stand."""
    one_less: Any = None
    """The value one step nearer to what it is now, which does not return the memory; None for a switch."""
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The change of the command-line contract, with what we add to it."""
        return {
            "knob": self.knob,
            "from": self.before,
            "to": self.after,
            "confirmed": self.confirmed,
            "size": round(self.size, 6),
            "rank": self.rank,
            "one_less": self.one_less,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class IdleKnob:
    """A knob that cannot bring the memory back by itself, and why."""

    knob: str
    why: str

    def as_json(self) -> dict[str, str]:
        """Return it as the command-line contract has it."""
        return {"knob": self.knob, "why": self.why}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why one memory did not come back, or that it did."""

    id: str
    query: str
    recipe: str
    returned: bool
    rank: int | None
    gate: str | None
    """The gate that it failed; None when it came back. One of the prompt's where it came back and stays out of it."""
    value: Any
    limit: Any
    sentence: str
    ladder: tuple[GateResult, ...]
    changes: tuple[SmallestChange, ...] = ()
    powerless: tuple[IdleKnob, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: Failure | None = None
    """Why the whole recall failed, so that no gate was asked."""
    words_alone: tuple[Mapping[str, Any], ...] = ()
    """What the words alone would find where it failed, in the shape of results; nobody got them."""

    def rung(self, gate: str) -> GateResult | None:
        """Return the result of one gate."""
        return next((rung for rung in self.ladder if rung.gate == gate), None)

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract."""
        return {
            "schema": "memtui.why-not.v1",
            "id": self.id,
            "query": self.query,
            "recipe": self.recipe,
            "returned": self.returned,
            "rank": self.rank,
            "gate": self.gate,
            "value": self.value,
            "limit": self.limit,
            "sentence": self.sentence,
            "ladder": [rung.as_json() for rung in self.ladder],
            "changes": [change.as_json() for change in self.changes],
            "powerless": [knob.as_json() for knob in self.powerless],
            "warnings": list(self.warnings),
            **(
                {"failure": self.failure.as_json(), "results": [], "words_alone": list(self.words_alone)}
                if self.failure is not None
                else {}
            ),
        }
