"""What a table without metadata cannot hold of a record."""

from __future__ import annotations

from collections.abc import Collection

from memtui.engine.transfer.record import ConversionNote, Record


def without_place(record: Record, whose: str, known: Collection[str]) -> list[ConversionNote]:
    """Notes on what of a record is lost in a table of `whose`; `known` are keys of the rest that it holds."""
    there: dict[str, object] = {
        "metadata": record.metadata not in (None, "", "{}"),
        "tags": record.tags,
        "links": record.links,
        "state": record.state not in (None, "confirmed"),
        "tier": record.tier,
        "validity": record.valid_until_ms or record.invalidated_ms,
        "rest": record.rest.keys() - known,
        "foreign id": record.foreign_id if record.id is None else None,
    }
    what = f"{whose} table has no place for it: lost"
    return [ConversionNote(name, what) for name, value in there.items() if value]
