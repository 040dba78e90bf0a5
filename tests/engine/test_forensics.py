"""Vectors of another model, and of another text, told from the vectors and texts alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine.health.doctor import examine
from memtui.engine.health.forensics import judge
from memtui.engine.providers.static_embedder import bundled
from tests.engine import planted_faults as planted
from tests.engine.planted_faults import key_of, memory
from tests.engine.test_doctor import patient


@pytest.fixture(scope="module")
def recorded(shared: Path) -> tuple[Any, list[str], Any]:
    """267 memories with vectors of a real model, and what the bundled model makes of their texts."""
    folder = shared / "fixtures" / "peer"
    texts = [json.loads(line)["text"] for line in (folder / "memories.jsonl").read_text("utf-8").splitlines()]
    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    good = [at for at, text in enumerate(texts) if text and text.strip()]
    kept = [texts[at] for at in good]
    return vectors[good], kept, np.asarray(bundled().embed_passages(kept), np.float32)


def spoiled(vectors: Any, kind: str, share: float) -> tuple[Any, set[int]]:
    rng = np.random.default_rng(11)
    out, count = vectors.copy(), round(share * len(vectors))
    bad = rng.choice(len(vectors), count, replace=False)
    if kind == "another model":
        turn, _ = np.linalg.qr(rng.standard_normal((vectors.shape[1],) * 2))
        out[bad] = vectors[bad] @ turn
    elif kind == "shuffled":
        out[bad] = vectors[np.roll(bad, 1)]
    else:
        out[bad] = vectors[(bad + 31) % len(vectors)]
    return out, set(bad.tolist())


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("kind", ["another model", "shuffled", "another text"])
def test_mixtures(kind: str, share: float, recorded: Any) -> None:
    vectors, texts, embedded = recorded
    made, bad = spoiled(vectors, kind, share)
    found = judge(made, texts, embedded)
    rows = set(np.flatnonzero(found.foreign).tolist())
    few = (
        0.6 if len(bad) < 5 else 0.85
    )  # one odd text beside three rows; such a few are no finding, but a note
    assert len(rows & bad) / max(1, len(rows)) >= few, "precision"
    if share >= 0.05:
        assert found.models_apart if kind == "another model" else found.texts_apart
    wanted = 1 / 3 if len(bad) < 5 else 0.8 if kind == "another model" else 0.5  # three rows are few to count
    assert len(rows & bad) / len(bad) >= wanted, "recall"
    other = found.other_space[sorted(rows)].mean()
    assert (other > 0.9) if kind == "another model" else (other < 0.5)


@pytest.mark.slow
def test_precision_and_recall_in_a_table(recorded: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The same mixtures as figures, printed whatever happens to the rest: what is promised is what is measured."""
    vectors, texts, embedded = recorded
    lines = [f"{'mixture':<16}{'share':>7}{'rows':>6}{'found':>7}{'precision':>11}{'recall':>8}"]
    sums = {}
    for kind in ("another model", "shuffled", "another text"):
        for share in (0.01, 0.05, 0.2):
            made, bad = spoiled(vectors, kind, share)
            rows = set(np.flatnonzero(judge(made, texts, embedded).foreign).tolist())
            precision, recall = len(rows & bad) / max(1, len(rows)), len(rows & bad) / len(bad)
            sums[kind, share] = precision, recall
            lines.append(
                f"{kind:<16}{share:>7.0%}{len(bad):>6}{len(rows):>7}{precision:>11.2f}{recall:>8.2f}"
            )
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert min(precision for (_, share), (precision, _) in sums.items() if share > 0.01) >= 0.85
    assert (
        min(recall for (kind, share), (_, recall) in sums.items() if kind == "another model" and share > 0.01)
        >= 0.8
    )


@pytest.mark.slow
def test_no_row_of_a_sound_store_is_suspected(recorded: Any) -> None:
    found = judge(*recorded)
    assert not found.foreign.any()
    assert not found.whole


STORES = 60


@pytest.mark.slow
def test_hardly_a_healthy_store_of_mixed_texts_is_accused(shared: Path) -> None:
    """Texts of four sources mixed and repeated, vectors all of one model: at most one store in a hundred."""
    sources = _sources(shared)
    accused = []
    for seed in range(STORES):
        vectors, texts, model = _healthy(sources, seed)
        found = judge(vectors, texts)
        if found.models_apart and (found.foreign & found.other_space).any():
            accused.append((seed, model, len(texts), "another model"))
        elif (found.texts_apart and (found.foreign & ~found.other_space).any()) or found.whole:
            accused.append((seed, model, len(texts), "another text"))
    assert len(accused) <= max(1, STORES // 100), accused


def _sources(shared: Path) -> list[list[str]]:
    fixtures = shared / "fixtures"
    peer = [
        json.loads(line)["text"]
        for line in (fixtures / "peer" / "memories.jsonl").read_text("utf-8").splitlines()
    ]
    chats = [
        json.loads(line)["text"]
        for line in (fixtures / "capture-offline" / "texts.jsonl").read_text("utf-8").splitlines()
    ]
    with gzip.open(fixtures / "recall-tuning" / "memories.jsonl.gz", "rt", encoding="utf-8") as file:
        notes = [json.loads(line)["text"] for line in file]
    made = [planted.text_of(number) for number in range(400)]
    return [[text for text in each if text and text.strip()] for each in (peer, chats, notes, made)]


def _healthy(sources: list[list[str]], seed: int) -> tuple[Any, list[str], str]:
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(sources), rng.integers(1, len(sources) + 1), replace=False)
    texts: list[str] = []
    for at in chosen:
        texts += rng.choice(sources[at], rng.integers(20, 220)).tolist()  # some more than once
    while len(texts) < 70:
        texts += rng.choice(sources[chosen[0]], 70).tolist()
    model = ("bundled", "turned", "with a mean", "hash of words")[seed % 4]
    if model == "hash of words":
        return np.array([planted.word_vector(text, 384) for text in texts], np.float32), texts, model
    vectors = np.asarray(bundled().embed_passages(texts), np.float32)
    if model == "turned":
        turn, _ = np.linalg.qr(rng.standard_normal((vectors.shape[1], 384)).T)
        vectors = vectors @ turn.T.astype(np.float32)
    elif model == "with a mean":
        vectors = vectors + 0.15 * rng.standard_normal(vectors.shape[1]).astype(np.float32)
    return vectors, texts, model


def test_all_vectors_shuffled_are_said_of_the_whole(recorded: Any) -> None:
    vectors, texts, embedded = recorded
    order = np.random.default_rng(4).permutation(len(vectors))
    found = judge(vectors[order], texts, embedded)
    assert found.whole
    assert not found.foreign.any()


def test_vectors_without_any_structure_are_not_called_wrong() -> None:
    texts = [planted.text_of(number) for number in range(300)]
    vectors = np.array([planted.vector_of(number, 64) for number in range(300)], np.float32)
    found = judge(vectors, texts)
    assert not found.whole
    assert not found.foreign.any()


def test_a_change_of_model_has_its_day_and_is_proven_on_this_machine(tmp_path: Path) -> None:
    texts = [planted.text_of(number) for number in range(300)]
    vectors = np.asarray(bundled().embed_passages(texts), np.float32)
    turn, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((256, 256)))
    wrong = range(100, 112)
    rows = [
        memory(n, vector=[float(x) for x in (vectors[n] @ turn if n in wrong else vectors[n])])
        for n in range(300)
    ]
    folder = planted.write_store(tmp_path / "lancedb-pro", rows, dims=256)
    found = {each.kind: each for each in examine(patient(folder)).findings}
    assert sorted(found["D19"].seen.ids) == sorted(key_of(n) for n in wrong)
    assert found["D19"].seen.since_ms == int(min(rows[n]["timestamp"] for n in wrong))
    assert found["D19"].seen.sure == 1.0
    assert "D20" not in found
