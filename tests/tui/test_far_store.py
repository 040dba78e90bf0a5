"""The app on a store far away: a first page at once, the rest behind it with its megabytes, no key lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from memtui.engine.cases import CaseBook
from memtui.engine.cases.case import Case
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.store import far_vectors, vector_matrix
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.paths import store_state_dir
from memtui.settings import load_settings
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.no_store import of_session
from memtui.tui.screens.browse.edit_form import EditForm
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.whatif.screen import WhatIfScreen
from memtui.tui.startup.open_store import opener
from tests.conftest import NOW_MS
from tests.engine.counting_proxy import CountingProxy, counting_proxy
from tests.engine.object_storage import BUCKET, object_service, options, rows, settings_text
from tests.tui.driving import EACH_SIZE, lines, press, screen_text, settle, type_text, until

MANY = 20_000


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/team", rows(MANY), options(endpoint))
        yield endpoint


@pytest.fixture
def proxy(service: str) -> Iterator[CountingProxy]:
    with counting_proxy(service) as found:
        yield found


def far_app(
    proxy: CountingProxy, home: Path, *, writable: bool = False, name: str = "team", more: str = ""
) -> MemtuiApp:
    file = home / "config.toml"
    text = settings_text(proxy.endpoint).replace(f"{BUCKET}/team", f"{BUCKET}/{name}") + more
    file.write_text(text, encoding="utf-8")
    environ = {
        "HOME": str(home),
        "MEMTUI_GLYPHS": "unicode",
        "TEAM_KEY": "someone",
        "TEAM_SECRET": "something",
    }
    settings = load_settings(file, environ)
    return MemtuiApp(
        "team",
        opener=opener(environ, home, settings=settings, writable=writable),
        now=lambda: NOW_MS,
        environ=environ,
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", EACH_SIZE)
async def test_what_was_written_last_is_there_before_the_rest(
    proxy: CountingProxy, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = far_app(proxy, tmp_path)
    proxy.held = threading.Event()
    async with app.run_test(size=size) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: f"gauge {MANY - 1} of the weir" in screen_text(app))
        assert app.session.early
        await pilot.press("j", "j", "j")
        await until(pilot, lambda: "4 / 50" in screen_text(app))
        assert "written last" in screen_text(app)
        listing = app.screen.query_one(MemoryList)
        held = listing.current
        assert held is not None
        proxy.held.set()
        await settle(pilot)
        assert not app.session.early
        assert f"4 / {MANY:,}" in screen_text(app)
        assert listing.current == held
        assert "written last" not in screen_text(app)


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_the_first_frame_says_what_is_opened_and_what_it_waits_for(
    proxy: CountingProxy, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = far_app(proxy, tmp_path)
    first = of_session(app.session)
    assert first is not None
    assert (first.kind, first.headline) == ("loading", f"opening s3://{BUCKET}/team")
    proxy.held, proxy.least = threading.Event(), -1
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: proxy.waiting > 0)
        assert f"opening s3://{BUCKET}/team" in screen_text(app)
        assert "the service to say which version" in screen_text(app)
        assert "demo" not in screen_text(app)
        proxy.held.set()
        await settle(pilot)
        assert app.session.info is not None
        assert app.session.info.rows == MANY


async def test_keys_that_come_before_the_rest_are_not_lost(proxy: CountingProxy, tmp_path: Path) -> None:
    app = far_app(proxy, tmp_path)
    proxy.held = threading.Event()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: f"gauge {MANY - 1} of the weir" in screen_text(app))
        await pilot.press("slash", *"cat", "colon", *"fact", "enter", "G")
        proxy.held.set()
        await settle(pilot)
        assert f"{MANY:,} / {MANY:,}" in screen_text(app)
        assert "cat:fact" in lines(app)[1]


@pytest.mark.slow
async def test_when_the_rest_does_not_come_it_is_said_and_can_be_had_later(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    """Each request fails at once: three more tries of each would take a third of a minute."""
    app = far_app(proxy, tmp_path, more="client_max_retries = 0\n")
    proxy.held = threading.Event()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: f"gauge {MANY - 1} of the weir" in screen_text(app))
        proxy.failing = 1.0
        proxy.held.set()
        await settle(pilot)
        assert app.session.early
        assert "r reads the rest" in screen_text(app)
        proxy.failing = 0.0
        await press(pilot, "r")
        assert app.screen.query_one(MemoryList).total == MANY
        assert not app.session.early


def held_texts(service: str, name: str) -> Counter[str]:
    """The texts of a store, read without the proxy."""
    store = open_store(f"s3://{BUCKET}/{name}", storage_options=options(service))
    return Counter(text for batch in store.scan(["text"]) for text in batch.column("text").to_pylist())


def embedded(count: int) -> pa.Table:
    """So many memories with vectors of the bundled model."""
    model, table = bundled(), rows(count)
    vectors = model.embed_passages(table.column("text").to_pylist())
    table = table.drop_columns(["vector"]).append_column(
        "vector", pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), model.dims)
    )
    schema = own_schema(model.dims)
    return table.select(schema.names).cast(schema)


@pytest.mark.parametrize("size", EACH_SIZE)
async def test_what_a_question_fetches_is_shown_while_it_is_asked_and_can_be_stopped(
    service: str, proxy: CountingProxy, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far_vectors, "FAR_VECTORS", 100)
    create_own(f"s3://{BUCKET}/asked{size[0]}", embedded(300), options(service))
    app = far_app(proxy, tmp_path, name=f"asked{size[0]}")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        proxy.held = threading.Event()
        await pilot.press(*"weir", "enter")
        await until(pilot, lambda: "fetching 300 vectors" in screen_text(app))
        assert "esc" in screen_text(app)
        await pilot.press("escape")
        proxy.held.set()
        await settle(pilot)
        assert "fetching 300 vectors" not in screen_text(app)


@pytest.mark.slow
@pytest.mark.parametrize("size", EACH_SIZE)
@pytest.mark.parametrize("place", ["compare", "cases", "what if"])
async def test_every_place_that_asks_says_what_it_fetches_and_can_be_stopped(
    service: str,
    proxy: CountingProxy,
    tmp_path: Path,
    size: tuple[int, int],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a store whose vectors are too large to be kept: each search fetches them."""
    name = f"{place.replace(' ', '')}{size[0]}"
    create_own(f"s3://{BUCKET}/{name}", embedded(300), options(service))
    app = far_app(proxy, tmp_path, name=name)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, "3")
        await pilot.press(*"weir", "enter")
        await settle(pilot)
        engine = app.session.engine
        assert engine is not None
        if place == "cases":
            book = CaseBook(store_state_dir(engine.info.uri) / "cases.json")
            book.put(Case("one", "gauge of the weir", ("no-such-memory",)))
            await press(pilot, "T")
        elif place == "what if":
            await press(pilot, "p")
        monkeypatch.setattr(far_vectors, "FAR_VECTORS", 100)
        monkeypatch.setattr(vector_matrix, "MOST_BYTES", 1_000)
        engine.store.writer().commit(None, embedded(1), [])
        engine.refresh()
        if place == "what if":  # another version is searched anew
            assert isinstance(app.screen, WhatIfScreen)
            app.screen.tried(replace(app.screen.state, tried={"table_version": engine.store.version}))
        proxy.held = threading.Event()
        await pilot.press(*{"compare": ["equals_sign", "e", "1"], "cases": ["R"], "what if": []}[place])
        await until(pilot, lambda: "fetching 301 vectors" in screen_text(app))
        assert place == "what if" or "esc" in screen_text(app)
        await pilot.press("escape")
        proxy.held.set()
        await settle(pilot)
        assert "fetching 301 vectors" not in screen_text(app)


@pytest.mark.slow
async def test_edit_import_and_undo_over_a_slow_and_unsteady_way(
    service: str, proxy: CountingProxy, tmp_path: Path
) -> None:
    """Every request 20 ms late, one in a hundred refused, one in two hundred cut off in its middle."""
    create_own(f"s3://{BUCKET}/worn", embedded(300), options(service))
    before = held_texts(service, "worn")
    notes = [
        "The kiln is fired on Mondays.",
        "The seal of the kiln is spare part 90.",
        "Glaze dries for a day.",
    ]
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n" + "".join(f"- {each}\n" for each in notes), "utf-8")
    proxy.delay_s, proxy.failing, proxy.cutting = 0.02, 0.01, 0.005
    app = far_app(proxy, tmp_path, writable=True, name="worn")
    async with app.run_test(size=(120, 36)) as pilot:
        await press(pilot, "2")
        await press(pilot, "e")
        assert isinstance(app.screen, EditForm)
        await type_text(pilot, "Now ")
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, ChangePreview)
        await press(pilot, "enter")
        assert "1 memory changed (entry 1)" in screen_text(app)
        assert held_texts(service, "worn") == before - Counter(["gauge 299 of the weir"]) + Counter(
            ["Now gauge 299 of the weir"]
        )
        await press(pilot, "u")
        await press(pilot, "enter")
        assert held_texts(service, "worn") == before
        await press(pilot, "5", "enter")
        await type_text(pilot, str(tmp_path / "MEMORY.md"))
        await press(pilot, "enter")
        await press(pilot, "n")
        await press(pilot, "n")
        assert "added        3 memories" in screen_text(app), screen_text(app)
        await press(pilot, "y")
        assert held_texts(service, "worn") == before + Counter(notes)
        await press(pilot, "u")
        await press(pilot, "enter")
        if isinstance(app.screen, ChangePreview):  # so many deletions are confirmed by their number
            await type_text(pilot, str(len(notes)))
            await press(pilot, "enter")
        assert held_texts(service, "worn") == before
        await press(pilot, "6")
        assert "import" in screen_text(app)
    assert proxy.refused, "nothing was refused"
