"""Which word of a question met which word of a memory, and how well: plain values for the screen and JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine.core.text import clean
from memtui.engine.recall.speakers import SPEAKER, bare_text, text_of
from memtui.engine.recall.trace import Span, WordMet, WordsMet

if TYPE_CHECKING:
    import numpy as np

    from memtui.engine.recall.record import Trace


_WORD = re.compile(r"\w+(?:[-_./:@=+'’]\w+)*")

_RUN = re.compile(r"\w+")


def words_met(
    question: str,
    memory: str,
    *,
    approximate: bool,
    offset: int = 0,
    weights: Sequence[float] | None = None,
    lent: Sequence[float] = (),
) -> WordsMet:
    """Compare a question with a memory's text; the heaviest words of the question come first.

    `weights` are those of the question's pieces as a recall used them; without, the lengths of their vectors.
    `lent` is what the memory said before counts for each of these pieces.
    A word's cosine is the mean over its pieces, weighted by them; `met` is the word that holds the piece which
    the heaviest of them met. Raises EmbeddingError when the bundled model cannot be read.
    """
    import numpy as np

    from memtui.engine.core.products import unit
    from memtui.engine.providers.static_embedder import bundled

    model = bundled()
    asked, told = model.token_vectors_many([question, memory])
    own = ((asked.matrix.astype("float64") ** 2).sum(axis=1) ** 0.5).tolist()
    lengths: Sequence[float] = own if weights is None or len(weights) != len(own) else weights
    total = sum(lengths)
    table = (unit(asked.matrix) @ unit(told.matrix).T).clip(max=1.0)
    if len(lent) == len(own) and len(own):
        table = np.hstack([table, np.array(lent)[:, None]])
    words, unknown = [], []
    for start, end in _words(question, asked.spans):
        pieces = [at for at, (a, b) in enumerate(asked.spans) if start <= a and b <= end]
        weight = sum(lengths[at] for at in pieces)
        if not any(character.isalnum() for character in question[start:end]):
            continue
        if not pieces:
            unknown.append(question[start:end])
            continue
        cosine, met = _met(table, [lengths[at] for at in pieces], pieces, memory, told.spans)
        share = weight / total if total else 0.0
        here = met or (0, 0)
        word = question[start:end]
        words.append(WordMet(word, (start, end), share, memory[slice(*here)], here, cosine, met is None))
    words.sort(key=lambda word: (-word.share, word.span))
    score = sum(word.share * word.cosine for word in words)
    return WordsMet(question, memory, offset, score, tuple(words), tuple(unknown), approximate)


def words_met_in(trace: Trace, memory_id: str) -> WordsMet:
    """The comparison for a candidate of a recall: exact for the recipe that scores by it, else an approximation.

    Texts are compared as the screen shows them, so that spans fit. Raises KeyError for an id that is no
    candidate of `trace`, EmbeddingError when the model cannot be read.
    """
    import numpy as np

    row = next((row for row in trace.pool.rows if row.id == memory_id), None)
    if row is None:
        raise KeyError(memory_id)
    shown = clean(row.text)
    compared = next((record for record in trace.records if record.name == "late_interaction"), None)
    if compared is None:
        return words_met(clean(trace.query), shown, approximate=True)
    bare = bare_text(shown, text_of(row.metadata.values, (SPEAKER,)))
    params, inputs = compared.outcome.params, compared.outcome.inputs
    index = trace.pool.rows.index(row)
    before = inputs["before"][index] if "before" in inputs else np.array([np.nan])
    return words_met(
        clean(str(params["question"])),
        bare,
        approximate=False,
        offset=len(shown) - len(bare),
        weights=params["weights"],
        lent=[] if np.isnan(before).all() else [inputs["context_weight"] * cosine for cosine in before],
    )


def _words(text: str, pieces: list[Span]) -> list[Span]:
    """The words of a text as spans; a piece that belongs to none of them is one of its own."""
    words = [found.span() for found in _WORD.finditer(text)]
    alone = [span for span in pieces if not any(a <= span[0] and span[1] <= b for a, b in words)]
    return sorted({*words, *alone})


def _met(
    table: np.ndarray[Any, Any], weights: list[float], pieces: list[int], memory: str, spans: list[Span]
) -> tuple[float, Span | None]:
    """The weighted mean of the best cosines, and the memory's word that the heaviest piece met.

    None for a word of the memory before, whose pieces stand in the last column of `table`.
    """
    if not table.shape[1]:
        return 0.0, (0, 0)
    best = table[pieces].max(axis=1)
    counted = weights if any(weights) else [1.0] * len(weights)  # a word of every memory weighs nothing
    cosine = float(sum(w * float(c) for w, c in zip(counted, best, strict=True)) / sum(counted))
    heaviest = pieces[max(range(len(pieces)), key=lambda at: weights[at])]
    best_at = int(table[heaviest].argmax())
    if best_at == len(spans):
        return cosine, None
    start, end = spans[best_at]
    runs = (found.span() for found in _RUN.finditer(memory))
    return cosine, next((run for run in runs if run[0] <= start and end <= run[1]), (start, end))
