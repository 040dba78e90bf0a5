"""The trace of a recall: its result and its complete account.

Stages are recorded in columns (arrays over the candidate pool) and turned into the plain values
below only when somebody looks. A trace is immutable; screen, JSON, receipt and proof are views of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from memtui.engine.access import Grant

SCHEMA = "memtui.recall.v1"

StageKind = Literal["operation", "search", "score", "filter", "order"]


FETCH = "fetch_vectors"
"""The stage that is told as it begins: vectors are fetched over the network."""


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage: how many candidates went in and came out, and how long it took."""

    name: str
    title: str
    kind: StageKind
    n_in: int
    n_out: int
    ms: float
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Drop reason (a gate name) to number of candidates."""
    note: str = ""
    """What a person should know about this run of the stage: "cosine fallback: no API key"."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The parameters the stage ran with."""

    @property
    def begins(self) -> bool:
        """Whether it is told before it is done: `note` says what the answer waits for, `n_out` how much is there."""
        return self.name == FETCH


OnStage = Callable[[StageSummary], None]
"""Told of every stage as it ends; before that, and again as it goes on, of what takes long (`StageSummary.begins`)."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one stage did to one candidate. `after` is None when the stage dropped it."""

    stage: str
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None
    rule: str
    """The name of the rule that made `after` from `before` and `inputs`."""
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The step as in the command-line contract."""
        return {
            "stage": self.stage,
            "before": self.before,
            "after": self.after,
            "rank_before": self.rank_before,
            "rank_after": self.rank_after,
            "rule": self.rule,
            "inputs": dict(self.inputs),
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory that any lane found, with everything that happened to it."""

    id: str
    disposition: str
    """"returned", or the stage that dropped it."""
    reason: str
    """Empty when returned, else the gate: min_score, expired, rerank_window, hard_cutoff, ..."""
    score: float | None
    """The last score it had."""
    limit: float | None
    """The limit that it missed, where the gate has one."""
    rank: int | None
    """1-based final rank when returned."""
    sources: Mapping[str, Mapping[str, float | int | None]]
    """vector, bm25, fused, reranked: score and rank, where present."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a recall failed as a whole, so that its caller got nothing."""

    stage: str
    """Where, by the plugin's names: hybrid.embedQuery, vector.embedQuery."""
    reason: str
    """What the service said, whole."""

    @property
    def words(self) -> str:
        """One sentence for people, the reason left out."""
        return "embedding failed: the agent got nothing"

    def as_json(self) -> dict[str, str]:
        """Return it as the command-line contract has it."""
        return {"stage": self.stage, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether recomputing every step from its recorded inputs gives the recorded scores."""

    recomputed: bool
    max_error: float
    checked: int = 0
    """Number of steps recomputed."""
    failures: tuple[str, ...] = ()
    """One sentence for each step that does not agree, at most twenty."""


# Whose recall it is.

How = Literal["agent", "given", "everything", "own-rules"]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asked, and what was searched for them."""

    agent: str
    """The agent that the recall stands for; empty where it stands for nobody."""
    how: How
    """agent: the scopes that it may read. given: scopes that somebody named. everything: no filter by scope.
    own-rules: the recipe's program decides by rules of its own."""
    scopes: tuple[str, ...] | None
    """The scopes searched; None without a filter."""
    words: str
    """The same for people: "asked by main: global, agent:main"."""
    grants: tuple[Grant, ...] = ()
    """Each scope searched, whether the agent may read it, and why."""

    @property
    def refused(self) -> tuple[Grant, ...]:
        """Scopes that were searched although the agent may not read them."""
        return tuple(grant for grant in self.grants if not grant.allowed)

    @property
    def named(self) -> tuple[str, ...] | None:
        """The scopes that the request names; None where the asker's own were searched, or all."""
        return None if self.how in ("agent", "everything") else self.scopes

    def chosen(self, scopes: Any) -> bool:
        """Whether the `scopes` of the answered request were chosen by hand, where each asker has its own."""
        return not (self.how == "agent" or (scopes is None and not self.sees_all))

    @property
    def sees_all(self) -> bool:
        """Whether a person chose to look in all scopes where an agent would not."""
        return self.how == "everything" and bool(self.agent)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "agent": self.agent or None,
            "how": self.how,
            "scopes": None if self.scopes is None else list(self.scopes),
            "reasons": {
                str(grant.scope): {"allowed": grant.allowed, "reason": grant.reason} for grant in self.grants
            },
            "words": self.words,
        }


# How sure it is that the best memory answers.

LIKELY, HARDLY = 0.6, 0.3
"""From here on "likely", below there "hardly"; "perhaps" between them."""

ASKED_FEW = 0.5
"""Below this share of many words a question is of few."""

Word = Literal["likely", "perhaps", "hardly", "nothing"]


class ConfidenceTerm(NamedTuple):
    """One term of the exponent of a confidence: a signal's value times its weight."""

    name: str
    value: float
    """1 for the bias."""
    weight: float

    @property
    def adds(self) -> float:
        """What it adds to the exponent."""
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure it is that `memory`, the best met of the first results, answers the question."""

    memory: str
    probability: float
    """0 to 1, where every second question has an answer."""
    met: float
    """How well it meets the words of the question, or what was said just before it does; -1 to 1."""
    gathered: float
    """The share of all weight that speaks for the first result; may pass 1 where an identifier is held."""
    line: float
    """Below this probability no memory answers well."""
    beside: bool | None = None
    """Whether what was said beside it in its session came back too; None where that does not count."""
    few: bool = False
    """So few memories were candidates that only the words count."""
    asked: float | None = None
    """Of how many words the question is, as a share of many; None where that does not count."""
    literal: float | None = None
    """The share of the question that stands in the memory to the letter; None where that does not count."""
    other: tuple[float, float] | None = None
    """How far what another has said leads before what the speaker has whom the question names: in words met, and in
    all else as a share of what the speaker counts. None where it names no speaker, or several."""
    terms: tuple[ConfidenceTerm, ...] = ()
    """What the probability is made of: 1 / (1 + e^-(their sum)). Signals without a weight are left out."""

    @property
    def another(self) -> bool:
        """Whether another than the speaker whom the question names has said what is more like it."""
        return self.other is not None and min(self.other) > 0

    @property
    def word(self) -> Word:
        """In one word, the same on every face; "nothing" below the line."""
        if not self.answered:
            return "nothing"
        if self.probability >= LIKELY:
            return "likely"
        return "hardly" if self.probability < HARDLY else "perhaps"

    @property
    def answered(self) -> bool:
        """Whether any memory answers this well."""
        return self.probability >= self.line

    @property
    def number(self) -> float:
        """The probability as every face prints it, in hundredths."""
        return round(self.probability, 2)

    @property
    def verdict(self) -> str:
        """The sentence that every face says, without the number."""
        return f"answer found: {self.word}" if self.answered else "no memory answers this well"

    @property
    def said(self) -> str:
        """The sentence that every face says, with the number."""
        return f"{self.verdict} {self.number:.2f}"

    @property
    def why(self) -> str:
        """What it is told by, in words."""
        words = f"{self.met:.0%} of the question's words matched"
        another = ", what another than the one it names has said fits it better" if self.another else ""
        if self.few:
            return f"{words}{another}; too few candidates to weigh them against each other"
        told = f"{words}, {self.gathered:.0%} of all weight gathered"
        if self.literal is not None:
            told += f", {self.literal:.0%} of the question matched exactly"
        if self.asked is not None:
            few, many = self.asked < ASKED_FEW, self.asked == 1
            told += ", asked in few words" if few else ", asked in many words" if many else ""
        told += another
        if self.beside is None:
            return told
        return f"{told}, {'what' if self.beside else 'nothing that'} was said beside it came back too"

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "memory": self.memory,
            "probability": self.number,
            "met": self.met,
            "gathered": self.gathered,
            "beside": self.beside,
            "few": self.few,
            "asked": self.asked,
            "literal": self.literal,
            "other": None if self.other is None else dict(zip(("met", "gathered"), self.other, strict=True)),
            "terms": [{"name": term.name, "value": term.value, "weight": term.weight} for term in self.terms],
            "line": self.line,
            "answers": self.word,
            "answered": self.answered,
            "said": self.said,
        }


# Which word of the question met which word of a memory.

Span = tuple[int, int]

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class WordMet:
    """One word of the question: what of the score it decides, and the word of the memory that met it best.

    The score is the sum of `share` times `cosine` over all words. `met` is empty where the memory has no word
    that the model knows, and where the memory said before it meets the word better. Spans are characters in the
    two texts.
    """

    word: str
    span: Span
    share: float
    met: str
    met_span: Span
    cosine: float
    before: bool = False
    """Whether it was met by the memory said before; the cosine is what this counts here."""

    def as_json(self) -> dict[str, Any]:
        """The word for JSON."""
        return {
            "word": self.word,
            "span": list(self.span),
            "share": round(self.share, _DIGITS),
            "met": self.met,
            "met_span": list(self.met_span),
            "cosine": round(self.cosine, _DIGITS),
            **({"before": True} if self.before else {}),
        }


@dataclass(frozen=True, slots=True)
class WordsMet:
    """How well a memory meets a question, word by word, by the bundled model."""

    question: str
    """The question as it was compared: without the words that every memory has, where the recipe cleans it."""
    memory: str
    """The memory's text as it was compared."""
    offset: int
    """Where it begins in the whole text, in characters: after a leading `Speaker:`."""
    score: float
    words: tuple[WordMet, ...]
    unknown: tuple[str, ...]
    """Words of the question that the model does not know; they are left out."""
    approximate: bool
    """True where the recall did not use this comparison: it then only suggests why its vectors are near."""

    def as_json(self) -> dict[str, Any]:
        """The comparison for JSON."""
        return {
            "question": self.question,
            "offset": self.offset,
            "score": round(self.score, _DIGITS),
            "approximate": self.approximate,
            "words": [word.as_json() for word in self.words],
            "unknown": list(self.unknown),
        }
