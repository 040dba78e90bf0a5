"""Theme files: complete, readable, and checked before Textual sees them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.color import Color

from memtui.tui.appearance import Appearance
from memtui.tui.theme.files import ThemeError, build_theme, load_themes, search_path
from memtui.tui.theme.tokens import (
    NAMES,
    TEXT_DARK,
    TEXT_LIGHT,
    category_code,
    category_style,
    defaults,
    scope_style,
)
from tests.conftest import ROOT
from tests.tui.driving import drawn, lines, press, running, screen_text, until
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_every_list import ASKED, PLACES
from tests.tui.test_locked import locked, play

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


OWN_COLOURS = sorted(name for name, theme in SHIPPED.themes.items() if not theme.ansi)


def test_the_terminals_own_colours_are_text_on_the_terminals_own_background():
    """Which colours these are is the terminal's affair: it makes them readable on its own background alone."""
    theme = SHIPPED.themes["ansi"]
    plain = {
        "ansi_default",
        *(f"ansi_{hue}" for hue in ("red", "green", "yellow", "blue", "magenta", "cyan")),
    }
    text = {token: theme.variables[token] for token in TEXT_DARK}
    text |= {part: getattr(theme, part) for part in ("foreground", "primary", "warning", "error", "success")}
    assert {token for token, value in text.items() if value not in plain} == set()
    for surface in ("cursor", "cursor-idle", "diff-add-bg", "diff-del-bg"):
        assert theme.variables[surface] == theme.background == "ansi_default"


@pytest.mark.parametrize("name", OWN_COLOURS)
def test_text_can_be_read_on_the_background_and_under_the_cursor(name):
    theme = SHIPPED.themes[name]
    text = {token: theme.variables[token] for token in TEXT_DARK}
    text |= {part: getattr(theme, part) for part in ("foreground", "primary", "warning", "error", "success")}
    surfaces = ("cursor", "cursor-idle")
    for surface in (theme.background, theme.surface, *(theme.variables[each] for each in surfaces)):
        for token, value in text.items():
            ratio = contrast(Color.parse(value), Color.parse(surface))
            assert ratio >= 4.5, f"{token} {value} on {surface}: {ratio:.2f}"
    for token, surface in (
        ("diff-add", "diff-add-bg"),
        ("diff-del", "diff-del-bg"),
        ("foreground", "diff-add-bg"),
    ):
        value = text[token]
        ratio = contrast(Color.parse(value), Color.parse(theme.variables[surface]))
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
    (tmp_path / "d.toml").write_text(
        'name = "no"\n[base]\nprimary = "red"\n\n[tokens]\ndim = "red"\nok = "bleu"\n'
    )
    found = load_themes([tmp_path])
    assert list(found.themes) == ["mine"]
    assert [problem.split(":")[0] for problem in found.problems] == ["b.toml", "c.toml", "d.toml, line 7"]


def test_a_users_theme_wins_by_its_name(tmp_path: Path):
    (tmp_path / "mine.toml").write_text('name = "paper"\ndark = false\n[base]\nprimary = "#123456"\n')
    found = load_themes(search_path(tmp_path))
    assert found.themes["paper"].primary == "#123456"
    assert found.files["paper"] == tmp_path / "mine.toml"
    assert found.themes["deep-sea"] == SHIPPED.themes["deep-sea"]


async def test_switching_the_theme_repaints_the_rows_of_the_list():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2")

        def colours() -> set[str]:
            strips = drawn(app)
            return {str(segment.style.bgcolor) for strip in strips for segment in strip if segment.style}

        before = colours()
        await press(pilot, "f2")
        assert app.theme != "deep-sea"
        await until(pilot, lambda: not before & colours())


OWN = 'name = "mine"\n[base]\nprimary = "{primary}"\nbackground = "{background}"\n'


def backgrounds(app) -> set[str]:
    strips = drawn(app)
    return {segment.style.bgcolor.name for strip in strips for segment in strip if segment.style}


async def test_a_theme_is_read_again_when_it_is_saved_and_a_mistake_changes_nothing(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(OWN.format(primary="#80c0ff", background="#101010"))
    async with running(MemoryEngine(50), themes=tmp_path, look=Appearance(theme="mine")) as (app, pilot):
        await press(pilot, "2")
        assert "#101010" in backgrounds(app)
        file.write_text(OWN.format(primary="#80c0ff", background="#202020"))
        os.utime(file, ns=(1, 1))
        await until(pilot, lambda: "#202020" in backgrounds(app))
        assert "#101010" not in backgrounds(app)
        file.write_text(OWN.format(primary="#80c0ff", background="nightish"))
        os.utime(file, ns=(2, 2))
        await until(
            pilot, lambda: 'mine.toml, line 4: base.background: "nightish" is not a colour.' in lines(app)[-2]
        )
        assert "#202020" in backgrounds(app)


@pytest.mark.parametrize("name", ["deep-sea", "ansi"])
async def test_without_colour_the_cursor_the_mark_and_the_tiers_are_still_there(name, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(MemoryEngine(50), (80, 24), look=Appearance(theme=name)) as (app, pilot):
        await press(pilot, "2", "space")
        strips = drawn(app)
        background = app.styles.background
        seen = [part for strip in strips for part in strip.apply_filter(app._filters[-1], background)]
        assert all(part.style is None or _without_hue(part.style) for part in seen)
        text = screen_text(app)
        assert all(mark in text for mark in ("▌", "✓", "◆", "◇", "[2 Browse]"))


def _without_hue(style) -> bool:
    colours = [each.triplet for each in (style.color, style.bgcolor) if each is not None]
    return all(each is None or each.red == each.green == each.blue for each in colours)


def test_styles_by_meaning():
    assert scope_style("agent:main") == "$scope-agent"
    assert scope_style(None) == scope_style("team:x") == "$scope-custom"
    assert category_style("preferences") == category_style("preference") == "$cat-preference"
    assert category_code("entities") == "enti"
    assert category_code("zoölogy") == "zoöl"
    assert category_code(None) == "-"


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 36), pytest.param((200, 50), marks=pytest.mark.slow)])
async def test_no_word_is_painted_in_the_colour_of_what_is_empty(
    demo_store: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    """`faint` is for skeletons, axes and the empty parts of bars: who reads it sees nothing."""
    faint = Color.parse(SHIPPED.themes["deep-sea"].variables["faint"]).rgb
    found = []
    async with locked(demo_store, tmp_path, size=size) as (app, pilot):
        for place, keys in {
            "Home": "1",
            "Browse": "2",
            **PLACES,
            "Recall": ASKED,
            "What if": f"{ASKED} p",
        }.items():
            await play(pilot, keys)
            for strip in drawn(app):
                for segment in strip:
                    color = segment.style.color.triplet if segment.style and segment.style.color else None
                    if color is not None and tuple(color) == faint and any(map(str.isalnum, segment.text)):
                        found.append((place, segment.text.strip()))
            await press(pilot, "escape")
    assert found == []


@pytest.mark.parametrize("name", sorted(SHIPPED.themes))
async def test_what_is_behind_a_dialog_stays_in_sight(name: str) -> None:
    async with running(MemoryEngine(50), (80, 24), look=Appearance(theme=name)) as (app, pilot):
        await press(pilot, "2")
        behind = lines(app)
        await press(pilot, "f1")
        assert len(app.screen_stack) > 1
        assert lines(app)[0] == behind[0]
        assert lines(app)[-1] == behind[-1]


def test_every_shipped_theme_is_named_in_the_help_and_the_docs() -> None:
    for page in ("memtui/help/themes.md", "docs/configuration.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert [name for name in SHIPPED.themes if name not in text] == [], page
