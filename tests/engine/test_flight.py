"""A plan is tried on cases and questions before it is written; its own model only when it may be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.configuration.plans import plan_changes, plan_named
from tests.engine.loopback import Answer, loopback
from tests.engine.test_configuration import FULL, home, pro


def test_a_plan_is_flown_over_cases_without_writing(tmp_path: Path) -> None:
    """The agent's own recipe under the plan's settings; a plan too strict says which lower step does better."""
    from memtui.engine import open_engine
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.recall_effect import of_cases
    from memtui.engine.configuration.flight import fly
    from tests.conftest import tree_hash
    from tests.engine import planted_faults as planted

    store = tmp_path / "store"
    planted.write_store(
        store,
        [planted.memory(n, vector=planted.word_vector(planted.text_of(n))) for n in range(30)],
        dims=planted.DIMS,
    )
    config = home(tmp_path, pro(f"dbPath: '{store}', retrieval: {{ rerank: 'none' }}, {FULL}"))
    file = tmp_path / "strict.json5"
    file.write_text("{ retrieval: { minScore: 0.99, hardMinScore: 0.995 } }")
    changes = plan_changes(config, plan_named(str(file), tmp_path))
    cases = [
        Case(
            str(n),
            planted.text_of(n),
            expected=(planted.key_of(n),),
            query_vector=tuple(float(x) for x in planted.word_vector(planted.text_of(n))),
            everyone=True,
        )
        for n in (3, 11)
    ]
    engine = open_engine(
        str(store),
        now=lambda: planted.NOW_MS,
        environ={"HOME": str(tmp_path)},
        cwd=tmp_path,
        state=tmp_path / "state",
    )
    before = tree_hash(tmp_path)
    found = fly(config, changes, of_cases(cases), engine.recall_context(), "pro/tool")
    assert tree_hash(tmp_path) == before
    assert (found.cases, found.failed) == (2, 0)
    assert found.right(False) >= 1
    assert found.right(True) == 0
    assert found.silent(True) == 2
    assert found.smaller is not None
    assert found.smaller.right >= 1
    same = fly(config, (), of_cases(cases), engine.recall_context(), "pro/tool")
    assert not any(each.changed for each in same.questions)


def test_a_plan_with_another_model_is_flown_with_its_own_vectors_when_it_may_be_asked(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memories are embedded for a copy that is gone; without leave, or above a trial's cost, a note says so."""
    import tempfile

    from memtui.engine import open_engine
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.recall_effect import of_cases
    from memtui.engine.configuration import trial_vectors
    from memtui.engine.configuration.flight import fly
    from tests.conftest import tree_hash
    from tests.engine import planted_faults as planted

    store = tmp_path / "store"
    planted.write_store(
        store, [planted.memory(n, vector=planted.vector_of(n)) for n in range(30)], dims=planted.DIMS
    )
    config = home(tmp_path, pro(f"dbPath: '{store}', retrieval: {{ rerank: 'none' }}, {FULL}"))
    engine = open_engine(
        str(store),
        now=lambda: planted.NOW_MS,
        environ={"HOME": str(tmp_path)},
        cwd=tmp_path,
        state=tmp_path / "state",
    )
    right = planted.key_of(7)
    # today's model puts the question beside another memory; the plan's model knows what it is about
    case = Case(
        "1", "where the spare thing is", (right,), query_vector=tuple(planted.vector_of(3)), everyone=True
    )
    with loopback() as server:
        server.dims = 16
        server.vectors = {case.query: [1.0] + [0.0] * 15, planted.text_of(7): [0.99, 0.1] + [0.0] * 14}
        file = tmp_path / "other.json5"
        file.write_text(
            f"{{ embedding: {{ model: 'other-model', baseURL: '{server.url}/v1', apiKey: 'ollama', dimensions: 16 }} }}"
        )
        changes = plan_changes(config, plan_named(str(file), tmp_path))
        before, trials = tree_hash(tmp_path), tmp_path_factory.mktemp("trials")
        monkeypatch.setattr(tempfile, "tempdir", str(trials))
        unasked = fly(config, changes, of_cases([case]), engine.recall_context(), "pro/tool")
        assert not server.requests
        assert any("vectors of today" in each for each in unasked.notes)
        asked = fly(config, changes, of_cases([case]), engine.recall_context(), "pro/tool", ask_provider=True)
        assert (asked.right(False), asked.right(True)) == (0, 1)
        assert any("30 memories were embedded by other-model" in each for each in asked.notes)
        assert tree_hash(tmp_path) == before
        assert list(trials.iterdir()) == []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trial_vectors, "MOST", 29)
            many = fly(
                config, changes, of_cases([case]), engine.recall_context(), "pro/tool", ask_provider=True
            )
        assert any("more than 29" in each for each in many.notes)
        server.by_key = {}
        server.script = [Answer(401, {"error": {"message": "bad key"}})] * 8
        refused = fly(
            config, changes, of_cases([case]), engine.recall_context(), "pro/tool", ask_provider=True
        )
        assert any("vectors of today" in each for each in refused.notes)
        assert refused.failed == 0
