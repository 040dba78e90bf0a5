"""From tokens to the tree of a filter."""

from __future__ import annotations

from dataclasses import replace

from memtui.engine.query import ast
from memtui.engine.query.ast import Node, Span
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.fields import NAMES, SCOPE_KINDS, FieldSpec
from memtui.engine.query.lex import Token, lex
from memtui.engine.query.pattern import MAX_EXPANDED, MAX_PATTERN, expanded_size
from memtui.engine.query.values import read_value

MAX_DEPTH = 50
"""Parentheses and minus signs inside one another; far below Python's own recursion limit."""


def parse(text: str) -> Node:
    """The tree of the filter `text`; a blank text is `Everything`.

    Raises FilterError with the span of what is wrong, and the nearest field or value where there is one.
    """
    parser = _Parser(text)
    if not parser.tokens:
        return ast.Everything(Span(0, len(text)))
    node = parser.either(0)
    if (token := parser.peek()) is not None:
        raise parser.error("This ) closes nothing.", token.span, fix='Remove it, or put it in quotes: ")".')
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = lex(text)
        self.at = 0

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def error(self, message: str, span: Span, *, fix: str = "", nearest: str = "") -> FilterError:
        return FilterError(message, text=self.text, span=span, fix=fix, nearest=nearest)

    def either(self, depth: int) -> Node:
        terms = [self.all(depth)]
        while (token := self.peek()) is not None and token.kind == "|":
            self.take()
            terms.append(self.all(depth))
        return terms[0] if len(terms) == 1 else ast.Or(tuple(terms), terms[0].span | terms[-1].span)

    def all(self, depth: int) -> Node:
        terms: list[Node] = []
        while (token := self.peek()) is not None and token.kind not in ("|", ")"):
            terms.append(self.term(depth))
        if not terms:
            self.nothing_here()
        return terms[0] if len(terms) == 1 else ast.And(tuple(terms), terms[0].span | terms[-1].span)

    def nothing_here(self) -> None:
        before = self.tokens[self.at - 1] if self.at else None
        token = self.peek()
        if before is not None and before.kind == "|":
            raise self.error("Nothing stands behind |.", before.span, fix="Add a term or remove it.")
        if token is not None and token.kind == "|":
            raise self.error("Nothing stands before |.", token.span, fix="Add a term or remove it.")
        if before is not None and token is not None:
            raise self.error("These parentheses are empty.", before.span | token.span, fix="Remove them.")
        if before is not None:
            raise self.error("This ( is never closed.", before.span, fix='Add a ), or quote it: "(".')
        assert token is not None
        raise self.error("This ) closes nothing.", token.span, fix='Remove it, or put it in quotes: ")".')

    def term(self, depth: int) -> Node:
        token = self.take()
        if depth > MAX_DEPTH:
            raise self.error(f"More than {MAX_DEPTH} levels deep.", token.span, fix="Simplify the filter.")
        match token.kind:
            case "-":
                return self.negated(token, depth)
            case "(":
                return self.group(token, depth)
            case "~":
                return self.semantic(token)
            case "phrase":
                if not token.text:
                    raise self.error("The quotes are empty.", token.span, fix="Write a text between them.")
                return ast.Phrase(token.text, token.span)
            case "regex":
                return self.regex(token)
            case "name":
                return self.field(token)
            case _:
                return ast.Word(token.text, token.span)

    def negated(self, minus: Token, depth: int) -> Node:
        token = self.peek()
        if token is None or token.kind in ("|", ")") or token.span.start != minus.span.end:
            raise self.error(
                "A minus must stand directly before a term.", minus.span, fix='Remove it, or quote it: "-".'
            )
        term = self.term(depth + 1)
        return ast.Not(term, minus.span | term.span)

    def group(self, opening: Token, depth: int) -> Node:
        node = self.either(depth + 1)
        token = self.peek()
        if token is None:
            raise self.error("This ( is never closed.", opening.span, fix='Add a ), or quote it: "(".')
        self.take()
        return replace(node, span=opening.span | token.span)

    def semantic(self, tilde: Token) -> Node:
        token = self.peek()
        if token is not None and token.kind == "phrase" and token.span.start == tilde.span.end:
            self.take()
            if token.text.strip():
                return ast.Semantic(" ".join(token.text.split()), tilde.span | token.span)
        words = []
        while (token := self.peek()) is not None and token.kind == "word":
            words.append(self.take())
        if not words:
            raise self.error("~ needs words behind it.", tilde.span, fix="Write ~ and what you mean.")
        return ast.Semantic(" ".join(word.text for word in words), tilde.span | words[-1].span)

    def regex(self, token: Token) -> Node:
        if not token.text:
            raise self.error("The regular expression is empty.", token.span, fix="Write one between the /.")
        if len(token.text) > MAX_PATTERN or expanded_size(token.text) > MAX_EXPANDED:
            raise self.error(
                "The regular expression is too large.",
                token.span,
                fix="Shorten it, or repeat less in it: counted repetitions count as written out.",
            )
        return ast.Regex(token.text, token.span)

    def field(self, name: Token) -> Node:
        op = self.take()
        values = self.values()
        spec = NAMES.get(name.text.lower())
        if spec is None:
            raise self.unknown_field(name, op, values)
        self.check_operator(spec, name, op, values)
        for value in values:
            if not value.text and not value.quoted:
                fix = f"Write it as in {spec.example}, without spaces."
                raise self.error(f"{spec.name} has no value here.", name.span | value.span, fix=fix)
        read = tuple(read_value(spec, op.text, value, self.text) for value in values)
        return ast.Field(spec.name, op.text, read, name.span | values[-1].span)  # type: ignore[arg-type]

    def values(self) -> list[Token]:
        values = [self.take()]
        while (token := self.peek()) is not None and token.kind == ",":
            self.take()
            values.append(self.take())
        return values

    def check_operator(self, spec: FieldSpec, name: Token, op: Token, values: list[Token]) -> None:
        if op.text not in spec.ops:
            fix = f"Write it as in {spec.example}."
            raise self.error(f"{spec.name} cannot be compared with {op.text}.", op.span, fix=fix)
        if op.text in (">", ">=", "<", "<=") and len(values) > 1:
            span = values[0].span | values[-1].span
            listed = quote(self.text[span.start : span.end])
            raise self.error(f"{op.text} takes one value.", span, fix=f"Write {spec.name}:{listed}.")

    def unknown_field(self, name: Token, op: Token, values: list[Token]) -> FilterError:
        written = self.text[name.span.start : values[-1].span.end]
        if name.text in SCOPE_KINDS and op.text == ":":
            scoped = f"scope:{name.text}"
            fix = f"Did you mean scope:{quote(written)}?"
            return self.error(f'"{name.text}" is a kind of scope.', name.span, fix=fix, nearest=scoped)
        close = nearest(name.text, NAMES)
        meant = NAMES[close].name if close else ""
        fix = f"Did you mean {meant}{op.text}? " if meant else ""
        fix += f'Put quotes around it to search the text: "{quote(written)}".'
        return self.error(f'"{quote(name.text)}" is not a field.', name.span, fix=fix, nearest=meant)
