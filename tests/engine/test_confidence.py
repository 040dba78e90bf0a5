"""The confidence of a recall: calibrated, silent where it cannot know, and told wherever the recall is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.recall import confidence as subject
from tests.conftest import NOW_MS
from tests.quality import confidence as quality


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


@pytest.mark.slow
def test_what_is_given_is_what_is_so(capsys: pytest.CaptureFixture[str]) -> None:
    every = quality.samples(every=2)
    told = [subject.judgement(each.profile).of(each.met, each.gathered, each.long) for each in every]
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
        found = [low for low, each in zip(below, every, strict=True) if each.kind == kind]
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
