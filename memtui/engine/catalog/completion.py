"""What could stand at the cursor: field names, then values, with the number of rows that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.dialects.importance_labels import LABELS
from memtui.engine.dialects.mem_engine import TRUST
from memtui.engine.query.ast import TextSpan
from memtui.engine.query.errors import FilterError
from memtui.engine.query.fields import (
    FIELDS,
    NAMES,
    SMART_CATEGORIES,
    STORAGE_CATEGORIES,
    FieldSpec,
    describe,
)
from memtui.engine.query.parser import Token, lex
from memtui.engine.query.render import literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.catalog.catalog import Codes
    from memtui.engine.catalog.filter_context import FilterContext
    from memtui.engine.catalog.types import ListView


MOST = 50
"""Proposals at most: more than a person reads, far fewer than the scopes of a large store."""

EXAMPLES = {
    "number": (".3", ".5", ".7", ".9", ".5..0.8"),
    "count": ("0", "1", "3", "10"),
    "age": ("1h", "1d", "1w", "4w", "1d..1w"),
}


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """One completion: what to insert for `Completion.span`, a line of help, and how many rows have it."""

    insert: str
    help: str = ""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What may replace the characters of `span`, best first; nothing when the cursor is inside a text."""

    span: TextSpan
    proposals: tuple[CompletionItem, ...]


def complete(text: str, cursor: int, context: FilterContext | None = None) -> Completion:
    """The completions of `text` at `cursor` (0 to its length).

    Values come from the catalog of `context` with their counts, without one from the language alone.
    Never raises: what cannot be completed has no proposals.
    """
    try:
        tokens = lex(text, tolerant=True)
    except FilterError:
        return Completion(TextSpan(cursor, cursor), ())
    # Where two tokens meet, the later one counts; behind an operator or a comma there always is a value.
    here = [i for i, token in enumerate(tokens) if token.span.start <= cursor <= token.span.end]
    here = [i for i in here if tokens[i].kind not in ("op", ",") or tokens[i].span.start < cursor]
    if not here or tokens[here[-1]].kind in ("-", "(", "|"):
        return Completion(TextSpan(cursor, cursor), tuple(_names("")))
    token = tokens[here[-1]]
    written = text[token.span.start : cursor].lower()
    match token.kind:
        case "value":
            return Completion(token.span, tuple(_values(tokens, here[-1], written, context)))
        case "name":
            return Completion(
                token.span, tuple(CompletionItem(spec.name, spec.help) for spec in _fields(written))
            )
        case "word":
            return Completion(token.span, (*_names(written), *_terms(written, context)))
        case _:
            return Completion(TextSpan(cursor, cursor), ())


def complete_in(view: ListView | None, text: str, cursor: int) -> Completion:
    """The completions with what the store of a list holds: its scopes, categories and sources by their counts."""
    from memtui.engine.catalog.filter_context import FilterContext

    catalog = getattr(view.positions, "catalog", None) if view is not None else None
    return complete(text, cursor, FilterContext(catalog, 0) if catalog is not None else None)


def _fields(written: str) -> list[FieldSpec]:
    return list(dict.fromkeys(spec for name, spec in NAMES.items() if name.startswith(written)))


def _names(written: str) -> list[CompletionItem]:
    return [
        CompletionItem(f"{spec.name}:", f"{spec.help}, as in {spec.example}") for spec in _fields(written)
    ]


def _terms(written: str, context: FilterContext | None) -> list[CompletionItem]:
    """Whole terms whose value begins as written: `core` is `tier:core`, `agent` is `scope:agent:…`."""
    if len(written) < 2:
        return []
    return [
        CompletionItem(f"{name}:{literal(value)}", describe(name, value), count)
        for name in ("tier", "is", "has", "state", "cat", "scope", "meta")
        for value, count in known_values(name, context)
        if value.lower().startswith(written)
    ][:MOST]


def _values(
    tokens: list[Token], at: int, written: str, context: FilterContext | None
) -> list[CompletionItem]:
    """Values for the value token number `at`, of which `written` stands before the cursor."""
    op = max(i for i in range(at) if tokens[i].kind == "op")
    spec = NAMES.get(tokens[op - 1].text.lower())
    if spec is None:
        return []
    listed = takewhile(lambda token: token.kind in ("value", ","), tokens[op + 1 :])
    taken = {token.text for token in listed if token is not tokens[at]}
    ranges = tokens[op].text in (":", "=", "!=")
    return [
        CompletionItem(literal(each), describe(spec.name, each), count)
        for each, count in known_values(spec.name, context)
        if each.lower().startswith(written.lstrip('"')) and each not in taken and (ranges or ".." not in each)
    ][:MOST]


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
        return [(choice, counts.get(choice)) for choice in (*spec.choices, *further)]
    if name == "scope" and context is not None:
        return list(_counted(context.catalog.scope_codes, context.catalog.scopes).items())
    if name == "cat":
        return list(_categories(context).items())
    if name == "label" and context is not None:
        from memtui.engine.catalog.governance import labels_of

        codes = labels_of(context.catalog)
        return [] if codes is None else list(_counted(codes, LABELS).items())
    name = TRUST if name == "trust" else name
    if context is not None and name in context.catalog.labels:
        label = context.catalog.labels[name]
        return list(_counted(label.codes, label.values).items())
    if name == "meta":
        meta = context.catalog.meta if context is not None else None
        return [(key, None) for key in (meta.keys if meta is not None else ())]
    if context is not None and context.provides(name):
        assert context.facts is not None
        return [(fact, None) for fact in context.facts.values(name)]
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
    from memtui.engine.catalog.select import category_counts

    stored = {word: count for word, count in category_counts(catalog, None) if word}
    return {**stored, **{word: count for word, count in smart.items() if word not in stored}}


def _counted(codes: Codes | NDArray[np.uint8], values: Sequence[str | None]) -> dict[str, int]:
    from memtui.engine.catalog.select import counts

    return {value: count for value, count in counts(codes, values, None) if value}
