"""What opens on Recall: ledger, settings, options, copying; and the mouse."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from memtui.engine import Engine
from memtui.engine.explain import word_tree
from memtui.tui.dialogs.choose_one import ChooseOne, ScopePick
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.dialogs.stage_ledger import StageLedger
from memtui.tui.messages import AskRecall
from memtui.tui.trace.rule_text import figure
from memtui.tui.widgets.question_line import OptionsLine
from memtui.tui.widgets.result_list import ResultList
from tests.conftest import thinned
from tests.tui.driving import SIZES, press, screen_text, settle, until
from tests.tui.recalling import QUESTION, Wrapped, recalling


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_the_ledger_has_every_stage_and_walks_on(demo_engine: Engine, size: tuple[int, int]) -> None:
    async with recalling(demo_engine, size) as (app, pilot, screen):
        await press(pilot, "enter")
        assert isinstance(app.screen, StageLedger)
        text = screen_text(app)
        for words in ("STAGE", "BEFORE", "1 / (1 + distance", "hard cutoff", "✓ verified"):
            assert words in text
        await press(pilot, "pagedown")
        assert "returned at #1" in text + screen_text(app)
        await press(pilot, "full_stop", "escape")
        assert screen.state.selected == screen.state.trace.results[1].id  # type: ignore[union-attr]


@pytest.mark.parametrize("recipe", thinned(["pro/agent", "memtui"], 2))
async def test_the_keyword_score_is_a_tree_by_word_that_adds_up(demo_engine: Engine, recipe: str) -> None:
    query = "ssh port of the bastion"
    async with recalling(demo_engine, (120, 50), query=query, recipe=recipe) as (app, pilot, screen):
        told = screen.state.told[screen.state.selected].keywords
        assert told is not None
        assert {each.word for each in told.words} == {"bastion", "port", "ssh"}
        parts = [(each.idf, each.weight) for each in told.words]
        assert sum(idf * weight for idf, weight in parts if idf and weight) == pytest.approx(
            told.raw, rel=1e-6
        )
        assert not replace(told, raw=told.raw * 1.01).adds_up
        await press(pilot, "enter", "G")
        text = screen_text(app)
        assert f"BM25 {figure(told.raw, 2)}" in text
        assert "verified" in text.split("KEYWORDS")[1]
        assert "= idf" in text


@pytest.mark.slow
async def test_where_the_index_tells_only_the_sum_of_the_keywords_that_is_said(
    demo_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_tree, "MOST_ROWS", 100)
    async with recalling(demo_engine, (120, 50), query="ssh port of the bastion") as (app, pilot, _):
        await press(pilot, "enter", "G")
        assert "by word: not known, the index gives only the sum" in screen_text(app)


@pytest.mark.slow
async def test_the_own_recipe_tells_which_word_met_which(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query="what is the deploy window on friday", recipe="memtui") as (
        app,
        pilot,
        _,
    ):
        await press(pilot, "enter")
        text = screen_text(app)
        assert "TERM MATCHING" in text
        assert "deploy         → Deploy" in text
        assert "✓ verified" in text


async def test_how_sure_an_answer_is_can_be_opened_and_adds_up(demo_engine: Engine) -> None:
    """The number in the headline is that of the page, where each signal stands with its weight."""
    async with recalling(demo_engine, (80, 24), query="zebra crossing paint recipe", recipe="memtui") as (
        app,
        pilot,
        screen,
    ):
        told = screen.state.trace.confidence  # type: ignore[union-attr]
        assert f"no memory answers this well {told.number:.2f}" in screen_text(app)  # type: ignore[union-attr]
        await press(pilot, "w")
        lines = screen_text(app).splitlines()
        at = next(n for n, line in enumerate(lines) if "ANSWER CONFIDENCE" in line)
        shown = [re.search(r"([-.\d]+) [x×] +([-.\d]+) = +([-.\d]+)", line) for line in lines[at:]]
        products = [tuple(map(float, found.groups())) for found in shown if found]
        assert len(products) >= 2
        assert all(value * weight == pytest.approx(adds, abs=0.02) for value, weight, adds in products)


async def test_the_settings_are_shown_with_their_findings(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, _screen):
        await press(pilot, "backslash")
        assert isinstance(app.screen, Sheet)
        text = screen_text(app)
        assert "Settings of pro/agent" in text
        assert "cross-encoder has no API key" in text
        assert "vectorWeight" in text


@pytest.mark.slow
async def test_another_recipe_asks_the_same_question_again(demo_engine: Engine) -> None:
    engine = Wrapped(demo_engine)
    async with recalling(engine) as (app, pilot, screen):
        await press(pilot, "c", "r")
        assert isinstance(app.screen, ChooseOne)
        await press(pilot, "3")
        assert [request.recipe for request in engine.asked] == ["pro/agent", "pro/cli"]
        text = screen_text(app)
        assert "recipe pro/cli   k 10" in text
        assert "time decay" in text
        assert screen.state.trace.recipe == "pro/cli"  # type: ignore[union-attr]


@pytest.mark.slow
async def test_scopes_are_marked_and_searched(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        await press(pilot, "at")
        await until(pilot, lambda: isinstance(app.screen, ScopePick))
        text = screen_text(app)
        assert "as main: global, agent:main" in text
        assert "all scopes, which no agent sees" in text
        await press(pilot, "end", "space", "k", "space", "enter")
        assert len(screen.state.form.scopes or ()) == 2
        assert screen.state.trace.filters["scopes"] == list(screen.state.form.scopes or ())  # type: ignore[union-attr]
        await press(pilot, "at")
        await until(pilot, lambda: isinstance(app.screen, ScopePick))
        await press(pilot, "g", "enter")
        assert (screen.state.form.scopes, screen.state.form.everyone) == (None, False)
        assert screen.state.trace.asker.words.startswith("asked by main: global")  # type: ignore[union-attr]
        screen.choose(everyone=True)
        await settle(pilot)
        assert "no agent sees" in screen_text(app)


@pytest.mark.slow
async def test_an_agent_that_was_chosen_counts_in_every_recipe_or_the_answer_says_that_it_does_not(
    demo_engine: Engine,
) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        screen.choose(agent="research")
        for recipe in demo_engine.recipes():
            screen.choose(recipe=recipe.name)
            screen.ask_again()
            await settle(pilot)
            trace, text = screen.state.trace, screen_text(app)
            assert trace is not None
            assert trace.asker is not None
            assert trace.recipe == recipe.name
            if trace.asker.agent:
                assert trace.asker.words.startswith("asked by research: ")
                assert "asked by research" in text
            else:
                assert "research is named and changes nothing" in trace.asker.words
                assert "research is named" in text
        screen.choose(recipe="memtui")
        await press(pilot, "at")
        await until(pilot, lambda: isinstance(app.screen, ScopePick))
        await press(pilot, "g", "enter")
        assert screen.state.form.agent == ""
        assert screen.state.trace.asker.words == "asked by you (all scopes)"  # type: ignore[union-attr]


@pytest.mark.slow
async def test_a_call_of_the_stores_own_agent_is_asked_again_as_that_agent(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query="", recipe="memtui") as (_, pilot, screen):
        own = demo_engine.agents[0]
        screen.receive(AskRecall("Which editor does Ines use?", agent=own))
        await settle(pilot)
        trace = screen.state.trace
        assert trace is not None
        assert trace.asker is not None
        assert trace.asker.words.startswith(f"asked by {own}: ")


@pytest.mark.slow
async def test_more_and_fewer_change_the_option_and_wait(demo_engine: Engine) -> None:
    engine = Wrapped(demo_engine)
    async with recalling(engine) as (app, pilot, screen):
        for step in (screen.action_more, screen.action_more, screen.action_fewer):
            step()
        await settle(pilot)
        assert screen.state.form.limit == 7
        text = screen_text(app)
        assert "k 7*" in text
        assert "changed, enter asks" in text
        assert len(engine.asked) == 1
        await press(pilot, "ctrl+r")
        assert engine.asked[-1].limit == 7
        assert "changed" not in screen_text(app)


async def test_copying_the_id_the_text_the_trace_and_an_account(
    demo_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr("pyperclip.copy", copied.append)  # the machine's own clipboard
    async with recalling(demo_engine) as (app, pilot, screen):
        for letter in "itw":
            await press(pilot, "y", letter)
            await settle(pilot)
        assert "copied the trace (clipboard)" in screen_text(app)
        trace = screen.state.trace
        assert trace is not None
        await press(pilot, "w", "y")
        await settle(pilot)
        assert json.loads(copied[3])["id"] == trace.results[0].id
        assert copied[0] == trace.results[0].id
        assert copied[1].startswith("SSH to the bastion goes through port 2222")
        document = json.loads(copied[2])
        assert document["schema"] == "memtui.recall.v1"
        assert document["candidates"]


async def test_the_mouse_chooses_and_opens(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (app, pilot, screen):
        results = screen.query_one(ResultList)
        trace = screen.state.trace
        assert trace is not None
        first, second = (result.id for result in trace.results[:2])
        rows = zip(results._rows, results._tops, strict=True)
        lines = {row.key: range(top, top + len(row.lines)) for row, top in rows}
        assert len(lines[second]) > 1, "a result goes on in a second line, which is its own, too"
        for line in lines[second]:
            await pilot.click(results, offset=(20, line))
            await settle(pilot)
            assert screen.state.selected == second
            await pilot.click(results, offset=(20, lines[first][-1]))
            await settle(pilot)
            assert screen.state.selected == first
        await pilot.click(results, offset=(20, lines[first][0]))
        await settle(pilot)
        assert isinstance(app.screen, StageLedger)
        await press(pilot, "escape")
        await pilot.click(OptionsLine, offset=(10, 0))
        await settle(pilot)
        assert isinstance(app.screen, ChooseOne)


async def test_the_palette_offers_recipes_and_earlier_questions(demo_engine: Engine) -> None:
    async with recalling(demo_engine) as (_app, _pilot, screen):
        names = [entry.name for entry in screen.palette_entries()]
        assert "Recipe: pro/cli" in names
        assert f"Ask: {QUESTION}" in names
        assert [
            entry.disabled for entry in screen.palette_entries() if entry.name == "Recipe: pro/agent"
        ] != [""]


async def test_settings_are_there_before_the_first_question(demo_engine: Engine) -> None:
    async with recalling(demo_engine, query="") as (app, pilot, screen):
        await press(pilot, "escape", "backslash")
        assert isinstance(app.screen, Sheet)
        text = screen_text(app)
        assert "Settings of pro/agent" in text
        assert "vectorWeight" in text
        assert ".7" in text
        assert screen.state.trace is None
