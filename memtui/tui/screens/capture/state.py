"""What Capture knows: conversations, the trace of one, what a person decided, and what waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memtui.engine.capture import (
        Candidate,
        CaptureRequest,
        CaptureTrace,
        CaptureVerdict,
        Conversation,
        Item,
    )


View = Literal["conversations", "inbox"]

Mark = Literal["accepted", "refused"]

VIEWS: tuple[View, ...] = ("conversations", "inbox")


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
    verdict: CaptureVerdict | None = None
    model: str = ""
    """The model that is asked, with its host; empty: rules."""
    local: bool = True
    heard: str = ""
    """What a model has said so far."""
    waiting: str = ""
    """What is being waited for, in words."""
    items: tuple[Item, ...] = ()
    done: int = 0
    item: str = ""
    zoom: str = ""

    @property
    def candidates(self) -> tuple[tuple[int, Candidate], ...]:
        """The candidates of the chosen text, with their places."""
        if self.trace is None:
            return ()
        return tuple((at, each) for at, each in enumerate(self.trace.candidates) if self.text in each.texts)

    @property
    def chosen(self) -> Item | None:
        """The item of the inbox under the cursor."""
        return next((each for each in self.items if each.id == self.item), None)

    def to_apply(self) -> tuple[int, ...]:
        """Places of the candidates that would be written: the accepted ones, or all that are not refused."""
        if self.trace is None:
            return ()
        able = [at for at, each in enumerate(self.trace.candidates) if each.writes]
        accepted = [at for at in able if self.marks.get(at) == "accepted"]
        return tuple(accepted or (at for at in able if self.marks.get(at) != "refused"))


def marked(state: CaptureState, places: tuple[int, ...], mark: Mark) -> CaptureState:
    """The state with candidates marked; the same mark again takes it off."""
    marks = dict(state.marks)
    for at in places:
        if marks.get(at) == mark:
            del marks[at]
        else:
            marks[at] = mark
    return replace(state, marks=marks)
