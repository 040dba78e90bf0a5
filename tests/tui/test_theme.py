"""Theme files: complete, readable, and checked before Textual sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from memtui.tui.theme.load import ThemeError, build_theme, load_themes, search_path
from memtui.tui.theme.tokens import (
    NAMES,
    TEXT_DARK,
    TEXT_LIGHT,
    category_code,
    category_style,
    defaults,
    scope_style,
)
from tests.tui.driving import press, running, until
from tests.tui.memory_engine import MemoryEngine

SHIPPED = load_themes(search_path())


def contrast(one: Color, other: Color) -> float:
    """WCAG contrast, 1 to 21."""

    def light(color: Color) -> float:
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_shipped_themes_load_without_a_word():
    assert SHIPPED.problems == ()
    assert {"deep-sea", "paper"} <= set(SHIPPED.themes)
    assert SHIPPED.themes["deep-sea"].dark
    assert not SHIPPED.themes["paper"].dark


@pytest.mark.parametrize("name", sorted(SHIPPED.themes))
def test_every_token_is_given(name):
    assert set(NAMES) <= set(SHIPPED.themes[name].variables)


@pytest.mark.parametrize("name", sorted(SHIPPED.themes))
def test_text_can_be_read_on_the_background_and_under_the_cursor(name):
    theme = SHIPPED.themes[name]
    text = {token: theme.variables[token] for token in TEXT_DARK}
    text |= {part: getattr(theme, part) for part in ("foreground", "primary", "warning", "error", "success")}
    for surface in (theme.background, theme.variables["cursor"], theme.variables["cursor-idle"]):
        for token, value in text.items():
            ratio = contrast(Color.parse(value), Color.parse(surface))
            assert ratio >= 4.5, f"{token} {value} on {surface}: {ratio:.2f}"


def test_both_sets_of_defaults_name_the_same_tokens():
    assert set(defaults(True)) == set(defaults(False)) == set(NAMES)
    assert set(TEXT_DARK) == set(TEXT_LIGHT)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            {"name": "x", "base": {"primary": "#fff"}, "tokens": {"tier-cor": "#fff"}},
            'did you mean "tier-core"',
        ),
        (
            {"name": "x", "base": {"primary": "#fff"}, "tokens": {"dim": "blueish"}},
            'tokens.dim: "blueish" is not a colour',
        ),
        ({"name": "x", "base": {"primary": 7}}, 'base.primary: "7" is not a colour'),
        ({"name": "x", "base": {}}, "base needs a primary colour"),
        ({"base": {"primary": "#fff"}}, "needs a name"),
        ({"name": "x", "dark": "yes", "base": {"primary": "#fff"}}, "true or false"),
        ({"name": "x", "bse": {}}, 'did you mean "base"'),
        ({"name": "x", "base": []}, "must be a table"),
    ],
)
def test_a_bad_theme_says_what_is_wrong(data, words):
    with pytest.raises(ThemeError, match=words):
        build_theme(data, "mine.toml")


def test_a_bad_file_is_a_problem_and_the_others_still_load(tmp_path: Path):
    (tmp_path / "a.toml").write_text('name = "mine"\n[base]\nprimary = "#123456"\n')
    (tmp_path / "b.toml").write_text("name = \n")
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    found = load_themes([tmp_path])
    assert list(found.themes) == ["mine"]
    assert [problem.split(":")[0] for problem in found.problems] == ["b.toml", "c.toml"]


async def test_switching_the_theme_repaints_the_rows_of_the_list():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2")

        def colours() -> set[str]:
            strips = app.screen._compositor.render_strips()
            return {str(segment.style.bgcolor) for strip in strips for segment in strip if segment.style}

        before = colours()
        await press(pilot, "f2")
        assert app.theme != "deep-sea"
        await until(pilot, lambda: not before & colours())


def test_styles_by_meaning():
    assert scope_style("agent:main") == "$scope-agent"
    assert scope_style(None) == scope_style("team:x") == "$scope-custom"
    assert category_style("preferences") == category_style("preference") == "$cat-preference"
    assert category_code("entities") == "enti"
    assert category_code("zoölogy") == "zoöl"
    assert category_code(None) == "-"
