"""What a capture recipe is: a value with functions, and what it is given to work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memtui.engine.access import Access, ScopePolicy
from memtui.engine.capture.chat import Chat
from memtui.engine.capture.draft import Draft
from memtui.engine.capture.trace import CaptureTrace, Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""The vectors of stored texts in order, float32 [n, dims]. Raises EmbeddingError."""


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """One conversation to capture. `scope` empty is the agent's own; `config` are the recipe's own settings."""

    messages: Sequence[Message]
    recipe: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    agent: str = "main"
    scope: str = ""
    session: str = ""
    """The session key, where the conversation has one."""


@dataclass(frozen=True, slots=True)
class CaptureContext:
    """What a recipe works with. A recipe writes through `draft` alone: nothing reaches the store before a commit."""

    draft: Draft
    embed: Embed
    now_ms: int
    new_id: Callable[[], str]
    chat: Chat | None = None
    """None: no model may be asked."""
    policy: Access = field(default_factory=ScopePolicy)


@dataclass(frozen=True, slots=True)
class CaptureRecipe:
    """One system's way from a conversation to memories.

    `needs_model` says that it makes nothing without a chat model; `defaults` are its settings with their values.
    """

    name: str
    title: str
    description: str
    run: Callable[[CaptureRequest, CaptureContext], CaptureTrace]
    needs_model: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
