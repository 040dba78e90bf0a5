"""What a tool is: a name, a sentence that says when to call it, its arguments, its answer, its hints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict


class Arguments(BaseModel):
    """Arguments of a tool, as `read_arguments` gives them: none is unknown."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """Structured content of a tool's answer."""

    model_config = ConfigDict(extra="forbid")


class Details(Answer):
    """The plugin's `details`, whose members differ from answer to answer."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer twice: as data, and as the text that a model reads."""

    data: Answer
    text: str
    asks: tuple[str, ...] = ()
    """Of a preview: what a person is asked before it is done, line by line."""
    notes: tuple[str, ...] = ()
    """What a model should know of the answer; they go into its data: many hosts hand on nothing else."""
    confirm: str = ""
    """Of a preview: the token that does it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` gets a door and arguments, works on a thread, raises ToolError for what a model can put right."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type[Answer]
    run: Callable[[Any, Any], Reply]  # a door knows its tools; a tool's own `run` is typed with it
    writes: bool = False
    destructive: bool = False
    idempotent: bool = True
    order: int = 0
