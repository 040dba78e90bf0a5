"""Whether a message that somebody sends asks for anything: told by its text alone, before any search.

A greeting, a thank you, a yes, a host's heartbeat and a command get no memories. Everything that holds one word more
does: what is wrongly let through costs a search, what is wrongly kept back costs an answer.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path

from memtui.engine.recall.recipes.pro.question import plain_question

LONGEST = 160
"""Characters of a message that may still be nothing but pleasantries."""

FILLER = "filler"
"""The kind of words that add nothing to a phrase beside them, and ask for something where they stand alone."""

ASKED = frozenset({"go_ahead", "ping"})
"""Kinds that are questions where a question mark ends them: "next?", "continue?"."""

_HEARTBEAT = re.compile(r"\ARead HEARTBEAT\.md\b|\breply (?:with )?HEARTBEAT_OK\b")

_BEAT = re.compile(r"(?:the )?heart ?beat(?: (?:ok|check|poll|ping|tick))?")

_SYSTEM = re.compile(r"\[system(?: message)?\]", re.IGNORECASE)

_COMMAND = re.compile(r"/[a-z][\w-]*(?![\w/.\\-])", re.IGNORECASE | re.ASCII)
"""A slash and a word: no path (`/etc/hosts`), no file (`/notes.md`)."""

_ROOTS = frozenset(
    (
        "applications",
        "bin",
        "boot",
        "data",
        "dev",
        "etc",
        "home",
        "lib",
        "library",
        "media",
        "mnt",
        "opt",
        "proc",
        "root",
        "run",
        "sbin",
        "srv",
        "sys",
        "tmp",
        "users",
        "usr",
        "var",
        "volumes",
    )
)
"""Folders that stand at the root of a system: `/tmp is full` is about one."""

_ARGUMENTS = 3
"""Words behind a command that may still be its arguments; what goes on says something."""

_MENTIONS = re.compile(r"(?:@[\w.-]+[\s,:]+)+")

_LONG_DRAWN = re.compile(r"(.)\1{2,}", re.DOTALL)

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u1100-\u11ff]")
"""Scripts whose words may stand together without a space."""


def skip_rule(message: str) -> str:
    """The rule by which nothing is looked up for a message; empty where it may ask for something.

    The rules: empty, heartbeat, system, slash_command, symbols, choice (one letter or two digits), and the kinds of
    pleasantries: greeting, farewell, thanks, acknowledgement, go_ahead, laughter, ping.
    """
    text = _MENTIONS.sub("", unicodedata.normalize("NFKC", plain_question(message)), count=1).strip()
    if not text:
        return "empty"
    words = _words(text)
    if _HEARTBEAT.search(text) or _BEAT.fullmatch(words):
        return "heartbeat"
    if _SYSTEM.match(text):
        return "system"
    if is_command(text):
        return "slash_command"
    if not words:
        return "symbols"
    asks = _asks(text)
    kind = _pleasantry(words) if len(words) <= LONGEST else ""
    if kind and not (asks and kind in ASKED):
        return kind
    chosen = (len(words) <= 2 and words.isdigit()) or (len(words) == 1 and not _UNSPACED.match(words))
    return "choice" if chosen and not asks else ""


def is_command(text: str) -> bool:
    """Whether a text is a command to the host with its arguments: `/status`, `/model gpt-5`.

    A path and what is said of one is none, nor is a sentence or a question behind a command's name.
    """
    text = unicodedata.normalize("NFKC", text).strip()
    found = _COMMAND.match(text)
    if found is None or found[0][1:].lower() in _ROOTS:
        return False
    arguments = text[found.end() :].split()
    return len(arguments) <= _ARGUMENTS and not (arguments and _asks(text))


def _asks(text: str) -> bool:
    return "?" in text or "؟" in text


def _words(text: str) -> str:
    """The words of a text, folded: no case, marks, punctuation or symbols, long-drawn letters once."""
    bare = "".join(
        sign for sign in unicodedata.normalize("NFKD", text.casefold()) if unicodedata.category(sign) != "Mn"
    )
    bare = unicodedata.normalize("NFC", bare).replace("'", "").replace("\u2019", "")
    spaced = "".join(sign if unicodedata.category(sign)[0] in "LN" else " " for sign in bare)
    return " ".join(_LONG_DRAWN.sub(r"\1", spaced).split())


@cache
def _phrases() -> dict[str, tuple[tuple[str, str], ...]]:
    """The phrases by their first character, each with its kind."""
    found: dict[str, dict[str, str]] = {}
    told = tomllib.loads(Path(__file__).with_name("pleasantries.toml").read_text(encoding="utf-8"))
    for kind, languages in told.items():
        for phrases in languages.values():
            for phrase in phrases:
                words = _words(unicodedata.normalize("NFKC", phrase))
                found.setdefault(words[0], {}).setdefault(words, kind)
    return {first: tuple(kinds.items()) for first, kinds in found.items()}


def _pleasantry(words: str) -> str:
    """The kind of the first phrase, where the words are phrases from the beginning to the end; empty where not."""
    phrases = _phrases()
    reached: dict[int, str] = {0: FILLER}
    for at in range(len(words)):
        kind = reached.get(at)
        if kind is None:
            continue
        if words[at] == " ":
            reached.setdefault(at + 1, kind)
            continue
        for phrase, its in phrases.get(words[at], ()):
            end = at + len(phrase)
            if words.startswith(phrase, at) and _apart(words, at) and _apart(words, end):
                told = its if kind == FILLER else kind
                if reached.get(end, FILLER) == FILLER:
                    reached[end] = told
    kind = reached.get(len(words), FILLER)
    return "" if kind == FILLER else kind


def _apart(words: str, at: int) -> bool:
    """Whether a word may begin or end at a position."""
    if at in (0, len(words)):
        return True
    before, after = words[at - 1], words[at]
    return " " in (before, after) or bool(_UNSPACED.match(before) or _UNSPACED.match(after))
