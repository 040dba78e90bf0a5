"""What another said than the one whom a question names is no answer: how far it leads, and that it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.recall.recipes.memtui.another_speaker import lead_of_another
from memtui.engine.recall.trace import Confidence
from tests.conftest import NOW_MS
from tests.quality import confidence as quality
from tests.quality import dialogues

NAME = "elena-tom"


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    turns, _ = dialogues.read(NAME)
    return opened(dialogues.write(tmp_path_factory.mktemp("talk") / "store", turns))


def opened(folder: Path) -> Engine:
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def told(engine: Engine, question: str) -> Confidence:
    found = engine.recall(RecallRequest(question, recipe="memtui")).confidence
    assert found is not None
    return found


def test_what_the_other_did_is_less_likely_an_answer_and_is_told(talk: Engine) -> None:
    """Elena bought the boat, Tom keeps the bees."""
    own, swapped = told(talk, "Which licence did Elena get?"), told(talk, "Which licence did Tom get?")
    assert own.answered
    assert not own.another
    assert swapped.another
    assert swapped.probability < own.probability / 2
    assert "what another than the one it names has said fits it better" in swapped.why
    assert swapped.as_json()["other"] == {"met": swapped.other[0], "gathered": swapped.other[1]}  # type: ignore[index]
    without = replace(swapped, other=None)
    assert not without.another
    assert without.as_json()["other"] is None


def test_the_lead_is_what_the_trace_says(talk: Engine) -> None:
    """Worked out anew from the words met, the speakers and the scores of the trace."""
    _, questions = dialogues.read(NAME)
    signs = set()
    asked = [each.query for each in questions[:8]]
    for query in (*asked, *(quality._changed_about(each, ("Elena", "Tom")) for each in asked)):
        trace = talk.recall(RecallRequest(query, recipe="memtui"))
        lead, of = lead_of_another(trace), {each.name: each.outcome for each in trace.records}
        named = of["speaker"].params["named"] if "speaker" in of else []
        assert (lead is None) is (len(named) != 1)
        if lead is None:
            assert told(talk, query).other is None
            continue
        weights = np.array(of["late_interaction"].params["weights"])
        met: dict[bool, list[float]] = {True: [0.0], False: [0.0]}
        best: dict[bool, float] = {True: -1.0, False: -1.0}
        for at, row in enumerate(trace.pool.rows):
            speaker, _, text = row.text.partition(": ")
            mine = speaker == named[0]
            words = text.lower().replace("?", " ? ").replace(".", " ").replace(",", " ").split()
            if not mine and {"?", "you", "your", "yours", "yourself"} & set(words):
                continue
            score = float(of["kind"].flow.score[at]) - mine * trace.config["memtui"]["speakerWeight"]
            best[mine] = max(best[mine], score)
            met[mine].append(float(of["late_interaction"].inputs["cosines"][at] @ weights / weights.sum()))
        assert lead.met == pytest.approx(max(met[False]) - max(met[True]))
        ahead = (best[False] - best[True]) / trace.config["memtui"]["speakerWeight"]
        assert lead.gathered == pytest.approx(min(1.0, max(0.0, ahead)))
        assert trace.confidence is not None
        assert trace.confidence.other == lead
        signs.add(lead.met > 0)
    assert signs == {True, False}


@pytest.mark.parametrize(
    "of_the_other",
    ["Elena: Tom, your boat Juniper is in the harbour.", "Elena: Is the boat Juniper in the harbour?"],
)
def test_what_asks_or_speaks_to_the_one_who_is_named_does_not_lead(tmp_path: Path, of_the_other: str) -> None:
    texts = ("Tom: The bees like the orchard.", "Tom: We press cider.", "Elena: The tides are high.")

    def lead(text: str, folder: str) -> float:
        said = [each.partition(": ") for each in (*texts, text)]
        turns = [
            dialogues.Turn(f"m{at}", "home", who, what, "s1", NOW_MS + at)
            for at, (who, _, what) in enumerate(said)
        ]
        engine = opened(dialogues.write(tmp_path / folder, turns))
        found = lead_of_another(engine.recall(RecallRequest("Where is Tom's boat Juniper?", recipe="memtui")))
        assert found is not None
        return found.met

    assert lead("Elena: My boat Juniper is in the harbour.", "own") > 0.2
    assert lead(of_the_other, "other") < 0.2


def test_where_nobody_is_named_or_nobody_speaks_it_is_not_known(talk: Engine, tmp_path: Path) -> None:
    assert told(talk, "What happened to the train?").other is None
    assert told(talk, "How many shooting stars did Tom and Elena see?").other is None
    turns, _ = dialogues.read(NAME)
    notes = opened(dialogues.write(tmp_path / "notes", [quality.noted_down(turn) for turn in turns]))
    assert told(notes, "Which licence did Tom get?").other is None


def test_it_does_not_hang_on_how_the_weights_are_scaled(talk: Engine) -> None:
    trace = talk.recall(RecallRequest("Which licence did Tom get?", recipe="memtui"))
    settings = trace.config["memtui"]
    halved = {k: v / 2 for k, v in settings.items() if k.endswith("Weight") and k != "contextWeight"}
    signals = {key: value / 2 for key, value in settings["signals"].items()}
    config = {"memtui": {**halved, "signals": signals}}
    turned = talk.recall(RecallRequest("Which licence did Tom get?", recipe="memtui", config=config))
    assert trace.confidence is not None
    assert turned.confidence is not None
    assert turned.confidence.other == pytest.approx(trace.confidence.other)
    assert turned.confidence.probability == pytest.approx(trace.confidence.probability)


def test_a_question_about_the_other_is_counted_and_not_fitted_to() -> None:
    swapped = quality.Sample("dialogues", "dialogues a", quality.SWAPPED, 0.5, 0.5, 0.0, False)
    assert swapped.weight == 0
    assert (
        quality._changed_about("Did Tom see Elena's boat?", ("Elena", "Tom")) == "Did Elena see Tom's boat?"
    )


def test_in_a_store_of_a_few_memories_it_counts_too(tmp_path: Path) -> None:
    turns, _ = dialogues.read(NAME)
    engine = opened(dialogues.write(tmp_path / "few", turns[:5]))
    own, swapped = told(engine, "Which licence did Elena get?"), told(engine, "Which licence did Tom get?")
    assert own.few
    assert own.answered
    assert swapped.few
    assert swapped.another
    assert not swapped.answered
    assert "fits it better; too few candidates" in swapped.why
