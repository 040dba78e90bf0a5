"""A tree written as a filter again, in the shortest form that parses to the same tree."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from memtui.engine.query import ast
from memtui.engine.query.ast import Node, TextSpan, Value
from memtui.engine.query.errors import FilterError
from memtui.engine.query.parser import parse


def rendered(node: Node) -> str:
    """The text of `node`: `parse(render(node)) == node` for every tree that `parse` can make."""
    match node:
        case ast.Everything():
            return ""
        case ast.Or(terms):
            return " | ".join(_inside(term, ast.Or) for term in terms)
        case ast.And(terms):
            return " ".join(_inside(term, ast.And, ast.Or) for term in terms)
        case ast.Not(term):
            return "-" + _inside(term, ast.And, ast.Or)
        case ast.FieldTerm(name, op, values):
            return name + op + ",".join(_value(value, op) for value in values)
        case ast.Word(text):
            return text
        case ast.Phrase(text):
            return quoted(text)
        case ast.Semantic(text):
            return "~" + quoted(text)
        case ast.Regex(pattern):
            return f"/{pattern.replace('/', chr(92) + '/')}/"


def quoted(text: str) -> str:
    """`text` in double quotes, escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def literal(text: str, op: str = ":") -> str:
    """A text value, in quotes only where it could be read as something else."""
    special = any(char.isspace() or char in '()|",' for char in text)
    globbing = op != "=" and any(char in "*?" for char in text)
    return quoted(text) if not text or special or globbing else text


def _inside(node: Node, *looser: type) -> str:
    text = rendered(node)
    return f"({text})" if isinstance(node, looser) else text


def _value(value: Value, op: str) -> str:
    match value:
        case ast.Text(text, glob):
            return text if glob else literal(text, op)
        case ast.Range(low, high):
            return f"{_value(low, op) if low else ''}..{_value(high, op) if high else ''}"
        case ast.Age(amount, unit):
            return _number(amount) + unit
        case ast.Number(number):
            return _number(number)


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else format(Decimal(repr(value)), "f")


# The terms of a filter one by one, and the filter with one of them more or less.


@dataclass(frozen=True, slots=True)
class FilterChip:
    """One term: as it was written, where, what kind it is, and whether a minus stands before it."""

    text: str
    span: TextSpan
    kind: str
    """The field's name, or word, phrase, regex, semantic; "group" for parentheses and |."""
    negated: bool


def chips(text: str) -> tuple[FilterChip, ...]:
    """The terms of the filter that all must match, in order; raises FilterError like `parse`."""
    return tuple(
        FilterChip(text[term.span.start : term.span.end], term.span, *_kind(term))
        for term in top_terms(parse(text))
    )


def top_terms(node: Node) -> tuple[Node, ...]:
    """Return the terms that must all match: those of an *and*, else the tree itself; none of an empty filter."""
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
    return left if _means(left, wanted) else rendered(wanted)


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
    return longer if _means(longer, wanted) else rendered(wanted)


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
        case ast.FieldTerm(name, op):
            return name, op == "!="
        case ast.And() | ast.Or() | ast.Everything():
            return "group", False
        case _:
            return type(term).__name__.lower(), False
