"""From a session's entries to its turns, and what each turn has as evidence of what was injected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from memtui.engine.witness.prompt_block import BlockLine, OtherLine, PromptPrefix, split_prompt
from memtui.engine.witness.session import (
    Entry,
    Sender,
    SessionRecord,
    SubmittedPrompt,
    ToolCall,
    ToolResult,
    is_memory_tool,
)
from memtui.engine.witness.usage import ModelUsage

Evidence = Literal["transcript", "trajectory", "sqlite", "store", "none"]

STRONGEST: tuple[Evidence, ...] = ("transcript", "trajectory", "sqlite", "store", "none")

_NEAR_MS = 120_000
"""How far a run may lie from its user's message where nothing else joins them."""

_NO_EVENT = "the recorder kept no event of this turn"

_CUT = "the recorder cut the event of this turn"

_BESIDE = "no row of the store was injected: the block is of files or of standing intents"


@dataclass(slots=True)
class Turn:
    """One user message of the session's chain."""

    n: int
    """Counts the turns of persons from 1; a turn that no person began has a number below 0."""
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
    run: str = ""
    """The host's run that answered it, where it says."""
    prompt_ms: int = 0
    """When its prompt was submitted, where the recorder kept that."""
    machine: str = ""
    """What began it when no person did: heartbeat, cron, subagent, ..."""
    sender: Sender | None = None
    """Who asked, in a channel with several persons."""
    active: tuple[OtherLine, ...] = ()
    """Entries of files that active-memory put before the question."""
    outcome: str = ""
    """The note that active-memory left instead."""
    intents: tuple[OtherLine, ...] = ()
    """Standing intents that were put before the question."""
    kept: str = ""
    """The message as it stays in the history of the session."""
    sent: str | None = None
    """The message as it was submitted; None where nobody recorded that."""
    system: str | None = None
    """The system prompt of its request, where the recorder kept it."""
    tool_definitions: str | None = None
    """The tool definitions of its request as JSON, where the recorder kept them."""
    window: int = 0
    """How many compactions and resets of the history lie before it in its session."""
    usage: list[ModelUsage] = field(default_factory=list)
    """The tokens of each of its model calls that the host recorded."""

    @property
    def recorded(self) -> bool:
        """Whether the session's own files say what was put before the question."""
        return self.evidence != "none"


def name_turn(n: int, machine: str = "") -> str:
    """A turn's name for people: `turn 3`; of one that no person began, by what began it: `subagent turn 1`."""
    return f"turn {n}" if n > 0 else f"{machine or 'machine'} turn {-n}"


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
    """The turns of a session in order, each with its block as far as the session's files tell.

    Turns that no person began are among them: a heartbeat, a task of a sub-agent, a cron job.
    """
    chain = record.active if record.active is not None else chain_of(record.entries, record.warnings)
    users = [entry for entry in chain if entry.kind == "user"]
    prefixes = [split_prompt(entry.text) for entry in users]
    runs = _runs(chain, users, record.prompts)
    prompt_of_run = {prompt.run: prompt for prompt in record.prompts if prompt.run}
    joined = {
        at: prompt_of_run[runs[id(entry)]]
        for at, entry in enumerate(users)
        if runs.get(id(entry)) in prompt_of_run
    }
    taken = {prompt.run for prompt in joined.values()}
    left = [prompt for prompt in record.prompts if prompt.run not in taken]
    everyone = [entry for entry in record.entries if entry.kind == "user" and id(entry) not in runs]
    by_entry = _join(everyone, left, _leaves(record.entries, chain))
    joined |= {at: by_entry[id(entry)] for at, entry in enumerate(users) if id(entry) in by_entry}
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
        turn = Turn(0, entry.time_ms, entry.id, prefix.question, "none", run=runs.get(id(entry), ""))
        turn.machine, turn.sender = entry.machine or _asked_by(record, entry), entry.sender
        turn.prompt_ms = prompt.time_ms if prompt is not None else 0
        turn.kept = entry.text
        if prompt is not None:
            turn.sent, turn.system, turn.tool_definitions = prompt.prompt, prompt.system, prompt.tools
        if at in held:
            _take(turn, prefix, inside)
        elif prompt is not None and prompt.prompt is not None:
            _from_prompt(turn, prompt.prompt, entry, record.recorded or "trajectory")
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
            elif record.file.archive or record.file.path.suffix == ".zst":
                turn.why = (
                    f"the conversation was {record.file.archived}, and with it what the recorder had kept"
                )
            else:
                turn.why = "this host keeps bare messages, and no recorder's file is here"
        if entry.lost:
            turn.warnings.append("the text of this message cannot be read")
        elif turn.sent is None and turn.evidence == inside:
            turn.sent = entry.text  # this build keeps the block in the message, or put none before it
        turns.append(turn)
    _add_answers(turns, users, chain)
    used = {prompt.run for prompt in joined.values()}
    turns += _machine_turns(record, [prompt for prompt in left if prompt.run not in used])
    return _numbered(turns)


def outline_of(record: SessionRecord) -> list[Turn]:
    """The turns of a record that holds no texts: their times, who asked, and whether their run was recorded."""
    users = [entry for entry in record.entries if entry.kind == "user"]
    runs = _runs(record.entries, users, record.prompts)
    recorded = {prompt.run for prompt in record.prompts}
    turns = []
    for entry in users:
        run = runs.get(id(entry), "")
        turn = Turn(0, entry.time_ms, entry.id, "", "sqlite" if run in recorded else "none", run=run)
        turn.machine, turn.sender = entry.machine or _asked_by(record, entry), entry.sender
        turns.append(turn)
    return _numbered(turns)


def turns_of_prompts(record: SessionRecord) -> list[Turn]:
    """The turns of a session whose transcript is gone, from what its recorder kept."""
    turns = []
    for prompt in sorted(record.prompts, key=lambda each: each.time_ms):
        turn = Turn(0, prompt.time_ms, "", "", "none", why=_CUT, run=prompt.run)
        turn.machine = record.file.machine or _triggered_by(prompt)
        if prompt.prompt is not None:
            prefix = split_prompt(prompt.prompt)
            turn.question = prefix.question
            _take(turn, prefix, record.recorded or "trajectory")
        _take_request(turn, prompt)
        turns.append(turn)
    return _numbered(turns)


def _numbered(turns: list[Turn]) -> list[Turn]:
    """The turns with their numbers: those of persons from 1, the others below 0."""
    persons = machines = 0
    for turn in turns:
        if turn.machine:
            machines -= 1
            turn.n = machines
        else:
            persons += 1
            turn.n = persons
    return turns


def _asked_by(record: SessionRecord, entry: Entry) -> str:
    """What asks in a session that the host opened; a person who writes into it is known by their channel."""
    return "" if entry.sender is not None else record.file.machine


def _triggered_by(prompt: SubmittedPrompt) -> str:
    """What began a run without a message in the transcript."""
    if prompt.run.startswith("announce:"):
        return "announce"
    return "" if prompt.trigger in ("", "user") else prompt.trigger


def _machine_turns(record: SessionRecord, prompts: Sequence[SubmittedPrompt]) -> list[Turn]:
    """Runs of the host itself that have no message in the transcript and got memories all the same."""
    turns = []
    for prompt in prompts:
        why = _triggered_by(prompt)
        prefix = split_prompt(prompt.prompt or "")
        if why and prefix.injected:
            turn = Turn(0, prompt.time_ms, "", prefix.question, "none", run=prompt.run, machine=why)
            _take(turn, prefix, record.recorded or "trajectory")
            _take_request(turn, prompt)
            turns.append(turn)
    return turns


def _take_request(turn: Turn, prompt: SubmittedPrompt) -> None:
    """The request of a turn that has no message in the transcript: nothing of it is known to stay in the history."""
    turn.sent, turn.system, turn.tool_definitions = prompt.prompt, prompt.system, prompt.tools


def _runs(
    chain: Sequence[Entry], users: Sequence[Entry], prompts: Sequence[SubmittedPrompt]
) -> dict[int, str]:
    """The run of each user message, by `id()`.

    Its own key names it. In a channel it has another key, and a run outside the gateway has a name of its own: then
    the first answer to it tells.
    """
    answered = {entry.run for entry in chain if entry.kind != "user"} | {prompt.run for prompt in prompts}
    out = {id(entry): entry.run for entry in users if entry.run in answered and entry.run}
    claimed = set(out.values())
    asked: Entry | None = None
    for entry in chain:
        if entry.kind == "user":
            asked = None if id(entry) in out else entry
        elif asked is not None and entry.run:
            if entry.run not in claimed and not entry.run.startswith("announce:"):
                out[id(asked)] = entry.run
                claimed.add(entry.run)
            asked = None
    return out


def _take(turn: Turn, prefix: PromptPrefix, evidence: Evidence) -> None:
    turn.evidence, turn.block, turn.mode = evidence, prefix.block, prefix.mode
    turn.lines, turn.rules, turn.focus = prefix.lines, prefix.rules, prefix.focus
    turn.active, turn.outcome, turn.intents = prefix.active, prefix.outcome, prefix.intents
    turn.quoted = prefix.quoted
    if prefix.block:
        turn.why = ""
    elif prefix.injected:
        turn.why = _BESIDE
    elif prefix.outcome:
        turn.why = f"nothing was injected: {prefix.outcome}"
    else:
        turn.why = "the submitted prompt holds no block: nothing was injected"


def _from_prompt(turn: Turn, prompt: str, entry: Entry, evidence: Evidence) -> None:
    """What was put before the stored message: the prompt without the message's own words."""
    stored = entry.text
    before = _prefix_of(prompt, stored)
    if (
        before is None
    ):  # shortened or redacted by the recorder: what opens the prompt is still what was injected
        own = split_prompt(prompt)
        _take(turn, own, evidence)
        if entry.lost:
            turn.question = own.question
            return
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
    return before is not None and split_prompt(before).injected


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
    """Give each turn the answers and memory tools of its run; where none is named, those up to the next message."""
    at = -1
    starts = {id(entry): number for number, entry in enumerate(users)}
    of_run = {turn.run: number for number, turn in enumerate(turns) if turn.run}
    queries: dict[str, tuple[str, Mapping[str, Any]]] = {}
    behind: set[str] = set()
    windows = 0
    for entry in chain:
        windows += entry.kind in ("compaction", "reset")
        if id(entry) in starts:
            at = starts[id(entry)]
            turns[at].window = windows
            continue
        place = of_run.get(entry.run, -1) if entry.run else at
        if place < 0:  # before the first message, or of a run that no message began
            place = at if at >= 0 and not turns[at].run and not entry.run.startswith("announce:") else -1
        if place < 0:
            continue
        turn = turns[place]
        if entry.kind == "assistant":
            turn.answer = f"{turn.answer}\n{entry.text}".strip()
            turn.usage += [entry.usage] if entry.usage is not None else []
            queries.update({call: (name, args) for call, name, args in entry.calls})
        elif (result := entry.result) is not None:
            name, args = queries.get(result.call, (result.name, {}))
            if (
                result.args is not None
            ):  # the call itself, behind the bridge: what the bridge gives back repeats it
                behind.add(result.call)
                name, args = result.name, result.args
            elif result.call in behind:
                continue
            name = result.name if is_memory_tool(result.name) else name
            if is_memory_tool(name):
                turn.tools.append(_tool_call(name, args, result))


def _tool_call(name: str, args: Mapping[str, Any], result: ToolResult) -> ToolCall:
    query = args.get("query")
    return ToolCall(
        name,
        query if isinstance(query, str) else "",
        tuple(memory for memory, _ in result.memories),
        tuple(scope for _, scope in result.memories),
        result.searched,
        args,
        result.sources,
        result.failed,
    )
