"""The demo's hand-written memories, its questions and its planted problems: files beside this one."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Kind = Literal[
    "invariant", "derived", "event", "lesson", "decision", "user-model", "agent-model", "session-summary"
]


@dataclass(frozen=True, slots=True)
class Record:
    """One line of `memories/*.jsonl`. Ages are days before the demo's midnight; negative is the future."""

    key: str
    """Unique, and for ever: the memory's id is made from it."""
    scope: str | None
    category: str
    age: float
    importance: float
    tier: str
    text: str
    used: tuple[int, float] = (0, 0.0)
    """How often it was recalled, and how many days ago for the last time."""
    source: str = ""
    state: str = "confirmed"
    layer: str = ""
    confidence: float = 0.7
    supersedes: str = ""
    """Key of the version before."""
    until: float | None = None
    """Valid until so many days ago."""
    overview: str = ""
    content: str = ""
    kind: Kind | None = None
    """A row of the reflection or session machinery, which has metadata of its own."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """More metadata; {"ago": days} stands for a time, {"key": k} for an id."""
    raw_metadata: str | None = None
    """Stored in place of a metadata object."""
    seconds: bool = False
    """The timestamp column holds seconds."""
    vector: Literal["text", "zero"] = "text"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that shows something. `expected` and `unexpected` are keys of memories, the best first."""

    id: str
    query: str
    shows: str
    expected: tuple[str, ...]
    unexpected: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    """Only memories of these scopes; None asks the whole store."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong that was put into the demo on purpose, and the keys of the memories that have it."""

    name: str
    what: str
    keys: tuple[str, ...]


@cache
def records() -> tuple[Record, ...]:
    """All memories, oldest first."""
    found: list[Record] = []
    for file in (files(__package__) / "memories").iterdir():
        for line in file.read_text("utf-8").splitlines():
            values = json.loads(line)
            found.append(Record(**{**values, "used": tuple(values.get("used", (0, 0.0)))}))
    return tuple(sorted(found, key=lambda each: (-each.age, each.key)))


@cache
def questions() -> tuple[Question, ...]:
    """Twelve questions for pictures and saved cases."""
    return tuple(
        Question(
            id=each["id"],
            query=each["query"],
            shows=each["shows"],
            expected=tuple(each["expected"]),
            unexpected=tuple(each.get("unexpected", ())),
            scopes=tuple(each["scopes"]) if "scopes" in each else None,
        )
        for each in _toml("questions.toml")["question"]
    )


@cache
def problems() -> tuple[Problem, ...]:
    """What is wrong with the demo store, completely."""
    return tuple(
        Problem(each["name"], each["what"], tuple(each["keys"])) for each in _toml("planted.toml")["problem"]
    )


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text("utf-8"))
