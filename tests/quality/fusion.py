"""Fit what each signal of the recipe `memtui` is worth, for dialogues and for notes, and check it on what it never saw.

python -m tests.quality.fusion [../shared] [--write] [--context FOLDER]

Data: the dialogues and chats of this folder, written for this purpose, each asked alone and all of them as one long
dialogue between two people (names changed); and the notes of `../shared/fixtures/recall-tuning` (its README names
source and licence). The recipe answers every question once; its trace has each candidate's signals. A softmax over
the candidates is fitted to the memories that answer, held near the weights that were there before; new ones start at 0.
A weight of the old ones that would turn negative is left out. Every figure printed is of questions of a scope
that neither the choice nor the fit saw. `--write` makes `weights.toml`: weight, its error (jackknife over the
scopes), and what nDCG@10 loses without it, with a 95 % interval over the questions.

It leaves out scopes, not families: all of its data is of one hand, and weights so chosen did not hold on other people's
dialogues. `families.py` judges each weight by families; do not `--write` what it speaks against.

`--context`, the folder of a model for token vectors (all-MiniLM-L6-v2 in int8 was used), fits how these share the
weight of the words with the bundled vectors, the rest as it is: one point of a small grid, judged on scopes that did
not choose it. Without it, that part of `weights.toml` stays.

What was tried in vain: each put beside the signals that are kept, everything fitted anew on the other scopes. Change of
nDCG@10 with its 95 % interval, over all questions of the profile (dialogues 572, notes 579). Some 60 were tried: one or
two of them lie clear of 0 by chance.

    signal                                                     dialogues               notes
    own BM25, idf of the scope, k1 1.2, b .75                  -.004 [-.009, +.001]    -.000 [-.003, +.003]
    the same with k1 .5 to 2, b .3 to 1 (the best)             -.003 [-.007, +.001]    +.000 [-.003, +.003]
    its logarithm                                              -.002 [-.007, +.003]    +.003 [+.000, +.006]
    BM25 over pairs of words                                   -.000 [-.002, +.002]    +.003 [-.003, +.008]
    share of the question's idf that stands there              -.002 [-.004, +.001]    -.001 [-.003, +.000]
    how near its words stand to each other                     +.002 [-.002, +.005]    -.002 [-.004, -.001]
    expansion: neighbours of its words in the model            -.002 [-.005, +.002]    +.003 [-.001, +.006]
    feedback: words of the first three, BM25                   -.001 [-.003, +.001]    +.007 [-.004, +.018]
    feedback: words of the first 20, see below                                         +.031 [+.020, +.043]
    feedback: cosine with the first three                      -.003 [-.007, +.001]    -.002 [-.005, +.002]
    feedback: scores of what is alike                          -.003 [-.006, +.001]    +.004 [-.002, +.010]
    words met within one sentence, not the whole text          -.001 [-.002, +.000]    -.002 [-.006, +.001]
    logarithm of the length / shortness                        -.008 / -.006           -.003 / +.001
    words met beyond what the length explains                  -.003 [-.005, -.001]    -.001 [-.005, +.003]
    how much of the memory the question meets                  -.005 [-.010, -.001]    -.002 [-.004, +.000]
    cosines squared / cubed / from .5 on                       -.002 / +.001 / +.000   -.003 / -.003 / -.004
    rarity squared / cubed in the comparison of words          -.003 / -.003           -.004 / -.004
    words met as z-scores over the candidates                  -.003 [-.007, +.002]    -.003 [-.009, +.003]
    where, who, when: such a thing by its word's vector        +.002, +.001, +.000     +.000 each
    who: a capital inside; why: because, so that               -.001, +.000            -.000, +.000
    a number of the question in it                             +.000 [+.000, +.000]    -.001 [-.004, +.001]
    long questions: met by the last / first sentence           none is long            -.002 / -.005
    by those that ask / the best met / the mean of all         none is long            -.001 / -.000 / -.000
    the 3, 6, 10 rarest words alone as keywords                -.002, -.004, -.004     +.000, -.000, +.001
    newer, half-life 3 / 14 / 60 days                          -.001 / -.002 / -.003   see below
    the best score of another of its session                   +.009 [+.002, +.017]    +.002 [+.000, +.004]
    the best score within six minutes of it                    +.009 [+.001, +.016]    +.002 [+.000, +.004]
    MMR over the cosines, .9 / .7 / .5                         see below               -.002 / -.006 / -.018

Sentences of questions of 40 words and more (283) gain nothing either: the mean of all +.003 [-.007, +.013], the best
met +.002 [-.006, +.010], the last -.000 [-.009, +.009], rare words squared +.004 [-.001, +.010].

Four gained and were not kept. Feedback (idf of the 20 words that weigh most in the first 20, by place, a memory never
lending to itself) answers the notes' messages better, which want several notes of one subject: +.010 [+.005, +.015]
at a weight of .1, +.032 at the fitted .66, those under 40 words most. Questions that want one fact lose what these
gain: dialogues told as notes -.062 [-.093, -.030], chats so -.088 [-.128, -.048] and -.016 [-.031, -.004] at .1,
Russian -.203 [-.312, -.097], Chinese -.014 [-.025, -.004]. All of those are short, nearly all of the notes' are
longer than twelve words; whether length could tell them apart takes long questions about one fact, which are not
here. The best score of the session gains nothing that is clear of 0 in dialogues, and on public chats pooling has
cost .014 to .024. Older notes first gain +.015 [+.005, +.024] (weight -.44 by rank), because these questions seldom
cite the session that was just over: it would put what was superseded first. MMR at .5 gains +.016 [+.001, +.031] in
chats asked as one and loses .014 [.004, .023] in dialogues.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from memtui.engine import RecallRequest, Trace
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.settings import fitted
from memtui.engine.recall.recipes.memtui.signals import SIGNALS
from tests.conftest import SHARED
from tests.quality import confidence, dialogues, tuning
from tests.quality.tuning import Asked, interval

WEIGHTS = Path(__file__).parents[2] / "memtui" / "engine" / "recall" / "recipes" / "memtui" / "weights.toml"

Row = np.ndarray[Any, np.dtype[np.float64]]

BEFORE: Mapping[str, float] = {
    "vectorWeight": 0.3,
    "lateWeight": 0.8,
    "bm25Weight": 0.2,
    "identifierWeight": 1.0,
    "speakerWeight": 0.5,
    "dateWeight": 0.6,
}
"""The weights that there were before, fitted on public dialogues (see the changelog); signals had none."""

HELD = 4.0
"""How firmly weights are held near what they were; of 4 to 64 this answered unseen scopes best."""

TIED: Mapping[str, Mapping[str, float]] = {
    "dialogue": {"bm25Weight": 0.25},
    "notes": {"speakerWeight": 0.625},
}
"""Not fitted, but kept in proportion to the words' weight: what our questions say nothing of; and in dialogues the
keywords, of which ours would do with less, and chats of real people, which are not here, want more."""

LEAST_SHARE = {"identifierWeight": 1.25}
"""At least so much of the words' weight, whatever the fit says: numbers in our notes are seldom identifiers."""

LONGER = 0.25
"""What a long question adds to the keywords', in the same proportion."""

SHARPNESS = 8.0
"""A score of 1 more makes a memory e^8 times as likely: near what the fit itself would choose."""

CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "dialogue": tuple(signal.name for signal in SIGNALS),
    "notes": ("words_before", "last_of_session", "numbers", "times"),
}
"""Signals that are tried in each profile. Tried before and dropped: length, four words or fewer, first person,
capitals, literal words, best and worst word, the same of the memory after."""

LEAST = 2.0
"""A signal is kept whose weight is at least so many of its errors away from 0."""


@dataclass(frozen=True)
class Sample:
    """One question: the candidates' signals, which of them answer, and the answers there are."""

    set: str
    scope: str
    columns: Mapping[str, Row]
    answers: np.ndarray[Any, np.dtype[np.bool_]]
    relevant: int
    tied: Mapping[str, float]
    """What counts in proportion to the words' weight."""

    def matrix(self, names: Sequence[str]) -> Row:
        """[candidates, names]."""
        words = self.columns["lateWeight"] + sum(
            share * self.columns[name] for name, share in self.tied.items()
        )
        return np.stack([words if name == "lateWeight" else self.columns[name] for name in names], axis=1)


READ = ("lateWeight", "tokenWeight", "vectorWeight")

GRID: Sequence[tuple[float, ...]] = [
    (late, read, vector)
    for vector in (0.18, 0.0)
    for late in (0.8, 0.4, 0.3, 0.2, 0.1, 0.0)
    for read in (0.4, 0.8, 1.2, 1.6)
]
"""Those that are tried where there are token vectors, the first of equals."""


def sample(set_: str, scope: str, trace: Trace, relevant: frozenset[str]) -> Sample:
    """The signals of a recall, as its trace has them."""
    of = {record.name: record.outcome for record in trace.records}
    fused, n = of["fused"].inputs, trace.pool.n
    kept = np.zeros(n, bool)
    kept[of["kind"].flow.order] = True
    nothing = np.zeros(n)

    def part(inputs: Mapping[str, Any], name: str) -> Row:
        low, high = inputs[f"lowest_{name}"], inputs[f"highest_{name}"]
        return np.nan_to_num((inputs[name] - low) / (high - low)) if high > low else nothing

    best = fused["highest_bm25"]
    columns = {
        "vectorWeight": part(fused, "cosine"),
        "bm25Weight": np.nan_to_num(fused["bm25"]) / best if best > 0 else nothing,
        "identifierWeight": fused.get("identifiers", nothing),
        "lateWeight": part(of["late_interaction"].inputs, "met"),
        "speakerWeight": _ruled(of, "speaker", "speaker_named", n),
        "dateWeight": _ruled(of, "date", "date_named", n),
        "tokenWeight": part(of["token_vectors"].inputs, "read") if "token_vectors" in of else nothing,
    }
    for signal in SIGNALS:
        columns[signal.name] = of[signal.stage].inputs[signal.name] if signal.stage in of else nothing
    ids = [row.id for row in trace.pool.rows]
    answers = np.array([each in relevant for each in ids])[kept]
    length = min(1.0, max(0.0, (len(trace.query.split()) - 12) / 28))
    return Sample(
        set_,
        scope,
        {name: np.asarray(column, float)[kept] for name, column in columns.items()},
        answers,
        len(relevant),
        {"bm25Weight": LONGER * length},
    )


def _ruled(of: Mapping[str, Any], stage: str, rule: str, n: int) -> Row:
    return (of[stage].rule == rule).astype(float) if stage in of else np.zeros(n)


def ask(bench: RecallContext, set_: str, fold: str, asked: Asked) -> Sample:
    request = RecallRequest(
        asked.query, recipe="memtui", scopes=[asked.scope], limit=10, now_ms=asked.asked_at
    )
    return sample(set_, fold, recall(request, bench), asked.relevant)


def talks(folder: Path, root: Path, title: str, model: Path | None = None) -> list[Sample]:
    """The dialogues of a folder, each alone, and all as one."""
    found: list[Sample] = []
    read = {name: dialogues.read(name, folder) for name in dialogues.names(folder)}
    for together in (False, True):
        turns: list[dialogues.Turn] = []
        questions: list[tuple[str, Asked]] = []
        for name, (said, asked) in read.items():
            if together:
                said, asked = renamed(name, said, asked)
            turns += said
            questions += [(name, Asked(q.query, str(q.scope), frozenset(q.expected), None)) for q in asked]
        place = root / f"{title}-{together}"
        bench = tuning.reading(tuning.bench_on(dialogues.write(place, turns)), model)
        set_ = f"{title}, {'as one' if together else 'alone'}"
        found += [ask(bench, set_, name, each) for name, each in questions]
    return found


def renamed(
    name: str, turns: Sequence[dialogues.Turn], questions: Sequence[dialogues.Question]
) -> tuple[list[dialogues.Turn], list[dialogues.Question]]:
    """A dialogue as a part of one long one between the same two people."""
    people = dict(zip(dict.fromkeys(turn.speaker for turn in turns), ("Alex", "Robin"), strict=True))

    def told(text: str) -> str:
        for old, new in people.items():
            text = re.sub(rf"\b{old}\b", new, text)
            text = re.sub(rf"\b{old.lower()}\b", new.lower(), text)
        return text

    said = [
        replace(t, scope="all", speaker=people[t.speaker], text=told(t.text), session=name + t.session)
        for t in turns
    ]
    return said, [replace(q, query=told(q.query), scope="all") for q in questions]


def notes(shared: Path, root: Path, model: Path | None = None) -> list[Sample]:
    """The notes of the shared material, each question asked at its own time."""
    bench, parts = tuning.read_tuning(shared, root / "notes")
    bench = tuning.reading(bench, model)
    return [ask(bench, "notes", asked.scope, asked) for asked in parts["realmem"]]


def fit(samples: Sequence[Sample], names: Sequence[str]) -> tuple[Row, Row]:
    """(weights, their errors were the questions independent): Newton's method with a step that never goes up."""
    start = np.array([BEFORE.get(name, 0.0) for name in names])
    data = [
        (each.matrix(names) * SHARPNESS, each.answers / each.answers.sum())
        for each in samples
        if each.answers.any()
    ]

    def loss(weights: Row) -> float:
        total = SHARPNESS**2 * HELD * float(((weights - start) ** 2).sum()) / 2
        for matrix, share in data:
            score = matrix @ weights
            total += score.max() + float(np.log(np.exp(score - score.max()).sum()) - share @ score)
        return total

    weights = start.copy()
    for _ in range(30):
        slope = SHARPNESS**2 * HELD * (weights - start)
        curve = SHARPNESS**2 * HELD * np.eye(len(names))
        for matrix, share in data:
            score = matrix @ weights
            p = np.exp(score - score.max())
            p /= p.sum()
            mean = p @ matrix
            slope = slope + matrix.T @ (p - share)
            curve = curve + (matrix * p[:, None]).T @ matrix - np.outer(mean, mean)
        step, size = np.linalg.solve(curve, slope), 1.0
        while size > 1e-4 and loss(weights - size * step) > loss(weights):
            size /= 2
        weights = weights - size * step
        if np.abs(size * step).max() < 1e-5:
            break
    for name, share in LEAST_SHARE.items():
        if name in names and "lateWeight" in names:
            weights[names.index(name)] = max(
                weights[names.index(name)], share * weights[names.index("lateWeight")]
            )
    return weights, np.sqrt(np.diag(np.linalg.inv(curve)))


def chosen(samples: Sequence[Sample], profile: str) -> list[str]:
    """The old weights and those signals that stand clear of 0, found by leaving out the weakest one at a time."""
    names = [name for name in (*BEFORE, *CANDIDATES[profile]) if name not in TIED[profile]]
    while True:
        weights, errors = fit(samples, names)
        weakest = [
            (abs(weight) / error, name)
            for weight, error, name in zip(weights, errors, names, strict=True)
            if name not in BEFORE
        ]
        against = [name for weight, name in zip(weights, names, strict=True) if name in BEFORE and weight < 0]
        if weakest and min(weakest)[0] < LEAST:
            names.remove(min(weakest)[1])
        elif against:
            names.remove(against[0])
        else:
            return names


def measures(each: Sample, score: Row) -> tuple[float, float]:
    """nDCG@10 and recall@10."""
    gains = each.answers[np.argsort(-score, kind="stable")[:10]].astype(float)
    discounts = 1 / np.log2(np.arange(2, 12))
    ideal = discounts[: min(10, each.relevant)].sum()
    return float(gains @ discounts[: len(gains)] / ideal), gains.sum() / each.relevant


def cross_validated(samples: Sequence[Sample], names: Sequence[str] | None, profile: str = "") -> Row:
    """[samples, 2] measures under weights of the other scopes; without `names` the signals are chosen there too."""
    found = np.zeros((len(samples), 2))
    for scope in dict.fromkeys(each.scope for each in samples):
        others = [each for each in samples if each.scope != scope]
        kept = chosen(others, profile) if names is None else names
        weights, _ = fit(others, kept)
        for at, each in enumerate(samples):
            if each.scope == scope:
                found[at] = measures(each, each.matrix(kept) @ weights)
    return found


def with_tied(each: Sample, more: Mapping[str, float]) -> Sample:
    """The same with `more` in proportion to the words' weight."""
    return replace(each, tied={name: each.tied.get(name, 0.0) + more.get(name, 0.0) for name in BEFORE})


def gained(samples: Sequence[Sample], plain: Row, nested: Row, what: str = "") -> list[str]:
    """A line for each set: nDCG@10 and recall@10 before and after, with the interval of the change; `what` names it."""
    lines = []
    for set_ in dict.fromkeys(each.set for each in samples):
        inside = np.array([each.set == set_ for each in samples])
        mean, low, high = interval(nested[inside, 0] - plain[inside, 0])
        before, after = plain[inside].mean(axis=0), nested[inside].mean(axis=0)
        lines.append(
            f"# {set_}, {what or f'{inside.sum()} questions'}: nDCG@10 {before[0]:.3f} -> {after[0]:.3f} ({mean:+.3f}"
            f" [{low:+.3f}, {high:+.3f}]), recall@10 {before[1]:.3f} -> {after[1]:.3f}"
        )
    return lines


def report(profile: str, samples: Sequence[Sample]) -> list[str]:
    """Print what is gained; the part of `weights.toml` for this profile."""
    plain = np.array(
        [measures(each, each.matrix(list(BEFORE)) @ np.array(list(BEFORE.values()))) for each in samples]
    )
    samples = [with_tied(each, TIED[profile]) for each in samples]
    nested = cross_validated(samples, None, profile)
    print(
        f"{profile}: signals chosen and fitted on the other scopes, against the old weights without signals"
    )
    gains = gained(samples, plain, nested)
    print("\n".join(gains))
    names = chosen(samples, profile)
    weights, _ = fit(samples, names)
    scopes = list(dict.fromkeys(each.scope for each in samples))
    without = np.array([fit([each for each in samples if each.scope != scope], names)[0] for scope in scopes])
    n = len(scopes)
    errors = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    whole = cross_validated(samples, names)
    scale = BEFORE["lateWeight"] / weights[names.index("lateWeight")]
    lines: dict[bool, list[str]] = {True: [], False: []}

    def line(name: str, weight: float, error: float, less: Row) -> None:
        mean, low, high = interval(less[:, 0] - whole[:, 0])
        key = next((signal.key for signal in SIGNALS if signal.name == name), name)
        told = f"without = {mean:.4f}, interval = [{low:.4f}, {high:.4f}]"
        lines[name in BEFORE].append(f"{key} = {{ weight = {weight:.2f}, error = {error:.2f}, {told} }}")
        print(" ", lines[name in BEFORE][-1])

    for at, name in enumerate(names):
        others = [each for each in names if each != name]
        line(name, scale * weights[at], scale * errors[at], cross_validated(samples, others))
    for name, share in TIED[profile].items():
        less = [with_tied(each, {name: -share}) for each in samples]
        line(name, share * BEFORE["lateWeight"], 0.0, cross_validated(less, names))
    for name in BEFORE:
        if name not in names and name not in TIED[profile]:
            line(name, 0.0, 0.0, cross_validated(samples, [*names, name]))
    return [*gains, f"[{profile}]", *lines[True], "", f"[{profile}.signals]", *lines[False], ""]


def in_context(profile: str, samples: Sequence[Sample]) -> list[str]:
    """The part of `weights.toml` for stores with token vectors; printed with what is gained."""
    fixed = fitted(profile)  # type: ignore[arg-type]
    keys = {signal.name: signal.key for signal in SIGNALS}
    rest = {name: float(fixed[name]) for name in BEFORE if name not in READ}
    rest |= {name: float(fixed["signals"].get(key, 0.0)) for name, key in keys.items()}
    base = [each.matrix(list(rest)) @ np.array(list(rest.values())) for each in samples]
    longer = [BEFORE["lateWeight"] * each.tied["bm25Weight"] for each in samples]
    base = [
        b + more * each.columns["bm25Weight"] for b, more, each in zip(base, longer, samples, strict=True)
    ]

    def at(weights: Sequence[float]) -> Row:
        return np.array(
            [
                measures(each, b + each.matrix(READ) @ np.array(weights))
                for each, b in zip([replace(each, tied={}) for each in samples], base, strict=True)
            ]
        )

    plain = at((fixed["lateWeight"], 0.0, fixed["vectorWeight"]))
    tried = {weights: at(weights) for weights in GRID}
    scopes = np.array([each.scope for each in samples])

    def best(inside: np.ndarray[Any, Any]) -> tuple[float, ...]:
        return max(GRID, key=lambda weights: round(float(tried[weights][inside, 0].mean()), 3))

    kept, nested = {}, np.zeros_like(plain)
    for scope in dict.fromkeys(scopes.tolist()):
        kept[scope] = best(scopes != scope)
        nested[scopes == scope] = tried[kept[scope]][scopes == scope]
    gains = gained(samples, plain, nested, "token vectors")
    chosen_ones = best(np.ones(len(samples), bool))
    folds = np.array(list(kept.values()))
    errors = np.sqrt((len(folds) - 1) / len(folds) * ((folds - folds.mean(axis=0)) ** 2).sum(axis=0))
    out = [*gains, f"[{profile}.context]"]
    for place, name in enumerate(READ):
        weight = chosen_ones[place]
        other = 0.0 if weight else fixed.get(name, 0.8)
        less = at([other if at_ == place else each for at_, each in enumerate(chosen_ones)])
        mean, low, high = interval(less[:, 0] - tried[chosen_ones][:, 0])
        told = f"without = {mean:.4f}, interval = [{low:.4f}, {high:.4f}]"
        out.append(f"{name} = {{ weight = {weight:.2f}, error = {errors[place]:.2f}, {told} }}")
    print("\n".join(out))
    return [*out, ""]


HEAD = """\
# What each signal is worth. Made by `python -m tests.quality.fusion --write`, which says how and of which data.
# weight: a memory gains so much where the signal is 1. error: its standard error, by leaving out scopes.
# without, interval: the change of nDCG@10 when it is left out (for a weight of 0: put in) and the others are fitted
# anew, with its 95 % interval.
# Above each profile: questions of scopes that neither the choice nor the fit saw, against the old weights.
# context: what differs where the store has token vectors; there `without` leaves the other weights as they are
# (for a weight of 0: with that of the profile).
"""


def context_lines(told: str, profile: str) -> list[str]:
    """The part of `weights.toml` for token vectors as it stands there, with the gains above it."""
    lines = told.splitlines()
    at = lines.index(f"[{profile}.context]")
    start = at - next(n for n in range(at) if not lines[at - 1 - n].startswith("#"))
    return [*lines[start : at + 1 + len(READ)], ""]


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit what each signal is worth.")
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--context", type=Path, metavar="FOLDER")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)

        def both(model: Path | None, under: Path) -> dict[str, list[Sample]]:
            spoken = talks(dialogues.FOLDER, under, "dialogues", model)
            spoken += talks(dialogues.FOLDER / "chats", under, "chats", model)
            return {"dialogue": spoken, "notes": notes(args.shared, under, model)}

        parts = [report(*each) for each in both(None, root / "plain").items()]
        old = WEIGHTS.read_text(encoding="utf-8")
        if args.context is None:
            parts += [context_lines(old, profile) for profile in TIED]
        else:
            parts += [in_context(*each) for each in both(args.context, root / "read").items()]
    if args.write:
        told = HEAD + "\n" + "\n".join(line for part in parts for line in part)
        _, more = confidence.kept(old)
        WEIGHTS.write_text(told.rstrip() + "\n\n" + more, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
