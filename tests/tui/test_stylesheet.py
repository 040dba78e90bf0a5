"""Style sheets are parsed once for one set of colours, however many there are and however often they are asked for."""

from __future__ import annotations

import pytest
from textual.css import stylesheet as textual_stylesheet
from textual.css.stylesheet import StylesheetParseError

from memtui.patches.textual_stylesheet import CachedStylesheet
from memtui.patches.textual_stylesheet import _rules as shared_rules
from memtui.tui.screens.browse.memory_list import MemoryList
from tests.tui.driving import press, running
from tests.tui.memory_engine import MemoryEngine


@pytest.fixture
def parsed(monkeypatch):
    """The style sheets that were really parsed, in order; what earlier tests parsed is forgotten."""
    shared_rules.cache_clear()
    seen: list[str] = []
    real = textual_stylesheet.parse

    def parse(scope, css, *args, **options):
        seen.append(css)
        return real(scope, css, *args, **options)

    monkeypatch.setattr(textual_stylesheet, "parse", parse)
    return seen


def sheet(tint: str, count: int = 100) -> CachedStylesheet:
    made = CachedStylesheet(variables={"tint": tint})
    for i in range(count):
        made.add_source(f"#w{i} {{ color: $tint; }}", read_from=("test", f"w{i}"))
    return made


def test_a_hundred_sheets_are_parsed_once(parsed):
    one = sheet("#123451")
    one.parse()
    one.add_source("#more { color: $tint; }", read_from=("test", "more"))
    one.parse()
    one.reparse()
    assert len(parsed) == 101
    assert len(one.rules) == 101


def test_other_colours_are_parsed_anew_and_the_old_ones_are_still_known(parsed):
    one = sheet("#123452", 3)
    one.parse()
    one.set_variables({"tint": "#f00000"})
    one.reparse()
    assert len(parsed) == 6
    assert {rule.styles.color.hex for rule in one.rules} == {"#F00000"}
    one.set_variables({"tint": "#123452"})
    one.reparse()
    assert len(parsed) == 6
    assert {rule.styles.color.hex for rule in one.rules} == {"#123452"}


def test_rules_in_force_survive_a_sheet_with_an_error():
    one = sheet("#123453", 2)
    one.parse()
    before = one.rules
    one.add_source("#bad { color: blueish-not; }", read_from=("test", "bad"))
    with pytest.raises(StylesheetParseError):
        one.reparse()
    assert one._rules == before


async def test_the_first_visit_of_a_screen_does_not_parse_those_before_it(parsed):
    async with running(MemoryEngine(50)) as (app, pilot):
        start = set(parsed)
        parsed.clear()
        await press(pilot, "2")
        again = [css for css in parsed if css in start]
        assert len(again) * 3 < len(start)  # the few whose rank among the others the new screen changes
        assert app.screen.query(MemoryList)
