"""One term of a filter as a mask over the catalog."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.memory import LAYERS, STATES, TIERS
from memtui.engine.query import ast
from memtui.engine.query.asking import Asking
from memtui.engine.query.ast import Field, Node, Number, Range, Text, Value
from memtui.engine.query.coded import category_mask, metadata_mask, scope_mask, source_mask
from memtui.engine.query.conditions import carried_mask, condition_mask
from memtui.engine.query.context import FilterContext
from memtui.engine.query.errors import FilterError
from memtui.engine.query.fields import FIELDS
from memtui.engine.query.ordered import age_mask, number_mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtui.engine.store.catalog import Mask, Times


def term_mask(term: Node, context: FilterContext, text: str) -> Mask:
    """The rows that one term matches: bool [n]. `text` is the filter it stands in, for errors."""
    asking = Asking(context, text, term.span)
    match term:
        case Field(name, op, values):
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


def _id(asking: Asking, term: Field, value: Value) -> Mask:
    word = _word(value)
    found = asking.catalog.find(word.removesuffix("*"))
    if term.op == "=":
        texts = asking.catalog.ids.texts(found)
        found = found[np.fromiter((each == word for each in texts), dtype=np.bool_, count=len(texts))]
    return asking.mask(found)


def _tier(asking: Asking, term: Field, value: Value) -> Mask:
    return np.asarray(asking.meta("tier").tier == TIERS.index(_word(value)))


def _state(asking: Asking, term: Field, value: Value) -> Mask:
    return np.asarray(asking.meta("state").state == STATES.index(_word(value)))


def _layer(asking: Asking, term: Field, value: Value) -> Mask:
    return np.asarray(asking.meta("layer").layer == LAYERS.index(_word(value)))


def _share(asking: Asking, term: Field, value: Value, column: NDArray[np.float32]) -> Mask:
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


def _last(asking: Asking, term: Field, value: Value) -> Mask:
    accessed = asking.meta("last access").last_accessed
    times = np.where(accessed > 0, accessed, asking.catalog.timestamp)
    return age_mask(_times(times), asking.context.now_ms, term.op, value)


_DECIDE: dict[str, Callable[[Asking, Field, Value], Mask]] = {
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
    "meta": lambda asking, term, value: metadata_mask(asking, _text(value)),
}
