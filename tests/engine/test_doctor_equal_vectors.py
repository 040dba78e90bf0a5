"""Equal vectors of texts that a model cannot tell apart are no fault; those of texts that say something else are."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.health.doctor import examine, patient_of
from memtui.engine.providers.static_embedder import bundled
from tests.engine.curate_world import engine_at
from tests.engine.pro_store import NOW_MS, row, write_store

ORDERED = [
    ("В проекте В версия 6.9.", "В проекте В версия 9.6."),
    ("Call Ana, then Ben.", "call Ben, then Ana"),
    ("The rota is on paper. " * 200, "The rota is on paper. " * 150),
    ("港口的潮汐表在蓝色文件夹里。" * 60, "港口的潮汐表在蓝色文件夹里。" * 45 + "灯塔由安娜看管。"),
]
"""Pairs of different texts with one vector of a model that averages words, or that reads a beginning alone."""


def _found(folder: Path, texts: list[str], vectors: list[list[float]]) -> set[str]:
    rows = [row(f"aaaa{n:04}-0000-4000-8000-000000000001", text, vectors[n]) for n, text in enumerate(texts)]
    engine = engine_at(write_store(folder, rows, dims=len(vectors[0])))
    return {each.kind for each in examine(patient_of(engine, now_ms=NOW_MS), kinds=("D17",)).findings}


@pytest.mark.parametrize("pair", ORDERED)
def test_one_vector_of_texts_that_a_model_reads_alike_is_no_fault(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    texts = [*pair, "The gulls are loud.", "Deliveries come at nine."]
    vectors = bundled().embed_passages(texts).tolist()
    vectors[1] = vectors[0]
    assert _found(tmp_path / "a", texts, vectors) == set()
    vectors[3] = vectors[2]
    assert _found(tmp_path / "b", texts, vectors) == {"D17"}
