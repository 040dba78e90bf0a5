"""Fiction and fact: which extracted candidates are judged a second time, and which are dropped for what they are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.javascript import trim, utf16_len
from memtui.engine.metadata.categories import normalise_category

REAL, CONSTRUCTED = "real", "constructed"

MIXED, FICTION = "mixed", "fiction"

_STRICTNESS = {REAL: 0, MIXED: 1, FICTION: 2}

SHORTEST_ABSTRACT = 5

_DURABLE = ("profile", "preferences", "entities", "cases", "patterns")


@dataclass(frozen=True, slots=True)
class Proposal:
    """One candidate as the model gave it and as the filters judge it."""

    category: str
    abstract: str
    overview: str
    content: str
    grounding: str
    register: str = MIXED
    confirmed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Under the plugin's own names."""
        return {
            "category": self.category,
            "abstract": self.abstract,
            "overview": self.overview,
            "content": self.content,
            "grounding": self.grounding,
            "conversationRegister": self.register,
        }


def token(value: Any, known: Sequence[str]) -> str | None:
    """The known word that a text begins with, in any case; None for any other value."""
    text = trim(value).lower() if isinstance(value, str) else ""
    return next((word for word in known if re.match(rf"{word}\b", text, re.ASCII)), None)


def grounding_of(value: Any) -> str | None:
    """real or constructed, None for what is neither."""
    return token(value, (REAL, CONSTRUCTED))


def register_of(value: Any) -> str | None:
    """real, mixed or fiction, None for what is none of them."""
    return token(value, (REAL, MIXED, FICTION))


def cell(register: str, asserted: bool, items: Sequence[Mapping[str, Any]]) -> str | None:
    """Why a reply is judged again; None where it is not.

    `items` are the entries of the reply that are objects.
    """
    tags = [(_category(item), grounding_of(item.get("grounding")) or REAL) for item in items]
    constructed = sum(1 for _, tag in tags if tag == CONSTRUCTED)
    real = len(tags) - constructed
    durable = any(tag == REAL and category in _DURABLE for category, tag in tags)
    judged = any(tag == REAL and (category in _DURABLE or category == "events") for category, tag in tags)
    if not tags:
        return None
    if not asserted and constructed and judged:
        return "unasserted sibling"
    if not asserted:
        return None
    if register == REAL and not real:
        return "real, none real"
    if register == REAL and constructed and judged:
        return "real sibling"
    if register == MIXED and not constructed:
        return "mixed, none constructed"
    if register == FICTION and not constructed:
        return "fiction, none constructed"
    if register in (MIXED, FICTION) and constructed and (judged if register == FICTION else durable):
        return "sibling"
    return None


SIBLING_CELLS = ("unasserted sibling", "real sibling", "sibling")


def _category(item: Mapping[str, Any]) -> str | None:
    return normalise_category(item.get("category"))


@dataclass(frozen=True, slots=True)
class SecondJudgement:
    """A second judgement read: the tags by place where all of them are valid, and the register."""

    tags: tuple[str, ...] | None
    register: str | None


def read_judgement(reply: Mapping[str, Any] | None, count: int) -> SecondJudgement | None:
    """The judgement in a reply; None without one. Any fault in a row makes all tags void."""
    if reply is None:
        return None
    results = reply.get("results")
    register = register_of(reply.get("conversation_register"))
    rows = results if isinstance(results, list) else []
    tags: dict[int, str] = {}
    for row in rows:
        index = _index(row.get("index")) if isinstance(row, Mapping) else None
        tag = grounding_of(row.get("grounding")) if isinstance(row, Mapping) else None
        if index is None or tag is None or index in tags or not 1 <= index <= count:
            return SecondJudgement(None, register)
        tags[index] = tag
    if len(tags) != count:
        return SecondJudgement(None, register)
    return SecondJudgement(tuple(tags[at] for at in range(1, count + 1)), register)


def _index(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value):
        return int(value)
    return None


@dataclass(frozen=True, slots=True)
class Filtered:
    """What is left of a reply. `dropped` says that grounding took something; `reasons` why each entry went."""

    kept: tuple[Proposal, ...]
    register: str
    grounding_dropped: bool
    reasons: tuple[tuple[str, str], ...] = ()


def filter_items(
    items: Sequence[Any],
    register: str,
    asserted: bool,
    fired: str | None,
    judgement: SecondJudgement | None,
) -> Filtered:
    """Apply the judgement and the filters, in the plugin's order, to the entries of a reply."""
    objects = [item for item in items if isinstance(item, Mapping)]
    tags: list[str] = [grounding_of(item.get("grounding")) or REAL for item in objects]
    confirmed = [False] * len(objects)
    failed_closed = fired is not None and judgement is None
    if judgement is not None:
        register, tags, confirmed = _judged(register, fired, judgement, objects, tags)
    constructed = CONSTRUCTED in tags
    kept: list[Proposal] = []
    reasons: list[tuple[str, str]] = []
    dropped = False
    at = -1
    for item in items:
        if not isinstance(item, Mapping):
            reasons.append(("", "not an object"))
            continue
        at += 1
        abstract = _text(item.get("abstract"))
        category = _category(item)
        proposal = Proposal(
            category or "",
            abstract,
            _text(item.get("overview")),
            _text(item.get("content")),
            tags[at],
            register,
            confirmed[at],
        )
        if why := _quality(proposal):
            reasons.append((abstract, why))
            continue
        if why := _grounding(proposal, fired):
            dropped = True
            reasons.append((abstract, why))
            continue
        kept.append(proposal)
    if failed_closed or (not asserted and fired is None and constructed):
        left = [proposal for proposal in kept if proposal.category not in _DURABLE]
        dropped = dropped or len(left) < len(kept)
        reasons += [
            (proposal.abstract, "durable while the grounding is unsettled")
            for proposal in kept
            if proposal.category in _DURABLE
        ]
        kept = left
    return Filtered(tuple(kept), register, dropped, tuple(reasons))


def _judged(
    register: str,
    fired: str | None,
    judgement: SecondJudgement,
    objects: Sequence[Mapping[str, Any]],
    tags: list[str],
) -> tuple[str, list[str], list[bool]]:
    complete = judgement.tags is not None
    given = judgement.register
    if given is not None and (complete or _STRICTNESS[given] > _STRICTNESS[register]):
        register = given
    if judgement.tags is not None:
        return register, list(judgement.tags), [tag == REAL for tag in judgement.tags]
    if register != REAL or fired == "real sibling":
        tags = [
            CONSTRUCTED if tag == REAL and _category(item) in _DURABLE else tag
            for item, tag in zip(objects, tags, strict=True)
        ]
    return register, tags, [False] * len(tags)


def _quality(proposal: Proposal) -> str:
    if not proposal.category:
        return "unknown category"
    if utf16_len(proposal.abstract) < SHORTEST_ABSTRACT:
        return "short abstract"
    rule = noise_rule(proposal.abstract)
    return f"noise: {rule}" if rule else ""


def _grounding(proposal: Proposal, fired: str | None) -> str:
    if proposal.register == FICTION and proposal.category in _DURABLE:
        return "durable in fiction"
    strict = proposal.register == FICTION or fired in SIBLING_CELLS
    if strict and proposal.category == "events" and not proposal.confirmed:
        return "event not confirmed"
    return "constructed" if proposal.grounding == CONSTRUCTED else ""


def _text(value: Any) -> str:
    return trim(value) if isinstance(value, str) else ""
