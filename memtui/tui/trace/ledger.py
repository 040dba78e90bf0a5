"""The ledger of one memory: its recorded steps as the entries of a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.dialogs.stage_ledger import LedgerEntry, LedgerPage
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import score
from memtui.tui.trace import results, rule_text
from memtui.tui.trace import stages as account
from memtui.tui.trace.rule_text import figure
from memtui.tui.widgets.memory_text import text_lines

if TYPE_CHECKING:
    from memtui.engine import Trace
    from memtui.engine.recall import Candidate, Proof, StageSummary, Step, WordMet
    from memtui.tui.screens.recall.state import CandidateStory


WORD_CELLS, BAR_CELLS = 14, 8

TERM_CELLS = 29

TERM_WORDS = {
    "bias": "intercept",
    "met": "words of the question matched",
    "gathered": "share of all weight",
    "long": "a long question",
    "beside": "neighbours returned",
    "asked": "words asked, of many",
    "literal": "exact matches",
    "other_met": "another matches more words",
    "other_gathered": "another has more weight",
}
"""The signals of a confidence as the page names them."""

MOST_WORDS = 30
"""Words of a question that are compared on the page; they come by what they decide."""


def page(
    trace: Trace, candidate: Candidate, glyphs: Glyphs, now_ms: int, told: CandidateStory | None = None
) -> LedgerPage:
    """Everything that happened to `candidate`, in the order of the stages; `told` is its story, once it is written."""
    stages = {stage.name: stage for stage in trace.stages}
    memory = trace.memories.get(candidate.id)
    proof = trace.proof
    fall = account.fall(trace, candidate, glyphs)
    name = memory.title if memory else candidate.id
    place = f"#{candidate.rank}" if candidate.rank else "dropped"
    failures = [text for text in proof.failures if text.startswith(candidate.id)]

    def below(width: int) -> Sequence[Content]:
        lines = [Content(), _result_line(candidate, glyphs), _proof_line(proof)]
        lines += _story(told, width)
        for text in failures:
            lines += [
                Content.styled(f" {glyphs.warn} {part.plain}", "$danger")
                for part in Content(one_line(text)).wrap(width - 4)
            ]
        lines += _confidence(trace, candidate, width, glyphs)
        lines += _keywords(told, width, glyphs)
        lines += _words_met(told, width, glyphs)
        near = trace.neighbors.get(candidate.id, ())
        if near:
            lines += [Content(), Content.styled(" NEIGHBOURS ATTACHED", "bold $heading")]
            lines += [_neighbor_line(each, width) for each in near]
        lines += [Content(), Content.styled(" MEMORY", "bold $heading")]
        lines += text_lines(
            memory, results.words_of(trace.query), results.facts(memory, glyphs, now_ms), width
        )
        return lines

    return LedgerPage(
        title=f"{place}  {one_line(name[:300])}",
        badge=results.trust(trace, candidate, fall, glyphs),
        entries=tuple(_entry(step, stages.get(step.stage)) for step in candidate.steps),
        below=below,
        document=document(candidate),
    )


def document(candidate: Candidate) -> str:
    """The candidate as in the command line's JSON."""
    return json.dumps(
        {
            "id": candidate.id,
            "disposition": candidate.disposition,
            "reason": candidate.reason,
            "score": candidate.score,
            "limit": candidate.limit,
            "rank": candidate.rank,
            "sources": {name: dict(source) for name, source in candidate.sources.items()},
            "steps": [step.as_json() for step in candidate.steps],
        },
        ensure_ascii=False,
        indent=2,
    )


def _entry(step: Step, stage: StageSummary | None) -> LedgerEntry:
    return LedgerEntry(
        stage=account.stage_title(stage) if stage else one_line(step.stage),
        style=account.stage_style(step.stage, stage.kind if stage else "score"),
        before=step.before,
        after=step.after,
        rank_before=step.rank_before,
        rank_after=step.rank_after,
        rule=_rule(step, stage),
        stopped=step.after is None,
    )


def _rule(step: Step, stage: StageSummary | None) -> str:
    if step.after is None:
        gate = str(step.inputs.get("gate", ""))
        missed = rule_text.missed(gate, step.inputs.get("value"), step.inputs.get("limit"), step.inputs)
        return f"{rule_text.gate(gate)}{f': {missed}' if missed else ''}"
    if step.rule == "unchanged" and stage is not None:
        asked = results.asked(step, stage)
        note = one_line(stage.note) if account.warns(stage) else ""
        return note or (f"passes: {asked}" if asked else "passes")
    return rule_text.formula(step.rule, step.before, step.inputs)


def _story(told: CandidateStory | None, width: int) -> list[Content]:
    """What happened, in words."""
    if told is None or not told.story or told.story.startswith("failed check"):  # that much is said above
        return []
    lines = Content.styled(one_line(told.story), "$foreground").wrap(max(12, width - 4))
    return [Content(), *(Content.assemble("   ", line) for line in lines)]


def _confidence(trace: Trace, candidate: Candidate, width: int, glyphs: Glyphs) -> list[Content]:
    """How sure it is that a memory answers: each signal times its weight, and the probability that the sum is."""
    told = trace.confidence
    if told is None or candidate.rank is None:
        return []
    at = next((result.rank for result in trace.results if result.id == told.memory), None)
    whose = "" if told.memory == candidate.id or at is None else f" by #{at}, the best met"
    words, style = results.confidence_words(told)
    lines = [
        Content.assemble((" ANSWER CONFIDENCE", "bold $heading"), "   ", (words, style), (whose, "$dim"))
    ]
    for term in told.terms:
        product = "" if term.name == "bias" else f"{term.value:6.3f} x {term.weight:5.2f} ="
        name = fit(TERM_WORDS[term.name], TERM_CELLS, glyphs.ellipsis)
        lines.append(
            Content.assemble(
                (f"   {name} ", "$foreground"),
                (f"{product:>17} ", "$dim"),
                (f"{term.adds + 0.0:6.2f}", "$foreground"),  # minus zero is zero
            )
        )
    total = sum(term.adds for term in told.terms)
    end = f"1 / (1 + e^-({total:.2f})) = {told.number:.2f}; an answer from {told.line:.2f} on"
    lines.append(Content.styled(f"   {end}", "$dim"))
    return [Content(), *(line.truncate(max(8, width - 1), ellipsis=True) for line in lines)]


def _keywords(told: CandidateStory | None, width: int, glyphs: Glyphs) -> list[Content]:
    """The keyword score as a tree, a word a branch: how rare it is, how often it stands there, the text's length."""
    tree = told.keywords if told is not None else None
    if tree is None:
        return []
    lines = [Content.assemble((" KEYWORDS", "bold $heading"), (f"   BM25 {figure(tree.raw, 2)}", "$dim"))]
    if not tree.words:
        lines.append(Content.styled("   by word: not known, the index gives only the sum", "$dim"))
    for number, share in enumerate(tree.words[:MOST_WORDS], 1):
        branch = glyphs.corner if number == len(tree.words[:MOST_WORDS]) else glyphs.track_left
        parts = "idf, tf and length: not known, the index does not hold this memory yet"
        if share.idf is not None and share.weight is not None:
            parts = (
                f"= idf {figure(share.idf)} x tf {figure(share.weight)}   "
                f"in {counted(share.rows_with or 0, 'memory', 'memories')}, {counted(share.times or 0, 'time')} here"
            )
        word = fit(one_line(share.word), WORD_CELLS, glyphs.ellipsis)
        lines.append(
            Content.assemble(
                (f"   {branch} ", "$dim"),
                (word, "$match"),
                (f"{figure(share.adds):>6} ", "$foreground"),
                (parts, "$dim"),
            )
        )
    if tree.length is not None and tree.average is not None:
        end = "verified" if tree.adds_up else "does not add up"
        usual = f"{figure(tree.average, 1)} on average of {counted(tree.rows or 0, 'memory', 'memories')}"
        lines.append(Content.styled(f"   length {counted(tree.length, 'word')}, {usual}; {end}", "$dim"))
    return [Content(), *(line.truncate(max(8, width - 1), ellipsis=True) for line in lines)]


def _words_met(told: CandidateStory | None, width: int, glyphs: Glyphs) -> list[Content]:
    """Which word of the question met which of the memory; an approximation where the recipe did not score by that."""
    met = told.words if told is not None else None
    if met is None or not met.words:
        return []
    aside = "   approximate: by the bundled model, this recipe compares no words" if met.approximate else ""
    heading = Content.assemble((" TERM MATCHING", "bold $heading"), (aside, "$stale"))
    shown = [_met_line(word, glyphs) for word in met.words[:MOST_WORDS]]
    return [Content(), *(line.truncate(max(8, width - 1), ellipsis=True) for line in (heading, *shown))]


def _met_line(word: WordMet, glyphs: Glyphs) -> Content:
    style = "$score-high" if word.cosine >= 0.8 else "$score-mid" if word.cosine >= 0.5 else "$score-low"
    return Content.assemble(
        "  ",
        (fit(one_line(word.word), WORD_CELLS, glyphs.ellipsis), "$foreground"),
        (f" {glyphs.forth} ", "$dim"),
        (
            fit(
                one_line(word.met) or ("said before" if word.before else "-"), WORD_CELLS - 1, glyphs.ellipsis
            ),
            style,
        ),
        " ",
        (padded_bar(word.cosine, BAR_CELLS, glyphs), style),
        (f" {score(word.cosine):>4}", style),
        (f"   decides {word.share:.0%}", "$dim"),
    )


def _neighbor_line(near: Mapping[str, Any], width: int) -> Content:
    found = f"{score(near.get('score'))} #{near.get('rank', '-')}"
    words = Content.assemble(
        "  ", (found, "$stage-lexical"), "  ", (one_line(str(near.get("id", ""))), "$dim")
    )
    return words.truncate(max(8, width - 1), ellipsis=True)


def _proof_line(proof: Proof) -> Content:
    error = f"largest error {proof.max_error:.1g}" if proof.max_error else "no error"
    return Content.styled(
        f"   {counted(proof.checked, 'step')} of this recall recomputed independently, {error}", "$dim"
    )


def _result_line(candidate: Candidate, glyphs: Glyphs) -> Content:
    if candidate.rank is not None:
        return Content.assemble(
            " ",
            (f"{glyphs.mark} returned at #{candidate.rank}", "bold $ok"),
            ("  with ", "$dim"),
            (score(candidate.score), "bold $foreground"),
        )
    return Content.assemble(
        " ", (f"{glyphs.cross} not returned: {rule_text.gate(candidate.reason)}", "bold $stage-cut")
    )
