"""The cases of one store, kept in a file beside memtui's other state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from memtui.engine.cases.case import Case, Verdict, case_from, case_id, new_case
from memtui.engine.errors import MemtuiError, UsageError

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
            case_from(each, f"case {number} of {self.path}") for number, each in enumerate(value["cases"], 1)
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
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(
            {"version": VERSION, "cases": [case.as_json() for case in cases]}, ensure_ascii=False, indent=1
        )
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        beside.write_text(text + "\n", encoding="utf-8")
        os.replace(beside, self.path)
