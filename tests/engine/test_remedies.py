"""Remedies on the memories: each does what it is for when it is really written, and the mildest stands first."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, changes, explain, open_engine
from memtui.engine.cases.case import demo_cases
from memtui.engine.demo import build_demo
from memtui.engine.explain.radar import find_disagreements
from tests.conftest import NOW_MS, tree_hash
from tests.engine.planted import TARGET, healthy, toward

QUESTION = "Which port do I use for SSH to the bastion?"
DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)


@pytest.fixture
def engine(demo: Path, tmp_path: Path) -> Engine:
    folder = Path(shutil.copytree(demo, tmp_path / "store"))
    return opened(folder)


def opened(folder: Path) -> Engine:
    engine = open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=folder.parent / "state"
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


@pytest.mark.slow
def test_a_memory_that_did_not_come_back_is_brought_back_by_what_is_proposed(
    engine: Engine, tmp_path: Path
) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    (told,) = find_disagreements(trace)
    assert told.newer not in trace.returned
    untouched = tree_hash(tmp_path / "store")
    found = explain.find_remedies(engine, trace, told.newer, demo_cases(NOW_MS))
    assert tree_hash(tmp_path / "store") == untouched
    assert {"words", "supersede"} & {each.name for each in found}
    order = [(each.worse, each.harm) for each in found]
    assert order == sorted(order)
    best = found[0]
    changes.apply(engine, best.planned, confirmed=True)
    engine.refresh()
    after = engine.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    assert told.newer in after.returned
    assert after.returned.index(told.newer) + 1 == best.rank


def test_a_memory_that_wrongly_came_back_is_kept_away(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    (told,) = find_disagreements(trace)
    found = explain.find_remedies(engine, trace, told.recalled, ())
    assert found[0].name == "supersede"
    assert found[0].rank is None
    changes.apply(engine, found[0].planned, confirmed=True)
    engine.refresh()
    assert told.recalled not in engine.recall(RecallRequest(QUESTION, recipe="pro/tool")).returned


def test_an_expired_memory_is_brought_back_by_lifting_its_expiry(engine: Engine) -> None:
    first = engine.recall(RecallRequest(QUESTION, recipe="pro/tool")).returned[0]
    changes.apply(engine, changes.plan_edit(engine, [first], {"valid_until": "1d"}))
    engine.refresh()
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool", now_ms=NOW_MS + 2 * DAY_MS))
    assert first not in trace.returned
    later = opened(Path(engine.store.folder or ""))
    later._now = lambda: NOW_MS + 2 * DAY_MS
    trace = later.recall(RecallRequest(QUESTION, recipe="pro/tool"))
    found = explain.find_remedies(later, trace, first, ())
    assert found[0].name == "lift-expiry"
    assert found[0].rank == 1


def planted(tmp_path: Path, **fields: object) -> tuple[Engine, RecallRequest]:
    """A store in which only `fields` of the target's metadata keep it from coming back."""
    world = healthy(3)
    world.change(metadata=fields)
    asked = world.ask(recipe="pro/agent")
    return opened(world.write(tmp_path / "store")), asked


@pytest.mark.parametrize(
    ("name", "fields"), [("confirm", {"state": "pending"}), ("restore", {"state": "archived"})]
)
def test_a_memory_that_its_state_keeps_back_comes_back_when_the_remedy_is_written(
    tmp_path: Path, name: str, fields: dict[str, object]
) -> None:
    engine, asked = planted(tmp_path, **fields)
    trace = engine.recall(asked)
    assert TARGET not in trace.returned
    found = explain.find_remedies(engine, trace, TARGET, ())
    assert found[0].name == name
    changes.apply(engine, found[0].planned)
    engine.refresh()
    after = engine.recall(asked)
    assert after.returned.index(TARGET) + 1 == found[0].rank
    assert found[0].in_prompt


@pytest.mark.parametrize(
    ("name", "recipe", "leaves"),
    [
        ("demote", "pro/agent", True),
        ("demote", "pro/agent", False),
        ("archive", "pro/agent", True),
        ("archive", "memtui", False),
    ],
)
def test_one_of_two_rivals_gives_way_when_it_is_demoted_or_archived(
    tmp_path: Path, name: str, recipe: str, leaves: bool
) -> None:
    world = healthy(3)
    world.change(text="The staging gateway listens on port 4100", vector=toward(0.90, 1))
    world.put("rival", "Which port the staging gateway uses is 4200", toward(0.86, 2))
    asked = world.ask(recipe=recipe, limit=1)
    engine = opened(world.write(tmp_path / "store"))
    (first,) = engine.recall(asked).returned
    second = {"rival": TARGET, TARGET: "rival"}[first]
    found = explain.find_remedies(engine, engine.recall(asked), first if leaves else second, ())
    chosen = {each.name: each for each in found}[name]
    assert [each.harm for each in found] == sorted(each.harm for each in found)
    assert [each.id for each in chosen.planned.changes] == [first]
    changes.apply(engine, chosen.planned, confirmed=True)
    engine.refresh()
    after = engine.recall(asked).returned
    assert first not in after
    assert leaves or after == (second,)
    assert chosen.rank == (None if leaves else 1)
    assert chosen.in_prompt is not leaves


def test_archiving_is_not_proposed_where_the_archived_one_keeps_its_place(tmp_path: Path) -> None:
    """The plugin counts before it looks at the state: with one place, archiving the first frees nothing."""
    world = healthy(3)
    world.change(text="The staging gateway listens on port 4100", vector=toward(0.90, 1))
    world.put("rival", "Which port the staging gateway uses is 4200", toward(0.86, 2))
    asked = world.ask(recipe="pro/agent", limit=1)
    engine = opened(world.write(tmp_path / "store"))
    trace = engine.recall(asked)
    assert trace.returned == (TARGET,)
    assert "archive" not in {each.name for each in explain.find_remedies(engine, trace, "rival", ())}
    changes.apply(engine, changes.plan_forget(engine, [TARGET]), confirmed=True)
    engine.refresh()
    assert engine.recall(asked).returned == ()
