"""What memory costs, summed by agent and day: tokens, use, where the block stands, and the prompt cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memtui.engine.core.secrets import mask
from memtui.engine.cost.cache import CacheFigures, PromptPart, PromptRequest, common_prefix, play_cache
from memtui.engine.cost.rules import CacheRule, named_rule, rule_of
from memtui.engine.cost.turns import CostTurn, build_requests

ESTIMATOR = "1 token for 4 characters, 1 for each Chinese, Japanese or Korean character"

NEVER_COMPARED = "No figure was ever compared with a real bill."

LISTED = 20
"""Memories that are named."""

_SHOWN = 120


@dataclass(frozen=True, slots=True)
class TurnCost:
    """One turn with its figures."""

    turn: CostTurn
    request: PromptRequest | None
    rule: CacheRule | None
    estimated: CacheFigures | None
    """By the provider's rule; None where the rule or the prompt is not known."""
    changed: bool | None
    """Whether the memories differ from those of the turn before in its session; None without one that was recorded."""
    lost: int
    """Tokens that would have stayed at the head of the prompt as they were, had no memory stood in it."""
    head: int
    """Tokens with which the request would begin like the one before, had no memory stood in either."""

    @property
    def measured(self) -> CacheFigures | None:
        """The sum of its model calls as the transcript carries it; None where it carries no cache figures."""
        calls = [
            call for call in self.turn.usage if call.cache_read is not None or call.cache_write is not None
        ]
        if not calls:
            return None
        read = sum(call.cache_read or 0 for call in calls)
        return CacheFigures(
            read, sum(call.cache_write or 0 for call in calls), sum(call.input for call in calls)
        )

    def as_json(self) -> dict[str, Any]:
        """The turn of the command-line contract."""
        turn = self.turn
        return {
            "session": turn.session,
            "n": turn.n,
            "time_ms": turn.time_ms,
            "machine": turn.machine,
            "place": turn.place,
            "tokens": {"value": turn.tokens, "label": "estimated"} if turn.memories is not None else None,
            "memories": None
            if turn.memories is None
            else [
                {"id": memory.id or None, "tokens": memory.tokens, "used": memory.used}
                for memory in turn.memories
            ],
            "changed": self.changed,
            "prefix_lost": self.lost,
            "cache": cache_json(self.measured, self.estimated),
            "model": turn.model or None,
        }


@dataclass(slots=True)
class CostSum:
    """Turns together."""

    turns: int = 0
    machine: int = 0
    recorded: int = 0
    """Turns of which it is known what was injected."""
    silent: int = 0
    """Turns that got nothing."""
    tokens: int = 0
    """Estimated, of all that was injected."""
    judged: int = 0
    """Of them, tokens of memories whose use is known."""
    used: int = 0
    """Of the judged ones, tokens of memories of which the answer has a trace."""
    places: Counter[str] = field(default_factory=Counter)
    pairs: int = 0
    """Turns whose memories can be compared with those of the turn before."""
    changed: int = 0
    """Of them, turns with other memories, or the same in another order or in other words."""
    lost: int = 0
    head: int = 0
    measured: CacheFigures = field(default_factory=CacheFigures)
    measured_turns: int = 0
    estimated: CacheFigures = field(default_factory=CacheFigures)
    estimated_turns: int = 0
    price: float = 0.0
    """Of the estimated turns, in input tokens."""
    partial: int = 0
    """Of the estimated turns, those whose system prompt or tools nobody recorded."""

    def add(self, cost: TurnCost) -> None:
        """Take one more turn."""
        turn = cost.turn
        self.turns += 1
        self.machine += turn.machine
        if turn.memories is not None:
            self.recorded += 1
            self.silent += not turn.memories and not turn.memory
            self.tokens += turn.tokens
        for memory in turn.memories or ():
            self.judged += memory.tokens if memory.used is not None else 0
            self.used += memory.tokens if memory.used else 0
        self.places[turn.place] += 1
        if cost.changed is not None:
            self.pairs += 1
            self.changed += cost.changed
        self.lost, self.head = self.lost + cost.lost, self.head + cost.head
        if cost.measured is not None:
            self.measured, self.measured_turns = self.measured.plus(cost.measured), self.measured_turns + 1
        if cost.estimated is not None and cost.rule is not None:
            self.estimated, self.estimated_turns = (
                self.estimated.plus(cost.estimated),
                self.estimated_turns + 1,
            )
            self.price += cost.estimated.weighed(cost.rule)
            self.partial += not turn.whole

    @property
    def used_share(self) -> float | None:
        """Which share of the judged tokens led to use; None where none was judged."""
        return self.used / self.judged if self.judged else None

    def as_json(self) -> dict[str, Any]:
        """The sum of the command-line contract; each figure says whether it was measured or estimated."""
        share = self.used_share
        return {
            "turns": self.turns,
            "machine_turns": self.machine,
            "recorded": self.recorded,
            "not_recorded": self.turns - self.recorded,
            "silent": self.silent,
            "injected_tokens": {"value": self.tokens, "label": "estimated"} if self.recorded else None,
            "used_share": None if share is None else {"value": round(share, 3), "label": "estimated"},
            "places": dict(self.places),
            "compared_turns": self.pairs,
            "changed": self.changed,
            "prefix_lost": {"value": self.lost, "of": self.head, "label": "estimated"}
            if self.pairs
            else None,
            "cache": cache_json(
                self.measured if self.measured_turns else None,
                self.estimated if self.estimated_turns else None,
            ),
            "measured_turns": self.measured_turns,
            "estimated_turns": self.estimated_turns,
            "estimated_without_system_prompt": self.partial,
            "price_in_input_tokens": {"value": round(self.price), "label": "estimated"}
            if self.estimated_turns
            else None,
        }


@dataclass(frozen=True, slots=True)
class CostDay:
    """One agent's turns of one day."""

    agent: str
    day: str
    """YYYY-MM-DD, UTC."""
    sum: CostSum


@dataclass(frozen=True, slots=True)
class CostlyMemory:
    """A memory and all its injections."""

    id: str
    preview: str
    """Its text, masked and cut."""
    turns: int
    tokens: int
    """Estimated, of all these turns together."""
    used: int
    """Turns whose answer has a trace of it."""
    judged: int
    """Turns of which that is known."""

    def as_json(self) -> dict[str, Any]:
        """The memory of the command-line contract."""
        return {
            "id": self.id,
            "turns": self.turns,
            "tokens": {"value": self.tokens, "label": "estimated"},
            "used_in": self.used,
            "judged_in": self.judged,
            "preview": self.preview,
        }


@dataclass(frozen=True, slots=True)
class CostReport:
    """What memory costs, from `from_ms` to `until_ms`."""

    from_ms: int
    until_ms: int
    turns: tuple[TurnCost, ...]
    """In order of time."""
    assumed: str = ""
    """The rule that was taken for models whose provider's rule is not known; empty for none."""
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> CostSum:
        """All turns together."""
        return add_up(self.turns)

    def days(self) -> list[CostDay]:
        """By agent and day, the newest day first."""
        groups: dict[tuple[str, str], list[TurnCost]] = {}
        for cost in self.turns:
            groups.setdefault((day_of(cost.turn.time_ms), cost.turn.agent), []).append(cost)
        ordered = sorted(groups, key=lambda key: key[1])
        ordered.sort(key=lambda key: key[0], reverse=True)
        return [CostDay(agent, day, add_up(groups[day, agent])) for day, agent in ordered]

    def memories(self) -> list[CostlyMemory]:
        """The most expensive memories, the dearest first."""
        by_id: dict[str, list[Any]] = {}
        for cost in self.turns:
            for memory in cost.turn.memories or ():
                if memory.id:
                    by_id.setdefault(memory.id, []).append(memory)
        found = [
            CostlyMemory(
                memory_id,
                " ".join(mask(injected[-1].text)[0].split())[:_SHOWN],
                len(injected),
                sum(memory.tokens for memory in injected),
                sum(memory.used is True for memory in injected),
                sum(memory.used is not None for memory in injected),
            )
            for memory_id, injected in by_id.items()
        ]
        found.sort(key=lambda memory: (-memory.tokens, memory.id))
        return found[:LISTED]

    def rules(self) -> list[CacheRule]:
        """The rules that estimates were made by."""
        return list(dict.fromkeys(cost.rule for cost in self.turns if cost.rule is not None))

    def as_json(self, *, turns: bool = False) -> dict[str, Any]:
        """The document of `memtui cost --json`; `turns` lists every turn."""
        return {
            "schema": "memtui.cost.v1",
            "from_ms": self.from_ms,
            "until_ms": self.until_ms,
            "estimator": ESTIMATOR,
            "rules": [rule.as_json() for rule in self.rules()],
            "assumed_rule": self.assumed or None,
            "total": self.total.as_json(),
            "days": [{"agent": day.agent, "day": day.day, **day.sum.as_json()} for day in self.days()],
            "memories": [memory.as_json() for memory in self.memories()],
            **({"turns": [cost.as_json() for cost in self.turns]} if turns else {}),
            "notes": [*self.notes, NEVER_COMPARED],
        }


def cache_json(measured: CacheFigures | None, estimated: CacheFigures | None) -> dict[str, Any] | None:
    """The cache figures that are known, each with its label; None where none is."""
    found = {
        label: {"read": figures.read, "written": figures.written, "neither": figures.fresh, "label": label}
        for label, figures in (("measured", measured), ("estimated", estimated))
        if figures is not None
    }
    return found or None


def add_up(costs: Sequence[TurnCost]) -> CostSum:
    """Turns together."""
    total = CostSum()
    for cost in costs:
        total.add(cost)
    return total


def cost_turns(turns: Sequence[CostTurn], assume: str = "", lifetime: str = "5m") -> list[TurnCost]:
    """Each turn with its figures. `assume` names the rule for models whose own is not known; empty: no estimate.

    A cache is one agent's and one model's: what agents share is not counted, so reads are a minimum.
    """
    ordered = sorted(turns, key=lambda turn: turn.time_ms)
    requests = build_requests(ordered)
    rules = [_rule(turn, assume, lifetime) for turn in ordered]
    groups: dict[tuple[str, str, CacheRule], list[int]] = {}
    for place, (turn, rule) in enumerate(zip(ordered, rules, strict=True)):
        if rule is not None and requests[place] is not None:
            groups.setdefault((turn.agent, turn.model, rule), []).append(place)
    estimated: dict[int, CacheFigures] = {}
    for (_, _, rule), places in groups.items():
        asked = [request for place in places if (request := requests[place]) is not None]
        estimated |= zip(places, play_cache(asked, rule), strict=True)
    out = []
    last: dict[tuple[str, str], int] = {}
    for place, turn in enumerate(ordered):
        key = (turn.agent, turn.session)
        changed, lost, head = _compare(ordered, requests, last.get(key), place)
        out.append(TurnCost(turn, requests[place], rules[place], estimated.get(place), changed, lost, head))
        last[key] = place
    return out


def day_of(time_ms: int) -> str:
    """The day of a moment, UTC; "not recorded" for no moment."""
    if time_ms <= 0:
        return "not recorded"
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return "not recorded"


def _rule(turn: CostTurn, assume: str, lifetime: str) -> CacheRule | None:
    found = rule_of(turn.provider, turn.model)
    name = found.name if found is not None else assume
    if not name:
        return None
    return named_rule(name, turn.model, lifetime if name == "anthropic" else "5m")


def _compare(
    turns: Sequence[CostTurn], requests: Sequence[PromptRequest | None], before: int | None, place: int
) -> tuple[bool | None, int, int]:
    """(whether the memories changed, tokens lost by that, tokens that could have been shared) since the turn before."""
    now, earlier = requests[place], requests[before] if before is not None else None
    if before is None or now is None or earlier is None or turns[before].window != turns[place].window:
        return None, 0, 0
    shared = _without_memory(earlier.parts), _without_memory(now.parts)
    head = common_prefix(*shared)
    kept = common_prefix(earlier.parts, now.parts)
    kept -= _memory_tokens(earlier.parts, now.parts)
    return turns[before].memory != turns[place].memory, max(0, head - kept), head


def _without_memory(parts: Sequence[PromptPart]) -> list[PromptPart]:
    return [part for part in parts if not part.memory]


def _memory_tokens(first: Sequence[PromptPart], second: Sequence[PromptPart]) -> int:
    """The tokens of memories within the common beginning."""
    tokens = 0
    for one, other in zip(first, second, strict=False):
        if one.text != other.text:
            if one.memory and other.memory:
                tokens += common_prefix([one], [other])
            break
        tokens += other.tokens if other.memory else 0
    return tokens
