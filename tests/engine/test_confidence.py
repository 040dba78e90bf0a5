"""The confidence of a recall: calibrated, silent where it cannot know, and told wherever the recall is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.recall.recipes.memtui import confidence as subject
from tests.conftest import NOW_MS
from tests.quality import confidence as quality
from tests.quality import dialogues


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


@pytest.mark.slow
def test_what_is_given_is_what_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    every = quality.samples(every=2)
    told = [each.told for each in every]
    given = [probability for probability, _ in told]
    with capsys.disabled():
        print("\n" + quality.table(every, given))
    rows = quality.reliability(every, given)
    count = sum(n for _, _, n in rows)
    assert sum(abs(mean - share) * n for mean, share, n in rows) / count < 0.12  # expected calibration error
    below = [probability < line for probability, line in told]
    wrong = [low for low, each in zip(below, every, strict=True) if each.answers]
    assert sum(wrong) / len(wrong) <= 0.12
    for kind, least in (("elsewhere", 0.5), ("removed", 0.2)):
        found = [
            low
            for low, each in zip(below, every, strict=True)
            if each.kind == kind and quality.LITTLE not in each.set
        ]
        assert sum(found) / len(found) > least


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Which port do I use for SSH to the bastion?", True),
        ("Who won the chess olympiad in Budapest?", False),
        ("zebra crossing paint recipe", False),
    ],
)
def test_a_question_nobody_answers_is_told(demo: Engine, question: str, answered: bool) -> None:
    trace = demo.recall(RecallRequest(question, recipe="memtui"))
    told = trace.confidence
    assert told is not None
    assert told.answered is answered
    assert told.memory in trace.returned
    assert trace.as_json(explain=False)["confidence"] == told.as_json()


def test_it_is_not_known_of_other_recipes_or_without_words(demo: Engine) -> None:
    assert demo.recall(RecallRequest("Which port?", recipe="pro/tool")).confidence is None
    nothing = demo.recall(RecallRequest("Which port?", recipe="memtui", scopes=[]))
    assert nothing.confidence is None
    assert nothing.as_json(explain=False)["confidence"] is None


def test_nothing_is_injected_where_nothing_answers(demo: Engine) -> None:
    from memtui.engine.explain.prompt_block import injected

    answered = demo.recall(RecallRequest("Which port do I use for SSH to the bastion?", recipe="memtui"))
    assert injected(answered).block
    noise = demo.recall(RecallRequest("zebra crossing paint recipe", recipe="memtui"))
    assert noise.returned
    assert not injected(noise).block
    assert "no memory answers this well" in injected(noise).why_nothing


def test_a_question_in_a_script_that_the_model_never_learned_is_not_judged(demo: Engine) -> None:
    assert demo.recall(RecallRequest("数据库的端口是多少", recipe="memtui")).confidence is None


@pytest.mark.parametrize("profile", ["dialogue", "notes"])
def test_what_is_met_and_gathered_counts_and_a_long_question_less(profile: str) -> None:
    judged = subject.judgement(profile)
    assert judged.of(0.8, 0.5, 0)[0] > judged.of(0.2, 0.5, 0)[0]
    assert judged.of(0.5, 0.8, 0)[0] > judged.of(0.5, 0.5, 0)[0]
    assert judged.of(0.5, 0.5, 1)[0] <= judged.of(0.5, 0.5, 0)[0]
    assert judged.of(0.5, 0.5, 1)[1] <= judged.of(0.5, 0.5, 0)[1]


@pytest.mark.parametrize("question", ["Which port do I use for SSH to the bastion?", "zebra crossing paint"])
def test_the_terms_of_the_probability_are_told_and_make_it(demo: Engine, question: str) -> None:
    told = demo.recall(RecallRequest(question, recipe="memtui")).confidence
    assert told is not None
    values = {term.name: term.value for term in told.terms}
    assert values.keys() >= {"bias", "met", "gathered"}
    assert (values["met"], values["gathered"]) == (told.met, told.gathered)
    exponent = sum(term.value * term.weight for term in told.terms)
    assert told.probability == pytest.approx(1 / (1 + math.exp(-exponent)))
    assert [each["name"] for each in told.as_json()["terms"]] == list(values)


def test_it_does_not_hang_on_how_the_weights_are_scaled(demo: Engine) -> None:
    """Weights turned down by half leave order and probability as they are."""
    question = "Which port do I use for SSH to the bastion?"
    plain = demo.recall(RecallRequest(question, recipe="memtui"))
    settings = plain.config["memtui"]
    halved = {
        key: value / 2 for key, value in settings.items() if key.endswith("Weight") and key != "contextWeight"
    }
    signals = {key: value / 2 for key, value in settings["signals"].items()}
    config = {"memtui": {**halved, "signals": signals}}
    turned = demo.recall(RecallRequest(question, recipe="memtui", config=config))
    assert turned.returned == plain.returned
    assert turned.confidence is not None
    assert plain.confidence is not None
    assert turned.confidence.probability == pytest.approx(plain.confidence.probability)
    assert f"{plain.confidence.gathered:.0%} of all weight" in plain.confidence.why


def test_what_stands_to_the_letter_counts_in_notes_and_is_told(demo: Engine) -> None:
    judged = subject.judgement("notes")
    given = [judged.of(0.5, 0.5, 0, literal=share)[0] for share in (0.0, 0.5, 1.0)]
    assert given == sorted(set(given))
    texts = ["the bastion is up", "the port of the bastion is 2222", "the port is closed", "a dog"]
    shares = [subject.literal("Which port has the bastion?", texts, at) for at in range(4)]
    assert shares[1] == 1.0
    assert shares[0] == shares[2] == pytest.approx(0.5)  # each stands in two of them
    assert shares[3] == 0.0
    assert subject.literal("what is it?", texts, 0) == 0.0  # nothing that could stand there
    trace = demo.recall(RecallRequest("Which port do I use for SSH to the bastion?", recipe="memtui"))
    told = trace.confidence
    assert told is not None
    at = next(at for at, row in enumerate(trace.pool.rows) if row.id == told.memory)
    assert told.literal == subject.literal(trace.query, [row.text for row in trace.pool.rows], at)
    assert f"{told.literal:.0%} of the question matched exactly" in told.why
    assert told.as_json()["literal"] == told.literal
    assert told.asked is None


def test_a_question_of_more_words_is_met_by_chance_less_often(talk: Engine) -> None:
    judged = subject.judgement("dialogue")
    assert judged.of(0.5, 0.5, 0, asked=0.25)[0] < judged.of(0.5, 0.5, 0, asked=1.0)[0]
    few, many = (
        talk.recall(RecallRequest(question, recipe="memtui")).confidence
        for question in (
            "When did Louis join?",
            "Which old chapel does the choir rehearse in since Louis joined it on Tuesday evening last autumn?",
        )
    )
    assert few is not None
    assert many is not None
    assert few.asked == 1 / subject.MANY_WORDS
    assert many.asked == 1.0
    assert (few.literal, many.literal) == (None, None)
    assert "asked in few words" in few.why
    assert "asked in many words" in many.why


SAID = (
    "The spare key is under the blue pot",
    "Marta keeps bees on the roof of the library",
    "The boiler was serviced in October by Rolf",
    "Our dentist moved to the market square",
    "The cat is called Professor",
    "We order the oil from a mill near Siena",
    "The wifi password hangs inside the pantry door",
    "Grandmother plays the accordion on Sundays",
    "The tax papers are due at the end of May",
    "Nobody may feed the goats after dusk",
)


def little(folder: Path, rows: int, *, spoken: bool, texts: Sequence[str] = SAID) -> Engine:
    """A store of the first of `texts`, said by somebody or noted down."""
    turns = [
        dialogues.Turn(f"m{at}", "home", "Ida" if spoken else "", text, "s1" if spoken else "", NOW_MS - at)
        for at, text in enumerate(texts[:rows])
    ]
    store = dialogues.write(folder, turns, prefixed=spoken)
    return open_engine(store, now=lambda: NOW_MS, environ={}, cwd=folder)


@pytest.mark.parametrize("spoken", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_a_store_of_a_few_memories_knows_its_own_plain_question(
    tmp_path: Path, rows: int, spoken: bool
) -> None:
    engine = little(tmp_path / "store", rows, spoken=spoken)
    told = engine.recall(RecallRequest("Where is the spare key?", recipe="memtui")).confidence
    assert told is not None
    assert (told.memory, told.few, told.answered) == ("m0", True, True)
    assert told.word == "likely"
    assert told.why.endswith(
        "% of the question's words matched; too few candidates to weigh them against each other"
    )
    strange = engine.recall(RecallRequest("Who won the chess olympiad in Budapest?", recipe="memtui"))
    assert strange.confidence is not None
    assert strange.confidence.probability < told.probability / 2
    assert strange.confidence.word in (("hardly", "perhaps") if spoken else ("nothing",))


IN_GERMAN = (
    "Der Ersatzschlüssel liegt unter dem blauen Topf",
    "Marta hält Bienen auf dem Dach der Bibliothek",
    "Der Kessel wurde im Oktober von Rolf gewartet",
    "Unser Zahnarzt ist an den Marktplatz gezogen",
    "Das WLAN-Passwort hängt innen an der Speisekammertür",
)


@pytest.mark.parametrize("spoken", [True, False])
@pytest.mark.parametrize("texts", [IN_GERMAN, SAID[:5]])
@pytest.mark.parametrize(
    "question",
    [
        "¿Dónde está la llave de repuesto?",
        "Gdzie jest zapasowy klucz?",
        "Wer gewann die Schacholympiade in Budapest?",
    ],
)
def test_words_in_pieces_that_stand_nowhere_say_nothing(
    tmp_path: Path, question: str, texts: tuple[str, ...], spoken: bool
) -> None:
    """A language of which the model has no words meets pieces of anything."""
    engine = little(tmp_path / "store", len(texts), spoken=spoken, texts=texts)
    told = engine.recall(RecallRequest(question, recipe="memtui")).confidence
    assert told is not None
    assert told.word == "nothing"


@pytest.mark.parametrize("spoken", [True, False])
def test_a_word_in_pieces_that_stands_in_a_memory_counts(tmp_path: Path, spoken: bool) -> None:
    engine = little(tmp_path / "store", len(IN_GERMAN), spoken=spoken, texts=IN_GERMAN)
    told = engine.recall(RecallRequest("Wo ist der Ersatzschlüssel?", recipe="memtui")).confidence
    assert told is not None
    assert (told.memory, told.word) == ("m0", "likely")


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    turns, _ = dialogues.read("carmen-louis")
    folder = dialogues.write(tmp_path_factory.mktemp("talk") / "store", turns)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def test_what_was_said_beside_it_makes_an_answer_more_likely(talk: Engine) -> None:
    """Looked at in the turns themselves: another of the first eight stands within two places in its session."""
    turns, questions = dialogues.read("carmen-louis")
    place = {turn.id: (turn.session, at) for at, turn in enumerate(turns)}
    seen = set()
    for question in questions[:12]:
        trace = talk.recall(RecallRequest(question.query, recipe="memtui"))
        told = trace.confidence
        assert told is not None
        session, at = place[told.memory]
        others = [place[each] for each in trace.returned[: subject.AMONG] if each != told.memory]
        near = any(other == session and abs(where - at) <= 2 for other, where in others)
        assert told.beside is near
        assert ("nothing that was said beside it" in told.why) is not near
        assert trace.as_json(explain=False)["confidence"]["beside"] is near
        few = talk.recall(RecallRequest(question.query, recipe="memtui", limit=3)).confidence
        assert few is not None
        assert (few.beside, few.probability) == (near, told.probability)  # not of how many come back
        seen.add(near)
    assert seen == {True, False}
    judged = subject.judgement("dialogue")
    given = [judged.of(0.5, 0.5, 0, near)[0] for near in (False, None, True)]
    assert given == sorted(given)
    assert given[0] < given[2]


def test_a_neighbour_that_is_none_turns_the_account_red(talk: Engine) -> None:
    trace = talk.recall(RecallRequest("When did Louis join the choir?", recipe="memtui"))
    at = next(at for at, record in enumerate(trace.records) if record.name == "neighbours")
    outcome = trace.records[at].outcome
    assert trace.proof.recomputed
    after = outcome.inputs["next"].copy()
    first, second = (row for row in range(2))
    after[first] = trace.pool.rows[second if after[first] != trace.pool.rows[second].id else 2].id
    records = list(trace.records)
    records[at] = replace(records[at], outcome=replace(outcome, inputs={**outcome.inputs, "next": after}))
    assert not replace(trace, records=tuple(records)).proof.recomputed


def test_without_sessions_nothing_is_known_of_what_was_said_beside_it(tmp_path: Path) -> None:
    turns, questions = dialogues.read("carmen-louis")
    folder = dialogues.write(tmp_path / "store", [replace(turn, session="") for turn in turns])
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    told = engine.recall(RecallRequest(questions[0].query, recipe="memtui")).confidence
    assert told is not None
    assert told.beside is None
    assert told.why.endswith("of all weight gathered, asked in few words")
