"""Which column of a foreign table is which field: guessed from names and values, shown, changed by the user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memtui.engine.core.errors import UsageError
from memtui.engine.transfer.sources.values import NO_MOMENT, read_importance, read_time

ROLES = (
    "id",
    "text",
    "category",
    "scope",
    "user",
    "agent",
    "importance",
    "timestamp",
    "tags",
    "vector",
    "metadata",
)
"""What a column can be. `user` and `agent` make a scope of a bare name; columns without a role are kept whole."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "memory", "content", "body", "message", "fact", "note", "document", "data", "inhalt", "本文"),
    "id": ("id", "uuid", "uid", "_id", "key", "note_id", "memory_id", "doc_id", "nr", "no", "编号"),
    "vector": ("vector", "embedding", "embeddings", "vec"),
    "timestamp": (
        "timestamp", "created_at", "createdat", "created", "time", "date", "datum", "ts", "at", "created_time",
        "timestamp_ms", "createdate", "日期", "時間", "时间",
    ),
    "category": ("category", "kind", "type", "class", "art", "kategorie", "categories", "分类", "分類"),
    "importance": ("importance", "weight", "priority", "score", "rating", "wichtigkeit", "重要度"),
    "scope": ("scope", "namespace", "project", "space"),
    "user": ("user", "user_id", "owner", "person", "username"),
    "agent": ("agent", "agent_id", "agentid"),
    "tags": ("tags", "labels", "keywords", "topics", "schlagworte", "标签"),
    "metadata": ("metadata",),
}  # fmt: skip

_SEPARATORS = re.compile(r"[\s_-]+")

_SAMPLE = 50


def parse_mapping(text: str) -> dict[str, str]:
    """`text=body,scope=owner` as role to column; UsageError with the roles when it does not parse."""
    out: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not equals or role.strip() not in ROLES or not column.strip():
            raise UsageError(
                f"{part!r} is no mapping.", fix=f"Write ROLE=COLUMN with the roles {', '.join(ROLES)}."
            )
        out[role.strip()] = column.strip()
    return out


def guess(columns: Sequence[str], samples: Iterable[Mapping[str, Any]], now_ms: int) -> dict[str, str]:
    """Role to column of a table with these column names and first rows; a role that nothing fits is left out.

    A name decides; where several fit the earlier in our list wins. Values are asked when no name fits: the
    column with the longest texts is the text. A score outside 0 to 1 is no importance, a time must read as one.
    """
    rows = list(samples)[:_SAMPLE]
    values = {column: [row.get(column) for row in rows] for column in columns}
    found: dict[str, str] = {}
    for role, names in _NAMES.items():
        fitting = [c for c in columns if c not in found.values() and _rank(c, names) is not None]
        fitting = [c for c in fitting if _plausible(role, values[c], now_ms)]
        if fitting:
            found[role] = min(fitting, key=lambda c: (_rank(c, names), columns.index(c)))
    if "text" not in found:
        free = [c for c in columns if c not in found.values()]
        lengths = {c: sum(len(v) for v in values[c] if isinstance(v, str)) for c in free}
        longest = max(free, key=lambda c: lengths[c], default=None)
        if longest is not None and lengths[longest]:
            found["text"] = longest
    return found


def check_mapping(mapping: Mapping[str, str], columns: Sequence[str]) -> None:
    """UsageError when a mapped column is not there, or no column is the text."""
    missing = next((column for column in mapping.values() if column not in columns), None)
    if missing is not None:
        raise UsageError(f"There is no column {missing!r}.", fix=f"The columns are {', '.join(columns)}.")
    if "text" not in mapping:
        raise UsageError(
            "No column was found that could be the text.",
            fix=f"Say which one it is with --map text=...; the columns are {', '.join(columns) or 'none'}.",
        )


def _rank(column: str, names: tuple[str, ...]) -> int | None:
    word = _SEPARATORS.sub("_", column.strip().lower())
    return names.index(word) if word in names else None


def _plausible(role: str, values: list[Any], now_ms: int) -> bool:
    there = [value for value in values if value not in (None, "", [])]
    if not there:
        return True
    if role == "text":
        return all(isinstance(value, str) for value in there)
    if role == "timestamp":
        return any(ms is not None or note == NO_MOMENT for ms, note in (read_time(v, now_ms) for v in there))
    if role == "importance":
        return any(read_importance(value)[0] is not None for value in there)
    if role == "vector":
        return any(isinstance(value, list) and len(value) > 1 for value in there)
    if role in ("category", "scope", "user", "agent"):
        return all(
            isinstance(value, str | int) or (role == "category" and isinstance(value, list))
            for value in there
        )
    return True
