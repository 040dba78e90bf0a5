"""The stages on the clock: in order, true to time, never out of their line."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pkgutil import walk_packages

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import duration
from memtui.engine.recall import StageSummary, recipes
from memtui.engine.recall.pipeline import StageSpec
from memtui.engine.recall.recipes.memtui.recipe import SEARCHES, Stage
from memtui.tui.paint.glyphs import ASCII, UNICODE, Glyphs
from memtui.tui.paint.timeline import StageTiming, columns, millis, stage_row, total
from memtui.tui.trace import stages as account
from tests.tui.traces import EMBED, STAGES, made


def painted(width: int = 48, **options: object) -> list[str]:
    laps = account.laps(account.ran(made()), **options)  # type: ignore[arg-type]
    return [stage_row(lap, total(laps), width).plain for lap in laps]


def test_one_row_a_stage_time_from_left_to_right() -> None:
    assert painted() == [
        " embed         ██▏                           9  ",
        " vector          ███▌           267    20   14  ",
        " bm25            ███            267     9   12  ",
        " fusion             ▌            23    23   <1  ",
        " min + window       ▌            23    12   <1  ",
        " rerank             ███████▉     12    12   31  ",
        " length                    █     12    12   <1  ",
        " decay                     █     12    12   <1  ",
        " hard cutoff               █     12     7    0  ",
        " limit                     █      7     6    0  ",
    ]


def test_stages_share_rows_where_there_is_little_room() -> None:
    titles = [row[1:14].strip() for row in painted(merged=True)]
    assert titles == ["embed", "vector", "bm25", "fuse+min", "rerank", "boosts x2", "hard cutoff", "limit"]
    full = account.laps(account.ran(made()))
    merged = account.laps(account.ran(made()), merged=True)
    assert total(merged) == pytest.approx(total(full))
    fuse = next(lap for lap in merged if lap.title == "fuse+min")
    assert (fuse.n_in, fuse.n_out) == (23, 12)


def test_the_bars_follow_each_other_and_end_at_the_end() -> None:
    laps = account.laps(account.ran(made()))
    vector, words = laps[1:3]
    assert vector.start_ms == words.start_ms == laps[0].ms  # both searches begin together
    for before, after in pairwise([*laps[:2], *laps[3:]]):  # what follows them waits for the longer one
        assert after.start_ms == pytest.approx(before.start_ms + before.ms)
    assert total(laps) == pytest.approx(sum(stage.ms for stage in (EMBED, *STAGES)) - words.ms)


def test_stages_still_awaited_come_after_those_that_arrived() -> None:
    laps = account.laps(STAGES[:2], stale=STAGES[2:])
    assert [lap.stale for lap in laps] == [False, False, *[True] * 7]


def test_a_lane_that_was_not_asked_says_so() -> None:
    lane = StageSummary("vector_ranked", "vector", "search", 267, 0, 0.0, params={"via": ""})
    (lap,) = account.laps([lane])
    assert stage_row(lap, 1.0, 48).plain.split() == ["vector", "not", "asked"]


def test_a_stage_with_something_to_say_is_marked_and_an_absent_one_is_not() -> None:
    noted = replace(STAGES[4], note="timeout: no time left to ask, so the cosine blend")
    off = replace(STAGES[5], note="off")
    assert [lap.warn for lap in account.laps([noted, off])] == [True, False]
    assert stage_row(account.laps([noted])[0], 31.0, 48).plain.startswith("!rerank")


@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1, max_size=16
    ),
    st.integers(30, 120),
    st.sampled_from([UNICODE, ASCII]),
)
@settings(max_examples=80, deadline=None)
def test_every_row_is_exactly_as_wide_as_asked_and_shows_a_mark(
    stages: list[tuple[float, int, int]], width: int, glyphs: object
) -> None:
    laps, at = [], 0.0
    for ms, n_in, n_out in stages:
        laps.append(StageTiming("stage 世界", at, ms, n_in, n_out, "$stage-cut"))
        at += ms
    for lap in laps:
        row = stage_row(lap, total(laps), width, glyphs)  # type: ignore[arg-type]
        assert row.cell_length == width
        assert any(block in row.plain for block in glyphs.blocks)  # type: ignore[attr-defined]


def test_the_headings_stand_over_their_columns() -> None:
    head, row = columns(48).plain, painted(48)[1].rstrip()
    assert len(head) == 17
    assert row.endswith("14")
    assert row[-17:].split() == ["267", "20", "14"]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0"),
        (0.2, "<1"),
        (0.96, "1"),
        (14, "14"),
        (998, "998"),
        (1_234, "1.2s"),
        (61_000, "61s"),
        (600_000, "10m"),
    ],
)
def test_durations_take_at_most_four_characters(ms: float, text: str) -> None:
    assert millis(ms) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(0.2, "<1 ms"), (412, "412 ms"), (3_312, "3.3 s"), (600_000, "10 min")]
)
def test_a_duration_by_itself_has_one_unit(ms: float, text: str) -> None:
    assert duration(ms) == text


def every_title() -> dict[str, str]:
    """The title as it is painted of every stage of every recipe, and of those that share a row."""
    found: dict[str, str] = {}
    for module in walk_packages(recipes.__path__, f"{recipes.__name__}."):
        for value in vars(import_module(module.name)).values():
            for each in value if isinstance(value, tuple | list) else [value]:
                if isinstance(each, Stage | StageSpec):
                    summary = StageSummary(each.name, each.title, each.kind, 9, 9, 1.0)
                    found[account.stage_title(summary)] = each.name
    for names, title in account._MERGED:
        found[f"{title} x{len(names)}" if title == "boosts" else title] = names[0]
    others = (*SEARCHES.values(), "embed", "survey", "fetch vectors", "ask reranker")
    return found | dict(zip(others, others, strict=True))


@pytest.mark.parametrize("width", [30, 40, 48, 120])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_no_title_touches_its_bar_and_none_is_cut(width: int, glyphs: Glyphs) -> None:
    titles = every_title()
    assert {"token vectors", "term matching", "adaptive gate", "length"} <= titles.keys()
    for title in (*titles, "a title of many words"):
        lap = StageTiming(title, 0.0, 9.0, 9, 9, "$stage-fuse", warn=True)
        row = stage_row(lap, 9.0, width, glyphs).plain
        bar = row.index(glyphs.blocks[-1])
        assert row[bar - 1] == " ", row
        assert len(row) == width
        assert title not in titles or title in row, f"{title} has no room"
