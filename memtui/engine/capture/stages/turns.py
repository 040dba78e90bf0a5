"""Which turns the new texts of a conversation are, the keys of its queues, and the bare command to remember."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.capture.stages.transcript import TranscriptTurn
from memtui.engine.core.javascript import trim

RETAINED = 6

_REMEMBER = pattern(
    r"\A(?:请|請)?\s*(?:remember(?:\s+this)?|merke?\s+dir|vergiss\s+(?:das\s+)?nicht|记住|記住|记一下|記一下|别忘了|別忘了)"
    r"\s*[.!?。？]*\Z"
)

_REST = re.compile(r"agent:[^:]*[^:\s][^:]*:(.*)", re.DOTALL)


def is_explicit_remember(text: str) -> bool:
    """Whether the whole text is a command to remember, in English, German or Chinese."""
    return _REMEMBER.match(trim(text)) is not None


def retained_text_cap(min_messages: int) -> int:
    """How many texts wait at most: 6, or the minimum of an extraction where that is more."""
    return max(RETAINED, min_messages)


def conversation_turns(
    turns: Sequence[TranscriptTurn], eligible: Sequence[str], new: Sequence[str]
) -> list[TranscriptTurn]:
    """The turns that the new texts are: the same tail of all turns, else plain turns of the user."""
    count = len(new)
    if not count:
        return []
    if list(eligible[-count:]) == list(new):
        tail = list(turns[-count:])
        if [turn.text for turn in tail] == list(new):
            return tail
    return [TranscriptTurn("user", text) for text in new]


def reconcile_turns(
    turns: Sequence[TranscriptTurn], texts: Sequence[str], places: Sequence[int] | None
) -> list[TranscriptTurn]:
    """The turns of the texts that a filter kept: by place where the places are right, else the first that match."""
    if places is not None and len(places) == len(texts):
        named = [turns[at] for at in places if 0 <= at < len(turns)]
        if len(named) == len(texts) and all(t.text == text for t, text in zip(named, texts, strict=True)):
            return named
    found: list[TranscriptTurn] = []
    at = 0
    for text in texts:
        match = next((i for i in range(at, len(turns)) if turns[i].text == text), None)
        if match is None:
            found.append(TranscriptTurn("user", text))
            continue
        found.append(turns[match])
        at = match + 1
    return found


def ingress_conversation_key(channel: str | None, conversation: str | None) -> str | None:
    """The key of the queue that received messages wait in: channel, or channel:conversation."""
    first, second = trim(channel or ""), trim(conversation or "")
    if not first:
        return None
    return f"{first}:{second}" if second else first


def session_conversation_key(session_key: str | None) -> str | None:
    """The conversation key in a session key `agent:<id>:<rest>`: the rest; None for any other form."""
    match = _REST.fullmatch(trim(session_key or ""))
    return trim(match[1]) or None if match else None


def source_from_session_key(session_key: str | None) -> str:
    """The channel in a session key, `unknown` where it names none."""
    key = session_conversation_key(session_key)
    return (key or "").partition(":")[0] or "unknown"


def memory_subsession(session_key: str) -> bool:
    """Whether a session is a sub-agent's or the memory's own: nothing of it is captured."""
    return ":subagent:" in session_key or ":active-memory:" in session_key


def invalid_agent_id(agent: str | None, declared: Sequence[str]) -> bool:
    """Whether an agent id is none: blank, all digits, or not among the declared ones where there are any."""
    name = trim(agent or "")
    return not name or re.fullmatch("[0-9]+", name) is not None or bool(declared and name not in declared)


def agent_excluded(agent: str, session_key: str, excluded: Sequence[str]) -> bool:
    """Whether a list names an agent: exactly, by a prefix that ends in -, or internal sessions by temp:*."""
    name = trim(agent)
    if not name:
        return False
    for entry in (trim(each) for each in excluded if isinstance(each, str)):
        if not entry:
            continue
        if entry == "temp:*":
            if session_key.startswith("temp:memory-reflection"):
                return True
        elif entry.endswith("-"):
            if name.startswith(entry):
                return True
        elif name == entry:
            return True
    return False


def extraction_policy(scope: str, policies: Mapping[str, str] | None) -> str:
    """What may be extracted into a scope: an exact entry, else the first glob with * that matches; else `full`."""
    given = policies or {}
    if scope in given:
        return given[scope]
    for glob, policy in given.items():
        if "*" in glob:
            parts = ".*".join(re.escape(part) for part in glob.split("*"))
            if re.fullmatch(parts, scope, re.DOTALL):
                return policy
    return "full"
