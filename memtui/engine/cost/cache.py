"""Prompt caching computed: what of each request is read from the cache, written to it, or neither.

Tokens are those that the parts of the requests give; time is that of the requests. Nothing is asked of a provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memtui.engine.cost.rules import CacheRule
from memtui.engine.recall.prompt_block import estimated_tokens

PartKind = Literal["tools", "system", "history", "question"]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One block of a request, in the order in which the provider reads them: tools, system, messages."""

    kind: PartKind
    text: str
    tokens: int
    memory: bool = False
    """Whether memories were injected here for this request alone."""


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """One request to a model."""

    time_ms: int
    parts: tuple[PromptPart, ...]
    breakpoints: tuple[int, ...] = ()
    """Places of the parts that end a prefix to be cached; empty: those of `usual_breakpoints`."""


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """The tokens of one request, or of several together."""

    read: int = 0
    written: int = 0
    fresh: int = 0
    """Neither read nor written."""

    @property
    def total(self) -> int:
        """All tokens of the prompt."""
        return self.read + self.written + self.fresh

    def weighed(self, rule: CacheRule) -> float:
        """The price in input tokens: a token that is neither read nor written counts 1."""
        return self.read * rule.read_price + self.written * rule.lifetime.write_price + self.fresh

    def plus(self, other: CacheFigures) -> CacheFigures:
        """Both together."""
        return CacheFigures(self.read + other.read, self.written + other.written, self.fresh + other.fresh)


def make_part(kind: PartKind, text: str, *, memory: bool = False) -> PromptPart:
    """A part with its estimated tokens: one for four characters, one for each Chinese, Japanese or Korean character."""
    return PromptPart(kind, text, estimated_tokens(text), memory)


def common_prefix(first: Sequence[PromptPart], second: Sequence[PromptPart]) -> int:
    """The tokens with which both requests begin, letter for letter."""
    tokens = 0
    for one, other in zip(first, second, strict=False):
        if one.text != other.text:
            return tokens + _common_tokens(one.text, other.text)
        tokens += other.tokens
    return tokens


def usual_breakpoints(parts: Sequence[PromptPart], most: int) -> tuple[int, ...]:
    """Where a host is taken to set its breakpoints: the ends of tools, system prompt, history and prompt."""
    ends = [
        max((place for place, part in enumerate(parts) if part.kind == kind), default=-1)
        for kind in ("tools", "system", "history")
    ]
    return tuple(sorted({place for place in (*ends, len(parts) - 1) if place >= 0}))[-most:]


def play_cache(requests: Sequence[PromptRequest], rule: CacheRule) -> list[CacheFigures]:
    """What each of `requests` (in order of time, of one account) reads and writes by a provider's rule."""
    if rule.kind == "breakpoints":
        return _play_breakpoints(requests, rule)
    return _play_automatic(requests, rule)


def _play_breakpoints(requests: Sequence[PromptRequest], rule: CacheRule) -> list[CacheFigures]:
    entries: dict[int, int] = {}  # the key of a prefix, and when it was last written or read
    out = []
    for request in requests:
        keys, ends = _prefixes(request.parts)
        marks = request.breakpoints or usual_breakpoints(request.parts, rule.breakpoints)
        marks = tuple(place for place in sorted(marks)[-rule.breakpoints :] if ends[place] >= rule.minimum)
        alive = request.time_ms - rule.lifetime.seconds * 1000
        hit = max(
            (
                place
                for mark in marks
                for place in range(mark, max(-1, mark - rule.lookback), -1)
                if entries.get(keys[place], alive) > alive
            ),
            default=-1,
        )
        read = ends[hit] if hit >= 0 else 0
        upto = max(read, ends[marks[-1]] if marks else 0)
        if hit >= 0:
            entries[keys[hit]] = request.time_ms
        for mark in marks:
            entries[keys[mark]] = request.time_ms
        total = ends[-1] if ends else 0
        out.append(CacheFigures(read, upto - read, total - upto))
    return out


def _play_automatic(requests: Sequence[PromptRequest], rule: CacheRule) -> list[CacheFigures]:
    entries: dict[int, int] = {}
    next_texts: dict[int, str] = {}  # what followed a prefix last: a prefix may end inside a part
    out = []
    for request in requests:
        keys, ends = _prefixes(request.parts)
        alive = request.time_ms - rule.lifetime.seconds * 1000
        shared, behind, place = 0, 0, 0
        while place < len(keys) and entries.get(keys[place], alive) > alive:
            shared, behind, place = ends[place], keys[place], place + 1
        if place < len(keys) and entries.get(behind, alive) > alive:
            shared += _common_tokens(next_texts.get(behind, ""), request.parts[place].text)
        read = 0
        if shared >= rule.minimum:
            read = rule.minimum + (shared - rule.minimum) // rule.step * rule.step
        above = 0
        for key, part in zip(keys, request.parts, strict=True):
            next_texts[above] = part.text
            above = key
        entries.update(dict.fromkeys((0, *keys), request.time_ms))
        total = ends[-1] if ends else 0
        out.append(CacheFigures(read, 0, total - read))
    return out


def _prefixes(parts: Sequence[PromptPart]) -> tuple[list[int], list[int]]:
    """(the key of the prefix that ends with each part, its tokens)."""
    keys, ends = [], []
    key = tokens = 0
    for part in parts:
        key, tokens = hash((key, part.text)), tokens + part.tokens
        keys.append(key)
        ends.append(tokens)
    return keys, ends


def _common_tokens(first: str, second: str) -> int:
    """The whole tokens with which two texts begin alike."""
    low, high = 0, min(len(first), len(second))
    while low < high:  # the longest common beginning, by halves
        middle = (low + high + 1) // 2
        if first.startswith(second[:middle]):
            low = middle
        else:
            high = middle - 1
    shared = second[:low]
    whole = estimated_tokens(shared)
    return whole if estimated_tokens(shared + "x") > whole else max(0, whole - 1)
