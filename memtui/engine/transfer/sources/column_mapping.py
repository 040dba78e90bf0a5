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
        free = [c for c in columns if c not in found.values() and _may_be_text(c, values[c])]
        lengths = {c: sum(len(v) for v in values[c] if isinstance(v, str)) for c in free}
        longest = max(free, key=lambda c: lengths[c], default=None)
        if longest is not None:
            found["text"] = longest
    if "timestamp" not in found:
        days = [c for c in columns if _NUMBERED.fullmatch(c) and _are_times(values[c])]
        if len(days) == 1:
            found["timestamp"] = days[0]
    return found


_NUMBERED = re.compile(r"column \d+")
"""A column without a name: its values alone say what it is."""


def _are_times(values: list[Any]) -> bool:
    kinds = [value_kind(value) for value in values if value not in (None, "")]
    return bool(kinds) and all(kind == "time" for kind in kinds)


# What a value is, so that no day, address or name is taken for a memory. Below that a person is asked.

_NOT_TEXT = frozenset(
    (
        "title", "name", "label", "heading", "subject", "titel", "url", "uri", "link", "href", "path", "file",
        "filename", "file_name", "source", "author", "email", "mail", "phone", "status", "state", "role", "model",
        "lang", "language", "hash", "checksum", "version", "标题", "名称",
    )
)  # fmt: skip
"""Names of columns that say of what or whose a text is; the text itself is another."""

_KINDS = (
    ("number", re.compile(r"[+-]?\d[\d.,' ]*(?:[eE][+-]?\d+)?%?")),
    (
        "time",
        re.compile(
            r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
            r"(?:[T ,]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
            r"|\d{1,2}:\d{2}(?::\d{2})?"
            r"|(?:[A-Z][a-z]{2,8},? )?(?:\d{1,2}\.? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
            r"(?: \d{1,2},?)?(?: \d{4})?(?:,? \d{1,2}:\d{2}(?::\d{2})?.{0,12})?"
        ),
    ),
    ("id", re.compile(r"(?i:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24,128})")),
    ("address", re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://\S+|www\.\S+|[^\s@]{1,64}@[^\s@]{1,255}")),
    ("path", re.compile(r"(?:~|\.{0,2})?/[^\s/]+(?:/[^\s/]*)+|[A-Za-z]:\\\S+")),
    ("word", re.compile(r"(?i:true|false|yes|no|null|none|nan)")),
    ("json", re.compile(r"[\[{].*[\]}]", re.DOTALL)),
)

_LONGEST_KIND = 2_000
"""Characters beyond which nobody asks whether a text is a day or an address."""

_FEW = 4
"""Words from which a text can be a sentence; of scripts without spaces, characters."""


def value_kind(value: Any) -> str:
    """What a text is that is no prose: "number", "time", "id", "address", "path", "word", "json"; "" for the rest."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > _LONGEST_KIND:
        return ""
    return next((kind for kind, form in _KINDS if form.fullmatch(text)), "")


def looks_like_prose(text: str) -> bool:
    """Whether a text reads as something that is said: several words, or as many signs of a script without spaces."""
    text = text.strip()
    if value_kind(text):
        return False
    return len(text.split(None, _FEW)) >= _FEW or sum(ord(char) > 0x2E7F for char in text[:80]) >= 2 * _FEW


def is_named(cell: str) -> bool:
    """Whether the name of a column is one that a role usually has, or one that tells of what a text is."""
    word = _SEPARATORS.sub("_", cell.strip().lower())
    return any(word in names for names in _NAMES.values()) or word in _NOT_TEXT


def _may_be_text(column: str, values: list[Any]) -> bool:
    """Whether a column that has no usual name may be the text: most of its values are prose."""
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if not texts or _SEPARATORS.sub("_", column.strip().lower()) in _NOT_TEXT:
        return False
    if len(texts) * 2 < sum(value not in (None, "") for value in values):
        return False
    return sum(looks_like_prose(text) for text in texts) * 2 >= len(texts)


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
        if not all(isinstance(value, str) for value in there):
            return False
        return sum(bool(value_kind(value)) for value in there) * 2 <= len(there)
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
