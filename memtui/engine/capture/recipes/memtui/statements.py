"""Statements worth keeping in what a person says, found by rules: no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from memtui.engine.capture.recipes.memtui import wording
from memtui.engine.capture.recipes.memtui.beside_question import told_beside
from memtui.engine.capture.recipes.memtui.lasting_facts import lasting_fact
from memtui.engine.capture.recipes.memtui.manner import is_at_hand, manner_of
from memtui.engine.capture.recipes.memtui.more_languages import Kind
from memtui.engine.capture.recipes.memtui.technical import FOR_NOW, announces_cause, technical
from memtui.engine.capture.recipes.memtui.wording import Rule
from memtui.engine.core.hints import HintedPatterns

SHORTEST, SHORTEST_CJK = 12, 5
"""Characters of a statement; Chinese and Japanese say as much in less than half."""

LONGEST = 400
"""Characters of one sentence: what is longer is pasted text, not something said."""

_CJK = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")

_KANA = re.compile(r"[぀-ヿ]")

_ENDS = re.compile(
    r"(?<=[。！？!?])(?=\S)|(?<=[.!?])[\"'”’)]?\s+(?=[\"“„'(¿¡]?[A-ZÄÖÜÀ-Ý0-9/¿¡぀-鿿])|(?<=\?)[\"”’)]?\s+(?=[^\W\d_])|\n+"
)

_SHORT_ENDS = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|no|vs|e\.g|i\.e|z\.b|bzw|ca|nr|str|etc|approx|\d+|[A-Z])\.$", re.IGNORECASE
)

_SIGN = re.compile(
    r"[A-Z.0-9端ポ号號番](?:(?<=[A-Z])[A-Z]|(?<=\.)[a-z]|(?<=[A-Za-z][0-9])|(?<=[A-Z]-[0-9])|(?<=[0-9])(?:[A-Za-z]|[0-9]{6})|(?<=[端ポ号號番]))"
)
"""Two capitals, a letter beside a digit, seven digits, a point before a letter; it begins with a set of characters,
so that a regex engine leaps from one to the next."""

_NUMBERED = (
    "port", "puerto", "room", "locker", "gate", "desk", "extension", "zimmer", "raum", "durchwahl", "schließfach",
)  # fmt: skip
"""What a short number behind it makes an identifier."""

_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("@",), r"[a-z0-9_.+-]+@[a-z0-9_-]+\.[a-z0-9_.-]+|(?<!\w)git@\S+"),
    (("://",), r"(?:https?|ssh|git|s3|ftp|postgres|mysql|redis)(?:ql)?://\S+"),
    (("/", "\\"), r"(?<!\w)(?:~|/)[\w.-]+(?:/[\w.-]+)+/?|(?<!\w)[a-z]:\\\S+"),
    (
        ("/",),
        r"(?<![\w/.:-])\.?[a-z_][\w.-]*(?:/[\w.-]+)*/[\w-]+\.[a-z]\w{0,7}(?![\w/])|(?<!\w)~/\.?[\w-]+[\w.-]*",
    ),
    (("_",), r"(?-i:(?<![A-Za-z0-9_$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![A-Za-z0-9_]))"),  # a variable
    ((":",), r"(?<!\w)[a-f0-9]{2}(?::[a-f0-9]{2}){5}(?!\w)"),
    (
        ("-",),
        r"(?<![a-z0-9])[a-z0-9]+(?:-[a-z0-9]+)*-[a-z]*\d+(?![a-z0-9])"
        r"|(?-i:(?<![a-z0-9-])[a-z0-9]+(?:-[a-z0-9]+)*-\w*\d\w*)",
    ),
)
"""Identifiers by the signs of which each has one."""

_NUMBERS = re.compile(
    r"\d(?<![\w.]\d)(?:\d{0,2}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]*\d)"  # an address of a machine
    r"|[\d ()/-]{7,}\d(?![\d.])"  # a telephone, an account
    r"|\d{4,}(?![\d.])|\d*\.\d+\.\d+(?![\w.]*\d))"
    r"|\d(?<![\d.]\d)\d+[-/]\d{2,}(?:[-/]\d+)*(?!\d)",
    re.ASCII,
)
"""Identifiers that begin with a digit."""

_SIGNED = re.compile(
    r"(?-i:(?<![A-Za-z0-9])[A-Z]{2,}[-_ ]?\d{2,}(?:[-_ ]?[A-Za-z0-9]+)*|(?<![A-Za-z0-9])[A-Z]{1,4}-\d+-[A-Za-z0-9]+)"
    r"|(?-i:(?<![A-Za-z0-9])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{5,}(?![A-Za-z0-9]))"  # a booking, a serial number
    r"|(?<![a-z])(?:ports?|puerto)\W{0,3}(?:[a-z]{1,4}\W)?\d{2,5}|\d{2,5}\s?(?:番?ポート|端口)|(?:端口|ポート)\D{0,4}\d{2,5}"
    r"|(?<![a-z])(?:room|locker(?: code)?|gate|desk|extension|zimmer|raum|durchwahl|schließfach)(?: (?:no|nr|number|nummer)\.?)?(?:\W{1,3}(?:is|ist))?\W{1,3}[a-z]?\d{2,5}(?![\w%])"
    r"|(?:房间|房間|门牌|門牌|座位|柜子?|工|卡|学|分机|编|編)(?:号|號)码?\D{0,4}\d{2,}|(?:番号|号室|番地)\D{0,4}\d{2,}|\d{2,}\s?号室"
    r"|(?<![\w.])v\d+\.\d+\.\d+(?![\w.]*\d)|(?<![a-z0-9])(?=[a-f]*\d)[a-f0-9]{7,40}(?![a-z0-9])"
    r"|(?<![a-z0-9@])(?:[a-z0-9-]+\.)+(?:example|com|org|net|io|dev|de|cn|jp|fr|es|uk|local|internal|lan|app|cloud)(?![a-z])(?::\d+)?",
    re.IGNORECASE | re.ASCII,
)
"""Identifiers that `_SIGN` tells; one regex of all of them took a third of the time of a capture."""

_CODE = re.compile(
    r"^\s*(?:```|>>> |\$ |#include|import \w+|from \w+ import|def \w+\(|class \w+[:(]|function \w+\(|SELECT .+ FROM |<\w+[^>]*>|at \w+\.\w+\(|\{\s*\"|\[\d|\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\d\d:\d\d:\d\d\b|[WEINF]: |for \w+ in .+\bdo$)"
    r"|[;)\]}]\s*(?:#|//) |^\w+: \["
    r"|[;{}]\s*$|Traceback \(most recent|(?:^|\s)(?:Error|Exception|WARN|INFO|DEBUG|ERROR)[:\]]"
)

_NEGATED = re.compile(
    r"(?:\bnot|\bnicht(?: mehr)?|\bno longer|\bno|\bpas|\binstead of|\bstatt)\s+(?:(?:on|at|in|the|a|an|am|um|im|der|die|das|den|el|la|le|als|called|port)\s+)*"
    r"(?P<old>[\w.:/@'’-]+)"
    r"|(?:不是|不在|不叫)\s*(?P<zh>[^，,。；;而是]{1,20})|(?P<ja>[^\s、。はがの]{1,16})\s*(?:では|じゃ|で)な(?:く|い)"
)


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """What the rules make of one sentence.

    `kind` is None where nothing in it is worth keeping; `gate` then says which rule dropped it. `sure` is False
    for what a person should decide: it was said with a maybe.
    """

    text: str
    kind: Kind | None
    gate: str = ""
    sure: bool = True
    rule: str = ""
    """The rule that matched, in words, with its number."""
    negated: tuple[str, ...] = ()
    """What a correction says is no longer so."""


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, trimmed; list marks are cut off."""
    found: list[str] = []
    for piece in _split(text):
        line = piece.strip().lstrip("-*•·・> \t").strip()
        if line and found and announces_cause(found[-1]):
            found[-1] = f"{found[-1]} {line}"
        elif line:
            found.append(line)
    return found


def _split(text: str) -> Iterator[str]:
    start = 0
    for match in _ENDS.finditer(text):
        piece = text[start : match.start()]
        if "\n" not in match[0] and _SHORT_ENDS.search(piece[-24:]):
            continue
        yield piece
        start = match.end()
    yield text[start:]


def find(sentence: str) -> FoundStatement:
    """What is worth keeping in one sentence, by the rules of its script."""
    cjk = _CJK.search(sentence) is not None
    if gate := _never(sentence, cjk):
        told = told_beside(sentence) if gate == "question" else ""
        if not told or _never(told, _CJK.search(told) is not None):
            return FoundStatement(sentence, None, gate)
        return _told(told, cjk)
    return _told(sentence, cjk)


def _told(sentence: str, cjk: bool) -> FoundStatement:
    """What is worth keeping in a sentence that tells something."""
    said = wording.LEAD.sub("", sentence).strip()
    led = len(said) < len(sentence)
    if len(said) < (SHORTEST_CJK if cjk else SHORTEST):
        return FoundStatement(sentence, None, "too short")
    spoken = wording.spoken_in(said)
    words = wording.words_in(said, spoken)
    identifier = names_something(said)
    rule = _rule(said, spoken, cjk, identifier)
    if led:
        rule = _rule(sentence, wording.spoken_in(sentence), cjk, identifier) or rule
    if (rule is None or rule[1].kind != "correction") and wording.REVOKED.search(said):
        sure = not wording.HEDGED.search(said, words)
        return FoundStatement(
            _sentence(said), "correction", "" if sure else "unsure", sure, "a correction by its first words"
        )
    if rule is None:
        kind = _declared(said, cjk, identifier, words)
        if kind is None and (told := _technical(said, identifier, words)):
            return told
        if kind is None and (wished := _by_surroundings(said)) and not _stopped(said, words):
            return FoundStatement(_sentence(said), wished, rule=f"{_A[wished]} by what is said around it")
        if kind is None and (lasting := lasting_fact(said)) and not _stopped(said, words):
            return FoundStatement(_sentence(said), lasting.kind, rule=f'{lasting.told} by "{lasting.words}"')
        if kind is None and _is_plan(said, cjk, words):
            return FoundStatement(_sentence(said), "decision", "unsure", False, "uncertain wording")
        if kind is None:
            return FoundStatement(said, None, _unkept(said, words))
        return FoundStatement(_sentence(said), kind, rule=f"{_A[kind]} by its signs")
    if gate := _overruled(said, rule, identifier, led, words):
        return FoundStatement(said, None, gate)
    sure = not wording.HEDGED.search(said, words)
    negated = _negated(said) if rule[1].kind == "correction" else ()
    return FoundStatement(
        _sentence(said), rule[1].kind, "" if sure else "unsure", sure, _name(*rule), negated
    )


def _technical(said: str, identifier: bool, words: frozenset[str] | None) -> FoundStatement | None:
    """A cause, a workaround or a command that holds for longer than today."""
    if wording.HEDGED.search(said, words) or wording.PASSING.search(said, words):
        return None
    if wording.REQUEST.search(said) or wording.COMMON.search(said, words):
        return None
    told = technical(said, names=identifier)
    if told is None:
        return None
    return FoundStatement(
        _sentence(said), "fact", rule=f'{told.told} by "{told.words.strip(_AROUND)[:_TOLD]}"'
    )


def identifiers(text: str) -> list[str]:
    """The identifiers in a text, in the order in which they begin."""
    patterns = (_NUMBERS, _SIGNED, *(shape for _, shape in _SHAPES))
    found = {match.span(): match[0] for pattern in patterns for match in pattern.finditer(text)}
    return [found[span] for span in sorted(found)]


def names_something(text: str) -> bool:
    """Whether a text holds an identifier: an address, a number, a path or the like."""
    if _NUMBERS.search(text) is not None:
        return True
    for signs, shape in _SHAPES:
        for sign in signs:
            if sign in text and shape.search(text) is not None:
                return True
    return _has_sign(text) and _SIGNED.search(text) is not None


def _has_sign(text: str) -> bool:
    if _SIGN.search(text) is not None:
        return True
    lower = text.lower()
    for word in _NUMBERED:  # noqa: SIM110 - `any` over a generator takes twice the time
        if word in lower:
            return True
    return False


_SHAPES = tuple((signs, re.compile(form, re.IGNORECASE | re.ASCII)) for signs, form in _FORMS)


def _never(sentence: str, cjk: bool) -> str:
    """The gate that no rule can open again, empty for none."""
    if len(sentence) < (SHORTEST_CJK if cjk else SHORTEST) and not names_something(sentence):
        told = _unkept(sentence)
        return told if told in ("greeting", "assent") else "too short"
    if len(sentence) > LONGEST:
        return "too long"
    if wording.GREETING.match(sentence):
        return "greeting"
    if wording.is_question(sentence) and not wording.HEDGED.match(sentence):
        return "question"
    if _is_code(sentence):
        return "code or output"
    if wording.UNREAL.search(sentence):
        return "imagined"
    return manner_of(sentence)


def _by_surroundings(said: str) -> Kind | None:
    """A decision or a wish that no rule of a language words."""
    found = _around().search(said)
    if "settled" in found:
        return "decision"
    return "preference" if found else None


@cache
def _around() -> HintedPatterns:
    return HintedPatterns(settled=wording.SETTLED, addressed=wording.ADDRESSED)


def _stopped(said: str, words: frozenset[str] | None) -> bool:
    """Whether a sentence is uncertain, passing or a request, whatever it tells."""
    return (
        wording.HEDGED.search(said, words)
        or wording.PASSING.search(said, words)
        or wording.REQUEST.search(said)
        or is_at_hand(said)
    )


def _is_code(sentence: str) -> bool:
    for sign in _CODE_SIGNS:
        if sign in sentence:
            return _CODE.search(sentence) is not None
    return _CODE.match(sentence) is not None


_CODE_SIGNS = (";", "{", "}", ":", "]", "#", "//", "Traceback")
"""What code has that does not begin like code."""


def _unkept(said: str, words: frozenset[str] | None = None) -> str:
    """Why a sentence in which no rule found a statement is not kept, as exactly as can be said."""
    if wording.GREETING.match(said):
        return "greeting"
    if wording.THANKS.match(said):
        return "assent"
    if wording.REQUEST.search(said):
        return "request"
    if wording.HEDGED.search(said, words):
        return "unsure"
    return "no statement"


def _declared(said: str, cjk: bool, identifier: bool, spoken: frozenset[str] | None) -> Kind | None:
    """What no wording tells but the signs do: whose it is, that it lasts, where it is kept, what it is called."""
    words = len(said) // 2 if cjk else said.count(" ") + 1
    stopped = any(
        pattern.search(said, spoken)
        for pattern in (wording.TROUBLE, wording.HEDGED, wording.PASSING, wording.COMMON)
    )
    if words < 4 or stopped or wording.THANKS.search(said):
        return None
    if (
        identifier
        and not FOR_NOW.search(said)
        and (not wording.REQUEST.search(said) or _ADDRESS.search(said))
    ):
        return "identifier"
    if wording.REQUEST.search(said) or wording.STATE.match(said) or _POINTS.match(said):
        return None
    lasting = wording.LASTING.search(said, spoken)
    if wording.PLACED.search(said, spoken) or (wording.OWN.search(said) and (words >= 5 or lasting)):
        return "fact"
    return "fact" if lasting and words >= 5 else None


def _is_plan(said: str, cjk: bool, spoken: frozenset[str] | None) -> bool:
    """Whether a person thinks aloud about something of their own: for a person to decide."""
    words = len(said) // 2 if cjk else said.count(" ") + 1
    if words < 4 or not wording.HEDGED.search(said, spoken):
        return False
    stopped = wording.TROUBLE.search(said, spoken) or wording.PASSING.search(said, spoken)
    return not stopped and not wording.REQUEST.search(said) and bool(_WE.search(said))


_WE = re.compile(
    r"\b(?:i|we|my|our|ich|wir|mein\w*|unser\w*|vamos|mi|nous|on|mon|ma)\b|我|咱|私|うち", re.IGNORECASE
)

_ADDRESS = re.compile(r"\S@\S+\.\S")

_POINTS = re.compile(
    r"^(?:it|this|that|these|those|he|she|they|there|here|you|what|das|dies(?:e[rs]?)?|es|er|sie|du|da|hier"
    r"|esto|eso|él|ella|ça|cela|il|elle|这|那|他|她|它|你|それ|これ|あれ|彼|彼女|あなた|その|この)(?:['’]|\b|(?=[\u3040-\u9fff]))",
    re.IGNORECASE,
)
"""It begins with a word that points at something outside the sentence."""


def _overruled(
    said: str, rule: tuple[int, Rule, str], identifier: bool, led: bool, words: frozenset[str] | None
) -> str:
    """The gate that a matching rule does not open."""
    kind, durable = rule[1].kind, rule[1].durable or led
    if not durable and kind not in ("correction", "identifier") and wording.REQUEST.search(said):
        return "request"
    if kind == "identifier" and wording.REQUEST.search(said):
        return "request"
    if kind == "identifier" and FOR_NOW.search(said):
        return "passing"
    if kind == "preference" and is_at_hand(said):
        return "request"
    if kind == "fact" and not identifier and wording.PASSING.search(said, words):
        return "passing"
    if kind in ("fact", "preference") and wording.STATE.match(said) and not identifier:
        return "passing"
    if kind in ("fact", "correction") and wording.COMMON.search(said, words):
        return "common knowledge"
    return ""


def _rule(said: str, spoken: Sequence[str], cjk: bool, identifier: bool) -> tuple[int, Rule, str] | None:
    """The first rule that matches, with its number and the words that it goes by; corrections come first,
    identifiers before facts.

    `spoken` are the words of `said` in lower case.
    """
    if cjk:
        rules = wording.JAPANESE if _KANA.search(said) else wording.CHINESE
        tried: Sequence[tuple[int, Rule]] = [
            (number, rule) for number, rule in enumerate(rules) if any(word in said for word in rule.words)
        ]
    else:
        index = _by_word()
        numbers = {n for word in spoken for n in index.get(word, ())}
        numbers |= {n for n in _ALWAYS if ":" in said}
        tried = [(number, wording.LATIN[number]) for number in sorted(numbers)]
    best: tuple[int, Rule, str] | None = None
    for number, rule in tried:
        if rule.kind == "identifier" and not identifier:
            continue
        if best is not None and _ORDER[rule.kind] >= _ORDER[best[1].kind]:
            continue
        match = rule.pattern.search(said)
        if match is not None:
            best = (number, rule, match[0])
    return best


_ORDER = {"correction": 0, "decision": 1, "preference": 2, "identifier": 3, "fact": 4}

_ALWAYS = tuple(n for n, rule in enumerate(wording.LATIN) if rule.kind == "identifier")

_PIECES = ("lieblings", "gefall")


@cache
def _by_word() -> dict[str, tuple[int, ...]]:
    """Numbers of the Latin rules by each of their words; the rules for any name or word are under all."""
    found: dict[str, list[int]] = {}
    for number, rule in enumerate(wording.LATIN):
        for word in rule.words:
            found.setdefault(word, []).append(number)
    return {word: tuple(numbers) for word, numbers in found.items()}


def _name(number: int, rule: Rule, words: str) -> str:
    """A rule in words: what it takes the sentence for, by which of its words, and its number."""
    told = words.strip(_AROUND)
    if len(told) > _TOLD:
        told = f"{told[:_TOLD].rsplit(' ', 1)[0].rstrip(_AROUND)} …"
    by = f' by "{told}"' if told else ""
    return f"{_A[rule.kind]}{by} ({_LANGUAGES[rule.language]} rule {number})"


_A: dict[Kind, str] = {
    "preference": "a preference",
    "decision": "a decision",
    "fact": "a fact",
    "identifier": "an identifier",
    "correction": "a correction",
}

_LANGUAGES = {
    "en": "English", "de": "German", "es": "Spanish", "fr": "French", "pt": "Portuguese", "ru": "Russian",
    "zh": "Chinese", "ja": "Japanese",
}  # fmt: skip

_AROUND = " \t,.:;!。、，：\"“”„'"

_TOLD = 40
"""Characters of a sentence that are quoted as what a rule went by."""


def _sentence(said: str) -> str:
    """The statement in its own words: what led up to it is gone, so it begins with a capital where it did."""
    return said[:1].upper() + said[1:] if said[:1].islower() and said[1:2].islower() else said


def _negated(said: str) -> tuple[str, ...]:
    """The values that a correction takes back."""
    values = [value for match in _NEGATED.finditer(said) for value in match.groups() if value]
    return tuple(value.strip(".,:;' ’") for value in values if value.strip(".,:;' ’"))
