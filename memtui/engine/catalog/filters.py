"""From the tree of a filter to a mask over the catalog."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal

import numpy as np

from memtui.engine.catalog.catalog import DYNAMIC, INVALID, SUPERSEDED, SUPERSEDES
from memtui.engine.catalog.filter_context import FilterContext, TermContext
from memtui.engine.catalog.governance import labels_of
from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.core.text import counted
from memtui.engine.dialects.importance_labels import LABELS, label_word
from memtui.engine.dialects.mem_engine import TIERS as TIERS_OF_TRUST
from memtui.engine.dialects.mem_engine import TRUST
from memtui.engine.metadata.read import SOURCES
from memtui.engine.query import ast
from memtui.engine.query.ast import UNIT_MS, Age, FieldTerm, Node, Number, Op, Range, Text, Value
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.fields import FIELDS, SMART_CATEGORIES, SMART_SINGULAR, STORAGE_CATEGORIES
from memtui.engine.query.parser import parse
from memtui.engine.query.render import chips, literal, remove, rendered, top_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtui.engine.catalog.catalog import Mask, MetadataColumns, Times
    from memtui.engine.query.ast import TextSpan


# Terms over columns with few different values: one decision for each value, spread to the rows by code.


def spread(
    codes: NDArray[np.unsignedinteger], values: Sequence[str | None], wanted: Callable[[str | None], bool]
) -> Mask:
    """The rows whose value is `wanted`: bool [n] over `codes` [n] into `values`."""
    chosen = np.fromiter((wanted(value) for value in values), dtype=np.bool_, count=len(values))
    return chosen[codes] if chosen.size else np.zeros(len(codes), dtype=np.bool_)


def scope_mask(asking: TermContext, value: Text) -> Mask:
    """Rows whose scope, exactly as stored, equals the value or fits its glob; an empty value means none.

    A glob never fits a missing scope, so that `-scope:*` finds the rows without one.
    """
    codes, scopes = asking.catalog.scope_codes, asking.catalog.scopes
    if value.glob:
        fits = glob_pattern(value.text).match
        return spread(codes, scopes, lambda scope: scope is not None and bool(fits(scope)))
    return spread(codes, scopes, lambda scope: (scope or "") == value.text)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """`*` any characters, `?` one, all others themselves; matches in linear time."""
    return re.compile(fnmatch.translate(glob.replace("[", "[[]")))


def category_mask(asking: TermContext, value: Text) -> Mask:
    """Rows whose stored or smart category is the value, upper and lower case alike.

    The six storage words ask the category column only (no metadata needed); a smart word, or one that
    is neither, asks the metadata too. An empty value finds rows without a category.
    """
    catalog = asking.catalog
    word = value.text.strip().lower()
    lists = catalog.category_lists
    if lists is None:
        mask = spread(catalog.category_codes, catalog.categories, lambda stored: _same(stored, word))
    else:
        chosen = [any(_same(each, word) for each in listed or (None,)) for listed in lists.values]
        mask = np.array(chosen, np.bool_)[lists.codes] if chosen else np.zeros(catalog.n, np.bool_)
    if word and word not in STORAGE_CATEGORIES and catalog.has_metadata:
        meta, smart = asking.meta(f"cat:{quote(value.text)}"), SMART_SINGULAR.get(word, word)
        mask |= spread(meta.memory_category, meta.memory_categories, lambda stored: _same(stored, smart))
    if word:
        check_known(asking, value, "category", category_words(asking))
    return mask


def category_words(asking: TermContext) -> list[str]:
    """Every category word that means something here."""
    catalog = asking.catalog
    lists = catalog.category_lists
    stored = catalog.categories if lists is None else [each for listed in lists.values for each in listed]
    words = [*STORAGE_CATEGORIES, *SMART_CATEGORIES, *SMART_SINGULAR, *filter(None, stored)]
    return words + ([c for c in catalog.meta.memory_categories if c] if catalog.meta is not None else [])


def source_mask(asking: TermContext, value: Text) -> Mask:
    """Rows that came from the source, upper and lower case alike."""
    label = asking.catalog.labels.get("source")
    if label is None and asking.catalog.metadata_pending:
        asking.meta("source")
    if label is None:
        return asking.provided("source", value.text, whole_field=True)
    check_known(asking, value, "source", [*SOURCES, *filter(None, label.values)])
    return spread(label.codes, label.values, lambda source: _same(source, value.text))


def label_mask(asking: TermContext, value: Text) -> Mask:
    """Rows with this importance label, as openclaw-mem-engine reads them: what is no label counts by its score."""
    codes = labels_of(asking.catalog)
    if codes is None:
        raise _no_governance(asking, value, "importance labels", "Filter by the number: imp:.8..1.")
    word = label_word(value.text)
    if word is None:
        check_known(asking, value, "importance label", LABELS)
        return np.zeros(asking.catalog.n, dtype=np.bool_)
    return np.asarray(codes == LABELS.index(word))


def trust_mask(asking: TermContext, value: Text) -> Mask:
    """Rows with this trust tier as it is stored, upper and lower case alike; an empty value means none."""
    tiers = asking.catalog.labels.get(TRUST)
    if tiers is None:
        raise _no_governance(asking, value, "trust tiers", "Filter by where they came from: source:manual.")
    if value.text.strip():
        check_known(asking, value, "trust tier", [*TIERS_OF_TRUST, *filter(None, tiers.values)])
    return spread(tiers.codes, tiers.values, lambda stored: _same(stored, value.text))


def _no_governance(asking: TermContext, value: Text, what: str, fix: str) -> FilterError:
    sentence = f"This store has no {what}: only openclaw-mem-engine keeps them."
    return FilterError(sentence, text=asking.text, span=value.span, fix=fix)


def metadata_mask(asking: TermContext, value: Text) -> Mask:
    """Rows whose metadata has the key, or the value behind its =; a key that no row has is an error."""
    mask = asking.provided("meta", value.text, whole_field=True)
    if not mask.any() and (meta := asking.catalog.meta) is not None:
        key = Text(value.text.partition("=")[0], span=value.span)
        check_known(asking, key, "metadata key", meta.keys)
    return mask


def check_known(asking: TermContext, value: Text, what: str, known: Sequence[str]) -> None:
    """Raise FilterError with the nearest of the `known` words when `value` is none of them."""
    if asking.context.veiled or any(_same(each, value.text) for each in known):
        return
    meant = nearest(value.text, known)
    raise FilterError(
        f'No memory here has the {what} "{quote(value.text)}".',
        text=asking.text,
        span=value.span,
        fix=f"Did you mean {quote(meant)}?" if meant else f"There are {', '.join(map(quote, known[:12]))}.",
        nearest=meant and literal(meant),
    )


def _same(stored: str | None, word: str) -> bool:
    return (stored or "").strip().lower() == word.strip().lower()


# Terms over numbers and ages: comparisons and ranges. What is unknown (NaN) matches none of them.


def number_mask(column: NDArray[np.floating] | NDArray[np.integer], op: Op, value: Value) -> Mask:
    """Rows of `column` [n] that compare with a Number, or lie in a Range of them.

    The value is rounded to the column's own precision, so that `imp:.7` finds a stored 0.7.
    """
    if isinstance(value, Range):
        low, high = (_limit(column, end) for end in (value.low, value.high))
        return _between(column, low, high)
    return _compare(column, op, _limit(column, value))


def age_mask(times: NDArray[np.float64], now_ms: int, op: Op, value: Value) -> Mask:
    """Rows whose time [n, milliseconds, NaN unknown] lies as long before `now_ms` as asked.

    A single age behind `:` or `=` means "shown as": 2d is from two days up to, not including, three.
    """
    age = now_ms - times
    if isinstance(value, Range):
        return _between(age, *(None if end is None else _ms(end) for end in (value.low, value.high)))
    ms = _ms(value)
    if op in (":", "=", "!="):
        assert isinstance(value, Age)
        return np.asarray((age >= ms) & (age < ms + UNIT_MS[value.unit]))
    return _compare(age, op, ms)


def _ms(value: Value) -> float:
    assert isinstance(value, Age)
    return value.ms


def _limit(column: NDArray[np.floating] | NDArray[np.integer], value: Value | None) -> float | None:
    if value is None:
        return None
    assert isinstance(value, Number)
    return float(np.float32(value.value)) if column.dtype == np.float32 else value.value


def _between(
    column: NDArray[np.floating] | NDArray[np.integer], low: float | None, high: float | None
) -> Mask:
    mask = ~np.isnan(column)
    if low is not None:
        mask &= column >= low
    if high is not None:
        mask &= column <= high
    return np.asarray(mask)


def _compare(column: NDArray[np.floating] | NDArray[np.integer], op: Op, value: float | None) -> Mask:
    assert value is not None
    match op:
        case ">":
            return np.asarray(column > value)
        case ">=":
            return np.asarray(column >= value)
        case "<":
            return np.asarray(column < value)
        case "<=":
            return np.asarray(column <= value)
        case _:
            return np.asarray(column == value)


# Terms `is:` and `has:`: what the catalog decides, and the way to a provider for the rest.

WITHOUT_METADATA = {"active": True, "expired": False, "superseded": False, "suppressed": False}
"""What is so of every row of a store that keeps no such thing, as `Memory` says too."""


def condition_mask(asking: TermContext, condition: str) -> Mask:
    """Rows of which `is:condition` is true."""
    decide = _CONDITIONS_DECIDE.get(condition)
    if decide is None:
        return asking.provided("is", condition)
    if not asking.catalog.has_metadata and condition in WITHOUT_METADATA:
        return np.full(asking.catalog.n, WITHOUT_METADATA[condition], dtype=np.bool_)
    return decide(asking, asking.meta(f"is:{condition}"))


def carried_mask(asking: TermContext, thing: str) -> Mask:
    """Rows of which `has:thing` is true."""
    if thing != "links":
        return asking.provided("has", thing)
    return np.asarray((asking.meta("links").flags & (SUPERSEDED | SUPERSEDES)) != 0)


def _superseded(asking: TermContext, meta: MetadataColumns) -> Mask:
    return np.asarray(((meta.flags & SUPERSEDED) != 0) | (meta.invalidated_at <= asking.context.now_ms))


def _invalid(asking: TermContext, meta: MetadataColumns) -> Mask:
    return np.asarray((meta.flags & INVALID) != 0)


def _stale(asking: TermContext, meta: MetadataColumns) -> Mask:
    from memtui.engine.decay.decay import DecayParams, decay_scores

    catalog, params = asking.catalog, asking.context.decay or DecayParams()
    scores = decay_scores(
        catalog.importance,
        meta.confidence,
        meta.tier,
        meta.access_count,
        catalog.timestamp,
        meta.last_accessed,
        (meta.flags & DYNAMIC) != 0,
        now_ms=asking.context.now_ms,
        params=params,
    )
    return scores.stale(params)


def _in_state(state: str) -> Callable[[TermContext, MetadataColumns], Mask]:
    return lambda _asking, meta: np.asarray(meta.state == STATES.index(state))


_CONDITIONS_DECIDE: dict[str, Callable[[TermContext, MetadataColumns], Mask]] = {
    "active": lambda asking, meta: meta.active(asking.context.now_ms),
    "archived": _in_state("archived"),
    "expired": lambda asking, meta: meta.expired(asking.context.now_ms),
    "invalid-metadata": _invalid,
    "pending": _in_state("pending"),
    "stale": _stale,
    "superseded": _superseded,
    "suppressed": lambda asking, meta: meta.suppressed(asking.context.now_ms),
}


# One term of a filter as a mask over the catalog.


def term_mask(term: Node, context: FilterContext, text: str) -> Mask:
    """The rows that one term matches: bool [n]. `text` is the filter it stands in, for errors."""
    asking = TermContext(context, text, term.span)
    match term:
        case FieldTerm(name, op, values):
            decide = _DECIDE[name]
            mask = reduce(np.logical_or, (decide(asking, term, value) for value in values))
            return ~mask if op == "!=" else mask
        case ast.Word(word):
            return asking.search("Words", lambda texts: texts.words(word))
        case ast.Phrase(phrase):
            return asking.search("Phrases", lambda texts: texts.substring(phrase))
        case ast.Regex(pattern):
            return asking.search("Regular expressions", lambda texts: texts.regex(pattern))
        case ast.Semantic():
            raise asking.not_provided(
                "~ orders a whole list: it cannot choose memories, or stand in parentheses or behind a minus.",
                "Put it beside the other terms of a list, or search for words, without the ~.",
            )
        case _:
            raise TypeError(f"{type(term).__name__} is not a term")


def _text(value: Value) -> Text:
    assert isinstance(value, Text)
    return value


def _word(value: Value) -> str:
    return _text(value).text


def _id(asking: TermContext, term: FieldTerm, value: Value) -> Mask:
    word = _word(value)
    if word == "*" and term.op != "=":
        return np.ones(asking.catalog.n, dtype=np.bool_)
    found = asking.catalog.find(word.removesuffix("*"))
    if term.op == "=":
        texts = asking.catalog.ids.texts(found)
        found = found[np.fromiter((text == word for text in texts), dtype=np.bool_, count=len(texts))]
    return asking.mask(found)


def _tier(asking: TermContext, term: FieldTerm, value: Value) -> Mask:
    return np.asarray(asking.meta("tier").tier == TIERS.index(_word(value)))


def _state(asking: TermContext, term: FieldTerm, value: Value) -> Mask:
    return np.asarray(asking.meta("state").state == STATES.index(_word(value)))


def _layer(asking: TermContext, term: FieldTerm, value: Value) -> Mask:
    return np.asarray(asking.meta("layer").layer == LAYERS.index(_word(value)))


def _share(asking: TermContext, term: FieldTerm, value: Value, column: NDArray[np.float32]) -> Mask:
    """A comparison with a share of 1; imp>70 is an error, unless the store has such rows."""
    if _largest(value) > 1 and not (column > 1).any():
        raise FilterError(
            f"{term.name} runs from 0 to 1 in this store.",
            text=asking.text,
            span=value.span,
            fix=f"Write it as in {FIELDS[term.name].example}.",
        )
    return number_mask(column, term.op, value)


def _largest(value: Value) -> float:
    if isinstance(value, Range):
        return max(_largest(end) for end in (value.low, value.high) if end is not None)
    assert isinstance(value, Number)
    return value.value


def _times(times: Times) -> Times:
    return np.where(times > 0, times, np.nan)


def _last(asking: TermContext, term: FieldTerm, value: Value) -> Mask:
    accessed = asking.meta("last access").last_accessed
    times = np.where(accessed > 0, accessed, asking.catalog.timestamp)
    return age_mask(_times(times), asking.context.now_ms, term.op, value)


_DECIDE: dict[str, Callable[[TermContext, FieldTerm, Value], Mask]] = {
    "tier": _tier,
    "scope": lambda asking, term, value: scope_mask(asking, _text(value)),
    "cat": lambda asking, term, value: category_mask(asking, _text(value)),
    "imp": lambda asking, term, value: _share(asking, term, value, asking.catalog.importance),
    "conf": lambda asking, term, value: _share(asking, term, value, asking.meta("confidence").confidence),
    "used": lambda asking, term, value: number_mask(asking.meta("access count").access_count, term.op, value),
    "age": lambda asking, term, value: age_mask(
        _times(asking.catalog.timestamp), asking.context.now_ms, term.op, value
    ),
    "last": _last,
    "id": _id,
    "is": lambda asking, term, value: condition_mask(asking, _word(value)),
    "has": lambda asking, term, value: carried_mask(asking, _word(value)),
    "lang": lambda asking, term, value: asking.provided("lang", _word(value).lower(), whole_field=True),
    "state": _state,
    "layer": _layer,
    "source": lambda asking, term, value: source_mask(asking, _text(value)),
    "label": lambda asking, term, value: label_mask(asking, _text(value)),
    "trust": lambda asking, term, value: trust_mask(asking, _text(value)),
    "meta": lambda asking, term, value: metadata_mask(asking, _text(value)),
}

MAX_TEXTS = 40
"""Words, phrases and patterns at most: each may read all texts, and nobody types more."""

_BY_TEXT = (ast.Word, ast.Phrase, ast.Regex, ast.Semantic)


def compile(node: Node, context: FilterContext, *, text: str | None = None) -> Mask:
    """The rows of `context.catalog` that match: bool [n], in catalog order.

    `text` is what `node` was parsed from, for the spans of errors; without it they point into
    `render(node)`. Raises FilterError for a value that makes no sense here, NotProvidedError where
    nothing can decide a term, NotReadyError while the metadata it needs is still being read.
    """
    if text is None:
        text = rendered(node)
        node = parse(text)
    texts = [each for each in ast.walk(node) if isinstance(each, _BY_TEXT)]
    if len(texts) > MAX_TEXTS:
        raise FilterError(
            f"The filter looks for {counted(len(texts), 'text')}, more than {MAX_TEXTS}.",
            text=text,
            span=texts[MAX_TEXTS].span | texts[-1].span,
            fix="Put a sentence in quotes to look for it as a whole.",
        )
    return _mask(node, context, text)


def _mask(node: Node, context: FilterContext, text: str) -> Mask:
    match node:
        case ast.Everything():
            return np.ones(context.catalog.n, dtype=np.bool_)
        case ast.Not(term):
            return ~_mask(term, context, text)
        case ast.And(terms):
            return reduce(np.logical_and, (_mask(term, context, text) for term in terms))
        case ast.Or(terms):
            return reduce(np.logical_or, (_mask(term, context, text) for term in terms))
        case _:
            if context.cancel is not None:
                context.cancel.check()
            return term_mask(node, context, text)


# What to do about a filter that finds nothing: each term dropped, and how many rows that gives.


@dataclass(frozen=True, slots=True)
class FilterRemedy:
    """One way out: what to do, to which term, the filter that results, and its number of rows."""

    action: Literal["drop", "replace", "clear"]
    term: str
    """The term as written, empty for "clear"."""
    filter: str
    count: int


def remedies(context: FilterContext, text: str) -> tuple[FilterRemedy, ...]:
    """For each term of the filter the filter without it, in order, then the empty filter.

    A scope that no row has is offered in its nearest spelling first. Every term is evaluated once,
    whatever their number; raises as `parse` and `compile` do.
    """
    root = parse(text)
    terms = top_terms(root)
    masks = [compile(term, context, text=text) for term in terms]
    found = _corrected_scopes(context, text, terms, masks)
    if len(terms) > 1:
        for index, chip in enumerate(chips(text)):
            count = _count(masks[:index] + masks[index + 1 :])
            found.append(FilterRemedy("drop", chip.text, remove(text, index), count))
    return (*found, FilterRemedy("clear", "", "", context.catalog.n))


def _count(masks: list[Mask]) -> int:
    return int(np.count_nonzero(reduce(np.logical_and, masks)))


def _corrected_scopes(
    context: FilterContext, text: str, terms: tuple[Node, ...], masks: list[Mask]
) -> list[FilterRemedy]:
    known = [scope for scope in context.catalog.scopes if scope]
    offered = []
    for index, term in enumerate(terms):
        for span, written in _plain_scopes(term):
            meant = "" if written in known else nearest(written, known)
            if meant:
                better = text[: span.start] + literal(meant) + text[span.end :]
                replaced = compile(top_terms(parse(better))[index], context, text=better)
                count = _count([*masks[:index], replaced, *masks[index + 1 :]])
                offered.append(FilterRemedy("replace", text[term.span.start : term.span.end], better, count))
    return offered


def _plain_scopes(term: Node) -> list[tuple[TextSpan, str]]:
    if not isinstance(term, ast.FieldTerm) or term.name != "scope" or term.op == "!=":
        return []
    return [
        (value.span, value.text) for value in term.values if isinstance(value, ast.Text) and not value.glob
    ]
