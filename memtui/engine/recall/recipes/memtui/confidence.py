"""How sure it is that the best memory answers at all: a probability, calibrated on questions with and without answer.

Three things are looked at. How well the words of the question are met by one of the first memories, or just before
it, rare words counting more: it is not stretched over the pool, whose best always reaches the top, answer or not. How
much of all the weight that there is the best memory gathers: where meaning, words, speaker and time speak for one and
the same memory it is more likely the answer than where each speaks for another. And in dialogues whether what was
said beside it came back too, since what was talked about is told in more than one message, and how many words the
question has: three are sooner met by chance than eight. Where a question names one speaker it also counts whether
another said what it asks about (`another_speaker`): what Ana bought is no answer to what Tom bought. In notes a long
message seldom has one note that answers it; there how much of the question stands in the memory to the letter counts
too, rare words more.

Words that the bundled model knows in pieces alone are most words of a language that it never learned. Where half of the
question is made of such words, and none of them stands in a memory, their pieces count for nothing: they meet pieces of
any text.

Where hardly any memory was a candidate, only the words count: a score that is stretched from the lowest of three
memories to the highest says nothing. `tests/quality/confidence.py` fits all of it, for dialogues and notes apart, and
writes it into `weights.toml` beside the recipe, with errors and with what each part is worth.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.text import composed
from memtui.engine.recall.recipes.memtui.another_speaker import lead_of_another
from memtui.engine.recall.recipes.memtui.question import (
    AUXILIARIES,
    FUNCTION_WORDS,
    QUESTION_WORDS,
    words_of,
)
from memtui.engine.recall.recipes.memtui.survey import word_rarity
from memtui.engine.recall.trace import Confidence, ConfidenceTerm

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


Row = np.ndarray[Any, np.dtype[np.float64]]

_PART = re.compile(r"\w+")

WEIGHTS = Path(__file__).parent / "weights.toml"

LONG_FROM, LONG_TO = 12, 40
"""Words from which a question begins to be long, and from which it is."""

LOOKED_AT = 3
"""The best met of so many counts: the memory beside the answer may stand first."""

AMONG = 8
"""What was said beside the best met one is looked for among so many of the first."""

SHORT = 10
"""Words of a short message, with who said it."""

MANY_WORDS = 8
"""Of so many words without names, a question cannot have its words met by chance."""

FEW = 20
"""With fewer candidates than this only the words that are met count."""

UNKNOWN = 0.5
"""From this share of words in a script that the bundled model never learned nothing can be told."""


STRANGE, STRANGE_SHARE = 2, 0.5
"""So many words in pieces, with so much of all weight, and none met: a question in a language of which the model has no
words. Of 961 questions that our dialogues, chats and notes answer none is so, of the others 21 are."""

STANDS = 0.75
"""A word stands in a memory where each of its pieces is met at least so well."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the probability is made of: 1 / (1 + e^-(bias + met * met + gathered * gathered + ...))."""

    bias: float
    met: float
    gathered: float
    beside: float
    """For a memory with another of its session beside it among the first."""
    beside_unknown: float
    """The same of a memory that is in no session, or alone in it: what is usual."""
    long: float
    asked: float
    """For a question of many words, see `asked_words`."""
    literal: float
    """For a memory in which all of the question stands to the letter, see `literal`."""
    other_met: float
    """Where others' words meet the question wholly and those of the speaker whom it names not at all."""
    other_gathered: float
    """Where what others said leads by all that a speaker counts; see `another_speaker`."""
    line: float
    """Below this exponent no memory answers well: one question in twenty that has an answer is wrongly said to
    have none."""
    long_line: float
    """What a long question adds to it."""
    short_line: float
    """What short messages add to it: a question's words are met by fewer of them."""

    def of(
        self,
        met: float,
        gathered: float,
        long: float,
        beside: bool | None = None,
        short: bool = False,
        *,
        asked: float = 0.0,
        literal: float = 0.0,
        other_met: float = 0.0,
        other_gathered: float = 0.0,
    ) -> tuple[float, float, tuple[ConfidenceTerm, ...]]:
        """(the probability, the line below which nothing answers, its terms); `long` as `longness` says."""
        line = self.line + self.long_line * long + self.short_line * short
        signals = {
            "bias": 1.0,
            "met": met,
            "gathered": gathered,
            "long": long,
            "beside": self.beside_unknown if beside is None else float(beside),
            "asked": asked,
            "literal": literal,
            "other_met": other_met,
            "other_gathered": other_gathered,
        }
        terms = tuple(
            ConfidenceTerm(name, value, weight)
            for name, value in signals.items()
            if (weight := getattr(self, name))
        )
        exponent = sum(term.adds for term in terms)
        return 1 / (1 + exp(-exponent)), 1 / (1 + exp(-line)), terms


def longness(question: str) -> float:
    """0 for a short question, 1 for a long one."""
    return min(1.0, max(0.0, (len(question.split()) - LONG_FROM) / (LONG_TO - LONG_FROM)))


def content_words(question: str) -> frozenset[str]:
    """The different words of a question that say what is asked for, lower case."""
    return frozenset(words_of(question) - FUNCTION_WORDS - AUXILIARIES - QUESTION_WORDS)


def asked_words(question: str) -> float:
    """How many such words a question has without its names, as a share of many; 1 for all that have more."""
    return min(1.0, len(content_words(question)) / MANY_WORDS)


def literal(question: str, texts: Sequence[str], at: int) -> float:
    """The share of the question's words that stand in a text to the letter, those rare among `texts` counting more."""
    words = content_words(question)
    plain, joined = {word for word in words if word.isalnum()}, [word for word in words if not word.isalnum()]
    lowered = [composed(text).lower() for text in texts]
    held = [{*plain.intersection(_PART.findall(text)), *(w for w in joined if w in text)} for text in lowered]
    counts = Counter(word for item in held for word in item)
    rarity = {word: word_rarity(counts[word], len(texts)) for word in words}
    total = sum(rarity.values())
    return sum(rarity[word] for word in held[at]) / total if total else 0.0


def short_messages(texts: Sequence[str]) -> bool:
    """Whether half of the memories or more are short messages."""
    return median(len(text.split()) for text in texts) <= SHORT


@lru_cache(maxsize=4)
def judgement(profile: str, few: bool = False) -> Judgement:
    """What is fitted for a profile, `dialogue` or `notes`; `few`: for fewer candidates than `FEW`."""
    told = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))[profile]["few" if few else "confidence"]
    return Judgement(**{name: float(told[name]["weight"]) for name in Judgement.__dataclass_fields__})


def confidence(trace: Trace) -> Confidence | None:
    """How sure it is that a recall by `memtui` answers; None where that cannot be told.

    Not told: without results, and of questions of which the bundled model knows too little.
    """
    late = next((record for record in trace.records if record.name == "late_interaction"), None)
    if late is None or not trace.returned or _unknown(trace.query):
        return None
    weights = np.array(late.outcome.params["weights"], np.float64)
    if not weights.sum() > 0:
        return None
    settings = trace.config["memtui"]
    inputs = late.outcome.inputs
    pieces = inputs["cosines"]
    if "before" in inputs:
        pieces = np.fmax(pieces, settings["contextWeight"] * inputs["before"])
    place = trace.pool.place
    words = words_in_pieces(late.outcome.params["pieces"])
    met = {
        each: float(known(pieces[place[each]], weights, words) @ weights / weights.sum())
        for each in trace.returned[:LOOKED_AT]
    }
    memory = max(met, key=lambda each: met[each])
    last = trace.records[-1].outcome.flow
    gathered = float(last.score[last.order[0]]) / most(settings, {record.name for record in trace.records})
    few = len(place) < FEW
    near = None if few or settings["profile"] != "dialogue" else beside(trace, place[memory])
    judged, texts = judgement(settings["profile"], few), [row.text for row in trace.pool.rows]
    asked = asked_words(trace.cleaned or trace.query) if judged.asked else None
    stands = literal(trace.query, texts, place[memory]) if judged.literal else None
    lead = lead_of_another(trace) if judged.other_met or judged.other_gathered else None
    probability, line, terms = judged.of(
        met[memory],
        gathered,
        longness(trace.query),
        near,
        short_messages(texts),
        asked=asked or 0.0,
        literal=stands or 0.0,
        other_met=0.0 if lead is None else lead.met,
        other_gathered=0.0 if lead is None else lead.gathered,
    )
    return Confidence(
        *(memory, probability, met[memory], gathered, line, near, few, asked, stands, lead), terms=terms
    )


def words_in_pieces(pieces: Sequence[str]) -> list[slice]:
    """The words of a question that the model knows in pieces alone: where each begins and ends."""
    starts = [at for at, piece in enumerate(pieces) if at == 0 or not piece.startswith("##")]
    ends = [*starts[1:], len(pieces)]
    return [slice(start, end) for start, end in zip(starts, ends, strict=True) if end - start > 1]


def known(met: Row, weights: Row, words: Sequence[slice]) -> Row:
    """How well a memory meets each piece of a question, without words that say nothing.

    Those are the `words` in pieces, where there are several of them, half of all weight is theirs and none stands in
    the memory.
    """
    if len(words) < STRANGE or any(met[word].min() >= STANDS for word in words):
        return met
    if sum(float(weights[word].sum()) for word in words) < STRANGE_SHARE * weights.sum():
        return met
    kept = met.copy()
    for word in words:
        kept[word] = 0.0
    return kept


def beside(trace: Trace, at: int) -> bool | None:
    """Whether one of the first stands within two memories of the candidate `at`, in the same session.

    None where it is in no session, or alone in it.
    """
    sessions = next((record for record in trace.records if record.name == "neighbours"), None)
    if sessions is None:
        return None
    before, after = (sessions.outcome.inputs[name] for name in ("previous", "next"))
    ids = [row.id for row in trace.pool.rows]
    if before[at] is None and after[at] is None:
        return None
    scored = [record for record in trace.records if record.kind == "score"][-1].outcome.flow

    def near(other: int) -> bool:
        if ids[other] in (before[at], after[at]):
            return True
        between = (before[other], after[at]), (after[other], before[at])
        return any(one is not None and one == two for one, two in between)

    return any(near(other) for other in scored.order[:AMONG].tolist() if other != at)


def most(settings: Mapping[str, Any], ran: set[str]) -> float:
    """The weight that a memory has which everything speaks for; 1 where nothing has any."""
    from memtui.engine.recall.recipes.memtui.weights import WEIGHTS

    there = {"always", settings["profile"], *ran}
    return sum(float(settings[weight.key]) for weight in WEIGHTS if weight.counts in there) or 1.0


def _unknown(question: str) -> bool:
    from memtui.engine.recall.recipes.memtui.settings import covered_by_model

    return covered_by_model(question).uncovered >= UNKNOWN
