"""The parts of the recipe `memtui` that only read text: the clean question, dates, identifiers, what is new."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memtui.engine.recall.recipes.memtui.late_interaction import words_at
from memtui.engine.recall.recipes.memtui.question import (
    clean_question,
    identifiers,
    named_speakers,
    newest_wanted,
    spans_named,
)
from memtui.engine.recall.speakers import bare_text

SPEAKERS = ("Caroline", "Melanie Stone", "Will")


def _share(word: str) -> float:
    return {"melanie": 0.5, "database": 0.31, "deploy": 0.3, "the": 0.9}.get(word, 0.0)


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("When did Caroline go to the support group?", "go to the support group?", ("Caroline",)),
        ("What is Melanie's hand-painted bowl for?", "hand-painted bowl for?", ("Melanie Stone",)),
        ("Which database do we deploy to?", "do we deploy to?", ()),
        ("did Caroline and Melanie Stone meet?", "did and meet?", ("Caroline", "Melanie Stone")),
        ("Who is Caroline?", "Who is Caroline?", ("Caroline",)),
        ("How long will it take?", "long will it take?", ()),
        ("What did Will buy?", "buy?", ("Will",)),
        ("Will it rain?", "Will it rain?", ()),
        ("  ", "", ()),
        ("张梅现在用什么主题？", "张梅现在用什么主题？", ()),
    ],
)
def test_what_every_memory_has_leaves_the_question(question: str, text: str, named: tuple[str, ...]) -> None:
    clean = clean_question(question, share=_share, speakers=SPEAKERS)
    assert (clean.text, clean.named) == (text or question, named)


def test_what_was_left_out_is_told_with_the_reason() -> None:
    clean = clean_question("When did Caroline leave the database team?", share=_share, speakers=SPEAKERS)
    assert dict(clean.removed) == {
        "When": "question word",
        "did": "auxiliary",
        "Caroline": "name of a speaker",
        "database": "in 31% of the memories",
    }


def test_a_first_name_names_only_one_speaker() -> None:
    assert named_speakers("what did Ann say", ("Ann Lee", "Ann Poe")) == ()
    assert named_speakers("what did Ann Poe say", ("Ann Lee", "Ann Poe")) == ("Ann Poe",)


def _days(question: str, *years: int) -> list[tuple[str, str]]:
    def day(ms: int) -> str:
        return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()

    return [(day(span.start_ms), day(span.end_ms)) for span in spans_named(question, years)]


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("Where did she go in May 2023?", [("2023-05-01", "2023-06-07")]),
        ("What happened on 7 May 2023?", [("2023-05-06", "2023-05-18")]),
        ("What happened on May 7th, 2023?", [("2023-05-06", "2023-05-18")]),
        ("deploys of 2023-05-07", [("2023-05-06", "2023-05-18")]),
        ("and in 2023-12?", [("2023-12-01", "2024-01-07")]),
        ("the week of 29 February", [("2024-02-28", "2024-03-11")]),
        ("in March or during april", [("2024-03-01", "2024-04-07"), ("2024-04-01", "2024-05-07")]),
        ("May I march on in august company?", [("2024-08-01", "2024-09-07")]),
        ("She may go", []),
        ("May I ask", []),
        ("the 31 June and 2024-13-40", []),
        ("Jan told Dec about 3 things", []),
        ("sept 5 and Oct. 6", [("2024-09-04", "2024-09-16"), ("2024-10-05", "2024-10-17")]),
        ("last year", []),
    ],
)
def test_dates_become_spans(question: str, spans: list[tuple[str, str]]) -> None:
    assert _days(question, 2024) == spans


def test_a_date_without_a_year_is_tried_in_every_year() -> None:
    assert _days("in June", 2022, 2023) == [("2022-06-01", "2022-07-07"), ("2023-06-01", "2023-07-07")]
    assert _days("in June") == []


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which port? 5432, or 8443?", ("5432", "8443")),
        ("see `src/app/main.py`, pg_hba.conf.", ("src/app/main.py", "pg_hba.conf")),
        ("commit e41d77c0 of getUserName", ("e41d77c0", "getUserName")),
        ("10.20.0.17 and https://a.example/x?", ("10.20.0.17", "https://a.example/x")),
        ("LARK-4471 LARK-4471", ("LARK-4471",)),
        ("on the 7th of May 2023 at 12:30, in the 90s, self-care and/or him/her", ()),
        ("a b 12 LGBTQ", ()),
        ("面包店的酸种", ()),
    ],
)
def test_identifiers_are_known_by_their_shape(question: str, found: tuple[str, ...]) -> None:
    assert identifiers(question) == found


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the latest version?", "latest"),
        ("Which editor does she currently use?", "currently"),
        ("What did Ann recently buy?", ""),
        ("What was the last film they saw?", ""),
    ],
)
def test_what_is_new_is_asked_for(question: str, asked: str) -> None:
    assert newest_wanted(question) == asked


def test_a_speaker_in_front_is_no_part_of_the_text() -> None:
    assert bare_text("Ann: hello", "Ann") == "hello"
    assert bare_text("Annette: hello", "Ann") == "Annette: hello"
    assert bare_text("Ann: hello", "") == "Ann: hello"


def test_pieces_know_their_word() -> None:
    assert words_at("pg_hba, Ok?", [(0, 2), (3, 6), (6, 7), (8, 10), (10, 11)]) == [
        "pg_hba",
        "pg_hba",
        "",
        "ok",
        "",
    ]
