"""Turns as their requests were: the parts of each prompt, its memories, and what the transcript says it took."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from memtui.engine.cost.cache import PromptPart, PromptRequest, make_part
from memtui.engine.recall.prompt_block import estimated_tokens
from memtui.engine.witness.prompt_block import block_lines, split_prompt
from memtui.engine.witness.usage import ModelUsage

Place = Literal["before the question", "after the question", "system prompt", "none", "not recorded"]

_IN_SYSTEM = re.compile(r"<relevant-memories>\n.*?</relevant-memories>[ \t]*\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InjectedCost:
    """One memory in one prompt."""

    id: str
    """Empty where the line is no memory of this store."""
    line: str
    tokens: int
    """Estimated, of its line."""
    used: bool | None
    """Whether the answer has a trace of it, as Audit judges; None where that is not known."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class CostTurn:
    """One turn and its request."""

    agent: str
    session: str
    n: int
    time_ms: int
    place: Place
    """Where the memories stand in the prompt."""
    memory: str = ""
    """What was put there, word for word; empty for nothing and for what nobody recorded."""
    question: str = ""
    answer: str = ""
    stays: bool = False
    """Whether the memories stay in the history with their message."""
    system: str | None = None
    """Without the memories; None where nobody recorded the system prompt."""
    system_after: str = ""
    """What of the system prompt stands behind its memories."""
    tools: str | None = None
    window: int = 0
    """Compactions and resets before it: behind each the history begins anew."""
    memories: tuple[InjectedCost, ...] | None = None
    """None where it is not recorded."""
    usage: tuple[ModelUsage, ...] = ()
    provider: str = ""
    model: str = ""
    machine: bool = False
    """Whether no person began it."""

    @property
    def recorded(self) -> bool:
        """Whether the prompt of this turn was recorded."""
        return self.place != "not recorded"

    @property
    def whole(self) -> bool:
        """Whether its system prompt and tools were recorded too."""
        return self.recorded and self.system is not None and self.tools is not None

    @property
    def tokens(self) -> int:
        """Estimated tokens of what was injected: of the whole block, else of the memories that are known."""
        if self.memory:
            return estimated_tokens(self.memory)
        return sum(memory.tokens for memory in self.memories or ())


def split_sent(sent: str | None, kept: str) -> tuple[Place, str, str, bool]:
    """(place, memories, question, whether they stay) of a message as it was submitted and as the history keeps it."""
    if sent is None:
        return "not recorded", "", kept, False
    whole, bare = sent.rstrip(), kept.strip()
    if bare and whole != bare and whole.endswith(bare):
        return _placed("before the question", whole[: -len(bare)], bare)
    if bare and whole != bare and whole.startswith(bare):
        return _placed("after the question", whole[len(bare) :], bare)
    prefix = split_prompt(sent)
    if not prefix.injected:
        return "none", "", sent, whole == bare
    place = sent.rfind(prefix.rest) if prefix.rest else len(sent)
    return "before the question", sent[:place].strip("\n"), prefix.rest, whole == bare


def _placed(place: Place, memory: str, question: str) -> tuple[Place, str, str, bool]:
    """What a host puts beside the words of a person is of a memory only where a plugin's block is in it."""
    block = memory.strip("\n")
    return (
        (place, block, question, False)
        if _IN_SYSTEM.search(f"{block}\n") or split_prompt(block).injected
        else ("none", "", question, False)
    )


def split_system(system: str | None) -> tuple[str | None, str, str]:
    """(system prompt up to its memories, the memories, what stands behind them)."""
    match = _IN_SYSTEM.search(system) if system else None
    if system is None or match is None:
        return system, "", ""
    return system[: match.start()], match[0], system[match.end() :]


def build_requests(turns: Sequence[CostTurn]) -> list[PromptRequest | None]:
    """The request of each turn, None for one whose prompt nobody recorded. `turns` are in order of time.

    A request holds the tools, the system prompt, the messages of its session since the last compaction or reset, and
    the turn's own message. Tool calls and their results are not counted: a minimum.
    """
    out: list[PromptRequest | None] = []
    history: dict[tuple[str, str], list[PromptPart]] = {}
    windows: dict[tuple[str, str], int] = {}
    made: dict[str, PromptPart] = {}  # tools and system prompts are long and mostly the same
    for turn in turns:
        key = (turn.agent, turn.session)
        if windows.get(key, turn.window) != turn.window:
            history.pop(key, None)
        windows[key] = turn.window
        said = history.setdefault(key, [])
        memory = [make_part("question", turn.memory, memory=True)] if turn.memory else []
        question = make_part("question", turn.question)
        if turn.recorded:
            front = _front(turn, made)
            own = {"before the question": [*memory, question], "after the question": [question, *memory]}
            out.append(PromptRequest(turn.time_ms, (*front, *said, *own.get(turn.place, [question]))))
        else:
            out.append(None)
        kept = replace(question, kind="history")
        if turn.stays and turn.place in ("before the question", "after the question"):
            both = [*(replace(part, kind="history", memory=False) for part in memory), kept]
            said += both if turn.place == "before the question" else reversed(both)
        else:
            said.append(kept)
        if turn.answer:
            said.append(make_part("history", turn.answer))
    return out


def _front(turn: CostTurn, made: dict[str, PromptPart]) -> list[PromptPart]:
    parts = []
    if turn.tools:
        parts.append(made.setdefault(f"tools {turn.tools}", make_part("tools", turn.tools)))
    if turn.system:
        parts.append(made.setdefault(f"system {turn.system}", make_part("system", turn.system)))
    if turn.place == "system prompt":
        parts.append(make_part("system", turn.memory, memory=True))
        parts += [make_part("system", turn.system_after)] if turn.system_after else []
    return parts


@dataclass(slots=True)
class SplitBlock:
    """A block as its lines: what stands before the memories, the memories, what stands behind them."""

    head: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)

    def joined(self, lines: Iterable[str]) -> str:
        """The block with other memories; empty without any."""
        chosen = list(lines)
        return "\n".join([*self.head, *numbered(chosen), *self.tail]) if chosen else ""


def split_block(block: str) -> SplitBlock | None:
    """The lines of a block; None where its memories do not stand below each other, each on one line."""
    known = {line.line for line in block_lines(block)[1]}
    rows = block.split("\n")
    places = [place for place, row in enumerate(rows) if row in known]
    if not places or places != list(range(places[0], places[-1] + 1)):
        return None
    return SplitBlock(rows[: places[0]], rows[places[0] : places[-1] + 1], rows[places[-1] + 1 :])


_NUMBER = re.compile(r"\d+\. ")


def numbered(lines: Sequence[str]) -> list[str]:
    """Lines of a numbered list with their new numbers; other lines as they are."""
    if not all(_NUMBER.match(line) for line in lines):
        return list(lines)
    return [_NUMBER.sub(f"{place}. ", line, count=1) for place, line in enumerate(lines, 1)]


def bare_line(line: str) -> str:
    """A line without its number: what stays the same when it moves."""
    return _NUMBER.sub("", line, count=1) if _NUMBER.match(line) else line


def stable_order(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """The names of `now`: those that were there before in their old order, then the new ones in theirs."""
    there, known = set(now), set(before)
    kept = [name for name in dict.fromkeys(before) if name in there]
    return kept + [name for name in now if name not in known]
