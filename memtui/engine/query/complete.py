"""What could stand at the cursor: field names, then values, with the number of rows that have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.memory import LAYERS, STATES, TIERS
from memtui.engine.query.ast import Span
from memtui.engine.query.errors import FilterError
from memtui.engine.query.fields import (
    FIELDS,
    NAMES,
    SMART_CATEGORIES,
    STORAGE_CATEGORIES,
    FieldSpec,
    describe,
)
from memtui.engine.query.lex import Token, lex
from memtui.engine.query.render import literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.query.context import FilterContext
    from memtui.engine.store.catalog import Codes

MOST = 50
"""Proposals at most: more than a person reads, far fewer than the scopes of a large store."""

EXAMPLES = {
    "number": (".3", ".5", ".7", ".9", ".5..0.8"),
    "count": ("0", "1", "3", "10"),
    "age": ("1h", "1d", "1w", "4w", "1d..1w"),
}


@dataclass(frozen=True, slots=True)
class Proposal:
    """One completion: what to insert for `Completion.span`, a line of help, and how many rows have it."""

    insert: str
    help: str = ""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What may replace the characters of `span`, best first; nothing when the cursor is inside a text."""

    span: Span
    proposals: tuple[Proposal, ...]


def complete(text: str, cursor: int, context: FilterContext | None = None) -> Completion:
    """The completions of `text` at `cursor` (0 to its length).

    Values come from the catalog of `context` with their counts, without one from the language alone.
    Never raises: what cannot be completed has no proposals.
    """
    try:
        tokens = lex(text, tolerant=True)
    except FilterError:
        return Completion(Span(cursor, cursor), ())
    at = next((i for i, token in enumerate(tokens) if token.span.start <= cursor <= token.span.end), None)
    # A token that ends where the next begins: the cursor belongs to the later one.
    while at is not None and at + 1 < len(tokens) and tokens[at + 1].span.start <= cursor:
        at += 1
    token = tokens[at] if at is not None else None
    if at is not None and token is not None and token.kind in ("value", "op", ","):
        return _values(text, tokens, at, cursor, context)
    if token is not None and token.kind not in ("word", "name", "-", "(", "|"):
        return Completion(Span(cursor, cursor), ())
    if token is None or token.kind not in ("word", "name"):
        return Completion(Span(cursor, cursor), tuple(_names("")))
    written = text[token.span.start : cursor].lower()
    if token.kind == "name":
        return Completion(token.span, tuple(Proposal(spec.name, spec.help) for spec in _fields(written)))
    return Completion(token.span, (*_names(written), *_terms(written, context)))


def _fields(written: str) -> list[FieldSpec]:
    return list(dict.fromkeys(spec for name, spec in NAMES.items() if name.startswith(written)))


def _names(written: str) -> list[Proposal]:
    return [Proposal(f"{spec.name}:", f"{spec.help}, as in {spec.example}") for spec in _fields(written)]


def _terms(written: str, context: FilterContext | None) -> list[Proposal]:
    """Whole terms whose value begins as written: `core` is `tier:core`, `agent` is `scope:agent:…`."""
    if len(written) < 2:
        return []
    return [
        Proposal(f"{name}:{literal(value)}", describe(name, value), count)
        for name in ("tier", "is", "has", "state", "cat", "scope")
        for value, count in known_values(name, context)
        if value.lower().startswith(written)
    ][:MOST]


def _values(
    text: str, tokens: list[Token], at: int, cursor: int, context: FilterContext | None
) -> Completion:
    start = max(i for i in range(at + 1) if tokens[i].kind in ("name", "op"))
    name = tokens[start - 1] if tokens[start].kind == "op" else tokens[start]
    spec = NAMES.get(name.text.lower())
    value = tokens[at] if tokens[at].kind == "value" else None
    span = value.span if value else Span(cursor, cursor)
    if spec is None:
        return Completion(span, ())
    written = text[span.start : cursor].lstrip('"').lower()
    taken = {token.text for token in _listed(tokens, start + 1) if token is not value}
    proposals = [
        Proposal(literal(each), describe(spec.name, each), count)
        for each, count in known_values(spec.name, context)
        if each.lower().startswith(written) and each not in taken
    ]
    return Completion(span, tuple(proposals[:MOST]))


def _listed(tokens: list[Token], start: int) -> Iterable[Token]:
    for token in tokens[start:]:
        if token.kind == "value":
            yield token
        elif token.kind != ",":
            return


def known_values(name: str, context: FilterContext | None) -> list[tuple[str, int | None]]:
    """The values of the field `name` that can be filtered by, with their row counts where they are known.

    Scopes and stored categories stand in order of their counts.
    """
    spec = FIELDS[name]
    if spec.kind in EXAMPLES:
        return [(example, None) for example in EXAMPLES[spec.kind]]
    if spec.kind == "choice":
        further = [
            each for each in spec.provided if context is not None and context.provides(f"{name}:{each}")
        ]
        counts = _choice_counts(name, context)
        return [(each, counts.get(each)) for each in (*spec.choices, *further)]
    if name == "scope" and context is not None:
        return list(_counted(context.catalog.scope_codes, context.catalog.scopes).items())
    if name == "cat":
        return list(_categories(context).items())
    if context is not None and name in context.catalog.labels:
        label = context.catalog.labels[name]
        return list(_counted(label.codes, label.values).items())
    if context is not None and context.provides(name):
        assert context.facts is not None
        return [(each, None) for each in context.facts.values(name)]
    return []


def _choice_counts(name: str, context: FilterContext | None) -> dict[str, int]:
    words = {"tier": TIERS, "state": STATES, "layer": LAYERS}.get(name)
    if context is None or context.catalog.meta is None or words is None:
        return {}
    return _counted(getattr(context.catalog.meta, name), words)


def _categories(context: FilterContext | None) -> dict[str, int | None]:
    if context is None:
        return dict.fromkeys((*STORAGE_CATEGORIES, *SMART_CATEGORIES))
    catalog, meta = context.catalog, context.catalog.meta
    smart = _counted(meta.memory_category, meta.memory_categories) if meta is not None else {}
    stored = _counted(catalog.category_codes, catalog.categories)
    return {**stored, **{word: count for word, count in smart.items() if word not in stored}}


def _counted(codes: Codes | NDArray[np.uint8], values: Sequence[str | None]) -> dict[str, int]:
    from memtui.engine.store.select import counts

    return {value: count for value, count in counts(codes, values, None) if value}
