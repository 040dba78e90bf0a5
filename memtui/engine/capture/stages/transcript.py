"""The transcript that an extraction reads: turns between speaker tags, cut to a budget from the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.core.javascript import utf16_len

_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)

_PAD = rf"[\s{_HIDDEN}]*"


def _spelled(word: str) -> str:
    return f"[{_HIDDEN}]*".join(word)


_TAG = pattern(
    rf"<({_PAD}/?{_PAD}(?:{_spelled('user_message')}|{_spelled('assistant_message')})(?:(?=[\s/{_HIDDEN}])[^<>]*)?)>"
)


class TranscriptTurn(NamedTuple):
    """Who said what."""

    role: str
    text: str


class Transcript(NamedTuple):
    """The transcript as sent, the length it would have had, and whether something of the protected turns is in it."""

    text: str
    full_length: int
    prefix_kept: bool


def neutralize_speaker_tags(text: str) -> str:
    """The text with speaker tags of the transcript made harmless: ‹ › in place of < >."""
    return _TAG.sub("‹\\1›", text)


def bounded_transcript(turns: Sequence[TranscriptTurn], max_chars: int, protected: int = 0) -> Transcript:
    """The last turns that fit into `max_chars` UTF-16 units; the first `protected` turns keep a share of it."""
    safe = [TranscriptTurn(role, neutralize_speaker_tags(text)) for role, text in turns]
    whole = "\n".join(_block(turn) for turn in safe)
    length = utf16_len(whole)
    if length <= max_chars:
        return Transcript(whole, length, True)
    prefix, tail = safe[:protected], safe[protected:]
    if not prefix or not tail:
        text = _bounded(safe, max_chars)
        return Transcript(text, length, bool(text) or not prefix)
    budget = max_chars - 1
    wanted_prefix = utf16_len("\n".join(map(_block, prefix)))
    wanted_tail = utf16_len("\n".join(map(_block, tail)))
    half = budget // 2
    if wanted_prefix <= half:
        share = wanted_prefix
    elif wanted_tail <= half:
        share = budget - wanted_tail
    else:
        share = half
    first, last = _bounded(prefix, share), _bounded(tail, budget - share)
    return Transcript("\n".join(part for part in (first, last) if part), length, bool(first))


def _block(turn: TranscriptTurn) -> str:
    tag = "assistant_message" if turn.role == "assistant" else "user_message"
    return f"<{tag}>\n{turn.text}\n</{tag}>"


def _bounded(turns: Sequence[TranscriptTurn], budget: int) -> str:
    kept: list[str] = []
    for turn in reversed(turns):
        room = budget - (1 if kept else 0)
        block = _block(turn)
        size = utf16_len(block)
        if size <= room:
            kept.append(block)
            budget = room - size
            continue
        text_room = room - (size - utf16_len(turn.text))
        if text_room > 0:
            kept.append(_block(TranscriptTurn(turn.role, utf16_tail(turn.text, text_room))))
        break
    return "\n".join(reversed(kept))


def utf16_tail(text: str, length: int) -> str:
    """The last `length` UTF-16 units of `text`; a character cut in half leaves its second half."""
    raw = text.encode("utf-16-le", "surrogatepass")
    cut = raw[max(0, len(raw) - 2 * length) :]
    return cut.decode("utf-16-le", "surrogatepass") if not _starts_low(cut) else _low_first(cut)


def _starts_low(raw: bytes) -> bool:
    return len(raw) >= 2 and 0xDC <= raw[1] <= 0xDF


def _low_first(raw: bytes) -> str:
    return chr(int.from_bytes(raw[:2], "little")) + raw[2:].decode("utf-16-le", "surrogatepass")
