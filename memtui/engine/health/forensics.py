"""Which vectors are not what the store's model makes of their texts, told from texts and vectors alone.

Four witnesses, none of which asks anybody:

1. The bundled model embeds each text, and a ridge regression learns to turn its vectors into the store's. Where a
   stored vector is not near the predicted one, it belongs to another text or to another model. The regression is
   learned on other rows than it judges, and once more without the rows that it rejected.
2. A model's vectors lie in few directions. A vector of another model has as much in these as in any others: the
   share of its length in the first eighth of the principal directions tells the model from the text.
3. The mean direction: rows of another model stand at right angles to it.
4. The words of neighbours: over a sample, how many words a memory shares with its nearest one, against any other.

With a model at hand that works on this machine the suspects are embedded again, which proves or clears each.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.core.progress import Progress
from memtui.engine.dialects.time_columns import numbers as numbers_of

if TYPE_CHECKING:
    from memtui.engine.health.check import Patient


FEWEST = 60
"""With fewer rows nothing can be told from them."""

FEWEST_DIMS = 24

LEARNED_FROM = 12_000

FOLDS = 5

RIDGES = (0.3, 3.0, 30.0)

LEAST_POWER = 0.18
"""Middle likeness of stored and predicted vectors below which the regression has learned nothing."""

SURE = 0.95
"""A row is a suspect when it is so much likelier to be foreign than not."""
FEW, SURE_OF_FEW = 200, 0.999
"""Fewer rows than this tell the tail of the sound ones badly: one of them has to be surer."""

THREE_WITNESSES = 0.002
"""Enough where its own directions and the mean of the others say the same."""

FALSE_ALARM = 0.0001
"""How thick the tail of odd but sound rows is taken to be."""

LEAST_SHARE = 0.002

ROUNDS = 4

DIRECTIONS = 8

MOST = 200_000
"""Rows that are judged: of more memories so many, spread evenly, else texts and vectors would not fit in memory."""

BLOCK = 16_384
"""Rows that are worked on at a time."""

SAMPLE = 3_000

NEIGHBOURS_ASKED = 600

TWICE = 2.0

FEWEST_APART = 3

SHARE_APART, MOST_APART = 0.015, 0.45
"""Shares of the texts between which a group that stands apart may be told from the others."""

OWN_SHARE = 0.8
"""A vector of another model has less than this of what the store's own have in the model's directions."""

NEIGHBOURS = 24

STRUCTURE = 1.35
"""A memory and its nearest one share at least so many times the words of any two, if vectors fit texts."""


SAME = 0.9
"""Likeness of a stored vector and the same text embedded again, below which it is another model or text."""

_TRIED = 24
"""Sound rows that a model at hand must make again before it proves anything."""

_WORD = re.compile(r"\w{2,}")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Forensics:
    """What was found; rows by their row ids."""

    rows: int
    other_model: NDArray[np.uint64]
    other_text: NDArray[np.uint64]
    since_ms: int | None = None
    sure_model: float | None = None
    sure_text: float | None = None
    evidence_model: tuple[str, ...] = ()
    evidence_text: tuple[str, ...] = ()
    models_apart: bool = False
    texts_apart: bool = False
    """Whether the finding stands: proven, or a group that hardly a healthy store has; else it is worth a look."""
    note: str = ""
    """Why nothing could be told; empty when something was."""
    sampled: bool = False
    """Whether these rows were spread over more than could be judged."""

    @property
    def among(self) -> str:
        """What a count of rows is of, where not all were judged; else empty."""
        return f" among {self.rows:,} that were judged, spread evenly" if self.sampled else ""


def examine(patient: Patient) -> Forensics | None:
    """Look at all vectors of a store, once for its version; None where there is nothing to look at."""
    store = patient.store
    if store is None or store.dims is None:
        return None
    return store.pin().derived(("forensics",), lambda: _examine(patient))


def _examine(patient: Patient) -> Forensics:
    nothing = np.zeros(0, np.uint64)
    rows, vectors, texts, times = _read(patient)
    if len(rows) < FEWEST or vectors.shape[1] < FEWEST_DIMS:
        return Forensics(len(rows), nothing, nothing, note="too few memories to tell")
    assert patient.store is not None
    sampled = patient.store.count() > MOST
    found = judge(vectors, texts)
    if found.whole:
        said = found.sentence
        return Forensics(
            len(rows), nothing, rows, sure_text=0.99, evidence_text=(said,), texts_apart=True, sampled=sampled
        )
    suspects = np.flatnonzero(found.foreign)
    sound = np.flatnonzero(~found.foreign)[:_TRIED]
    cleared = _proven(patient, suspects, vectors, texts) if suspects.size else None
    if cleared is not None and (again := _proven(patient, sound, vectors, texts)) is not None:
        cleared = (
            cleared if again.mean() > 0.5 else None
        )  # the model at hand is not the store's: it proves nothing
    if cleared is not None:
        suspects = suspects[~cleared]
    model = suspects[found.other_space[suspects]]
    text = suspects[~found.other_space[suspects]]
    proof = (
        (f"embedded again, all {suspects.size} came out differently",)
        if cleared is not None and suspects.size
        else ()
    )
    since = times[model][times[model] > 0]
    sure = None if not suspects.size else 1.0 if cleared is not None else float(found.odds[suspects].mean())
    return Forensics(
        len(rows),
        rows[model],
        rows[text],
        since_ms=int(since.min()) if since.size else None,
        sure_model=sure if model.size else None,
        sure_text=sure if text.size else None,
        evidence_model=(*_evidence(found, model), *proof) if model.size else (),
        evidence_text=(*_evidence(found, text), *proof) if text.size else (),
        models_apart=found.models_apart or bool(proof),
        texts_apart=found.texts_apart or bool(proof),
        note=found.sentence,
        sampled=sampled,
    )


@dataclass(frozen=True, slots=True, eq=False)
class VectorVerdicts:
    """One verdict a row. `whole`: not single rows, the vectors as a whole do not fit their texts."""

    foreign: NDArray[np.bool_]
    other_space: NDArray[np.bool_]
    """Of the foreign: whether the vector is of another model, not of another text."""
    likeness: Floats
    """Of each stored vector and the one predicted from its text."""
    odds: Floats
    """Chance that a row is foreign, 0 to 1."""
    energy: Floats
    mean_cosine: Floats
    whole: bool = False
    sentence: str = ""
    models_apart: bool = False
    """Whether rows of another model stand so far apart from the others that hardly a healthy store has the like."""
    texts_apart: bool = False
    """The same of rows with the vector of another text."""


def judge(
    vectors: NDArray[np.float32], texts: list[str], embedded: NDArray[np.float32] | None = None
) -> VectorVerdicts:
    """Judge each row: `vectors` are usable ones, float32 [n, dims], `texts` theirs, `embedded` by the bundled model."""
    from memtui.engine.providers.static_embedder import bundled

    unit = _unit(np.asarray(vectors, np.float32))
    first, of, text_of = _told_apart(unit, texts)
    if len(first) < len(unit):  # a text that is there ten times is one witness, not ten
        kept = [texts[at] for at in first]
        found = judge(unit[first], kept, None if embedded is None else embedded[first])
        rows = {name: getattr(found, name)[of] for name in _OF_ROWS}
        return replace(found, **rows)
    features = _with_ones(len(unit), lambda some: bundled().embed_passages(texts[some]), embedded)
    known = np.linalg.norm(features[:, :-1], axis=1) > 1e-6
    keep = known.copy()
    likeness = odds = energy = cosine = np.zeros(len(unit))
    foreign = np.zeros(len(unit), np.bool_)
    for _ in range(ROUNDS):
        likeness, null = _likeness(features, unit, keep, known, text_of)
        odds = _odds(likeness, null, known)
        foreign = known & (odds > (SURE if known.sum() >= FEW else SURE_OF_FEW))
        keep = known & (odds < 0.3)
    if float(np.median(likeness[known])) < LEAST_POWER if known.any() else True:
        return _as_a_whole(unit, texts, likeness)
    trusted = unit[keep]
    mean = trusted.mean(axis=0)
    energy, floor = _energies(unit, trusted, mean)
    cosine = (unit @ _unit(mean[None])[0]).astype(np.float64)
    own = float(np.median(energy[keep]))
    other = energy < (own + floor) / 2 if own > 1.3 * floor else np.zeros(len(unit), np.bool_)
    aside = cosine < np.median(cosine[keep]) / 2
    foreign |= known & other & aside & (odds > THREE_WITNESSES)
    turned = (energy - floor) < OWN_SHARE * (own - floor)
    return VectorVerdicts(
        foreign,
        other,
        likeness,
        odds,
        energy,
        cosine,
        models_apart=_stand_apart(features[:, :-1], likeness, known, turned),
        texts_apart=_stand_apart(features[:, :-1], likeness, known, known),
    )


_OF_ROWS = ("foreign", "other_space", "likeness", "odds", "energy", "mean_cosine")


def _told_apart(
    unit: NDArray[np.float32], texts: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows that differ in text or vector: the first of each, which of them each row is, and the text of each first."""
    keys = np.round(unit[:, :8], 2)
    seen: dict[tuple[str, bytes], int] = {}
    names: dict[str, int] = {}
    of = np.empty(len(texts), np.int64)
    first: list[int] = []
    text_of: list[int] = []
    for at, text in enumerate(texts):
        key = (text.strip(), keys[at].tobytes())
        place = seen.setdefault(key, len(first))
        if place == len(first):
            first.append(at)
            text_of.append(names.setdefault(key[0], len(names)))
        of[at] = place
    return np.array(first, np.int64), of, np.array(text_of, np.int64)


def _stand_apart(
    features: NDArray[np.float32],
    likeness: Floats,
    known: NDArray[np.bool_],
    may_be: NDArray[np.bool_],
) -> bool:
    """Whether the rows that are as unlike their texts as by chance are a group of their own, not a tail of sound ones.

    Texts of an unusual kind are predicted badly, too: such rows are the end of a tail, or lie among texts of their
    kind that fare no better. So there must be enough of them, next to none just above them, and the texts nearest to
    theirs must be predicted well. On healthy stores of mixed texts and models this holds of less than one in a hundred.
    """
    chance = 1.5 / np.sqrt(np.clip(len(likeness) / 3, 20, 60))
    low = known & (likeness < chance)
    between = int((known & (likeness >= chance) & (likeness < 2 * chance)).sum())
    asked = np.flatnonzero(low & may_be)
    if asked.size < FEWEST_APART or low.sum() >= MOST_APART * len(likeness):
        return False
    rng = np.random.default_rng(12)
    others = np.flatnonzero(known)
    if others.size > SAMPLE:
        others = rng.choice(others, SAMPLE, replace=False)
    if asked.size > SAMPLE:
        between = int(between * SAMPLE / asked.size)
        asked = rng.choice(asked, SAMPLE, replace=False)
    texts = _unit(features - features[known].mean(axis=0))
    count = max(3, min(NEIGHBOURS, len(others) // 4))
    usual = np.quantile(_nearest(texts, others, others, count)[1], 0.1)
    nearest, near = _nearest(texts, asked, others, count)
    around = likeness[nearest]
    middle = np.median(around, axis=1)
    above = np.where(around >= middle[:, None], (around - middle[:, None]) ** 2, np.nan)
    spread = np.maximum(np.sqrt(np.nanmean(above, axis=1)), 0.05)
    apart = (near >= usual) & (middle - likeness[asked] > 2 * spread)
    size = int(apart.sum())
    if size < max(FEWEST_APART, SHARE_APART * len(likeness) * asked.size / max(1, int((low & may_be).sum()))):
        return False
    alike = float(low[nearest[apart]].mean()) / float(low.mean())
    return alike < 2.5 and between <= 4 * size


def _nearest(
    texts: NDArray[np.float32], asked: NDArray[np.int64], others: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], Floats]:
    """The `count` rows of `others` with the texts nearest to each asked one, and how near the third of them is."""
    scores = texts[asked] @ texts[others].T
    scores[asked[:, None] == others[None, :]] = -2
    found = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    near = np.sort(np.take_along_axis(scores, found, axis=1), axis=1)[:, -3]
    return others[found], near.astype(np.float64)


def _with_ones(
    count: int, embed: Callable[[slice], Any], embedded: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """The bundled model's vectors with a last column of ones, float32 [count, dims + 1]; held once."""
    out: NDArray[np.float32] | None = None
    for start in range(0, count, BLOCK):
        some = slice(start, min(count, start + BLOCK))
        made = np.asarray(embed(some) if embedded is None else embedded[some], np.float32)
        if out is None:
            out = np.ones((count, made.shape[1] + 1), np.float32)
        out[some, :-1] = made
    return np.ones((0, 2), np.float32) if out is None else out


def _likeness(
    x: NDArray[np.float32],
    unit: NDArray[np.float32],
    keep: NDArray[np.bool_],
    known: NDArray[np.bool_],
    text_of: NDArray[np.int64],
) -> tuple[Floats, Floats]:
    """How near each vector is to the one predicted from its text, and the same for rows exchanged by chance.

    Rows of one text are judged together: none is predicted by what was learned from itself.
    """
    rng = np.random.default_rng(20_260_901)
    order = rng.permutation(int(text_of.max()) + 1)
    folds = np.empty(len(order), np.int64)
    folds[order] = np.arange(len(order)) % FOLDS
    folds = folds[text_of]
    out, null = np.zeros(len(unit)), np.zeros(len(unit))
    centre = unit[keep].mean(axis=0) if keep.any() else unit.mean(axis=0)
    ridge = 0.0
    for fold in range(FOLDS):
        judged = np.flatnonzero(folds == fold)
        learned = np.flatnonzero((folds != fold) & keep)
        if learned.size > LEARNED_FROM:
            learned = rng.choice(learned, LEARNED_FROM, replace=False)
        if not learned.size or not judged.size:
            continue
        target = unit[learned] - centre
        gram, cross = x[learned].T @ x[learned], x[learned].T @ target
        ridge = ridge or _best_ridge(gram, cross, x[judged], unit[judged] - centre)
        predicted = x[judged] @ np.linalg.solve(gram + ridge * np.eye(len(gram), dtype=np.float32), cross)
        out[judged] = _cosines(predicted, unit[judged] - centre)
        null[judged] = _cosines(predicted, unit[rng.permutation(judged)] - centre)
    out[~known] = np.nan_to_num(out[~known])
    return out, null


def _best_ridge(gram: Any, cross: Any, asked: Any, wanted: Any) -> float:
    """The ridge that predicts rows best that it has not seen."""

    def score(ridge: float) -> float:
        weights = np.linalg.solve(gram + ridge * np.eye(len(gram), dtype=np.float32), cross)
        return float(np.median(_cosines(asked @ weights, wanted)))

    return max(RIDGES, key=score)


def _odds(likeness: Floats, null: Floats, known: NDArray[np.bool_]) -> Floats:
    """Chance that each row is foreign: its likeness under that of exchanged rows, against that of the sound ones."""
    values, chance = likeness[known], null[known]
    m0, s0 = float(np.median(chance)), _spread(chance)
    share, sound_part = 0.05, values
    out = np.zeros(len(likeness))
    for _ in range(20):
        m1 = float(np.median(sound_part))
        high = sound_part[sound_part > m1]
        s1 = max(float(np.sqrt(np.mean((high - m1) ** 2))) if high.size else s0, 0.02)
        odd = share * _normal(likeness, m0, s0)
        sound = (1 - share) * np.maximum(
            _normal(likeness, m1, s1), FALSE_ALARM * _normal(likeness, (m0 + m1) / 2, 3 * s0)
        )
        out = odd / np.maximum(odd + sound, 1e-300)
        out[likeness > m1] = 0.0
        share = float(np.clip(out[known].mean(), LEAST_SHARE, 0.5))
        kept = values[out[known] < 0.5]
        sound_part = kept if kept.size > values.size // 3 else values
    return out


def _as_a_whole(unit: NDArray[np.float32], texts: list[str], likeness: Floats) -> VectorVerdicts:
    """Nothing can be told row by row: do memories share words with their nearest ones at all?"""
    nothing = np.zeros(len(unit), np.bool_)
    ratio, near = _neighbour_words(unit, texts)
    learned = float(likeness.mean()) > 4 * float(likeness.std()) / np.sqrt(len(likeness)) + 0.02
    whole = ratio is not None and ratio < TWICE and not learned and _has_structure(unit)
    said = (
        "too few words in common to tell"
        if ratio is None
        else (
            f"a memory and its nearest one share {near:.3f} of their words, {ratio:.1f} times as much as any two"
        )
    )
    zero = np.zeros(len(unit))
    return VectorVerdicts(nothing, nothing, likeness, zero, zero, zero, whole, said)


def _has_structure(unit: NDArray[np.float32]) -> bool:
    """Whether the vectors lie in few directions, as a model's do; numbers drawn by chance lie in all alike."""
    half = len(unit) // 2
    mean = unit[:half].mean(axis=0)
    energy, floor = _energies(unit[half:], unit[:half], mean)
    return float(energy.mean()) > STRUCTURE * floor


def _neighbour_words(unit: NDArray[np.float32], texts: list[str]) -> tuple[float | None, float]:
    """Shared words of a memory and its nearest one, as a multiple of two memories taken by chance."""
    rng = np.random.default_rng(5)
    asked = rng.choice(len(unit), min(NEIGHBOURS_ASKED, len(unit)), replace=False)
    pool = rng.choice(len(unit), min(20_000, len(unit)), replace=False)
    scores = unit[asked] @ unit[pool].T
    scores[asked[:, None] == pool[None, :]] = -2
    nearest = pool[np.argmax(scores, axis=1)]
    words = {int(at): set(_WORD.findall(texts[at].lower())) for at in {*asked, *nearest, *pool[:2_000]}}
    others = rng.choice(pool[: min(2_000, len(pool))], (len(asked), 8))
    near = float(
        np.mean([_shared(words[int(a)], words[int(b)]) for a, b in zip(asked, nearest, strict=True)])
    )
    by_chance = float(
        np.mean(
            [
                _shared(words[int(a)], words[int(b)])
                for a, row in zip(asked, others, strict=True)
                for b in row
                if a != b
            ]
        )
    )
    return (None, near) if by_chance < 1e-4 else (near / by_chance, near)


def _shared(left: set[str], right: set[str]) -> float:
    return len(left & right) / max(1, len(left | right))


def _energies(unit: NDArray[np.float32], trusted: NDArray[np.float32], mean: Any) -> tuple[Floats, float]:
    """Share of each vector, without the mean, in the first directions of the trusted ones; what chance would give."""
    rng = np.random.default_rng(3)
    sample = trusted if len(trusted) <= SAMPLE else trusted[rng.choice(len(trusted), SAMPLE, replace=False)]
    centred = np.asarray(sample - mean, np.float64)
    _, basis = np.linalg.eigh(centred.T @ centred)
    count = max(2, min(unit.shape[1] // DIRECTIONS, len(sample) // 4))
    first = basis[:, -count:].astype(np.float32)
    energy = np.zeros(len(unit), np.float64)
    for start in range(0, len(unit), BLOCK):
        rest = unit[start : start + BLOCK] - mean
        led = rest @ first
        total = np.einsum("ij,ij->i", rest, rest)
        energy[start : start + BLOCK] = np.einsum("ij,ij->i", led, led) / np.maximum(total, 1e-12)
    return energy, count / unit.shape[1]


def _evidence(found: VectorVerdicts, rows: NDArray[np.int64]) -> tuple[str, ...]:
    sound = ~found.foreign

    def said(what: str, values: Floats) -> str:
        return f"{what} {values[rows].mean():.2f}, else {np.median(values[sound]):.2f}"

    return (
        said("likeness of stored and predicted vector", found.likeness),
        said("cosine with the mean of the others", found.mean_cosine),
        said("share in the model's own directions", found.energy),
    )


def _proven(
    patient: Patient, suspects: NDArray[np.int64], vectors: NDArray[np.float32], texts: list[str]
) -> NDArray[np.bool_] | None:
    """Which of these rows come out the same when they are embedded again; None without a model on this machine."""
    from memtui.engine.providers.embedder import NoEmbedder
    from memtui.engine.providers.local_models import runs_here

    assert patient.engine is not None
    embedder = patient.engine.embedder
    if isinstance(embedder, NoEmbedder) or not runs_here(embedder.name):
        return None  # a service is asked by a person, not by a look
    made = np.asarray(embedder.embed_passages([texts[at] for at in suspects]), np.float32)
    return np.asarray(_cosines(made, vectors[suspects]) >= SAME)


def _read(patient: Patient) -> tuple[NDArray[np.uint64], NDArray[np.float32], list[str], Floats]:
    """Row ids, usable vectors, texts and times of rows that have both a vector and a text: all, or `MOST` of them."""
    import pyarrow as pa

    store = patient.store
    assert store is not None
    pin = store.pin()
    columns, dims = pin.dialect.columns, pin.dims or 0
    time = columns.timestamp or columns.created
    names = [columns.text, str(columns.vector), *([time] if time else [])]
    rows, vectors, texts, times = [], [], [], []
    done, total = 0, pin.count()
    step = -(-total // MOST) or 1
    for batch in pin.scan(names, with_row_id=True, batch_size=max(512, (16 << 20) // (4 * max(1, dims)))):
        if patient.cancel is not None:
            patient.cancel.check()
        first = -done % step
        done += batch.num_rows
        if patient.on_progress is not None:
            patient.on_progress(Progress("comparing vectors with texts", done, total))
        if step > 1:
            batch = batch.take(pa.array(np.arange(first, batch.num_rows, step)))
        column = batch.column(str(columns.vector))
        filled = column.fill_null([0.0] * dims) if column.null_count else column
        numbers = filled.flatten().to_numpy(zero_copy_only=False).reshape(-1, dims).astype(np.float32)
        words = batch.column(columns.text).to_pylist()
        stamps = np.zeros(batch.num_rows)
        if time:
            stamps = np.nan_to_num(numbers_of(batch.column(time), pin.dialect.times), posinf=0.0, neginf=0.0)
        squares = np.einsum("ij,ij->i", numbers, numbers)
        with np.errstate(all="ignore"):  # a spoilt vector is left out by what comes of it
            spread = numbers.std(axis=1)
        good = np.isfinite(squares) & (squares > 1e-12) & (spread > 1e-6)
        good &= np.array([bool(text and text.strip()) for text in words], np.bool_)
        at = np.flatnonzero(good)
        rows.append(batch.column("_rowid").to_numpy()[at])
        vectors.append(numbers[at])
        texts += [words[each] for each in at]
        times.append(stamps[at])
    if not rows:
        return np.zeros(0, np.uint64), np.zeros((0, dims), np.float32), [], np.zeros(0)
    return np.concatenate(rows), np.concatenate(vectors), texts, np.concatenate(times)


def _unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), np.float32)


def _cosines(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.asarray(np.einsum("ij,ij->i", left, right) / np.maximum(norms, 1e-12), np.float64)


def _spread(values: Floats) -> float:
    """Standard deviation by the middle half of the values: a few odd ones do not move it."""
    low, high = np.percentile(values, (25, 75))
    return max(float(high - low) / 1.349, 1e-3)


def _normal(values: Floats, mean: float, spread: float) -> Floats:
    return np.asarray(np.exp(-0.5 * ((values - mean) / spread) ** 2) / spread)
