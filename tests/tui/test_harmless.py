"""What Enter does to somebody who only opened a dialog: nothing is lost by it. A new dialog joins the tables here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import memtui.tui
from memtui.patches.textual_painting import QuickModal
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.repair_preview import Repair, RepairPreview
from tests.conftest import tree_hash
from tests.tui.driving import press, running, screen_text, settle
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_every_list import every_kind
from tests.tui.test_locked import locked, play

ROOT = Path(memtui.tui.__file__).parent

DESTROYS = {
    "startup/last_session.py: _offer": "later, after a look in the Journal",
    "dialogs/forget.py: forget": "put away; a preview follows each way, and a yes of its own what is deleted",
    "screens/journal/screen.py: action_fix": "not now",
    "screens/journal/screen.py: action_leave": "not now",
    "screens/journal/screen.py: action_break_lock": "the lock stays",
    "screens/agents/screen.py: action_remove": "the client stays in",
    "screens/browse/edit_form.py: action_close": "what was typed stays",
    "screens/browse/saved_views.py: _ask_which": "all views stay",
    "screens/audit/mend_choice.py: ask_mend": "the row stays",
    "screens/lifecycle/panel_actions.py: choose_action": "keeps it; each way ends in a preview",
    "screens/transfer/import_review.py: _every": "ours stay",
    "screens/transfer/export_task.py: agree": "the file that is there stays",
}
"""Menus with something in them that takes away: where the cursor rests when they open."""

KEEPS = {"later", "look", "wait", "keep", "no", "stay", "leave", "", "archive", "endless"}
"""Values of options that take nothing away."""

NEVER = {
    "screens/blame/screen.py: action_receipts",
    "screens/recall/receipts.py: menu",
    "screens/cases/screen.py: other",
    "screens/cases/screen.py: change",
    "screens/cases/screen.py: first",
    "screens/cases/screen.py: how_many",
    "screens/browse/screen.py: _copy_wanted",
    "screens/browse/screen.py: action_sort",
    "screens/browse/list_panel.py: _menu",
    "screens/browse/saved_views.py: choose",
    "screens/recall/options_bar.py: _pick",
    "screens/whatif/value_prompts.py: _pick",
    "screens/compare/side_picker.py: menu",
    "screens/compare/side_picker.py: _recipe",
    "screens/health/configuring.py: action_edit",
    "screens/health/configuring.py: action_fly",
    "screens/health/versioning.py: _show_writers",
    "screens/capture/screen.py: action_settings",
    "screens/capture/counting.py: settings",
    "screens/lifecycle/panel_actions.py: choose_scope",
    "screens/lifecycle/panel_actions.py: copy",
    "dialogs/choose_field.py: choose_change",
    "dialogs/choose_field.py: choose_value",
    "wizard/wizard.py: pick",
    "wizard/wizard.py: change",
    "screens/transfer/import_source.py: change",
    "screens/transfer/import_source.py: _pick_column",
    "screens/transfer/import_source.py: _pick_format",
    "screens/transfer/migrate_task.py: ask_source",
    "screens/transfer/reembed_task.py: choose_model",
    "base_screen.py: on_menu_wanted",
    "screens/agents/screen.py: _choose_host",
}
"""Menus that take nothing away, whatever is chosen: they look, copy, set a value, or end in a preview."""


OPEN = ("ChooseOne", "pick")
"""What opens a menu: the dialog, and the tasks of Transfer by `run.pick`."""


def called(call: ast.Call) -> str:
    """The name of what is called."""
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def menus(*names: str) -> dict[str, ast.FunctionDef]:
    """Every function that opens a menu by one of these names, or `OPEN`, by its file and name."""
    found: dict[str, ast.FunctionDef] = {}
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner: dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in (names or OPEN):
                outer, above = None, inner.get(node)
                while above is not None:
                    outer = above if isinstance(above, ast.FunctionDef) else outer
                    above = inner.get(above)
                assert outer is not None, path
                found[f"{path.relative_to(ROOT)}: {outer.name}"] = outer
    return found


@pytest.mark.slow
def test_every_menu_is_known_and_the_cursor_rests_on_what_takes_nothing_away() -> None:
    found = menus()
    assert set(found) == set(DESTROYS) | NEVER
    for name in DESTROYS:
        options = [
            node.args[0].value
            for node in ast.walk(found[name])
            if isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "Option"
            and isinstance(node.args[0], ast.Constant)
        ]
        assert not options or options[0] in KEEPS or "LOOK" in ast.unparse(found[name]), name


TO_DO = {
    "screens/blame/screen.py: action_receipts",
    "base_screen.py: on_menu_wanted",
    "dialogs/choose_field.py: choose_change",
    "dialogs/forget.py: forget",
    "screens/agents/screen.py: _choose_host",
    "screens/agents/screen.py: action_remove",
    "screens/browse/edit_form.py: action_close",
    "screens/browse/list_panel.py: _menu",
    "screens/browse/saved_views.py: _ask_which",
    "screens/browse/screen.py: _copy_wanted",
    "screens/capture/counting.py: settings",
    "screens/capture/screen.py: action_settings",
    "screens/cases/screen.py: change",
    "screens/compare/side_picker.py: menu",
    "screens/compare/side_picker.py: _recipe",
    "screens/health/configuring.py: action_fly",
    "screens/health/versioning.py: _show_writers",
    "screens/journal/screen.py: action_break_lock",
    "screens/journal/screen.py: action_fix",
    "screens/journal/screen.py: action_leave",
    "screens/lifecycle/panel_actions.py: copy",
    "screens/recall/options_bar.py: all",
    "screens/recall/options_bar.py: copy",
    "screens/recall/receipts.py: menu",
    "screens/transfer/export_task.py: agree",
    "screens/transfer/import_review.py: _every",
    "screens/whatif/value_prompts.py: _kept",
    "startup/last_session.py: _offer",
}
"""Menus of things to do, or of the names of values that each tell what they are: nothing in them stands already."""

FIELD_BY_FIELD = {"_pick", "pick"}
"""Functions that hand on what they are given."""


@pytest.mark.slow
def test_every_menu_of_values_marks_the_present_one() -> None:
    unmarked: set[str] = set()
    stands: set[str] = set()
    for name, function in menus(*OPEN, "_pick").items():
        if name.partition(": ")[2] in FIELD_BY_FIELD:
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or called(call) not in (*OPEN, "_pick"):
                continue
            given = [each for each in call.args[2:3] if not isinstance(each, ast.Constant)]
            (stands if given else unmarked).add(name)
    assert unmarked == TO_DO
    assert not stands & TO_DO


async def test_the_present_value_of_a_menu_is_marked_where_it_is_the_default_too() -> None:
    async with running(MemoryEngine(10)) as (app, pilot):
        options = [Option("", "the recipe's own"), Option("5", "five")]
        for present, marked in (("", ["the recipe's own"]), ("5", ["five"]), (None, []), ("7", [])):
            app.push_screen(ChooseOne("How many", options, present))
            await settle(pilot)
            rows = [
                line for line in screen_text(app).split("\n") if "the recipe's own" in line or "five" in line
            ]
            assert [
                each.label for each in options if any("✓" in row and each.label in row for row in rows)
            ] == marked
            await press(pilot, "escape")


@pytest.mark.parametrize("words", [20, 40, 58])
async def test_no_option_of_a_menu_is_cut_where_the_room_is_there(words: int) -> None:
    async with running(MemoryEngine(10), (80, 24)) as (app, pilot):
        options = [
            Option("a", "one", "x" * (words - 1) + "!"),
            Option("b", "another"),
            *[Option(str(n), "n") for n in range(30)],
        ]
        app.push_screen(ChooseOne("Menu", options))
        await settle(pilot)
        assert "x" * (words - 1) + "!" in screen_text(app)


DIALOGS = {
    "ChangePreview": "applies what can be undone; nothing that deletes",
    "StagedSet": "as ChangePreview",
    "RepairPreview": "as ChangePreview: no old version goes by it",
    "PersonPreview": "as ChangePreview",
    "ConfigPreview": "nothing: A writes",
    "HostPreview": "nothing: A writes",
    "Unlock": "nothing: y unlocks",
    "ChooseOne": "what the cursor rests on: the menus above",
    "ScopePick": "scopes, to read",
    "EditRights": "a plan, with a preview",
    "EditForm": "goes to the next field",
    "AddForm": "as EditForm",
    "CorrectAnswer": "a preview follows",
    "NeighboursDialog": "shows one",
    "MemoryPick": "takes one, to read or with a preview after it",
    "FindList": "takes one of many values",
    "OpenStore": "opens a store, which writes nothing",
    "TextPrompt": "takes what stands in the line",
    "Paste": "a new line of text",
    "Palette": "what it finds ends in a preview",
    "HelpOverlay": "reads",
    "TopicView": "reads",
    "Sheet": "reads",
    "StageLedger": "reads",
    "PromptBlockDialog": "reads",
    "Jump": "a letter goes somewhere",
}
"""Every dialog, and what Enter does in it as it was opened."""


def test_every_dialog_says_what_enter_does() -> None:
    every_kind()  # imports everything

    def kinds(of: type) -> set[str]:
        return {
            name
            for each in of.__subclasses__()
            if each.__module__.startswith("memtui.")  # tests that ran before have dialogs of their own
            for name in (each.__name__, *kinds(each))
        }

    assert {each for each in kinds(QuickModal) if not each.startswith("_")} == set(DIALOGS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        "2 D d",
        "2 D t",
        "2 D p",
        "2 asterisk D d",
        "2 f right_square_bracket right_square_bracket asterisk X",
        "2 D d enter",
    ],
)
async def test_enter_deletes_nothing_for_good(keys: str, demo_store: Path, tmp_path: Path) -> None:
    async with locked(demo_store, tmp_path) as (app, pilot):
        before = tree_hash(tmp_path / "fernhill")
        await play(pilot, keys)
        preview = app.screen
        assert isinstance(preview, ChangePreview)
        await press(pilot, "enter", "enter", "space")
        assert app.screen is preview
        assert tree_hash(tmp_path / "fernhill") == before


async def test_enter_takes_no_old_version_and_y_does() -> None:
    async with running(MemoryEngine(10)) as (app, pilot):
        answers: list[object] = []

        async def shown(*repairs: Repair) -> None:
            def weigh(*_: object) -> object:
                raise AssertionError("not asked for")

            app.push_screen(RepairPreview(repairs, weigh=weigh, back=""), answers.append)  # type: ignore[arg-type]
            await settle(pilot)

        prune = Repair("0", "remove versions and leftover files older than 7 days", for_good=True)
        await shown(prune, Repair("1", "fold small files together"))
        await press(pilot, "enter")
        assert answers == []
        await press(pilot, "y")
        assert answers[-1].row == "0 1"  # type: ignore[attr-defined]
        await shown(Repair("1", "fold small files together"))
        await press(pilot, "enter")
        assert answers[-1].row == "1"  # type: ignore[attr-defined]
