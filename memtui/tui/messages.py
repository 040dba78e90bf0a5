"""Messages that more than one part of the screen understands: flat values, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message

if TYPE_CHECKING:
    from memtui.engine import Memory, MemtuiError, RecallRequest
    from memtui.engine.capture import CaptureCase


FlashKind = Literal["done", "note", "error"]


@dataclass
class RunAdvanced(Message, bubble=False):
    """A running engine call has something to show."""

    slot: str
    generation: int
    value: Any
    """Whatever the call reports: a `Progress`, a `StageSummary`, ..."""


@dataclass
class RunFinished(Message, bubble=False):
    """An engine call returned."""

    slot: str
    generation: int
    value: Any


@dataclass
class RunFailed(Message, bubble=False):
    """An engine call ended with an error, which always carries a sentence for people."""

    slot: str
    generation: int
    error: MemtuiError


@dataclass
class Flash(Message):
    """One line above the key bar; an error stays until it is dismissed."""

    text: str
    kind: FlashKind = "done"


@dataclass
class ShowInBrowse(Message):
    """Go to Browse with this filter (and these exact scopes, None for all)."""

    filter: str = ""
    scopes: tuple[str | None, ...] | None = None
    edit: bool = False
    """Put the keyboard into the filter line."""
    sort: str = ""
    """In this order; empty for the present one."""


@dataclass
class ShowMemory(Message):
    """Go to Browse and show this memory, wherever it stands in the list."""

    id: str


@dataclass
class ShowEntry(Message):
    """Go to the Journal and show this entry, or the entries that hold what is sought, with the newest of them."""

    number: int = 0
    sought: str = ""


@dataclass
class ShowFinding(Message):
    """Go to Health, look at everything, and show what was found of this kind."""

    kind: str


@dataclass
class ShowReach(Message):
    """Go to Audit and show how far this memory reached, or with none named another of its views."""

    id: str = ""
    view: Literal["reach", "sessions", "access"] = "reach"
    agent: str = ""
    """With the cursor on this one of its agents, as it was typed."""
    scope: str = ""
    """Of the rights, with the cursor on this scope."""
    days: int = 0
    """Of the sessions, those of the last so many days."""


@dataclass
class AskImport(Message):
    """Go to Transfer and say what would be imported from this path."""

    path: str


@dataclass
class AskRecall(Message):
    """Go to Recall with this question filled in."""

    query: str
    run: bool = True
    agent: str | None = None
    """Who asks; None leaves that as it is."""


@dataclass
class AskCapture(Message):
    """Go to Capture with this text, or with a conversation that was kept, and show what becomes of it."""

    text: str
    case: CaptureCase | None = None
    """The conversation, and the settings under which it is captured."""


@dataclass
class AskWhyNot(Message):
    """Go to Recall and say why this memory does not come back for the last question."""

    id: str


@dataclass
class OpenBisect(Message):
    """Go to Recall with this question, and look where this memory's rank changed over the versions."""

    request: RecallRequest
    id: str
    text: str


@dataclass
class OpenBlame(Message):
    """Say which memory this sentence of an agent rests on; without one it is asked for."""

    sentence: str = ""
    answer: str = ""
    """What is filled in where it is asked for: the answer of a turn."""
    session: str = ""
    """The session that it was said in; empty: it is looked for."""
    turn: int = 0


@dataclass
class AskExport(Message):
    """Go to Transfer and export these memories, or with none named those of a list."""

    ids: tuple[str, ...] = ()
    filter: str = ""
    scopes: tuple[str | None, ...] | None = None
    format: str = ""
    """As this, with what it loses shown at once; empty asks which memories first."""


@dataclass
class MemoryChosen(Message):
    """The cursor of a list rests on this memory; None while its page is loading or the list is empty."""

    memory: Memory | None


RIGHT_BUTTON = 3
"""Of the mouse, as Textual counts them."""


class MenuWanted(Message):
    """The right button of the mouse on a row: what can be done with it is asked for."""
