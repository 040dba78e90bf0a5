"""What counts in a score is declared in one place, and stands in trace, What if, proof, Why not and texts at once."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.explain import (
    parameters,
    read_receipt,
    receipt,
    replay,
    signal_words,
    weight_words,
    what_if,
    why_not_in,
)
from memtui.engine.explain.knobs import knobs_of
from memtui.engine.recall.recipes.memtui.confidence import WEIGHTS as WEIGHTS_FILE
from memtui.engine.recall.recipes.memtui.confidence import judgement, most
from memtui.engine.recall.recipes.memtui.knobs import idle
from memtui.engine.recall.recipes.memtui.settings import GIVEN, OwnSettings, SignalWeights, fitted
from memtui.engine.recall.recipes.memtui.signals import RETIRED, SIGNALS
from memtui.engine.recall.recipes.memtui.weights import WEIGHTS, Weight
from memtui.tui.screens.recall.view import sections
from memtui.tui.trace.rule_text import formula
from tests.conftest import NOW_MS

ADDED = '''
"""A program of its own: one signal more is declared before anything else is read."""
import json, sys
from memtui.engine.recall.recipes.memtui import signals

signals.SIGNALS += (
    signals.Signal("short_text", "kind", "is short", "for what is short",
                   lambda given: signals._flags(len(row.text) < 60 for row in given.pool.rows)),
)

from memtui.engine import RecallRequest, open_engine
from memtui.engine.explain import parameters, what_if, why_not_in
from memtui.tui.trace.rule_text import formula


def after(trace):
    return sorted((c.id, s.after) for c in trace.candidates for s in c.steps if s.stage == "kind")


NOW = int(sys.argv[2])
engine = open_engine(sys.argv[1], now=lambda: NOW, environ={}, cwd=sys.argv[1])
config = {"memtui": {"signals": {"shortText": 0.3}}}
question = "Which port do I use for SSH to the bastion?"
trace = engine.recall(RecallRequest(question, recipe="memtui", config=config, limit=3))
steps = [(c, s) for c in trace.candidates for s in c.steps if s.stage == "kind"]
short = next(s for _, s in steps if s.inputs.get("short_text"))
last = trace.candidates[-1]
verdict = why_not_in(engine, trace, last.id)
turned = what_if(engine, trace, {"memtui.signals.shortText": -0.3})
print(json.dumps({
    "trace": [short.inputs["short_text"], short.inputs["short_text_weight"]],
    "proof": trace.proof.recomputed,
    "knob": [p.knob.meaning for p in parameters(trace) if p.knob.path == "memtui.signals.shortText"],
    "moved": after(trace) != after(turned.trace),
    "turned": turned.trace.config["memtui"]["signals"]["shortText"],
    "why_not": "short" in json.dumps(verdict.as_json(), default=str),
    "text": formula("kind", 0.0, short.inputs),
}))
'''


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def test_a_signal_that_is_added_is_everywhere(demo: Engine, tmp_path: Path) -> None:
    script = tmp_path / "added.py"
    script.write_text(ADDED, encoding="utf-8")
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, str(script), str(demo.store.uri), str(NOW_MS)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": "", "HOME": str(tmp_path)},
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["trace"] == [1, 0.3]
    assert told["proof"] is True
    assert told["knob"] == ["for what is short"]
    assert told["turned"] == -0.3
    assert told["moved"]
    assert told["why_not"]
    assert "+ .3 is short" in told["text"]


def test_every_signal_is_everywhere(demo: Engine) -> None:
    trace = demo.recall(RecallRequest("When did we move the port of the bastion?", recipe="memtui", limit=3))
    knobs = {knob.path for knob in knobs_of("memtui")}
    shown = {parameter.knob.path for parameter in parameters(trace)}
    ran = {record.name: record.outcome.inputs for record in trace.records}
    assert set(signal_words()) - set(RETIRED) == {s.name for s in SIGNALS} == set(SignalWeights.model_fields)
    for signal in SIGNALS:
        path = f"memtui.signals.{signal.key}"
        assert path in knobs
        assert path in shown
        assert {signal.name, f"{signal.name}_weight"} <= set(ran[signal.stage])
        assert signal.said in formula(signal.stage, 0.0, {signal.name: 1.0, f"{signal.name}_weight": 0.5})


def test_a_receipt_of_retired_signals_opens_is_told_and_is_asked_again(demo: Engine) -> None:
    trace = demo.recall(RecallRequest("When did we move the port of the bastion?", recipe="memtui", limit=3))
    document = json.loads(json.dumps(receipt(demo, trace)))
    for part in ("trace", "request"):
        document[part]["config"]["memtui"]["signals"] |= {to_camel(name): -0.25 for name in RETIRED}
    for candidate in document["trace"]["candidates"]:
        for step in candidate["steps"]:
            if step["stage"] == "kind":
                step["inputs"] |= {"question": 1.0, "question_weight": -0.25}
    old = read_receipt(json.dumps(document))
    step = next(step for step in old.candidates[0].steps if step.stage == "kind")
    assert "- .25 is a question" in formula("kind", 0.0, step.inputs)
    again = replay(demo, old)
    assert again.trace is not None
    assert again.trace.proof.recomputed
    assert "memtui.signals.question has no effect" in " ".join(again.trace.findings)


@pytest.mark.parametrize("name", [signal.name for signal in SIGNALS])
def test_the_proof_holds_every_signal(demo: Engine, name: str) -> None:
    """A value that no formula gives, and a weight that is not the setting, turn the account red."""
    trace = demo.recall(RecallRequest("When did we move the port of the bastion?", recipe="memtui"))
    stage = next(signal.stage for signal in SIGNALS if signal.name == name)
    at = next(at for at, record in enumerate(trace.records) if record.name == stage)
    assert trace.proof.recomputed
    inputs = trace.records[at].outcome.inputs
    for tampered in ({name: inputs[name] + 2}, {f"{name}_weight": inputs[f"{name}_weight"] + 0.5}):
        outcome = replace(trace.records[at].outcome, inputs={**inputs, **tampered})
        records = list(trace.records)
        records[at] = replace(records[at], outcome=outcome)
        assert not replace(trace, records=tuple(records)).proof.recomputed


def test_why_not_weighs_every_signal(demo: Engine) -> None:
    trace = demo.recall(RecallRequest("When did we move the port of the bastion?", recipe="memtui", limit=3))
    last = trace.candidates[-1]
    told = json.dumps(why_not_in(demo, trace, last.id).as_json(), default=str)
    turned = what_if(demo, trace, {f"memtui.signals.{signal.key}": 0.9 for signal in SIGNALS})
    assert turned.trace.proof.recomputed
    for signal in SIGNALS:
        assert turned.trace.config["memtui"]["signals"][signal.key] == 0.9
    assert last.id in told


# The weights beside the signals.

NAMED = {weight.key: weight for weight in WEIGHTS}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A talk in which a question can be asked that every weight has something to say about."""
    from tests.quality import dialogues

    turns, _ = dialogues.read("carmen-louis")
    turns.append(replace(turns[0], id="locker", text="My locker at the chapel has the code LOCK_4711."))
    folder = dialogues.write(tmp_path_factory.mktemp("talk") / "store", turns)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


EVERYTHING = "What is the latest that Louis said about LOCK_4711 in October 2023?"


def test_every_number_by_which_something_counts_is_declared() -> None:
    """The settings have no weight that the table lacks, nor does the file of what was fitted."""
    told = {each.alias or name for name, each in OwnSettings.model_fields.items()}
    weights = {key for key in told if key.endswith("Weight")} | {"rarity", "recencyHalfLifeDays"}
    assert set(NAMED) == weights
    for profile in ("dialogue", "notes"):
        assert set(fitted(profile)) - {"signals"} <= set(NAMED)
        assert set(fitted(profile)["signals"]) <= {signal.key for signal in SIGNALS}
    assert {key for key in GIVEN if key.endswith("Weight")} <= set(NAMED)


@pytest.mark.parametrize("weight", WEIGHTS, ids=lambda weight: weight.key)
def test_a_weight_has_a_knob_and_an_explanation_and_says_why_it_is_idle(
    everything: Engine, weight: Weight
) -> None:
    assert weight.field in OwnSettings.model_fields
    assert weight_words()[weight.key] == weight.meaning
    (knob,) = (knob for knob in knobs_of("memtui") if knob.path == f"memtui.{weight.key}")
    assert (knob.meaning, (knob.low, knob.high, knob.step)) == (weight.meaning, weight.knob)
    (sheet,) = (each for each in sections({"memtui": {weight.key: 0.5}}) if each.heading == "WEIGHTS")
    assert [(line.name, line.meaning) for line in sheet.lines] == [(weight.key, weight.meaning)]
    if weight.needs:
        trace = everything.recall(RecallRequest("choir", recipe="memtui"))
        ran = weight.needs in {record.name for record in trace.records}
        assert weight.missing
        assert ran or idle(trace, knob.path) == weight.missing


def test_every_weight_among_the_inputs_of_a_step_is_proved(everything: Engine) -> None:
    """A weight that is not the setting turns the account red; and there is none that the table does not know."""
    trace = everything.recall(RecallRequest(EVERYTHING, recipe="memtui"))
    assert trace.proof.recomputed
    signals = {f"{signal.name}_weight" for signal in SIGNALS}
    known = {weight.input: weight for weight in WEIGHTS if weight.input}
    seen = set()
    for at, record in enumerate(trace.records):
        inputs = record.outcome.inputs
        for name in {each for each in inputs if each.endswith("_weight") or each in known} - signals:
            assert known[name].stage == record.name
            seen.add(name)
            outcome = replace(record.outcome, inputs={**inputs, name: inputs[name] + 0.25})
            records = [*trace.records[:at], replace(record, outcome=outcome), *trace.records[at + 1 :]]
            assert not replace(trace, records=tuple(records)).proof.recomputed, name
    assert set(known) - seen == {"token_weight"}  # no token vectors here: tests/engine/test_token_vectors.py


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("profile", ["dialogue", "notes"])
def test_every_weight_of_the_confidence_has_its_error_and_what_is_lost_without_it(
    profile: str, few: bool
) -> None:
    """No weight without an ablation: of what is not so told there is none."""
    told = tomllib.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))[profile]["few" if few else "confidence"]
    judged = judgement(profile, few)
    assert set(told) == set(judged.__dataclass_fields__)
    for name in ("met", "gathered", "beside", "long", "other_met", "other_gathered"):
        assert getattr(judged, name) == told[name]["weight"]
        fitted_here = {"weight", "error", "elsewhere", "removed"}
        assert set(told[name]) - {"swapped"} == (fitted_here if told[name]["weight"] else {"weight"})
    assert judged.met > 0 > judged.line


def test_the_confidence_counts_the_weights_that_say_so() -> None:
    settings = {**dict.fromkeys(NAMED, 0.0), "profile": "dialogue"}
    for weight in WEIGHTS:
        one = {**settings, weight.key: 0.5}
        whole = most(one, set()), most({**one, "profile": "notes"}, set()), most(one, {"token_vectors"})
        counted = {
            "always": (0.5, 0.5, 0.5),
            "dialogue": (0.5, 1.0, 0.5),
            "token_vectors": (1.0, 1.0, 0.5),
            "never": (1.0, 1.0, 1.0),
        }
        assert whole == counted[weight.counts], weight.key  # 1 where nothing has any weight
