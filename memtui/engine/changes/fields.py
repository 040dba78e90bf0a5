"""What may be edited in a memory, and which values are sensible: everything a person types is checked here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from memtui.engine.changes import crew_values, engine_values, hermes_values
from memtui.engine.core.errors import UsageError
from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.dialects.crewai import PRIVATE, SOURCE
from memtui.engine.dialects.hermes import ABSTRACT, CATEGORIES, TAGS
from memtui.engine.dialects.importance_labels import LABELS
from memtui.engine.dialects.mem_engine import LABEL, TRUST
from memtui.engine.metadata.categories import SMART, STORAGE, normalise_category, resolve_input

if TYPE_CHECKING:
    from memtui.engine.dialects.base import Dialect


LONGEST_TEXT = 100_000
"""Characters of one memory: fifty pages, far more than any agent stores or any embedder reads."""

FOREVER_MS = 4_102_444_800_000
"""The year 2100: "until further notice" for programs that only know a time."""

_SCOPE_NAME = re.compile(r"[a-zA-Z0-9._:-]{1,100}")

_SCOPE_FORM = re.compile(r"global|(?:agent|custom|project|user|reflection:agent):.+")

_SLUG = re.compile(r"[A-Za-z0-9_-]{0,100}")

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdwy])")

_UNIT_MS = {"s": 1e3, "m": 6e4, "h": 3.6e6, "d": 8.64e7, "w": 6.048e8, "y": 3.15576e10}

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class Field:
    """One field that can be set: its name, other names for it, what it takes, whether metadata holds it."""

    name: str
    aliases: tuple[str, ...]
    takes: str
    read: Callable[[str, Any, int], Any]
    """(field, value as given, now in ms) to the value to store; raises UsageError."""
    lifecycle: bool = False
    """Only dialects with a metadata object have it."""


def check_text(text: str) -> str:
    """The text of a memory as it may be stored; UsageError for an empty, endless or unreadable one."""
    if not text.strip():
        raise UsageError("A memory cannot have an empty text.", fix="To remove it, forget it.")
    if len(text) > LONGEST_TEXT:
        raise UsageError(
            f"The text has {len(text):,} characters; a memory takes {LONGEST_TEXT:,}.",
            fix="Shorten it, or make several memories of it.",
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"The text holds half a character at place {error.start}.", fix="Type that place again."
        ) from error
    if "\0" in text:
        raise UsageError("The text holds a NUL character: it is not text.", fix="Check what was saved.")
    return text


def _text(name: str, value: Any, now_ms: int) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} takes a text.", fix="Give it in quotes.")
    return check_text(value)


def _share(name: str, value: Any, now_ms: int) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise UsageError(f"{name} runs from 0 to 1; {value} is not in it.", fix=f"For example: {name}=0.8.")
    return number


def _word(words: tuple[str, ...]) -> Callable[[str, Any, int], str]:
    def read(name: str, value: Any, now_ms: int) -> str:
        word = str(value).strip().lower()
        if word in words:
            return word
        raise UsageError(f"There is no {name} {value!r}.", fix=_nearest(word, words))

    return read


def _category(name: str, value: Any, now_ms: int) -> tuple[str, str]:
    """(smart word, column)."""
    word = str(value).strip().lower()
    if normalise_category(word) is None and word not in STORAGE:
        raise UsageError(f"There is no category {value!r}.", fix=_nearest(word, (*STORAGE, *SMART)))
    return resolve_input(word)


def _scope(name: str, value: Any, now_ms: int) -> str:
    scope = str(value)
    if not _SCOPE_NAME.fullmatch(scope):
        why = "is blank" if not scope.strip() else "has characters (or spaces) that no agent's scope has"
        raise UsageError(
            f"The scope {scope!r} {why}.",
            fix="Scopes are like global, agent:main or project:atlas: letters, digits and . _ : - only.",
        )
    return scope


def _flag(name: str, value: Any, now_ms: int) -> bool:
    word = str(value).strip().lower()
    if word not in (*_YES, *_NO):
        raise UsageError(f"{name} is yes or no, not {value!r}.", fix=f"For example: {name}=yes.")
    return word in _YES


def _suppressed(name: str, value: Any, now_ms: int) -> int:
    """The time (ms) until which auto-recall leaves the memory out, 0 for not at all."""
    word = str(value).strip().lower()
    if word in _NO or word == "none":
        return 0
    if word in (*_YES, "always"):
        return FOREVER_MS
    return now_ms + _span_ms(name, word)


def _until(name: str, value: Any, now_ms: int) -> int | None:
    """The time (ms) at which the memory expires, None for never."""
    word = str(value).strip()
    if word.lower() in ("never", "none", ""):
        return None
    if word.isdigit() and len(word) == 13:
        return int(word)
    if _SPAN.fullmatch(word.lower()):
        return now_ms + _span_ms(name, word.lower())
    try:
        moment = datetime.fromisoformat(word)
    except ValueError as error:
        raise UsageError(
            f"{name} does not understand {value!r}.",
            fix=f"For example: {name}=2027-01-31, {name}=30d or {name}=never.",
        ) from error
    return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)


def _span_ms(name: str, word: str) -> int:
    match = _SPAN.fullmatch(word)
    if match is None:
        raise UsageError(
            f"{name} does not understand {word!r}.", fix=f"For example: {name}=30m or {name}=2d."
        )
    return int(float(match[1]) * _UNIT_MS[match[2]])


def _agent(name: str, value: Any, now_ms: int) -> str:
    agent = str(value).strip()
    if not agent:
        raise UsageError("An agent needs a name.", fix="For example: agent=main.")
    return agent


_ALL = (
    Field("text", (), "the memory itself", _text),
    Field("scope", (), "global, agent:main, project:atlas, ...", _scope),
    Field("category", ("cat",), ", ".join((*STORAGE, *SMART)), _category),
    Field("importance", ("imp",), "0 to 1", _share),
    Field(LABEL, ("label",), ", ".join(LABELS), engine_values.read_label),
    Field(TRUST, ("trust",), "trusted, untrusted, quarantined, user, ...", engine_values.read_trust),
    Field("agent", ("agentid",), "the agent that owns it", _agent),
    Field("metadata", ("meta",), "a JSON object", crew_values.read_metadata),
    Field(SOURCE, (), "where it came from", crew_values.read_source),
    Field(PRIVATE, (), "yes or no", _flag),
    Field(TAGS, ("tag",), "garden,tools, ...", hermes_values.read_tags),
    Field(ABSTRACT, (), "one line, injected in place of the text", hermes_values.read_line),
    Field("tier", (), ", ".join(TIERS), _word(TIERS), True),
    Field("confidence", ("conf",), "0 to 1", _share, True),
    Field("state", (), ", ".join(STATES), _word(STATES), True),
    Field("layer", ("memory_layer",), ", ".join(LAYERS), _word(LAYERS), True),
    Field("pinned", ("pin",), "yes or no", _flag, True),
    Field("touched", ("touch",), "yes: one confirmed use more, now", _flag, True),
    Field("suppressed", ("suppress",), "a time such as 2d, always, or no", _suppressed, True),
    Field("valid_until", ("expires",), "a date, a time such as 30d, or never", _until, True),
    Field("l0_abstract", ("l0", "abstract"), "one line", _text, True),
    Field("l1_overview", ("l1", "overview"), "a few lines", _text, True),
    Field("l2_content", ("l2", "content"), "the full text", _text, True),
)

_ENGINE = {
    "category": Field("category", ("cat",), ", ".join(engine_values.CATEGORIES), engine_values.read_category),
    "scope": Field("scope", (), "global, kornfeld, team/ovens:night, ...", engine_values.read_scope),
}
"""Fields of the same name that openclaw-mem-engine reads by rules of its own."""

_CREW = {
    "category": Field(
        "category", ("cat", "categories"), "fact, or fact,price, ...", crew_values.read_categories
    ),
    "scope": Field("scope", (), "/, /crew/shop, /crew/shop/agent/buyer, ...", crew_values.read_scope),
}
"""The same of CrewAI, whose categories are a list and whose scopes are paths."""

_HERMES = {
    "category": Field("category", ("cat",), ", ".join(CATEGORIES), hermes_values.read_word),
    "scope": Field("scope", ("workspace",), "a workspace: hermes, garden, ...", hermes_values.read_word),
}
"""The same of Hermes, whose scopes are workspaces."""

_BY_NAME = {name: field for field in (*_CREW.values(), *_ALL) for name in (field.name, *field.aliases)}


def editable(dialect: Dialect) -> tuple[Field, ...]:
    """The fields that memories of this dialect have."""
    columns = dialect.columns
    has = {
        "text": True,
        "scope": columns.scope is not None,
        "category": columns.category is not None,
        "importance": columns.importance is not None,
        "agent": "agentId" in dialect.labels,
        LABEL: LABEL in dialect.labels,
        TRUST: TRUST in dialect.labels,
        "metadata": columns.details is not None,
        SOURCE: dialect.can.visibility == "sources" and SOURCE in dialect.labels,
        PRIVATE: dialect.can.visibility == "sources" and SOURCE in dialect.labels,
        TAGS: TAGS in dialect.more,
        ABSTRACT: ABSTRACT in dialect.more,
    }
    own = {"engine": _ENGINE, "hermes": _HERMES}.get(
        dialect.can.row_form, _CREW if dialect.lists_categories else {}
    )
    return tuple(own.get(field.name, field) for field in _ALL if has.get(field.name, dialect.reads_metadata))


def parse(given: Mapping[str, Any], dialect: Dialect, now_ms: int) -> dict[str, Any]:
    """The values to set by field name, checked; `given` has names or aliases and what a person typed.

    Raises UsageError for a field that does not exist here, a value that makes no sense, or a field twice.
    """
    if not given:
        raise UsageError("Nothing is to be set.", fix="For example: --set importance=0.9.")
    known = {field.name: field for field in editable(dialect)}
    called = {name: field for field in known.values() for name in (*field.aliases, field.name)}
    out: dict[str, Any] = {}
    for name, value in given.items():
        word = name.strip().lower().replace("-", "_")
        field = called.get(word) or _BY_NAME.get(word)
        if field is None:
            raise UsageError(f"There is no field {name!r}.", fix=_nearest(name, list(known)))
        if field.name not in known:
            raise UsageError(
                f"Memories of {dialect.title} have no {field.name}.",
                fix=f"They have {', '.join(known)}.",
            )
        if field.name in out:
            raise UsageError(f"{field.name} is set twice.", fix="Give it once.")
        out[field.name] = known[field.name].read(field.name, value, now_ms)
    _check_dialect(out, dialect)
    return out


def _check_dialect(values: Mapping[str, Any], dialect: Dialect) -> None:
    """What is right in memory-lancedb-pro and wrong in the built-in program's tables."""
    if dialect.reads_metadata or dialect.can.row_form in ("engine", "hermes") or dialect.lists_categories:
        return
    category = values.get("category")
    if category and category[1] == "reflection":
        words = ", ".join(word for word in STORAGE if word != "reflection")
        raise UsageError(f"{dialect.title} knows no category reflection.", fix=f"It knows {words}.")
    scope = values.get("scope")
    if scope is not None and not _SLUG.fullmatch(scope):
        raise UsageError(
            f"A scope of {dialect.title} is a plain word; {scope!r} is not.",
            fix="Use letters, digits, _ and - only.",
        )


def scope_warning(scope: str, dialect: Dialect, defined: Collection[str]) -> str:
    """Why no agent may see a memory in this scope; empty when it is of a form that agents have."""
    if dialect.can.visibility == "sources":
        return "" if scope.startswith("/") else crew_values.TREELESS
    if not dialect.reads_metadata or _SCOPE_FORM.fullmatch(scope) or scope in defined:
        return ""
    return f"No agent reads the scope {scope} unless the configuration names it."


def _nearest(word: str, words: Collection[str]) -> str:
    near = get_close_matches(word.lower(), words, 1, 0.5)
    return f"Did you mean {near[0]}?" if near else f"It is one of {', '.join(words)}."
