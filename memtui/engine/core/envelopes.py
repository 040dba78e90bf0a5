"""Envelopes of an agent's host inside texts: what it puts around a message for the model, and nobody said.

A host sets a line of the form `Label (untrusted metadata):` before data that it got from outside, and a fence, a JSON
object or a text behind it. The form is what is known, not the labels: a new channel brings new ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = ("untrusted", "⟦openclaw:ctx⟧")
"""Every text with an envelope holds one of these, upper and lower case alike: looked for first."""

_LEAD = r"[ ]{0,3}(?:\[[^\]\n]{3,60}\][ \t]*)?(?:[-*+][ \t]+)?(?:(?:user|assistant|human)[ \t]*:[ \t]*)?"

_LABEL = r"(?P<label>[^\W\d_][^\n:：()（）`\"“”„«»<>|]{0,99}?)"

_HEADER = re.compile(
    rf"^(?P<lead>{_LEAD}){_LABEL}[ \t]*[(（](?P<bracket>[^()（）\n]{{1,200}})[)）][ \t]*[:：](?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)

_CONTEXT = re.compile(
    rf"^(?P<lead>{_LEAD})(?P<label>[^\n]{{1,200}}?)[ \t]*⟦openclaw:ctx⟧(?P<rest>[^\n]*)$", re.M
)

_MARKED = re.compile(
    r"^[ ]{0,3}(?:"
    r"<<<(?P<mark>[A-Z_]*UNTRUSTED[A-Z_]*)\b[^\n]*?>>>.*?(?:<<<END_(?P=mark)\b[^\n]*?>>>|\Z)"
    r"|\[(?P<block>UNTRUSTED[A-Z ]*)\b[^\n]*?\].*?(?:\[END (?P=block)\]|\Z)"
    r")",
    re.MULTILINE | re.DOTALL,
)

_UNTRUSTED = re.compile(r"\buntrusted\b", re.IGNORECASE)

_WORD_OF_CONTENT = (
    "(?:meta-?data|context|contents?|data|inputs?|messages?|texts?|payloads?|attachments?"
    "|history|body|envelope)"
)

_HOSTS_WORDS = re.compile(
    rf"\buntrusted\s+(?:[\w-]+\s+){{0,2}}?{_WORD_OF_CONTENT}\b|\bfor (?:context|reference|information)\b"
    rf"|{_WORD_OF_CONTENT}\W+(?:[\w-]+\W+){{0,2}}?untrusted\b|\bdo not treat\b|\bnot (?:as )?instructions?\b",
    re.IGNORECASE,
)
"""What a host says in the bracket, and a person who writes of a network, a source or a certificate does not."""

_SOURCE = re.compile(
    r"\buntrusted\s+(?:third[- ]party\s+)?(?:sources?|senders?|origin|users?)\b"
    r"|\b(?:external|forwarded|quoted|third[- ]party)\b",
    re.IGNORECASE,
)
"""Said by hosts and by people: enough before a text of its own lines, not before words on the same line."""

_SAYS = re.compile(
    r"\b(?:is|are|was|were|wraps?|puts?|looks?|see|means?|when|where|which|that|we|you|i|they|it|because|examples?|sample"
    r"|template|format|schema|docs?|documentation|function|method|parser|handles?|strips?|removes?|begins?|starts|like"
    r"|beispiel|exemple|ejemplo)\b|示例|例子|例[:：]?$|пример",
    re.IGNORECASE,
)
"""Words of a sentence about envelopes: a label has none of them."""

_OF_ENVELOPES = re.compile(
    r"\b(?:envelopes?|labels?|headers?|prefix(?:es)?|openclaw|umschl[aä]ge?|enveloppes?|sobres?)\b|信封|封筒|конверт",
    re.IGNORECASE,
)
"""Words of who speaks of envelopes."""

_MOST_WORDS = 9

_FENCE = re.compile(r"[ ]{0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*")

_DATA = ("json", "json5", "jsonc", "yaml", "yml")

_PLAIN = ("", "text", "txt", "plaintext", "markdown", "md")

_JSON_BEGINS = re.compile(r"\{\s*[\"}]|\[\s*[\[{\"\]]")

_BLANK_LINE = re.compile(r"\n[ \t]*\n")

_SAID_NOTHING = re.compile(r"(?:\[[^\]\n]{3,60}\]|[\W_]|(?:user|assistant|human)\s*:)*", re.IGNORECASE)

_INTRODUCES = re.compile(r"[:：]\s*\Z|\b(?:example|e\.g\.|beispiel|exemple)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Envelope:
    """One envelope in a text: characters `start` to `end`, and the label that its host gave it."""

    start: int
    end: int
    label: str


def find_envelopes(text: str) -> tuple[Envelope, ...]:
    """The envelopes of `text`, in order, none inside another; what is only quoted or spoken of is none."""
    lowered = text.lower()
    if not any(mark in lowered for mark in MARKS):
        return ()
    found: list[Envelope] = []
    end = 0
    for envelope in sorted(_candidates(text), key=lambda each: each.start):
        if envelope.start >= end and not _quoted(text, envelope.start, end):
            found.append(envelope)
            end = envelope.end
    return tuple(found)


def without_envelopes(text: str) -> str:
    """What is left of `text` when its envelopes are cut out; empty where nobody said anything else."""
    kept, at = [], 0
    for each in find_envelopes(text):
        kept.append(text[at : each.start])
        at = each.end
    if not at:
        return text
    kept.append(text[at:])
    rest = re.sub(r"\n[ \t]*\n(?:[ \t]*\n)+", "\n\n", "".join(kept)).strip()
    return "" if _SAID_NOTHING.fullmatch(rest) else rest


def _candidates(text: str) -> Iterator[Envelope]:
    for match in _MARKED.finditer(text):
        yield Envelope(match.start(), match.end(), match["mark"] or match["block"])
    for match in _CONTEXT.finditer(text):
        after = _after_label(text, match.start("rest"))
        end = _data_end(text, after, _DATA + _PLAIN)
        if end is not None:
            yield Envelope(match.start(), end, match["label"].strip())
    for match in _HEADER.finditer(text):
        label, bracket = match["label"].strip(), match["bracket"]
        if not _is_label(label) or not (
            _UNTRUSTED.search(bracket)
            or (label.lower().startswith("untrusted ") and _HOSTS_WORDS.search(bracket))
        ):
            continue
        end = _end_behind(text, match.start("rest"), match.end(), bracket, label)
        if end is not None:
            yield Envelope(match.start(), end, label)


def _is_label(label: str) -> bool:
    """Whether these words can be a label: few, none of a sentence, not in the middle of one."""
    if len(label.split()) > _MOST_WORDS or _SAYS.search(label) or re.search(r"[.!?;。！？]\s", label):
        return False
    return not label[0].isascii() or label[0].isupper()


def _end_behind(text: str, rest: int, line_end: int, bracket: str, label: str) -> int | None:
    """Where the envelope of a header ends whose line goes on at `rest`; None where it is a person's own line."""
    after = _after_label(text, rest)
    hosts = bool(_HOSTS_WORDS.search(bracket)) or label.lower().startswith("untrusted ")
    end = _data_end(text, after, (*_DATA, *(_PLAIN if hosts else ())))
    if end is not None:
        return end
    if _FENCE.match(text, after):
        return None  # code of another kind: a person's documentation
    same_line = bool(text[rest:line_end].strip())
    if same_line and not (hosts and _is_data(label, text[rest:line_end].strip())):
        return None
    if not (hosts or _SOURCE.search(bracket)):
        return None
    blank = _BLANK_LINE.search(text, rest if same_line else line_end)
    return len(text) if blank is None else blank.start()


def _is_data(label: str, said: str) -> bool:
    """Whether words on the label's own line are its data, and not the rest of a sentence about it."""
    last = label.rsplit(maxsplit=1)[-1]
    if label.count(" ") and (last[0].isupper() or (last.isascii() and not label.isascii())):
        return False
    return not (
        _OF_ENVELOPES.search(said)
        or re.match(r"[のはがをにでと这這的]|(?:is|are|was|were|means?|wird|ist|est|es|это)\b", said, re.I)
    )


def _after_label(text: str, at: int) -> int:
    """Where what the label is about begins: white space aside."""
    while at < len(text) and text[at].isspace():
        at += 1
    line = text.rfind("\n", 0, at) + 1
    return line if not text[line:at].strip() and line else at


def _data_end(text: str, at: int, languages: tuple[str, ...]) -> int | None:
    """Where the fence or the JSON ends that begins at `at`; one that was cut off reaches to the end of the text."""
    fence = _FENCE.match(text, at)
    if fence is not None:
        if fence["language"].lower() not in languages:
            return None
        mark = re.escape(fence["mark"])
        same = re.compile(rf"{mark}").search(text, fence.end("language"), fence.end())
        if same is not None:  # white space was squeezed: the whole fence stands on one line
            return same.end()
        close = re.compile(rf"^[ ]{{0,3}}{mark}[`~]*[ \t]*$|(?<=[}}\]]){mark}", re.MULTILINE).search(
            text, fence.end()
        )
        return len(text) if close is None else close.end()
    begin = at + len(text[at:]) - len(text[at:].lstrip())
    if not _JSON_BEGINS.match(text, begin):
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        blank = _BLANK_LINE.search(text, begin)
        return len(text) if blank is None else blank.start()
    return end


def _quoted(text: str, start: int, since: int) -> bool:
    """Whether what begins at `start` stands in somebody's code fence, or behind a line that introduces it.

    `since` is where the last envelope ended: what stands before that says nothing about this one.
    """
    before = text[since:start]
    fences = [each["mark"][0] for each in map(_FENCE.match, before.splitlines()) if each]
    if len(fences) % 2:
        return True
    line = before.rstrip().rpartition("\n")[2].strip()
    return bool(line) and not line.startswith(("System:", "[")) and bool(_INTRODUCES.search(line))
