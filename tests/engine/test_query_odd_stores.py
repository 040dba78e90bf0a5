"""Filters over rows that are not as they should be, over stores that keep less, and before all is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine.catalog.filters import compile
from memtui.engine.core.errors import Cancelled, MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.query.errors import FilterError, NotProvidedError, NotReadyError
from memtui.engine.query.parser import parse
from tests.conftest import NOW_MS
from tests.engine.query_world import World, world
from tests.engine.tables import pro_row, write_table
from tests.timing import spent

DAY = 86_400_000
ODD = [
    {"scope": None, "timestamp": float(NOW_MS - DAY)},
    {"scope": "", "timestamp": float(NOW_MS - 2 * DAY)},
    {"scope": " agent:main", "timestamp": float(NOW_MS - 3 * DAY)},
    {"scope": "x' OR 1=1 --", "timestamp": 0.0},
    {"scope": "a,b (c)", "timestamp": None},
    {"category": None, "importance": 1.0, "timestamp": float(NOW_MS + DAY)},
    {"category": " Fact ", "importance": 0.0, "metadata": '{"memory_category": "Recipes"}'},
    {"category": "invoices", "metadata": '{"last_accessed_at": 0, "tier": "golden"}'},
    {"text": "a" * 50_000 + "!", "metadata": "not json"},
    {"text": 'say "hi" 100% o\'clock \\ /path', "metadata": None},
]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("odd")
    write_table(folder, [pro_row(i, **fields) for i, fields in enumerate(ODD)])
    return world(folder)


@pytest.fixture(scope="module")
def builtin(shared: Path, unpack: Callable[[Path], Path]) -> World:
    return world(unpack(shared / "fixtures/stores/builtin-new.tar.gz"))


def hits(store: World, text: str) -> set[int]:
    """The numbers of the rows of ODD that the filter finds."""
    mask = compile(parse(text), store.context(text=store.lookup), text=text)
    return {int(memory.id[-12:], 16) for memory, hit in zip(store.memories, mask, strict=True) if hit}


EVERY = set(range(len(ODD)))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('scope:""', {0, 1}),
        ("-scope:*", {0}),
        ("scope!=*", {0}),
        ("scope:global", EVERY - {0, 1, 2, 3, 4}),
        ("scope:agent:*", set()),
        ('scope:" agent:main"', {2}),
        ('scope:"x\' OR 1=1 --"', {3}),
        ('scope:"a,b (c)"', {4}),
        ("age>0s", EVERY - {3, 4, 5}),
        ("age<0.001s", {5}),
        ("-age<9999w", {3, 4}),
        ("age:1d", {0}),
        ("age:1d..2d", {0, 1}),
        ("age!=1d", EVERY - {0}),
        ("last:1..3d", {0, 1, 2}),
        ('cat:""', {5}),
        ("cat:fact", EVERY - {5, 7}),
        ("cat:recipes", {6}),
        ("cat:INVOICES", {7}),
        ("imp:1", {5}),
        ("imp:0", {6}),
        ("tier:core", set()),
        ("is:invalid-metadata", {8}),
        (r'"say \"hi\" 100% o' + r"'clock \\ /path" + '"', {9}),
        (r"/100% O'CLOCK . \/path/", {9}),
        ("id=" + str(pro_row(3)["id"]), {3}),
        ("id:" + str(pro_row(3)["id"])[:8].upper(), {3}),
    ],
)
def test_odd_rows(odd: World, text: str, rows: set[int]) -> None:
    assert hits(odd, text) == rows


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "(a*)*b", "(.*)*(.*)*#"])
def test_a_catastrophic_pattern_is_answered_at_once(odd: World, pattern: str) -> None:
    def ask() -> None:
        assert 8 not in hits(odd, f"/^{pattern}/")

    assert spent(ask) < 200 * spent(lambda: hits(odd, "/^a+$/"))


def test_a_pattern_that_the_engine_refuses_is_an_error_at_its_place(odd: World) -> None:
    text = "tier:core | /(a/"
    with pytest.raises(FilterError) as caught:
        compile(parse(text), odd.context(text=odd.lookup), text=text)
    assert text[caught.value.span.start : caught.value.span.end] == "/(a/"
    assert "unclosed group" in caught.value.message


@pytest.mark.parametrize(
    ("text", "underlined", "corrected"),
    [
        ("x | cat:invoces", "invoces", "x | cat:invoices"),
        ("cat:fact,preferense", "preferense", "cat:fact,preference"),
        ("cat:zzz", "zzz", None),
        ("source:manul", "manul", "source:manual"),
        ("imp>=70", "70", None),
        ("conf:..5", "..5", None),
    ],
)
def test_values_that_make_no_sense_here(
    odd: World, text: str, underlined: str, corrected: str | None
) -> None:
    with pytest.raises(FilterError) as caught:
        compile(parse(text), odd.context(), text=text)
    assert text[caught.value.span.start : caught.value.span.end] == underlined
    assert caught.value.corrected == corrected


def test_without_the_text_spans_point_into_the_rendered_filter(odd: World) -> None:
    with pytest.raises(FilterError) as caught:
        compile(parse("  ( cat:zzz )"), odd.context())
    assert caught.value.text == "cat:zzz"
    assert caught.value.caret() == "cat:zzz\n    ^^^"


NEEDS_METADATA = [
    *("tier:core", "used>3", "conf<.5", "last<2d", "state:pending", "layer:durable", "source:manual"),
    *("cat:profile", "cat:unheard-of", "has:links", "is:stale", "is:active", "is:expired", "is:superseded"),
    *("is:pending", "is:archived", "is:suppressed", "is:invalid-metadata"),
]


@pytest.mark.parametrize("term", NEEDS_METADATA)
def test_before_the_metadata_is_read(odd: World, term: str) -> None:
    text = f"scope:global -{term}"
    with pytest.raises(NotReadyError) as caught:
        compile(parse(text), odd.context(catalog=odd.bare), text=text)
    assert text[caught.value.span.start : caught.value.span.end] == term
    assert caught.value.needs == "metadata"
    assert not isinstance(caught.value, UsageError)


@pytest.mark.parametrize("term", ["scope:global", "cat:fact", "imp>.3", "age<9w", "id:9e", "o'clock", '"hi"'])
def test_what_needs_no_metadata_is_answered_at_once(odd: World, term: str) -> None:
    bare, full = (compile(parse(term), odd.context(catalog=catalog)) for catalog in (odd.bare, odd.catalog))
    assert (bare == full).all()


@pytest.mark.parametrize(
    "term",
    ["tier:core", "used>3", "conf<.5", "last<2d", "state:pending", "is:stale", "has:links", "source:manual"],
)
def test_a_store_without_metadata_says_so(builtin: World, term: str) -> None:
    with pytest.raises(NotProvidedError):
        compile(parse(term), builtin.context())


def test_a_store_without_metadata_has_only_active_memories(builtin: World) -> None:
    assert compile(parse("is:active"), builtin.context()).all()
    assert not compile(parse("is:expired,superseded,suppressed"), builtin.context()).any()


def test_scopes_and_categories_of_another_dialect(builtin: World) -> None:
    mask = compile(parse("cat:decision age>1d"), builtin.context())
    wanted = [m.category == "decision" and NOW_MS - m.timestamp_ms > DAY for m in builtin.memories]
    assert mask.tolist() == wanted
    assert mask.any()


@pytest.mark.parametrize(
    "text", ["is:secret", "is:injection", "is:pinned", "is:noise", "has:vector", "lang:en"]
)
def test_what_nothing_provides_is_an_error(odd: World, text: str) -> None:
    with pytest.raises(NotProvidedError) as caught:
        compile(parse(text), odd.context(), text=text)
    assert isinstance(caught.value, UsageError)
    assert "cannot be filtered yet" in caught.value.message
    assert caught.value.span.end == len(text)


@pytest.mark.parametrize("text", ["word", '"phrase"', "/regex/"])
def test_without_a_text_search_it_is_an_error(odd: World, text: str) -> None:
    with pytest.raises(NotProvidedError):
        compile(parse(text), odd.context(text=None), text=text)


@pytest.mark.parametrize("text", ["~tea", "-~tea", "kiln | ~tea", "(~tea | imp>.5) kiln"])
def test_what_only_orders_cannot_choose(odd: World, text: str) -> None:
    with pytest.raises(NotProvidedError, match="orders a whole list") as caught:
        compile(parse(text), odd.context(), text=text)
    assert "~tea" in text[caught.value.span.start : caught.value.span.end]


def test_a_pasted_page_is_not_searched_word_by_word(odd: World) -> None:
    page = "the kiln " * 40
    with pytest.raises(FilterError, match="80 texts"):
        compile(parse(page), odd.context(), text=page)
    assert compile(parse(f'"{page}"'), odd.context(text=odd.lookup)).sum() == 0


def test_an_empty_table(tmp_path: Path) -> None:
    write_table(tmp_path, [])
    empty = world(tmp_path)
    for text in ("", "tier:core | -scope:a*", "is:stale", "cat:fact imp>.5 age<2d id:ab", "word"):
        assert compile(parse(text), empty.context(text=empty.lookup)).tolist() == []


def test_cancelled(odd: World) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        compile(parse("tier:core"), odd.context(cancel=token))


def test_not_ready_is_a_failure_with_a_remedy(odd: World) -> None:
    with pytest.raises(MemtuiError) as caught:
        compile(parse("tier:core"), odd.context(catalog=odd.bare))
    assert caught.value.exit_code == 1
    assert caught.value.fix
