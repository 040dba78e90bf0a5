"""A case: a question with the memories that should, and should not, come back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.private_file import write_private
from memtui.engine.demo.content import questions
from memtui.engine.demo.rows import memory_id
from memtui.engine.recall.request import UNSET

Verdict = Literal["right", "wrong", "expected"]
"""right: it came back and should. wrong: it came back and should not. expected: it should come back."""

MOST = 3
"""The best grade."""

MOST_RESULTS = 50
"""Results that can count at the most."""


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
    grades: tuple[tuple[str, int], ...] = ()
    """How well expected memories answer, 1 to 3, where somebody said so; who is not named has the best grade."""
    k: int | None = None
    """How many results count for this question, where it says so itself; else what the run says."""

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

    def grade(self, memory_id: str) -> int | None:
        """How well a memory answers: 3 answers it, 2 helps, 1 touches it, 0 does not belong; None where not judged."""
        if memory_id in self.rejected:
            return 0
        return dict(self.grades).get(memory_id, MOST) if memory_id in self.expected else None

    def graded(self, memory_id: str, grade: int) -> Case:
        """The case with one memory graded from 0 to 3; 0 rejects it."""
        left = self.without(memory_id)
        if grade <= 0:
            return left.marked(memory_id, "wrong")
        pair = (memory_id, min(grade, MOST))
        return replace(left.marked(memory_id, "right"), grades=(*left.grades, pair))

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
            grades=tuple(grade for grade in self.grades if grade[0] != memory_id),
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
            **({"grades": dict(self.grades)} if self.grades else {}),
            **({"k": self.k} if self.k is not None else {}),
        }


def case_id(
    query: str, scopes: tuple[str, ...] | None, category: str | None, agent: str, everyone: bool = False
) -> str:
    """Return the id of a case: the same question under the same filters has the same one."""
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
            isinstance(given, list) and all(isinstance(item, str) for item in given)
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
        grades=_grades(value.get("grades"), lists["expected"], where),
        k=_own_k(value.get("k"), where),
    )


def _own_k(given: Any, where: str) -> int | None:
    """How many results count for the case itself; None where it does not say so."""
    if given is None:
        return None
    if type(given) is not int or not 1 <= given <= MOST_RESULTS:
        raise UsageError(f"k of {where} is {given!r}.", fix=f"Give a number from 1 to {MOST_RESULTS}.")
    return given


def _grades(given: Any, expected: tuple[str, ...], where: str) -> tuple[tuple[str, int], ...]:
    """The grades of expected memories; what is said of others counts for nothing."""
    if given is None:
        return ()
    known = (1, 2, MOST)
    if not isinstance(given, Mapping) or not all(
        type(item) is int and item in known for item in given.values()
    ):
        raise UsageError(
            f"grades of {where} are not numbers from 1 to {MOST} by id.",
            fix='Write {"<id>": 2}; a memory of grade 0 stands among the rejected.',
        )
    return tuple((each, grade) for each, grade in given.items() if each in expected)


# The cases of one store, kept in a file beside memtui's other state.

VERSION = 1


class CaseBook:
    """The cases in `path` (it need not exist). Every change is written at once, as one atomic replacement.

    A change reads the file anew first, so that two running memtuis add to the same book.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def cases(self) -> tuple[Case, ...]:
        """All cases, oldest first. Raises MemtuiError when the file is not a case book."""
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, RecursionError) as error:
            raise MemtuiError(
                f"The cases in {self.path} cannot be read.",
                fix="Repair or move the file away.",
                details=str(error),
            ) from None
        if not isinstance(value, dict) or not isinstance(value.get("cases"), list):
            raise MemtuiError(f"{self.path} is not a case book.", fix="Repair or move the file away.")
        return tuple(
            case_from(case, f"case {number} of {self.path}") for number, case in enumerate(value["cases"], 1)
        )

    def find(
        self,
        query: str,
        scopes: tuple[str, ...] | None,
        category: str | None,
        agent: str = "",
        everyone: bool = False,
    ) -> Case | None:
        """The case of this question, if there is one."""
        wanted = case_id(query, scopes, category, agent, everyone)
        return next((case for case in self.cases() if case.id == wanted), None)

    def put(self, case: Case) -> None:
        """Add a case, or replace the one with its id."""
        self.put_all([case])

    def put_all(self, cases: Iterable[Case]) -> None:
        """Add or replace several in one step."""
        kept = {case.id: case for case in self.cases()}
        kept.update((case.id, case) for case in cases)
        self._write(tuple(kept.values()))

    def mark(
        self,
        query: str,
        memory_id: str,
        verdict: Verdict,
        *,
        now_ms: int,
        scopes: tuple[str, ...] | None = None,
        category: str | None = None,
        agent: str = "",
        query_vector: tuple[float, ...] | None = None,
        everyone: bool = False,
    ) -> Case:
        """Judge one memory for a question; the case is made when it is not there yet."""
        found = self.find(query, scopes, category, agent, everyone)
        case = found or new_case(
            query,
            now_ms=now_ms,
            scopes=scopes,
            category=category,
            agent=agent,
            query_vector=query_vector,
            everyone=everyone,
        )
        case = case.marked(memory_id, verdict)
        self.put(case)
        return case

    def remove(self, id_or_prefix: str) -> Case:
        """Take a case out. Raises UsageError when none or several match."""
        cases = self.cases()
        found = [case for case in cases if case.id.startswith(id_or_prefix)]
        if len(found) != 1:
            what = "No case has" if not found else f"{len(found)} cases have"
            raise UsageError(
                f"{what} an id that begins with {id_or_prefix!r}.", fix="See: memtui cases list."
            )
        self._write(tuple(case for case in cases if case.id != found[0].id))
        return found[0]

    def _write(self, cases: tuple[Case, ...]) -> None:
        text = json.dumps(
            {"version": VERSION, "cases": [case.as_json() for case in cases]}, ensure_ascii=False, indent=1
        )
        write_private(self.path, text + "\n")


# The demo store's telling questions as cases.


def demo_cases(now_ms: int) -> tuple[Case, ...]:
    """One case a question: the keys it names become ids."""
    return tuple(
        Case(
            id=case_id(question.query, question.scopes, None, ""),
            query=question.query,
            expected=tuple(memory_id(key) for key in question.expected),
            rejected=tuple(memory_id(key) for key in question.unexpected),
            scopes=question.scopes,
            note=question.shows,
            created_ms=now_ms,
        )
        for question in questions()
    )
