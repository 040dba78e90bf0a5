"""A trace as the panels show it: results, the dropped by gate, one memory's account, notes, empty states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import counted, duration, mask, one_line
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import age, ago, score
from memtui.tui.paint.waterfall import Waterfall, badge, number
from memtui.tui.theme.tokens import scope_style, tier_style
from memtui.tui.trace import rule_text
from memtui.tui.trace import stages as account
from memtui.tui.widgets.breakdown import GateWords, ScoreReasons
from memtui.tui.widgets.dropped_list import DroppedGroup, Miss
from memtui.tui.widgets.result_list import ResultRow, found_at

if TYPE_CHECKING:
    from memtui.engine import Memory, Trace
    from memtui.engine.explain import Disagreement
    from memtui.engine.recall import Candidate, Confidence, StageSummary, Step
    from memtui.tui.screens.recall.state import CandidateStory


Lane = tuple[str, str, str]
"""A lane's name in the record, its short name, its hue."""

_LANES: tuple[Lane, ...] = (
    ("vector", "vec", "$stage-vector"),
    ("bm25", "bm25", "$stage-lexical"),
    ("reranked", "rr", "$stage-rerank"),
)

_WORD = re.compile(r"\w{2,}")

_COMMON_WORDS = """
a about after all an and any are as at be been but by can could did do does for from had has have how i if in is it
its me my no not of on or our should so that the their them there they this to was we were what when where which who
why will with would you your
"""

_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that say nothing about a match; the keyword lane leaves most of them out too."""

MOST_WORDS = 24

MOST_SHOWN = 8
"""Words of the question that the account names."""

HOOK_GATES = ("budget", "working_set", "stale_todo")
"""Gates of mem-engine's hook, whose answer is what it injects: what they stop is in no list of results."""

TITLE_CHARS = 400


def words_of(query: str) -> tuple[str, ...]:
    """The words of a question that are lit in what came back; only the first ones of a very long question."""
    words = dict.fromkeys(word for word in _WORD.findall(query[:2000].lower()) if word not in _COMMON)
    return tuple(words)[:MOST_WORDS]


def hits(trace: Trace) -> tuple[ResultRow, ...]:
    """The results in final order."""
    words = words_of(trace.query)
    lanes = [
        lane for lane in _LANES if lane[0] != "reranked" or any(lane[0] in c.sources for c in trace.results)
    ]
    best = max((c.score or 0.0 for c in trace.results), default=0.0)
    full = account.BEST_RANKS if fused_by_ranks(trace) else max(1.0, best)
    out = left_out(trace)
    rows = tuple(
        replace(_hit(c, trace.memories.get(c.id), words, lanes, full), left_out=out.get(c.id, ""))
        for c in trace.results
    )
    if not by_distance(trace):
        return rows
    least = min((row.score for row in rows), default=0.0)
    return tuple(replace(row, share=least / row.score if row.score else 1.0) for row in rows)


SMALLER = "distance, smaller is better"


def by_distance(trace: Trace) -> bool:
    """Whether the scores are the distances themselves: the smaller one is the better."""
    return trace.mode == "vector" and any(
        step.rule == "squared_l2" for result in trace.results[:1] for step in result.steps
    )


def fused_by_ranks(trace: Trace) -> bool:
    """Whether the scores are sums of 1 / (60 + place): hundredths, that are shown as shares of the best sum."""
    return any(account.of_ranks(c) is not None for c in trace.results)


def left_out(trace: Trace) -> dict[str, str]:
    """Id to why it does not reach the prompt, for what came back; empty where the answer goes into none."""
    from memtui.engine.explain import injected, reaches_prompt

    if not reaches_prompt(trace):
        return {}
    return {part.id: part.left_out for part in injected(trace).parts if part.left_out}


def prompt_ends(trace: Trace) -> str:
    """The line under the last memory that reaches the prompt; empty where all do, or there is no prompt."""
    from memtui.engine.explain import injected, reaches_prompt

    cut = [c for c in trace.candidates if c.reason in HOOK_GATES]
    if not reaches_prompt(trace) or not (cut or left_out(trace)):
        return ""
    prompt = injected(trace)
    items = prompt.items if prompt.items is not None else sum(bool(part.line) for part in prompt.parts)
    of = f" of {prompt.budget:,} characters" if prompt.budget is not None else ""
    reasons = dict.fromkeys(c.reason.replace("_", " ") for c in cut)
    why = f"; {len(cut)} more left out: {', '.join(reasons)}" if cut else ""
    return f"prompt ends here: {counted(items, 'item')}{of}{why}"


_FAILED = "asked and failed: "


def not_embedded(trace: Trace) -> str:
    """What the embedder said when it was asked and failed; empty where it answered or was not asked."""
    notes = (operation.note for operation in trace.operations if operation.name == "embed_query")
    return next((note.removeprefix(_FAILED) for note in notes if note.startswith(_FAILED)), "")


def failure(trace: Trace, glyphs: Glyphs) -> tuple[Content, ...]:
    """What stands above the results where no vector was to be had, and why, whole: by the recipe's own rule nobody
    got anything, or the words alone answered.
    """
    if trace.failure is None and (reason := not_embedded(trace)):
        head = Content.styled(f"{glyphs.warn} embedding failed: the words alone answered", "bold $stale")
        return (head, Content.styled(one_line(reason), "$stale"))
    if trace.failure is None:
        return ()
    head = Content.styled(f"{glyphs.warn} {trace.failure.words}", "bold $danger")
    why = Content.styled(one_line(trace.failure.reason), "$danger")
    alone = trace.words_alone
    if alone is None or not alone.results:
        return (head, why, Content.styled("The words alone would find nothing.", "$dim"))
    return (head, why, Content.styled("What the words alone would find, which no agent got:", "$stale"))


def _hit(
    candidate: Candidate, memory: Memory | None, words: tuple[str, ...], lanes: Sequence[Lane], full: float
) -> ResultRow:
    ranks = account.of_ranks(candidate)
    tier = str(ranks.get("tier") or "") if ranks is not None else ""
    return ResultRow(
        id=candidate.id,
        rank=candidate.rank or 0,
        text=mask(memory.text)[0][:TITLE_CHARS] if memory else candidate.id,
        tier=memory.tier if memory else None,
        category=memory.category if memory else None,
        scope=memory.scope if memory else None,
        score=candidate.score or 0.0,
        climbed=account.climbed(candidate),
        share=(candidate.score or 0.0) / full,
        evidence=tuple((short, _evidence(candidate, lane), style) for lane, short, style in lanes),
        matches=words,
        shown=account.score_words(candidate) if ranks is not None else "",
        band=tier.rpartition(":")[2],
    )


def _evidence(candidate: Candidate, lane: str) -> str:
    found = candidate.sources.get(lane)
    if not found or found.get("score") is None:
        return ""
    rank = found.get("rank")
    return score(found["score"]) + (f" #{rank}" if rank is not None and lane != "reranked" else "")


def gates(trace: Trace) -> tuple[DroppedGroup, ...]:
    """The dropped memories by gate, in the order of the stages."""
    kinds = {stage.name: stage.kind for stage in trace.stages}
    return tuple(
        DroppedGroup(
            stage=group.title,
            why=rule_text.gate(group.reason),
            style=account.stage_style(group.stage, kinds.get(group.stage, "filter")),
            misses=tuple(_miss(trace, candidate) for candidate in group.candidates),
            note=group.note if group.reason == "adaptive_gate" else "",
        )
        for group in account.dropped(trace)
    )


def _miss(trace: Trace, candidate: Candidate) -> Miss:
    memory = trace.memories.get(candidate.id)
    return Miss(
        id=candidate.id,
        text=mask(memory.text)[0][:TITLE_CHARS] if memory else candidate.id,
        tier=memory.tier if memory else None,
        category=memory.category if memory else None,
        score=account.score_words(candidate),
        missed=_missed(trace, candidate, memory),
    )


def _missed(trace: Trace, candidate: Candidate, memory: Memory | None) -> str:
    inputs = account.gate_step(candidate)
    if memory is not None and candidate.reason == "inactive":
        if memory.invalidated_at_ms is not None and memory.invalidated_at_ms <= trace.now_ms:
            return f"replaced {age(memory.invalidated_at_ms, trace.now_ms)} ago"
        return f"true {ago(memory.valid_from_ms, trace.now_ms)}"
    if memory is not None and candidate.reason == "expired" and memory.valid_until_ms:
        return f"expired {age(memory.valid_until_ms, trace.now_ms)} ago"
    if memory is not None and candidate.reason == "category":
        return f"is {one_line(memory.category or 'without one')}"
    return rule_text.missed(
        candidate.reason, inputs.get("value"), inputs.get("limit", candidate.limit), inputs
    )


def candidate_of(trace: Trace | None, id: str) -> Candidate | None:
    """The candidate with this id."""
    return next((c for c in trace.candidates if c.id == id), None) if trace is not None else None


def why(
    trace: Trace, candidate: Candidate, glyphs: Glyphs, now_ms: int, told: CandidateStory | None = None
) -> ScoreReasons:
    """The account of one memory for the panel below the lists."""
    memory = trace.memories.get(candidate.id)
    gates = gates_of(trace, candidate, glyphs)
    known = facts(memory, glyphs, now_ms)
    words = matched(trace.query, memory)
    story = Content.styled(one_line(told.story), "$foreground") if told is not None and told.story else None
    said = [each for each in (story, *known, words) if each is not None]
    return ScoreReasons(account.fall(trace, candidate, glyphs), tuple(said), gates)


def matched(query: str, memory: Memory | None) -> Content | None:
    """Which words of the question stand in the memory, and which do not; None for a question without words."""
    words = words_of(query)[:MOST_SHOWN]
    if not words or memory is None:
        return None
    low = memory.text.lower()
    there = [word for word in words if next(found_at(low, word), None) is not None]
    lacking = [word for word in words if word not in there]
    parts = []
    if there:
        parts.append(Content.assemble(("has ", "$dim"), (" ".join(there), "$match")))
    if lacking:
        parts.append(Content.styled(f"lacks {' '.join(lacking)}", "$dim"))
    return Content("   ").join(parts)


def trust(trace: Trace, candidate: Candidate, fall: Waterfall, glyphs: Glyphs) -> Content:
    """The badge of one account: nothing where there is no score to take apart."""
    if not fall.moves:
        return Content()
    wrong = any(text.startswith(candidate.id) for text in trace.proof.failures)
    return badge(fall, proved=not wrong, error=trace.proof.max_error, glyphs=glyphs)


def facts(memory: Memory | None, glyphs: Glyphs, now_ms: int) -> tuple[Content, ...]:
    """What decides a memory's weight beside its words."""
    if memory is None:
        return ()
    out = []
    if memory.tier:
        tier = f"{glyphs.tier(memory.tier)} {one_line(memory.tier)}".strip()
        out.append(Content.styled(tier, tier_style(memory.tier)))
    out.append(Content.styled(one_line(memory.scope or "no scope"), scope_style(memory.scope)))
    if memory.importance is not None:
        out.append(Content.styled(f"importance {score(memory.importance)}", "$dim"))
    if memory.access_count is not None:
        used = counted(memory.access_count, "time") if memory.access_count else "never"
        last = (
            f", {ago(memory.last_accessed_ms, now_ms)}"
            if memory.access_count and memory.last_accessed_ms
            else ""
        )
        out.append(Content.styled(f"used {used}{last}", "$dim"))
    if memory.timestamp_ms:
        out.append(Content.styled(f"learned {ago(memory.timestamp_ms, now_ms)}", "$dim"))
    if not memory.active or memory.expired:
        out.append(Content.styled("expired" if memory.expired else "not valid now", "$stale"))
    return tuple(out)


def gates_of(trace: Trace, candidate: Candidate, glyphs: Glyphs) -> tuple[GateWords, ...]:
    """The gates on the candidate's way: those that it passed, and the one that stopped it."""
    out: list[GateWords] = []
    stages = {stage.name: stage for stage in trace.stages}
    for step in candidate.steps:
        stage = stages.get(step.stage)
        if stage is None or (stage.kind not in ("filter", "order") and step.after is not None):
            continue
        title = account.stage_title(stage)
        if step.after is None:
            gate = str(step.inputs.get("gate", ""))
            missed = rule_text.missed(gate, step.inputs.get("value"), step.inputs.get("limit"), step.inputs)
            said = f"{glyphs.cross} {title}: {rule_text.gate(gate)}{f' ({missed})' if missed else ''}"
            out.append(GateWords(Content.styled(said, "bold $stage-cut")))
            continue
        late = step.rule == "deferred"
        mark = (f"{glyphs.down} ", "$delta-down") if late else (f"{glyphs.mark} ", "$ok")
        out.append(
            GateWords(Content.assemble(mark, (title, "$dim")), Content.styled(asked(step, stage), "$dim"))
        )
    return tuple(out)


def asked(step: Step, stage: StageSummary) -> str:
    """What a gate asked of a memory that passed it."""
    if step.rule != "unchanged":
        return rule_text.formula(step.rule, step.before, step.inputs)
    if stage.name == "noise_filter" and stage.params.get("filterNoise"):
        return "no noise rule matches"
    if stage.name == "adaptive_gate":
        return "the agent would ask this"
    if stage.name == "governance" and step.inputs.get("state"):
        return one_line(str(step.inputs["state"]))
    return limits(stage)


def limits(stage: StageSummary) -> str:
    """What a gate asked for, from the parameters it ran with."""
    p: Mapping[str, Any] = stage.params
    floors = [p[key] for key in ("minScore", "hardMinScore") if isinstance(p.get(key), int | float)]
    parts = [f"minimum {number(float(floor))}" for floor in floors]
    if isinstance(p.get("window"), int | float):
        parts.append(f"the first {p['window']:.0f} go to the reranker")
    if isinstance(p.get("threshold"), int | float):
        parts.append(f"near-duplicates above cosine {number(float(p['threshold']), 2)} go last")
    if isinstance(p.get("limit"), int | float):
        parts.append(f"the first {p['limit']:.0f}")
    if p.get("tags"):
        parts.append("with " + ", ".join(one_line(str(tag)) for tag in p["tags"]))
    if p.get("filterNoise") is False:
        parts.append("off")
    return ", ".join(parts)


def disagreements(found: Sequence[Disagreement], now_ms: int, glyphs: Glyphs, cap: str) -> list[Content]:
    """The lines on memories that disagree: both values with their ages, what came back, and the key that mends it."""
    lines = []
    for disagreement in found:
        place = f"is #{disagreement.newer_rank}" if disagreement.newer_rank else "was not returned"
        said = (
            f": #{disagreement.rank} says {disagreement.kind} {one_line(disagreement.value)} "
            f"({age(disagreement.recalled_ms, now_ms)} old); a newer memory says {one_line(disagreement.newer_value)} "
            f"({age(disagreement.newer_ms, now_ms)} old) and {place}"
        )
        lines.append(
            Content.assemble(
                (f"{glyphs.warn} ", "bold $stale"),
                ("two memories disagree, ", "$stale"),
                (cap, "bold $key"),  # where the line is cut, its key stands before that
                (" corrects it", "$foreground"),
                (said, "$stale"),
            )
        )
    return lines


def warnings(trace: Trace, glyphs: Glyphs) -> list[Content]:
    """What went wrong in this run, the worst first."""
    above = f"keyword only: {not_embedded(trace)}"  # stands above the results, where it has room
    out = [
        Content.assemble((f"{glyphs.warn} ", "bold $stale"), (one_line(w), "$stale"))
        for w in trace.warnings
        if w != above
    ]
    if not trace.proof.recomputed:
        first = one_line(trace.proof.failures[0]) if trace.proof.failures else "the orders differ"
        out.insert(0, Content.styled(f"{glyphs.warn} this account does not add up: {first}", "bold $danger"))
    return out


def whose(trace: Trace) -> list[Content]:
    """Whose recall it was and what was searched; bright where no agent would get this."""
    asker = trace.asker
    if asker is None:
        return []
    return [
        Content.styled(one_line(asker.words), "$stale" if asker.sees_all or asker.refused else "$foreground")
    ]


def notes(trace: Trace, glyphs: Glyphs, key: str) -> tuple[Content, ...]:
    """What a person should know of this run, for the stage panel: warnings first, then who was dropped.

    `key` shows those.
    """
    out = [*whose(trace), *warnings(trace, glyphs)]
    groups = account.dropped(trace)
    gone = sum(len(group.candidates) for group in groups)
    if gone:
        reasons = rule_text.count_by_gate(group.reason for group in groups for _ in group.candidates)
        out.append(Content.assemble((key, "bold $key"), f" {gone} dropped: ", (reasons, "$dim")))
    if trace.bm25_query is not None and trace.bm25_query != trace.query:
        out.append(
            Content.assemble(
                ("keywords asked: ", "$dim"), (one_line(trace.bm25_query[:400]), "$stage-lexical")
            )
        )
    return tuple(out)


def counts(trace: Trace) -> str:
    """`hybrid   71 ms   31 candidates to 6`."""
    ms = duration(trace.total_ms)
    return f"{trace.mode}   {ms}   {counted(len(trace.candidates), 'candidate')} to {len(trace.results)}"


def moved_on(trace: Trace, version: int | None) -> str:
    """Say that the store was written since the answer; empty while it was not, and where a version was chosen."""
    chosen = trace.request is not None and trace.request.table_version is not None
    if version is None or chosen or trace.table_version == version:
        return ""
    return f"v{version} now, this answer is of v{trace.table_version}"


def confidence_reasons(told: Confidence) -> str:
    """What the confidence is made of, in a few words with their numbers."""
    another = ", another's fits better" if told.another else ""
    if told.few:
        return f"words matched {score(told.met)}{another}, few candidates"
    beside = {None: "", True: ", neighbours too", False: ", no neighbours"}[told.beside]
    letter = "" if told.literal is None else f", exact matches {score(told.literal)}"
    return f"words matched {score(told.met)}, weight {score(told.gathered)}{letter}{another}{beside}"


def confidence_words(told: Confidence) -> tuple[str, str]:
    """Whether the best memory answers, in words with the probability, and their style."""
    styles = {"likely": "$ok", "perhaps": "$foreground", "hardly": "$stale", "nothing": "bold $stale"}
    return told.said, styles[told.word]
