"""A case: a question with the memories that should, and should not, come back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from memtui.engine.errors import UsageError
from memtui.engine.recall.request import UNSET

Verdict = Literal["right", "wrong", "expected"]
"""right: it came back and should. wrong: it came back and should not. expected: it should come back."""


@dataclass(frozen=True, slots=True)
class Case:
    """One saved question.

    A case that names no memory asks for silence: nothing should come back. One that only rejects memories is
    judged by those alone. `scopes` None leaves them to the recipe: an agent's asks what the agent may read.
    """

    id: str
    query: str
    expected: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    category: str | None = None
    agent: str = ""
    query_vector: tuple[float, ...] | None = None
    note: str = ""
    created_ms: int = 0
    everyone: bool = False
    """Whether it asks in all scopes even where an agent would not see them."""

    @property
    def searched(self) -> Any:
        """The scopes for a request: those named, None for all of them, UNSET for what the agent may read."""
        return None if self.everyone else UNSET if self.scopes is None else self.scopes

    @property
    def silent(self) -> bool:
        """Whether nothing should come back."""
        return not self.expected and not self.rejected

    def verdict(self, memory_id: str) -> Literal["expected", "rejected", ""]:
        """What the case says of a memory."""
        if memory_id in self.expected:
            return "expected"
        return "rejected" if memory_id in self.rejected else ""

    def marked(self, memory_id: str, verdict: Verdict) -> Case:
        """The case with one memory judged; a later judgement replaces an earlier one."""
        left = self.without(memory_id)
        if verdict == "wrong":
            return replace(left, rejected=(*left.rejected, memory_id))
        return replace(left, expected=(*left.expected, memory_id))

    def without(self, memory_id: str) -> Case:
        """The case with no word about a memory."""
        return replace(
            self,
            expected=tuple(each for each in self.expected if each != memory_id),
            rejected=tuple(each for each in self.rejected if each != memory_id),
        )

    def as_json(self) -> dict[str, Any]:
        """The case as it is saved."""
        return {
            "id": self.id,
            "query": self.query,
            "expected": list(self.expected),
            "rejected": list(self.rejected),
            "scopes": None if self.scopes is None else list(self.scopes),
            "category": self.category,
            "agent": self.agent,
            "query_vector": None if self.query_vector is None else list(self.query_vector),
            "note": self.note,
            "created_ms": self.created_ms,
            **({"all_scopes": True} if self.everyone else {}),
        }


def case_id(
    query: str, scopes: tuple[str, ...] | None, category: str | None, agent: str, everyone: bool = False
) -> str:
    """The same question under the same filters is the same case."""
    named = "*" if everyone else "\0".join(scopes) if scopes is not None else "-"
    parts = [query, named, category or "-", agent]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def new_case(
    query: str,
    *,
    now_ms: int,
    scopes: tuple[str, ...] | None = None,
    category: str | None = None,
    agent: str = "",
    query_vector: tuple[float, ...] | None = None,
    everyone: bool = False,
) -> Case:
    """A case of which nothing has been judged yet: it asks for silence."""
    return Case(
        id=case_id(query, scopes, category, agent, everyone),
        query=query,
        everyone=everyone,
        scopes=scopes,
        category=category,
        agent=agent,
        query_vector=query_vector,
        created_ms=now_ms,
    )


def case_from(value: Any, where: str) -> Case:
    """A case from its saved form; UsageError that names `where` when it is not one."""
    if (
        not isinstance(value, Mapping)
        or not isinstance(value.get("query"), str)
        or not value["query"].strip()
    ):
        raise UsageError(f"{where} is not a case.", fix='Write {"query": "...", "expected": ["<id>", ...]}.')
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("expected", "rejected", "scopes"):
        given = value.get(key)
        if given is not None and not (
            isinstance(given, list) and all(isinstance(each, str) for each in given)
        ):
            raise UsageError(
                f"{key} of {where} is not a list of texts.", fix="Write a list of ids (or scopes)."
            )
        lists[key] = tuple(given or ())
    scopes = None if value.get("scopes") is None else lists["scopes"]
    vector = value.get("query_vector")
    category = value.get("category")
    agent = str(value.get("agent") or "")
    everyone = value.get("all_scopes") is True
    return Case(
        id=str(value.get("id") or case_id(value["query"], scopes, category, agent, everyone)),
        everyone=everyone,
        query=value["query"],
        expected=lists["expected"],
        rejected=lists["rejected"],
        scopes=scopes,
        category=category,
        agent=agent,
        query_vector=None if vector is None else tuple(float(x) for x in vector),
        note=str(value.get("note") or ""),
        created_ms=int(value.get("created_ms") or 0),
    )
