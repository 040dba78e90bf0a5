"""What becomes of each statement: new, known already, or in the place of an older one. No model is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.draft import Draft, StoredRow, VectorHit, Write
from memtui.engine.capture.recipes.memtui.likeness import SharedWordIndex, key_of, same, says, share, slot
from memtui.engine.capture.recipes.memtui.rows import new_row, supersede
from memtui.engine.capture.recipes.memtui.texts import Statement
from memtui.engine.capture.trace import CaptureCandidate, CaptureNeighbour, Verdict
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.store import sql

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FEW = 64
"""Up to so many statements each asks the index of the table; more are compared with all its rows at once."""

NEAREST = 5

SHOWN = 3

SHARED, SHARED_HERE = 0.6, 0.15
"""Share of words from which a correction without the old value is about a memory: one of long ago, one of this
conversation, which is what people take back."""

NEAR = 0.7
"""Score s = 1 / (2 - cosine) from which a stored row is called a neighbour."""

LOOKED = 0.55
"""From here on a row is looked at: one with another value of the same thing is not near."""

_IN_QUERY = 200

_BLOCK = 4096


@dataclass(slots=True)
class NearMemories:
    """What the target scope already holds near each statement, found before anything is written."""

    exact: dict[str, StoredRow]
    """Stored rows by the key of their text."""
    hits: list[list[VectorHit]]


@dataclass(slots=True)
class Decider:
    """Decides statement after statement, each with those before it in view."""

    draft: Draft
    scope: str
    now_ms: int
    new_id: Callable[[], str]
    session: str = ""
    supersedes: bool = True
    """Whether rows of this store can be no longer valid."""
    _made: list[tuple[str, StoredRow]] = field(default_factory=list)
    _keys: dict[str, int] = field(default_factory=dict)
    _slots: dict[str, int] = field(default_factory=dict)

    def all(
        self,
        statements: Sequence[Statement],
        vectors: NDArray[np.float32] | None,
        *,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> list[CaptureCandidate]:
        """A candidate for each statement, in order."""
        near = find_near(self.draft, statements, vectors, self.scope)
        postings = SharedWordIndex([statement.text for statement in statements])
        candidates: list[CaptureCandidate] = []
        for number, statement in enumerate(statements):
            if number % 256 == 0:
                if cancel is not None:
                    cancel.check()
                if on_progress is not None:
                    on_progress(Progress("deciding", number, len(statements), "statements"))
            vector = None if vectors is None else vectors[number]
            candidates.append(self.one(statement, vector, near, number, postings))
        return candidates

    def one(
        self, statement: Statement, vector: Any, near: NearMemories, number: int, postings: SharedWordIndex
    ) -> CaptureCandidate:
        """What becomes of one statement."""
        hits = near.hits[number]
        near_by = tuple(
            CaptureNeighbour(hit.row.id, hit.score, hit.row.text) for hit in hits[:SHOWN] if hit.score >= NEAR
        )
        if not statement.sure:
            return _candidate(statement, near_by, "reject", "uncertain wording: needs review", gate="unsure")
        if (known := self._known(statement, near, number, postings, vector)) is not None:
            return _candidate(statement, near_by, "skip", known[1], gate="duplicate", match=known[0])
        row = new_row(
            self.new_id(),
            statement.text,
            statement.category,
            self.scope,
            now_ms=self.now_ms,
            at_ms=statement.at_ms,
            session=self.session,
            vector=vector,
        )
        old = self._replaced(statement, hits, number, postings) if self.supersedes else None
        decision: Verdict = "create"
        replaced: str | None = None
        if old is not None:
            decision, replaced, why = "supersede", old[0].id, old[1]
            writes = supersede(self.draft, old[0], row, self.now_ms)
        else:
            why = (
                f"{statement.rule}; nothing stored says the same"
                if statement.rule
                else "nothing says the same"
            )
            writes = (self.draft.add(row, statement.kind),)
        self._note(statement, row, postings)
        return _candidate(statement, near_by, decision, why, match=replaced, writes=writes)

    # ------------------------------------------------------------------ what there is already

    def _known(
        self, statement: Statement, near: NearMemories, number: int, postings: SharedWordIndex, vector: Any
    ) -> tuple[str, str] | None:
        key = key_of(statement.text)
        if key in self._keys:
            return self._made[self._keys[key]][1].id, "said before in this conversation"
        stored = near.exact.get(key)
        if stored is not None and not self._said_anew(statement, stored):
            return stored.id, "stored already"
        for hit in near.hits[number]:
            if hit.row.meta(self.now_ms).active(self.now_ms) and same(
                statement.text, hit.row.text, hit.cosine
            ):
                return hit.row.id, f"a stored one says the same ({hit.score:.3f})"
        for at in postings.alike(statement.text):
            text, row = self._made[at]
            if same(statement.text, text, _cosine(vector, row.vector)):
                return row.id, "said before in this conversation"
        return None

    def _said_anew(self, statement: Statement, stored: StoredRow) -> bool:
        """Whether a statement that was replaced is said again afterwards: then it holds again."""
        meta = stored.meta(self.now_ms)
        if meta.active(self.now_ms) or statement.at_ms is None or meta.invalidated_at is None:
            return False
        return statement.at_ms > max(meta.invalidated_at, meta.valid_from)

    def _replaced(
        self, statement: Statement, hits: Sequence[VectorHit], number: int, postings: SharedWordIndex
    ) -> tuple[StoredRow, str] | None:
        """The row whose place this statement takes, and why."""
        what = slot(statement.text)
        if what is None and statement.kind != "correction":
            return None
        places = postings.near(statement.text)
        for value in statement.negated:
            places += postings.near(value)
        rows = [self._made[at][1] for at in dict.fromkeys(places)]
        rows += [hit.row for hit in hits]
        if statement.kind != "correction":
            rows = [row for row in rows if slot(row.text) == what]
        valid = [
            fresh
            for row in {row.id: row for row in rows}.values()
            if (fresh := self.draft.get(row.id)) is not None and fresh.meta(self.now_ms).active(self.now_ms)
        ]
        if statement.kind == "correction":
            for value in statement.negated:
                found = [row for row in valid if says(row.text, value) and _about(statement, row, value)]
                if found:
                    best = max(found, key=lambda row: share(statement.text, row.text))
                    return best, f"it corrects {value!r}"
        for row in valid:
            if what is not None and slot(row.text) == what:
                return row, "the same thing has another value now"
        if statement.kind == "correction" and not statement.negated:
            near = [(share(statement.text, row.text), row) for row in valid]
            said_here = {row.id for _, row in self._made}
            near = [pair for pair in near if pair[0] >= (SHARED_HERE if pair[1].id in said_here else SHARED)]
            best_near = max(near, key=lambda pair: pair[0], default=None)
            if best_near is not None:
                return best_near[1], "it corrects an earlier statement about the same"
        return None

    def _note(self, statement: Statement, row: StoredRow, postings: SharedWordIndex) -> None:
        at = len(self._made)
        self._made.append((statement.text, row))
        self._keys[key_of(statement.text)] = at
        postings.add(at, statement.text)


def _candidate(
    statement: Statement,
    neighbours: tuple[CaptureNeighbour, ...],
    decision: Verdict,
    reason: str,
    *,
    gate: str = "",
    match: str | None = None,
    writes: tuple[Write, ...] = (),
) -> CaptureCandidate:
    return CaptureCandidate(
        statement.category,
        statement.text,
        content=statement.text,
        texts=(statement.place,),
        decision=decision,
        gate=gate,
        match=match,
        reason=reason,
        neighbours=neighbours,
        writes=writes,
    )


def _about(statement: Statement, row: StoredRow, value: str) -> bool:
    """Whether two texts share more than the value that is corrected."""
    rest = row.text.replace(value, " ")
    return share(statement.text, rest) > 0 or len(rest.split()) <= 3


def _cosine(left: Any, right: Any) -> float | None:
    return None if left is None or right is None else float(left @ right)


def find_near(
    draft: Draft, statements: Sequence[Statement], vectors: NDArray[np.float32] | None, scope: str
) -> NearMemories:
    """Rows of the target scope with the same text, and the nearest by meaning, of each statement."""
    keys = {key_of(statement.text) for statement in statements}
    if not statements or not draft.store.count():
        return NearMemories({}, [[] for _ in statements])
    exact = _exact(draft, statements, keys, scope)
    new = [key_of(statement.text) not in exact for statement in statements]
    hits: list[list[VectorHit]] = [[] for _ in statements]
    if vectors is None:
        return NearMemories(exact, hits)
    wanted = [number for number, is_new in enumerate(new) if is_new and vectors[number].any()]
    if len(wanted) <= FEW:
        for number in wanted:
            hits[number] = draft.search(vectors[number], limit=NEAREST, min_score=LOOKED, scopes=[scope])
    else:
        for number, found in zip(wanted, _compared(draft, vectors[wanted], scope), strict=True):
            hits[number] = found
    return NearMemories(exact, hits)


def _exact(draft: Draft, statements: Sequence[Statement], keys: set[str], scope: str) -> dict[str, StoredRow]:
    """Stored rows whose text is one of the statements, by key; the valid one where several are."""
    columns = draft.store.dialect.columns
    condition = draft.where([scope])
    where = f"({condition})" if condition else ""
    found: dict[str, StoredRow] = {}
    conditions: list[str | None] = [where or None]
    if len(statements) <= _IN_QUERY:
        listed = sql.is_in(columns.text, [statement.text for statement in statements])
        conditions = [f"{where} AND ({listed})" if where else listed]
    for condition in conditions:
        for batch in draft.store.scan([columns.id, columns.text], where=condition):
            ids, texts = (batch.column(name).to_pylist() for name in (columns.id, columns.text))
            hits = [row_id for row_id, text in zip(ids, texts, strict=True) if text and key_of(text) in keys]
            for row in draft.many([str(row_id) for row_id in hits], vectors=False):
                key = key_of(row.text)
                if key not in found or row.timestamp > found[key].timestamp:
                    found[key] = row
    return found


def _compared(draft: Draft, vectors: NDArray[np.float32], scope: str) -> list[list[VectorHit]]:
    """The nearest rows of each of many vectors: every row of the scope is read once, in blocks."""
    import numpy as np

    best = np.full((len(vectors), NEAREST), -2.0, dtype=np.float32)
    ids = np.full((len(vectors), NEAREST), -1, dtype=np.int64)
    rows: list[str] = []
    columns = draft.store.dialect.columns
    where = draft.where([scope])
    unit = _unit(vectors)
    for batch in draft.store.scan([columns.id, str(columns.vector)], where=where, batch_size=_BLOCK):
        column = batch.column(str(columns.vector))
        width = vectors.shape[1]
        flat = np.zeros((batch.num_rows, width), dtype=np.float32)
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        if valid.any():
            flat[valid] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
        start = len(rows)
        rows += [str(value) for value in batch.column(columns.id).to_pylist()]
        others = _unit(flat)
        for low in range(0, len(unit), _BLOCK):
            cosines = unit[low : low + _BLOCK] @ others.T
            take = min(NEAREST, cosines.shape[1])
            top = np.argpartition(-cosines, take - 1, axis=1)[:, :take]
            merged = np.hstack([best[low : low + _BLOCK], np.take_along_axis(cosines, top, axis=1)])
            merged_ids = np.hstack([ids[low : low + _BLOCK], top + start])
            order = np.argsort(-merged, axis=1, kind="stable")[:, :NEAREST]
            best[low : low + _BLOCK] = np.take_along_axis(merged, order, axis=1)
            ids[low : low + _BLOCK] = np.take_along_axis(merged_ids, order, axis=1)
    scores = 1.0 / (2.0 - np.minimum(best, 1.0))
    wanted = sorted({rows[at] for at in ids[(scores >= LOOKED) & (ids >= 0)].tolist()})
    there = {row.id: row for row in draft.many(wanted)}
    return [
        [
            VectorHit(there[rows[at]], float(score))
            for at, score in zip(line, marks, strict=True)
            if at >= 0 and score >= LOOKED and rows[at] in there
        ]
        for line, marks in zip(ids.tolist(), scores.tolist(), strict=True)
    ]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
