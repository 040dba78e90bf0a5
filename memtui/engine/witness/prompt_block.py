"""The blocks that a memory plugin puts before a prompt, read back out of the prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

TAG = "relevant-memories"

ACTIVE_MEMORY, STANDING_INTENTS = "active_memory_plugin", "standing_intents"

_TAGS = (TAG, "inherited-rules", "derived-focus", "error-detected", ACTIVE_MEMORY, STANDING_INTENTS)

_OPENING = re.compile(
    rf"\s*(?:Context:[^\n]*\n(?=<{ACTIVE_MEMORY}>))?<({'|'.join(_TAGS)})>\n(.*?)\n?</\1>[ \t]*(?:\n|\Z)",
    re.DOTALL,
)

_ANYWHERE = re.compile(rf"<{TAG}>\n.*?</{TAG}>", re.DOTALL)

_MODE = re.compile(r"<mode:([a-z]+)>")

_NUMBERED = re.compile(r"\d+\.\s+(.*)")

_LINE = re.compile(
    r"- (?:\[(?P<tier>[A-Z])\])?\[(?P<category>[^:\]]*):(?P<scope>[^\]]*)\]"
    r"(?: (?P<day>\d{4}-\d{2}-\d{2}))?(?: \((?P<source>[a-z][a-z-]*)\))? (?P<text>.*)"
)

_BUILTIN_LINE = re.compile(r"\d+\. \[(?P<category>[^\]]*)\] (?P<text>.*)")

_TOOL_LINE = re.compile(
    r"\d+\. \[(?P<id>[0-9a-fA-F][0-9a-fA-F-]{6,}[0-9a-fA-F])\] \[(?P<category>[^:\]]*):(?P<scope>[^\]]*)\] (?P<text>.*)"
)
"""An id is hexadecimal. A text may begin with a bracket of its own: `[12:30]`, `[Thu 2026-11-26 18:21 UTC]`."""

_ACTIVE_LINE = re.compile(r"(?:- )?(?:[-*] )?(?P<text>.*?)(?: \(Source: (?P<source>[^()]*)\))?")

_INTENT_LINE = re.compile(r"Standing intent \(created (?P<day>[^)]*)\): (?P<text>.*)")

_OUTCOMES = ("Active Memory intentionally skipped", "Active Memory could not retrieve")
"""How the fixed notes begin that stand in the block where no memory does."""

_UNTRUSTED = "untrusted"

_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&"))


@dataclass(frozen=True, slots=True)
class BlockLine:
    """One memory's line in a block; what the line does not say is empty (`scope` None: it names none)."""

    line: str
    """As it stands in the block."""
    text: str
    category: str = ""
    scope: str | None = None
    tier: str = ""
    """The first letter of the tier, upper case."""
    day: str = ""
    """YYYY-MM-DD (UTC) of the memory's time."""
    source: str = ""
    id: str = ""
    """Only tool results name ids."""
    last: bool = False
    """Whether it is the last line, which the budget may have cut."""
    escaped: str = ""
    """The text as the built-in program wrote it, with its entities; empty in other programs' lines."""


@dataclass(frozen=True, slots=True)
class OtherLine:
    """A line of a block whose memories are no rows: of a file's entry, or of a standing intent."""

    line: str
    """As it stands in the block."""
    text: str
    source: str = ""
    """Of an entry its file and line; of a standing intent the words on when it was made."""


@dataclass(frozen=True, slots=True)
class PromptPrefix:
    """What stands before the question of a prompt."""

    block: str
    """The block of memories word for word; empty when there is none."""
    mode: str
    """full, summary, adaptive; empty without a block, and for the built-in program's."""
    lines: tuple[BlockLine, ...]
    rules: tuple[str, ...]
    """Inherited rules of the reflection, as injected."""
    focus: tuple[str, ...]
    """Derived focus of the reflection, as injected."""
    rest: str
    """The prompt after the prefix, trimmed."""
    active: tuple[OtherLine, ...] = ()
    """Entries of files that active-memory put before the question."""
    outcome: str = ""
    """The note that active-memory leaves instead: recall was skipped, or failed."""
    intents: tuple[OtherLine, ...] = ()
    """Standing intents that were due."""
    quoted: int = 0
    """Blocks of memories inside the rest: somebody typed or pasted them."""

    @property
    def injected(self) -> bool:
        """Whether any plugin put anything of a memory before the question."""
        return bool(self.block or self.active or self.intents)

    @property
    def question(self) -> str:
        """The rest without quoted blocks, trimmed."""
        return _ANYWHERE.sub("", self.rest).strip()


def split_prompt(prompt: str) -> PromptPrefix:
    """The injected prefix of `prompt` and the rest.

    Only a well-formed block that opens the prompt (after other blocks of the plugin at most) was injected, and
    only the first one of memories; every other one is counted as quoted.
    """
    block, mode = "", ""
    lines: tuple[BlockLine, ...] = ()
    rules: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    active: tuple[OtherLine, ...] = ()
    intents: tuple[OtherLine, ...] = ()
    outcome, seen = "", set[str]()
    at = 0
    while (match := _OPENING.match(prompt, at)) is not None:
        tag, body = match[1], match[2]
        if tag == TAG:
            if block or not _is_injection(body):
                break
            block = match[0].strip()
            mode, lines = block_lines(block)
        elif tag == "inherited-rules":
            rules = _numbered(body)
        elif tag == "derived-focus":
            focus = _numbered(body)
        elif tag in seen:
            break  # a plugin puts one block: the second is somebody's own
        elif tag == ACTIVE_MEMORY:
            active, outcome = _active_lines(body)
        elif tag == STANDING_INTENTS:
            intents = _intent_lines(body)
        seen.add(tag)
        at = match.end()
    rest = prompt[at:].strip()
    quoted = len(_ANYWHERE.findall(rest))
    return PromptPrefix(block, mode, lines, rules, focus, rest, active, outcome, intents, quoted)


def block_lines(block: str) -> tuple[str, tuple[BlockLine, ...]]:
    """(mode, lines) of a block of memories, or of a tool result in the same form."""
    mode = _MODE.search(block)
    found: list[BlockLine] = []
    for line in block.split("\n"):
        if line.startswith("- "):
            match = _LINE.fullmatch(line)
            if match is not None:
                found.append(
                    BlockLine(
                        line,
                        match["text"],
                        match["category"],
                        match["scope"],
                        match["tier"] or "",
                        match["day"] or "",
                        match["source"] or "",
                    )
                )
            else:
                found.append(BlockLine(line, line[2:]))
        elif (match := _TOOL_LINE.fullmatch(line)) is not None:
            found.append(BlockLine(line, match["text"], match["category"], match["scope"], id=match["id"]))
        elif (match := _BUILTIN_LINE.fullmatch(line)) is not None:
            found.append(BlockLine(line, _unescaped(match["text"]), match["category"], escaped=match["text"]))
    if found:
        found[-1] = replace(found[-1], last=True)
    return (mode[1] if mode else ""), tuple(found)


def _is_injection(body: str) -> bool:
    """Whether a block has the plugins' warning to the model: without it, it is somebody's own text."""
    return _UNTRUSTED in body.lower()


def _active_lines(body: str) -> tuple[tuple[OtherLine, ...], str]:
    """(entries, the note that stands there instead) of active-memory's block."""
    if body.strip().startswith(_OUTCOMES):
        return (), body.strip()
    found = []
    for line in filter(None, map(str.strip, body.split("\n"))):
        match = _ACTIVE_LINE.fullmatch(_unescaped(line))
        if match is not None:
            found.append(OtherLine(line, match["text"], match["source"] or ""))
    return tuple(found), ""


def _intent_lines(body: str) -> tuple[OtherLine, ...]:
    found = []
    for line in filter(None, map(str.strip, body.split("\n"))):
        match = _INTENT_LINE.fullmatch(line)
        text, source = (match["text"], f"created {match['day']}") if match else (line, "")
        found.append(OtherLine(line, _unescaped(text), source))
    return tuple(found)


def _numbered(body: str) -> tuple[str, ...]:
    return tuple(match[1] for line in body.split("\n") if (match := _NUMBERED.fullmatch(line)))


def escaped(text: str) -> str:
    """A text as the built-in program writes it into a line."""
    for entity, char in reversed(_ENTITIES):
        if entity != "&apos;":
            text = text.replace(char, entity)
    return text


def _unescaped(text: str) -> str:
    for entity, char in _ENTITIES:
        text = text.replace(entity, char)
    return text
