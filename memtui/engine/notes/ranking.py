"""How memory-core (openclaw 2026.3.24) ranks chunks of Markdown: two lanes merged, age, variety."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

DAY_MS = 86_400_000

_WORD = re.compile(r"[\w]+", re.UNICODE)
_ASCII_WORD = re.compile(r"[a-z0-9_]+")
_DATED = re.compile(r"(?:^|/)memory/(\d{4})-(\d{2})-(\d{2})(-[^/]*)?\.md$")
_ROOTS = ("MEMORY.md", "memory.md")


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that came back. `vector` and `words` are what each lane gave it, 0 where it gave nothing."""

    id: str
    path: str
    start_line: int
    end_line: int
    snippet: str
    vector: float = 0.0
    words: float = 0.0
    score: float = 0.0
    decayed_by: float = 1.0
    """What its age multiplied the score with."""
    by_words: bool = False


def fts_query(question: str) -> str | None:
    """Every word of the question, quoted and joined with AND; None where there is none."""
    words = _WORD.findall(question)
    return " AND ".join(f'"{word}"' for word in words) if words else None


def rank_score(rank: float) -> float:
    """FTS5's rank (better is more negative) as a score from 0 to 1."""
    if not math.isfinite(rank):
        return 0.001
    return -rank / (1 - rank) if rank < 0 else 1 / (1 + rank)


def is_memory_path(path: str) -> bool:
    """Whether a relative path is one of the agent's memory files."""
    plain = path.replace("\\", "/").lstrip("./")
    return plain in _ROOTS or plain.startswith("memory/")


def day_of(path: str, *, slugs: bool = False) -> date | None:
    """The day in a path like `memory/2026-02-10.md`; with `slugs` also in `memory/2026-02-10-api.md`."""
    found = _DATED.search(path.replace("\\", "/").removeprefix("./"))
    if found is None or (found[4] and not slugs):
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def is_evergreen(path: str, *, slugs: bool = False) -> bool:
    """Whether a memory file never ages: its path has no date. A date that is no day is neither."""
    plain = path.replace("\\", "/").removeprefix("./")
    if plain in _ROOTS:
        return True
    dated = _DATED.search(plain)
    return plain.startswith("memory/") and (dated is None or bool(dated[4] and not slugs))


def age_factor(age_days: float, half_life_days: float) -> float:
    """exp(-ln 2 * age / half-life); 1 for the future and for a half-life that is none."""
    if not math.isfinite(half_life_days) or half_life_days <= 0:
        return 1.0
    return math.exp(-math.log(2) / half_life_days * max(0.0, age_days))


def factor_of(
    path: str, *, now_ms: int, half_life_days: float, mtime_ms: int | None = None, slugs: bool = False
) -> float:
    """What the age of a file multiplies the score of its chunks with: its date's, else its last change's."""
    if is_evergreen(path, slugs=slugs):
        return 1.0
    day = day_of(path, slugs=slugs)
    at = (
        mtime_ms
        if day is None
        else int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000
    )
    return 1.0 if at is None else age_factor((now_ms - at) / DAY_MS, half_life_days)


def merged(
    by_vector: Sequence[FoundChunk],
    by_words: Sequence[FoundChunk],
    *,
    vector_weight: float = 0.7,
    text_weight: float = 0.3,
) -> list[FoundChunk]:
    """The chunks of both lanes, scored by the weighted sum; a snippet of the words' lane is preferred. Best first."""
    weights = [min(1.0, max(0.0, each)) for each in (vector_weight, text_weight)]
    total = sum(weights)
    vector_share, text_share = (weights[0] / total, weights[1] / total) if total else (0.7, 0.3)
    union = {chunk.id: chunk for chunk in by_vector}
    for word in by_words:
        seen = union.get(word.id)
        union[word.id] = (
            replace(word, by_words=True)
            if seen is None
            else replace(seen, words=word.words, snippet=word.snippet, by_words=True)
        )
    scored = [
        replace(chunk, score=vector_share * chunk.vector + text_share * chunk.words)
        for chunk in union.values()
    ]
    return sorted(scored, key=lambda each: -each.score)


def aged(
    found: Sequence[FoundChunk],
    *,
    now_ms: int,
    half_life_days: float,
    mtimes: dict[str, int] | None = None,
    slugs: bool = False,
) -> list[FoundChunk]:
    """The same chunks with scores that fade with age, best first."""
    known = mtimes or {}
    out = []
    for chunk in found:
        factor = factor_of(
            chunk.path,
            now_ms=now_ms,
            half_life_days=half_life_days,
            mtime_ms=known.get(chunk.path),
            slugs=slugs,
        )
        out.append(replace(chunk, score=chunk.score * factor, decayed_by=factor))
    return sorted(out, key=lambda each: -each.score)


def jaccard(one: str, other: str) -> float:
    """Shared ASCII words over all; 1 for two texts without any, as two Chinese texts are."""
    left, right = (set(_ASCII_WORD.findall(text.lower())) for text in (one, other))
    if not left and not right:
        return 1.0
    return len(left & right) / len(left | right) if left and right else 0.0


def varied(found: Sequence[tuple[str, float, str]], lam: float = 0.7) -> list[str]:
    """Maximal marginal relevance over (id, score, text): the ids in the order in which they are picked."""
    lam = min(1.0, max(0.0, lam))
    if lam == 1.0:
        return [each[0] for each in sorted(found, key=lambda each: -each[1])]
    if not found:
        return []
    low, high = min(each[1] for each in found), max(each[1] for each in found)
    left = list(range(len(found)))
    nearest = [0.0] * len(found)
    picked: list[int] = []
    while left:

        def worth(at: int) -> tuple[float, float, int]:
            relevance = 1.0 if high == low else (found[at][1] - low) / (high - low)
            return lam * relevance - (1 - lam) * nearest[at], found[at][1], -at

        best = max(left, key=worth)
        left.remove(best)
        picked.append(best)
        for at in left:
            nearest[at] = max(nearest[at], jaccard(found[at][2], found[best][2]))
    return [found[at][0] for at in picked]


# How the host of 2026.9 weighs words, importance and projects. Source: spec/openclaw.md 4.4, checked on 46 results.

_OVERLAP, _DENSITY, _PATH, _LONGEST, _FULL_LENGTH = 0.45, 0.2, 0.18, 0.18, 160


def host_tokens(text: str) -> list[str]:
    """The words of a text as the host compares them: composed, lower case."""
    return [word.lower() for word in _WORD.findall(unicodedata.normalize("NFC", text))]


def word_inputs(question: str, text: str, path: str) -> dict[str, float]:
    """What a chunk's bonus is made of: words of the question, of them in the text and in the path, and lengths."""
    asked = list(dict.fromkeys(host_tokens(question)))
    words = set(host_tokens(text))
    where = unicodedata.normalize("NFC", path).lower()
    return {
        "asked": float(len(asked)),
        "met": float(sum(word in words for word in asked)),
        "words": float(len(words)),
        "in_path": float(sum(word in where for word in asked)),
        "length": float(len(text.encode("utf-16-le", "surrogatepass")) // 2),
    }


def word_share(raw_bm25: float, parts: Mapping[str, float]) -> float:
    """What the words of a chunk are worth, 0 to 1: bm25 with bonuses for overlap, density, path and length."""
    share = raw_bm25 / (1 + raw_bm25)
    asked = parts["asked"]
    if not asked:
        return share
    bonus = (
        _OVERLAP * parts["met"] / asked
        + _DENSITY * parts["met"] / max(1.0, parts["words"])
        + _PATH * parts["in_path"]
        + min(parts["length"] / _FULL_LENGTH, _LONGEST)
    )
    return float(min(1.0, share + bonus))


def importance_factor(importance: float | None) -> float:
    """What an importance from 1 to 10 multiplies a score with; 1 where the entry has none."""
    return 1.0 if importance is None or math.isnan(importance) else 0.75 + 0.05 * importance


def asked_for_file(question: str, path: str) -> int:
    """Whether the question names a file: 3 for its path, 2 for its base name, 1 for its stem, else 0."""
    asked = question.strip().lower()
    plain = path.lower()
    base = plain.rpartition("/")[2]
    names = {plain: 3, base: 2, base.rpartition(".")[0] or base: 1}
    return max((weight for name, weight in names.items() if name == asked), default=0)
