"""`memtui context`: build, look and remove; and a model fetched from a real server, after host and size were shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.every_command import call
from tests.engine.small_model import make_model
from tests.engine.test_recipe_memtui import own

TEXTS = ("anna bought a car", "the boat is blue", "tea in the morning")


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a word."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A server that holds a model as the usual host does."""
    root = make_model(tmp_path / "host", " ".join(TEXTS).split(), {})
    (root / "onnx").mkdir()
    (root / "model.onnx").rename(root / "onnx" / "model_quantized.onnx")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_nothing_is_fetched_before_host_and_size_were_seen(served: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shown = call("context", "fetch", "--from", served, "--model", folder)
    assert shown.code == 0
    assert "127.0.0.1" in shown.out
    assert "MB" in shown.out
    assert "nothing was fetched" in shown.out
    assert not folder.exists()
    done = call("context", "fetch", "--from", served, "--model", folder, "--yes", "--json")
    assert done.code == 0, done.trace + done.err
    told = json.loads(done.out)
    assert told["fetched"]
    assert {each["name"]: each["bytes"] for each in told["files"]} == {
        path.name: path.stat().st_size for path in folder.iterdir()
    }
    store = tmp_path / "store"
    own(store, *({"text": text} for text in TEXTS))
    built = call("context", "build", "--model", folder, "--store", store, "--json")
    assert json.loads(built.out)["made"] == 3
    asked = json.loads(call("recall", "boat", "--json", "--explain", "--store", store).out)
    assert "token_vectors" in [stage["name"] for stage in asked["stages"]]
    assert "3 of 3 memories" in call("context", "--store", store).out
    assert json.loads(call("context", "remove", "--store", store, "--json").out) == {"removed": True}
    assert "no token vectors" in call("context", "--store", store).out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ftp://somewhere/model", "no web address"),
        ("http://127.0.0.1:9/model", "cannot be reached"),
        ("{served}/nowhere", "answers 404"),
    ],
)
def test_a_host_that_does_not_answer_is_said_in_words(
    served: str, tmp_path: Path, source: str, said: str
) -> None:
    folder = tmp_path / "model"
    done = call("context", "fetch", "--from", source.format(served=served), "--model", folder, "--yes")
    assert done.code in (1, 2)
    assert said in done.err
    assert not folder.exists() or not list(folder.iterdir())


def test_a_build_without_a_model_names_the_next_step(tmp_path: Path) -> None:
    store = tmp_path / "store"
    own(store, {"text": TEXTS[0]})
    done = call("context", "build", "--store", store)
    assert done.code
    assert "context fetch" in done.err


def best(store: Path, question: str) -> dict[str, str]:
    """What answers a question best, by token vectors too; through the command line."""
    done = call("recall", question, "--recipe", "memtui", "--json", "--explain", "--store", store)
    assert done.code == 0, done.trace + done.err
    answer = json.loads(done.out)
    assert "token_vectors" in [each["name"] for each in answer["stages"]]
    found: dict[str, str] = answer["results"][0]
    return found


def changed(store: Path, *words: str | Path) -> None:
    done = call(*words, "--yes", "--store", store)
    assert done.code == 0, done.trace + done.err


def current(store: Path) -> tuple[int, int]:
    """Memories whose vectors are of their present texts, and all."""
    status = json.loads(call("context", "--store", store, "--json").out)
    return status["current"], status["memories"]


def test_a_new_store_is_written_and_asked_with_token_vectors_from_end_to_end(tmp_path: Path) -> None:
    """Made, imported into, added to, edited, deleted, undone: the second table follows, and each recall uses it."""
    words = " ".join((*TEXTS, "bo sold his shed")).split()
    model = make_model(tmp_path / "model", words, {"vessel": "boat"})
    store, source = tmp_path / "store", tmp_path / "more.jsonl"
    assert call("new", store).code == 0
    assert json.loads(call("context", "build", "--model", model, "--store", store, "--json").out)["made"] == 0
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    changed(store, "import", source)
    assert current(store) == (3, 3)
    boat = best(store, "vessel")
    assert boat["text"] == "the boat is blue"

    changed(store, "add", "bo sold his vessel")
    assert current(store) == (4, 4)

    changed(store, "edit", boat["id"], "--set", "text=the shed is blue")
    assert current(store) == (3, 4)
    assert best(store, "vessel")["text"] == "bo sold his vessel"
    assert current(store) == (4, 4)  # what was read for the question is kept

    changed(store, "forget", boat["id"], "--hard")
    assert current(store) == (3, 3)
    assert best(store, "blue shed")["text"] != "the shed is blue"
    changed(store, "undo")
    assert current(store) == (4, 4)
    assert best(store, "blue shed")["text"] == "the shed is blue"
