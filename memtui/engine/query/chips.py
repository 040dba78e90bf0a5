"""The terms of a filter one by one, and the filter with one of them more or less."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.engine.query import ast
from memtui.engine.query.ast import Node, Span
from memtui.engine.query.errors import FilterError
from memtui.engine.query.parse import parse
from memtui.engine.query.render import render


@dataclass(frozen=True, slots=True)
class Chip:
    """One term: as it was written, where, what kind it is, and whether a minus stands before it."""

    text: str
    span: Span
    kind: str
    """The field's name, or word, phrase, regex, semantic; "group" for parentheses and |."""
    negated: bool


def chips(text: str) -> tuple[Chip, ...]:
    """The terms of the filter that all must match, in order; raises FilterError like `parse`."""
    return tuple(
        Chip(text[term.span.start : term.span.end], term.span, *_kind(term))
        for term in top_terms(parse(text))
    )


def top_terms(node: Node) -> tuple[Node, ...]:
    """The terms that all must match: of an *and* its terms, of all else (but nothing) itself."""
    if isinstance(node, ast.Everything):
        return ()
    return node.terms if isinstance(node, ast.And) else (node,)


def apart(node: Node) -> tuple[Node | None, str]:
    """What a filter keeps, None for everything, and the ~words that only order it.

    ~words inside parentheses or behind a minus stay where they are: `compile` says that they make no sense there.
    """
    terms = top_terms(node)
    meant = [term for term in terms if isinstance(term, ast.Semantic)]
    rest = tuple(term for term in terms if not isinstance(term, ast.Semantic))
    kept = None if not rest else rest[0] if len(rest) == 1 else ast.And(rest, node.span)
    return kept, " ".join(term.text for term in meant)


def remove(text: str, index: int) -> str:
    """The filter without its term number `index` (-1 is the last), all others as they were written.

    Raises IndexError when there is no such term.
    """
    terms = top_terms(parse(text))
    gone = terms[index]
    rest = tuple(term for term in terms if term is not gone)
    if not rest:
        return ""
    left = f"{text[: gone.span.start].rstrip()} {text[gone.span.end :].lstrip()}".strip()
    wanted = rest[0] if len(rest) == 1 else ast.And(rest)
    return left if _means(left, wanted) else render(wanted)


def add(text: str, term: str) -> str:
    """The filter with one more term that must match too; unchanged when that very term is there already.

    Raises FilterError when either does not parse.
    """
    old, new = parse(text), parse(term)
    if isinstance(new, ast.Everything) or new in top_terms(old):
        return text
    terms = (*top_terms(old), *top_terms(new))
    wanted = terms[0] if len(terms) == 1 else ast.And(terms)
    longer = f"{text.rstrip()} {term.strip()}".strip()
    return longer if _means(longer, wanted) else render(wanted)


def _means(text: str, wanted: Node) -> bool:
    try:
        return parse(text) == wanted
    except FilterError:
        return False


def _kind(term: Node) -> tuple[str, bool]:
    match term:
        case ast.Not(inner):
            kind, negated = _kind(inner)
            return kind, not negated
        case ast.Field(name, op):
            return name, op == "!="
        case ast.And() | ast.Or() | ast.Everything():
            return "group", False
        case _:
            return type(term).__name__.lower(), False
