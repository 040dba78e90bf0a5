"""The story of each candidate in words, and which word met which: made behind the answer, results first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import CancelToken, EmbeddingError, counted, explain, one_line
from memtui.tui.calls import Report
from memtui.tui.dialogs.sheet import SheetLine, SheetSection
from memtui.tui.host import Host
from memtui.tui.layout import NORMAL_WIDTH, size_class
from memtui.tui.layouts import RecallShape
from memtui.tui.no_store import DEMO, FILLING, no_store, of_session
from memtui.tui.paint.cells import crop
from memtui.tui.paint.timeline import StageTiming
from memtui.tui.screens.recall.state import CandidateStory, RecallState
from memtui.tui.session import Session
from memtui.tui.trace import results, rule_text, stages
from memtui.tui.trace.options import recipe_named, recipes_of
from memtui.tui.trace.rule_text import figure
from memtui.tui.widgets.state_panel import Choice, State, failed

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.recall import RecipeInfo, StageSummary, WordsMet


TOLD = "told"
"""The slot of this work."""

RADAR = "radar"
"""The slot of the look for memories that disagree."""

AT_A_TIME = 20


def tell(engine: Engine, trace: Trace, cancel: CancelToken, report: Report) -> None:
    """Report id to `CandidateStory` for every candidate of `trace`, some at a time, in the order of the lists."""
    ids = [candidate.id for candidate in trace.candidates]
    results = len(trace.returned)
    for part in (ids[:results], *_parts(ids[results:])):
        told: dict[str, CandidateStory] = {}
        for each in part:
            cancel.check()
            told[each] = CandidateStory(
                explain.explain(trace, each).text, _words(trace, each), explain.keyword_tree(trace, each)
            )
        if told:
            report(told)


def _parts(ids: list[str]) -> Iterator[list[str]]:
    for at in range(0, len(ids), AT_A_TIME):
        yield ids[at : at + AT_A_TIME]


def _words(trace: Trace, memory_id: str) -> WordsMet | None:
    try:
        return trace.words_met(memory_id)
    except EmbeddingError:
        return None


# What the result panel says when it has no results to show, and the ways out.


def results_state(state: RecallState, session: Session, recipes: Sequence[RecipeInfo]) -> State | None:
    """The words instead of results; None when there are results to show."""
    if session.engine is None:
        return _no_store(session)
    if state.phase == "failed" and state.error is not None:
        return failed(
            "This recall failed.",
            state.error,
            Choice("again", "try again", "{recall.again}"),
            Choice("ask", "ask something else", "{recall.ask}"),
            Choice("recipe", "use another recipe", "{recall.change}"),
            *(
                [Choice("back", "back to the answer before", "{recall.back}")]
                if state.trace is not None
                else []
            ),
        )
    if state.trace is None:
        return asking(state) if state.phase == "running" else _nothing_asked(session, recipes, state.history)
    if state.trace.results or state.trace.failure is not None:
        return None
    return nothing(state.trace, [recipe.name for recipe in recipes])


def asking(state: RecallState) -> State:
    """A question is being answered; what takes long of it is said before it is done, with the way to stop."""
    facts = (("waits for", state.waits), ("stop", "{recall.back}")) if state.waits else ()
    return State("loading", "asking", facts, progress=state.fetched, skeleton=True)


def _no_store(session: Session) -> State:
    if session.phase in ("looking", "opening"):
        return State("loading", "opening the store; the question can be typed already", skeleton=True)
    return of_session(session) or no_store(session)


_OFFERED = 5
"""Questions under an empty answer; with the recipes they fill the smallest screen."""

_QUESTION_WIDTH = 46
"""Cells of such a question, so that what is said of it has room."""


def _offered(session: Session, history: Sequence[str]) -> list[Choice]:
    """The last questions that were asked here, on a demo that nobody has asked yet those that show something."""
    known = [(query, "asked before") for query in history[: -_OFFERED - 1 : -1]]
    if not known and session.target == DEMO.name:
        from memtui.engine.demo import questions

        known = [(question.query, question.offered) for question in questions() if question.offered][
            :_OFFERED
        ]
    return [Choice("question", crop(one_line(query), _QUESTION_WIDTH), hint, query) for query, hint in known]


def _nothing_asked(session: Session, recipes: Sequence[RecipeInfo], history: Sequence[str]) -> State:
    if session.info is not None and not session.info.rows:
        return State(
            "empty", "Answers will be listed here: this store holds no memories yet.", choices=FILLING
        )
    facts = []
    if session.info is not None:
        facts.append(("embedding model", one_line(session.info.embedder)))
        facts.append(("full-text index", one_line(session.info.full_text)))
    choices = _offered(session, history)
    choices += [
        Choice("recipe", one_line(r.name), one_line(r.title), r.name, apart=bool(choices) and r is recipes[0])
        for r in recipes
    ]
    return State(
        "empty",
        "Ask what the agent would ask, and see why it remembers what it does.",
        tuple(facts),
        tuple(choices),
        below=tuple((one_line(r.name), one_line(r.description)) for r in recipes),
    )


def nothing(trace: Trace, recipes: Sequence[str]) -> State:
    """Why nothing came back, and the ways out, most promising first."""
    from memtui.engine.recall import recipe_named

    groups = stages.dropped(trace)
    facts: list[tuple[str, str]] = []
    choices: list[Choice] = []
    gated = next((group for group in groups if group.reason == "adaptive_gate"), None)
    if gated is not None:
        head = "The agent would not have asked this."
        facts.append(("gate", one_line(gated.note) or "skipped"))
        facts.append(
            ("found", f"{counted(len(gated.candidates), 'memory', 'memories')} would have been returned")
        )
        purpose = recipe_named(trace.recipe).on_purpose
        if purpose in recipes:
            choices.append(Choice("recipe", "ask as the memory_recall tool", purpose, purpose))
    elif trace.filters.get("scopes") == []:
        head = "No results: no scope may be searched."
    elif groups:
        count = len(trace.candidates)
        who = f"all {count:,} candidates were" if count > 1 else "the only candidate was"
        head = f"No results: {who} dropped."
        skipped = next((s.note for s in trace.stages if s.name == "adaptive_gate" and s.note), "")
        if skipped:
            facts.append(("gate", f"the agent would not have asked: {one_line(skipped)}"))
        facts += [
            (group.title, f"{len(group.candidates)} {rule_text.gate(group.reason)}") for group in groups
        ]
    else:
        head = "No search found anything."
    if reason := results.not_embedded(trace):
        facts.append(("embedding", f"failed: the words alone answered. {one_line(reason)}"))
    elif trace.mode == "keyword":
        facts.append(("searched", "by keywords only"))
    if trace.mode == "tag":
        facts.append(("searched", "by tag only: the question holds a tag word"))
    if groups:
        choices.append(Choice("dropped", "see what was dropped", "{recall.missing}"))
    if trace.filters.get("scopes"):
        choices.append(Choice("scope", "search all scopes", "drop the scope filter"))
    if trace.filters.get("category"):
        choices.append(Choice("category", "search all categories", "drop the category"))
    choices.append(Choice("ask", "ask something else", "{recall.ask}"))
    return State("empty", head, tuple(facts), tuple(choices))


# What every setting of a recall means, in one line, grouped by the stage that reads it.

_GROUPS: tuple[tuple[str, str, dict[str, str]], ...] = (
    (
        "SEARCH",
        "retrieval",
        {
            "mode": "hybrid asks both lanes, vector only the first",
            "candidatePoolSize": "hits wanted of each lane; each stops at 20",
            "queryExpansion": "synonyms for the keyword lane, only for manual and cli",
            "tagPrefixes": "a word prefix:value in the question searches by tag only",
            "disableNativeCosine": "scan every row instead of asking the index",
        },
    ),
    (
        "FUSION",
        "retrieval",
        {
            "vectorWeight": "share of the vector score",
            "bm25Weight": "share of the keyword score; alone it counts whole",
            "minScore": "a fused score below this is dropped",
        },
    ),
    (
        "RERANK",
        "retrieval",
        {
            "rerank": "cross-encoder asks a service, lightweight blends the cosine, none",
            "rerankProvider": "whose form of request",
            "rerankModel": "which model",
            "rerankEndpoint": "where it answers",
            "rerankApiKey": "without one the cosine blend is used",
            "rerankTimeoutMs": "milliseconds to wait for it",
        },
    ),
    (
        "AGE, LENGTH",
        "retrieval",
        {
            "recencyWeight": "most that a fresh memory gains",
            "recencyHalfLifeDays": "days after which .37 of that gain is left",
            "lengthNormAnchor": "characters up to which length costs nothing",
            "timeDecayHalfLifeDays": "days after which .37 of the losable half is left",
            "reinforcementFactor": "how much use stretches that time",
            "maxHalfLifeMultiplier": "and at most by this",
        },
    ),
    (
        "CUT",
        "retrieval",
        {
            "hardMinScore": "a final score below this is dropped",
            "filterNoise": "drop greetings, refusals and boilerplate, recognised by phrases",
            "neighborEnrichment": "attach memories with similar words to each result",
        },
    ),
    (
        "LIFECYCLE DECAY",
        "decay",
        {
            "recencyHalfLifeDays": "half-life in days at importance 0",
            "importanceModulation": "how much importance stretches that",
            "recencyWeight": "share of recency in the composite",
            "frequencyWeight": "share of use",
            "intrinsicWeight": "share of importance and confidence",
            "searchBoostMin": "the least that decay leaves of a score",
            "staleThreshold": "composite below this is called stale",
            "betaCore": "shape of the curve for core memories",
            "betaWorking": "for working ones",
            "betaPeripheral": "for peripheral ones",
            "coreDecayFloor": "a core memory never counts as less",
            "workingDecayFloor": "a working one",
            "peripheralDecayFloor": "a peripheral one",
        },
    ),
)


@cache
def _groups() -> tuple[tuple[str, str, Mapping[str, str]], ...]:
    """All groups; what counts in our own recipe is told as it is declared."""
    weights = {
        "profile": "whose weights: dialogue, or notes",
        "signals": "of plain signals, each by its name",
        **explain.weight_words(),
        "recency": "newer ones gain when asked for, always, never",
        "following": "best ones whose next memory becomes a candidate",
        "pool": "candidates of each search",
        "minScore": "a score below this is not returned",
    }
    return (*_GROUPS[:-1], ("WEIGHTS", "memtui", weights), _GROUPS[-1])


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return figure(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(str(k))} {_value(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value(v) for v in value)
    return one_line(str(value))


def sections(config: Mapping[str, Any]) -> list[SheetSection]:
    """The resolved configuration as sections; keys that nobody described are listed at the end."""
    out: list[SheetSection] = []
    told: set[tuple[str, str]] = set()
    for heading, block, meanings in _groups():
        values = config.get(block)
        if not isinstance(values, Mapping):
            continue
        lines = tuple(SheetLine(key, _value(values[key]), meanings[key]) for key in meanings if key in values)
        told |= {(block, key) for key in meanings}
        if lines:
            out.append(SheetSection(heading, lines))
    if config.get("decay", ...) is None:
        out.append(
            SheetSection(
                "LIFECYCLE DECAY", (SheetLine("decay", "off", "this caller runs without a decay engine"),)
            )
        )
    rest = [
        SheetLine(key, _value(value))
        for key, value in config.items()
        if not isinstance(value, Mapping | None)
    ]
    for block, values in config.items():
        if isinstance(values, Mapping):
            rest += [
                SheetLine(f"{block}.{key}", _value(v))
                for key, v in values.items()
                if (block, key) not in told
            ]
    if rest:
        out.append(SheetSection("OTHER" if out else "SETTINGS", tuple(rest)))
    return out


# What the stages panel shows, and what the arrangement of the panels needs to know of the state.


def arrived(state: RecallState) -> tuple[list[StageSummary], list[StageSummary]]:
    """The stages to show now, and those of the recall before that have not been replaced yet."""
    before = list(stages.ran(state.trace)) if state.trace is not None else []
    if state.phase != "running":
        return before, []
    now = list(state.stages)
    names = {stage.name for stage in now}
    seen = max((i for i, stage in enumerate(before) if stage.name in names), default=-1)
    return now, [stage for stage in before[seen + 1 :] if stage.name not in names]


def stage_timings(state: RecallState, width: int) -> list[StageTiming]:
    """One line for each stage; on a narrow screen the short ones together."""
    now, awaited = arrived(state)
    return stages.laps(now, stale=awaited, merged=size_class(width) == "narrow")


def disagreements(state: RecallState, app: Host) -> list[Content]:
    """Memories that came back though a newer one says otherwise."""
    return results.disagreements(state.radar, app.now_ms(), app.glyphs, app.keys.cap("recall.replace"))


def stage_notes(state: RecallState, app: Host, width: int) -> tuple[Content, ...]:
    """What to know of the recall beside its stages; before one, what the chosen recipe is."""
    if state.trace is None or state.phase == "running":
        info = recipe_named(recipes_of(app.session.engine), state.form.recipe)
        if info is None or state.phase == "running":
            return ()
        return (
            Content.styled(one_line(info.title), "$foreground"),
            Content.styled(one_line(info.description), "$dim"),
        )
    notes = (
        *disagreements(state, app),
        *results.notes(state.trace, app.glyphs, app.keys.cap("recall.missing")),
    )
    return () if size_class(width) == "narrow" else notes


def shape_of(state: RecallState, app: Host, width: int) -> RecallShape:
    """What the arrangement needs to know of the state."""
    moves, listed = 8, state.listed
    candidate = results.candidate_of(listed, state.selected)
    if listed is not None and candidate is not None:
        moves = max(5, max((len(stages.fall(listed, c).moves) for c in listed.results), default=5))
    alone = state.trace is None and (width < NORMAL_WIDTH or app.session.engine is None)
    rows = len(stage_timings(state, width)) + len(stage_notes(state, app, width))
    return RecallShape(
        stages=0 if alone and not state.stages else rows,
        results=len(listed.results) if listed is not None else 0,
        moves=moves,
        dropped=state.shown == "dropped",
        zoom=state.zoom,
        answered=candidate is not None,
    )
