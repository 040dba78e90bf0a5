"""Laws of the filter language, for generated filters and for junk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.catalog.completion import complete
from memtui.engine.catalog.filters import compile
from memtui.engine.query import ast
from memtui.engine.query.errors import FilterError
from memtui.engine.query.fields import FIELDS
from memtui.engine.query.parser import lex, parse
from memtui.engine.query.render import add, chips, remove, rendered, top_terms
from tests.conftest import thinned
from tests.engine.query_world import World, world
from tests.timing import spent

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
BARE = st.from_regex(r"[a-z0-9àé日;'.][a-z0-9日;'./~-]{0,8}", fullmatch=True)
NUMBER = st.floats(0, 1).map(lambda x: ast.Number(round(x, 6)))
COUNT = st.integers(0, 10**6).map(lambda x: ast.Number(float(x)))
AGE = st.builds(
    ast.Age, st.integers(0, 10**4).map(float) | st.just(1.5), st.sampled_from(sorted(ast.UNIT_MS))
)
ENDS = {"number": NUMBER, "count": COUNT, "age": AGE}


def _size(end: ast.Number | ast.Age) -> float:
    return end.ms if isinstance(end, ast.Age) else end.value


def _range(end: st.SearchStrategy) -> st.SearchStrategy:
    whole = st.tuples(end, end).map(lambda pair: ast.Range(*sorted(pair, key=_size)))
    return whole | end.map(lambda low: ast.Range(low, None)) | end.map(lambda high: ast.Range(None, high))


@st.composite
def fields(draw: st.DrawFn) -> ast.FieldTerm:
    spec = draw(st.sampled_from(list(FIELDS.values())))
    op = draw(st.sampled_from(spec.ops))
    if spec.kind in ENDS:
        end = ENDS[spec.kind]
        single = op not in (":", "=", "!=")
        values = draw(st.lists(end if single else end | _range(end), min_size=1, max_size=1 if single else 3))
    elif spec.kind == "choice":
        values = draw(
            st.lists(st.sampled_from(spec.choices + spec.provided).map(ast.Text), min_size=1, max_size=3)
        )
    else:
        texts = st.one_of(TEXT, st.just(""), st.sampled_from(["agent:*", "a b", 'a"b', "a,b", "*", "?"])).map(
            ast.Text
        )
        globs = st.sampled_from(["agent:*", "*", "?x", "*:main"]).map(lambda text: ast.Text(text, glob=True))
        values = draw(st.lists(texts | globs if spec.globs and op != "=" else texts, min_size=1, max_size=3))
    return ast.FieldTerm(spec.name, op, tuple(values))  # type: ignore[arg-type]


PATTERN = st.from_regex(r"([a-z ()\[\]|+*?.^$/]|\\[dwsb.]){1,12}", fullmatch=True)
LEAVES = st.one_of(
    fields(),
    BARE.map(ast.Word),
    TEXT.map(ast.Phrase),
    TEXT.map(lambda text: " ".join(text.split())).filter(bool).map(ast.Semantic),
    PATTERN.map(ast.Regex),
)


def _deeper(inner: st.SearchStrategy) -> st.SearchStrategy:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return inner.map(ast.Not) | several.map(ast.And) | several.map(ast.Or)


TREES = st.just(ast.Everything()) | st.recursive(LEAVES, _deeper, max_leaves=8)


@settings(deadline=None)
@given(TREES)
def test_parsing_what_was_rendered_gives_the_same_tree(tree: ast.Node) -> None:
    assert parse(rendered(tree)) == tree
    assert rendered(parse(rendered(tree))) == rendered(tree)


JUNK = st.text(max_size=40) | st.text(st.sampled_from('ab:,-~/|()"\\*?.<>=! tierscopeimp1d'), max_size=40)


def outcome(text: str) -> ast.Node | FilterError:
    try:
        return parse(text)
    except FilterError as error:
        return error


@settings(deadline=None)
@given(JUNK)
def test_junk_gives_a_tree_or_a_filter_error_with_a_span_inside(text: str) -> None:
    found = outcome(text)
    if isinstance(found, FilterError):
        assert found.message
        assert found.caret().count("\n") == 1
    else:
        assert parse(rendered(found)) == found
    spans = [found.span] if isinstance(found, FilterError) else [node.span for node in ast.walk(found)]
    assert all(0 <= span.start <= span.end <= len(text) for span in spans)


@settings(deadline=None)
@given(JUNK, st.data())
def test_junk_can_be_coloured_and_completed(text: str, data: st.DataObject) -> None:
    tokens = lex(text, tolerant=True)
    assert all(0 <= token.span.start <= token.span.end <= len(text) for token in tokens)
    cursor = data.draw(st.integers(0, len(text)))
    span = complete(text, cursor).span
    assert 0 <= span.start <= span.end <= len(text)


@settings(deadline=None)
@given(TREES, st.data())
def test_removing_a_chip_leaves_exactly_the_others(tree: ast.Node, data: st.DataObject) -> None:
    text = rendered(tree)
    terms = top_terms(parse(text))
    assert len(chips(text)) == len(terms)
    if not terms:
        return
    index = data.draw(st.integers(0, len(terms) - 1))
    assert top_terms(parse(remove(text, index))) == _one_level(terms[:index] + terms[index + 1 :])


@settings(deadline=None)
@given(TREES, LEAVES)
def test_adding_a_term_keeps_the_others(tree: ast.Node, term: ast.Node) -> None:
    text = rendered(tree)
    before = top_terms(parse(text))
    after = top_terms(parse(add(text, rendered(term))))
    assert after == (before if term in before else (*before, term))


def _one_level(terms: tuple[ast.Node, ...]) -> tuple[ast.Node, ...]:
    """A single group that is left alone loses its parentheses, and its terms become chips."""
    return top_terms(terms[0]) if len(terms) == 1 else terms


@pytest.mark.parametrize(
    "piece", thinned(['""', "(", "a:", "/\\a", "-~", "tier:core,", "imp:..", 'id:"a"b'], 3)
)
def test_long_junk_is_refused_in_time_that_grows_as_it_does(piece: str) -> None:
    def read(length: int) -> None:
        text = piece * (length // len(piece))
        assert isinstance(outcome(text), FilterError)
        complete(text, len(text))

    # ten times as long: 15 times the time, and 60 on a busy machine; 100 were the square
    assert spent(lambda: read(20_000), tries=5) < 70 * spent(lambda: read(2_000), tries=5)


@pytest.fixture(scope="module")
def peer(shared: Path, unpack: Callable[[Path], Path]) -> World:
    return world(unpack(shared / "fixtures/peer/store-lived.tar.gz"))


SENSIBLE = st.recursive(
    st.sampled_from(
        [
            *(
                "tier:core",
                "tier:working",
                "cat:fact,decision",
                "scope:project:*",
                "imp>.6",
                "used:1..9",
                "age<9w",
            ),
            *("last>3d", "is:stale", "is:active", "cat:cases", "deploy", '"on"', "/[0-9]{4}/", "has:links"),
        ]
    ).map(parse),
    _deeper,
    max_leaves=5,
)


@settings(deadline=None)
@given(left=SENSIBLE, right=SENSIBLE)
def test_masks_follow_the_connectives(peer: World, left: ast.Node, right: ast.Node) -> None:
    context = peer.context()
    a, b = compile(left, context), compile(right, context)
    assert (compile(ast.And((left, right)), context) == (a & b)).all()
    assert (compile(ast.Or((left, right)), context) == (a | b)).all()
    assert (compile(ast.Not(left), context) == ~a).all()
    assert (compile(parse(f"{rendered(left)} | {rendered(right)}"), context) == (a | b)).all()


@settings(deadline=None)
@given(TREES)
def test_any_filter_gives_a_mask_or_says_what_is_wrong(peer: World, tree: ast.Node) -> None:
    text = rendered(tree)
    try:
        mask = compile(parse(text), peer.context(text=peer.lookup, facts=peer.facts), text=text)
    except FilterError:
        return
    assert mask.shape == (peer.catalog.n,)
    assert mask.dtype == np.bool_
