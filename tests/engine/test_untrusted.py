"""Memories of which the host says that they came from untrusted content: filtered, counted, told."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import ListQuery, open_engine
from memtui.engine.core.origin import is_untrusted
from tests.engine import planted_faults as planted
from tests.engine.curate_world import engine_at
from tests.engine.openclaw_homes import AFTER_MS, unpack_home
from tests.engine.planted_faults import key_of, memory


@pytest.mark.parametrize(
    ("columns", "metadata", "said"),
    [
        ({"trust_tier": "untrusted"}, {}, True),
        ({"trust_tier": "Quarantined "}, {}, True),
        ({"trust_tier": "trusted"}, {}, False),
        ({"origin_class": "untrusted"}, {}, True),
        ({"origin_class": "owner"}, {"note": "untrusted"}, False),
        ({}, {"originClass": "untrusted"}, True),
        ({}, {"provenance": {"originClass": "untrusted"}}, True),
        ({}, {"untrusted": True}, True),
        ({}, {"untrusted": "the word"}, False),
        ({}, {"source": "untrusted sources are refused"}, False),
    ],
)
def test_only_what_the_host_says_counts(
    columns: dict[str, str], metadata: dict[str, object], said: bool
) -> None:
    assert is_untrusted(columns, metadata) is said


def test_a_filter_and_a_count(tmp_path: Path) -> None:
    folder = planted.sound(tmp_path / "lancedb-pro", 10)
    planted.add(
        folder,
        [memory(100, metadata={"origin_class": "untrusted"}), memory(101, metadata={"a": "untrusted"})],
    )
    engine = engine_at(folder)
    engine.load_catalog()
    engine.load_metadata()
    found = engine.page(engine.view(ListQuery("is:untrusted")), 0, 10)
    assert [each.id for each in found] == [key_of(100)]
    assert found[0].untrusted
    told = [each for each in engine.stats().findings if each.filter == "is:untrusted"]
    assert [(each.count, each.severity) for each in told] == [(1, "info")]


def test_an_index_of_the_host_says_who_wrote_each_chunk(shared: Path, tmp_path: Path) -> None:
    home = unpack_home(shared, "core", tmp_path)
    database = next(home.path.glob("**/agents/main/agent/openclaw-agent.sqlite"))
    engine = open_engine(database, now=lambda: AFTER_MS, environ=home.environ, cwd=home.path)
    found = engine.page(engine.view(ListQuery("is:untrusted")), 0, 50)
    assert found
    assert all(each.extra["origin_class"] == "untrusted" for each in found)
    others = engine.page(engine.view(ListQuery("-is:untrusted")), 0, 50)
    assert not any(each.extra["origin_class"] == "untrusted" for each in others)
