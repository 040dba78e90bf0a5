"""A locked store is a place to work: every action that writes ends on a preview, then on the unlock."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

import memtui.tui
from memtui.engine import changes, open_engine
from memtui.engine.catalog import select_ids
from memtui.tui.actions.table import TABLE
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview, StagedSet
from memtui.tui.dialogs.config_preview import ConfigPreview
from memtui.tui.dialogs.unlock import Unlock
from memtui.tui.startup.open_store import opener
from tests.conftest import NOW_MS, tree_hash
from tests.tui.driving import press, screen_text, settle, type_text
from tests.tui.previews import tells_consequences

PORT = "which port do I use for ssh to the bastion?"

BROWSE = {
    "browse.change": "2 j c i ctrl+u text:0.11 enter",
    "browse.add": "2 i text:kettle ctrl+s",
    "browse.edit": "2 e text:now ctrl+s",
    "browse.forget": "2 D a",
    "browse.merge": "2 space space M",
    "browse.undo": "2 u",
    "app.take-back": "1 ctrl+z",
    "app.make-again": "1 U",
    "browse.redo": "2 U",
    "browse.staged": "2 D a s C",
    "near.merge": "2 K M",
    "mend.merge": "2 f M",
    "mend.archive": "2 f right_square_bracket asterisk a",
    "mend.forget": "2 f right_square_bracket asterisk D",
    "mend.every-trace": "2 f right_square_bracket asterisk X",
    "mend.mask": "2 f right_square_bracket right_square_bracket asterisk m",
    "mend.past": "2 f right_square_bracket right_square_bracket H",
    "mend.undo": "2 f u",
    "mend.redo": "2 f U",
}

BLAMED = "1 exclamation_mark text:ssh-port-2222-of-the-bastion enter"
"""A sentence that a memory of the demo says, and its cause."""

ELSEWHERE = {
    "lifecycle.act": "4 right_square_bracket right_square_bracket right_square_bracket c a",
    "lifecycle.sweep": "4 A",
    "lifecycle.undo": "4 u",
    "lifecycle.redo": "4 U",
    "review.fix": "4 W f i ctrl+u text:0.11 enter",
    "review.archive": "4 W a",
    "review.pin": "4 W P",
    "review.forget": "4 W D",
    "journal.undo": "6 j j u",
    "journal.redo": "6 g j U",
    "capture.undo": "7 u",
    "capture.redo": "7 U",
    "health.fix": "9 f",
    "health.safe": "9 F enter",
    "versions.bring-back": "9 right_square_bracket right_square_bracket j enter d u",
    "capture.apply": "7 talk A",
    "blame.edit": f"{BLAMED} e text:now ctrl+s",
    "blame.forget": f"{BLAMED} D a",
    "blame.undo": f"{BLAMED} u",
    "blame.redo": f"{BLAMED} U",
}

OTHERS = {
    "recall.replace": "test_recall_screen.py: a wrong answer is corrected, by the same preview",
    "blame.replace": "test_blame.py: the right memory supersedes the suspect, by the same preview",
    "browse.external": "goes the way of browse.edit, with $EDITOR in place of the form",
    "review.merge": "goes the way of near.merge; the first card of the demo has nothing to merge with",
    "whynot.remedy": "test_whynot.py stages remedies by the same preview",
    "changes.open": "test_whynot.py stages changes by the same preview",
    "journal.fix": "the menu of journal.finish and journal.break-lock, which begins with what writes nothing",
    "journal.finish": "test_journal.py, an entry that was cut off: by the same preview",
    "journal.break-lock": "needs a lock that a dead program left; unlocked like all else",
    "mend.restore": "test_mending.py: what is in the trash comes back, by the same preview",
    "versions.whole": "test_health.py restores a version whole, after the list of what would go with it",
    "transfer.write": "test_transfer_import.py: a locked session plans and unlocks to write",
    "transfer.stopped": "test_transfer_others.py: a locked session unlocks to switch",
    "transfer.undo": "goes the way of browse.undo",
    "audit.apply": "test_audit.py: by the same preview",
    "audit.edit": "test_audit.py: what an agent reads is edited, after the unlock",
    "audit.undo-config": "test_audit.py: and undone",
    "plans.apply": "test_health.py: a plan is written, after the unlock",
    "plans.undo": "test_health.py: and undone",
}
"""What needs another world than the demo, and where it is seen."""

PREVIEWS = (ChangePreview, StagedSet, ConfigPreview)


def begun(home: Path) -> None:
    """Two entries in the journal of the store, the newer one taken back."""
    with open_engine(
        home / "fernhill", now=lambda: NOW_MS, environ={}, cwd=home, writable=True, state=home / "state"
    ) as engine:
        engine.load_catalog()
        engine.load_metadata()
        for id in select_ids(engine.view, "tier:core")[:2]:
            changes.apply(engine, changes.plan_edit(engine, [id], {"importance": 0.5}))
        changes.apply(engine, changes.plan_undo(engine))


@asynccontextmanager
async def locked(
    store: Path, home: Path, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app on a copy of `store` with a journal, open for reading only."""
    shutil.copytree(store, home / "fernhill")
    begun(home)
    environ = {"HOME": str(home), "MEMTUI_STATE_DIR": str(home / "state"), "MEMTUI_GLYPHS": "unicode"}
    opened = opener(environ, home, writable=False)
    app = MemtuiApp(str(home / "fernhill"), opener=opened, now=lambda: NOW_MS, environ=environ)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield app, pilot


async def play(pilot: Pilot[None], keys: str) -> None:
    """Press keys one after the other; `text:` types, `talk` gives Capture a conversation."""
    parts = keys.replace(f"text:{PORT}", "\0").split(" ")
    for part in parts:
        if part == "talk":
            pilot.app.screen._add_text("User: The staging host is kelp-07 now.\n")  # type: ignore[attr-defined]
            await settle(pilot)
        elif part == "\0":
            await type_text(pilot, PORT.replace("?", ""))
            await settle(pilot)
        elif part.startswith("text:"):
            await type_text(pilot, part.removeprefix("text:"))
            await settle(pilot)
        else:
            await press(pilot, part)


def test_every_action_that_writes_is_walked_or_says_where() -> None:
    writes = {key.id for key in TABLE if key.writes}
    walked = {*BROWSE, *ELSEWHERE}
    assert writes == walked | set(OTHERS)
    assert not walked & set(OTHERS)


ELSEWHERE_TOLD = {
    "recall.replace": "test_recall_screen.py",
    "mend.restore": "test_mending.py",
    "whynot.remedy": "test_whynot.py",
    "changes.open": "test_whynot.py",
    "versions.whole": "test_health.py",
    "plans.apply": "test_health.py",
    "transfer.write": "test_transfer_others.py",
}
"""Previews of another world than the demo's, and the test that holds each to the same."""

AS_ANOTHER = {
    "blame.replace": "near.merge",
    "browse.external": "browse.edit",
    "review.merge": "near.merge",
    "journal.fix": "journal.undo",
    "journal.finish": "journal.undo",
    "journal.break-lock": "journal.undo",
    "transfer.stopped": "transfer.write",
    "transfer.undo": "browse.undo",
    "audit.apply": "browse.change",
    "audit.edit": "plans.apply",
    "audit.undo-config": "plans.apply",
    "plans.undo": "plans.apply",
}
"""What shows the preview of another action, by the same dialog."""


def test_every_preview_is_held_to_telling_what_the_agent_would_read() -> None:
    told = {*BROWSE, *ELSEWHERE, *ELSEWHERE_TOLD}
    writes = {key.id for key in TABLE if key.writes}
    assert writes == told | set(AS_ANOTHER), "a preview that is not asked what follows from it"
    assert not told & set(AS_ANOTHER)
    assert set(AS_ANOTHER.values()) <= told
    for file in set(ELSEWHERE_TOLD.values()):
        text = (Path(__file__).parent / file).read_text("utf-8")
        assert "tells_consequences(app" in text or "in_words(app" in text, file


FOR_GOOD = ("mend.every-trace", "mend.past")
"""What has no way back, and says so where the store is unlocked for it."""


@pytest.mark.slow
@pytest.mark.parametrize("recipes", [BROWSE, ELSEWHERE], ids=["browse", "elsewhere"])
async def test_every_action_that_writes_ends_on_a_preview_and_then_on_the_unlock(
    recipes: dict[str, str], demo_store: Path, tmp_path: Path
) -> None:
    async with locked(demo_store, tmp_path) as (app, pilot):
        before = tree_hash(tmp_path / "fernhill")
        for id, keys in recipes.items():
            await play(pilot, keys)
            screen = app.screen
            if not isinstance(screen, Unlock):
                assert isinstance(screen, PREVIEWS), f"{id}: {keys}\n{screen_text(app)}"
                assert "unlock and " in screen_text(app), id
                tells_consequences(app, id)
                apply = next(
                    key
                    for action, key in (("apply", "enter"), ("agree", "y"), ("stopped", "Y"))
                    if screen.check_action(action, ())
                )
                await press(pilot, apply)
            assert isinstance(app.screen, Unlock), f"{id}\n{screen_text(app)}"
            assert "--rw" not in screen_text(app)
            assert ("it goes for good" in screen_text(app)) is (id in FOR_GOOD), id
            await press(pilot, "n")
            while len(app.screen_stack) > 1:
                app.screen.dismiss(None)
                await settle(pilot)
            engine = app.session.engine
            assert engine is not None
            engine.write_state.staged.clear()
            app.take("staged", 0)
            await press(pilot, "escape", "1")
        assert tree_hash(tmp_path / "fernhill") == before
        assert app.session.info is not None
        assert app.session.info.read_only


def test_no_sentence_of_the_screens_ends_in_starting_again_with_rw() -> None:
    root = Path(memtui.tui.__file__).parent
    files = [file for file in root.rglob("*") if file.suffix in (".py", ".toml", ".json", ".md")]
    named = [file for file in files if "--rw" in file.read_text(encoding="utf-8")]
    pasted = {
        "no_store.py",
        "screens/agents/view.py",
        "screens/agents/connecting.py",
    }  # what an agent's configuration is given, not a person
    assert {str(file.relative_to(root)) for file in named} == pasted


SENT_AWAY = re.compile(r"(?i)\b(?:re)?(?:start|open|run)\b[^.\n]*\bwith `?--rw")
"""A person who is told to begin anew, where the unlock would do."""


def told() -> dict[str, str]:
    """Every text that a screen may show, by where it stands: of the screens, of the help, of the engine's changes."""
    root = Path(memtui.tui.__file__).parent.parent
    found = {str(each): each.read_text("utf-8") for each in (root / "help").glob("*.md")}
    found |= {str(each): each.read_text("utf-8") for each in (root / "tui").rglob("*.toml")}
    for folder in (
        "tui",
        "engine/changes",
        "engine/store",
        "engine/access",
        "engine/transfer",
        "engine/health",
    ):
        for file in (root / folder).rglob("*.py"):
            texts = (node.value for node in ast.walk(ast.parse(file.read_text("utf-8"))) if is_text(node))
            found[str(file)] = "\n".join(texts)
    return found


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.slow
def test_no_text_sends_a_person_away_to_start_with_rw() -> None:
    texts = told()
    assert len(texts) > 300
    assert SENT_AWAY.search("It is read-only: start memtui again with --rw.")
    assert [place for place, text in texts.items() if SENT_AWAY.search(text)] == []
