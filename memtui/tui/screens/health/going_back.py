"""Going back to a version as a whole, as it is looked at before: what goes, what comes back, in the memories' words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memtui.engine.changes import Change, ChangeSet
from memtui.tui.dialogs.repair_preview import Repair

if TYPE_CHECKING:
    from memtui.engine.health import RowChange, WholeRestore

KEY = "whole"

_WHY = {"remove": "came since", "add": "comes back", "change": "restored"}


def going_back(planned: WholeRestore, metadata: str | None) -> Repair:
    """The restore as something that can be agreed to; `metadata` is the name of that column, None without one."""
    changes = tuple(_change(change, metadata) for change in planned.changes)
    title = f"go back to v{planned.version}"
    return Repair(KEY, title, planned.sentence, changes=ChangeSet("maintain", title, changes, planned.newest))


def _change(each: RowChange, metadata: str | None) -> Change:
    why = _WHY[each.op]
    if each.op == "remove":
        return Change(each.id, "delete", dict(each.before or {}), {}, each.title, why)
    if each.op == "add":
        return Change(each.id, "add", {}, dict(each.after or {}), each.title, why)
    before, after = (_fields(side or {}, each.fields, metadata) for side in (each.before, each.after))
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
    return Change(
        each.id,
        "edit",
        {name: before.get(name) for name in names},
        {name: after.get(name) for name in names},
        each.title,
        why,
    )


def _fields(row: Mapping[str, Any], names: tuple[str, ...], metadata: str | None) -> dict[str, Any]:
    """The fields of a row that differ; those inside its metadata by their own names."""
    found = {name: row.get(name) for name in names if name != metadata}
    if metadata in names:
        with suppress(ValueError, TypeError):  # what is no object has no fields
            inside = json.loads(row.get(metadata) or "{}")
            found |= {name: value for name, value in inside.items() if name not in row}
    return found
