"""Statistics: counts that add up, and findings whose filter lists exactly their rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.types import Finding, ListQuery, Stats
from memtui.engine.catalog.views import make_view
from memtui.engine.health.store_findings import make_stats
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS
from tests.engine.tables import pro_row, write_table

Unpack = Callable[[Path], Path]
DAY = 86_400_000
EXPECTED = {
    "stores/damaged/pro-null-scope-vector": {
        "memories without a scope": 4,
        "memory with a blank scope": 1,
        "memory with a padded scope": 1,
        "memories without a usable vector": 3,
        "memories outside the full-text index": 14,
    },
    "stores/damaged/pro-seconds": {
        "memories with a time in seconds": 6,
        "memories without a time": 3,
        "memory from the future": 1,
    },
    "stores/damaged/pro-duplicate-ids": {"memories that share an id with another": 7},
    "stores/damaged/builtin-old-duplicate-ids": {"memories that share an id with another": 7},
    "stores/damaged/pro-bad-metadata": {
        "memories with broken metadata": 7,
        "memory archived": 1,
    },
    "stores/damaged/pro-on-builtin": {"memories whose time memory-lancedb-pro does not see": 27},
    "stores/damaged/pro-sentinel": {"sentinel row left behind": 1},
    "stores/damaged/builtin-new-null-agent": {"memories without an agent": 4},
    "stores/damaged/builtin-old-seconds": {"memories with a time in seconds": 9, "memory without a time": 1},
    "stores/damaged/pro-index-missing": {"full-text index whose files are missing": 1},
    "stores/engine": {"memories without a usable vector": 3, "memories with a time in seconds": 4},
    "peer/store-lived": {
        "memories outside the full-text index": 14,
        "memories replaced": 4,
        "memories expired": 5,
        "memories archived": 3,
        "memory pending": 1,
    },
    "stores/builtin-new": {},
}


def stats_of(folder: Path, now_ms: int = NOW_MS) -> tuple[Stats, Callable[[Finding], int]]:
    store = open_store(folder)
    catalog = read_metadata(store, build_catalog(store))
    return (
        make_stats(store, catalog, now_ms=now_ms),
        lambda finding: make_view(store, catalog, ListQuery(finding.filter), now_ms=now_ms).total,
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_findings_and_the_filters_that_list_them(shared: Path, unpack: Unpack, name: str) -> None:
    stats, listed = stats_of(unpack(shared / f"fixtures/{name}.tar.gz"))
    found = {finding.title: finding.count for finding in stats.findings}
    assert EXPECTED[name].items() <= found.items()
    if not EXPECTED[name]:
        assert found == {}
    for finding in stats.findings:
        assert finding.remedy
        if finding.filter:
            assert listed(finding) == finding.count, finding
    severities = [finding.severity for finding in stats.findings]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)


def test_counts_of_the_peer(shared: Path, unpack: Unpack) -> None:
    rows = [json.loads(line) for line in (shared / "fixtures/peer/memories.jsonl").read_text().splitlines()]
    recorded = json.loads((shared / "fixtures/peer/functions.json").read_text())["rows"]
    stats, _ = stats_of(unpack(shared / "fixtures/peer/store-clean.tar.gz"))
    assert stats.rows == 267
    assert dict(stats.scopes) == Counter(row["scope"] for row in rows)
    assert dict(stats.categories) == Counter(row["category"] for row in rows)
    assert dict(stats.tiers) == Counter(row["meta"]["tier"] for row in recorded)
    assert dict(stats.states) == Counter(row["meta"]["state"] for row in recorded)
    assert dict(stats.memory_categories) == Counter(row["meta"]["memory_category"] for row in recorded)
    times = [row["memory"]["createdAt"] for row in recorded]
    known = [time for time in times if 0 < time <= NOW_MS]
    assert (stats.oldest_ms, stats.newest_ms) == (min(known), max(known))
    assert stats.added_7d == sum(time > NOW_MS - 7 * DAY for time in known)
    assert stats.pending == ""


def test_days(tmp_path: Path) -> None:
    midnight = NOW_MS // DAY * DAY
    times = {
        "today": midnight,
        "yesterday": midnight - 1,
        "first": midnight - 89 * DAY,
        "too old": midnight - 89 * DAY - 1,
    }
    rows = [
        pro_row(n, timestamp=float(time), metadata='{"tier":"core"}' if name == "first" else "{}")
        for n, (name, time) in enumerate(times.items())
    ]
    rows += [pro_row(10, timestamp=float(NOW_MS + DAY)), pro_row(11, timestamp=0.0)]
    write_table(tmp_path, rows)
    stats, _ = stats_of(tmp_path)
    expected = [0] * 90
    expected[0] = expected[88] = expected[89] = 1
    assert list(stats.daily) == expected
    by_tier = dict(stats.daily_by_tier)
    assert list(by_tier) == ["core", "working", "peripheral"]
    assert (by_tier["core"][0], by_tier["working"][88], sum(by_tier["peripheral"])) == (1, 1, 0)
    assert stats.added_7d == 2
    assert (stats.oldest_ms, stats.newest_ms) == (times["too old"], midnight)


def test_stranded_scopes_and_odd_ones_in_a_filter(tmp_path: Path) -> None:
    scopes = ["global", "agent:main", "project:a b", "reflection:agent:x", "work", 'a "b", (c) | d', "*"]
    write_table(tmp_path, [pro_row(n, scope=scope) for n, scope in enumerate(scopes)])
    stats, listed = stats_of(tmp_path)
    (finding,) = stats.findings
    assert (finding.severity, finding.count, listed(finding)) == ("warning", 3, 3)


def test_before_metadata_is_read_the_numbers_say_what_they_leave_out(tmp_path: Path) -> None:
    write_table(tmp_path, [pro_row(1)])
    store = open_store(tmp_path)
    stats = make_stats(store, build_catalog(store), now_ms=NOW_MS)
    assert "still being read" in stats.pending
    assert (stats.tiers, stats.states, stats.daily_by_tier) == ((), (), ())


def test_stats_are_plain_values(shared: Path, unpack: Unpack) -> None:
    for name in ("peer/store-lived", "stores/engine", "stores/damaged/builtin-old-zero-rows"):
        stats, _ = stats_of(unpack(shared / f"fixtures/{name}.tar.gz"))
        assert json.loads(json.dumps(asdict(stats)))["rows"] == stats.rows
