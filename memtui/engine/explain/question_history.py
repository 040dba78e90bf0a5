"""The history of questions, with their vectors: so that one can be asked again, even without an embedder."""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import composed
from memtui.engine.recall.request import UNSET, RecallRequest

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


MOST = 5_000
"""Questions kept; older ones go."""

_LAYOUT = """
CREATE TABLE IF NOT EXISTS questions (
    number INTEGER PRIMARY KEY, asked_ms INTEGER NOT NULL, store TEXT NOT NULL, query TEXT NOT NULL,
    recipe TEXT NOT NULL, request TEXT NOT NULL, returned TEXT NOT NULL, model TEXT NOT NULL, vector BLOB
);
CREATE INDEX IF NOT EXISTS by_store ON questions (store, asked_ms DESC);
"""


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """One question that was asked."""

    number: int
    asked_ms: int
    store: str
    query: str
    recipe: str
    returned: tuple[str, ...]
    """The ids that came back, in order."""
    model: str
    """The model of its vector; empty where it has none."""
    dims: int
    request: Mapping[str, Any]

    def as_request(self) -> RecallRequest:
        """The request as it was asked, without its vector (see `History.vector`)."""
        fields = dict(self.request)
        source = fields.pop("source", None) if "source" in fields else UNSET
        return RecallRequest(self.query, recipe=self.recipe, source=source, **fields)


class History:
    """The questions in the file `path`, which need not exist. Safe beside another memtui; readable by the user only.

    Keys and passwords are masked in questions, and settings are kept without keys. Every method raises
    MemtuiError when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, trace: Trace, *, store: str, asked_ms: int, model: str = "") -> int:
        """Keep the question of `trace` and return its number; asked of the same store again, it replaces the older."""
        query, masked = mask(trace.query)
        vector = None if masked else trace.query_vector
        row = (
            asked_ms,
            store,
            query,
            trace.recipe,
            json.dumps(_request(trace), ensure_ascii=False),
            json.dumps(list(trace.returned)),
            model if vector is not None else "",
            None if vector is None else array("f", [float(x) for x in vector]).tobytes(),
        )
        with self._open() as db:
            db.execute(
                "DELETE FROM questions WHERE store = ? AND query = ? AND recipe = ? AND request = ?",
                (store, query, trace.recipe, row[4]),
            )
            cursor = db.execute(
                "INSERT INTO questions (asked_ms, store, query, recipe, request, returned, model, vector)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            db.execute(
                "DELETE FROM questions WHERE number NOT IN"
                " (SELECT number FROM questions ORDER BY asked_ms DESC, number DESC LIMIT ?)",
                (MOST,),
            )
            return int(cursor.lastrowid or 0)

    def search(
        self, text: str = "", *, store: str | None = None, limit: int = 50
    ) -> tuple[PastQuestion, ...]:
        """Questions that hold every word of `text`, newest first; of all stores unless one is named."""
        conditions, values = ["1"], []
        for word in text.split():
            conditions.append("instr(folded(query), ?)")
            values.append(_folded(word))
        if store is not None:
            conditions.append("store = ?")
            values.append(store)
        if not self.path.exists():
            return ()
        with self._open() as db:
            rows = db.execute(
                "SELECT number, asked_ms, store, query, recipe, returned, model, length(vector), request"
                f" FROM questions WHERE {' AND '.join(conditions)} ORDER BY asked_ms DESC, number DESC LIMIT ?",
                (*values, limit),
            ).fetchall()
        return tuple(_question(row) for row in rows)

    def vector(self, number: int) -> list[float] | None:
        """The vector of a question; None where it has none, or the question is gone."""
        if not self.path.exists():
            return None
        with self._open() as db:
            found = db.execute("SELECT vector FROM questions WHERE number = ?", (number,)).fetchone()
        if found is None or found[0] is None:
            return None
        numbers = array("f")
        numbers.frombytes(found[0])
        return list(numbers)

    def forget(self, number: int | None = None) -> int:
        """Forget one question, or all of them, and return how many went."""
        if not self.path.exists():
            return 0
        with self._open() as db:
            if number is None:
                return db.execute("DELETE FROM questions").rowcount
            return db.execute("DELETE FROM questions WHERE number = ?", (number,)).rowcount

    def forget_words(self, text: str) -> int:
        """Forget every question that holds every word of `text`, in the file, too, and return how many went."""
        numbers = [(question.number,) for question in self.search(text, limit=MOST)]
        if numbers:
            with self._open() as db:
                db.execute("PRAGMA secure_delete = ON")
                db.executemany("DELETE FROM questions WHERE number = ?", numbers)
        return len(numbers)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            make_private_folder(self.path.parent)
            fresh = not self.path.exists()
            db = sqlite3.connect(self.path, timeout=10)
            try:
                if fresh:
                    os.chmod(self.path, 0o600)
                db.create_function("folded", 1, _folded, deterministic=True)
                with db:
                    db.executescript(_LAYOUT)
                    yield db
            finally:
                db.close()
        except (sqlite3.Error, OSError) as error:
            raise MemtuiError(
                f"The history of questions in {self.path} cannot be used.",
                fix="Check the folder's permissions, or move the file away.",
                details=str(error),
            ) from None


def _request(trace: Trace) -> dict[str, Any]:
    """What is needed to ask again beside the question, its vector and its recipe."""
    request = trace.request
    if request is None:
        return {}
    out: dict[str, Any] = {
        "config": _without_keys(request.config),
        "scopes": None if trace.asker is None or trace.asker.named is None else list(trace.asker.named),
        "category": request.category,
        "limit": request.limit,
        "agent": request.agent,
    }
    out = {key: value for key, value in out.items() if value not in (None, "")}
    if trace.asker is not None and trace.asker.sees_all:
        out["scopes"] = None
    return out if request.source is UNSET else {**out, "source": request.source}


def _without_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_keys(item) for key, item in value.items() if "key" not in str(key).lower()}
    return value


def _folded(text: str) -> str:
    """A text without differences of case, and of how its letters are stored."""
    return composed(text.casefold())


def _question(row: tuple[Any, ...]) -> PastQuestion:
    number, asked_ms, store, query, recipe, returned, model, size, request = row
    return PastQuestion(
        number,
        asked_ms,
        store,
        query,
        recipe,
        tuple(json.loads(returned)),
        model,
        (size or 0) // 4,
        json.loads(request),
    )
