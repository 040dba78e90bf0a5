"""What a filter text means: trees, spans, canonical text."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest

from memtui.engine.query.ast import (
    Age,
    And,
    Everything,
    FieldTerm,
    Node,
    Not,
    Number,
    Or,
    Phrase,
    Range,
    Regex,
    Semantic,
    Text,
    TextSpan,
    Word,
    walk,
)
from memtui.engine.query.parser import lex, parse
from memtui.engine.query.render import rendered


def field(name: str, op: str, *values: object) -> FieldTerm:
    return FieldTerm(name, op, tuple(Text(v) if isinstance(v, str) else v for v in values))  # type: ignore[arg-type, misc]


TREES: list[tuple[str, Node]] = [
    ("", Everything()),
    (" \t\n", Everything()),
    ("deploy", Word("deploy")),
    ("a b", And((Word("a"), Word("b")))),
    ("a b | c", Or((And((Word("a"), Word("b"))), Word("c")))),
    ("a|b", Or((Word("a"), Word("b")))),
    ("a (b | c)", And((Word("a"), Or((Word("b"), Word("c")))))),
    ("(a b) c", And((And((Word("a"), Word("b"))), Word("c")))),
    ("((a))", Word("a")),
    ("-a", Not(Word("a"))),
    ("--a", Not(Not(Word("a")))),
    ("-(a | b)", Not(Or((Word("a"), Word("b"))))),
    ("well-known 10:30 O'Brien ;DROP", And(tuple(map(Word, ("well-known", "10:30", "O'Brien", ";DROP"))))),
    ('"deploy bot"', Phrase("deploy bot")),
    (r'"say \"hi\" \\ \n"', Phrase('say "hi" \\ \\n')),
    ('a"b"', And((Word("a"), Phrase("b")))),
    ("/fo+ ba[rz]/", Regex("fo+ ba[rz]")),
    (r"/a\/b\d/", Regex(r"a/b\d")),
    ("~deploy", Semantic("deploy")),
    ("~how do we deploy tier:core", And((Semantic("how do we deploy"), field("tier", ":", "core")))),
    ('~"how do we" deploy', And((Semantic("how do we"), Word("deploy")))),
    ("-~old things | x", Or((Not(Semantic("old things")), Word("x")))),
    ("tier:core", field("tier", ":", "core")),
    ("TIER:Core", field("tier", ":", "core")),
    ("tier:core,working", field("tier", ":", "core", "working")),
    ("tier!=core", field("tier", "!=", "core")),
    ("category:fact importance>.5", And((field("cat", ":", "fact"), field("imp", ">", Number(0.5))))),
    ("scope:agent:*", field("scope", ":", Text("agent:*", glob=True))),
    ("scope=agent:*", field("scope", "=", "agent:*")),
    ('scope:"agent:*"', field("scope", ":", "agent:*")),
    ('scope:"a, b",c', field("scope", ":", "a, b", "c")),
    ('scope:""', field("scope", ":", "")),
    ("imp>=0.5", field("imp", ">=", Number(0.5))),
    ("imp:.5..0.8", field("imp", ":", Range(Number(0.5), Number(0.8)))),
    ("imp:..0.8", field("imp", ":", Range(None, Number(0.8)))),
    ("imp:.5..,.1", field("imp", ":", Range(Number(0.5), None), Number(0.1))),
    ("used=3", field("used", "=", Number(3))),
    ("age<2d", field("age", "<", Age(2, "d"))),
    ("last>=1.5h", field("last", ">=", Age(1.5, "h"))),
    ("age:30m..2D", field("age", ":", Range(Age(30, "m"), Age(2, "d")))),
    ("age:1..3w", field("age", ":", Range(Age(1, "w"), Age(3, "w")))),
    ("-is:stale", Not(field("is", ":", "stale"))),
    ("is:zero-vector,noise", field("is", ":", "zero-vector", "noise")),
    ("id:1d538c87,abc", field("id", ":", "1d538c87", "abc")),
    ("has:vector", field("has", ":", "vector")),
    ("lang:en state:pending", And((field("lang", ":", "en"), field("state", ":", "pending")))),
    ("layer:durable source:manual", And((field("layer", ":", "durable"), field("source", ":", "manual")))),
    ("cat:x'; --x", And((field("cat", ":", "x';"), Not(Not(Word("x")))))),
]


@pytest.mark.parametrize(("text", "tree"), TREES, ids=[text for text, _ in TREES])
def test_tree(text: str, tree: Node) -> None:
    assert parse(text) == tree
    assert parse(rendered(tree)) == tree


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" tier:Core   scope:agent:*  ", "tier:core scope:agent:*"),
        ("(a) (b|c)", "a (b | c)"),
        ("a | (b c)", "a | b c"),
        ("imp>=.50", "imp>=0.5"),
        ("used>=007", "used>=7"),
        ("~a b", '~"a b"'),
        (r"/a\/b/", r"/a\/b/"),
        ('scope:"agent:main"', "scope:agent:main"),
        ('scope:"a*"', 'scope:"a*"'),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert rendered(parse(text)) == canonical


@pytest.mark.parametrize("text", [text for text, _ in TREES if text.strip()])
def test_every_span_is_the_text_of_its_own_node(text: str) -> None:
    for node in walk(parse(text)):
        written = text[node.span.start : node.span.end]
        assert parse(written) == node
        if isinstance(node, FieldTerm) and "..3w" not in written:  # 1..3w lends its unit to its low end
            for value in node.values:
                alone = text[value.span.start : value.span.end]
                assert parse(f"{node.name}{node.op}{alone}") == FieldTerm(node.name, node.op, (value,))


def test_spans_of_a_known_filter() -> None:
    node = parse('tier:core,working -is:stale "deploy"')
    assert isinstance(node, And)
    assert [term.span for term in node.terms] == [TextSpan(0, 17), TextSpan(18, 27), TextSpan(28, 36)]
    tiers = node.terms[0]
    assert isinstance(tiers, FieldTerm)
    assert [value.span for value in tiers.values] == [TextSpan(5, 9), TextSpan(10, 17)]


def test_tolerant_tokens_cover_what_is_still_being_typed() -> None:
    for text in ('tier:core "still ty', "scope:agent:main /unfinis", 'tier:"cor', "a tier:"):
        tokens = lex(text, tolerant=True)
        assert tokens[-1].span.end == len(text)
        assert all(a.span.end <= b.span.start for a, b in pairwise(tokens))


def test_parsing_loads_no_numpy() -> None:
    code = (
        "import sys\n"
        "from memtui.engine.query import render as chips, fields, parser as parse, render\n"
        "from memtui.engine.catalog import completion as complete\n"
        "parse.parse('tier:core age<2d \"x\"'); complete.complete('tier:', 5)\n"
        "print([m for m in ('numpy', 'pyarrow', 'lancedb') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
