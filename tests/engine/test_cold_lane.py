"""Documents beside the memories: read from named folders alone, kept up to date, asked within a scope; and grades."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.__main__ import main
from memtui.engine import ConfigError, UsageError, open_engine
from memtui.engine.documents import ColdLane, open_index, plan_grading, read_cold_rules
from tests.conftest import NOW_MS

SECRET = "sk-" + "a1B2" * 8


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for name, text in (
        (
            "steamer/spec.md",
            "# Ports\n\nThe relay listens on 7011.\n\n# Keys\n\n" + f"The key is {SECRET}.\n",
        ),
        ("steamer/notes.md", "# Told in private\n\n[PRIVATE] the relay moves.\n"),
        ("other/plan.md", "# Relay\n\nAnother relay listens on 9000.\n"),
        ("other/決定.md", "# 決定\n\n採用單一資料表。\n"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def lane(tmp_path: Path) -> Iterator[ColdLane]:
    made = ColdLane(tmp_path / "cold.sqlite")
    yield made
    made.close()


def test_what_changed_is_read_and_what_is_private_stays_out(lane: ColdLane, docs: Path) -> None:
    rules = read_cold_rules({"enabled": True, "sourceRoots": [str(docs)]})
    first = lane.ingest(rules)
    assert (first.files_ingested, first.chunks_inserted) == (4, 3)
    assert (first.skipped_private, first.skipped_secret_like) == (1, 1)
    assert not lane.search(SECRET, rules).hits
    assert lane.ingest(rules).chunks_unchanged == 3
    (docs / "other" / "plan.md").write_text("# Relay\n\nThe relay is gone.\n", encoding="utf-8")
    (docs / "other" / "決定.md").unlink()
    again = lane.ingest(rules)
    assert (again.chunks_updated, again.chunks_deleted, again.chunks_unchanged) == (1, 1, 1)


def test_only_named_folders_are_read(lane: ColdLane, docs: Path, tmp_path: Path) -> None:
    rules = read_cold_rules({"sourceRoots": [str(docs / "steamer")]})
    assert lane.ingest(rules, [str(docs / "other")]).skip_reason == "source_roots_not_allowlisted"
    (docs / "steamer" / "way").symlink_to(docs / "other")
    assert lane.ingest(rules, [str(docs / "steamer" / "way")]).skip_reason == "source_roots_not_allowlisted"
    assert lane.ingest(read_cold_rules({})).skip_reason == "source_roots_not_configured"
    told = lane.ingest(read_cold_rules({"sourceRoots": [str(tmp_path / "nowhere")]}))
    assert told.missing_paths
    assert told.skip_reason == "no_matching_markdown"


def test_one_of_a_scope_is_found_under_sixty_of_others(lane: ColdLane, docs: Path) -> None:
    for n in range(60):
        (docs / "other" / f"n{n}.md").write_text(f"# N{n}\n\nrelay relay relay {n}\n", encoding="utf-8")
    rules = read_cold_rules({"enabled": True, "sourceRoots": [str(docs)]})
    lane.ingest(rules)
    answer = lane.search("relay", rules, scope="steamer")
    assert [hit.path for hit in answer.hits] == ["steamer/spec.md"]
    assert answer.pushed == ("steamer",)
    starved = lane.search("relay", rules, scope="nobody")
    assert (starved.hits, starved.scoped) == ((), 0)
    by_path = read_cold_rules({**{"sourceRoots": [str(docs)]}, "scopeMappingStrategy": "path_prefix"})
    told = lane.search("relay", by_path, scope="nobody")
    assert told.raw > 0
    assert told.filtered == told.raw


def test_it_is_asked_only_where_the_memories_are_too_few(lane: ColdLane, docs: Path) -> None:
    rules = read_cold_rules({"enabled": True, "sourceRoots": [str(docs)]})
    lane.ingest(rules)
    assert not lane.consult("relay", rules, scope="global", hot=2).consulted
    thin = lane.consult("relay", rules, scope="global", hot=1)
    assert (thin.trigger, len(thin.hits)) == ("insufficient_hot", 1)
    assert lane.consult("relay", read_cold_rules({}), scope="global", hot=0).trigger == "disabled"
    assert [hit.path for hit in lane.search("單一資料", rules).hits] == ["other/決定.md"]


def test_settings_are_clamped_and_unknown_ones_named() -> None:
    rules = read_cold_rules({"maxItems": 99, "maxChunkChars": 5, "minHotItems": "many"})
    assert (rules.max_items, rules.max_chunk_chars, rules.min_hot_items) == (5, 200, 2)
    with pytest.raises(ConfigError, match="maxItem "):
        read_cold_rules({"maxItem": 1})


def test_sessions_are_indexed_by_the_lines_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    said = {"role": "user", "content": f"The relay moved. My API_TOKEN={SECRET}"}
    (tmp_path / "a.jsonl").write_text(
        '{"type": "session"}\nbroken\n' + json.dumps({"type": "message", "message": said}), encoding="utf-8"
    )
    index = open_index(tmp_path / "ws", tmp_path / "i.sqlite", words_only=True, sessions=tmp_path)
    try:
        assert index.sync().chunks == 1
        (hit,) = index._best_by_words(['"relay"'], 5)
        assert index.sync().unchanged == 1
    finally:
        index.close()
    assert (hit.path, hit.start_line, hit.end_line) == ("sessions/a.jsonl", 3, 3)
    assert SECRET not in hit.snippet


def test_grades_are_filled_in_only_unless_a_field_is_named_and_can_be_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "store"

    def call(*words: str) -> None:
        assert main(list(words)) == 0

    call("new", str(folder))
    call("add", "Lovely weather over the valley", "--store", str(folder), "--yes")
    with open_engine(folder, writable=True, now=lambda: NOW_MS, environ={}, cwd=tmp_path) as engine:
        engine.load_catalog()
        assert plan_grading(engine, "").changes is None
        made = plan_grading(engine, "", forced=("importance",))
        assert made.receipt["overwrittenFields"] == ["importance"]
        assert made.rows[0].grade.score == 0.3
        with pytest.raises(UsageError, match="scope is no field"):
            plan_grading(engine, "", forced=("scope",))
    call("grade", "--force", "importance", "--yes", "--store", str(folder))
    with open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path) as engine:
        (id,) = engine.memories([made.rows[0].id])
        assert engine.memories([id])[id].importance == 0.3
    call("undo", "--yes", "--store", str(folder))
    with open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path) as engine:
        assert engine.memories([id])[id].importance == 0.7
