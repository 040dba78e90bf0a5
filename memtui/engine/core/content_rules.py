"""Texts that give an agent orders instead of telling it something: worth a look, never dropped for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memtui.engine.core.hints import Hints, pieces
from memtui.engine.core.javascript import LINE, LINE_START, SPACE, trim, utf16_len
from memtui.engine.core.order_rules import hints, patterns


def instruction_like(text: str) -> str | None:
    """Why `text` reads like an order to an agent (a rule's name), None when it does not.

    English, German, French, Spanish, Chinese and Japanese; see `order_rules`. A transcript line such as
    "Assistant: ..." counts where no turn of a user stands before it, as in the summary of a session.
    """
    by_hint, known = _by_hint(), patterns()
    first = len(known)
    for piece in pieces(text):
        there = _hints().found_in(piece.lower)
        for number in sorted({number for hint in there for number in by_hint[hint]}):
            if number >= first:
                break
            if known[number].found_in(text, piece):
                first = number
                break
    return known[first].rule if first < len(known) else None


@cache
def _hints() -> Hints:
    return Hints(hints())


@cache
def _by_hint() -> dict[str, tuple[int, ...]]:
    """The numbers of the patterns that a hint belongs to."""
    found: dict[str, list[int]] = {}
    for number, pattern in enumerate(patterns()):
        for hint in pattern.wording.hints:
            found.setdefault(hint, []).append(number)
    return {hint: tuple(numbers) for hint, numbers in found.items()}


@cache
def order_hint() -> str:
    """A pattern that every order matches, for engines that look at a whole column at once."""
    several = dict.fromkeys(each for order in patterns() for each in order.wording.sieve)
    return f"(?i)(?:{'|'.join(several)})"


# Memories that look like orders to a model: why, and whether the phrase is only quoted.

_SPACES = re.compile(r"\s+")

_FILTER: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ignores instructions", re.compile(r"ignore (?:all|any|previous|above|prior) instructions", re.I)),
    ("overrules its program", re.compile(r"do not follow (?:the )?(?:system|developer)", re.I)),
    ("speaks of the system prompt", re.compile(r"system prompt", re.I)),
    ("speaks of the developer message", re.compile(r"developer message", re.I)),
    (
        "opens a block of its own",
        re.compile(r"<\s*(?:system|assistant|developer|tool|function|relevant-memories)\b", re.I),
    ),
    ("calls a tool", re.compile(r"\b(?:run|execute|call|invoke)\b.{0,40}\b(?:tool|command)\b", re.I)),
)
"""What the built-in memory plugin refuses to capture; other plugins and its own store tool let it in."""

_TURN = re.compile(r"\A(?:Assistant|Agent|Bot|AI): ")
"""How a recorded turn of a conversation begins."""

_QUOTES = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|'[^']*'|`[^`]*`")


@dataclass(frozen=True, slots=True)
class OrderMatch:
    """Why a text looks like an order; `quoted` when it does so only inside quotation marks.

    `turn`: when nothing but its beginning, "Assistant: ...", does so, as a turn of a conversation has it.
    """

    rule: str
    quoted: bool
    turn: bool = False

    @property
    def doubt(self) -> str:
        """Why it may be no order at all; empty when nothing speaks against it."""
        if self.turn:
            return "it may be a turn of a conversation"
        return "it stands in quotation marks only" if self.quoted else ""


def injection(text: str) -> OrderMatch | None:
    """The first rule that `text` breaks, None for an ordinary memory.

    A phrase that stands in quotation marks only is spoken about, not spoken: a look will tell.
    """
    rule = _rule(text)
    if rule is None:
        return None
    outside = _rule(_QUOTES.sub('""', text))
    said = _TURN.sub("", text, count=1)
    return OrderMatch(outside or rule, quoted=outside is None, turn=said != text and _rule(said) is None)


def _rule(text: str) -> str | None:
    found = instruction_like(text)
    if found is not None:
        return found
    plain = _SPACES.sub(" ", text)
    return next((name for name, pattern in _FILTER if pattern.search(plain)), None)


# The plugin's regex noise filter: texts it will neither store nor return.

SHORTEST = 5
"""Trimmed texts shorter than this many UTF-16 units are noise."""

_FLAGS = re.ASCII | re.IGNORECASE

_NO_ANSWER = "(?:none|no explicit solution|unknown|not found)"

_DENIAL = re.compile(
    r"i don'?t have (?:any )?(?:information|data|memory|record)|i'?m not sure about|i don'?t (?:recall|remember)"
    r"|it looks like i don'?t|i wasn'?t able to find|no (?:relevant )?memories found|i don'?t have access to",
    _FLAGS,
)

_META_QUESTION = re.compile(
    r"\bdo you (?:remember|recall|know about)\b|\bcan you (?:remember|recall)\b"
    r"|\bdid i (?:tell|mention|say|share)\b|\bhave i (?:told|mentioned|said)\b"
    rf"|\bwhat did i (?:tell|say|mention)\b|只回复(?:精确代号|[{SPACE}]*none)|如果你知道{LINE}+只回复"
    rf"|你还?记得|记不记得|还记得{LINE}*吗|你[知晓]道{LINE}+吗|我(?:之前|上次|以前)[说提讲]{LINE}*[吗呢？?]",
    _FLAGS,
)

_META_FRUSTRATION = re.compile(
    r"\byou (?:never|don'?t|do not|can'?t|cannot) (?:remember|recall|get|understand)\b"
    r"|\bwhy (?:do|can) you (?:keep )?(?:forget|not remember|never remember)\b"
    r"|\bdid you (?:get|understand) what i (?:said|told you|meant)\b"
    rf"|\A[{SPACE}]*what (?:just )?changed\??[{SPACE}]*\Z"
    r"|\bwhy (?:is|are) (?:my|the) memor(?:y|ies) (?:wrong|missing|broken|not working)\b",
    _FLAGS,
)

_BOILERPLATE = re.compile(
    r"(?:hi|hello|hey|good morning|good evening|greetings|fresh session|new session|heartbeat)", _FLAGS
)

_DIAGNOSTIC = re.compile(
    rf"\bquery[{SPACE}]*->[{SPACE}]*{_NO_ANSWER}\b|\buser asked for\b{LINE}*\b{_NO_ANSWER}\b"
    r"|\bno explicit solution\b",
    _FLAGS,
)

_ENVELOPE = re.compile(
    rf"{LINE_START}(?:<<<(?:END_)?EXTERNAL_UNTRUSTED_CONTENT\b"
    rf"|(?:Sender|Conversation info|Forwarded message context)[{SPACE}]*\(untrusted metadata\):"
    rf"|Thread starter[{SPACE}]*\(untrusted, for context\):"
    rf"|\[Queued messages while agent was busy\]|System:[{SPACE}]*\[[0-9\-: +GMT]+\])",
    _FLAGS,
)

# fmt: off
_NOISE_HINTS = (
    "i don't", "i dont", "m not sure about", "t able to find", "memories found", "do you ", "can you ", "did i ",
    "have i ", "只回复", "记得", "你知道", "你晓道", "我之前", "我上次", "我以前", "you never ", "you don",
    "you do not ", "you can", "did you ", "changed", "why is ", "why are ", "->", "user asked for",
    "no explicit solution",
)
# fmt: on
"""Every text that a rule matches anywhere has one of these; looking for them first is four times as fast."""

_GREETING_ONLY = re.compile(
    r"(?:hi|hello|hey|good morning|good evening|greetings)(?: [\w']+)?[!,.]?", re.IGNORECASE
)

_SESSION_ONLY = re.compile(r"(?:fresh|new) session(?: \w+)?[!,.]?", _FLAGS)

_HEARTBEAT_ONLY = re.compile(r"heartbeat(?:[ _]\w+)?[!,.]?", _FLAGS)

_HEARTBEAT_SIGNAL = "HEARTBEAT"

_REPORTED = re.compile(r"[:\"“‘「『]\s*\Z")

_FOUR_IDEOGRAPHS = re.compile("[\u4e00-\u9fff]{3}(?![吗呢])[\u4e00-\u9fff]")

_REMARK_LENGTH = 30
"""A text longer than this that says "no explicit solution" somewhere says more than that."""


def noise_rule(text: str, *, denials: bool = True, meta: bool = True, boilerplate: bool = True) -> str | None:
    """The rule that makes `text` noise, None when it is not.

    short, denial, meta_question, meta_frustration, boilerplate or diagnostic; the switches turn classes
    off, `meta` both meta rules.
    """
    trimmed = trim(text)
    if utf16_len(trimmed) < SHORTEST:
        return "short"
    lowered = trimmed.lower()
    if not any(hint in lowered for hint in _NOISE_HINTS):
        return "boilerplate" if boilerplate and _BOILERPLATE.match(trimmed) else None
    if denials and _DENIAL.search(trimmed):
        return "denial"
    if meta and _META_QUESTION.search(trimmed):
        return "meta_question"
    if meta and _META_FRUSTRATION.search(trimmed):
        return "meta_frustration"
    if boilerplate and _BOILERPLATE.match(trimmed):
        return "boilerplate"
    return "diagnostic" if _DIAGNOSTIC.search(trimmed) else None


def is_frustration(text: str) -> bool:
    """Whether the text complains about the memory itself."""
    return _META_FRUSTRATION.search(text) is not None


def is_envelope(text: str) -> bool:
    """Whether a line of the text is a header that a channel put around the message."""
    return _ENVELOPE.search(text) is not None


def false_positive(text: str) -> str | None:
    """Why the filter is wrong about `text`, in a few words; None where it is right or lets it pass.

    The known mistakes: prefixes without a word boundary, phrases that are only quoted, a remark taken for
    a diagnosis, and four ideographs taken for nothing said.
    """
    trimmed = trim(text)
    rule = noise_rule(trimmed)
    if rule == "boilerplate":
        return _false_prefix(trimmed)
    if rule == "short":
        return "four ideographs say as much as a sentence" if _FOUR_IDEOGRAPHS.fullmatch(trimmed) else None
    if rule == "diagnostic":
        return "a remark, not a diagnosis" if _is_remark(trimmed) else None
    pattern = {"denial": _DENIAL, "meta_question": _META_QUESTION}.get(rule or "")
    hit = pattern.search(trimmed) if pattern else None
    return "the phrase is only quoted" if hit and _REPORTED.search(trimmed[: hit.start()]) else None


def _false_prefix(trimmed: str) -> str | None:
    hit = _BOILERPLATE.match(trimmed)
    word = hit[0] if hit else ""
    if trimmed[len(word) : len(word) + 1].isalnum():
        return f"a word that begins with {word}"
    if trimmed.startswith(_HEARTBEAT_SIGNAL):
        return None
    whole = any(only.fullmatch(trimmed) for only in (_GREETING_ONLY, _SESSION_ONLY, _HEARTBEAT_ONLY))
    return None if whole else f"says something after {word}"


def _is_remark(trimmed: str) -> bool:
    bare = _DIAGNOSTIC.search(trimmed)
    return bare is not None and bare[0].lower() == "no explicit solution" and len(trimmed) > _REMARK_LENGTH
