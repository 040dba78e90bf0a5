"""What Enter does to somebody who only opened a dialog: nothing is lost by it. A new dialog joins the tables here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import memtui.tui
from memtui.patches.textual_painting import QuickModal
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.repair_preview import Repair, RepairPreview
from tests.conftest import tree_hash
from tests.tui.driving import press, running, settle
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_every_list import every_kind
from tests.tui.test_locked import locked, play

ROOT = Path(memtui.tui.__file__).parent

DESTROYS = {
    "startup/last_session.py: _offer": "later, after a look in the Journal",
    "dialogs/forget.py: forget": "put away; a preview follows each way, and a yes of its own what is deleted",
    "screens/journal/screen.py: action_leave": "not now",
    "screens/journal/screen.py: action_break_lock": "the lock stays",
    "screens/agents/screen.py: action_remove": "the client stays in",
    "screens/browse/edit_form.py: action_close": "what was typed stays",
    "screens/browse/saved_views.py: _ask_which": "all views stay",
    "screens/audit/mend_choice.py: ask_mend": "the row stays",
    "screens/lifecycle/panel_actions.py: choose_action": "keeps it; each way ends in a preview",
    "screens/transfer/export_task.py: agree": "the file that is there stays",
}
"""Menus with something in them that takes away: where the cursor rests when they open."""

KEEPS = {"later", "look", "wait", "keep", "no", "stay", "leave", "", "archive", "endless"}
"""Values of options that take nothing away."""

NEVER = {
    "screens/recall/receipts.py: menu",
    "screens/cases/screen.py: other",
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
}
"""Menus that take nothing away, whatever is chosen: they look, copy, set a value, or end in a preview."""


OPEN = ("ChooseOne", "pick")
"""What opens a menu: the dialog, and the tasks of Transfer by `run.pick`."""


def menus() -> dict[str, ast.FunctionDef]:
    """Every function that opens a menu, by its file and name."""
    found: dict[str, ast.FunctionDef] = {}
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner: dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", getattr(node.func, "attr", "")) in OPEN
            ):
                outer, above = None, inner.get(node)
                while above is not None:
                    outer = above if isinstance(above, ast.FunctionDef) else outer
                    above = inner.get(above)
                assert outer is not None, path
                found[f"{path.relative_to(ROOT)}: {outer.name}"] = outer
    return found


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


DIALOGS = {
    "ChangePreview": "applies what can be taken back; nothing that deletes",
    "StagedSet": "as ChangePreview",
    "RepairPreview": "as ChangePreview: no old version goes by it",
    "PersonPreview": "as ChangePreview",
    "ConfigPreview": "nothing: A writes",
    "Unlock": "nothing: y unlocks",
    "ChooseOne": "what the cursor rests on: the menus above",
    "ScopePick": "scopes, to read",
    "EditRights": "a plan, with a preview",
    "EditForm": "goes to the next field",
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
    "keys", ["2 D d", "2 D t", "2 D p", "2 asterisk D d", "2 m s asterisk X", "2 D d enter"]
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
