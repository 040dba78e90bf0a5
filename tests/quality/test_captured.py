"""Capture without a model on chats of other hands: what is kept, what never is, in eight languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.capture.recipes.memtui.beside_question import told_beside
from memtui.engine.capture.recipes.memtui.manner import asks_not_to_keep, manner_of
from memtui.engine.capture.recipes.memtui.texts import without_secrets
from tests.conftest import SHARED
from tests.quality.captured import CHAT, TECHNICAL, UNREAD, Counted, count, lines, read_chats

GIVEN = SHARED / "fixtures" / "capture-offline"

FOLDERS = [CHAT, *([GIVEN] if GIVEN.is_dir() else [])]


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def counted(request: pytest.FixtureRequest) -> Counted:
    return count(read_chats(request.param))


def test_more_is_kept_than_lost_and_little_of_it_wrongly(counted: Counted) -> None:
    assert counted.precision() >= 0.8, lines(counted)
    assert counted.recall() >= 0.8, lines(counted)


def test_texts_written_after_the_rules_are_told_nearly_as_well() -> None:
    found = count(read_chats(UNREAD))
    assert found.precision() >= 0.8, lines(found)
    assert found.recall() >= 0.6, lines(found)


def test_no_secret_is_kept_and_nothing_superseded_stays_active(counted: Counted) -> None:
    assert counted.secrets == []
    assert counted.stale == []


def test_technical_statements_are_seen_in_every_language() -> None:
    for folder in FOLDERS:
        chats = read_chats(folder)
        for language in {chat.language for chat in chats}:
            part = [chat for chat in chats if chat.language == language]
            found = count(part)
            wanted = sum(found.kinds[kind] for kind in TECHNICAL)
            lost = sum(found.lost[kind] for kind in TECHNICAL)
            assert lost < wanted / 2 or not wanted, (folder, language, found.lost_texts)


def test_both_forms_of_a_set_are_read() -> None:
    chats = read_chats(CHAT)
    texts = [text for chat in chats for text in chat.texts]
    assert {chat.language for chat in chats} == {"en", "de", "zh", "es", "fr", "ja", "pt", "ru"}
    assert len(texts) >= 150
    assert sum(text.worth for text in texts) <= len(texts) / 2
    assert any(len(chat.texts) > 1 for chat in chats)


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (
            "our nightly job runs on worker-7, does that matter for the patch?",
            "our nightly job runs on worker-7",
        ),
        ("why is it so slow now that we use Redis 7 everywhere?", "we use Redis 7 everywhere"),
        ("unsere Kasse steht in Halle 4, wie komm ich da hin?", "unsere Kasse steht in Halle 4"),
        ("既然我们的仓库已经搬到新区了，为啥地址还是旧的？", "我们的仓库已经搬到新区了"),
        ("うちの倉庫は駅前にあるんだけどどう行けばいい？", "うちの倉庫は駅前にある"),
        ("what time is it, and where are you?", ""),
        ("if we moved to Oslo, what would that cost?", ""),
    ],
)
def test_what_is_told_beside_a_question(sentence: str, told: str) -> None:
    assert told_beside(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "gate"),
    [
        ('my aunt always says "never trust a quiet dog"', "quote"),
        ("Der Chef meinte nur „wir arbeiten immer samstags“ und ging", "quote"),
        ("老师老说“我从来不迟到的”", "quote"),
        ("oh great, I just love waiting in line", "irony"),
        ("genial, me encanta cuando se cae la red", "irony"),
        ("if we ever got a boat, I'd call it Daphne", "imagined"),
        ("the codename is “Petrel”", ""),
        ("contorno: reiniciar o serviço", ""),
        ("I love the smell of rain", ""),
    ],
)
def test_how_a_sentence_is_meant(sentence: str, gate: str) -> None:
    assert manner_of(sentence) == gate


@pytest.mark.parametrize(
    "text",
    [
        "please don't write this down: I'm leaving in May",
        "das bleibt bitte unter uns, ich hab gekündigt",
        "no lo apuntes, pero me voy",
        "ne note pas ça, je change de poste",
        "это между нами, я ухожу",
        "别记下来，我要辞职了",
        "ここだけの話、辞めるんだ",
    ],
)
def test_who_asks_not_to_keep_it_is_heard(text: str) -> None:
    assert asks_not_to_keep(text)
    assert not asks_not_to_keep("I wrote the report and saved it under /srv/reports")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("пароль от роутера ivolga-7741 если спросят", "ivolga-7741"),
        ("senha do painel tucano88x", "tucano88x"),
        ("ログインは、kaede@tsubame.example の Yuki!", "Yuki!"),
    ],
)
def test_a_secret_without_a_word_between_is_masked(text: str, secret: str) -> None:
    masked, found = without_secrets(text)
    assert found
    assert secret not in masked
    plain = "the password of the server in rack-12 is changed every month"
    assert without_secrets(plain) == (plain, 0)


def test_a_folder_with_neither_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_chats(tmp_path)
