"""What Capture knows: conversations, the trace of one, what a person decided, and what waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from memtui.engine.capture import (
        CaptureCandidate,
        CaptureRequest,
        CaptureTrace,
        CaptureVerdict,
        Conversation,
        Funnel,
        FunnelDay,
        Item,
        Otherwise,
        Remedy,
        Run,
    )
    from memtui.engine.changes import ChangeSet, RecallEffect
    from memtui.engine.witness import SessionFile


View = Literal["conversations", "inbox", "funnel", "jobs"]

Mark = Literal["accepted", "refused"]

NOWHERE = -1
"""No entry of the journal."""

VIEWS: tuple[View, ...] = ("conversations", "inbox", "funnel", "jobs")


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation of the list; `conversation` is None until it was read."""

    key: str
    title: str
    path: str = ""
    at_ms: int = 0
    conversation: Conversation | None = None
    kept: int | None = None
    """Memories that came of it; None: not captured yet."""
    recipe: str = ""
    """By which it is captured; empty: by memtui's own."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the recipe."""
    held: tuple[tuple[str, str], ...] | None = None
    """(role, text with secrets masked) of its first messages; None until they were read to be shown."""
    session: SessionFile | None = None
    """The agent's session that it is; None for a file that a person took."""
    fault: str = ""
    """Why it cannot be read; empty where it can, or was not tried."""


@dataclass(frozen=True, slots=True)
class JobPreview:
    """What a job would change: `changes` to agree to, what it counted, and faults of the original it would meet."""

    job: str
    changes: ChangeSet
    notes: tuple[str, ...] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class CaptureState:
    """Everything that is shown."""

    view: View = "conversations"
    talks: tuple[Talk, ...] = ()
    talk: str = ""
    request: CaptureRequest | None = None
    trace: CaptureTrace | None = None
    text: int = 0
    """Place of the chosen text in the trace."""
    marks: Mapping[int, Mark] = field(default_factory=dict)
    """What a person decided about candidates, by place."""
    written: Mapping[int, int] = field(default_factory=dict)
    """Candidates of this run that were applied, each with the entry of the journal."""
    decided: Mapping[str, tuple[Mapping[int, Mark], Mapping[int, int]]] = field(default_factory=dict)
    """Marks and entries of the other conversations that were captured here, by their key."""
    taken_back: frozenset[int] = frozenset()
    """Entries of the journal that were taken back since, and not made again."""
    verdict: CaptureVerdict | None = None
    model: str = ""
    """The model that is asked, with its host; empty: rules."""
    local: bool = True
    heard: str = ""
    """What a model has said so far."""
    waiting: str = ""
    """What is being waited for, in words."""
    items: tuple[Item, ...] = ()
    inbox_read: bool = False
    """Whether `items` are those of the store; before, that there are none says nothing."""
    done: int = 0
    item: str = ""
    zoom: str = ""
    looks: Mapping[str, CaptureTrace] = field(default_factory=dict)
    """What rules decide about conversations that were only looked at, by their key: shown beside their texts."""
    runs: Mapping[str, Run] = field(default_factory=dict)
    """Conversations that were captured here, by their key: what the funnel counts."""
    funnel: Funnel | None = None
    otherwise: tuple[Otherwise, ...] | None = None
    """What other settings would have left; None: not replayed yet."""
    answers: Mapping[str, RecallEffect] = field(default_factory=dict)
    """What the rows would do to the questions asked here, by the setting that leaves them; "" for as it is."""
    days: tuple[FunnelDay, ...] = ()
    turned: Mapping[str, Any] = field(default_factory=dict)
    """Settings that are tried in the funnel."""
    unknown: int = 0
    """Questions that these settings would ask a model anew: what they would bring is not known."""
    span: int = 7
    """Days that the funnel looks back."""
    loss: str = ""
    """The reason under the cursor."""
    plans: Mapping[str, JobPreview] = field(default_factory=dict)
    """What jobs would change, by their name."""
    job: str = "compaction"

    @property
    def shown(self) -> Talk | None:
        """The conversation that is shown, or that the cursor stands on."""
        return next((talk for talk in self.talks if talk.key == self.talk), None)

    @property
    def remedy(self) -> Remedy | None:
        """The smallest change that a replay has shown to keep the chosen text."""
        found = () if self.verdict is None else self.verdict.remedies
        return next((remedy for remedy in found if remedy.confirmed), None)

    @property
    def candidates(self) -> tuple[tuple[int, CaptureCandidate], ...]:
        """The candidates of the chosen text, with their places."""
        if self.trace is None:
            return ()
        return tuple(
            (at, candidate)
            for at, candidate in enumerate(self.trace.candidates)
            if self.text in candidate.texts
        )

    @property
    def chosen(self) -> Item | None:
        """The item of the inbox under the cursor."""
        return next((item for item in self.items if item.id == self.item), None)

    def stands(self, at: int) -> bool:
        """Whether the candidate at this place was applied, and its entry was not taken back since."""
        return self.written.get(at, NOWHERE) not in {NOWHERE, *self.taken_back}

    def to_apply(self) -> tuple[int, ...]:
        """Places of the candidates that would be written: the accepted ones, or all that are not refused."""
        if self.trace is None:
            return ()
        able = [at for at, candidate in enumerate(self.trace.candidates) if candidate.writes]
        accepted = [at for at in able if self.marks.get(at) == "accepted"]
        fresh = (at for at in able if self.marks.get(at) != "refused" and not self.stands(at))
        return tuple(accepted or fresh)


def marked(state: CaptureState, places: tuple[int, ...], mark: Mark) -> CaptureState:
    """The state with candidates marked; the same mark again takes it off."""
    marks = dict(state.marks)
    for at in places:
        if marks.get(at) == mark:
            del marks[at]
        else:
            marks[at] = mark
    return replace(state, marks=marks)


def put_aside(state: CaptureState) -> CaptureState:
    """The state without the capture that is shown: its trace and what was decided of it are kept for later."""
    if state.trace is None or state.request is None:
        return state
    return replace(
        state,
        runs={**state.runs, state.talk: (state.request, state.trace)},
        decided={**state.decided, state.talk: (state.marks, state.written)},
        request=None,
        trace=None,
        verdict=None,
        marks={},
        written={},
    )


def turned_to(state: CaptureState, key: str) -> CaptureState:
    """The state with another conversation: as it was captured here and decided on, or before that, as it was held."""
    state = replace(put_aside(state), talk=key)
    if key not in state.runs:
        return state
    request, trace = state.runs[key]
    marks, written = state.decided.get(key, ({}, {}))
    return replace(state, request=request, trace=trace, text=first_kept(trace), marks=marks, written=written)


def first_kept(trace: CaptureTrace) -> int:
    """The place of the first text of which something is kept; the first text where nothing is."""
    return next((at for at, text in enumerate(trace.texts) if text.fate == "kept"), 0)
