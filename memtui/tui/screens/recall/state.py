"""What the Recall screen knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine import Progress, RecallRequest, one_line
from memtui.engine.explain import with_values
from memtui.engine.recall import UNSET

if TYPE_CHECKING:
    from memtui.engine import MemtuiError, Trace
    from memtui.engine.explain import Disagreement, KeywordTree
    from memtui.engine.recall import StageSummary, WordsMet


Phase = Literal["idle", "running", "done", "failed"]

Shown = Literal["results", "dropped"]

MOST_HISTORY = 100

LIMITS = (1, 20)
"""The engine clamps to this many results, as the plugin does."""


@dataclass(frozen=True, slots=True)
class Form:
    """A question and its options. None and empty mean: as the recipe has it."""

    query: str = ""
    recipe: str = ""
    limit: int | None = None
    scopes: tuple[str, ...] | None = None
    """The scopes that are named; None leaves them to the recipe: an agent's searches what the agent may read."""
    category: str | None = None
    source: str | None = None
    """The caller; None keeps the recipe's own."""
    tried: tuple[tuple[str, Any], ...] = ()
    """What else is tried: settings by their path, the clock, the table version, a given question vector."""
    agent: str = ""
    """Who asks; empty is the store's own agent."""
    everyone: bool = False
    """All scopes, which no agent sees."""

    def request(self) -> RecallRequest:
        """The same for the engine."""
        options: dict[str, Any] = {} if self.source is None else {"source": self.source}
        request = RecallRequest(
            query=self.query,
            recipe=self.recipe,
            limit=self.limit,
            scopes=self.scopes if self.scopes is not None else None if self.everyone else UNSET,
            agent=self.agent,
            category=self.category,
            **options,
        )
        return with_values(request, dict(self.tried))

    @property
    def own(self) -> Form:
        """The same without anything tried."""
        return replace(self, tried=())


@dataclass(frozen=True, slots=True)
class RecallState:
    """`trace` is on the screen; while a recall runs or after it failed it answers an older form."""

    form: Form = Form()
    phase: Phase = "idle"
    asked: Form | None = None
    """What runs now, or what ran last."""
    answered: Form | None = None
    """What `trace` answers."""
    stages: tuple[StageSummary, ...] = ()
    """What has finished of the running recall."""
    trace: Trace | None = None
    told: Mapping[str, CandidateStory] = field(default_factory=dict)
    """The stories of the candidates of `trace`, as far as they are written."""
    radar: tuple[Disagreement, ...] = ()
    """Newer memories that say otherwise than results of `trace`, once that was looked for."""
    error: MemtuiError | None = None
    selected: str = ""
    """Id of the memory whose score is taken apart: a result or a dropped one."""
    shown: Shown = "results"
    """Which list is on the screen where there is room for one only."""
    zoom: str = ""
    history: tuple[str, ...] = ()
    """Questions asked in this session, oldest first, each once."""
    at: int | None = None
    """Place in `history` while walking through it."""
    draft: str = ""
    """What was being typed before walking through the history."""

    @property
    def waits(self) -> str:
        """What the question waits for, where that takes long; empty otherwise."""
        running = self.stages if self.phase == "running" else ()
        return next((stage.note for stage in running if stage.begins), "")

    @property
    def fetched(self) -> Progress | None:
        """How much is there of what the question waits for; None while nothing is."""
        running = self.stages if self.phase == "running" else ()
        found = next((stage for stage in running if stage.begins and stage.n_out), None)
        return None if found is None else Progress("fetching", found.n_out, found.n_in, "vectors")

    @property
    def stale(self) -> bool:
        """Whether the screen shows an answer to another question than the one that is asked."""
        return self.trace is not None and self.phase in ("running", "failed")

    @property
    def listed(self) -> Trace | None:
        """The trace whose memories the lists show: that of the words alone where the recall failed."""
        alone = self.trace.words_alone if self.trace is not None else None
        return self.trace if alone is None else alone

    @property
    def edited(self) -> bool:
        """Whether question or options have changed since the answer."""
        return self.answered is not None and self.form != self.answered


def title_of(query: str) -> str:
    """A question as its line shows it: on one line, harmless."""
    return one_line(query)


def edit(state: RecallState, **changes: Any) -> RecallState:
    """Change the question or an option; nothing runs.

    A vector that was given for another question goes, and so do another recipe's settings.
    """
    form = state.form
    if "tried" not in changes:
        tried = form.tried
        if changes.get("query", form.query) != form.query:
            tried = tuple(pair for pair in tried if pair[0] != "query_vector")
        if changes.get("recipe", form.recipe) != form.recipe:
            tried = tuple(pair for pair in tried if "." not in pair[0])
        changes["tried"] = tried
    return replace(state, form=replace(state.form, **changes))


_SLOTS = ("query", "recipe", "limit", "scopes", "agent", "everyone", "category", "source")


def turned(state: RecallState, changes: Mapping[str, Any]) -> RecallState:
    """Try these (settings by path, fields of the request) beside what is tried already; None takes one back.

    Another recipe has other settings: those of the old one go.
    """
    slots = {name: value for name, value in changes.items() if name in _SLOTS}
    if "scopes" in slots:
        slots["everyone"] = slots["scopes"] is None
        slots["scopes"] = None if slots["scopes"] is None else tuple(slots["scopes"])
    tried = dict(edit(state, recipe=slots.get("recipe", state.form.recipe)).form.tried)
    for name, value in changes.items():
        if name not in _SLOTS:
            tried.pop(name, None)
            if value is not None:
                tried[name] = value
    return edit(state, **slots, tried=tuple(tried.items()))


def fields(form: Form) -> dict[str, Any]:
    """A form as changes of another one."""
    return {each.name: getattr(form, each.name) for each in dataclass_fields(form)}


def typed(state: RecallState, text: str) -> RecallState:
    """The question line changed. A line that still shows the present question keeps it whole."""
    if text == title_of(state.form.query):
        return state
    return replace(edit(state, query=text), at=None)


def limit_by(state: RecallState, by: int, default: int) -> RecallState:
    """One result more or fewer, within what the engine allows."""
    low, high = LIMITS
    now = default if state.form.limit is None else state.form.limit
    return edit(state, limit=max(low, min(high, now + by)))


def can_ask(state: RecallState) -> bool:
    """Whether there is a question."""
    return bool(state.form.query.strip())


def submit(state: RecallState) -> RecallState:
    """Ask: the old answer stays until the new one is there."""
    query = state.form.query
    history = (*(q for q in state.history if q != query), query)[-MOST_HISTORY:]
    return replace(
        state,
        phase="running",
        asked=state.form,
        stages=(),
        error=None,
        history=history,
        at=None,
        draft="",
    )


def add_stage(state: RecallState, stage: StageSummary) -> RecallState:
    """One more stage of the running recall has finished, or one that takes long has gone on."""
    before = state.stages[:-1] if stage.begins and state.stages and state.stages[-1].begins else state.stages
    return replace(state, stages=(*before, stage))


def finish(state: RecallState, trace: Trace) -> RecallState:
    """The answer is there. The selection stays where the memory is still a result."""
    ids = [candidate.id for candidate in (trace.words_alone or trace).results]
    selected = state.selected if state.selected in ids else (ids[0] if ids else "")
    if not ids and trace.candidates:
        selected = trace.candidates[0].id
    return replace(
        state,
        phase="done",
        trace=trace,
        told={},
        radar=(),
        answered=state.asked,
        stages=(),
        error=None,
        selected=selected,
        shown="results",
    )


def warn(state: RecallState, found: tuple[Disagreement, ...]) -> RecallState:
    """The radar has looked."""
    return replace(state, radar=found)


def tell(state: RecallState, told: Mapping[str, CandidateStory]) -> RecallState:
    """More stories are written."""
    return replace(state, told={**state.told, **told})


def answered(state: RecallState, form: Form, trace: Trace) -> RecallState:
    """Another form and its answer, found elsewhere."""
    return finish(replace(state, form=form, asked=form), trace)


def fail(state: RecallState, error: MemtuiError) -> RecallState:
    """The recall ended with an error; what was on the screen stays."""
    return replace(state, phase="failed", error=error)


def give_up(state: RecallState) -> RecallState:
    """The person stopped the running recall, or put the error away."""
    return replace(state, phase="done" if state.trace is not None else "idle", stages=(), error=None)


def select(state: RecallState, id: str) -> RecallState:
    """Another memory is taken apart."""
    return replace(state, selected=id)


def step_result(state: RecallState, by: int) -> RecallState:
    """The result before or after the selected one, stopping at the ends."""
    ids = [c.id for c in state.listed.results] if state.listed is not None else []
    if not ids:
        return state
    if state.selected not in ids:
        return replace(state, selected=ids[0], shown="results")
    at = max(0, min(len(ids) - 1, ids.index(state.selected) + by))
    return replace(state, selected=ids[at], shown="results")


def show(state: RecallState, shown: Shown) -> RecallState:
    """Which of the two lists is on the screen."""
    return replace(state, shown=shown)


def zoomed(state: RecallState, panel: str) -> RecallState:
    """One panel fills the screen, or all are back."""
    return replace(state, zoom="" if state.zoom else panel)


def earlier(state: RecallState) -> RecallState:
    """The question before this one in the history."""
    if not state.history or state.at == 0:
        return state
    draft = state.form.query if state.at is None else state.draft
    last = len(state.history) - 1
    at = last if state.at is None else state.at - 1
    if state.at is None and at > 0 and state.history[at] == state.form.query:
        at -= 1
    return replace(edit(state, query=state.history[at]), at=at, draft=draft)


def later(state: RecallState) -> RecallState:
    """The question after this one; after the newest what was being typed."""
    if state.at is None:
        return state
    if state.at >= len(state.history) - 1:
        return replace(edit(state, query=state.draft), at=None, draft="")
    return replace(edit(state, query=state.history[state.at + 1]), at=state.at + 1)


# The story of each candidate in words, and which word met which: made behind the answer, results first.


@dataclass(frozen=True, slots=True)
class CandidateStory:
    """What is said of one candidate beside its numbers."""

    story: str
    """How it was found, what pushed it, what it gained and lost."""
    words: WordsMet | None
    """Word by word by the bundled model; None where that cannot be read."""
    keywords: KeywordTree | None = None
    """Its keyword score, word by word; None where keywords did not find it."""
