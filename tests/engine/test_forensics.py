"""Vectors of another model, and of another text, told from the vectors and texts alone."""

from __future__ import annotations

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
    assert len(rows & bad) / max(1, len(rows)) >= 0.9, "precision"
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
    assert min(precision for precision, _ in sums.values()) >= 0.9
    assert (
        min(recall for (kind, share), (_, recall) in sums.items() if kind == "another model" and share > 0.01)
        >= 0.8
    )


@pytest.mark.slow
def test_no_row_of_a_sound_store_is_suspected(recorded: Any) -> None:
    found = judge(*recorded)
    assert not found.foreign.any()
    assert not found.whole


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
