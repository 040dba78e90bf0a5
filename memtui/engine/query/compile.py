"""From the tree of a filter to a mask over the catalog."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.query import ast
from memtui.engine.query.ast import Node
from memtui.engine.query.errors import FilterError
from memtui.engine.query.parse import parse
from memtui.engine.query.render import render
from memtui.engine.query.terms import term_mask

if TYPE_CHECKING:
    from memtui.engine.query.context import FilterContext
    from memtui.engine.store.catalog import Mask

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
        text = render(node)
        node = parse(text)
    texts = [each for each in ast.walk(node) if isinstance(each, _BY_TEXT)]
    if len(texts) > MAX_TEXTS:
        raise FilterError(
            f"The filter looks for {len(texts)} texts, more than {MAX_TEXTS}.",
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
