"""Replaying a receipt: the recall again on the store as it is now, and everything that is different."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.text import counted
from memtui.engine.recall import proof_formulas
from memtui.engine.recall.recipes.registry import all_recipes

if TYPE_CHECKING:
    from memtui.engine.catalog.types import StoreInfo
    from memtui.engine.explain.receipts import Receipt
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.trace import Candidate, Step


TOLERANCE = 1e-9

_SNAKE = str.maketrans({chr(c): f"_{chr(c).lower()}" for c in range(ord("A"), ord("Z") + 1)})


@dataclass(frozen=True, slots=True)
class ReceiptDifference:
    """One thing that is not as the receipt has it."""

    what: str
    """store, version, result, score, candidate, text, sum."""
    where: str
    """The memory's or the stage's name, empty for the whole."""
    was: Any
    now: Any

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {"what": self.what, "where": self.where, "was": self.was, "now": self.now}


@dataclass(frozen=True)
class Replay:
    """What a replay found. `trace` is None for a receipt without texts, which only its sums can be checked of."""

    differences: tuple[ReceiptDifference, ...]
    trace: Trace | None
    checked: int
    """Steps of the receipt that were recomputed from their own inputs."""
    note: str = ""

    @property
    def same(self) -> bool:
        """Whether the recall comes out as it did; another version of the table alone is no difference."""
        return not [difference for difference in self.differences if difference.what != "version"]


def replay(
    receipt: Receipt,
    info: StoreInfo,
    ask: Callable[[RecallRequest], Trace],
    there: Callable[[Sequence[str]], Mapping[str, Any]],
) -> Replay:
    """Ask again what `receipt` recorded, with its settings, clock and question vector, and compare.

    `there` finds memories by id. Raises UsageError when nothing of the receipt is in this store: it is of
    another one.
    """
    was = [candidate.id for candidate in receipt.candidates]
    if was and not there(was):
        raise UsageError(
            f"None of the {counted(len(was), 'memory', 'memories')} of this receipt is here: it is of another store"
            f" ({receipt.store['dialect']}, {counted(receipt.store['rows'], 'row')}).",
            fix="Open the store that it was saved from.",
        )
    checked, sums = check_sums(receipt)
    found = [*sums, *_store(receipt, info)]
    if receipt.request is None:
        note = "The receipt holds no texts: its sums were checked, the question was not asked again."
        return Replay(tuple(found), None, checked, note)
    try:
        trace = ask(replace(receipt.request, table_version=None))
    except MemtuiError as error:
        raise UsageError(
            f"The question of the receipt cannot be asked here: {error.message}", fix=error.fix
        ) from None
    found += _results(receipt, trace)
    return Replay(tuple(found), trace, checked)


def _store(receipt: Receipt, info: StoreInfo) -> list[ReceiptDifference]:
    out = []
    for key, now in (("dialect", info.dialect), ("table", info.table)):
        if receipt.store.get(key) != now:
            out.append(ReceiptDifference("store", key, receipt.store.get(key), now))
    if receipt.table_version != info.version:
        out.append(ReceiptDifference("version", "", receipt.table_version, info.version))
    return out


def _results(receipt: Receipt, trace: Trace) -> list[ReceiptDifference]:
    out: list[ReceiptDifference] = []
    if receipt.returned != trace.returned:
        out.append(ReceiptDifference("result", "", list(receipt.returned), list(trace.returned)))
    now = {candidate.id: candidate for candidate in trace.candidates}
    for candidate in receipt.candidates:
        out += _candidate(candidate, now.get(candidate.id))
    new = [c for c in trace.candidates if c.id not in {candidate.id for candidate in receipt.candidates}]
    out += [ReceiptDifference("candidate", c.id, None, c.disposition) for c in new]
    texts = {row.id: row.text for row in trace.pool.rows}
    for key, text in receipt.texts_by_id().items():
        if key in texts and texts[key] != text:
            out.append(ReceiptDifference("text", key, text, texts[key]))
    return out


def _candidate(was: Candidate, now: Candidate | None) -> list[ReceiptDifference]:
    if now is None:
        return [ReceiptDifference("candidate", was.id, was.disposition, None)]
    if was.disposition != now.disposition or was.reason != now.reason:
        return [ReceiptDifference("candidate", was.id, was.reason or "returned", now.reason or "returned")]
    if was.score is not None and now.score is not None and abs(was.score - now.score) > TOLERANCE:
        return [ReceiptDifference("score", was.id, was.score, now.score)]
    return []


def check_sums(receipt: Receipt) -> tuple[int, list[ReceiptDifference]]:
    """Recompute every step of a receipt by the plugin's recipes from its own inputs; (steps checked, what is wrong).

    Recipes that are programs of their own are not checked: (0, nothing).
    """
    if receipt.recipe not in {recipe.name for recipe in all_recipes() if recipe.replayable}:
        return 0, []
    wrong: list[ReceiptDifference] = []
    checked = 0
    for candidate in receipt.candidates:
        for step in candidate.steps:
            if step.after is None or step.rule not in proof_formulas.SCORES:
                continue
            checked += 1
            expected = _expected(receipt, step, candidate)
            if expected is None or abs(expected - step.after) > TOLERANCE:
                wrong.append(ReceiptDifference("sum", f"{candidate.id}, {step.stage}", step.after, expected))
    return checked, wrong


def _expected(receipt: Receipt, step: Step, candidate: Candidate) -> float | None:
    inputs = {**step.inputs, "now_ms": receipt.now_ms}
    config = receipt.config
    try:
        if step.rule == "decay_boost":
            params = {key.translate(_SNAKE): value for key, value in config["decay"].items()}
            inputs |= proof_formulas.lifecycle(inputs, params)
        if step.rule == "recency":
            inputs["age_days"] = proof_formulas.age_days(inputs)
        if step.rule == "time_decay":
            inputs["age_days"] = proof_formulas.age_days(inputs)
            inputs["e_folding_days"] = proof_formulas.stretched_days(inputs, config["retrieval"])
        return proof_formulas.SCORES[step.rule](step.before or 0.0, inputs)
    except (KeyError, TypeError, ZeroDivisionError, OverflowError):
        return None
