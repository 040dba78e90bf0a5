"""From a wrong sentence to its cause: on planted sessions as OpenClaw writes them, and a real store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, UsageError, open_engine
from memtui.engine.blame import ACCUSED, Blame, find_cause
from memtui.engine.blame.reading import values_of
from memtui.engine.blame.statement import statement_of
from memtui.engine.blame.turn import said_in
from memtui.engine.blame.values import conflict, likeness
from tests.conftest import tree_hash
from tests.quality.blame.planted import Family, PlantedMemory, PlantedTurn, families, write_home, write_store

NOW = 1_790_600_000_000

FAMILIES = {family.agent: family for family in families()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("blame")
    write_home(list(FAMILIES.values()), made / "home")
    write_store(list(FAMILIES.values()), made / "store")
    return made


@pytest.fixture(scope="module")
def engine(place: Path) -> Iterator[Engine]:
    with open_engine(
        place / "store", now=lambda: NOW, environ={"HOME": str(place / "home")}, cwd=place
    ) as opened:
        yield opened


def ask(engine: Engine, sentence: str, **given: object) -> Blame:
    return find_cause(engine, sentence, engine.environ, Path("/"), **given)  # type: ignore[arg-type]


def turn_of(agent: str, sentence: str) -> tuple[Family, PlantedTurn]:
    family = FAMILIES[agent]
    return family, next(turn for turn in family.turns if sentence in turn.sentence)


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("three weeks", "kept for 21 days"),
        ("zweihundert Minuten", "dauert 3 Stunden 20 Minuten"),
        ("about six and a half weeks", "45 days after the deposit"),
        ("just under eighteen percent", "17.9 percent"),
        ("one litre", "two soft flasks of 500 ml"),
        ("twenty milligrams every second day", "20 mg of iron every other day"),
        ("viertausendachthundert Euro", "4.800 Euro"),
        ("dreiundzwanzig Kisten", "23 Kisten"),
        ("anderthalb Monate", "anderthalb Monate"),
        ("転送は3時間", "3 小时"),
        ("四千八", "每月4800元"),
        ("四个星期", "28天"),
        ("半粒", "每天 0.5 粒"),
        ("ciento ochenta gramos", "180 gramos"),
        ("Thursday at four in the afternoon", "from Thursday 16:00"),
        ("half past seven", "start 7:30 at the boathouse"),
        ("um Viertel vor eins", "departure 12:45"),
        ("halb eins", "um 12:30 Uhr"),
        ("礼拜六早上9:30", "每周六上午九点半"),
        ("11月15日", "十一月十五号开幕"),
        ("14 May", "läuft am 14. Mai 2027 ab"),
        ("WB 4471 902 K", "Rahmennummer WB4471902K"),
        ("6911.10", "HS code 6911 10"),
        ("217 88 40913", "number 217-88-40913"),
        ("C117号位", "编号C-117"),
        ("above 2 degrees", "2 to 8 degrees"),
    ],
)
def test_a_value_is_the_same_however_it_is_written(said: str, stated: str) -> None:
    values = values_of(said).values
    assert values
    assert all(likeness(value, values_of(stated)) >= 0.5 for value in values), (
        values,
        values_of(stated).values,
    )


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("six weeks", "21 days"),
        ("256 KB", "above 128 KB"),
        ("on Wednesday", "every Tuesday"),
        ("at 16:00", "at 14:00"),
        ("3301 8842 70", "3301 8842 07"),
        ("TX-7719-Q", "serial TX-7791-Q"),
        ("7月20号", "7月2号"),
        ("12 Grad", "2 bis 8 Grad"),
    ],
)
def test_another_value_in_its_place_speaks_against_a_memory(said: str, stated: str) -> None:
    values = values_of(said).values
    assert all(likeness(value, values_of(stated)) < 0.5 for value in values)
    assert any(conflict(value, values_of(stated)) > 0.5 for value in values)


def test_an_everyday_word_is_no_number() -> None:
    for text in ("once it is due", "一起去吧", "one of them", "eine Kanne Tee", "un peu", "十分好"):
        assert not [value for value in values_of(text).values if value.amount > 1 and value.amount != 10], (
            text
        )


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("We no longer use Jenkins", -1),
        ("Haselnüsse sind tabu", -1),
        ("macht ihm nichts aus", 1),
        ("it is no problem", 1),
        ("对亚麻油没事", 1),
        ("不能带狗", -1),
        ("不可以", -1),
        ("ne prend jamais de lait", -1),
        ("nunca más", -1),
        ("the door is green", 0),
    ],
)
def test_what_a_clause_denies(text: str, sign: int) -> None:
    [clause] = statement_of(text).clauses
    assert clause.sign == sign


def test_a_sentence_is_found_in_an_answer_though_it_was_retyped() -> None:
    answer = "Naledi. She rings you on Tuesday evening anyway, or drop her a line today."
    assert said_in("She rings you on Tuesday evening", answer) == 2
    assert 0.8 <= said_in("naledi she rings you on tusday evening anyway", answer) <= 1
    assert said_in("he rings you every other Friday at noon", answer) < 0.6
    assert said_in("爸爸现在一点辣都不碰了", "换成清蒸鲈鱼吧。爸爸胃不好，现在一点辣都不碰了。") >= 0.8
    assert said_in("ok", "That is ok now") == 2
    assert said_in("", answer) == 0


def test_the_guilty_memory_comes_first_with_what_it_shares(engine: Engine) -> None:
    family, turn = turn_of("kitchen", "two hundred and eighty")
    found = ask(engine, turn.sentence, session=family.session, number=turn.number)
    assert found.verdict == "memory"
    first = found.suspects[0]
    assert first.id == family.memories["oven-old"].id
    assert first.confidence >= ACCUSED
    assert "two hundred and eighty" in first.shares
    assert "two hundred and eighty" in first.why
    assert first.how == "injected"
    assert family.memories["oven-new"].id in [each.id for each in found.missing]
    given = {family.memories[key].id for key in turn.injected}
    assert not given & {each.id for each in found.instead}


def test_without_a_name_the_sentence_is_searched_and_named(engine: Engine) -> None:
    family, turn = turn_of("werkstatt", "freitags sitzt er in der Schule")
    found = ask(engine, turn.sentence)
    assert found.turn is not None
    assert (found.turn.file.id, found.turn.replayed.turn.n) == (family.session, turn.number)
    assert found.as_json()["turn"] == {"session": family.session, "n": turn.number, "question": turn.question}
    other = ask(engine, turn.sentence, agent="kitchen")
    assert other.turn is None
    assert other.suspects[0].id == family.memories["lehrling"].id


def test_a_sentence_that_several_turns_say_leaves_the_turn_open(
    engine: Engine, place: Path, tmp_path: Path
) -> None:
    shutil.copytree(place / "home", tmp_path / "home")
    family, turn = turn_of("werkstatt", "freitags sitzt er in der Schule")
    folder = tmp_path / "home" / ".openclaw" / "agents" / "werkstatt" / "sessions"
    shutil.copy(folder / f"{family.session}.jsonl", folder / "again.jsonl")
    found = find_cause(engine, turn.sentence, {"HOME": str(tmp_path / "home")}, tmp_path)
    assert found.turn is None
    assert found.as_json()["turn"] is None
    assert found.suspects[0].id == family.memories["lehrling"].id


def test_a_tool_the_question_and_the_opposite_are_no_memory(engine: Engine) -> None:
    for agent, sentence in (
        ("kitchen", "The pitch costs 46 pounds a day"),
        ("werkstatt", "Die Halle hat 14,5 Grad"),
        ("studio", "今天31度"),
        ("cafe", "À 1 950 euros"),
        ("praxis", "Milena nimmt Hafermilch"),
    ):
        family, turn = turn_of(agent, sentence)
        found = ask(engine, turn.sentence, session=family.session, number=turn.number)
        assert found.verdict == "none", sentence
        assert not found.accused
        assert not found.instead
        assert not found.missing


def test_a_turn_that_nobody_recorded_is_not_known(engine: Engine, place: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    lines = [
        '{"type":"session","version":3,"id":"s1","timestamp":"2026-10-01T10:00:00Z"}',
        '{"type":"message","id":"a","parentId":null,"timestamp":"2026-10-01T10:00:00Z",'
        '"message":{"role":"user","content":"How hot is the oven?","timestamp":1790848800000}}',
        '{"type":"message","id":"b","parentId":"a","timestamp":"2026-10-01T10:00:04Z",'
        '"message":{"role":"assistant","content":[{"type":"text","text":"Set it to 280 degrees, please."}]}}',
    ]
    (folder / "s1.jsonl").write_text("\n".join(lines) + "\n")
    found = find_cause(
        engine, "Set it to 280 degrees", {"HOME": str(tmp_path)}, tmp_path, session="s1", number=1
    )
    assert found.verdict == "unknown"
    assert not found.accused
    assert found.turn is not None
    assert found.notes


def test_a_session_or_turn_that_is_not_there_is_an_error(engine: Engine) -> None:
    family = FAMILIES["kitchen"]
    with pytest.raises(UsageError, match="no turn 99"):
        ask(engine, "anything at all", session=family.session, number=99)
    with pytest.raises(UsageError, match="No session"):
        ask(engine, "anything at all", session="nothing-like-it")
    with pytest.raises(UsageError, match="empty"):
        ask(engine, "  ")


def test_what_a_tool_recalled_in_the_turn_is_a_suspect_too(
    engine: Engine, tmp_path: Path, place: Path
) -> None:
    family, turn = turn_of("kitchen", "two hundred and eighty")
    from dataclasses import replace

    moved = replace(
        turn,
        number=1,
        injected=tuple(key for key in turn.injected if key not in turn.guilty),
        recalled=turn.guilty,
    )
    write_home([replace(family, turns=(moved,))], tmp_path / "home")
    found = find_cause(
        engine, turn.sentence, {"HOME": str(tmp_path / "home")}, tmp_path, session=family.session, number=1
    )
    assert found.suspects[0].id == family.memories["oven-old"].id
    assert found.suspects[0].how == "recalled"


def test_nothing_is_written_not_a_byte(engine: Engine, place: Path) -> None:
    before = tree_hash(place)
    for family in FAMILIES.values():
        turn = family.turns[0]
        ask(engine, turn.sentence, session=family.session, number=turn.number)
        ask(engine, turn.sentence)
    assert tree_hash(place) == before


def test_a_secret_is_masked_in_the_document(tmp_path: Path) -> None:
    secret = "sk-proj-4f9Qz81LmN0pRsTuVwXyZaBcDeFgHiJkLmNoPqRs"
    memory = PlantedMemory("key", "a" * 36, "entities", NOW - 86_400_000, f"The gateway key is {secret}.")
    write_store([Family("main", "en", {"key": memory}, ())], tmp_path / "store")
    environ = {"HOME": str(tmp_path)}
    with open_engine(tmp_path / "store", now=lambda: NOW, environ=environ, cwd=tmp_path) as opened:
        found = find_cause(opened, f"The gateway key is {secret}", environ, tmp_path)
    assert found.verdict == "memory"
    assert any(secret in share for share in found.suspects[0].shares)
    assert secret not in str(found.as_json())
