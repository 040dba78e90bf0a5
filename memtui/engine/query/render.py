"""A tree written as a filter again, in the shortest form that parses to the same tree."""

from __future__ import annotations

from decimal import Decimal

from memtui.engine.query import ast
from memtui.engine.query.ast import Node, Value


def render(node: Node) -> str:
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
        case ast.Field(name, op, values):
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
    text = render(node)
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
