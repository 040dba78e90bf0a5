"""The filter line's pure parts: terms that toggle, chips, colours, completion, ways out; and the side panel's lines."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from memtui.engine import Cancelled, CancelToken, ListQuery, MemtuiError
from memtui.engine.catalog import Facets
from memtui.engine.query import match_pattern
from memtui.tui.paint.glyphs import UNICODE
from memtui.tui.screens.browse.filter_text import (
    candidates,
    check,
    chip_texts,
    coloured,
    completed,
    shorter,
    term_of,
    terms,
    toggled,
    trouble_of,
    without,
    without_last,
)
from memtui.tui.screens.browse.memory_row import found_text, two_lines
from memtui.tui.screens.browse.scope_pane import outline, scope_kind
from memtui.tui.screens.browse.state import (
    ListRequest,
    cleared,
    scopes_phrase,
    sort_name,
    sorted_by,
    with_filter,
    with_scopes,
)
from memtui.tui.screens.browse.view import answer
from tests.tui.driving import press, running, type_text, until
from tests.tui.memory_engine import MemoryEngine


@pytest.mark.parametrize(
    ("before", "term", "after"),
    [
        ("", "tier:core", "tier:core"),
        ("deploy", "tier:core", "deploy tier:core"),
        ("tier:core", "tier:working", "tier:core,working"),
        ("tier:core,working", "tier:core", "tier:working"),
        ("deploy tier:core x", "tier:core", "deploy x"),
        ("-tier:core", "tier:core", "-tier:core tier:core"),
        ("a | b", "cat:fact", "(a | b) cat:fact"),
        ('"unclosed', "cat:fact", "cat:fact"),
    ],
)
def test_terms_toggle(before, term, after):
    assert toggled(before, term) == after


def test_every_value_of_a_list_is_marked():
    assert terms("tier:core,working deploy -cat:fact imp>.5") == {"tier:core", "tier:working"}
    assert terms('scope:"') == frozenset()


def test_a_stored_value_becomes_a_term_that_finds_it_again():
    assert term_of("scope", "agent:main") == "scope:agent:main"
    assert term_of("cat", None) == 'cat:""'
    assert terms(term_of("scope", 'a b"c*')) == {term_of("scope", 'a b"c*')}


def test_trouble_names_the_characters():
    found = check("deploy teir:core")
    assert found is not None
    assert "deploy teir:core"[found.start : found.end] == "teir"
    assert check("tier:core") is None
    assert trouble_of(MemtuiError("no span"), "abc").end == 3


def test_chips_and_what_is_left_without_one():
    assert chip_texts('tier:core "a b" -x') == ["tier:core", '"a b"', "-x"]
    assert chip_texts('"open') == ['"open']
    assert without('tier:core "a b" -x', 1) == "tier:core -x"
    assert without("x", 5) == ""
    assert shorter("a b") == [("a", "b"), ("b", "a")]
    assert shorter("a") == []


def test_completion_only_ever_adds_to_what_is_typed():
    assert completed("ti") == "tier:"
    assert completed("tier:co") == "tier:core"
    assert completed("") is None
    assert completed("deploy ") is None


def test_completion_knows_the_values_of_the_store(demo_engine):
    view = demo_engine.view(ListQuery())
    assert completed("scope:pro", view) == f"scope:{_most(demo_engine, 'project:')}"
    assert completed("source:au", view) == "source:auto-capture"
    assert completed("scope:nowhere", view) is None


def _most(engine, start: str) -> str:
    return next(
        scope for scope, _ in engine.view(ListQuery()).facets.scopes if (scope or "").startswith(start)
    )


def test_colours_cover_unfinished_text():
    assert (0, 4, "$primary") in coloured('tier:core "unfinished')
    assert coloured("x" * 30_000) == []


def test_wishes():
    wish = with_scopes(with_filter(ListRequest(), " tier:core "), ("a",))
    assert wish.query == ListQuery("tier:core", ("a",), "-timestamp")
    assert cleared(wish).query == ListQuery()
    assert sorted_by(wish, "scope").query.sort == "scope"
    assert sorted_by(sorted_by(wish, "scope"), "scope").query.sort == "-scope"
    assert sorted_by(wish, "importance").query.sort == "-importance"
    assert sort_name("-used") == "last used"
    assert scopes_phrase(("agent:a", "agent:b")) == "agent:* (2)"
    assert scopes_phrase((None,)) == "no scope"
    assert scopes_phrase(("agent:a", "user:b")) == "2 scopes"


def test_an_answer_knows_the_scopes_outside_the_narrowing():
    found = answer(MemoryEngine(70), ListQuery(scopes=("global",)), CancelToken())
    assert found.view.total == 10
    assert found.all_total == 70
    assert dict(found.scopes)["agent:main"] == 10


def test_an_empty_answer_has_ways_out_that_find_something():
    query = ListQuery("tier:core zebra", ("global",))
    found = answer(MemoryEngine(700), query, CancelToken())
    assert found.view.total == 0
    assert all(remedy.total > 0 for remedy in found.remedies)
    assert {(remedy.filter, remedy.scopes) for remedy in found.remedies} == {
        ("", ("global",)),
        ("tier:core", ("global",)),
        ("", None),
    }


def test_a_cancelled_answer_stops():
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        answer(MemoryEngine(70), ListQuery(scopes=("global",)), token)


def test_the_outline_nests_scopes_by_kind_and_quotes_odd_ones():
    scopes = (
        ("agent:b", 5),
        ("agent:a", 9),
        ("global", 3),
        (None, 2),
        (" global ", 1),
        ("reflection:agent:a", 1),
    )
    facets = Facets(tiers=(("peripheral", 9), ("core", 1)), states=(("confirmed", 9), ("pending", 1)))
    drawn = [
        ("  " * line.depth + line.label, line.count) for line in outline(facets, scopes, 21, frozenset())
    ]
    assert drawn == [
        ("all", 21),
        ("global", 4),
        ("  global", 3),
        ('  " global "', 1),
        ("agent", 14),
        ("  b", 5),
        ("  a", 9),
        ("reflection", 1),
        ("  agent:a", 1),
        ("(none)", 2),
        ("", None),
        ("TIER", None),
        ("core", 1),
        ("peripheral", 9),
        ("", None),
        ("STATE", None),
        ("pending", 1),
    ]
    folded = outline(facets, scopes, 21, frozenset({"agent"}))
    assert "b" not in [line.label for line in folded]
    assert scope_kind("agent:x:y") == "agent"


def test_a_kind_with_thousands_of_scopes_is_capped():
    lines = outline(Facets(), [(f"user:{i}", 1) for i in range(1_404)], 1_404, frozenset())
    assert len(lines) == 203
    assert lines[-1].label == "1,204 more, press {browse.filter}"


@pytest.mark.parametrize(
    ("filter", "text", "found"),
    [
        ("port", "SSH Port 2222", ["Port"]),
        ("reports", "the report of reporting", ["report", "reporting"]),
        ('"a phrase"', "not A Phrase here", ["A Phrase"]),
        ("84", "port 8443", ["84"]),
        ("-gone tier:core here", "gone and here", ["here"]),
        ("a | bb", "bb a", ["bb", "a"]),
        ("/v[0-9]+/", "v12 and v7", ["v12", "v7"]),
        ("/(a+)+b/", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", []),
        ("tier:core", "core", []),
        ("", "anything", []),
        ('"unclosed', "unclosed", []),
    ],
)
def test_what_a_filter_asks_for_is_found_in_a_text(filter, text, found):
    pattern = match_pattern(filter)
    assert (pattern.findall(text) if pattern else []) == found


def test_a_row_is_shifted_so_that_its_match_is_seen():
    sought = match_pattern("bastion")
    text = "a long introduction that says nothing and then at last the bastion comes"
    pieces = found_text(text, sought, 30, "$foreground", UNICODE)
    assert sum(len(part) for part, _ in pieces) == 30
    assert ("bastion", "bold $match") in pieces
    assert pieces[0][0].startswith("…")
    near = found_text("the bastion is near", sought, 30, "$foreground", UNICODE)
    assert near[0][0] == "the "


def test_candidates_are_all_values_of_the_field_whatever_is_written_of_one():
    found = candidates("deploy tier:c")
    assert (found.head, found.written) == ("deploy tier:", "c")
    assert [each.insert for each in found.proposals] == ["core", "working", "peripheral"]
    assert found.taken("core") == "deploy tier:core"
    assert all(each.help for each in found.proposals)
    assert next(each.insert for each in candidates("ti").proposals) == "tier:"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_text_of_two_lines_loses_nothing_between_them(width):
    text = "Since the audit our jump host answers on 48022 and nowhere else; the earlier listener is closed."
    for first in range(12, width):
        head, rest = two_lines(text, first, width, None, UNICODE)
        assert cell_len(head) <= first
        whole = f"{head} {rest}" if f"{head} " in text else head + rest
        assert text.startswith(whole.rstrip("…").rstrip())
        if len(text) <= first + width - 12:
            assert whole.strip() == text
    head, rest = two_lines(text, 20, 24, match_pattern("closed"), UNICODE)
    assert "closed" in head + rest


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("tier:", ""),
        ("port tier:", "port"),
        ("tier:core,", "tier:core"),
        ("port tier:core,", "port tier:core"),
        ('"unclosed tier:', None),
        ("sco", ""),
    ],
)
def test_what_is_still_being_written_is_left_out(text, finished):
    assert without_last(text) == finished


async def test_under_an_unfinished_term_stand_the_rows_of_what_is_finished(keyword_engine):
    """Not those of a letter that was typed so slowly that it was asked for."""
    async with running(keyword_engine) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "kafka t")
        await until(pilot, lambda: app.screen.wish.query.filter == "kafka t")
        await type_text(pilot, "ier:")
        await until(pilot, lambda: app.screen.wish.query.filter == "kafka")
        await type_text(pilot, "core")
        await until(pilot, lambda: app.screen.wish.query.filter == "kafka tier:core")
