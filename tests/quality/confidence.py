"""Fit and check the confidence of the recipe `memtui`: does the best memory answer at all?

python -m tests.quality.confidence [../shared] [--write] [--context FOLDER]

Questions with an answer: those of our dialogues and chats, and of the notes of `../shared/fixtures/recall-tuning`.
Without one: the same questions asked of another dialogue with its people's names put in, or of another scope
("elsewhere"), and of the same without the memories that answer them ("removed"). Questions with and without an answer
count alike. Measured only, never fitted to: the same asked about the other person of the dialogue ("swapped"). Every
figure is cross-validated over dialogues or scopes, the line too. `--write` puts the weights into `weights.toml`: each
with its error (jackknife over the scopes) and with what the recognised shares lose without it.

`--context`, the folder of a model for token vectors, only measures: with these (all-MiniLM-L6-v2 in int8) the first
memories are others, and some answer whose words are hardly met. False alarms by the product's line: dialogues .064 of
157 (not to be told from .05), chats .119 of 67, the same as notes .031 and .062. A line of its own was tried: -.61
lower in dialogues, false alarms .05 and .06, but of questions from elsewhere .42 are recognised instead of .67 (chats
.37 instead of .73), of those about the other person .20 instead of .46. In notes it would stay where it is. So there
is none: what is missing is how well the words are met by token vectors, as a signal, not another line.

The line of each kind of question (long; among short messages; all others) is that below which one in twenty of such
questions that are still to come lies: of the few answered ones of two chats that is nearly the lowest of all.

Where there are next to no memories ("few") only the words count: the same questions in scopes of 1 to 15 memories.

What was tried. Change of the area under the curve (answered against removed, answered against elsewhere; dialogues |
chats) when it is put beside met and gathered, weights of the other scopes, the line left out of it:

    signal                                                          removed          elsewhere
    others of its session within 2 places among the first 8 (kept)  +.007 | +.022    -.008 | +.004
    the best score of what is beside it in its session              +.007 | +.019    -.003 | -.014
    ranks of the best met in all searches together (agreement)      +.004 | +.002    -.003 | +.011
    its rank by keywords                                            +.005 | +.003    +.003 | +.006
    rare words of the question in it to the letter                  +.007 | +.005    -.004 | -.001
    its lead in z-scores over the pool without the five best        -.001 | +.003    +.000 | +.003
    mass of the first three in a softmax over the scores            +.001 | +.007    -.001 | -.002
    the worst met of the heavy words                                +.000 | -.002    +.001 | +.001
    the geometric mean of the words met, instead of the mean        +.003 | -.010    -.008 | -.032
    the gap of cosine, first to sixth                               +.000 | +.005    -.001 | -.005
    the first stays first whatever word is left out                 -.002 | -.001    -.001 | -.001
    names and numbers of the question in it                         +.000 | -.003    +.000 | +.000
    who, where, how many, why: is there such a thing in it          +.000 | -.008    +.000 | -.002
    said by the one who is named                                    -.003 | +.002    -.002 | +.000
    the first asks itself                                           +.000 | +.001    +.007 | +.003

What the best that another said leads by, of the one whom the question names, in dialogues: about the other +.361
[+.294, +.424], removed +.031 [+.003, +.059], elsewhere +.021 [-.014, +.056], at the same false alarms. Nearly all
answers whose best is another's were his questions, or spoke to the one who is named: those are left out. Tried beside
it and not kept: what the others say in the first person alone, their questions too, the lead with what is met just
before, whether the first of all is another's, and fitting to questions about the other as well, which costs a fifth
of the others. Where there are few memories the words alone count of it: elsewhere +.133 [+.077, +.192], removed +.129
[+.080, +.178].

What is kept gains where it counts, at the same false alarms: removed +.063 [+.028, +.098], elsewhere +.080 [+.031,
+.133], its weight is four of its errors from 0; the change of the area alone is within its interval. How near and among
how many was chosen on these scopes, of forty ways that mostly gained alike: expect a little less elsewhere. In notes
there is no talk around a memory. Much of what was removed cannot be told by words: "How much cider did Tom make?" is as
near to "they drank all of the cider" as to its answer. That would take a reader.

Afterwards 141 signals were looked at together, among them what had not been: the memory's scores for other texts as
questions (hubness, as a ratio and in z-scores), the tail of a Gumbel distribution, BM25 against the most it could be,
how much of the memory the question meets, clarity and spread of the scores, what was written at the same time, the kind
of thing that is asked for by its word vector. Two were kept, both at the same false alarms: how many words are asked,
in dialogues (elsewhere +.049 [+.017, +.080], removed +.014 [-.010, +.042]; its weight is not two of its errors from 0),
and what of the question stands there to the letter, in notes (elsewhere +.081 [+.052, +.111], removed +.019 [-.002,
+.042]). What was written within six minutes of it gains elsewhere in notes, too (+.042 [+.008, +.077]), but nothing
beside that. Both were chosen on these scopes: expect less elsewhere.

The ceiling, of the removed, with a line at one in twenty of each set's own answered questions, which flatters all (the
last two rows: the mean of lines from 3 to 8 in a hundred, beside .33 | .29 | .30 | .20 | .10 without more signals):

                                                       dialogues | chats | both as notes | notes
    three signals, before these two                          .33 | .30   | .30 | .21     | .11
    logistic, all 141, ridge 10                              .31 | .17   | .37 | .26     | .07
    boosted trees, all 141, 150 of depth 2                   .37 | .07   | .25 | .23     | .01
    boosted trees, all 141, 300 of depth 3                   .35 | .07   | .25 | .28     | .02
    the best of 1,351 sets of three more, chosen on these    .39 | .29   | .30 | .32     | .13
    the same, chosen on the other scopes                     .33 | .18   | .26 | .28     | .07

The area under the curve goes from .79 | .71 to .80 | .73 with all of them; half of the removed at one in twenty would
take about .9. So half is not reached with these signals, whatever puts them together.

Tried earlier and of no use: how well any candidates together meet the words, the lead over the next, the fourth, the
tenth and the median, cosine and its lead, words that no memory has, whether a number, a name or a time is asked for
that the first three have not, how long the question or the memories are, rows of the store. Forty together overfit.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest, Trace
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui import confidence as subject
from memtui.engine.recall.recipes.memtui.another_speaker import lead_of_another
from memtui.engine.store.create import trial_copy
from tests.conftest import SHARED
from tests.quality import dialogues, tuning
from tests.quality.tuning import interval

FALSE_ALARMS = 0.05
KINDS = ("answerable", "elsewhere", "removed")
SWAPPED = "swapped"
"""A question of the same dialogue with its people's names changed about: what is asked was said of somebody else."""

UNANSWERED = (*KINDS[1:], SWAPPED)
SIGNALS = {
    "dialogue": ("met", "gathered", "beside", "asked", "other_met", "other_gathered"),
    "notes": ("met", "gathered", "long", "literal"),
    "dialogue.few": ("met", "other_met"),
    "notes.few": ("met",),
}
"""Of each profile those that are kept: our dialogues have no long questions, our notes no sessions of one talk."""

LITTLE = ", few"
"""The dialogues in scopes of so few memories that a score stretched over them says nothing."""

SIZES = (1, 2, 3, 5, 10, 15)
"""Memories of such a scope."""

AS_NOTES = ", as notes"
"""The dialogues once more as one author's notes: the name in the text, no speaker and no session beside it."""

FEW = 20
"""So many answered long questions are needed before they get a line of their own."""

HELD = 0.3
"""How firmly a weight is held near 0."""

Row = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Sample:
    """One question asked of one scope: what its answer's confidence is made of, and whether it can be the answer."""

    set: str
    scope: str
    kind: str
    met: float
    gathered: float
    long: float
    answers: bool
    near: bool | None = None
    """Whether what was said beside it came back too; None where that is not known."""
    short: bool = False
    """Whether the memories are short messages."""
    asked: float = 0.0
    """How many words the question has."""
    literal: float = 0.0
    """How much of it stands in the memory to the letter."""
    other_met: float = 0.0
    other_gathered: float = 0.0
    """How far what another said leads before what the one said whom it names; 0 where it names nobody, or several."""
    usual: float = 0.0
    """What counts where it is not: see `with_usual`."""

    @property
    def weight(self) -> float:
        return {"answerable": 1.0, SWAPPED: 0.0}.get(self.kind, 0.5)

    @property
    def beside(self) -> float:
        return self.usual if self.near is None else float(self.near)

    @property
    def profile(self) -> str:
        whose = "notes" if self.set == "notes" or self.set.endswith(AS_NOTES) else "dialogue"
        return f"{whose}.few" if LITTLE in self.set else whose

    @property
    def told(self) -> tuple[float, float]:
        """The probability and the line that the product gives it."""
        profile, _, few = self.profile.partition(".")
        judged = subject.judgement(profile, bool(few))
        return judged.of(
            *(self.met, self.gathered, self.long, self.near, self.short),
            asked=self.asked,
            literal=self.literal,
            other_met=self.other_met,
            other_gathered=self.other_gathered,
        )[:2]


def spoken(folder: Path, title: str, every: int = 1, model: Path | None = None) -> Iterator[Sample]:
    """Each `every`th question of the dialogues of a folder: with its answer, elsewhere, without it, of the other."""
    read = {name: dialogues.read(name, folder) for name in dialogues.names(folder)}
    people = {name: list(dict.fromkeys(t.speaker for t in turns)) for name, (turns, _) in read.items()}
    plain = title.endswith(AS_NOTES)
    with tempfile.TemporaryDirectory() as root:
        benches = {
            name: tuning.reading(
                tuning.bench_on(
                    dialogues.write(Path(root) / name, [noted_down(t) for t in turns], prefixed=False)
                    if plain
                    else dialogues.write(Path(root) / name, turns)
                ),
                model,
            )
            for name, (turns, _) in read.items()
        }
        for name, (_, questions) in read.items():
            for number, question in list(enumerate(questions))[::every]:
                expected = frozenset(question.expected)
                yield sampled(title, name, "answerable", _ask(benches[name], question.query), expected)
                other = [each for each in read if each != name][number % (len(read) - 1)]
                query = question.query
                for old, new in zip(people[name], people[other], strict=True):
                    query = re.sub(rf"\b{old}\b", new, query)
                yield sampled(title, other, "elsewhere", _ask(benches[other], query))
                yield sampled(title, name, "removed", _without(benches[name], expected, question.query))
                about = _changed_about(question.query, people[name])
                if about != question.query:
                    yield sampled(title, name, SWAPPED, _ask(benches[name], about))


def _changed_about(query: str, people: Sequence[str]) -> str:
    """The question with each of two people's names in the place of the other's."""
    one, two = people
    return re.sub(rf"\b(?:{one}|{two})\b", lambda found: two if found[0] == one else one, query)


def little(folder: Path, title: str, every: int = 1) -> Iterator[Sample]:
    """The questions asked where there is next to nothing: the answer and what was said around it, or not the answer.

    Elsewhere: a question about another dialogue with this one's names. All scopes stand in one store.
    """
    read = {name: dialogues.read(name, folder) for name in dialogues.names(folder)}
    people = {name: list(dict.fromkeys(t.speaker for t in turns)) for name, (turns, _) in read.items()}
    rng, plain = random.Random(19), title.endswith(AS_NOTES)
    rows: list[dialogues.Turn] = []
    asked: list[tuple[str, str, str, str, frozenset[str]]] = []
    for name, (turns, questions) in read.items():
        place = {turn.id: at for at, turn in enumerate(turns)}
        for number, question in list(enumerate(questions))[::every]:
            size, answer = SIZES[number % len(SIZES)], place[question.expected[0]]
            start = max(0, min(len(turns) - size - 1, answer - rng.randrange(size)))
            window = turns[start : start + size]
            for kind in KINDS:
                query, scope = question.query, f"{name}-{number}-{kind}"
                left = [t for t in window if t.id == turns[answer].id or t.id not in question.expected]
                if kind == "removed":
                    left = [t for t in turns[start : start + size + 1] if t.id not in question.expected]
                if kind == "elsewhere":
                    other = [each for each in read if each != name][number % (len(read) - 1)]
                    query = read[other][1][number % len(read[other][1])].query
                    for old, new in zip(people[other], people[name], strict=True):
                        query = re.sub(rf"\b{old}\b", new, query)
                made = [noted_down(t) if plain else t for t in left]
                rows += [replace(t, scope=scope, id=f"{scope}-{t.id}") for t in made]
                right = frozenset({f"{scope}-{turns[answer].id}"}) if kind == KINDS[0] else frozenset()
                if left:
                    asked.append((name, kind, query, scope, right))
    with tempfile.TemporaryDirectory() as root:
        bench = tuning.bench_on(dialogues.write(Path(root) / "few", rows, prefixed=not plain))
        for name, kind, query, scope, right in asked:
            yield sampled(title, name, kind, _ask(bench, query, [scope]), right)


def noted_down(turn: dialogues.Turn) -> dialogues.Turn:
    """A turn as a note of its own."""
    return replace(turn, text=f"{turn.speaker}: {turn.text}", speaker="", session="")


def noted(shared: Path, every: int = 3, model: Path | None = None) -> Iterator[Sample]:
    """Each `every`th question of the notes: at its own time, of another scope, and without its notes."""
    with tempfile.TemporaryDirectory() as root:
        bench, parts = tuning.read_tuning(shared, Path(root) / "notes")
        bench = tuning.reading(bench, model)
        scopes = sorted({each.scope for each in parts["realmem"]})
        for number, asked in list(enumerate(parts["realmem"]))[::every]:
            own, at = [asked.scope], asked.asked_at
            yield sampled(
                "notes", asked.scope, "answerable", _ask(bench, asked.query, own, at), asked.relevant
            )
            other = [each for each in scopes if each != asked.scope][number % (len(scopes) - 1)]
            yield sampled("notes", other, "elsewhere", _ask(bench, asked.query, [other]))
            trace = _without(bench, asked.relevant, asked.query, own, at)
            yield sampled("notes", asked.scope, "removed", trace)


def samples(every: int = 1, shared: Path | None = None, model: Path | None = None) -> list[Sample]:
    """The dialogues, the chats, and the notes where they are at hand; with token vectors of `model`, not the few."""
    found: list[Sample] = []
    talks = (("dialogues", dialogues.FOLDER), ("chats", dialogues.FOLDER / "chats"))
    for how in ("", AS_NOTES):
        for title, folder in talks:
            found += spoken(folder, f"{title}{how}", every, model)
    for title, folder in talks if model is None else ():
        for how in ("", AS_NOTES):
            found += little(folder, f"{title}{LITTLE}{how}", every)
    at_hand = shared is not None and shared.is_dir()
    return found + ([*noted(shared, model=model)] if shared is not None and at_hand else [])


def _ask(
    bench: RecallContext, query: str, scopes: list[str] | None = None, now_ms: int | None = None
) -> Trace:
    return recall(RecallRequest(query, recipe="memtui", scopes=scopes, now_ms=now_ms), bench)


def _without(
    bench: RecallContext,
    gone: frozenset[str],
    query: str,
    scopes: list[str] | None = None,
    at: int | None = None,
) -> Trace:
    """The answer where some memories had never been written."""
    store = bench.store
    with trial_copy(store, store.pin().version) as copy:
        copy.writer().commit(None, None, sorted(gone))
        copy.refresh()
        return _ask(replace(bench, store=copy), query, scopes, at)


def sampled(set_: str, scope: str, kind: str, trace: Trace, expected: frozenset[str] = frozenset()) -> Sample:
    """What the confidence of a recall is made of; it answers where one of the first looked at is expected."""
    told = subject.confidence(trace)
    met, gathered = (0.0, 0.0) if told is None else (told.met, told.gathered)
    answers = any(each in expected for each in trace.returned[: subject.LOOKED_AT])
    near = None if told is None else told.beside
    asked, literal = (0.0, 0.0) if told is None else _words(trace, told.memory)
    lead = None if told is None else lead_of_another(trace)
    other = (0.0, 0.0)
    if lead is not None:
        other = (
            lead.met,
            lead.gathered / subject.most(trace.config["memtui"], {r.name for r in trace.records}),
        )
    long, texts = subject.longness(trace.query), [row.text for row in trace.pool.rows]
    short = bool(texts) and subject.short_messages(texts)
    return Sample(
        set_, f"{set_} {scope}", kind, met, gathered, long, answers, near, short, asked, literal, *other
    )


def _words(trace: Trace, memory: str) -> tuple[float, float]:
    """Both signals of the question's words, whichever of them counts by now."""
    at = next(at for at, row in enumerate(trace.pool.rows) if row.id == memory)
    texts = [row.text for row in trace.pool.rows]
    return subject.asked_words(trace.cleaned or trace.query), subject.literal(trace.query, texts, at)


def with_usual(chosen: Sequence[Sample], known: Sequence[Sample]) -> list[Sample]:
    """The same, and where nothing is known of what was said beside a memory it counts as usual among `known`."""
    told = [(float(each.near), each.weight) for each in known if each.near is not None]
    total = sum(weight for _, weight in told)
    usual = sum(near * weight for near, weight in told) / total if total else 0.0
    return [replace(each, usual=usual) for each in chosen]


def matrix(chosen: Sequence[Sample], names: Sequence[str]) -> Row:
    """[samples, 1 + names]: ones, then the signals."""
    return np.array([[1.0, *(getattr(each, name) for name in names)] for each in chosen])


def fit(chosen: Sequence[Sample], names: Sequence[str]) -> Row:
    """Logistic regression by Newton's method: bias, then the weight of each signal."""
    x, y = matrix(chosen, names), np.array([float(each.answers) for each in chosen])
    counts = np.array([each.weight for each in chosen])
    found, ridge = np.zeros(1 + len(names)), np.diag([1e-3, *[HELD] * len(names)])
    for _ in range(40):
        p = 1 / (1 + np.exp(-x @ found))
        curve = (x * (counts * p * (1 - p))[:, None]).T @ x + ridge
        found = found + np.linalg.solve(curve, x.T @ (counts * (y - p)) - ridge @ found)
    return found


def _twentieth(exponents: Sequence[float]) -> float:
    """Below it lies one in twenty of questions like these that are still to come, not of these."""
    return float(np.quantile(exponents, FALSE_ALARMS, method="weibull"))


def lines(chosen: Sequence[Sample], exponents: Row) -> tuple[float, float, float]:
    """(the exponent below which one in twenty of the answered lies, what long questions and short messages add).

    Each of the three is that of its own questions where there are enough: one line for all would find twice as many
    of the chats' questions to have no answer as was asked for, and half as many of the dialogues'.
    """
    answered = [(e, each) for e, each in zip(exponents.tolist(), chosen, strict=True) if each.answers]
    long = [e for e, each in answered if each.long >= 0.5]
    short = [e for e, each in answered if each.long < 0.5 and each.short]
    rest = [e for e, each in answered if each.long < 0.5 and not each.short]
    if len(rest) < FEW:
        return _twentieth([e for e, _ in answered]), 0.0, 0.0
    line = _twentieth(rest)
    more = [_twentieth(part) - line if len(part) >= FEW else 0.0 for part in (long, short)]
    return line, more[0], more[1]


@dataclass(frozen=True)
class Checked:
    """What samples are given by weights and lines that never saw their scope."""

    samples: Sequence[Sample]
    given: Row
    """Probabilities."""
    below: np.ndarray[Any, np.dtype[np.bool_]]
    """Whether they are said to have no answer."""

    def share(self, set_: str, kind: str) -> float:
        """Of one kind of questions of a set the share that is said to have none; "answered" are false alarms."""
        return float(self.of(set_, kind).mean())

    def of(self, set_: str, kind: str) -> Row:
        """The same question by question, 0 or 1."""
        inside = [
            each.set == set_ and (each.answers if kind == "answered" else each.kind == kind)
            for each in self.samples
        ]
        found: Row = self.below[np.array(inside)].astype(np.float64)
        return found


def cross_validated(every: Sequence[Sample], without: str = "") -> Checked:
    """Each scope judged by weights and a line of the others of its profile; `without` one of the signals."""
    given, below = np.zeros(len(every)), np.zeros(len(every), bool)
    for scope in dict.fromkeys(each.scope for each in every):
        inside = np.array([each.scope == scope for each in every])
        profile = next(each.profile for each in every if each.scope == scope)
        names = [name for name in SIGNALS[profile] if name != without]
        others = [each for each in every if each.scope != scope and each.profile == profile]
        judged = with_usual([each for each in every if each.scope == scope], others)
        others = with_usual(others, others)
        weights = fit(others, names)
        line, long, short = lines(others, matrix(others, names) @ weights)
        exponents = matrix(judged, names) @ weights
        given[inside] = 1 / (1 + np.exp(-exponents))
        more = np.array([long * each.long + short * each.short for each in judged])
        below[inside] = exponents < line + more
    return Checked(every, given, below)


def table(every: Sequence[Sample], given: Sequence[float], bins: int = 5) -> str:
    """The reliability as lines: what was given against what is so."""
    drawn = ["given  so     n    0 . . . . . . . . 1   o given, x so"]
    for row in reliability(every, given, bins):
        axis = [" "] * 21
        axis[round(row[0] * 20)] = "o"
        axis[round(row[1] * 20)] = "x" if axis[round(row[1] * 20)] == " " else "*"
        drawn.append(f" {row[0]:.2f}  {row[1]:.2f}  {row[2]:4d}  |{''.join(axis)}|")
    return "\n".join(drawn)


def reliability(
    every: Sequence[Sample], given: Sequence[float], bins: int = 5
) -> list[tuple[float, float, int]]:
    """By bin of what was given: its mean, the share that is so, and how many."""
    rows = []
    for number in range(bins):
        inside = [
            (p, each) for p, each in zip(given, every, strict=True) if min(bins - 1, int(p * bins)) == number
        ]
        if inside:
            total = sum(each.weight for _, each in inside) or 1.0
            mean = sum(p * each.weight for p, each in inside) / total
            rows.append((mean, sum(each.answers * each.weight for _, each in inside) / total, len(inside)))
    return rows


def shares(checked: Checked) -> list[str]:
    """A line for each set: false alarms, and what is recognised of questions without an answer."""
    found = []
    for set_ in dict.fromkeys(each.set for each in checked.samples):
        asked = [
            kind
            for kind in UNANSWERED
            if any(each.set == set_ and each.kind == kind for each in checked.samples)
        ]
        parts = [f"{kind} {_counted(checked.of(set_, kind))}" for kind in asked]
        alarms = _counted(checked.of(set_, "answered"))
        found.append(f"{set_}: recognised {', '.join(parts)}, false alarms {alarms}")
    return found


def _counted(told: Row) -> str:
    """A share with how many it is of, and its 95 % interval (Wilson)."""
    n, share, z = len(told), float(told.mean()), 1.96
    middle, half = share + z * z / (2 * n), z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return f"{share:.2f} of {n} [{low:.2f}, {high:.2f}]"


def section(profile: str, every: Sequence[Sample]) -> list[str]:
    """The part of `weights.toml` for a profile: each weight with its error, and what is lost without it."""
    own, names = [each for each in every if each.profile == profile], SIGNALS[profile]
    own = with_usual(own, own)
    weights = fit(own, names)
    line, long, short = lines(own, matrix(own, names) @ weights)
    scopes = list(dict.fromkeys(each.scope for each in own))
    less = np.array([fit([each for each in own if each.scope != scope], names) for scope in scopes])
    errors = np.sqrt((len(scopes) - 1) / len(scopes) * ((less - less.mean(axis=0)) ** 2).sum(axis=0))
    whole = cross_validated(own)
    told = [*(f"# {each}" for each in shares(whole))]
    told.append(f"[{profile}]" if profile.endswith(".few") else f"[{profile}.confidence]")
    told.append(f"bias = {{ weight = {weights[0]:.2f}, error = {errors[0]:.2f} }}")
    for at, name in enumerate(names, 1):
        plain = cross_validated(own, name)
        parts = [f"weight = {weights[at]:.2f}", f"error = {errors[at]:.2f}"]
        for kind in [each for each in UNANSWERED if any(sample.kind == each for sample in own)]:
            sets = dict.fromkeys(each.set for each in own if each.kind == kind)
            change = np.concatenate([plain.of(each, kind) - whole.of(each, kind) for each in sets])
            mean, low, high = interval(change)
            parts.append(f"{kind} = [{mean:.3f}, {low:.3f}, {high:.3f}]")
        told.append(f"{name} = {{ {', '.join(parts)} }}")
    rest = {field.name: 0.0 for field in fields(subject.Judgement) if field.name not in ("bias", *names)}
    rest |= {"beside_unknown": own[0].usual, "line": line, "long_line": long, "short_line": short}
    return [*told, *(f"{name} = {{ weight = {value:.2f} }}" for name, value in rest.items()), ""]


def with_token_vectors(every: Sequence[Sample]) -> list[str]:
    """Two lines for each set: by the line of the product, and by one of its own, found on the other scopes."""
    margins = np.array([_margin(each) for each in every])
    answered, scopes = np.array([each.answers for each in every]), np.array([each.scope for each in every])
    own = np.zeros(len(every), bool)
    for scope in dict.fromkeys(scopes.tolist()):
        others = margins[answered & (scopes != scope)]
        own[scopes == scope] = margins[scopes == scope] < _twentieth(others.tolist())
    found: list[str] = []
    for title, below in (("as it is", margins < 0), ("a line of its own", own)):
        found += [f"{title}, {each}" for each in shares(Checked(every, margins, below))]
    return found


def _margin(each: Sample) -> float:
    """How far a question lies above the line, as an exponent."""
    given, line = each.told
    return float(np.log(given / (1 - given)) - np.log(line / (1 - line)))


HEAD = """\
# Confidence: made by `python -m tests.quality.confidence --write`. The probability that a memory answers is
# 1 / (1 + e^-(bias + met * met + gathered * gathered + beside * beside + ...)). Below line + long_line * long,
# and + short_line where the memories are short messages, no memory answers. beside_unknown stands for beside where that
# is not known; few: of fewer candidates than 20.
# elsewhere, removed, swapped: the change of the recognised share without the signal, mean and 95 % interval over the
# questions. Of those that are swapped (asked about the other person) the fit saw none.
# Above each profile: questions of scopes that the fit did not see.
"""


def kept(text: str) -> tuple[str, str]:
    """`weights.toml` in two: what the fusion makes, and what is made here."""
    before, mark, after = text.partition(HEAD[:13])
    return before.rstrip() + "\n", mark + after


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit and check the confidence.")
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--context", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    every = samples(shared=args.shared, model=args.context)
    told: list[str] = []
    for profile in dict.fromkeys(each.profile for each in every):
        own = [each for each in every if each.profile == profile]
        if args.context is not None:
            print("\n".join(with_token_vectors(own)))
            continue
        print(profile, {kind: sum(each.kind == kind for each in own) for kind in (*KINDS, SWAPPED)})
        print(table(own, cross_validated(own).given.tolist()))
        told += section(profile, every)
    print("\n".join(told))
    if args.write and args.context is None:
        old = subject.WEIGHTS.read_text(encoding="utf-8")
        subject.WEIGHTS.write_text(
            kept(old)[0] + "\n" + HEAD + "\n" + "\n".join(told).rstrip() + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
