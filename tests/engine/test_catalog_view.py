"""Lists over the recorded store: filters, scopes, facets, words, pages, and finding one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.text_search import TextLookup
from memtui.engine.catalog.types import ListQuery, ListView
from memtui.engine.catalog.views import find_one, make_view, page_of
from memtui.engine.core.errors import Cancelled, UsageError
from memtui.engine.core.memory import Memory
from memtui.engine.core.progress import CancelToken
from memtui.engine.dialects.base import unusable
from memtui.engine.health.vector_pass import VectorTally
from memtui.engine.query.errors import FilterError, NotReadyError
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
from tests.engine.tables import pro_row, uuid, write_table

Unpack = Callable[[Path], Path]


class World:
    """A store with its catalog and all its memories in catalog order."""

    def __init__(self, folder: Path) -> None:
        self.store: Store = open_store(folder)
        self.bare: Catalog = build_catalog(self.store)
        self.catalog: Catalog = read_metadata(self.store, self.bare)
        self.rows: list[Memory] = self.page(self.view(""), 0, 10_000)

    def view(self, text: str, **query: Any) -> ListView:
        return make_view(self.store, self.catalog, ListQuery(text, **query), now_ms=NOW_MS)

    def page(self, view: ListView, offset: int, limit: int) -> list[Memory]:
        return page_of(self.store, view, offset, limit, now_ms=NOW_MS)

    def ids(self, text: str, **query: Any) -> list[str]:
        return [memory.id for memory in self.page(self.view(text, **query), 0, 10_000)]


@pytest.fixture(scope="module")
def peer(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    import tarfile

    target = tmp_path_factory.mktemp("peer")
    with tarfile.open(shared / "fixtures/peer/store-clean.tar.gz") as tar:
        tar.extractall(target, filter="data")
    return World(target / "store-clean")


def test_the_default_list_is_the_peers_own(peer: World, shared: Path) -> None:
    lists = json.loads((shared / "fixtures/peer/functions.json").read_text())["store"]["list"]
    rows = {row.id: row for row in peer.rows}
    checked = 0
    for each in lists:
        scopes, wanted = each["scope_filter"], each["ids"]
        if each["category"] is not None or scopes == []:
            continue
        view = peer.view("", scopes=None if scopes is None else tuple(scopes))
        page = peer.page(view, each["offset"], each["limit"])
        times = [memory.timestamp_ms for memory in page]
        assert times == [rows[row_id].timestamp_ms for row_id in wanted]
        if len(set(times)) == len(times):
            assert [memory.id for memory in page] == wanted
            checked += 1
    assert checked >= 2


def test_pages_are_cuts_of_the_whole_list(peer: World) -> None:
    view = peer.view("", sort="-importance")
    whole = [memory.id for memory in peer.page(view, 0, 10_000)]
    assert view.total == len(whole) == len(set(whole)) == 267
    for offset in (0, 1, 130, 250, 266, 267, 10_000):
        assert [memory.id for memory in peer.page(view, offset, 50)] == whole[offset : offset + 50]
    assert peer.page(view, 10, 0) == []
    with pytest.raises(UsageError):
        peer.page(view, -1, 5)


FILTERS: dict[str, Callable[[Memory], bool]] = {
    "tier:core": lambda m: m.tier == "core",
    "-tier:core": lambda m: m.tier != "core",
    "scope:project:*": lambda m: (m.scope or "").startswith("project:"),
    "tier:core scope:project:* imp>=0.8": lambda m: (
        m.tier == "core" and (m.scope or "").startswith("project:") and (m.importance or 0) >= 0.8
    ),
    "used>=3 | state:archived": lambda m: (m.access_count or 0) >= 3 or m.state == "archived",
    "is:expired": lambda m: m.expired,
    "-is:active": lambda m: not m.active,
    "is:invalid-metadata": lambda m: not m.metadata_valid,
    "source:auto-capture": lambda m: m.source == "auto-capture",
    "has:links": lambda m: bool(m.supersedes or m.superseded_by),
    "cat:fact": lambda m: m.category == "fact",
    "cat:profile": lambda m: m.memory_category == "profile",
    '"postgres"': lambda m: "postgres" in m.raw_text.lower(),
    r"/port\s\d+/": lambda m: re.search(r"port\s\d+", m.raw_text, re.IGNORECASE) is not None,
}


@pytest.mark.parametrize("text", FILTERS)
def test_filters_keep_what_they_say(peer: World, text: str) -> None:
    expected = [memory.id for memory in peer.rows if FILTERS[text](memory)]
    assert peer.ids(text) == expected
    assert peer.view(text).total == len(expected)
    assert 0 < len(expected) < 267


def test_facets_count_the_view_and_scopes_count_the_filter(peer: World) -> None:
    view = peer.view("tier:core", scopes=("project:atlas", "global"))
    shown = peer.page(view, 0, 300)
    assert {memory.scope for memory in shown} == {"project:atlas", "global"}
    assert dict(view.facets.categories) == Counter(memory.category for memory in shown)
    assert dict(view.facets.tiers) == {"core": len(shown)}
    core = [memory for memory in peer.rows if memory.tier == "core"]
    assert dict(view.facets.scopes) == Counter(memory.scope for memory in core)
    assert (view.total, view.table_total, view.version) == (len(shown), 267, peer.store.version)


def test_a_filter_that_needs_metadata_waits_for_it(peer: World) -> None:
    with pytest.raises(NotReadyError):
        make_view(peer.store, peer.bare, ListQuery("tier:core"), now_ms=NOW_MS)
    early = make_view(peer.store, peer.bare, ListQuery("scope:global", sort="-tier"), now_ms=NOW_MS)
    assert "tiers" in early.pending
    assert early.facets.tiers == ()
    page = page_of(peer.store, early, 0, 100, now_ms=NOW_MS)
    assert [memory.id for memory in page] == peer.ids("scope:global")
    assert page[0].tier
    assert peer.view("scope:global").pending == ""


def test_a_wrong_filter_is_an_error_with_its_place(peer: World) -> None:
    for text in ("colour:red", "tier:gold", "age<", "/[/", "/(?=x)/", "/a{1000}{1000}{1000}/"):
        with pytest.raises(FilterError) as caught:
            peer.view(text)
        assert caught.value.span.end > caught.value.span.start, text


def test_a_cancelled_view(peer: World) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        make_view(peer.store, peer.catalog, ListQuery("is:noise"), now_ms=NOW_MS, cancel=token)


def test_words_use_the_index_and_fall_back_to_the_text(peer: World) -> None:
    lookup = TextLookup(peer.store, peer.catalog)
    stemmed = {peer.rows[at].id for at in lookup.words("deployments")}
    assert len(stemmed) > len({memory.id for memory in peer.rows if "deployments" in memory.raw_text.lower()})
    for term in ("the", "天", "values-staging.yaml", "100%", "_", "'"):
        found = {peer.rows[at].id for at in lookup.words(term)}
        assert found == {memory.id for memory in peer.rows if term.lower() in memory.raw_text.lower()}, term
    assert len(lookup.words("  ")) == 267


@pytest.mark.parametrize("name", ["stores/builtin-new", "stores/damaged/pro-index-missing"])
def test_words_without_a_usable_index_are_read_from_the_text(shared: Path, unpack: Unpack, name: str) -> None:
    world = World(unpack(shared / f"fixtures/{name}.tar.gz"))
    term = world.rows[0].raw_text.split()[1].strip(".,;:")
    found = {world.rows[at].id for at in TextLookup(world.store, world.catalog).words(term)}
    assert found == {memory.id for memory in world.rows if term.lower() in memory.raw_text.lower()} != set()


def test_facts_that_need_the_table(tmp_path: Path) -> None:
    vectors: list[Any] = [[1.0, 0.0], None, [0.0, 0.0], [0.0, 1.0]]
    texts = ["same words", " same words ", "hi there", "other words entirely"]
    write_table(tmp_path, [pro_row(n, text=texts[n], vector=vectors[n]) for n in range(4)])
    world = World(tmp_path)
    assert set(world.ids("is:duplicate")) == {uuid(0), uuid(1)}
    assert set(world.ids("is:zero-vector")) == {uuid(1), uuid(2)}
    assert set(world.ids("has:vector")) == {uuid(0), uuid(3)}
    assert set(world.ids("is:noise")) == {uuid(2)}


def test_a_list_and_the_doctor_count_the_same_vectors_as_unusable() -> None:
    nan, inf = float("nan"), float("inf")
    bad: list[Any] = [None, [0.0, 0.0], [nan, 1.0], [1.0, inf], [-inf, nan], [None, 1.0], [1e-9, 0.0]]
    vectors = pa.array([*bad, [1.0, 0.0], [0.0, -1.0], [1e30, 1e30]], pa.list_(pa.float32(), 2))
    assert unusable(vectors).tolist() == [True] * len(bad) + [False] * 3
    tally = VectorTally(2)
    tally.take_column(vectors, np.arange(len(vectors), dtype=np.uint64))
    seen = tally.done()
    assert sorted([*seen.null, *seen.not_finite, *seen.zero]) == list(range(len(bad)))


def test_finding_one(peer: World) -> None:
    some = peer.rows[17]
    for wanted in (some.id, some.id[:8], some.id[:8].upper(), some.id.replace("-", ""), f" {some.id} "):
        assert find_one(peer.store, peer.catalog, wanted, now_ms=NOW_MS) == some
    corpus = next(memory for memory in peer.rows if memory.id.startswith("corpus:"))
    assert find_one(peer.store, peer.catalog, corpus.id[:20], now_ms=NOW_MS).id == corpus.id


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("zzzzzzzz", "No memory has the id"),
        ("", "No memory"),
        ("corpus:", "too short"),
        ("corpus:?", "No memory"),
    ],
)
def test_an_id_that_is_not_there(peer: World, wanted: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        find_one(peer.store, peer.catalog, wanted, now_ms=NOW_MS)
    assert caught.value.fix


def test_several_ids_are_listed_and_a_doubled_id_is_one(tmp_path: Path) -> None:
    near = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"]
    rows = [pro_row(n, id=each) for n, each in enumerate(near)]
    rows.append(pro_row(3, id=near[0], text="newer", timestamp=1.79e12))
    write_table(tmp_path, rows)
    world = World(tmp_path)
    with pytest.raises(UsageError, match="Several ids") as caught:
        find_one(world.store, world.catalog, "aaaaaaaa", now_ms=NOW_MS)
    assert all(each in caught.value.message for each in near)
    assert find_one(world.store, world.catalog, near[0], now_ms=NOW_MS).text == "newer"
