"""What a capture recipe is: a value with functions, and what it is given to work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from memtui.engine.access import Access, ScopePolicy
from memtui.engine.capture.chat import Chat
from memtui.engine.capture.draft import Draft
from memtui.engine.capture.prompts import OWN, Prompt
from memtui.engine.capture.trace import CaptureText, CaptureTrace, Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Steps = tuple[tuple[str, tuple[str, ...]], ...]
"""(what is asked, the gates under which a trace tells that it stopped a text); "" stands for every other gate."""

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
    """One system's way from a conversation to memories. Others decide by its values, never by its name."""

    name: str
    title: str
    description: str
    run: Callable[[CaptureRequest, CaptureContext], CaptureTrace]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Its settings with their values."""
    steps: Steps = ()
    """What a text must pass, in order."""
    openings: tuple[str, ...] = ("Remember", "Decision, we will use this", "I prefer this")
    """Words before a text with which it may be kept."""
    settings_for: Callable[[CaptureText, Mapping[str, Any]], list[tuple[str, Any]]] | None = None
    """Settings that belong to the gate that stopped a text, the nearest value first; None: by the common names."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """Gates at which a known fault of the system loses more than the rule means to."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: OWN)
    """What a model is asked, by purpose."""
    model_setting: str = ""
    """The setting that has a model asked; empty: a model is asked where there is one."""
    recorded: tuple[str, ...] = ()
    """Settings that a recording holds as they were resolved."""
    by_steps: bool = False
    """Whether a recording holds steps of the plugin's own, which the plugin plays."""


class CaptureModule(Protocol):
    """What a module has that brings a capture recipe: ours, and those of extensions (`memtui.capture_recipes`)."""

    PROTOCOL: int
    """The version of this protocol that the module was written for: 1."""
    RECIPE: CaptureRecipe
    """Its recipe. The entry point of an extension has the recipe's name."""
