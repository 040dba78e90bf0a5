"""The doctor finds each kind of fault, says what it is about, and finds nothing where nothing is wrong."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import changes, open_engine
from memtui.engine.core.errors import MemtuiError
from memtui.engine.health.check import Patient
from memtui.engine.health.doctor import Examination, examine, patient_of, patient_without_table
from memtui.engine.health.registry import all_checks
from memtui.engine.health.remedies import carry_out_remedies, plan_remedy
from tests.conftest import SHARED, thinned, tree_hash
from tests.engine import planted_faults as planted
from tests.engine.planted_faults import PLANTED, key_of, memory, sound


def patient(folder: Path, *, writable: bool = False, environ: dict[str, str] | None = None) -> Patient:
    given, now_ms = environ or {}, time.time_ns() // 1_000_000
    try:
        engine = open_engine(
            str(folder),
            now=lambda: now_ms,
            environ=given,
            cwd=folder,
            writable=writable,
            state=folder.parent / "state",
        )
    except MemtuiError as error:
        outside = patient_without_table(str(folder), None, error, now_ms=now_ms)
        assert outside is not None
        return outside
    return patient_of(engine, now_ms=now_ms)


ALIVE = {f"D{number}" for number in range(41, 48)}
"""Checks of an agent."""

INDEXES = {"D48", "D49"}
"""Checks of an index of files, which a host builds."""

CREWAI = {f"D{number}" for number in range(50, 56)}
"""Checks of a store of CrewAI."""

HERMES = {f"D{number}" for number in range(56, 60)}
"""Checks of a store of Hermes."""


def look(folder: Path, **more: Any) -> Examination:
    return examine(patient(folder, **more))


def kinds(found: Examination) -> list[str]:
    return [each.kind for each in found.findings]


def test_there_is_a_check_for_every_kind_of_the_table() -> None:
    left_out = {22, 31, 33, 39}
    assert [int(each.kind[1:]) for each in all_checks()] == [n for n in range(1, 62) if n not in left_out]
    assert set(PLANTED) == {each.kind for each in all_checks()} - ALIVE - INDEXES - CREWAI - HERMES, (
        "each is planted below, those in test_alive, those of an index in test_core_index, "
        "those of CrewAI in test_crewai_doctor, those of Hermes in test_hermes_alive"
    )


@pytest.mark.parametrize("kind", PLANTED)
def test_each_planted_fault_is_found_with_its_severity(kind: str, tmp_path: Path) -> None:
    severity, plant, rows = PLANTED[kind]
    folder = tmp_path / "memory" / "lancedb-pro"
    plant(folder)
    if kind == "D38":
        now = max(each.stat().st_mtime for each in folder.rglob("*.manifest")) * 1000
        found = examine(Patient(None, folder, now_ms=int(now)))
        assert "D38" in kinds(found)
        return
    config = planted.config_of(folder)
    environ = {"OPENCLAW_CONFIG_PATH": str(config), "KEY": "k"} if config.exists() else {}
    before = tree_hash(folder)
    found = look(folder, environ=environ)
    assert tree_hash(folder) == before, "looking wrote something"
    one = next((each for each in found.findings if each.kind == kind), None)
    assert one is not None, f"found {kinds(found)}, not looked at {found.unlooked}"
    assert one.severity == severity
    if rows is not None:
        assert sorted(one.seen.ids) == sorted({key_of(number) for number in rows})  # type: ignore[union-attr]
    if kind in ("D18", "D37"):
        assert one.seen.files == (str(config),)
    if kind in ("D29", "D30", "D34", "D35", "D36"):
        assert one.seen.files
        assert all(Path(each).exists() for each in one.seen.files if kind != "D36")
    document = one.as_json()
    assert {"kind", "severity", "count", "sentence", "remedy", "safe_beside_agent", "reversible"} <= set(
        document
    )
    assert "ids" in document or "files" in document
    extra = {
        "D2": {"D1"},
        "D18": {"D37", "D41", "D42", "D44"},
        "D37": {"D41"},
        "D7": {"D3", "D30"},
        "D12": {"D14"},
        "D40": set(),
    }.get(kind, set())
    others = set(kinds(found)) - {kind} - extra
    assert not others - {"D28", "D1", "D4"}, "something else was found, too"


@pytest.mark.slow
def test_ids_are_not_capped_and_every_member_of_a_group_is_named(tmp_path: Path) -> None:
    rows = [
        memory(n, vector=planted.vector_of(n % 90), scope="" if n < 300 else "global") for n in range(400)
    ]
    planted.write_store(tmp_path / "s", rows, dims=planted.DIMS)
    found = {each.kind: each for each in look(tmp_path / "s").findings}
    assert len(found["D23"].seen.ids) == 300
    assert len(found["D17"].seen.ids) == 400


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sound", "empty", "own", "built in, folded", "folded by its own program"])
def test_nothing_is_found_on_healthy_stores(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    if name == "sound":
        sound(folder, 300)
    elif name == "empty":
        planted.write_store(folder, [], dims=planted.DIMS)
    elif name == "own":
        from memtui.engine.store.create import create_empty

        create_empty(folder, 256)
    elif name == "built in, folded":
        _healthy_fixture("stores/builtin-new.tar.gz", folder)
    else:
        _healthy_fixture("stores/builtin-old.tar.gz", folder)
    found = look(folder)
    assert [each.seen.sentence for each in found.findings] == []
    assert {check.kind for check in found.fine} == {
        check.kind for check in all_checks()
    } - ALIVE - INDEXES - CREWAI - HERMES, (
        "no agent is configured and no index of files is looked at: those checks do not apply"
    )
    assert found.unlooked == ()
    assert not found.unlooked


def _healthy_fixture(name: str, folder: Path) -> None:
    """A recorded store, folded: its program never does that, which is a finding of its own."""
    import tarfile
    from datetime import timedelta

    if not SHARED.is_dir():
        pytest.skip("left out: the recorded material (../shared) is not there")
    with tarfile.open(SHARED / "fixtures" / name) as tar:
        tar.extractall(folder.parent, filter="data")
    (folder.parent / Path(name).name.removesuffix(".tar.gz")).rename(folder)
    planted.open_table(folder).optimize(cleanup_older_than=timedelta(0), delete_unverified=True)


DAMAGED = {
    "pro-manifest-cut": {"D35"},
    "pro-manifest-empty": {"D35"},
    "builtin-old-manifest-cut": {"D35"},
    "builtin-new-manifest-cut": {"D35"},
    "pro-data-missing": {"D36"},
    "builtin-old-data-missing": {"D36"},
    "pro-index-missing": {"D5"},
    "pro-duplicate-ids": {"D21"},
    "builtin-old-duplicate-ids": {"D21"},
    "pro-seconds": {"D24"},
    "builtin-old-seconds": {"D24"},
    "pro-bad-metadata": {"D26"},
    "pro-null-scope-vector": {"D12", "D14", "D23"},
    "builtin-new-null-agent": {"D23"},
    "pro-on-builtin": {"D24"},
    "engine-null-fields": {"D12"},
    "empty-table-dir": {"D35"},
    "builtin-old-sentinel": {"D14"},
    "builtin-new-sentinel": {"D14"},
    "engine-sentinel": {"D14"},
    "pro-sentinel": {"D14"},
}


@pytest.mark.parametrize("name", thinned(DAMAGED, 3))
def test_recorded_damaged_stores(name: str, shared: Path, unpack: Any) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "damaged" / f"{name}.tar.gz")
    assert set(kinds(look(folder))) >= DAMAGED[name]


@pytest.mark.parametrize(
    ("name", "severity"),
    [("builtin-old", "S2"), ("engine", "S2"), ("builtin-new", "S4"), ("pro", "S4")],
)
def test_a_row_left_behind_by_a_program_is_as_grave_as_what_it_does_to_recall(
    name: str, severity: str, shared: Path, unpack: Any
) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "damaged" / f"{name}-sentinel.tar.gz")
    outside = patient(folder)
    (found,) = [each for each in examine(outside).findings if each.kind == "D14"]
    assert (found.severity, found.seen.ids) == (severity, ("__schema__",))
    assert "with the agent stopped" in plan_remedy(outside, found).refusal


def test_a_check_that_fails_is_said_and_the_others_go_on(shared: Path, unpack: Any) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "damaged" / "pro-data-missing.tar.gz")
    found = look(folder)
    assert "D21" in {each.kind for each in found.unlooked}
    assert "D36" in kinds(found)
    assert found.grave


SAFE = ("D1", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D11", "D26")


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAFE)
def test_a_safe_remedy_mends_and_leaves_every_row(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "lancedb-pro"
    PLANTED[kind][1](folder)
    ill = patient(folder, writable=True)
    finding = next(each for each in examine(ill).findings if each.kind == kind)
    rows = planted.open_table(folder).count_rows()
    plan = plan_remedy(ill, finding)
    assert plan.writes, plan.refusal
    assert ill.engine is not None
    before = _texts(folder)
    done = carry_out_remedies(ill.engine, [plan], confirmed=True)
    assert done
    assert done[0]["entry"] is not None
    assert planted.open_table(folder).count_rows() == rows
    assert _texts(folder) == before
    assert kind not in kinds(look(folder))
    if plan.changes is None:
        receipt = done[0]["receipt"]
        assert receipt["version_after"] > receipt["version_before"]
        entry = ill.engine.write_state.journal.entries()[0]
        assert entry.action == "maintain"
        with pytest.raises(MemtuiError, match="changed no memory"):
            changes.plan_undo(ill.engine, entry.entry)
    else:
        undone = changes.apply(ill.engine, changes.plan_undo(ill.engine), confirmed=True)
        assert undone.entry is not None
        assert kind in kinds(look(folder))


def _texts(folder: Path) -> dict[str, str]:
    table = planted.open_table(folder).to_arrow()
    return dict(zip(table.column("id").to_pylist(), table.column("text").to_pylist(), strict=True))


@pytest.mark.slow
def test_vectors_are_embedded_again_by_the_model_that_made_the_others(tmp_path: Path) -> None:
    folder = _embedded(tmp_path / "lancedb-pro", 200)
    table = planted.open_table(folder)
    ids = [key_of(number) for number in (3, 4, 5)]
    table.update(where=f"id IN ({', '.join(repr(each) for each in ids)})", values={"vector": [0.0] * 256})
    ill = patient(folder, writable=True)
    finding = next(each for each in examine(ill).findings if each.kind == "D14")
    assert sorted(finding.seen.ids) == sorted(ids)
    assert ill.engine is not None
    carry_out_remedies(ill.engine, [plan_remedy(ill, finding)], confirmed=True)
    assert "D14" not in kinds(look(folder))
    from memtui.engine.providers.static_embedder import bundled

    stored = {row["id"]: row["vector"] for row in planted.open_table(folder).search().limit(None).to_list()}
    wanted = bundled().embed_passages([planted.text_of(3)])[0]
    assert np.allclose(stored[ids[0]], wanted, atol=1e-6)


def _embedded(folder: Path, count: int) -> Path:
    from memtui.engine.providers.static_embedder import bundled

    texts = [planted.text_of(number) for number in range(count)]
    vectors = bundled().embed_passages(texts)
    rows = [memory(n, vector=[float(x) for x in vectors[n]]) for n in range(count)]
    return planted.write_store(folder, rows, dims=256)


BESIDE = ("D1", "D3", "D4", "D5", "D8", "D9", "D11", "D23", "D24", "D26", "D27")
GROWS_AGAIN = ("D1", "D3", "D4")
"""What the writer beside the remedy makes anew."""


@pytest.mark.parametrize(
    "kind",
    [
        "D5",
        "D23",
        *(pytest.param(each, marks=pytest.mark.slow) for each in BESIDE if each not in ("D5", "D23")),
    ],
)
def test_remedies_beside_a_running_writer(kind: str, tmp_path: Path) -> None:
    """Every memory of both writers is there afterwards, and the fault is not; a change of rows is taken back."""
    import threading

    folder = tmp_path / "lancedb-pro"
    PLANTED[kind][1](folder)
    if kind == "D24":  # one that cannot be known stays as it is
        planted.open_table(folder).delete(f"id != '{key_of(0)}' AND timestamp IS NULL OR timestamp = 0")
    stop, errors = threading.Event(), []

    def write() -> None:
        number = 1_000
        while not stop.is_set():
            try:
                planted.add(folder, [memory(number)])
                number += 1
            except Exception as error:
                errors.append(error)
        written.append(number - 1_000)

    written: list[int] = []
    writer = threading.Thread(target=write)
    ill = patient(folder, writable=True)
    rows, before = planted.open_table(folder).count_rows(), _texts(folder)
    finding = next(each for each in examine(ill).findings if each.kind == kind)
    plan = plan_remedy(ill, finding)
    assert plan.writes, plan.refusal
    assert ill.engine is not None
    writer.start()
    try:
        done = carry_out_remedies(ill.engine, [plan], confirmed=True)
    finally:
        stop.set()
        writer.join()
    assert done[0]["entry"] is not None
    assert not [each for each in errors if "conflict" not in str(each).lower()]
    assert planted.open_table(folder).count_rows() == rows + written[0]
    after = _texts(folder)
    assert {each: after[each] for each in before} == before
    left = {each.kind: each for each in look(folder).findings}
    if kind not in GROWS_AGAIN:
        assert kind not in left or set(left[kind].seen.ids) < set(finding.seen.ids)
    if plan.changes is not None:
        ill.engine.refresh()
        undone = changes.apply(ill.engine, changes.plan_undo(ill.engine), confirmed=True)
        assert undone.entry is not None
        again = {each.kind: each for each in look(folder).findings}
        assert set(again[kind].seen.ids) == set(finding.seen.ids)


def test_a_removed_secret_goes_from_the_older_versions(tmp_path: Path) -> None:
    folder = tmp_path / "lancedb-pro"
    PLANTED["D28"][1](folder)
    ill = patient(folder, writable=True)
    assert ill.engine is not None
    finding = next(each for each in examine(ill).findings if each.kind == "D28")
    before = _texts(folder)
    plan = plan_remedy(ill, finding)
    assert plan.changes is not None
    assert plan.changes.conflicts == ()
    assert plan.changes.ids == (key_of(90),)
    (done,) = carry_out_remedies(ill.engine, [plan], confirmed=True)
    assert done["entry"] is not None
    assert "D28" not in kinds(look(folder))
    assert _texts(folder) == before
    left = [
        each for each in folder.rglob("*") if each.is_file() and b"sk-abcdefghijklmnop" in each.read_bytes()
    ]
    assert left == []
    (receipt,) = changes.receipts_of_entry(ill.engine, done["entry"])
    assert (receipt["clean"], receipt["memories"][0]["why"]) == (True, "was removed before")
    unknown = changes.plan_past(ill.engine, ["00000000-dead-4000-8000-000000000000"])
    assert [each.reason for each in unknown.conflicts] == ["gone"]


def test_where_a_data_file_is_gone_the_table_goes_back_to_the_version_before_it(tmp_path: Path) -> None:
    from memtui.engine.health.versions import plan_whole_restore

    folder = tmp_path / "lancedb-pro"
    PLANTED["D36"][1](folder)
    ill = patient(folder, writable=True)
    assert ill.engine is not None
    finding = next(each for each in examine(ill).findings if each.kind == "D36")
    assert finding.seen.evidence == (
        "version 3 is the newest that needs none of them: 40 memories then, 45 now",
    )
    planned = plan_whole_restore(ill.engine.store, 3)
    assert (planned.unread, planned.changes) == ((45, 40), ())
    assert "not known by name" in planned.sentence
    plan = plan_remedy(ill, finding)
    assert [each.title for each in plan.steps] == ["go back to version 3"]
    (done,) = carry_out_remedies(ill.engine, [plan], confirmed=True)
    assert done["entry"] is not None
    assert kinds(look(folder)) == []
    assert sorted(_texts(folder)) == sorted(key_of(number) for number in range(40))
    only = tmp_path / "only" / "lancedb-pro"
    sound(only)
    next((only / "memories.lance" / "data").glob("*.lance")).unlink()
    ill = patient(only, writable=True)
    finding = next(each for each in examine(ill).findings if each.kind == "D36")
    assert finding.seen.evidence == ("no version that is left can do without them",)
    assert "backup" in plan_remedy(ill, finding).refusal


def test_a_damaged_newest_version_is_moved_away_and_the_one_before_opens(tmp_path: Path) -> None:
    from memtui.engine.health.maintenance import move_manifest_away

    folder = tmp_path / "lancedb-pro"
    PLANTED["D35"][1](folder)
    finding = next(each for each in look(folder).findings if each.kind == "D35")
    moved = move_manifest_away(Path(finding.seen.files[0]))
    assert moved.exists()
    assert "D35" not in kinds(look(folder))
    shutil.move(moved, finding.seen.files[0])
    assert "D35" in kinds(look(folder))


def test_the_index_is_asked_the_persons_own_questions(tmp_path: Path) -> None:
    """Stored vectors may all be found while what a person asks is lost: both are asked, own questions first."""
    from memtui.engine.cases.case import Case
    from memtui.engine.explain import History
    from memtui.engine.health.indexes import honesty, own_vectors

    folder = tmp_path / "store"
    PLANTED["D11"][1](folder)
    rng = np.random.default_rng(7)
    asked = [tuple(float(x) for x in rng.standard_normal(planted.DIMS)) for _ in range(12)]
    cases = [Case(str(n), f"question {n}", query_vector=vector) for n, vector in enumerate(asked)]
    cases.append(Case("none", "a question without a vector"))
    cases.append(Case("other", "of another model", query_vector=(1.0, 2.0)))
    engine = open_engine(
        str(folder), now=lambda: 1, environ={"HOME": str(tmp_path)}, cwd=tmp_path, state=tmp_path / "state"
    )
    own = own_vectors(engine, cases, History(tmp_path / "questions.db"))
    here = patient_of(engine, now_ms=1, questions=lambda: own)
    found = honesty(engine.store, questions=own)
    assert found is not None
    exact = engine.store.pin().table
    lost = 0
    for vector in own:
        best = exact.search(vector).distance_type("cosine").bypass_vector_index().limit(1).to_list()[0]["id"]
        lost += best not in [
            row["id"] for row in exact.search(vector).distance_type("cosine").limit(10).to_list()
        ]
    assert (found.own, found.questions, found.first_lost) == (True, len(own), lost)
    assert len(own) >= 12
    seen = examine(here, kinds={"D11"}).findings[0].seen
    assert seen.detail["own_questions"] == len(own)
    assert any("own questions miss their best memory" in line for line in seen.evidence)


def test_a_maintenance_says_what_it_does_to_the_cases_and_keeps_it_in_its_receipt(tmp_path: Path) -> None:
    """A restore loses what a case expects: the receipt says so, in the outcome and in the Journal."""
    from memtui.engine.cases.case import Case
    from memtui.engine.explain import History
    from memtui.engine.health.maintenance import TableStep, answers_in_words, maintain
    from memtui.engine.health.remedies import asking

    folder = tmp_path / "lancedb-pro"
    sound(folder)
    before = planted.open_table(folder).version
    planted.add(folder, [memory(77)])
    engine = patient(folder, writable=True).engine
    assert engine is not None
    vector = tuple(planted.word_vector(planted.text_of(77)))
    cases = [Case("1", planted.text_of(77), expected=(key_of(77),), query_vector=vector, everyone=True)]
    ask = asking(engine, cases, History(tmp_path / "questions.db"))
    fold = maintain(engine.store, engine.write_state.applier, (TableStep("fold"),), confirmed=True, ask=ask)
    assert fold.answers is not None
    assert fold.answers["cases"] == {"cases": 1, "right_before": 1, "right_after": 1, "worse": [], "down": []}
    assert fold.sentence == "1 of 1 case right before, 1 after; every answer is the same"
    back = maintain(
        engine.store, engine.write_state.applier, (TableStep("restore", str(before)), TableStep("index-text")),
        confirmed=True, ask=ask,
    )  # fmt: skip
    assert back.answers is not None
    assert (back.answers["cases"]["right_before"], back.answers["cases"]["right_after"]) == (1, 0)
    assert "1 of 1 question answered differently" in back.sentence
    kept = engine.write_state.journal.entries()[0].detail["receipt"]
    assert kept["answers"] == back.as_json()["answers"]
    assert (kept["version_before"], kept["version_after"]) == (back.version_before, back.version_after)
    assert answers_in_words({"asked": 0, "cases": {"cases": 0}, "changed": []}).startswith("no case is saved")


@pytest.mark.parametrize("kind", ["D4", "D5", "D9", "D23"])
def test_what_a_remedy_does_to_the_answers_is_foretold_and_then_comes(kind: str, tmp_path: Path) -> None:
    """Rows and indexes are mended on a trial copy: the store is byte for byte what it was."""
    from memtui.engine.cases.case import Case
    from memtui.engine.explain import History
    from memtui.engine.health import carry_out_remedies, effect_of_remedies, examine, plan_remedy
    from memtui.engine.health.remedies import asking

    folder = tmp_path / "lancedb-pro"
    planted.PLANTED[kind][1](folder)
    ill = patient(folder, writable=True)
    engine = ill.engine
    assert engine is not None
    finding = next(each for each in examine(ill).findings if each.kind == kind)
    texts = [planted.text_of(number) for number in (0, 7)]
    cases = [Case(text, text, query_vector=tuple(planted.word_vector(text)), everyone=True) for text in texts]
    history, before = History(tmp_path / "questions.db"), tree_hash(folder)
    plan = plan_remedy(ill, finding).without_names()
    assert plan.writes, plan.refusal
    foretold = effect_of_remedies(engine, [plan], cases, history)
    assert tree_hash(folder) == before
    assert foretold.asked == 2
    version = engine.store.version
    carry_out_remedies(engine, [plan], confirmed=True)
    engine.refresh()
    came = asking(engine, cases, history)(version)
    assert [each.as_json() for each in foretold.changed] == came["changed"]
    assert foretold.cases.as_json() == came["cases"]


def test_where_nobody_asked_anything_the_mended_memories_own_words_are_asked(tmp_path: Path) -> None:
    from memtui.engine.explain import History
    from memtui.engine.health import effect_of_remedies, examine, plan_remedy

    folder = tmp_path / "lancedb-pro"
    planted.PLANTED["D23"][1](folder)
    ill = patient(folder, writable=True)
    assert ill.engine is not None
    plan = plan_remedy(
        ill, next(each for each in examine(ill).findings if each.kind == "D23")
    ).without_names()
    history = History(tmp_path / "questions.db")
    assert effect_of_remedies(ill.engine, [plan], [], history).asked == 0
    foretold = effect_of_remedies(ill.engine, [plan], [], history, own_words=True)
    assert foretold.asked > 0
    assert foretold.own_words


@pytest.mark.parametrize("spoilt", [[256**-0.5] * 256, [0.0] * 256, None])
def test_the_preview_of_a_vector_made_anew_asks_with_it(spoilt: Any, tmp_path: Path) -> None:
    """Asked with the wrong vector, the memory would come back now and be gone once it is mended."""
    from memtui.engine.explain import History, effect_on_recall

    folder = _embedded(tmp_path / "lancedb-pro", 60)
    texts = [planted.text_of(number) for number in range(60)]
    rows = planted.open_table(folder).search().limit(None).to_list()
    vectors = {row["id"]: row["vector"] for row in rows}
    shutil.rmtree(folder)
    vectors[key_of(7)] = spoilt
    planted.write_store(folder, [memory(n, vector=vectors[key_of(n)]) for n in range(60)], dims=256)
    ill = patient(folder, writable=True)
    engine = ill.engine
    assert engine is not None
    finding = next(each for each in examine(ill).findings if key_of(7) in each.seen.ids)
    plan = plan_remedy(ill, finding)
    assert plan.changes is not None
    effect = effect_on_recall(engine, plan.changes, [], History(tmp_path / "asked.jsonl"), own_words=True)
    assert (effect.asked, effect.failed) == (1, 0)
    (change,) = effect.changed
    assert change.query == texts[7]
    assert change.after[0] == key_of(7)
    mended = next(each for each in change.rows if each.id == key_of(7))
    assert (mended.score_after or 0) > (mended.score_before or 0)
