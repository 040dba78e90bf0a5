"""What the plugin asks of a row before it searches: its kind, its user, its category."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.engine.dialects.hermes import KIND, NAME, USER
from memtui.engine.recall.recipe import RowRule

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.rows import CandidateRow


def of_row(trace: Trace, row: CandidateRow) -> Iterator[RowRule]:
    """The filters of this recall, each with what the row has."""
    told, outside = trace.extra.get(NAME), trace.outside
    if told is None or outside is None or outside.pin.dialect.can.visibility != "users":
        return
    found = outside.asked(
        ("kind and user", row.id),
        "rows have to be read",
        lambda: outside.pin.rows_by_id([row.id], ["id", KIND, USER]).to_pylist(),
    )
    stored = found[-1] if found else {}
    kind, user = stored.get(KIND) or "", stored.get(USER) or ""
    if told["kind"] != "any":
        right = kind == told["kind"]
        words = f"It is a {kind}." if right else f"It is a {kind}; only {told['kind']}s are searched."
        yield RowRule("kind", right, kind, told["kind"], words)
    if asking := told["user_id"]:
        right = user in ("", asking)
        whose = f"of {user}" if user else "of no user"
        words = f"It is {whose}." if right else f"It is {whose}; {asking} finds their own and nobody's alone."
        yield RowRule("user", right, user, asking, words)
    if category := told["category"]:
        right = row.category == category
        words = f"Its category is {row.category or 'empty'}."
        yield RowRule("category", right, row.category, category, words)
