"""The proof of the recipe `memtui`: its arithmetic a second time, from the recorded inputs and from the rows.

Nothing here is shared with the stages on purpose but the lists of signals and weights. The weights are held against the
configuration in the trace, the extremes against what all candidates recorded, and what was read of a row against the
row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.core.text import composed
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipes.memtui.signals import Signal, of_stage
from memtui.engine.recall.recipes.memtui.weights import WEIGHTS
from memtui.engine.recall.trace import Candidate, Proof, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.rows import CandidateRow


DAY_MS = 86_400_000

CLOSE = 1e-9

MOST_FAILURES = 20

SEARCHES = ("vector_ranked", "bm25_ranked", "identifier_ranked", "following")

Inputs = Mapping[str, Any]

_WEIGHTS = {weight.input: weight.key for weight in WEIGHTS if weight.input}
"""Input of a step to the setting that it must equal."""

_SIGNALS: Mapping[str, Mapping[str, Signal]] = {
    stage: {signal.name: signal for signal in of_stage(stage)} for stage in ("neighbours", "kind")
}
"""Stage to its signals by name, as they are declared; what they say of a row is checked below."""


def prove_own(trace: Trace) -> Proof:
    """Recompute a trace of the recipe `memtui`."""
    check = MemtuiStepRules(trace)
    steps = StepsProof(trace, check.expected, searches=SEARCHES)
    steps.run()
    failures = [*steps.failures, *check.failures, *check.stages()]
    proof = Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))
    return with_account(trace, proof)


def _part(value: float | None, low: float, high: float) -> float:
    """Where a number stands between two others; what is absent stands at the bottom."""
    return 0.0 if value is None or not high > low else (value - low) / (high - low)


def _fused(_: float, i: Inputs) -> float:
    top = i["highest_bm25"]
    words = (i.get("bm25") or 0.0) / top if top > 0 else 0.0
    meaning = _part(i.get("cosine"), i["lowest_cosine"], i["highest_cosine"])
    letter = i.get("identifier_weight", 0.0) * (i.get("identifiers") or 0.0)
    return float(i["vector_weight"] * meaning + i["bm25_weight"] * words + letter)


def _late(before: float, i: Inputs) -> float:
    return float(before + i["late_weight"] * _part(i["met"], i["lowest_met"], i["highest_met"]))


def _read(before: float, i: Inputs) -> float:
    return float(before + i["token_weight"] * _part(i["read"], i["lowest_read"], i["highest_read"]))


def _signals(stage: str) -> Callable[[float, Inputs], float]:
    def score(before: float, i: Inputs) -> float:
        return float(before + sum(i[f"{name}_weight"] * i[name] for name in _SIGNALS[stage]))

    return score


_SCORES: dict[str, Callable[[float, Inputs], float]] = {
    "cosine": lambda _, i: 1 - i["distance"],
    "bm25": lambda _, i: i["raw_bm25"],
    "recorded": lambda _, i: i["recorded"],
    "follows": lambda _, i: i["score_before"],
    "stretched_sum": _fused,
    "late_interaction": _late,
    "token_vectors": _read,
    "speaker_named": lambda before, i: before + i["speaker_weight"],
    "date_named": lambda before, i: before + i["date_weight"],
    "neighbours": _signals("neighbours"),
    "kind": _signals("kind"),
    "newer": lambda before, i: before + i["recency_weight"] * 0.5 ** (i["age_days"] / i["half_life_days"]),
    "unchanged": lambda before, _: before,
}


_MARKS = ("?", "？", "؟")


def _said_by(row: CandidateRow) -> str:
    return str(row.metadata.values.get("speaker") or "").strip()


class MemtuiStepRules:
    """What only this recipe's steps must satisfy."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.failures: list[str] = []
        self.settings: Mapping[str, Any] = trace.config["memtui"]
        self.params = {stage.name: stage.params for stage in trace.stages}
        self.rows = {row.id: row for row in trace.pool.rows}

    def expected(self, candidate: Candidate, step: Step) -> float:
        """The score after a step; what is wrong with its inputs is a failure of its own."""
        inputs, row = step.inputs, self.rows[candidate.id]
        for name, key in _WEIGHTS.items():
            if name in inputs and inputs[name] != self.settings[key]:
                self._fail(candidate, step, f"{name} is {inputs[name]}, the setting is {self.settings[key]}")
        for name, signal in _SIGNALS.get(step.stage, {}).items():
            weight = self.settings["signals"][signal.key]
            if inputs.get(f"{name}_weight", weight) != weight:
                self._fail(candidate, step, f"{name} weighs {inputs[f'{name}_weight']}")
            if step.rule == step.stage and (why := self._signal(signal, step)):
                self._fail(candidate, step, why)
        check = _CHECKS.get(step.stage)
        if check is not None and (why := check(self, row, step)):
            self._fail(candidate, step, why)
        if step.rule == "held":
            return self._held(row)
        return _SCORES[step.rule](step.before or 0.0, inputs)

    def _signal(self, signal: Signal, step: Step) -> str:
        """A flag is 0 or 1, any signal between them, and one that was not asked for is 0."""
        value = step.inputs[signal.name]
        if not 0 <= value <= 1 or (signal.flag and value not in (0, 1)):
            return f"{signal.name} is {value}"
        unasked = signal.asked and not self.params["kind"][signal.asked]
        return f"{signal.name}: the question asks for no such thing" if unasked and value else ""

    def _fail(self, candidate: Candidate, step: Step, why: str) -> None:
        self.failures.append(f"{candidate.id}, {step.stage}: {why}")

    def _held(self, row: CandidateRow) -> float:
        wanted = self.params["identifier_ranked"]["identifiers"]
        text = composed(row.text).casefold()
        return sum(composed(token).casefold() in text for token in wanted) / len(wanted)

    def late(self, row: CandidateRow, step: Step) -> str:
        """m is the mean of the cosines, weighted by the question's pieces."""
        params, cosines = self.params[step.stage], step.inputs["cosines"]
        if (before := step.inputs.get("before")) is not None:
            share = step.inputs["context_weight"]
            cosines = [max(own, share * lent) for own, lent in zip(cosines, before, strict=True)]
        weights = [length * rare for length, rare in zip(params["lengths"], params["rarity"], strict=True)]
        total = sum(weights)
        m = sum(w * c for w, c in zip(weights, cosines, strict=True)) / total if total > 0 else 0.0
        return "" if abs(m - step.inputs["met"]) <= CLOSE else f"the words give {m}"

    def token_vectors(self, row: CandidateRow, step: Step) -> str:
        """m is the mean of the cosines, weighted by the rarity of the question's pieces."""
        weights, cosines = self.params[step.stage]["rarity"], step.inputs["cosines"]
        total = sum(weights)
        m = sum(w * c for w, c in zip(weights, cosines, strict=True)) / total if total > 0 else 0.0
        return "" if abs(m - step.inputs["read"]) <= CLOSE else f"the token vectors give {m}"

    def speaker(self, row: CandidateRow, step: Step) -> str:
        """One speaker is named, and the row has it; or the rule does not apply."""
        named = self.params[step.stage]["named"]
        said = _said_by(row)
        if (step.inputs.get("speaker") or "") != said:
            return f"the row's speaker is {said or 'nobody known'}"
        applies = len(named) == 1 and said == named[0]
        return "" if applies == (step.rule == "speaker_named") else f"said by {said or 'nobody known'}"

    def date(self, row: CandidateRow, step: Step) -> str:
        """The row's time lies within a span; or the rule does not apply."""
        spans = self.params[step.stage]["spans"]
        if step.inputs.get("timestamp_ms") != row.timestamp_ms:
            return f"the row's time is {row.timestamp_ms}"
        within = any(start <= row.timestamp_ms < end for start, end, _ in spans)
        return "" if within == (step.rule == "date_named") else f"its time is {row.timestamp_ms}"

    def neighbours(self, row: CandidateRow, step: Step) -> str:
        """What the memory before says, where it is a candidate too."""
        i = step.inputs
        if step.rule != "neighbours":
            return ""
        previous = i.get("previous")
        if previous is None and (i["words_before"] or i["asked_before"]):
            return "there is no memory before"
        if (previous is None or i.get("next") is not None) and i["last_of_session"]:
            return "it does not end its session"
        if previous in self.rows and i["asked_before"]:
            other = self.rows[previous]
            if _said_by(other) == _said_by(row) or other.text.rstrip()[-1:] not in _MARKS:
                return f"{previous} asks nothing"
        hit = next(
            (h for at, h in self.trace.pool.bm25.items() if self.trace.pool.rows[at].id == previous), None
        )
        top = max((h.score for h in self.trace.pool.bm25.values()), default=0.0)
        score = math.log(1 + hit.score) / math.log(1 + top) if hit is not None and top > 0 else 0.0
        seen = previous in self.rows and i["words_before"] == 0  # may be hidden from this recall
        return "" if seen or abs(score - i["words_before"]) <= CLOSE else f"the memory before has {score}"

    def recency(self, row: CandidateRow, step: Step) -> str:
        """The age counts from the newest memory."""
        age = step.inputs.get("age_days")
        counted = max(0.0, self.params[step.stage]["newest_ms"] - row.timestamp_ms) / DAY_MS
        return "" if age is None or abs(age - counted) <= CLOSE else f"its age is {counted}"

    def stages(self) -> list[str]:
        """Extremes, the limit and the spans, over all candidates."""
        failures = []
        for stage, value, low, high in (
            ("fused", "cosine", "lowest_cosine", "highest_cosine"),
            ("late_interaction", "met", "lowest_met", "highest_met"),
            ("token_vectors", "read", "lowest_read", "highest_read"),
            ("fused", "bm25", "", "highest_bm25"),
        ):
            steps = [s for c in self.trace.candidates for s in c.steps if s.stage == stage]
            known = [s.inputs[value] for s in steps if value in s.inputs]
            for bound, extreme in ((low, min), (high, max)):
                wrong = known and bound and any(s.inputs[bound] != extreme(known) for s in steps)
                if wrong:
                    failures.append(f"{stage}: {bound} is not that of the candidates")
        beside = {
            c.id: (s.inputs["previous"], s.inputs["next"])
            for c in self.trace.candidates
            for s in c.steps
            if s.stage == "neighbours" and "next" in s.inputs and "previous" in s.inputs
        }
        failures += [
            f"neighbours: {after} follows {each}, but not the other way round"
            for each, (_, after) in beside.items()
            if after in beside and beside[after][0] != each
        ]
        for start, end, phrase in self.params.get("date", {}).get("spans", ()):
            days = (end - start) / DAY_MS
            if start % DAY_MS or not (days == 12 or 28 + 6 <= days <= 31 + 6):
                failures.append(f"date: {phrase} spans {days} days")
        if len(self.trace.results) > self.trace.limit:
            failures.append(f"limit: {len(self.trace.results)} came back")
        return failures


_CHECKS: dict[str, Callable[[MemtuiStepRules, CandidateRow, Step], str]] = {
    "late_interaction": MemtuiStepRules.late,
    "token_vectors": MemtuiStepRules.token_vectors,
    "speaker": MemtuiStepRules.speaker,
    "date": MemtuiStepRules.date,
    "neighbours": MemtuiStepRules.neighbours,
    "recency": MemtuiStepRules.recency,
}
