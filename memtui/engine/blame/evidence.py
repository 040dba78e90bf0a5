"""What speaks for it that a sentence rests on a memory, and what against: numbers from 0 to 1, each with its grounds.

What the question itself brought counts little: an answer repeats its question. What few memories of the turn have
counts more than what all have. What a tool of the turn returned is explained without any memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import log

from memtui.engine.blame.statement import (
    TakenApart,
    best_likeness,
    is_weighty,
    signs_of,
    statement_of,
)
from memtui.engine.blame.values import conflict, likeness

ASKED_WORD, ASKED_VALUE = 0.3, 0.1
"""What a word or a value of the sentence counts that the question has already."""

HALF = 0.5
"""What a denial on one side alone counts."""

CONTRARY, DOUBTFUL = 0.2, 0.8
"""What a word counts under opposite signs: where the memory has both signs, and where it has one, read by rules."""

SAYS = 0.5
"""Likeness from which a memory says a value of the sentence."""


@dataclass(frozen=True, slots=True)
class PossibleCause:
    """A memory that may have caused a sentence."""

    id: str
    text: str
    day: str = ""
    """The day that stood before it in the prompt, YYYY-MM-DD: an answer may count from it."""
    cosine: float | None = None
    """Its vector's to the sentence's; None where nothing on this machine can make the latter."""
    asked: float | None = None
    """Its vector's cosine to the question's."""


@dataclass(frozen=True, slots=True)
class BlameEvidence:
    """The grounds for and against one memory; `weights.toml` says what each counts."""

    values: float = 0.0
    """Values of the sentence that it says and the question does not, those that others say too counting less."""
    values_share: float = 0.0
    """Their share of all that the sentence says."""
    unsaid: float = 0.0
    """Share of the values that neither it nor the question says."""
    conflict: float = 0.0
    """How clearly it says another value in the place of one that neither it nor another memory says."""
    words: float = 0.0
    """Share of the sentence's words that it has, rare ones counting more."""
    rare: float = 0.0
    """Weight of the words that it has and no other one."""
    own: float = 0.0
    """Share of its own words that the sentence has."""
    topic: float = 0.0
    """Share of the question's words that it has."""
    meaning: float = 0.0
    """How much nearer in meaning it is than the others are in the middle."""
    opposed: float = 0.0
    """Whether the sentence denies what it says, or says what it denies."""
    denied: float = 0.0
    """Whether both deny the same."""
    contrast: float = 0.0
    """Whether it says of another thing what the sentence says of this one: the storm, not the van; plums in July."""
    elsewhere: float = 0.0
    """Share of the sentence that another source of the turn says and it does not: a tool, a file."""
    lead: float = 0.0
    """How far it is ahead of the best of the others, below 0 behind."""
    new: float = 0.0
    """Share of the sentence's words that no memory and not the question has."""

    def as_row(self) -> list[float]:
        """The numbers in the order of their fields."""
        return [getattr(self, field.name) for field in fields(self)]


NAMES = tuple(field.name for field in fields(BlameEvidence))


@dataclass(frozen=True, slots=True)
class Grounds:
    """A candidate, its evidence, and what of the sentence it says."""

    candidate: PossibleCause
    evidence: BlameEvidence
    shares: tuple[str, ...] = ()
    """Values and words of the sentence, as it has them, that the memory says; values first."""
    values: tuple[str, ...] = ()
    """Those that are values."""


def weigh(
    sentence: str,
    candidates: Sequence[PossibleCause],
    *,
    question: str = "",
    told: Sequence[str] = (),
    rarity: dict[str, float] | None = None,
) -> list[Grounds]:
    """Weigh each candidate against the others, in their order.

    `told` are texts of the turn that are no memory: results of tools, files. `rarity` says how rare a word of the
    sentence is in the whole store, 0 to 1; a word that is not in it is rare.
    """
    said, asked = statement_of(sentence), statement_of(question)
    others = [statement_of(text) for text in told]
    stated = [_with_day(candidate) for candidate in candidates]
    brought = {value: max((likeness(value, asked.values), 0.0)) for value in said.values.values}
    counted = {value: ASKED_VALUE if brought[value] >= SAYS else 1.0 for value in said.values.values}
    says = [[likeness(value, each.values) for value in said.values.values] for each in stated]
    words = _weights_of_words(said, asked, stated, rarity or {})
    has = [
        {word: best_likeness(word, each.words) * _agreement(said, each, word) for word in said.words}
        for each in stated
    ]
    middle, middle_asked = _middle(candidates)
    nobody = [
        word
        for word in said.words
        if not any(each[word] >= SAYS for each in has) and not best_likeness(word, asked.words) >= SAYS
    ]
    total_words = sum(words.values())
    out = []
    for at, (candidate, own) in enumerate(zip(candidates, stated, strict=True)):
        shares: list[str] = []
        value_shares: list[str] = []
        sum_values = part_values = unsaid = against = foreign = 0.0
        for number, value in enumerate(said.values.values):
            got = says[at][number]
            sharing = sum(row[number] >= SAYS for row in says)
            if got >= SAYS:
                sum_values += counted[value] * got / max(1, sharing) ** 0.5
                part_values += counted[value] * got
                shares.append(value.shown)
                value_shares.append(value.shown)
            else:
                part_values += counted[value] * got
                if brought[value] < SAYS:
                    unsaid += counted[value]
                if not sharing:
                    against = max(against, conflict(value, own.values))
                if any(likeness(value, each.values) >= SAYS for each in others):
                    foreign += 2 * counted[value]
        all_values = sum(counted.values())
        got_words = sum(weight * has[at][word] for word, weight in words.items())
        alone = sum(
            weight * has[at][word]
            for word, weight in words.items()
            if has[at][word] >= SAYS and sum(row[word] >= SAYS for row in has) == 1
        )
        shares += [said.shown[word] for word in _told_words(said, has[at], words)]
        for word, weight in words.items():
            if has[at][word] < SAYS and any(best_likeness(word, each.words) >= SAYS for each in others):
                foreign += weight
        opposed, denied = _polarity(said, asked, own)
        evidence = BlameEvidence(
            values=min(1.5, sum_values),
            values_share=part_values / all_values if all_values else 0.0,
            unsaid=unsaid / all_values if all_values else 0.0,
            conflict=against,
            words=got_words / total_words if total_words else 0.0,
            rare=min(1.5, alone),
            own=_own_share(own, said, asked),
            topic=_topic(asked, own),
            meaning=_lead_of(candidate.cosine, middle) + 0.5 * _lead_of(candidate.asked, middle_asked),
            opposed=opposed,
            denied=denied,
            contrast=max(_contrast(said, own), _mixed(said, own)),
            elsewhere=foreign / (2 * all_values + total_words) if foreign else 0.0,
            new=sum(words[word] for word in nobody) / total_words if total_words else 0.0,
        )
        out.append(
            Grounds(candidate, evidence, tuple(dict.fromkeys(shares)), tuple(dict.fromkeys(value_shares)))
        )
    return _with_leads(out)


def rough(evidence: BlameEvidence) -> float:
    """A first order of the candidates: what they are compared by before anything is weighed."""
    return (
        1.2 * evidence.values
        + 1.0 * evidence.words
        + 0.5 * evidence.rare
        + 0.5 * evidence.own
        + 0.8 * evidence.meaning
        + 0.3 * evidence.topic
        + 0.3 * evidence.denied
        - 0.5 * evidence.opposed
        - 0.4 * evidence.conflict
    )


def _with_leads(found: list[Grounds]) -> list[Grounds]:
    scores = [rough(each.evidence) for each in found]
    out = []
    for at, each in enumerate(found):
        best = max((score for other, score in enumerate(scores) if other != at), default=0.0)
        lead = max(-1.5, min(1.5, scores[at] - best))
        out.append(replace(each, evidence=replace(each.evidence, lead=lead)))
    return out


def _with_day(candidate: PossibleCause) -> TakenApart:
    """The memory with the day before it, whose month an answer may name."""
    if not candidate.day:
        return statement_of(candidate.text)
    return statement_of(f"{candidate.day} {candidate.text}")


def _weights_of_words(
    said: TakenApart, asked: TakenApart, stated: Sequence[TakenApart], rarity: dict[str, float]
) -> dict[str, float]:
    """What each word of the sentence counts."""
    count = len(stated)
    out = {}
    for word in said.words:
        held = sum(best_likeness(word, each.words) >= SAYS for each in stated)
        here = log((count + 1) / (held + 0.5)) / log((count + 1) / 0.5) if count else 1.0
        weight = is_weighty(word) * (0.4 + 0.6 * here) * (0.3 + 0.7 * rarity.get(word, 1.0))
        if best_likeness(word, asked.words) >= SAYS:
            weight *= ASKED_WORD
        out[word] = weight
    return out


def _told_words(said: TakenApart, has: dict[str, float], words: dict[str, float]) -> list[str]:
    """Words of the sentence that a memory has, the weightiest first; of Chinese no letter twice."""
    found = [word for word in said.words if has[word] >= SAYS]
    pairs = [word for word in found if len(word) > 1]
    found = pairs + [word for word in found if len(word) == 1 and not any(word in pair for pair in pairs)]
    return sorted(found, key=lambda word: -words[word])[:6]


def _own_share(own: TakenApart, said: TakenApart, asked: TakenApart) -> float:
    weights = {
        word: is_weighty(word) * (ASKED_WORD if best_likeness(word, asked.words) >= SAYS else 1.0)
        for word in own.words
    }
    total = sum(weights.values())
    return (
        sum(weight * best_likeness(word, said.words) for word, weight in weights.items()) / total
        if total
        else 0.0
    )


def _topic(asked: TakenApart, own: TakenApart) -> float:
    weights = {word: is_weighty(word) for word in asked.words}
    total = sum(weights.values())
    return (
        sum(weight * best_likeness(word, own.words) for word, weight in weights.items()) / total
        if total
        else 0.0
    )


def _polarity(said: TakenApart, asked: TakenApart, own: TakenApart) -> tuple[float, float]:
    """(how much the sentence denies what the memory says or the other way round, how much both deny).

    Each word counts by the clause that it stands in on either side; what one side forbids and the other allows counts
    wholly, what only one of them denies half.
    """
    opposed = denied = total = 0.0
    contrary = False
    for word in said.words:
        here, there = signs_of(said, word), signs_of(own, word)
        if not here or not there:
            continue
        weight = is_weighty(word)
        total += weight
        if here & there:
            denied += weight if -1 in here & there else 0.0
        elif 0 not in here | there:
            contrary = True
            opposed += weight
        elif -1 in here | there:
            opposed += HALF * weight
    if not total:
        return 0.0, HALF * float(said.denies and own.denies)
    return (1.0 if contrary else opposed / total), denied / total


def _agreement(said: TakenApart, own: TakenApart, word: str) -> float:
    """What a word counts that both have: little where one side denies what it is said of and the other does not."""
    here, there = signs_of(said, word), signs_of(own, word)
    if not here or not there or not {sign < 0 for sign in here}.isdisjoint({sign < 0 for sign in there}):
        return 1.0
    if 0 not in here | there or len({clause.sign < 0 for clause in own.clauses}) > 1:
        return CONTRARY
    return DOUBTFUL


def _contrast(said: TakenApart, own: TakenApart) -> float:
    """1 where a word stands in the memory under the other sign alone, and other clauses there have this one."""
    signs = {clause.sign < 0 for clause in own.clauses}
    if len(signs) < 2:
        return 0.0
    for word in said.words:
        if len(word) == 1:
            continue
        here, there = signs_of(said, word), signs_of(own, word)
        if here and there and {sign < 0 for sign in here}.isdisjoint({sign < 0 for sign in there}):
            return 1.0
    return 0.0


def _mixed(said: TakenApart, own: TakenApart) -> float:
    """1 where the memory says a value of the sentence in one clause, and in that of its words another of the kind."""
    if len(own.clauses) < 2:
        return 0.0
    for value in said.values.values:
        holding = [clause for clause in own.clauses if likeness(value, clause.values) >= SAYS]
        if not holding:
            continue
        for word in said.words:
            if len(word) == 1 or any(best_likeness(word, clause.words) >= SAYS for clause in holding):
                continue
            for clause in own.clauses:
                if best_likeness(word, clause.words) >= SAYS and conflict(value, clause.values) >= SAYS:
                    return 1.0
    return 0.0


def _middle(candidates: Sequence[PossibleCause]) -> tuple[float, float]:
    told = [candidate.cosine for candidate in candidates if candidate.cosine is not None]
    asked = [candidate.asked for candidate in candidates if candidate.asked is not None]
    return (sum(told) / len(told) if told else 0.0, sum(asked) / len(asked) if asked else 0.0)


def _lead_of(cosine: float | None, middle: float) -> float:
    return 0.0 if cosine is None else max(-0.5, min(0.6, cosine - middle))
