"""The fields of the filter language: what they are called, what they take, what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memtui.engine.core.memory import LAYERS, STATES, TIERS

ValueKind = Literal["choice", "text", "number", "count", "age"]

ORDERED = ("number", "count", "age")
"""Kinds of value that can be compared with < and > and given as a range."""

STORAGE_CATEGORIES = ("preference", "fact", "decision", "entity", "reflection", "other")
"""Words of the category column of a row."""

SMART_CATEGORIES = ("profile", "preferences", "entities", "events", "cases", "patterns")
"""Words of a memory's category in its metadata."""

SMART_SINGULAR = {"event": "events", "case": "cases", "pattern": "patterns"}
"""Singulars that mean a smart category; preference and entity are storage categories already."""

IS = {
    "active": "valid now: begun, and not invalidated",
    "archived": "state archived",
    "expired": "valid-until has passed",
    "invalid-metadata": "metadata that is not a JSON object",
    "pending": "state pending",
    "stale": "its decay score is below the stale threshold",
    "superseded": "a newer memory has taken its place",
    "suppressed": "held back from auto-recall at the moment",
}
"""Conditions that the catalog decides."""

IS_BY_TEXT = {
    "duplicate": "the same text as another memory",
    "envelope": "holds an envelope of the host",
    "injection": "looks like an instruction to the model",
    "noise": "the noise rules would drop it",
    "pinned": "protected by hand",
    "secret": "looks like a key or a password",
    "untrusted": "from untrusted content, as its host says",
    "zero-vector": "without a usable vector: never found by meaning",
}
"""Conditions that need more than the catalog: a provider decides them, where there is one."""

HAS = {"links": "replaces another memory, or is replaced by one"}
"""Things carried that the catalog knows of."""

HAS_BY_ROW = {"vector": "a vector with a direction"}
"""Things carried that a provider knows of, where there is one."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field: its name, other names it answers to, what its values are, and a line of help."""

    name: str
    aliases: tuple[str, ...]
    kind: ValueKind
    help: str
    example: str
    choices: tuple[str, ...] = ()
    """The values of a `choice`."""
    provided: tuple[str, ...] = ()
    """Further values of a `choice`, which only some stores can decide."""
    globs: bool = False

    @property
    def ops(self) -> tuple[str, ...]:
        """The operators it takes."""
        return (":", "=", "!=", ">", ">=", "<", "<=") if self.kind in ORDERED else (":", "=", "!=")


_ALL = (
    FieldSpec("tier", (), "choice", "core, working or peripheral", "tier:core,working", TIERS),
    FieldSpec("scope", ("scopes",), "text", "stored scope, * for anything", "scope:agent:*", globs=True),
    FieldSpec("cat", ("category", "categories"), "text", "stored or smart category", "cat:preference"),
    FieldSpec("imp", ("importance",), "number", "importance, 0 to 1", "imp:.5..0.8"),
    FieldSpec("conf", ("confidence",), "number", "confidence, 0 to 1", "conf<.5"),
    FieldSpec("used", ("access", "accesses", "access-count", "uses"), "count", "access count", "used>=3"),
    FieldSpec("age", ("created",), "age", "time since it was created", "age<2d"),
    FieldSpec("last", ("last-used", "accessed"), "age", "time since the last access", "last>3w"),
    FieldSpec("id", (), "text", "id, or how it begins", "id:7f3a91c2"),
    FieldSpec("is", (), "choice", "a condition", "-is:stale", tuple(IS), tuple(IS_BY_TEXT)),
    FieldSpec("has", (), "choice", "something it carries", "has:links", tuple(HAS), tuple(HAS_BY_ROW)),
    FieldSpec("lang", ("language",), "text", "language of the text", "lang:en"),
    FieldSpec("state", (), "choice", "confirmed, pending or archived", "state:pending", STATES),
    FieldSpec("layer", (), "choice", "durable, working, reflection or archive", "layer:durable", LAYERS),
    FieldSpec("source", (), "text", "where it came from", "source:manual"),
    FieldSpec(
        "label",
        ("importance-label", "importance_label"),
        "text",
        "importance label of openclaw-mem-engine",
        "label:must_remember",
    ),
    FieldSpec(
        "trust",
        ("trust-tier", "trust_tier"),
        "text",
        "trust tier of openclaw-mem-engine, as stored",
        "-trust:quarantined",
    ),
    FieldSpec("meta", ("metadata", "key"), "text", "key of the metadata, or key=value", "meta:speaker=Ana"),
)

FIELDS = {spec.name: spec for spec in _ALL}
"""Every field by its name, in the order of the help."""

NAMES = {name: spec for spec in _ALL for name in (spec.name, *spec.aliases)}
"""Every name a field answers to."""

SCOPE_KINDS = ("agent", "custom", "project", "user", "reflection")
"""What stands before the first colon of a scope: people forget the `scope:` before it."""


_TIERS = {"core": "fades slowest", "working": "in use", "peripheral": "fades fastest"}

_SCOPES = {
    "agent": "agent {}, private",
    "project": "project {}",
    "user": "about {}",
    "custom": "{}",
    "reflection": "reflections of {}",
    "team": "team {}",
}
"""What a scope of each kind is, for people."""


def describe(name: str, choice: str) -> str:
    """The line of help of one value of `is`, `has`, `tier` or `scope`, empty for other fields."""
    if name == "is":
        return IS.get(choice) or IS_BY_TEXT.get(choice, "")
    if name == "tier":
        return _TIERS.get(choice, "")
    if name == "scope":
        kind, colon, rest = choice.partition(":")
        if choice == "global":
            return "all agents read it"
        return _SCOPES.get(kind, "{}").format(rest) if colon and rest else ""
    return HAS.get(choice) or HAS_BY_ROW.get(choice, "") if name == "has" else ""
