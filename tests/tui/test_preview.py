"""What a preview says: words in place of ids, the answers before and now, and the lines that both get."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from memtui.engine.changes import AnswerChange, AnswerRow, ChangeSet, RecallEffect
from memtui.engine.changes.change_set import Change
from memtui.tui.dialogs.answer_effect_view import BESIDE, answer_lines, effect_lines, scopes_words, shares
from memtui.tui.dialogs.change_preview import EffectRows
from memtui.tui.dialogs.change_preview_view import change_lines, field_lines, plan_rows, value_words, would
from memtui.tui.paint.difference import difference, one_side, own_words
from memtui.tui.paint.glyphs import ASCII, UNICODE
from tests.tui.driving import press, settle
from tests.tui.test_locked import locked, play

KEPT = "8014a48f-1d7c-57bc-bf83-0c8dc9cf7970"

GONE = "23b7c500-c313-5029-ac7a-5cef2f69cb78"

NAMES = {KEPT: "Run the linter before every push", GONE: "Lint first, then push"}


def plain(lines):
    return "\n".join(line.plain for line in lines)


def test_words_that_take_each_others_place_stand_apart_and_differ_without_colour():
    line = difference("port 2222 is open", "port 8443 is open", UNICODE)
    assert line.plain == "port 2222 8443 is open"
    styles = {line.plain[span.start : span.end]: str(span.style) for span in line.spans}
    assert "strike" in styles["2222"]
    assert "underline" in styles["8443"]
    assert difference("port 2222", "port 8443", ASCII).plain == "port [-2222-]{+8443+}"


def test_one_side_of_a_difference_is_shifted_to_its_first_word():
    before = "since the audit of last spring the jump host of the office answers on 2222"
    line = one_side(before, before.replace("2222", "8443"), "new", 30, UNICODE)
    assert line.cell_length <= 30
    assert "8443" in line.plain
    assert "2222" not in line.plain


@pytest.mark.parametrize("width", [60, 78, 118, 138])
def test_a_merge_speaks_of_memories_and_never_prints_an_id_or_a_list_of_relations(width):
    survivor = Change(
        KEPT,
        "edit",
        {"relations": None, "supersedes": None, "confidence": 0.76},
        {"relations": [{"type": "supersedes", "targetId": GONE}], "supersedes": GONE, "confidence": 0.84},
        NAMES[KEPT],
        "kept",
    )
    loser = Change(
        GONE,
        "edit",
        {"superseded_by": None, "canonical_id": None, "relations": None},
        {
            "superseded_by": KEPT,
            "canonical_id": KEPT,
            "relations": [{"type": "superseded_by", "targetId": KEPT}],
        },
        NAMES[GONE],
        f"merged into {KEPT}",
    )
    text = plain(change_lines(survivor, width, UNICODE, names=NAMES))
    assert "replaces" in text
    assert text.count(NAMES[GONE][:20]) == 1
    told = plain(change_lines(loser, width, UNICODE, names=NAMES))
    assert told.count("replaced by") == 1
    assert all(word in told for word in NAMES[GONE].split())
    for lines in (text, told):
        assert "{" not in lines
        assert KEPT not in lines
        assert GONE not in lines
        assert max(len(line) for line in lines.split("\n")) <= width


def test_a_loser_of_a_merge_is_read_whole_where_it_stands_alone():
    words = " ".join(f"word{n}" for n in range(120))
    change = Change(GONE, "delete", {"text": words, "scope": "global"}, {}, words, f"merged into {KEPT}")
    told = plain(change_lines(change, 78, UNICODE, most=0))
    assert all(f"word{n}" in told for n in range(120))


def row(id, old, new, before, after, **more):
    return AnswerRow(id, old, new, before, after, **more)


@pytest.mark.parametrize("width", [78, 104, 138])
def test_the_answer_before_stands_beside_the_answer_now(width):
    change = AnswerChange(
        "which port?",
        True,
        ("a", "b"),
        ("c", "b"),
        (),
        rows=(
            row("c", None, 1, "", "the port is 48022", score_after=0.91),
            row(
                "b", 2, 2, "bastion-1 is the host", "bastion-1 is the host", score_before=0.7, score_after=0.7
            ),
            row("a", 1, None, "the port is 2222", "", score_before=0.83),
        ),
        agent="main",
    )
    lines = answer_lines(change, width, UNICODE)
    text = plain(lines)
    first = next(line.plain for line in lines if line.plain.startswith("  1 "))
    assert first.index("2222") < first.index(".830") < first.index("48022") < first.index(".910")
    assert first.rstrip().endswith("new")
    assert "case, main" in text
    assert all(line.cell_length <= width for line in lines)


def test_the_lines_of_both_parts_fill_the_room_and_the_effect_has_half_of_it():
    assert shares(5, 7, 20) == (5, 7)
    assert shares(40, 30, 20) == (10, 10)
    assert shares(40, 4, 20) == (16, 4)
    assert shares(4, 40, 20) == (4, 16)


def plan_of(*changes, title="3 memories merged into one"):
    return ChangeSet("merge", title, tuple(changes), 1)


def said_of(plan, width=100, **more):
    return "\n".join(line.plain for row in plan_rows(plan, (), width, UNICODE, **more) for line in row.lines)


@pytest.mark.parametrize("width", [78, 118])
def test_a_link_that_goes_is_told_in_the_words_of_the_other_memory_not_as_the_list_it_stands_in(width):
    link = [{"type": "supersedes", "targetId": GONE}]
    change = Change(
        KEPT, "edit", {"relations": link, "supersedes": GONE}, {"relations": None, "supersedes": None}, "Lint"
    )
    told = said_of(plan_of(change), width, names={GONE: NAMES[GONE]})
    assert told.count(f"no longer replaces  {NAMES[GONE]}") == 1
    unknown = said_of(plan_of(change), width)
    assert f"no longer replaces  {GONE[:8]}" in unknown
    for text in (told, unknown):
        assert "{" not in text
        assert GONE not in text
        assert "relations" not in text


def test_other_links_than_to_memories_and_other_objects_are_words_too():
    assert value_words([{"type": "mentions", "targetId": GONE}]) == f"mentions, {GONE[:8]}"
    assert value_words({"by": "ops", "turns": [1, 2]}) == "by ops, turns 1, 2"
    assert value_words([]) == "(empty)"
    assert value_words(f"see {GONE}") == f"see {GONE[:8]}"


def test_what_happens_to_several_memories_in_the_same_way_is_said_once():
    then = {"invalidated_at": 1_790_000_000_000, "state": "archived"}
    before = {"invalidated_at": None, "state": "confirmed"}
    losers = [Change(f"{n}" * 8, "edit", before, then, f"loser {n}") for n in range(3)]
    first = Change(KEPT, "edit", {"importance": 0.5}, {"importance": 0.9}, "survivor")
    told = said_of(plan_of(first, *losers))
    assert told.count("invalidated_at") == 1
    assert told.count("confirmed → archived") == 1
    assert "IN 3 OF THE 4" in told
    assert "0.5 → 0.9" in told
    alone = said_of(plan_of(losers[0]))
    assert "IN " not in alone
    assert "confirmed → archived" in alone
    another = Change(GONE, "edit", {"state": "pending"}, {"state": "archived"}, "another way")
    apart = said_of(plan_of(*losers, another))
    assert apart.count("→ archived") == 4, "no two ways are put into one sentence"


def test_what_follows_from_a_change_stands_together_below_what_it_is_about():
    before = {"importance": 0.7, "access_count": 0, "last_accessed_at": None}
    after = {"importance": 0.9, "access_count": 88, "last_accessed_at": None}
    lines = said_of(plan_of(Change(KEPT, "edit", before, after, "Lint"))).split("\n")
    at = next(n for n, line in enumerate(lines) if "access_count 0 → 88" in line)
    assert "last_accessed_at" in lines[at]
    assert any("0.7 → 0.9" in line for line in lines[:at])


def test_a_long_reason_leaves_the_width_to_the_text():
    why = "uses 12 >= 10 and composite 0.852 >= 0.7 and importance 0.8 >= 0.8"
    title = "Deadlocks in notify after a restart: start one worker, wait for it"
    change = Change(KEPT, "edit", {"tier": "working"}, {"tier": "core"}, title, why)
    first, *others = (line.plain for line in change_lines(change, 78, UNICODE)[:4])
    assert title[:40] in first
    assert any(why in line for line in others)


def test_the_scopes_of_a_change_are_a_sentence():
    def among(*scopes):
        return plan_of(
            *(Change(str(n), "delete", {}, {}, "t", scope=scope) for n, scope in enumerate(scopes)), title="t"
        )

    assert scopes_words(among("agent:main", "agent:main")) == "Both are of agent:main."
    assert scopes_words(among(*["global"] * 3)) == "All 3 are of global."
    assert scopes_words(among("global", "global", None)) == "2 of global, 1 of no scope."
    many = scopes_words(among(*(f"s{n}" for n in range(12))))
    assert many.endswith("and 7 of 7 other scopes.")


def test_where_no_question_is_answered_otherwise_the_memories_own_words_say_what_changes():
    change = AnswerChange("lint first", False, ("a",), (), (), rows=(row("a", 1, None, "lint first", ""),))
    own = RecallEffect(1, (change,), 0, {})
    text = plain(effect_lines(RecallEffect(4, (), 0, {}, beside=own), 100, UNICODE))
    assert "0 of 4 asked, 1 of 1 by own words change" in text
    assert "no answer changes" not in text, "the title contradicts what stands under it"
    assert "by their own words, 1 of 1 answer changes" in text
    assert "lint first" in text
    same = plain(effect_lines(RecallEffect(4, (), 0, {}, beside=RecallEffect(2, (), 0, {})), 100, UNICODE))
    assert "answered with the same, too" in same


def test_the_titles_of_previews_say_the_deed():
    assert would(plan_of(Change(KEPT, "edit", {}, {}, "t"))) == "Would merge 3 memories into one"


@pytest.mark.parametrize("name", ["confidence", "memory_temporal_type", "last_confirmed_use_at", "a" * 40])
def test_the_name_of_a_field_never_touches_its_value(name):
    (line,) = field_lines({name: "static"}, {name: None}, 78, UNICODE)
    told, value = line.plain.split("static")
    assert told.endswith(" ")
    assert "(none)" in value
    assert len(name) > 23 or name in told


def test_a_capture_that_only_adds_says_so() -> None:
    """What is added is no change of a memory that is there."""
    added = tuple(Change(f"row-{n}", "add", {}, {"text": f"Fact {n}"}) for n in range(3))
    assert (
        would(ChangeSet("capture", "3 memories captured: 3 new", added, 1)) == "Would add 3 memories: 3 new"
    )


TEXTS = ("word " * 40, "x" * 200, "漢字" * 60, "a " * 100, "short", "the port of the office is 2222 " * 6)


@pytest.mark.parametrize("width", [BESIDE, BESIDE + 1, 78, 99, 118, 139])
def test_the_two_sides_of_an_answer_begin_and_end_in_the_same_columns(width):
    """Whatever is cut, wherever it is cut: places, scores and the right side stand under each other."""
    rows = tuple(
        AnswerRow(str(at), at, at, text, text, score_before=0.111, score_after=0.222)
        for at, text in enumerate(TEXTS, 1)
    )
    reworded = AnswerRow("w", 7, 7, TEXTS[5], TEXTS[5] + "or 8443", score_before=0.111, score_after=0.222)
    change = AnswerChange("q", False, (), (), (), rows=(*rows, reworded))
    lines = [line.plain for line in answer_lines(change, width, UNICODE) if ".111" in line.plain]
    assert len(lines) == len(TEXTS) + 1
    for number in (".111", ".222"):
        assert len({cell_len(line[: line.index(number)]) for line in lines}) == 1, "\n".join(lines)
    assert all(cell_len(line) <= width for line in lines)


def test_texts_that_have_nothing_in_common_are_shown_whole():
    """Blanks, points and a stray word in common make no text a changed wording of another."""
    before = "The jump host of the office answers on port 2222, as the wiki says."
    after = "Ana paints boats in the harbour, and the kiln stands in Uferweg."
    line = difference(before, after, UNICODE)
    assert line.plain == f"{before} {after}"
    gone, new = one_side(before, after, "gone", 200, UNICODE), one_side(before, after, "new", 200, UNICODE)
    assert (gone.plain, new.plain) == (before, after)


@pytest.mark.parametrize("side", ["gone", "new"])
def test_a_mark_is_on_words_never_on_the_blank_before_them(side):
    before, after = "deploy on monday", "deploy to the edge on monday morning"
    texts = (before, after) if side == "new" else (after, before)
    for glyphs in (UNICODE, ASCII):
        line, first = own_words(*texts, side, glyphs)
        marked = [line.plain[span.start : span.end] for span in line.spans if "delta" in str(span.style)]
        assert marked
        assert all(each == each.strip() for each in marked)
        assert not line.plain[first].isspace()
    for width in range(10, 30):
        assert one_side(*texts, side, width, UNICODE).plain.lstrip("…")[0] != " "


def test_a_text_that_begins_with_a_line_break_begins_with_its_words():
    assert own_words("\n  port 2222", "\n  port 8443", "new", UNICODE)[0].plain == "port 8443"


async def test_keys_scroll_the_effect_where_the_change_itself_is_in_sight(demo_store, tmp_path):
    async with locked(demo_store, tmp_path, (80, 24)) as (app, pilot):
        await play(pilot, "2 D t")
        await settle(pilot)
        effect = app.screen.query_one(EffectRows)
        assert effect.max_scroll_y > 0, "at 80x24 it does not fit"
        await press(pilot, "pagedown")
        assert effect.scroll_offset.y > 1
        await press(pilot, "pageup", "j")
        assert effect.scroll_offset.y == 1
