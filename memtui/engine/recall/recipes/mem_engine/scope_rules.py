"""Which scope a question is asked in: validation, tags in the text, fallback scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memtui.engine.core.javascript import trim
from memtui.engine.recall.recipes.mem_engine.raw_values import switch, whole
from memtui.engine.store.sql import literal

GLOBAL = "global"

MOST_FALLBACKS = 6

SHORTEST, USUAL, LONGEST = 8, 64, 256
"""Bounds and default of the longest scope name."""

TAGGED_LINES = 200

MOST_PREFIXES = 6

_VALID = re.compile(r"[a-z0-9][a-z0-9._:/-]*")

_SPACES = re.compile(r"\s+")

_ILLEGAL = re.compile(r"[^a-z0-9._:/-]+")

_HYPHENS = re.compile(r"-{2,}")

_EDGES = "-./:_"

_PREFIX = re.compile(r"\s*(?:>+|[-*+•]|\[[ xX]?\]|\(?\d+[.)]|\(\d+\)|\(?[A-Za-z]\))\s+|\s*[>\"'“”‘’]+\s*")

_TAG = re.compile(r"\s*\[(ISO|SCOPE):([^\]]*)\]", re.IGNORECASE)

_FENCE = re.compile(r"\s*(?:```|~~~)")

Mode = Literal["strict", "normalize", "none"]

ScopeMode = Literal["explicit", "inferred", "global"]


@dataclass(frozen=True, slots=True)
class ScopeRules:
    """The `scopePolicy` block as resolved."""

    enabled: bool = True
    default_scope: str = GLOBAL
    fallback_scopes: tuple[str, ...] = ()
    fallback_marker: bool = True
    skip_fallback_on_invalid: bool = True
    validation_mode: Mode = "strict"
    max_length: int = USUAL


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope name as it is used; `invalid` when another was asked for, `normalized` when it was changed."""

    scope: str
    invalid: bool = False
    normalized: bool = False
    mode: ScopeMode = "explicit"


def rules_from(block: Mapping[str, Any]) -> ScopeRules:
    """Resolve a `scopePolicy` block as the program does: names cleaned, doubles and the default left out."""
    longest = whole(block, "maxScopeLength", USUAL, SHORTEST, LONGEST)
    default = cleaned(str(block.get("defaultScope") or ""), longest) or GLOBAL
    given = block.get("fallbackScopes")
    names = [cleaned(str(name), longest) for name in given] if isinstance(given, Sequence) else []
    fallbacks = [name for name in dict.fromkeys(names) if name and name != default]
    mode = block.get("validationMode")
    return ScopeRules(
        enabled=switch(block, "enabled"),
        default_scope=default,
        fallback_scopes=tuple(fallbacks[:MOST_FALLBACKS]),
        fallback_marker=switch(block, "fallbackMarker"),
        skip_fallback_on_invalid=switch(block, "skipFallbackOnInvalidScope"),
        validation_mode=mode if mode in ("normalize", "none") else "strict",
        max_length=longest,
    )


def configured_rules(given: object) -> ScopeRules:
    """The rules of a `scopePolicy` as it stands in a configuration: a block, or a switch."""
    if isinstance(given, Mapping):
        return rules_from(given)
    return ScopeRules(enabled=given is not False)


def normalised(raw: str, rules: ScopeRules) -> Scope:
    """The scope that `raw` stands for under the rules; the default one where it is empty or not valid."""
    trimmed = trim(raw)
    if not rules.enabled:
        return Scope(trimmed or GLOBAL)
    if not trimmed:
        return Scope(rules.default_scope)
    lower = trimmed.lower()
    if rules.validation_mode == "none":
        return Scope(lower[: rules.max_length])
    if rules.validation_mode == "strict":
        if _VALID.fullmatch(lower) and len(lower) <= rules.max_length:
            return Scope(lower, normalized=lower != trimmed)
        return Scope(rules.default_scope, invalid=True, normalized=rules.default_scope != trimmed)
    name = cleaned(trimmed, rules.max_length)
    return Scope(name, normalized=name != trimmed) if name else Scope(rules.default_scope, invalid=True)


def cleaned(raw: str, longest: int) -> str:
    """`raw` with every part that no scope may have made a hyphen, cut to `longest`; may be empty."""
    lower = _SPACES.sub("-", trim(raw).lower())
    return _HYPHENS.sub("-", _ILLEGAL.sub("-", lower)).strip(_EDGES)[:longest]


def tagged(text: str) -> str | None:
    """The scope that a line's leading `[ISO: x]` or `[SCOPE: x]` names; the first ISO wins over any SCOPE."""
    first: str | None = None
    fenced = injected = False
    for line in text.split("\n")[:TAGGED_LINES]:
        if _FENCE.match(line):
            fenced = not fenced
            continue
        injected = injected or "<relevant-memories>" in line
        skip = fenced or injected
        injected = injected and "</relevant-memories>" not in line
        if skip:
            continue
        found = _TAG.match(_without_prefixes(line))
        name = trim(found[2]) if found else ""
        if found and name:
            if found[1].upper() == "ISO":
                return name
            first = first or name
    return first


def _without_prefixes(line: str) -> str:
    for _ in range(MOST_PREFIXES):
        found = _PREFIX.match(line)
        if not found:
            break
        line = line[found.end() :]
    return line


def resolve(explicit: str | None, text: str, rules: ScopeRules) -> Scope:
    """The scope of a question: the explicit one, else the tag in its text, else the default."""
    mode: ScopeMode = "explicit"
    raw = trim(explicit or "")
    if not raw:
        raw, mode = tagged(text) or "", "inferred"
    if not raw:
        mode = "global"
    found = normalised(raw, rules)
    return Scope(found.scope, found.invalid, found.normalized, mode)


def plan(primary: str, fallbacks: Sequence[str]) -> tuple[str, ...]:
    """The scopes in the order in which they are searched, the primary one first, each once."""
    return tuple(dict.fromkeys((primary, *fallbacks)))


def scope_where(scope: str) -> str:
    """The scope as a filter; rows without one count as global."""
    equal = f"scope = {literal(scope)}"
    return f"({equal} OR scope IS NULL OR scope = '')" if scope == GLOBAL else equal


def recall_where(scope: str, labels: Sequence[str]) -> str:
    """Scope and labels as a filter."""
    wanted = ", ".join(literal(label) for label in dict.fromkeys(labels))
    return f"{scope_where(scope)} AND importance_label IN ({wanted})" if wanted else scope_where(scope)


def searched(primary: str, rules: ScopeRules, *, invalid: bool) -> tuple[tuple[str, ...], str | None]:
    """The scopes of a recall in order, and why no fallback scope is among them (None when some are)."""
    if not rules.enabled:
        return (primary,), "disabled"
    if invalid and rules.skip_fallback_on_invalid and rules.fallback_scopes:
        return (primary,), "invalid_scope"
    scopes = plan(primary, rules.fallback_scopes)
    return scopes, None if rules.fallback_scopes else "no_fallback_scopes"
