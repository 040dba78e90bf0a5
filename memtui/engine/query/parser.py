"""From tokens to the tree of a filter."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from memtui.engine.query import ast
from memtui.engine.query.ast import UNIT_MS, Age, Node, Number, Range, Text, TextSpan, Value
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.fields import NAMES, ORDERED, SCOPE_KINDS, FieldSpec

# From characters to tokens.

Kind = Literal["(", ")", "|", "-", "word", "phrase", "regex", "~", "name", "op", "value", ","]

MAX_LENGTH = 20_000
"""Longest filter in characters: a few hundred full ids; anything longer is a pasted document."""

_FIELD = re.compile(r"([A-Za-z][A-Za-z_-]*)(!=|>=|<=|[:=<>])")

_WORD_END = re.compile(r'[\s()|"]')

_VALUE_END = re.compile(r'[\s()|",]')

_BOUNDARY = re.compile(r"[\s()|]|\Z")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the filter: what it is, what it says (unescaped) and where it stands."""

    kind: Kind
    text: str
    span: TextSpan
    quoted: bool = False
    """A value or `~` words in double quotes: no globs, no ranges."""


def lex(text: str, *, tolerant: bool = False) -> list[Token]:
    """Split `text` into tokens, in order.

    With `tolerant`, for colouring and completing what is still being typed, an unclosed quote or
    regular expression reaches to the end; otherwise it raises FilterError, like a filter that is too long.
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(
            f"The filter is longer than {MAX_LENGTH:,} characters.",
            text=text,
            span=TextSpan(MAX_LENGTH, len(text)),
            fix="Shorten it.",
        )
    return _Scanner(text, tolerant).run()


class _Scanner:
    def __init__(self, text: str, tolerant: bool) -> None:
        self.text = text
        self.tolerant = tolerant
        self.at = 0
        self.tokens: list[Token] = []

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char.isspace():
                self.at += 1
            elif char in "()|-":
                self.mark(char)  # type: ignore[arg-type]
            elif char == '"':
                self.quoted("phrase")
            elif char == "/":
                self.regex()
            elif char == "~":
                self.mark("~")
                if self.text.startswith('"', self.at):
                    self.quoted("phrase")
            elif match := _FIELD.match(self.text, self.at):
                self.field(match)
            else:
                self.bare("word", _WORD_END)
        return self.tokens

    def add(self, kind: Kind, text: str, start: int, *, quoted: bool = False) -> None:
        self.tokens.append(Token(kind, text, TextSpan(start, self.at), quoted))

    def mark(self, kind: Kind) -> None:
        self.at += 1
        self.add(kind, kind, self.at - 1)

    def bare(self, kind: Kind, end: re.Pattern[str]) -> None:
        start = self.at
        match = end.search(self.text, start)
        self.at = match.start() if match else len(self.text)
        self.add(kind, self.text[start : self.at], start)

    def quoted(self, kind: Kind) -> None:
        start = self.at
        content, closed = self.until('"', start + 1)
        if not closed and not self.tolerant:
            raise FilterError(
                "The quote is never closed.", text=self.text, span=TextSpan(start, self.at), fix='Add a ".'
            )
        self.add(kind, re.sub(r'\\(["\\])', r"\1", content), start, quoted=True)

    def regex(self) -> None:
        start = self.at
        pattern, closed = self.until("/", start + 1)
        if not closed and not self.tolerant:
            raise FilterError(
                "The regular expression is never closed.",
                text=self.text,
                span=TextSpan(start, self.at),
                fix='Add a /, or put a path in quotes: "/etc".',
            )
        if not _BOUNDARY.match(self.text, self.at) and not self.tolerant:
            raise FilterError(
                "Something stands directly behind the regular expression.",
                text=self.text,
                span=TextSpan(self.at, self.at + 1),
                fix='Put a space behind its /, write \\/ for a / inside it, or quote a path: "/etc/hosts".',
            )
        self.add("regex", re.sub(r"\\(.)", _unescaped_slash, pattern, flags=re.S), start)

    def until(self, end: str, start: int) -> tuple[str, bool]:
        """The characters up to an `end` without a backslash before it, and whether there was one."""
        at = start
        while at < len(self.text) and self.text[at] != end:
            at += 2 if self.text[at] == "\\" else 1
        at = min(at, len(self.text))
        self.at = min(at + 1, len(self.text))
        return self.text[start:at], at < len(self.text)

    def field(self, match: re.Match[str]) -> None:
        for group, kind in ((1, "name"), (2, "op")):
            self.at = match.end(group)
            self.add(kind, match[group], match.start(group))  # type: ignore[arg-type]
        while True:
            if self.text.startswith('"', self.at):
                self.quoted("value")
            else:
                self.bare("value", _VALUE_END)
            if not self.text.startswith(",", self.at):
                break
            self.mark(",")
        if not _BOUNDARY.match(self.text, self.at) and not self.tolerant:
            raise FilterError(
                "The value is only partly in quotes.",
                text=self.text,
                span=TextSpan(self.tokens[-1].span.start, self.at + 1),
                fix="Put the whole value in quotes, or a space behind it.",
            )


def _unescaped_slash(match: re.Match[str]) -> str:
    return "/" if match[1] == "/" else match[0]


# From the characters behind an operator to a value of the field's kind.

_NUMBER = re.compile(r"[0-9]{0,15}(?:\.[0-9]{0,15})?")

_AGE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})([A-Za-z]+)")


def read_value(spec: FieldSpec, op: str, token: Token, text: str) -> Value:
    """The value that `token` means for the field, or FilterError with its span in `text`."""
    if spec.kind == "choice":
        return _choice(spec, token, text)
    if spec.kind == "text":
        return Text(token.text, glob=_is_glob(spec, op, token), span=token.span)
    if not token.quoted and ".." in token.text:
        return _range(spec, op, token, text)
    return _ordered(spec, token, token.text, text)


def _is_glob(spec: FieldSpec, op: str, token: Token) -> bool:
    return spec.globs and op != "=" and not token.quoted and ("*" in token.text or "?" in token.text)


def _choice(spec: FieldSpec, token: Token, text: str) -> Text:
    word = token.text.lower()
    known = spec.choices + spec.provided
    if word in known:
        return Text(word, span=token.span)
    meant = nearest(word, known)
    raise FilterError(
        f'"{quote(token.text)}" is no value of {spec.name}.',
        text=text,
        span=token.span,
        fix=f"Did you mean {meant}?" if meant else f"It takes {_listed(spec.choices)}.",
        nearest=meant,
    )


def _listed(words: tuple[str, ...]) -> str:
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _range(spec: FieldSpec, op: str, token: Token, text: str) -> Range:
    if op in (">", ">=", "<", "<="):
        raise FilterError(
            f"{op} takes one value, not a range.",
            text=text,
            span=token.span,
            fix=f"Write {spec.name}:{quote(token.text)}.",
        )
    left, _, right = token.text.partition("..")
    if spec.kind == "age" and left and left[-1].isdigit() and (unit := right.lstrip("0123456789.")):
        left += unit
    low = _ordered(spec, token, left, text) if left else None
    high = _ordered(spec, token, right, text) if right else None
    if low is None and high is None:
        _bad(spec, token, text)
    if low is not None and high is not None and _size(low) > _size(high):
        raise FilterError(
            "The range ends before it begins.", text=text, span=token.span, fix="Put the smaller end first."
        )
    return Range(low, high, span=token.span)


def _size(end: Number | Age) -> float:
    return end.ms if isinstance(end, Age) else end.value


def _ordered(spec: FieldSpec, token: Token, written: str, text: str) -> Number | Age:
    if spec.kind == "age":
        match = _AGE.fullmatch(written)
        if not match or match[2].lower() not in UNIT_MS:
            _bad(spec, token, text)
        return Age(float(match[1]), match[2].lower(), span=token.span)
    if not _NUMBER.fullmatch(written) or not any(map(str.isdigit, written)):
        _bad(spec, token, text)
    value = float(written)
    if spec.kind == "count" and not value.is_integer():
        _bad(spec, token, text)
    return Number(value, span=token.span)


def _bad(spec: FieldSpec, token: Token, text: str) -> NoReturn:
    assert spec.kind in ORDERED
    wanted = {
        "age": "a length of time such as 30m, 6h, 2d or 3w",
        "count": "a whole number",
        "number": "a number",
    }[spec.kind]
    raise FilterError(
        f'"{quote(token.text)}" is not {wanted}.',
        text=text,
        span=token.span,
        fix=f"Write it as in {spec.example}.",
    )


# How much work a regular expression is, before anything runs it.
#
# The engine's matcher is linear in the text, whatever the pattern. Its constant is the size of the pattern
# with all counted repetitions written out. Measured on 13 MB of text: 0.1 s for nearly all patterns, 10 s
# for the worst below the bound, minutes for the worst without one.

MAX_PATTERN = 300
"""Longest regular expression in characters."""

MAX_EXPANDED = 600
"""Largest size of a pattern written out; `.{500,}` and five words of ten letters are below it."""

_UNICODE_CLASS = 10
"""What \\w and its like weigh: they stand for hundreds of ranges of characters."""

_TOKEN = re.compile(
    r"(?P<wide>\\[wWdDsSbB]|\\[pP](?:\{[^}]*\}|.))|(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<open>\()|(?P<close>\))|\{(?P<low>[0-9]+)(?P<comma>,(?P<high>[0-9]*))?\}|(?P<other>.)",
    re.DOTALL,
)


def expanded_size(pattern: str) -> int:
    """The number of characters and classes in `pattern` with `x{2,5}` counted as five x.

    A pattern that is not well formed gets some size too; that it is wrong is the engine's to say.
    """
    sums = [0]  # of the pattern and of each open group
    last = 0  # of what a repetition would repeat
    for token in _TOKEN.finditer(pattern):
        match token.lastgroup:
            case "open":
                sums.append(0)
                last = 0
            case "close":
                last = max(1, sums.pop()) if len(sums) > 1 else 0
                sums[-1] += last
            case "low" | "comma" | "high":
                count = int((token["high"] or token["low"])[:6])
                sums[-1] += last * max(0, count - 1)
                last *= max(1, count)
            case kind:
                last = _UNICODE_CLASS if kind == "wide" else 1
                sums[-1] += last
    return sum(sums)


MAX_DEPTH = 50
"""Parentheses and minus signs inside one another; far below Python's own recursion limit."""


def parse(text: str) -> Node:
    """The tree of the filter `text`; a blank text is `Everything`.

    Raises FilterError with the span of what is wrong, and the nearest field or value where there is one.
    """
    parser = _Parser(text)
    if not parser.tokens:
        return ast.Everything(TextSpan(0, len(text)))
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

    def error(self, message: str, span: TextSpan, *, fix: str = "", nearest: str = "") -> FilterError:
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
        return ast.FieldTerm(spec.name, op.text, read, name.span | values[-1].span)  # type: ignore[arg-type]

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
