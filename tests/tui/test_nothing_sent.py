"""No preview on a screen sends anything: a service on this machine counts what it gets until a person applies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import RefusedError, changes, open_engine
from memtui.engine.cases import Case, CaseBook
from memtui.paths import cases_file
from memtui.tui.change_request import without_sending
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.repair_preview import RepairPreview
from memtui.tui.screens.transfer.import_state import ImportState
from memtui.tui.screens.transfer.screen import TransferScreen
from tests.conftest import NOW_MS
from tests.engine.curate_world import row_of, rows_of, version_of
from tests.engine.loopback import Loopback, loopback, text_vector
from tests.engine.served_home import IDS, served_home
from tests.tui.driving import screen_text, settle, type_text
from tests.tui.test_capture_screen import pasted
from tests.tui.test_changing import browsing, current_id, steps


@pytest.fixture
def service() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path, service: Loopback) -> Path:
    """A store whose agent makes vectors at the service, with a saved case that a preview would ask again."""
    made = served_home(tmp_path, service.url)
    CaseBook(cases_file(str(made))).put(Case("c1", "where is tool 3", (IDS[3],)))
    return made


async def test_the_preview_of_an_edit_sends_nothing_and_says_what_applying_sends(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        service.requests.clear()
        chosen, before = current_id(app), version_of(store)
        await steps(pilot, "e", "x", "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        shown = " ".join(screen_text(app).split())
        assert service.requests == []
        assert "their-model at 127.0.0.1" in shown
        assert re.search(r"\d texts? with \d+ characters", shown)
        assert "not known" in shown
        assert app.screen.plan.unsent
        await steps(pilot, "escape", "ctrl+s")
        assert (service.requests, version_of(store)) == ([], before)
        await steps(pilot, "Y")
        assert service.requests, "applied: the vector is made"
        changed = row_of(store, chosen)
        wanted = text_vector(changed["text"], 8)
        assert np.allclose(changed["vector"], wanted, atol=1e-5)


async def test_what_the_vectors_bring_to_light_is_looked_at_before_it_is_written(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    """The service has another model by now: that is known once it was asked, and the plan is shown again."""
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        chosen, before = current_id(app), version_of(store)
        old = row_of(store, chosen)["text"]
        service.vectors[old] = [-each for each in text_vector(old, 8)]
        await steps(pilot, "e", "x", "ctrl+s", "Y")
        assert isinstance(app.screen, ChangePreview)
        assert any("is probably not the model" in each for each in app.screen.plan.warnings)
        assert version_of(store) == before
        await steps(pilot, "Y")
        assert row_of(store, chosen)["text"] == f"x{old}"


async def test_a_change_without_vectors_is_measured_only_when_a_person_sends_the_questions(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        service.requests.clear()
        await steps(pilot, "c", "i", *["backspace"] * 10, "0", ".", "2", "enter")
        assert isinstance(app.screen, ChangePreview)
        assert "1 text with" in " ".join(screen_text(app).split())
        assert service.requests == []
        await steps(pilot, "w")
        assert isinstance(app.screen, ChangePreview)
        assert service.requests
        assert "would be sent" not in screen_text(app)


async def test_a_staged_text_has_its_vector(store: Path, tmp_path: Path, service: Loopback) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        service.requests.clear()
        chosen = current_id(app)
        await steps(pilot, "e", "x", "ctrl+s")
        assert service.requests == []
        await steps(pilot, "s")
        assert service.requests
        sent = len(service.requests)
        await steps(pilot, "C")
        assert len(service.requests) == sent, "a look at what is staged sends nothing"
        await steps(pilot, "Y")
        changed = row_of(store, chosen)
        assert np.allclose(changed["vector"], text_vector(changed["text"], 8), atol=1e-5)


async def test_what_mends_a_vector_is_planned_without_a_request(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        await steps(pilot, "9")
        await steps(pilot, "r")
        service.requests.clear()
        await steps(pilot, "F")
        shown = " ".join(screen_text(app).split())
        assert service.requests == []
        assert "their-model at 127.0.0.1" in shown
        await steps(pilot, "Y")
        assert service.requests
        assert np.any(row_of(store, IDS[5])["vector"])


async def test_a_plan_whose_vectors_are_not_made_is_never_written(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    with open_engine(
        store,
        now=lambda: NOW_MS,
        environ={"HOME": str(tmp_path)},
        cwd=tmp_path,
        writable=True,
        state=tmp_path / "st",
    ) as engine:
        planned, _ = without_sending(
            engine, lambda made: changes.plan_edit(made, [IDS[0]], {"text": "Tool 1 hangs on the door."})
        )
        assert planned.unsent
        before = version_of(store)
        with pytest.raises(RefusedError, match="not made"):
            changes.apply(engine, planned, confirmed=True)
        with pytest.raises(RefusedError, match="not made"):
            engine.write_state.staged.add(planned)
    assert (service.requests, version_of(store)) == ([], before)


async def test_the_preview_of_a_new_memory_sends_nothing_and_applying_makes_its_vector(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        service.requests.clear()
        before = version_of(store)
        await steps(pilot, "i")
        await type_text(pilot, "The kettle of the Lisbon office is blue")
        await steps(pilot, "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        assert (service.requests, version_of(store)) == ([], before)
        assert "their-model at 127.0.0.1" in " ".join(screen_text(app).split())
        await steps(pilot, "Y")
        assert service.requests, "applied: the vector is made"
        (made,) = [row for row in rows_of(store).to_pylist() if row["text"].startswith("The kettle")]
        assert np.allclose(made["vector"], text_vector(made["text"], 8), atol=1e-5)


async def test_a_new_memory_whose_vector_is_close_to_another_is_not_written_and_the_form_says_so(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    """Only its vector tells: that is made when a person applies, and what they typed is there again."""
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        before, typed = version_of(store), "A hammer is kept by the north door"
        service.vectors[typed] = text_vector(row_of(store, IDS[0])["text"], 8)
        await steps(pilot, "i")
        await type_text(pilot, typed)
        await steps(pilot, "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        await steps(pilot, "Y")
        assert version_of(store) == before
        shown = screen_text(app)
        assert "Not added: another memory states something else about the same subject" in shown
        assert typed in shown


async def test_a_fix_is_measured_only_when_a_person_sends_for_it(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        await steps(pilot, "9")
        await steps(pilot, "r")
        service.requests.clear()
        await steps(pilot, "F")
        assert isinstance(app.screen, RepairPreview)
        shown = " ".join(screen_text(app).split())
        assert (service.requests, "send, measure" in shown) == ([], True), shown
        before = version_of(store)
        await steps(pilot, "w")
        assert isinstance(app.screen, RepairPreview)
        assert service.requests
        assert "send, measure" not in " ".join(screen_text(app).split())
        assert version_of(store) == before, "measured, not written"


async def test_the_effect_of_an_import_is_measured_only_when_a_person_sends_for_it(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    """No step of an import asks a service before its yes: reading, planning, its cost, its answers."""
    source = tmp_path / "new.jsonl"
    source.write_text(
        "\n".join(json.dumps({"text": f"The joiner calls at {hour} o'clock."}) for hour in (7, 8, 9))
    )
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        service.requests.clear()
        await steps(pilot, "5")
        screen = app.screen
        assert isinstance(screen, TransferScreen)
        screen.run.opened("a", "task:import")
        await settle(pilot)
        screen.put_line(str(source))
        await settle(pilot)
        await steps(pilot, "enter", "n")
        state = screen.run.state
        assert isinstance(state, ImportState)
        assert state.plan is not None, screen_text(app)
        assert service.requests == []
        assert "not known" in screen_text(app)
        before = version_of(store)
        await steps(pilot, "w")
        assert service.requests
        effect = screen.run.state.effect
        assert not isinstance(effect, Exception)
        assert effect.asked
        assert not effect.not_known
        assert version_of(store) == before, "measured, not written"


async def test_a_conversation_is_captured_without_a_request_until_a_person_applies(
    store: Path, tmp_path: Path, service: Loopback
) -> None:
    async with browsing(store, environ={"HOME": str(tmp_path)}) as (app, pilot):
        service.requests.clear()
        screen = await pasted(app, pilot)
        assert screen.state.trace is not None, "decided by rules"
        await steps(pilot, "W")
        await steps(pilot, "escape")
        await steps(pilot, "]", "]", "[", "[")
        assert service.requests == []
        before = version_of(store)
        await steps(pilot, "A")
        assert isinstance(app.screen, ChangePreview), screen_text(app)
        shown = " ".join(screen_text(app).split())
        assert (service.requests, version_of(store)) == ([], before)
        assert "their-model at 127.0.0.1" in shown
        await steps(pilot, "Y")
        assert service.requests, "applied: the vectors are made"
        made = [row for row in rows_of(store).to_pylist() if row["id"] not in IDS]
        assert made
        for each in made:
            assert np.allclose(each["vector"], text_vector(each["text"], 8), atol=1e-5), each["text"]
