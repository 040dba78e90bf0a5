"""What a preview says: words in place of ids, the answers before and now, and the lines that both get."""

from __future__ import annotations

import pytest

from memtui.engine.changes import AnswerChange, AnswerRow
from memtui.engine.changes.change_set import Change
from memtui.tui.dialogs.answer_effect_view import answer_lines, shares
from memtui.tui.dialogs.change_preview_view import change_lines
from memtui.tui.paint.difference import difference, one_side
from memtui.tui.paint.glyphs import ASCII, UNICODE

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
        "survives",
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
