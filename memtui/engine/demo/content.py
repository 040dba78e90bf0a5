"""The demo's hand-written memories, its questions and its planted problems: files beside this one."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Kind = Literal[
    "invariant", "derived", "event", "lesson", "decision", "user-model", "agent-model", "session-summary"
]


@dataclass(frozen=True, slots=True)
class DemoRecord:
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
class DemoQuestion:
    """A question that shows something. `expected` and `unexpected` are keys of memories, the best first."""

    id: str
    query: str
    shows: str
    expected: tuple[str, ...]
    unexpected: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    """Only memories of these scopes; None asks the whole store."""
    offered: str = ""
    """What it is about, in a few words, for a person who has asked nothing yet; blank ones are not offered."""


@dataclass(frozen=True, slots=True)
class PlantedProblem:
    """Something wrong that was put into the demo on purpose, and the keys of the memories that have it."""

    name: str
    what: str
    keys: tuple[str, ...]


@cache
def records() -> tuple[DemoRecord, ...]:
    """All memories, oldest first."""
    found: list[DemoRecord] = []
    for file in (files(__package__) / "memories").iterdir():
        for line in file.read_text("utf-8").splitlines():
            values = json.loads(line)
            found.append(DemoRecord(**{**values, "used": tuple(values.get("used", (0, 0.0)))}))
    return tuple(sorted(found, key=lambda each: (-each.age, each.key)))


@cache
def questions() -> tuple[DemoQuestion, ...]:
    """Questions for pictures and saved cases; two of them have no answer."""
    return tuple(
        DemoQuestion(
            id=each["id"],
            query=each["query"],
            shows=each["shows"],
            expected=tuple(each["expected"]),
            unexpected=tuple(each.get("unexpected", ())),
            scopes=tuple(each["scopes"]) if "scopes" in each else None,
            offered=each.get("offered", ""),
        )
        for each in _toml("questions.toml")["question"]
    )


@cache
def problems() -> tuple[PlantedProblem, ...]:
    """What is wrong with the demo store, completely."""
    return tuple(
        PlantedProblem(each["name"], each["what"], tuple(each["keys"]))
        for each in _toml("planted.toml")["problem"]
    )


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text("utf-8"))


# What in a demo text depends on the day, and what must not stand in the repository as it is.

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_MARK = re.compile(r"\{(?:(date|iso|month|monthnum):(-?\d+)|(fake_token))\}")


def worded(text: str, now_ms: int) -> str:
    """`text` with its marks filled in.

    `{date:12}` is the day twelve days before `now_ms` (UTC) as "14 October", `{iso:12}` as 2026-10-14,
    `{month:12}` its month's name, `{monthnum:12}` 2026_10; `{fake_token}` looks like a secret.
    """
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()

    def fill(mark: re.Match[str]) -> str:
        form, days, token = mark.groups()
        return fake_token() if token else _day(form, today - timedelta(days=int(days)))

    return _MARK.sub(fill, text)


def fake_token() -> str:
    """A made-up key in the shape of a real one, put together here so that no scanner finds it in a file."""
    return "-".join(("sk", "FAKE" + "0demo0only" * 4))


def _day(form: str, day: date) -> str:
    month = _MONTHS[day.month - 1]
    forms = {"date": f"{day.day} {month}", "iso": day.isoformat(), "month": month}
    return forms.get(form, f"{day.year}_{day.month:02}")
