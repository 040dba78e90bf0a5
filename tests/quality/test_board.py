"""The public sets are read in their exact forms and scored with every peer; the data here is made up and tiny."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.quality.board import PEERS, main
from tests.quality.public_sets import read_public_sets

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Karl",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ines", "dia_id": "D1:1", "text": "I bought a kayak last week."},
                {"speaker": "Karl", "dia_id": "D1:2", "text": "Nice! My dog Waldo had surgery."},
                {
                    "speaker": "Ines",
                    "dia_id": "D1:3",
                    "text": "Look at this.",
                    "img_url": ["https://pictures.example/1.jpg"],
                    "blip_caption": "a photo of a red kayak",
                },
            ],
            "session_2_date_time": "9:05 am on 12 June, 2023",
            "session_2": [
                {"speaker": "Karl", "dia_id": "D2:1", "text": "I start at the bakery on Monday."},
            ],
            "session_3_date_time": "9:05 am on 13 June, 2023",
        },
        "qa": [
            {
                "question": "What did Ines buy?",
                "answer": "a kayak",
                "evidence": ["D1:1; D1:03"],
                "category": 4,
            },
            {"question": "Where does Karl start?", "answer": "bakery", "evidence": ["D:2:1"], "category": 1},
            {"question": "What is Ines' dog called?", "evidence": ["D1:2"], "category": 5},
            {"question": "Who sings?", "answer": "?", "evidence": [], "category": 3},
        ],
        "event_summary": {},
        "observation": {},
        "session_summary": {},
    }
]

REALTALK: dict[str, Any] = {
    "name": {"speaker_1": "Ada", "speaker_2": "Bo"},
    "session_1": [
        {
            "clean_text": "i moved to ghent",
            "speaker": "Ada",
            "date_time": "29.12.2023, 23:02:14",
            "dia_id": "D1:1",
        },
        {
            "clean_text": "wow when",
            "speaker": "Bo",
            "date_time": "29.12.2023, 23:03:00",
            "dia_id": "D1:2",
        },
    ],
    "session_1_date_time": "29.12.2023, 23:02:14",
    "qa": [{"question": "Where did Ada move?", "answer": "Ghent", "evidence": ["D1:1"], "category": 1}],
}

LONG: list[dict[str, Any]] = [
    {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "What instrument do I play?",
        "answer": "the oboe",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s_1", "answer_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "How long do eggs boil?"}, {"role": "assistant", "content": "Ten."}],
            [{"role": "user", "content": "I practise the oboe, my instrument.", "has_answer": True}],
        ],
        "answer_session_ids": ["answer_2"],
    }
    for name in ("q1", "q2_abs")
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The three sets as they are published, a folder for each."""
    for name, told in (
        ("locomo/data/locomo10.json", LOCOMO),
        ("REALTALK/data/Chat_1_Ada_Bo.json", REALTALK),
        ("longmemeval_s_cleaned.json", LONG),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told), encoding="utf-8")
    return tmp_path


def test_the_sets_are_read_by_their_units(folder: Path) -> None:
    locomo, realtalk, long = read_public_sets(folder)
    assert [turn.id.rsplit("/", 1)[1] for turn in locomo.memories] == ["D1:1", "D1:2", "D1:3", "D2:1"]
    assert locomo.memories[0].timestamp_ms == 1_683_554_160_000
    assert locomo.memories[2].text == "Look at this. [shares a photo of a red kayak]"
    kayak, bakery = locomo.questions
    assert {name.rsplit("/", 1)[1] for name in kayak.relevant} == {"D1:1", "D1:3"}
    assert {name.rsplit("/", 1)[1] for name in bakery.relevant} == {"D2:1"}
    assert locomo.left_out == {"adversarial": 1, "no evidence": 1}
    assert [(turn.speaker, turn.text) for turn in realtalk.memories] == [
        ("Ada", "i moved to ghent"),
        ("Bo", "wow when"),
    ]
    assert realtalk.memories[0].timestamp_ms == 1_703_890_934_000
    assert len(realtalk.questions) == 1
    assert (long.unit, len(long.memories), len(long.questions)) == ("sessions", 2, 1)
    assert long.left_out["abstention"] == 1
    asked_at = long.questions[0].asked_at
    assert asked_at is not None
    assert asked_at > max(memory.timestamp_ms for memory in long.memories)


def test_every_peer_stands_in_the_table_of_every_set(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder)]) == 0
    told = capsys.readouterr().out
    assert told.count("\n## ") + told.startswith("## ") == 3
    for title in ("memtui", "LanceDB hybrid (RRF)", "BM25 (LanceDB)", *PEERS):
        assert told.count(f"| {title} |") == 3, (title, told)
    assert "not asked" not in told, told
    assert "| 0.000 " not in told, "a system that found nothing at all was not asked in its own way"
    assert "| memtui | 1.000 [1.000, 1.000]" in told


def test_a_folder_without_a_set_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert "locomo10.json" in capsys.readouterr().err


def test_a_file_of_another_form_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="LoCoMo"):
        read_public_sets(tmp_path)
