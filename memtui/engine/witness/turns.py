"""From a session's entries to its turns, and what each turn has as evidence of what was injected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from memtui.engine.witness.prompt_block import BlockLine, PromptPrefix, split_prompt
from memtui.engine.witness.session import Entry, SessionRecord, SubmittedPrompt, ToolCall

Evidence = Literal["transcript", "trajectory", "sqlite", "store", "none"]

STRONGEST: tuple[Evidence, ...] = ("transcript", "trajectory", "sqlite", "store", "none")

_NEAR_MS = 120_000
"""How far a run may lie from its user's message where nothing else joins them."""

_NO_EVENT = "the recorder kept no event of this turn"

_CUT = "the recorder cut the event of this turn"


@dataclass(slots=True)
class Turn:
    """One user message of the session's chain."""

    n: int
    time_ms: int
    entry: str
    question: str
    evidence: Evidence
    block: str = ""
    mode: str = ""
    lines: tuple[BlockLine, ...] = ()
    rules: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    quoted: int = 0
    """Blocks of memories that somebody typed or pasted into the message."""
    answer: str = ""
    tools: list[ToolCall] = field(default_factory=list)
    why: str = ""
    """Why there is no block, or no evidence."""
    warnings: list[str] = field(default_factory=list)
    assumed: bool = False
    """Whether "nothing was injected" is taken from other messages, which hold their blocks."""
    open_end: bool = False
    """Whether these messages are all earlier ones: the host may have changed since."""


def chain_of(entries: Sequence[Entry], warnings: list[str]) -> list[Entry]:
    """The entries from the first to the last one up through their parents; abandoned branches are left out.

    Entries that name no parent at all (old transcripts) hang on the one before them in the file, and so does
    one whose parent could not be read.
    """
    if not entries:
        return []
    place = {entry.id: at for at, entry in enumerate(entries) if entry.id}
    chain: list[Entry] = []
    seen: set[int] = set()
    at: int | None = _last(entries)
    lost = 0
    while at is not None and at not in seen:
        seen.add(at)
        entry = entries[at]
        chain.append(entry)
        if entry.linked and entry.parent is None:
            break
        above = place.get(entry.parent) if entry.parent is not None else None
        if above is None and entry.linked:
            lost += 1
        at = above if above is not None else (at - 1 if at > 0 else None)
    if lost:
        warnings.append(
            f"{lost} of the entries hang on one that could not be read; the entry before was taken instead"
        )
    chain.reverse()
    return chain


def _last(entries: Sequence[Entry]) -> int:
    """The entry that the session ended with; a note of an unknown kind at the end that hangs on nothing is none."""
    at = len(entries) - 1
    while at > 0 and entries[at].kind == "other" and entries[at].linked and entries[at].parent is None:
        at -= 1
    return at


def turns_of(record: SessionRecord) -> list[Turn]:
    """The turns of a session in order, each with its block as far as the session's files tell."""
    chain = chain_of(record.entries, record.warnings)
    users = [entry for entry in chain if entry.kind == "user"]
    prefixes = [split_prompt(entry.text) for entry in users]
    everyone = [entry for entry in record.entries if entry.kind == "user"]
    by_entry = _join(everyone, record.prompts, _leaves(record.entries, chain))
    joined = {at: by_entry[id(entry)] for at, entry in enumerate(users) if id(entry) in by_entry}
    bare = {  # messages that this build stored without the block that it put before them
        at
        for at, prompt in joined.items()
        if prompt.prompt is not None and _was_injected(prompt.prompt, users[at].text)
    }
    kept_bare_from = min(bare, default=len(users))
    held = [
        at
        for at, prefix in enumerate(prefixes)
        if prefix.block and at not in bare and not (at > kept_bare_from or (bare and at in joined))
    ]
    inside: Evidence = "sqlite" if record.file.form == "sqlite" else "transcript"
    turns = []
    for at, (entry, prefix) in enumerate(zip(users, prefixes, strict=True)):
        prompt = joined.get(at)
        turn = Turn(at + 1, entry.time_ms, entry.id, prefix.question, "none")
        if at in held:
            _take(turn, prefix, inside)
        elif prompt is not None and prompt.prompt is not None:
            _from_prompt(turn, prompt.prompt, entry.text, record.recorded or "trajectory")
        else:
            turn.quoted = prefix.quoted + bool(prefix.block)
            if held and (not bare or at < max(held)):
                turn.evidence, turn.assumed, turn.open_end = inside, True, at > max(held)
                turn.why = (
                    "no block in a message of a build that keeps blocks in its messages: nothing was injected"
                )
            elif prompt is not None:
                turn.why = _CUT
            elif record.recorded:
                turn.why = _NO_EVENT + (", its file was full" if record.full else "")
            else:
                turn.why = "this host keeps bare messages, and no recorder's file is here"
        turns.append(turn)
    _add_answers(turns, users, chain)
    return turns


def turns_of_prompts(record: SessionRecord) -> list[Turn]:
    """The turns of a session whose transcript is gone, from what its recorder kept."""
    turns = []
    for number, prompt in enumerate(sorted(record.prompts, key=lambda each: each.time_ms), 1):
        turn = Turn(number, prompt.time_ms, "", "", "none", why=_CUT)
        if prompt.prompt is not None:
            prefix = split_prompt(prompt.prompt)
            turn.question = prefix.question
            _take(turn, prefix, record.recorded or "trajectory")
        turns.append(turn)
    return turns


def _take(turn: Turn, prefix: PromptPrefix, evidence: Evidence) -> None:
    turn.evidence, turn.block, turn.mode = evidence, prefix.block, prefix.mode
    turn.lines, turn.rules, turn.focus = prefix.lines, prefix.rules, prefix.focus
    turn.quoted = prefix.quoted
    turn.why = "" if prefix.block else "the submitted prompt holds no block: nothing was injected"


def _from_prompt(turn: Turn, prompt: str, stored: str, evidence: Evidence) -> None:
    """What was put before the stored message: the prompt without the message's own words."""
    before = _prefix_of(prompt, stored)
    if (
        before is None
    ):  # shortened or redacted by the recorder: what opens the prompt is still what was injected
        own = split_prompt(prompt)
        _take(turn, own, evidence)
        turn.warnings.append("the recorder changed this prompt: a line may differ from what was sent")
    elif before.strip():
        _take(turn, split_prompt(before), evidence)
    else:
        _take(turn, split_prompt(""), evidence)
        turn.why = "the submitted prompt equals the stored one: nothing was injected"
    message = split_prompt(stored)
    turn.quoted = message.quoted + bool(message.block) if before is not None else turn.quoted


def _prefix_of(prompt: str, stored: str) -> str | None:
    """What stands before the stored message in the prompt; None where the prompt does not end with it."""
    text = stored.strip()
    if not text or not prompt.rstrip().endswith(text):
        return None
    return prompt.rstrip()[: -len(text)]


def _was_injected(prompt: str, stored: str) -> bool:
    """Whether a block was put before the stored message, so that this build keeps bare messages."""
    before = _prefix_of(prompt, stored)
    return before is not None and bool(split_prompt(before).block)


def _leaves(entries: Sequence[Entry], chain: Sequence[Entry]) -> dict[int, set[str | None]]:
    """For each user message (by `id()`), the entries that a run may have started from.

    Its parent, and above that as long as no message lies between (a change of model, a compaction).
    """
    by_id = {entry.id: entry for entry in entries if entry.id}
    before = {id(entry): above for above, entry in pairwise(chain)}
    out: dict[int, set[str | None]] = {}
    for entry in entries:
        if entry.kind != "user":
            continue
        leaves: set[str | None] = {entry.parent}
        above = by_id.get(entry.parent or "") or before.get(id(entry))
        while above is not None and above.kind in ("other", "compaction") and above.parent not in leaves:
            leaves.add(above.parent)
            above = by_id.get(above.parent or "")
        out[id(entry)] = leaves
    return out


def _join(
    users: Sequence[Entry], prompts: Sequence[SubmittedPrompt], leaves: dict[int, set[str | None]]
) -> dict[int, SubmittedPrompt]:
    """The run of each user message, by `id()` of the message; a run belongs to one message at most.

    A run that names its leaf belongs to a message that hangs on it. Several messages may hang on one entry
    (tries that were given up, so these are asked, too), and several runs may name it: the words decide, then
    the time.
    """
    pairs: list[tuple[tuple[int, int, int], int, int]] = []
    for at, entry in enumerate(users):
        for number, prompt in enumerate(prompts):
            away = abs(prompt.time_ms - entry.time_ms) if prompt.time_ms and entry.time_ms else _NEAR_MS
            if prompt.leaf not in leaves[id(entry)] if prompt.joined else away >= _NEAR_MS:
                continue
            words = prompt.prompt is not None and _prefix_of(prompt.prompt, entry.text) is not None
            if prompt.joined:
                rank = 0 if words else 2
                if prompt.prompt is not None and not words and away >= _NEAR_MS:
                    continue
            elif words and entry.text.strip():
                rank = 1
            elif prompt.prompt is None and _nearest(users, prompt) == at:
                rank = 3
            else:
                continue
            pairs.append(((rank, away, number), at, number))
    joined: dict[int, SubmittedPrompt] = {}
    used: set[int] = set()
    for _, at, number in sorted(pairs):
        if id(users[at]) not in joined and number not in used:
            joined[id(users[at])] = prompts[number]
            used.add(number)
    return joined


def _nearest(users: Sequence[Entry], prompt: SubmittedPrompt) -> int:
    return min(range(len(users)), key=lambda at: abs(users[at].time_ms - prompt.time_ms))


def _add_answers(turns: Sequence[Turn], users: Sequence[Entry], chain: Sequence[Entry]) -> None:
    """Give each turn the answers and memory tools that follow it, up to the next user message."""
    at = -1
    starts = {id(entry): number for number, entry in enumerate(users)}
    queries: dict[str, tuple[str, str]] = {}
    for entry in chain:
        if id(entry) in starts:
            at = starts[id(entry)]
            continue
        if at < 0:
            continue
        turn = turns[at]
        if entry.kind == "assistant":
            turn.answer = f"{turn.answer}\n{entry.text}".strip()
            queries.update({call: (name, query) for call, name, query in entry.calls})
        elif entry.result is not None:
            call, name, told, searched = entry.result
            asked = queries.get(call, (name, ""))
            if (name or asked[0]).startswith("memory_"):
                ids, scopes = tuple(each for each, _ in told), tuple(scope for _, scope in told)
                turn.tools.append(ToolCall(name or asked[0], asked[1], ids, scopes, searched))
