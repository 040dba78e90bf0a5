"""Whether somebody else than the one a question names has said what it asks about.

"When did Tom buy the boat?" where Ana bought one: the memory is there, and it is no answer. What Tom said meets the
question less well than what Ana said of herself. Of the others' memories those that ask, or speak to the one who is
named ("how is your boat?"), count for nothing: they are about him.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memtui.engine.recall.recipes.memtui.signals import holds_question, spoken

if TYPE_CHECKING:
    from memtui.engine.recall.candidates import Floats
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.rows import CandidateRow


_TO_SOMEBODY = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)


class Lead(NamedTuple):
    """By how much the best that others said fits the question better than the best that the named speaker said."""

    met: float
    """In how well the question's words are met, -1 to 1; below 0 where the named one's best is the better."""
    gathered: float
    """In score without what the speaker counts, as a share of that: from 0, where the named one's best has as much or
    more, to 1, where the other's would come first all the same."""


def lead_of_another(trace: Trace) -> Lead | None:
    """How far others lead; None unless the question names exactly one known speaker and words were compared."""
    stages = {record.name: record.outcome for record in trace.records}
    late, speaker = stages.get("late_interaction"), stages.get("speaker")
    if late is None or speaker is None or len(speaker.params["named"]) != 1:
        return None
    weights = np.array(late.params["weights"], np.float64)
    if not weights.sum() > 0:
        return None
    said_by = speaker.inputs["speaker"]
    own = np.array([name == speaker.params["named"][0] for name in said_by], np.bool_)
    others = np.array(
        [bool(name) and not to_somebody(row) for name, row in zip(said_by, trace.pool.rows, strict=True)]
    )
    met = late.inputs["cosines"] @ weights / weights.sum()
    score = [record for record in trace.records if record.kind == "score"][-1].outcome.flow.score
    weight = float(speaker.inputs["speaker_weight"])
    ahead = max(0.0, _lead(score - weight * own, others & ~own, own))
    return Lead(_lead(met, others & ~own, own), min(1.0, ahead / weight) if weight else float(ahead > 0))


def to_somebody(row: CandidateRow) -> bool:
    """Whether a memory asks, or speaks to somebody."""
    found: bool = row.once("to somebody", _to_somebody)
    return found


def _to_somebody(row: CandidateRow) -> bool:
    return holds_question(row) or bool(_TO_SOMEBODY.search(spoken(row)[1]))


def _lead(values: Floats, others: np.ndarray[Any, Any], own: np.ndarray[Any, Any]) -> float:
    """The best of the others less the best of the named one's; either counts as 0 where there is none."""

    def best(chosen: np.ndarray[Any, Any]) -> float:
        known = values[chosen & ~np.isnan(values)]
        return float(known.max()) if known.size else 0.0

    return best(others) - best(own)
