"""Documents beside a store: asked where memories are few, with counts that tell an empty index from a wrong scope."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, RefusedError, open_engine
from memtui.engine.capture import note_block, play, read_event, session_block
from memtui.engine.clients import CallJournal
from memtui.engine.discovery import create_empty, new_place
from memtui.engine.documents import consult, lane_of, sources_of, take_in
from memtui.engine.transfer import BUNDLED_DIMS
from memtui.mcp.door import Door, ToolError
from memtui.mcp.tools.search import Search
from memtui.mcp.tools.search import run as search
from memtui.mcp.tools.store import Store
from memtui.mcp.tools.store import run as remember
from tests.conftest import NOW_MS

ASKED = "Which port does the relay listen on?"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for name, text in (
        ("steamer/spec.md", "# Ports\n\nThe relay listens on 7011 <now>.\n"),
        ("other/plan.md", "# Relay\n\nAnother relay listens on 9000.\n"),
    ):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def opened(tmp_path: Path, *texts: str, writable: bool = False) -> Engine:
    folder = tmp_path / "store"
    if not folder.exists():
        place, options = new_place(str(folder), (), tmp_path)
        create_empty(place, BUNDLED_DIMS, options)
    engine = open_engine(
        folder,
        now=lambda: NOW_MS,
        environ={},
        cwd=tmp_path,
        writable=bool(texts) or writable,
        state=tmp_path / "state",
    )
    door = Door(lambda: engine, writable=True)
    for text in texts:
        assert remember(door, Store(text=text)).data.action == "created"  # type: ignore[attr-defined]
    return engine


def test_documents_are_asked_only_where_memories_are_few(tmp_path: Path, docs: Path) -> None:
    engine = opened(tmp_path)
    trace = engine.recall(RecallRequest(ASKED, recipe="memtui"))
    assert consult(engine, trace) is None  # nobody made any
    told = take_in(engine, {"enabled": True, "sourceRoots": [str(docs)]})
    assert (told.files_ingested, told.chunks_inserted) == (2, 2)
    assert [each.path for each in sources_of(engine)] == ["other/plan.md", "steamer/spec.md"]
    found = consult(engine, trace)
    assert found is not None
    assert {hit.path for hit in found.answer.hits} == {"steamer/spec.md", "other/plan.md"}
    assert "&lt;now&gt;" in found.block
    assert 'trust="untrusted"' in found.block
    engine.close()

    rich = opened(tmp_path, "The relay listens on port 7011", "The relay of hall two listens on port 7012")
    enough = consult(
        rich, rich.recall(RecallRequest("On which port does the relay listen?", recipe="memtui")), config=None
    )
    assert enough is not None
    assert enough.hot == 2
    assert (enough.answer.consulted, enough.block) == (False, "")
    nothing = consult(rich, rich.recall(RecallRequest("Who painted the chapel in Padua?", recipe="memtui")))
    assert nothing is not None
    assert nothing.hot == 0  # what came back does not answer
    assert nothing.answer.consulted
    assert "no document has a word" in nothing.starved
    rich.close()


def test_starvation_is_told_apart_from_an_empty_index(tmp_path: Path, docs: Path) -> None:
    engine = opened(tmp_path)
    trace = engine.recall(RecallRequest(ASKED, recipe="memtui"))
    block = {"enabled": True, "sourceRoots": [str(docs)], "scopeMappingStrategy": "map"}
    mapped = {**block, "scopeMap": {"agent:ada": ["steamer"]}}
    take_in(engine, mapped)
    mine = consult(engine, trace, home="agent:ada")
    assert mine is not None
    assert [hit.path for hit in mine.answer.hits] == ["steamer/spec.md"]
    foreign = consult(engine, trace, home="agent:bo")
    assert foreign is not None
    receipt = foreign.receipt
    assert (receipt["rawCandidates"], receipt["scopedCandidates"], receipt["filteredByScope"]) == (2, 0, 2)
    assert "how scopes are mapped" in foreign.starved
    with lane_of(engine) as lane:
        assert lane is not None
        assert lane.kept_block == mapped
    engine.close()


def test_a_configuration_reads_what_changed_and_a_fault_stops_no_answer(tmp_path: Path, docs: Path) -> None:
    engine = opened(tmp_path)
    trace = engine.recall(RecallRequest(ASKED, recipe="memtui"))
    wanted = {"docsColdLane": {"enabled": True, "sourceRoots": [str(docs)]}}
    unread = consult(engine, trace, config=wanted)
    assert unread is not None
    assert "memtui docs" in unread.error
    wanted["docsColdLane"]["ingestOnStart"] = True
    read = consult(engine, trace, config=wanted)
    assert read is not None
    assert len(read.answer.hits) == 2
    (docs / "other" / "plan.md").unlink()
    again = consult(engine, trace, config=wanted)
    assert again is not None
    assert [hit.path for hit in again.answer.hits] == ["steamer/spec.md"]
    wrong = consult(engine, trace, config={"docsColdLane": {"enabled": True, "nope": 1}})
    assert wrong is not None
    assert "nope" in wrong.error
    engine.close()


def test_hook_and_door_give_the_pieces_as_untrusted_data(tmp_path: Path, docs: Path) -> None:
    engine = opened(tmp_path)
    take_in(engine, {"enabled": True, "sourceRoots": [str(docs)]})
    answer = play(engine, read_event("prompt_build", f'{{"prompt": "{ASKED}"}}'), {}, tmp_path)
    assert "7011" in answer["prependContext"]
    assert answer["documents"]["consulted"] is True
    told = search(Door(lambda: engine, agent="ada", client="test"), Search(query=ASKED))
    counts = told.data.documents_asked  # type: ignore[attr-defined]
    assert (counts.scoped, counts.raw, counts.filtered) == (2, None, None)
    person = search(Door(lambda: engine, client="test"), Search(query=ASKED)).data.documents_asked  # type: ignore[attr-defined]
    assert (person.scoped, person.raw, person.filtered) == (2, 2, 0)
    assert "untrusted" in told.text
    assert "7011" in told.text
    strict = Door(lambda: engine, agent="ada", client="test", reads=("agent:ada",))
    assert search(strict, Search(query=ASKED)).data.documents is None  # type: ignore[attr-defined]
    engine.close()


def door_of_ada(engine: Engine) -> Door:
    return Door(lambda: engine, agent="ada", client="test")


MAP = {"agent:ada": ["steamer"], "agent:bo": ["other"]}


@pytest.mark.parametrize(
    "question", [ASKED, "Does another relay listen on 9000?", "What is the colour of the sea?"]
)
def test_documents_of_others_are_neither_read_nor_counted(tmp_path: Path, docs: Path, question: str) -> None:
    """The same answers, word for word, whether documents that are mapped to others are there or not."""
    told, raw = [], []
    for name in ("alone", "beside"):
        if name == "beside":
            for at in range(40):
                (docs / "other" / f"more{at}.md").write_text(
                    f"# Relay {at}\n\nThe relay listens on the sea.\n"
                )
        else:
            (docs / "other" / "plan.md").rename(tmp_path / "plan.md")
        home = tmp_path / name
        home.mkdir()
        engine = opened(home, writable=True)
        block = {"enabled": True, "sourceRoots": [str(docs)], "scopeMappingStrategy": "map", "scopeMap": MAP}
        take_in(engine, block)
        answers: list[object] = []
        for scope in (None, "global"):
            given = search(door_of_ada(engine), Search(query=question, scope=scope))
            answers += [given.data.model_dump_json(), given.text]
        answers.append(door_of_ada(engine).block(question))
        event = json.dumps({"prompt": question, "ctx": {"agentId": "ada", "sessionKey": "agent:ada:one"}})
        played = play(engine, read_event("prompt_build", event), {}, home)
        assert played["agent"] == "ada"
        assert played["documents"]["consulted"] is True
        answers.append(played)
        trace = engine.recall(RecallRequest(question, recipe="memtui", agent="ada", own_words=True))
        asked = consult(engine, trace, home="agent:ada", veiled=True)
        assert asked is not None
        answers += [asked.as_json(), asked.starved]
        told.append(json.dumps(answers, default=str))
        person = consult(engine, trace)
        assert person is not None
        raw.append(person.answer.raw)
        engine.close()
    assert raw[0] < raw[1]
    assert told[0] == told[1]
    assert "9000" not in told[0].replace(question, "")


def test_a_session_gets_a_memory_once_and_its_use_is_counted_where_asked(tmp_path: Path) -> None:
    engine = opened(tmp_path, "The relay listens on port 7011")
    trace = engine.recall(RecallRequest(ASKED, recipe="memtui"))
    first = session_block(engine, trace, "one")
    noted = note_block(engine, first, "main", "one", ids=first.ids, count=True)
    assert (len(first.ids), noted.counted, noted.turn) == (1, 1, 1)
    row = engine.memories(first.ids)[first.ids[0]]
    assert json.loads(str(row.metadata))["injected_count"] == 1
    second = session_block(engine, trace, "one")
    assert (second.ids, second.turn) == ((), 2)
    assert [part.gate for part in second.block.parts] == ["repeat"]
    assert session_block(engine, trace, "two").ids == first.ids
    engine.close()

    reader = open_engine(
        tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path, state=tmp_path / "state"
    )
    with pytest.raises(RefusedError, match="open for reading"):
        note_block(reader, first, "main", "one", ids=first.ids, count=True)
    door = Door(lambda: reader, client="test")
    assert door.block(ASKED, "three").ids == first.ids
    assert door.block(ASKED, "three").ids == ()
    assert door.block(ASKED).ids == first.ids
    with pytest.raises(ToolError, match="--rw"):
        door.block(ASKED, "three", count=True)
    assert reader.state_place is not None
    assert not CallJournal(reader.state_place).read()
    reader.close()
