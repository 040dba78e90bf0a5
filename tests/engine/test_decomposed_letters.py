"""Texts in decomposed letters, as files of macOS have them: found by the words that people type, and the other way."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from memtui.engine import ListQuery, open_engine
from tests.engine.pro_store import NOW_MS, row, write_store

TEXTS = (
    "Das Café Müller öffnet um acht.",
    "Der Schlüssel liegt unter der Matte.",
    "학점인정 신청은 금요일까지.",
    "ガレージの鍵は棚の上にある.",
)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("fts", [True, False])
def test_a_word_is_found_in_both_forms(tmp_path: Path, form: str, fts: bool) -> None:
    rows = [
        row(str(n), unicodedata.normalize(form, text), (1, n))  # type: ignore[arg-type]
        for n, text in enumerate((*TEXTS, "Nothing of the kind stands here"))
    ]
    write_store(tmp_path / "store", rows, dims=2, fts=fts)
    engine = open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    asked = {
        "Café": "0",
        "Müller": "0",
        "Schlüssel": "1",
        "학점인정": "2",
        "ガレージ": "3",
        '"Café Müller"': "0",
    }
    for word, wanted in asked.items():
        for typed in {word, unicodedata.normalize("NFD", word)}:
            found = engine.view(ListQuery(typed))
            assert [each.id for each in engine.page(found, 0, 10)] == [wanted], (
                typed.encode("unicode-escape"),
                form,
            )
    if fts or form == "NFD":
        assert [each.id for each in engine.page(engine.view(ListQuery("schlussel")), 0, 10)] == ["1"]
    assert len(engine.page(engine.view(ListQuery("kind")), 0, 10)) == 1
