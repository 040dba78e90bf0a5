"""What the same turns would have cost with the memories in another form; nothing of it has happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import counted
from memtui.engine.cost.cache import CacheFigures
from memtui.engine.cost.figures import NEVER_COMPARED, CostReport, add_up, cost_turns
from memtui.engine.cost.turns import CostTurn, Place, bare_line, split_block, stable_order

if TYPE_CHECKING:
    from memtui.engine.cases import Case
    from memtui.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class CostVariant:
    """One form of the block, and what the recorded turns would have cost with it."""

    name: str
    tokens: int
    """Injected, of all turns."""
    cache: CacheFigures
    price: float
    """Of all prompts, in input tokens."""
    recall: float | None
    """Mean over the cases of the share of expected memories in the block; None where it was not measured."""
    why: str = ""
    """Why the recall was not measured, or why it is the same."""

    def as_json(self) -> dict[str, Any]:
        """The variant of the command-line contract."""
        return {
            "name": self.name,
            "injected_tokens": self.tokens,
            "cache": {"read": self.cache.read, "written": self.cache.written, "neither": self.cache.fresh},
            "price_in_input_tokens": round(self.price),
            "recall": None if self.recall is None else round(self.recall, 3),
            "recall_note": self.why or None,
            "label": "hypothetical",
        }


@dataclass(frozen=True, slots=True)
class WhatIfCost:
    """All forms, the recorded one first."""

    variants: tuple[CostVariant, ...]
    turns: int
    """Turns with a recorded prompt and a rule: all that could be played."""
    cases: int
    """Cases with an expected memory that were asked."""
    unmeasured: str = ""
    """Why no recall was measured; empty where it was."""

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract."""
        return {
            "schema": "memtui.cost-what-if.v1",
            "turns": self.turns,
            "cases": self.cases,
            "variants": [variant.as_json() for variant in self.variants],
            "notes": [NEVER_COMPARED],
        }


def play_variants(
    report: CostReport,
    *,
    items: int,
    repeat: int,
    lifetime: str = "5m",
    recalls: Mapping[int, float] | None = None,
    cases: int = 0,
    most_items: int = 0,
    unmeasured: str = "no case with an expected memory was asked",
) -> WhatIfCost:
    """The report's turns with the block in other forms.

    `items` is the number of memories of the shorter block, `repeat` the turns before a memory may come again.
    `recalls` is the recall in the block on the cases by the number of items, `most_items` today's number.
    """
    turns = [cost.turn for cost in report.turns]
    known = recalls or {}
    base = known.get(most_items)
    none = "" if known else unmeasured
    same = none or "the same memories"
    forms: tuple[tuple[str, Callable[[list[CostTurn]], list[CostTurn]], float | None, str], ...] = (
        ("as recorded", lambda given: given, base, none),
        ("stable order", _stable, base, same),
        (
            "after the question",
            lambda given: [_placed(turn, "after the question") for turn in given],
            base,
            same,
        ),
        ("before the history", lambda given: [_placed(turn, "system prompt") for turn in given], base, same),
        (
            f"at most {counted(items, 'item')}",
            lambda given: [_shorter(turn, items) for turn in given],
            known.get(items),
            none,
        ),
        (
            f"no repeat within {counted(repeat, 'turn')}",
            lambda given: _rarer(given, repeat),
            None,
            "a case is one question: what came in earlier turns is not in it",
        ),
    )
    found = []
    played = 0
    for name, change, recall, why in forms:
        total = add_up(cost_turns(change(turns), report.assumed, lifetime))
        played = played or total.estimated_turns
        found.append(CostVariant(name, total.tokens, total.estimated, total.price, recall, why))
    return WhatIfCost(tuple(found), played, cases, none)


def measure_what_if(
    engine: Engine,
    report: CostReport,
    cases: Sequence[Case],
    *,
    items: int,
    repeat: int,
    lifetime: str = "5m",
    cancel: CancelToken | None = None,
) -> WhatIfCost:
    """The forms of `play_variants`, each with the recall of its block on the cases of the store.

    Where a question would have to be sent to a service and is not, no recall is measured: words alone would measure
    another recall than the agents'.
    """
    recalls, asked, today = block_recalls(engine, cases, [items], cancel)
    unmeasured = "no case with an expected memory was asked"
    if asked and engine.withheld:
        recalls, asked, unmeasured = {}, 0, engine.withheld
    return play_variants(
        report,
        items=items,
        repeat=repeat,
        lifetime=lifetime,
        recalls=recalls,
        cases=asked,
        most_items=today,
        unmeasured=unmeasured,
    )


def block_recalls(
    engine: Engine, cases: Sequence[Case], items: Sequence[int], cancel: CancelToken | None = None
) -> tuple[dict[int, float], int, int]:
    """(recall of the injected block by its number of items, cases asked, today's number of items).

    Only cases with an expected memory count. A recipe whose block has another form is measured as it is.
    """
    from memtui.engine.explain import injected
    from memtui.engine.recall import recipe_named
    from memtui.engine.recall.prompt_lines import settings_of
    from memtui.engine.recall.request import UNSET, RecallRequest

    recipe = recipe_named(engine.default_recipe)
    sums: dict[int, float] = {}
    asked = today = 0
    for case in cases:
        if not case.expected:
            continue
        if cancel is not None:
            cancel.check()
        trace = engine.recall(
            RecallRequest(
                case.query,
                recipe=recipe.name,
                scopes=case.searched,
                category=case.category,
                agent=case.agent,
                query_vector=case.query_vector,
                source=recipe.hook or UNSET,
                before_prompt=True,
                own_words=True,
                limit=max(items),
            )
        )
        if trace.failure is not None:
            continue
        asked += 1
        settings = settings_of(trace.auto_recall)
        plain = injected(trace)
        today = settings.items if plain.items is None else plain.items
        for count in {*items, today}:
            block = plain
            if recipe.prompt in ("", "as the plugin") or trace.plan is not None:
                wider = replace(settings, max_items=count, max_per_turn=count)
                block = injected(trace, wider) if count != today else plain
            ids = {part.id for part in block.parts if part.line}
            sums[count] = sums.get(count, 0.0) + len(ids & set(case.expected)) / len(set(case.expected))
    return {count: total / asked for count, total in sums.items()}, asked, today


def _placed(turn: CostTurn, place: Place) -> CostTurn:
    """A turn with its block at another place, and only there: it does not stay in the history."""
    if not turn.memory or turn.place == "not recorded":
        return turn
    system = (turn.system or "") + turn.system_after if turn.system is not None else None
    return replace(turn, place=place, stays=False, system=system, system_after="")


def _stable(turns: list[CostTurn]) -> list[CostTurn]:
    """The memories of each turn in the order of the turn before, as `memtui inject --stable` puts them."""
    before: dict[tuple[str, str], list[str]] = {}
    out = []
    for turn in turns:
        block = split_block(turn.memory) if turn.memory else None
        if block is None:
            out.append(turn)
            continue
        lines = {bare_line(line): line for line in block.lines}
        key = (turn.agent, turn.session)
        order = stable_order(before.get(key, ()), list(lines))
        before[key] = order
        out.append(replace(turn, memory=block.joined(lines[name] for name in order)))
    return out


def _shorter(turn: CostTurn, items: int) -> CostTurn:
    block = split_block(turn.memory) if turn.memory else None
    return turn if block is None else _with_lines(turn, block.lines[:items])


def _rarer(turns: list[CostTurn], repeat: int) -> list[CostTurn]:
    last: dict[tuple[str, str], dict[str, int]] = {}
    numbers: dict[tuple[str, str], int] = {}
    out = []
    for turn in turns:
        key = (turn.agent, turn.session)
        number = numbers[key] = numbers.get(key, 0) + 1
        block = split_block(turn.memory) if turn.memory else None
        if block is None:
            out.append(turn)
            continue
        seen = last.setdefault(key, {})
        lines = [line for line in block.lines if number - seen.get(bare_line(line), -repeat) >= repeat]
        seen.update(dict.fromkeys(map(bare_line, lines), number))
        out.append(_with_lines(turn, lines))
    return out


def _with_lines(turn: CostTurn, lines: Sequence[str]) -> CostTurn:
    block = split_block(turn.memory)
    if block is None or len(lines) == len(block.lines):
        return turn
    kept = set(map(bare_line, lines))
    memories = tuple(memory for memory in turn.memories or () if bare_line(memory.line) in kept)
    made = block.joined(lines)
    return replace(turn, memory=made, memories=memories, place=turn.place if made else "none")
