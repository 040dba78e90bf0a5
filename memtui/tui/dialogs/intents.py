"""What a typed sentence asks for: VERB [THING] [about WORDS] [in SCOPE] [as FORM] [since TIME], by the table's verbs.

Beside it "set FIELD of WORDS to VALUE", "what did AGENT get", "who reads SCOPE" and "why is WORDS not recalled".

Where no verb begins the sentence, one may stand further on: "atlas as markdown, export it", "lint duplicates merge".
Each sentence ends on a preview, never on a write; what of it was not understood is kept, to be shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache

from memtui.tui.actions.data import SENTENCES


@lru_cache(maxsize=1)
def export_words() -> dict[str, str]:
    """Words for the formats of an export, to their names."""
    from memtui.engine.transfer import EXPORT_FORMATS

    return {
        word: export_format.name
        for export_format in EXPORT_FORMATS
        for word in (export_format.name, *export_format.words)
    }


_OF_A_FORM = frozenset(("file", "files", "folder", "vault", "format", "form", "lines", "notes"))
"""Words that follow the name of a form and add nothing: "as an obsidian vault", "as a CSV file"."""

_FILLERS = frozenset(
    (
        "the",
        "a",
        "an",
        "all",
        "my",
        "our",
        "any",
        "every",
        "everything",
        "memory",
        "memories",
        "about",
        "of",
        "on",
        "me",
        "us",
        "that",
        "those",
        "these",
        "this",
        "it",
        "them",
        "with",
        "for",
        "which",
        "are",
        "is",
        "named",
        "called",
        "mentioning",
        "anything",
        "something",
        "him",
        "her",
        "they",
        "what",
    )
)
"""Words that say nothing about which memories are meant."""

_POLITE = (
    "please",
    "can you",
    "could you",
    "would you",
    "i want to",
    "i would like to",
    "i'd like to",
    "i need to",
    "let me",
    "let's",
    "lets",
    "now",
    "just",
    "ok",
)
"""How a sentence may begin before its verb."""

_KINDS_OF_SCOPE = frozenset(("project", "agent", "user", "scope", "custom", "team"))

CONDITIONS = {
    "archived": "archived",
    "pending": "pending",
    "expired": "expired",
    "superseded": "superseded",
    "replaced": "superseded",
    "stale": "stale",
    "outdated": "stale",
    "noise": "noise",
    "junk": "noise",
    "greetings": "noise",
    "chatter": "noise",
    "duplicates": "duplicate",
    "doubles": "duplicate",
    "secrets": "secret",
    "passwords": "secret",
    "pinned": "pinned",
    "unconfirmed": "pending",
}
"""Words that, standing alone, name a condition of memories rather than a word in them."""

_IN_TEXTS = frozenset(("greetings", "chatter", "junk", "passwords", "doubles", "outdated"))
"""Those of them that a text may hold as well: who looks for them means the word."""

_ASKING = frozenset(
    ("who", "what", "which", "where", "when", "how", "is", "are", "was", "do", "does", "did", "can", "should")
)
"""Words that begin a question: a verb further on is part of what is asked, unless the question is one of ours."""

_ANYWHERE = ("sessions", "may-read", "access", "reach", "why-not", "changed")
"""Sentences that are questions themselves."""

_NEVER_LATER = ("ask", "blame", "find", "nearest", "import")
"""Sentences whose verbs are common words, or whose rest is taken as it stands: only at the beginning do they count."""

_WHAT_FOLLOWS = ("about", "of", "with", "mentioning", "on", "named")
"""Words between a condition and what the memories hold: "duplicates about lint"."""

_TIMES = {"today": 1, "yesterday": 2, "week": 7, "month": 30, "year": 365}
_DAYS = re.compile(r"(\d{1,4})(d|days?|w|weeks?)?")


_PLACES = ("undo", "changed", "merge", "mask", "hide", "clean")
"""Sentences whose words are not a filter of memories, or that name their condition themselves."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A sentence as it was understood."""

    name: str
    """Of its row in the table."""
    label: str
    words: tuple[str, ...] = ()
    """What the memories must hold, or the words of a question."""
    scope: str = ""
    days: int = 0
    form: str = ""
    unknown: tuple[str, ...] = ()
    """Words that could not be used."""
    condition: str = ""
    """What all of them are, as the filter's `is:` names it."""
    agent: str = ""
    """Of whom it is asked, as it was typed."""
    field: str = ""
    """What of them is changed, and to what."""
    value: str = ""
    doubted: bool = False
    """Whether the words may be those of a command: one that has them all comes first then."""

    @property
    def title(self) -> str:
        """The whole in words, as it will be done."""
        if self.agent:
            when = f" {_day(self.days)}" if self.days else ""
            return f"{self.label} {self.agent} {'got' if self.name == 'sessions' else 'may read'}{when}"
        parts = [self.label, self.field] if self.field else [self.label]
        joined = " ".join(self.words)
        if self.condition:
            joined = f"what is {self.condition}" + (f" about {joined}" if joined else "")
        if joined:  # "Merge duplicates about lint", "Forget Peter Lund"
            parts.append(f"about {joined}" if self.name in _PLACES else joined)
        if self.scope:
            parts.append(f"in {self.scope}" if joined else self.scope)
        if self.value:
            parts.append(f"to {self.value}")
        if self.days and SENTENCES[self.name]["takes"] == "entries":
            parts.append(f"of {_day(self.days)}")
        elif self.days:
            parts.append(f"of the last {self.days} days" if self.days > 1 else "of today")
        if self.form:
            parts.append(f"as {self.form}")
        return " ".join(parts)


def in_singular(intent: Intent) -> Intent | None:
    """The same of words without their plural, for where no memory has them as typed; None where none is a plural."""
    words = tuple(_singular(word) for word in intent.words)
    return replace(intent, words=words) if words != intent.words else None


def _singular(word: str) -> str:
    low = word.casefold()
    if len(low) < 4 or not low.endswith("s") or low.endswith(("ss", "us", "is")):
        return word
    return f"{word[:-3]}y" if low.endswith("ies") and len(low) > 4 else word[:-1]


def _day(days: int) -> str:
    """Days back, as a sentence names them."""
    return {1: "today", 2: "yesterday"}.get(days, f"the last {days} days")


def understood(text: str, scopes: Sequence[str] = ()) -> list[Intent]:
    """What the sentence may ask for, the longest verb first; empty where no verb begins it, or nothing follows it.

    `scopes` are those of the store: "atlas" means project:atlas.
    """
    typed = _without_manners(text)
    return _begun(typed, scopes) or _verb_later(typed, scopes)


def _begun(typed: Sequence[str], scopes: Sequence[str]) -> list[Intent]:
    """What the words ask for whose first are a verb, the longest verb first."""
    lowered = [word.casefold() for word in typed]
    found: list[tuple[int, Intent]] = []
    for name in SENTENCES:
        best, said = 0, ""
        for verb in _verbs(name):
            parts = verb.split()
            if lowered[: len(parts)] == parts and len(parts) > best:
                best, said = len(parts), verb
        if best and (intent := _intent(name, list(typed[best:]), scopes, said)) is not None:
            common = name in _OF_COMMANDS or (
                name in REMOVING_SENTENCES and said.split()[0] not in _FORGETTING
            )
            found.append((best, replace(intent, doubted=common)))
    return [intent for _, intent in sorted(found, key=lambda pair: -pair[0])]


def _verb_later(typed: Sequence[str], scopes: Sequence[str]) -> list[Intent]:
    """What is asked for by words whose verb is not the first: it is read from there, with what stood before it."""
    formed = [word.casefold() for word in typed[-2:-1]] in (["as"], ["to"]) and _form_at(
        typed, len(typed) - 1
    )
    if formed and not _near_verbs(typed[0]) and "export" not in typed:
        typed = [*typed, "export"]  # "atlas as markdown"
    firsts = {verb.split()[0] for name in SENTENCES if name not in _NEVER_LATER for verb in _verbs(name)}
    asking = bool(typed) and typed[0].casefold() in _ASKING
    for at in range(1, len(typed)):
        if typed[at].casefold() not in firsts:
            continue
        before, verb, after = typed[:at], typed[at:], typed[at + 1 :]
        for order in ([*verb, *before], [typed[at], *before, *after]):
            for each in _begun(order, scopes):
                known = each.name in _ANYWHERE
                if (
                    each.name in _NEVER_LATER
                    or (asking and not known)
                    or (each.agent and not _known(each, scopes))
                ):
                    continue
                if each.name == "change" and not each.value:
                    continue  # "the last change", "on the move": no field is set
                if each.name in REMOVING_SENTENCES and not _at_the_end(typed[at].casefold(), after):
                    continue
                return [replace(each, doubted=True)]
    return []


def _at_the_end(verb: str, after: Sequence[str]) -> bool:
    """Whether a verb that removes ends the sentence and is no other word: not of "users who forget a password"."""
    return verb in _FORGETTING and all(word.casefold() in _FILLERS for word in after)


def _known(intent: Intent, scopes: Sequence[str]) -> bool:
    """Whether a scope of the store is of the sentence's agent."""
    return f"agent:{intent.agent}".casefold() in (scope.casefold() for scope in scopes)


def _without_manners(text: str) -> list[str]:
    """The words of a sentence without what it politely begins and ends with."""
    words = [word.rstrip(",;") or word for word in text.replace("\u2019", "'").rstrip("?!. ").split()]
    begun = True
    while begun:
        begun = False
        for said in _POLITE:
            parts = said.split()
            if (
                len(words) > len(parts)
                and [word.casefold().rstrip(",") for word in words[: len(parts)]] == parts
            ):
                words, begun = words[len(parts) :], True
    if len(words) > 1 and words[-1].casefold() == "please":
        words.pop()
    asked = 2 if [word.casefold() for word in words[:2]] in (["show", "me"], ["tell", "me"]) else 1
    shows = words[:1] and words[0].casefold() in ("show", "tell")
    if shows and [word.casefold() for word in words[asked : asked + 1]] in (["what"], ["who"], ["why"]):
        words = words[asked:]  # "show me what scribe got"
    return words


@lru_cache(64)
def _verbs(name: str) -> tuple[str, ...]:
    """The verbs of a sentence; `{forget}` in one stands for each verb of that sentence."""
    found = []
    for verb in SENTENCES[name]["verbs"]:
        other, brace, rest = verb.removeprefix("{").partition("}")
        found += [f"{each}{rest}" for each in _verbs(other)] if brace else [verb]
    return tuple(found)


def examples(text: str) -> list[str]:
    """The two sentences that are nearest to one whose verb is not known."""
    words = _without_manners(text)
    first = words[0].casefold() if words else ""
    return [" ".join((verb, *words[1:])) for verb in _near_verbs(first)][:2]


def _near_verbs(word: str) -> list[str]:
    """The first words of verbs that a word is a slip of the keys for; none for one that is itself a verb's."""
    verbs = {verb.split()[0]: name for name in SENTENCES for verb in reversed(_verbs(name))}
    word = word.casefold()
    if word in verbs or len(word) < 3:
        return []
    begins = [verb for verb in verbs if verb[0] == word[0] or verb[1:] == word]
    near = get_close_matches(word, begins, 2, 0.78 if len(word) > 3 else 0.85)  # "forgte", "msk"
    near += [verb for verb in verbs if len(verb) > 3 and sorted(verb) == sorted(word)]  # "maks"
    return list(dict.fromkeys(near))


def _intent(name: str, rest: list[str], scopes: Sequence[str], verb: str) -> Intent | None:
    row = SENTENCES[name]
    if {word.casefold() for word in rest} & set(row.get("never", ())):
        return None  # "change the model", "set the theme": no memory is meant
    if row["takes"] == "agent":
        return _of_agent(name, rest, scopes, verb)
    if row["takes"] == "scope":
        return _of_scope(name, rest, scopes)
    if row["takes"] in ("question", "sentence"):
        return Intent(name, row["label"], tuple(rest)) if rest else None
    if row["takes"] == "path":
        return Intent(name, row["label"], _path(rest)) if rest else None
    if tail := row.get("tail"):  # "why is the bastion not recalled"
        denied = verb.endswith(("n't", "nt", " not", " no")) or not verb.startswith("why")
        if not denied and not any(word.casefold() in _DENYING for word in rest):
            return None
        while rest and rest[-1].casefold() in tail:
            rest = rest[:-1]
        rest = [word for word in rest if word.casefold() not in (*_DENYING, *_WHO_RECALLS)]
    things = {word for thing in row.get("things", ()) for word in thing.split()}
    words: list[str] = []
    unknown: list[str] = []
    scope, form, days, told = "", "", 0, any(word in things for word in verb.split())
    field, value = "", ""
    if row.get("sets"):
        field, value, rest = _set_to(rest, scopes)
    at = 0
    while at < len(rest):
        word = rest[at].removesuffix("'s")  # "Peter Lund's", "yesterday's"
        low = word.casefold()
        after = rest[at + 1] if at + 1 < len(rest) else ""
        if low in things or (len(low) > 5 and get_close_matches(low, things, 1, 0.88)):
            told = True
        elif low in ("as", "to", "into", "in") and name == "export" and (named := _form_at(rest, at + 1)):
            form, at = named
        elif low == "as" and name == "export" and after:
            unknown.append(after)
            at += 1
        elif low in ("to", "into") and name == "export":
            pass
        elif low in ("in", "from", "of") and after and (named_scope := _scope_at(rest, at + 1, scopes)):
            scope, at = named_scope
        elif low in ("since", "last", "from", "in") and after.casefold() in _TIMES:
            days = _TIMES[after.casefold()]
            at += 1
        elif low in ("since", "last") and (number := _DAYS.fullmatch(after.casefold())):
            weeks = (number[2] or "").startswith("w") or rest[at + 2 : at + 3] in (["weeks"], ["week"])
            days = int(number[1]) * (7 if weeks else 1)
            at += 2 if rest[at + 2 : at + 3] and rest[at + 2].casefold() in ("days", "weeks", "week") else 1
        elif low in ("yesterday", "today"):
            days = _TIMES[low]
        elif (low in _KINDS_OF_SCOPE and after) or (name == "export" and not scope):
            if named_scope := _scope_at(rest, at, scopes, near=name == "export"):
                scope, at = named_scope
            elif low not in _FILLERS:
                words.append(word)
        elif low not in _FILLERS:
            words.append(word)
        at += 1
    if name == "export" and not form and words and (last := export_words().get(words[-1].casefold())):
        form, words = last, words[:-1]
    anything = row["takes"] in ("anything", "entries") and (told or form or bool(row.get("bare")))
    if not (words or scope or days or anything):
        return None
    if (name == "clean" and words and not told) or (verb == "save" and not (form or scope)):
        return None  # "clean up old versions", "save this question as a case": something else is meant
    if row.get("only") and not told:
        return None
    if len(words) == 1 and words[0].casefold() in row.get("alone", ()):
        return None  # "wipe the store"; of more words it may be one
    condition = _condition(name, words)
    if condition:
        words = []
    elif len(words) > 1 and (condition := _condition(name, words[:1])):  # "duplicates about lint"
        at = next(i for i, word in enumerate(rest) if word.removesuffix("'s") == words[0])
        told = at + 1 < len(rest) and rest[at + 1].casefold() in _WHAT_FOLLOWS
        condition, words = (condition, words[1:]) if told else ("", words)
    words = [word.strip('"') for word in words]
    if condition == "duplicate" and name in REMOVING_SENTENCES:
        # Every copy is one, also the one that should stay: what is meant is to keep one of each.
        return Intent("merge", SENTENCES["merge"]["label"], tuple(words), scope, days)
    return Intent(
        name,
        row["label"],
        tuple(words),
        scope,
        days,
        form,
        tuple(unknown),
        condition,
        field=field,
        value=value,
    )


def _condition(name: str, words: Sequence[str]) -> str:
    """The condition that a single word names; to find it, only the filter's own words do: others may be in a text."""
    low = words[0].casefold() if len(words) == 1 and name not in _PLACES else ""
    named = CONDITIONS.get(low, "")
    return named if name != "find" or low not in _IN_TEXTS else ""


REMOVING_SENTENCES = ("forget", "every-trace", "person", "archive", "clean")

_FORGETTING = ("forget", "delete", "remove", "erase", "archive")
"""Verbs of theirs that are hardly ever another word: "drop" and "wipe" stand in texts."""

_OF_COMMANDS = ("find", "undo")
"""Sentences whose verbs commands have as well: "show", "revert"."""

_DENYING = ("not", "missing", "never", "nobody", "none")

_WHO_RECALLS = ("agent", "agents", "they", "know", "knows", "remember", "recall", "find", "finds")
"""Who recalls a memory and how, in "why does the agent not know the bastion"."""

_BESIDE_AN_AGENT = ("agent", "last", "since", "to", "from", "into", "by")
_NO_AGENT = ("i", "you", "we", "they", "he", "she", "one", "who")


def _of_agent(name: str, rest: list[str], scopes: Sequence[str], verb: str) -> Intent | None:
    """ "what did scribe get yesterday": an agent, what it did, and when; None where it did something else."""
    did = {word for thing in SENTENCES[name]["things"] for word in thing.split()}
    if verb in ("what did", "what has"):
        did.add("read")
    lowered = [word.casefold() for word in rest]
    days = next((_TIMES[word] for word in lowered if word in ("today", "yesterday", "week", "month")), 0)
    left = [
        word
        for word, low in zip(rest, lowered, strict=True)
        if low not in did and low not in _FILLERS and low not in _TIMES and low not in _BESIDE_AN_AGENT
    ]
    if not left or not any(word in did for word in lowered) or left[0].casefold() in _NO_AGENT:
        return None
    agents = [scope.partition(":")[2] for scope in scopes if scope.startswith("agent:")]
    agent = next(iter(get_close_matches(left[0], agents, 1, 0.8)), left[0])  # "scrbe"
    intent = Intent(name, SENTENCES[name]["label"], (), "", days, "", tuple(left[1:]), agent=agent)
    return None if verb == "what" and not _known(intent, scopes) else intent


_SOURCES = frozenset(("chatgpt", "claude", "mem0", "letta", "obsidian", "gemini", "copilot", "openclaw"))
"""Where memories come from: no names of files."""


def _path(rest: Sequence[str]) -> tuple[str, ...]:
    """The words of a path, of "my export ~/talks.json"; empty where none is named, as in "my ChatGPT export"."""
    at = next((i for i, word in enumerate(rest) if re.search(r"[/\\.~]", word)), None)
    if at is None:
        return tuple(rest) if len(rest) == 1 and rest[0].casefold() not in _SOURCES | _FILLERS else ()
    lead = [
        i for i in range(at) if rest[i].casefold() not in (*_FILLERS, *_SOURCES, "file", "export", "from")
    ]
    return tuple(rest[lead[0] if lead else at :])


def _of_scope(name: str, rest: list[str], scopes: Sequence[str]) -> Intent | None:
    """ "who reads atlas": a scope; of a memory it is asked whom it reached."""
    left = [word for word in rest if word.casefold() not in _FILLERS]
    for at in range(len(left)):
        if named := _scope_at(left, at, scopes):
            return Intent(name, SENTENCES[name]["label"], (), named[0], unknown=tuple(left[:at]))
    if left and re.fullmatch(r"\w+:\S+", left[0]):  # a scope that no memory has
        return Intent(name, SENTENCES[name]["label"], (), left[0], unknown=tuple(left[1:]))
    if left:
        return Intent("reach", SENTENCES["reach"]["label"], tuple(left))
    return Intent(name, f"{SENTENCES[name]['label']} what")


_FIELDS = {
    "importance": "importance",
    "scope": "scope",
    "category": "category",
    "kind": "category",
    "tier": "tier",
    "state": "state",
    "confidence": "confidence",
    "layer": "layer",
    "agent": "agent",
}
_VALUES = {
    "core": "tier",
    "working": "tier",
    "peripheral": "tier",
    "archived": "state",
    "pending": "state",
    "confirmed": "state",
    "fact": "category",
    "preference": "category",
    "decision": "category",
    "entity": "category",
    "reflection": "category",
}
"""Values by which a field is known: "mark the bastion as core"."""


def _set_to(rest: list[str], scopes: Sequence[str]) -> tuple[str, str, list[str]]:
    """The field that is set, its value, and the words of the memories: of "importance of the bastion to .9"."""
    lowered = [word.casefold() for word in rest]
    at = max((i for i, word in enumerate(lowered) if word in ("to", "as", "=")), default=-1)
    value = " ".join(rest[at + 1 :]) if at > 0 else ""
    left = rest[:at] if value else rest
    field = next((_FIELDS[word] for word in lowered[: len(left)] if word in _FIELDS), "")
    if value and not field:
        field = _VALUES.get(value.casefold(), "scope" if scope_of(value, scopes) else "")
        if not field:
            return "", "", rest
    if field == "scope" and value:
        value = scope_of(value, scopes) or value
    elif field in ("tier", "state", "category", "layer"):
        value = value.casefold()
    return field, value, [word for word in left if _FIELDS.get(word.casefold()) != field]


def _form_at(rest: Sequence[str], at: int) -> tuple[str, int] | None:
    """The form that is named there, behind an article, and the place of its last word."""
    while at < len(rest) and rest[at].casefold() in ("a", "an", "the"):
        at += 1
    if at >= len(rest):
        return None
    near = get_close_matches(rest[at].casefold(), export_words(), 1, 0.8)
    if not near:
        return None
    last = at
    if [word.casefold() for word in rest[at : at + 2]] == ["json", "lines"]:
        near = ["jsonl"]
    while last + 1 < len(rest) and rest[last + 1].casefold() in _OF_A_FORM:
        last += 1
    return export_words()[near[0]], last


def _scope_at(
    rest: Sequence[str], at: int, scopes: Sequence[str], *, near: bool = False
) -> tuple[str, int] | None:
    """The scope that is named there, perhaps with its kind before or behind it, and the place of its last word."""
    while at < len(rest) - 1 and rest[at].casefold() in ("the", "our", "my", *_KINDS_OF_SCOPE):
        at += 1
    found = scope_of(rest[at], scopes) if at < len(rest) else ""
    if not found and near and at < len(rest) and len(rest[at]) > 4:
        names = {scope.casefold().rpartition(":")[2]: scope for scope in scopes}
        alike = get_close_matches(rest[at].casefold(), names, 1, 0.8)
        found = names[alike[0]] if alike else ""
    if not found:
        return None
    behind = at + 1 < len(rest) and rest[at + 1].casefold() in _KINDS_OF_SCOPE
    return found, at + 1 if behind else at


def scope_of(word: str, scopes: Sequence[str]) -> str:
    """The scope that a word names: the whole of it, or what stands after its last colon; empty for none."""
    low = word.casefold()
    for scope in scopes:
        if scope and low in (scope.casefold(), scope.casefold().rpartition(":")[2]):
            return scope
    return ""
