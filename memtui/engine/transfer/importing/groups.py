"""From what is known of each record to its group: pure arrays, so that a switched rule costs nothing."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.transfer.importing.draft import MASKED, NOISE, OWN_ID, SECRET, TOO_SHORT, ImportDraft
from memtui.engine.transfer.importing.request import GROUPS, ImportRules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from memtui.engine.transfer.importing.existing import ExistingMemories


Places = NDArray[np.int64]

NONE = -1

_WINDOW = 4_096

CODE = {group: code for code, group in enumerate(GROUPS)}


@dataclass(slots=True, eq=False)
class RecordEvidence:
    """What was found about each record; places are in the store's catalog, numbers in the source. -1 is none."""

    flags: NDArray[np.uint16]
    same_id: Places
    """The present row with the record's id."""
    same_id_text: NDArray[np.bool_]
    """Whether that row has the same text in the same scope."""
    twice: Places
    """The earlier record with the same id."""
    twice_text: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    """Whether that earlier record is of another scope: one name for two memories, not one memory twice."""
    exact: Places
    """The present row with the same text in the same scope."""
    repeated: Places
    """The earlier record with the same text in the same scope."""
    fact: Places
    """The present row that speaks about the same fact."""
    near: Places
    near_cosine: NDArray[np.float32]
    rival: Places
    """The present row that says nearly the same with other figures."""
    rival_cosine: NDArray[np.float32]
    near_within: Places
    near_within_cosine: NDArray[np.float32]

    def make_room(self) -> None:
        """Let what is known of near copies be written: until then it takes no memory."""
        for name in ("near", "rival", "near_within"):
            setattr(self, name, getattr(self, name).copy())
            setattr(self, f"{name}_cosine", getattr(self, f"{name}_cosine").copy())


def gather(
    draft: ImportDraft,
    ids: pa.ChunkedArray,
    present: ExistingMemories,
    rules: ImportRules,
    texts_of: Callable[[Sequence[int]], list[str]],
    *,
    one_by_one: bool = False,
) -> RecordEvidence:
    """Everything but near copies, which need vectors. `texts_of` gives the texts of some records.

    `one_by_one`: a record counts as there for those after it only where it is taken itself, and an id names one memory
    of the whole table, as openclaw-mem-engine's importer goes through a file.
    """
    from memtui.engine.transfer.importing.existing import lookup

    n = len(draft)
    plain, texts, facts, hashes = (
        _numbers(column, n) for column in (draft.plain, draft.texts, draft.facts, draft.ids)
    )
    none = np.broadcast_to(np.int64(NONE), n)
    zero = np.broadcast_to(np.float32(0), n)
    found = RecordEvidence(
        flags=np.frombuffer(draft.flags, dtype=np.uint16) if n else np.empty(0, np.uint16),
        same_id=present.by_id(ids),
        same_id_text=np.zeros(n, dtype=np.bool_),
        twice=first_of(hashes),
        twice_text=np.zeros(n, dtype=np.bool_),
        apart=np.zeros(n, dtype=np.bool_),
        exact=none,
        repeated=none,
        fact=none,
        near=none,
        near_cosine=zero,
        rival=none,
        rival_cosine=zero,
        near_within=none,
        near_within_cosine=zero,
    )
    plain = _worked_out(plain, found, texts_of)
    found.same_id_text = _equal_texts(plain, found.same_id, present)
    again = found.twice >= 0
    found.twice_text[again] = plain[again] == plain[found.twice[again]]
    scopes = _numbers(draft.scopes, n)
    found.apart[again] = scopes[again] != scopes[found.twice[again]]
    if n and rules.has("exact"):
        if present.rows:
            found.exact = lookup(*present.text_hashes(), texts)
        found.repeated = first_of(texts)
    if one_by_one:
        _go_through(found, hashes, texts, rules)
    if facts.any() and present.rows:
        facts_at = np.where(facts != 0, lookup(*present.fact_hashes(), facts), NONE)
        equal = (facts_at >= 0) & _equal_texts(plain, facts_at, present)
        found.fact = np.where(equal, NONE, facts_at)
    return found


def _go_through(found: RecordEvidence, ids: Places, texts: Places, rules: ImportRules) -> None:
    """Let only records that are taken stand in the way of later ones."""
    taken_ids, taken_texts = dict[int, int](), dict[int, int]()
    found.twice, found.repeated = (np.full(len(ids), NONE, dtype=np.int64) for _ in range(2))
    found.twice_text[:] = found.apart[:] = False
    for n, (name, text) in enumerate(zip(ids.tolist(), texts.tolist(), strict=True)):
        if found.same_id[n] >= 0 or found.exact[n] >= 0:
            continue
        found.twice[n] = taken_ids.get(name, NONE)
        if text and rules.has("exact"):
            found.repeated[n] = taken_texts.get(text, NONE)
        if found.twice[n] < 0 and found.repeated[n] < 0:
            taken_ids[name] = taken_texts[text] = n
        elif found.twice[n] >= 0:
            found.twice_text[n] = texts[found.twice[n]] == text


def _worked_out(
    plain: Places, found: RecordEvidence, texts_of: Callable[[Sequence[int]], list[str]]
) -> Places:
    """The hashes of texts, also of those that are needed after all: of rows whose id is there already."""
    from memtui.engine.transfer.importing.existing import plain_hash

    again = np.flatnonzero(found.twice >= 0)
    needed = np.unique(np.concatenate([np.flatnonzero(found.same_id >= 0), again, found.twice[again]]))
    needed = needed[plain[needed] == 0]
    if not needed.size:
        return plain
    plain = plain.copy()
    plain[needed] = [plain_hash(text) for text in texts_of(needed.tolist())]
    return plain


def _numbers(column: array[int], n: int) -> Places:
    return np.frombuffer(column, dtype=np.int64) if len(column) else np.broadcast_to(np.int64(0), n)


def _equal_texts(plain: Places, places: Places, present: ExistingMemories) -> NDArray[np.bool_]:
    """Where the row at a place has the record's text."""
    from memtui.engine.transfer.importing.existing import plain_hash

    equal = np.zeros(len(plain), dtype=np.bool_)
    there = np.flatnonzero(places >= 0)
    for start in range(0, len(there), _WINDOW):
        part = there[start : start + _WINDOW]
        rows = present.texts(places[part].tolist())
        equal[part] = [
            plain_hash(text) == mine for (_, _, text), mine in zip(rows, plain[part].tolist(), strict=True)
        ]
    return equal


def first_of(hashes: Places) -> Places:
    """For each place the first earlier one with the same value, -1 where there is none."""
    ordered = np.sort(hashes)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.broadcast_to(np.int64(NONE), len(hashes))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    found = first[group.reshape(-1)]
    return np.where(found < np.arange(len(hashes)), found, NONE).astype(np.int64)


def groups(found: RecordEvidence, rules: ImportRules) -> NDArray[np.uint8]:
    """The group of each record, a code of `CODE`; where several apply, the assignment that comes last wins."""
    group = np.full(len(found.flags), CODE["new"], dtype=np.uint8)
    has_own_id = (found.flags & OWN_ID) != 0
    if rules.has("near"):
        group[found.rival >= 0] = CODE["conflict"]
        group[(found.near >= 0) | (found.near_within >= 0)] = CODE["near"]
    group[found.fact >= 0] = CODE["conflict"]
    if rules.has("exact"):
        group[(found.exact >= 0) | (found.repeated >= 0)] = CODE["exact"]
    if rules.has("secret"):
        group[(found.flags & SECRET) != 0] = CODE["secret"]
    if rules.has("noise"):
        group[(found.flags & NOISE) != 0] = CODE["noise"]
    if rules.has("short"):
        group[(found.flags & TOO_SHORT) != 0] = CODE["short"]
    there = (found.same_id >= 0) & ~found.apart
    masked = (found.flags & MASKED) != 0  # a text that lost a secret says nothing against one that has it
    group[there] = np.where(found.same_id_text | masked, CODE["same_id"], CODE["conflict"])[there]
    again = (found.twice >= 0) & ~there & ~found.apart
    group[again & found.twice_text] = CODE["same_id"]
    group[again & found.twice_text & ~has_own_id] = CODE["exact" if rules.has("exact") else "new"]
    group[again & ~found.twice_text] = CODE["conflict"]
    return group
