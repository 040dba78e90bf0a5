"""What to do about a filter that finds nothing: each term dropped, and how many rows that gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal

import numpy as np

from memtui.engine.query import ast
from memtui.engine.query.chips import chips, remove, top_terms
from memtui.engine.query.compile import compile
from memtui.engine.query.context import FilterContext
from memtui.engine.query.errors import nearest
from memtui.engine.query.parse import parse
from memtui.engine.query.render import literal

if TYPE_CHECKING:
    from memtui.engine.query.ast import Node, Span
    from memtui.engine.store.catalog import Mask


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way out: what to do, to which term, the filter that results, and its number of rows."""

    action: Literal["drop", "replace", "clear"]
    term: str
    """The term as written, empty for "clear"."""
    filter: str
    count: int


def remedies(context: FilterContext, text: str) -> tuple[Remedy, ...]:
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
            found.append(Remedy("drop", chip.text, remove(text, index), count))
    return (*found, Remedy("clear", "", "", context.catalog.n))


def _count(masks: list[Mask]) -> int:
    return int(np.count_nonzero(reduce(np.logical_and, masks)))


def _corrected_scopes(
    context: FilterContext, text: str, terms: tuple[Node, ...], masks: list[Mask]
) -> list[Remedy]:
    known = [scope for scope in context.catalog.scopes if scope]
    offered = []
    for index, term in enumerate(terms):
        for span, written in _plain_scopes(term):
            meant = "" if written in known else nearest(written, known)
            if meant:
                better = text[: span.start] + literal(meant) + text[span.end :]
                replaced = compile(top_terms(parse(better))[index], context, text=better)
                count = _count([*masks[:index], replaced, *masks[index + 1 :]])
                offered.append(Remedy("replace", text[term.span.start : term.span.end], better, count))
    return offered


def _plain_scopes(term: Node) -> list[tuple[Span, str]]:
    if not isinstance(term, ast.Field) or term.name != "scope" or term.op == "!=":
        return []
    return [
        (value.span, value.text) for value in term.values if isinstance(value, ast.Text) and not value.glob
    ]
