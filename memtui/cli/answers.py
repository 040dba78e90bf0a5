"""Answers that a change makes others, as the commands print them: place, score and text, before and now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memtui.cli.output import print_text
from memtui.engine import counted, mask, veiled

if TYPE_CHECKING:
    from memtui.engine.changes import AnswerChange, AnswerRow, RecallEffect


_LONGEST = 100

MOST_ANSWERS = 20
"""Changed answers printed for a person; --json has all."""


def print_effect(effect: RecallEffect) -> None:
    """What a change does to the saved cases and the last questions."""
    if effect.not_known:
        print_text(f"effect on recall: not known: {effect.not_known}; --send measures it")
        if effect.failed >= effect.asked:
            return
    failed = f" ({effect.failed} could not be asked)" if effect.failed else ""
    print_text(
        f"effect on recall: {len(effect.changed)} of {counted(effect.asked, 'question')} answered differently{failed}"
    )
    kept = effect.cases
    if kept.cases:
        print_text(f"  cases: {kept.cases}, {kept.right_before} right before, {kept.right_after} after")
    for query in kept.worse:
        print_text(f"  worse: {short(query)}")
    print_changed(effect.changed)


def print_changed(changed: Iterable[AnswerChange]) -> None:
    """Each answer that would be another one: what leaves, comes or moves, and what is read there."""
    answers = list(changed)
    for answer in answers[:MOST_ANSWERS]:
        print_text(f"  {'case ' if answer.saved else ''}{short(answer.query)}")
        for row in answer.rows:
            if not row.same:
                print_text("\n".join(_lines(row)))
    if len(answers) > MOST_ANSWERS:
        print_text(f"  ... and {len(answers) - MOST_ANSWERS:,} more (--json has all)")


def _lines(row: AnswerRow) -> Iterator[str]:
    """A memory whose place or words change in an answer."""
    place = f"{row.rank_before or '-'} -> {row.rank_after or '-'}"
    verb = "comes" if row.rank_before is None else "leaves" if row.rank_after is None else "stays"
    before, after = mask(row.before)[0], mask(row.after)[0]
    prompt = ""
    if verb == "stays" and row.in_prompt_before != row.in_prompt_after:
        prompt = ", into the prompt" if row.in_prompt_after else ", out of the prompt"
    scores = dict.fromkeys(f"{each:.3f}" for each in (row.score_before, row.score_after) if each is not None)
    text = "" if row.reworded else short(after or before)
    yield "  ".join(
        part for part in (f"    {place}", f"{verb}{prompt} {row.id}", " -> ".join(scores), text) if part
    )
    if row.reworded:
        yield f"      was: {before}"
        yield f"      now: {after}"


def short(text: str) -> str:
    """A text on one line, its secrets named by their kind, cut where it is long."""
    line = " ".join(veiled(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
