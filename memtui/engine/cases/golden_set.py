"""Sets of questions from a file: memtui's own cases and golden sets of other programs; no key is passed over unsaid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.cases.case import MOST, Case, case_from
from memtui.engine.core.errors import UsageError

Note = tuple[str, str]
"""Place in the file, and what is said of it."""

_OWN = frozenset(
    (
        "id", "query", "expected", "rejected", "scopes", "category", "agent", "query_vector", "note", "created_ms",
        "all_scopes", "grades", "k",
    )
)  # fmt: skip

_WORDS: Mapping[str, tuple[str, ...]] = {
    "query": ("question", "q", "prompt", "input", "text"),
    "expected": (
        "expects", "expect", "expected_ids", "expectedIds", "expected_memories", "expected_memory", "expected_id",
        "relevant", "relevant_ids", "relevantIds", "gold", "gold_ids", "golden", "positives", "must_include", "targets",
        "ids",
    ),
    "rejected": (
        "rejects", "reject", "rejected_ids", "unexpected", "not_expected", "notExpected", "negatives", "must_not",
        "must_exclude", "forbidden", "irrelevant",
    ),
    "scopes": ("scope", "namespace", "namespaces"),
    "query_vector": ("queryVector", "vector", "embedding"),
    "agent": ("agent_id", "agentId"),
    "k": ("top_k", "topK", "limit"),
    "note": ("comment", "comments", "description", "reason", "notes"),
}  # fmt: skip
"""What other programs call our keys, the likeliest first."""

_LISTS = ("expected", "rejected", "scopes")

_HOLDERS = ("cases", "queries", "questions", "items", "examples", "data")
"""Keys under which a document holds its lines."""


@dataclass(slots=True)
class CaseFile:
    """What a file of cases gave: the cases, the lines that are none, and keys of taken lines that are not used."""

    taken: list[Case] = field(default_factory=list)
    rejected: list[Note] = field(default_factory=list)
    unused: list[Note] = field(default_factory=list)


def read_cases(path: Path) -> CaseFile:
    """The cases of a file: one JSON object a line, a JSON list of them, or an object that holds such a list.

    Keys of other programs are translated ("expects", "question", "top_k", ...). A key that means nothing to a case is
    named among `unused`; a line that says nothing we read about what should come back, but has keys that we do not
    know, is refused. Raises UsageError when the file cannot be read.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is not text"
        raise UsageError(f"{path} cannot be read: {why}.", fix="Name an existing file.") from None
    found = CaseFile()
    for where, value in _values(text, found):
        try:
            own, unused = _translated(value, where)
            found.taken.append(case_from(own, where))
        except (ValueError, TypeError, RecursionError, UsageError) as failure:
            found.rejected.append((where, str(failure)))
        else:
            found.unused.extend((where, each) for each in unused)
    return found


def _values(text: str, found: CaseFile) -> Iterator[tuple[str, Any]]:
    """(place, value) of each line, or of each entry where the file is one JSON document."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, Mapping) and "query" not in whole:
        holder = next((key for key in _HOLDERS if isinstance(whole.get(key), list)), None)
        if holder is not None:
            shared = {key: value for key, value in whole.items() if key == "k"}
            found.unused.extend(
                ("the file", f"its key {key!r} is not used")
                for key in whole
                if key not in (holder, "k", "version")
            )
            for number, each in enumerate(whole[holder], 1):
                yield f"entry {number}", {**shared, **each} if isinstance(each, Mapping) else each
            return
    if isinstance(whole, list):
        yield from ((f"entry {number}", each) for number, each in enumerate(whole, 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as failure:
            found.rejected.append((f"line {number}", str(failure)))
            continue
        yield f"line {number}", value


def _translated(value: Any, where: str) -> tuple[Any, list[str]]:
    """(the line with our own keys, a sentence for each key that is not used)."""
    if not isinstance(value, Mapping):
        return value, []
    own = {key: given for key, given in value.items() if key in _OWN}
    left = [key for key in value if key not in _OWN]
    for key, words in _WORDS.items():
        for word in words:
            if word in left and own.get(key) is None:
                own[key] = value[word]
                left.remove(word)
    for key in _LISTS:
        if isinstance(own.get(key), str):
            own[key] = [own[key]]
    for key in ("expected", "rejected"):
        _take_objects(own, key, where)
    if left and own.get("expected") is None and own.get("rejected") is None:
        named = ", ".join(repr(key) for key in left)
        raise UsageError(
            f"{where} does not say in words that we know what should come back; its keys {named} mean nothing here.",
            fix='Write {"query": "...", "expected": ["<id>", ...]}; an empty list where nothing should come back.',
        )
    return own, [f"its key {key!r} is not used: a case has no place for it" for key in left]


def _take_objects(own: dict[str, Any], key: str, where: str) -> None:
    """Take expectations that are numbers, or objects with an id and perhaps a grade, as ids."""
    given = own.get(key)
    if not isinstance(given, list) or all(isinstance(item, str) for item in given):
        return
    ids: list[str] = []
    grades: dict[str, int] = dict(own.get("grades") or {})
    for item in given:
        if isinstance(item, Mapping):
            named = next((item[word] for word in ("id", "memory_id", "ref") if word in item), None)
            grade = next((item[word] for word in ("grade", "relevance") if word in item), None)
            odd = [word for word in item if word not in ("id", "memory_id", "ref", "grade", "relevance")]
            if not isinstance(named, str | int) or odd:
                what = ", ".join(repr(word) for word in odd) or "no id"
                raise UsageError(f"{key} of {where} holds an object with {what}.", fix="Write a list of ids.")
            ids.append(str(named))
            if grade is not None:
                if type(grade) is not int or not 0 <= grade <= MOST:
                    raise UsageError(
                        f"{key} of {where} has the grade {grade!r}.", fix=f"Give 0 to {MOST}, whole numbers."
                    )
                grades[str(named)] = grade
        elif isinstance(item, int) and not isinstance(item, bool):
            ids.append(str(item))
        else:
            return  # said as no list of texts
    if key == "expected":
        nothing = [memory_id for memory_id in ids if grades.get(memory_id) == 0]
        own["rejected"] = [*(own.get("rejected") or []), *nothing]
        ids = [memory_id for memory_id in ids if memory_id not in nothing]
        own["grades"] = {each: grade for each, grade in grades.items() if grade > 0}
    own[key] = ids
