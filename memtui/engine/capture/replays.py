"""Playing a recording: its steps on a store made for it, its replies in place of a model."""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture.chat import NoReplyError, Replies
from memtui.engine.capture.draft import Draft, StoredRow
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.pro import injection, learning_tools, reflection
from memtui.engine.capture.recipes.pro.plugin import Plugin
from memtui.engine.capture.recipes.pro.settings import plugin_config
from memtui.engine.capture.recipes.pro.world import Files, World
from memtui.engine.capture.recipes.registry import capture_recipe
from memtui.engine.capture.recording import SCHEMA, calls_of, is_own, messages_of
from memtui.engine.capture.run_document import Again
from memtui.engine.capture.stages.reflection_text import GOVERNANCE_ACTION
from memtui.engine.capture.stages.similarity import NoiseBank
from memtui.engine.core.errors import EmbeddingError, UsageError
from memtui.engine.discovery.agents import agent_entries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TICK_MS = 1000

DIMS = 64
"""Numbers in a vector where a recording has none."""

NEW_ID = "0000c0de-0000-4000-8000-"

MIN_MESSAGES = 1
"""What a recording means where it names no minimum."""

PROTOTYPES = "noise_prototypes.json"


def read_recordings(path: Path) -> Iterator[dict[str, Any]]:
    """The recordings of a JSONL file, plain or gzipped, one a line. Raises UsageError for what is none."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8") as packed:
                yield from _lines(packed, path)
        else:
            with path.open(encoding="utf-8") as plain:
                yield from _lines(plain, path)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise UsageError(
            f"{path} cannot be read: {_reason(error)}.", fix="Name a file of recordings."
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, gzip.BadGzipFile):
        return "it is not gzipped"
    if isinstance(error, UnicodeDecodeError):
        return "it is no text"
    if isinstance(error, EOFError | zlib.error):
        return "it is damaged, or cut off"
    return (getattr(error, "strerror", None) or str(error)).lower()


def _lines(file: Iterable[str], path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, 1):
        if line.strip():
            yield _recording(line, path, number)


def _recording(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not _is_recording(found):
        raise UsageError(
            f"Line {number} of {path} is no recording.",
            fix="Each line is one object with its clock (now) and its steps.",
        )
    return found


def _is_recording(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("now"), int):
        return False
    steps = value.get("steps")
    if value.get("schema") == SCHEMA and not is_own(value):
        return False
    return isinstance(steps, list) and all(
        isinstance(step, dict) and isinstance(step.get("do"), str) for step in steps
    )


def read_prototypes(path: Path) -> list[NDArray[np.float32]]:
    """The vectors of noise sentences that lie beside the recordings, none where there is no such file.

    Raises UsageError for a vector that is no list of numbers.
    """
    try:
        found = json.loads((path.parent / PROTOTYPES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    vectors = found.get("vectors") if isinstance(found, dict) else found
    if not isinstance(vectors, list):
        return []
    return [_vector(value, f"Prototype {at} of {PROTOTYPES}") for at, value in enumerate(vectors, 1)]


def _vector(value: Any, what: str) -> NDArray[np.float32]:
    """Return a list of finite numbers as a vector; UsageError, which names `what` it is of, for anything else."""
    import numpy as np

    try:
        numbers = isinstance(value, list) and not any(isinstance(item, bool | str) for item in value)
        vector = np.asarray(value, dtype=np.float32) if numbers else None
    except (TypeError, ValueError, OverflowError):
        vector = None
    if vector is None or vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise UsageError(
            f"{what} has a vector that is no list of finite numbers.", fix="Record the conversation again."
        )
    return vector


def _embeddings(recording: Mapping[str, Any]) -> dict[str, NDArray[np.float32]]:
    """Return the recorded vectors by text, all of one length. Raises UsageError for odd ones."""
    recorded = recording.get("embeddings") or {}
    if not isinstance(recorded, Mapping):
        raise UsageError(
            "The embeddings of a recording are a mapping from text to vector.",
            fix="Record the conversation again.",
        )
    vectors = {text: _vector(value, f"The text {text[:40]!r}") for text, value in recorded.items()}
    lengths = sorted({len(vector) for vector in vectors.values()})
    if len(lengths) > 1:
        raise UsageError(
            f"The embeddings of a recording have {' and '.join(map(str, lengths))} dimensions; one number is right.",
            fix="Record the conversation again.",
        )
    return vectors


def replay(
    recording: Mapping[str, Any],
    *,
    config: Mapping[str, Any] | None = None,
    prototypes: Sequence[NDArray[np.float32]] = (),
) -> dict[str, Any]:
    """Play a recording and return what it leaves: rows, files, and of each step its trace, queues and answer.

    `config` replaces the recording's own settings key by key. Only inputs of the recording are read. Raises UsageError
    for one whose values have a form that cannot be played.
    """
    with tempfile.TemporaryDirectory(prefix="memtui-replay-", ignore_cleanup_errors=True) as folder:
        try:
            return RecordingReplay(recording, config or {}, prototypes, Path(folder)).run()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UsageError(  # a recording is written by any program, and has hundreds of fields
                f"The recording {recording.get('id') or '(no id)'} holds a value of a form that no step can play.",
                fix="Record the conversation again, or correct the value.",
                details=f"{type(error).__name__}: {error}",
            ) from error


class _Vectors:
    """The recorded vectors by text, and the texts whose embedding fails just now."""

    def __init__(self, recorded: dict[str, NDArray[np.float32]], dims: int) -> None:
        self._by_text = recorded
        self.dims = len(next(iter(recorded.values()))) if recorded else dims
        self.failing: frozenset[str] = frozenset()
        self._texts: dict[bytes, list[str]] = {}
        for text, vector in self._by_text.items():
            self._texts.setdefault(vector.tobytes(), []).append(text)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if any(text in self.failing for text in texts):
            raise EmbeddingError("The embedding of this text fails.", fix="The recorded call failed, too.")
        return np.stack([self.of(text) for text in texts])

    def of(self, text: str) -> NDArray[np.float32]:
        """The vector of a text; of one that was not recorded a vector that is near to nothing."""
        import numpy as np

        found = self._by_text.get(text)
        if found is not None:
            return found
        import hashlib

        seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
        made = np.random.default_rng(seed).standard_normal(self.dims).astype(np.float32)
        return made / np.linalg.norm(made)

    def texts_of(self, vector: NDArray[np.float32] | None) -> list[str]:
        """The texts that have this vector."""
        return [] if vector is None else self._texts.get(vector.tobytes(), [])


class RecordingReplay:
    """A recording being played on a store made for it below `folder`."""

    def __init__(
        self,
        recording: Mapping[str, Any],
        config: Mapping[str, Any],
        prototypes: Sequence[NDArray[np.float32]],
        folder: Path,
    ) -> None:
        self.recording, self.root, self.given = recording, folder, config
        stored = (each.get("vector") for each in recording.get("rows_before") or [])
        dims = next((len(each) for each in stored if isinstance(each, list)), DIMS)
        self.vectors = _Vectors(_embeddings(recording), dims)
        self.settings = {"extractMinMessages": MIN_MESSAGES, **(recording.get("config") or {}), **config}
        self.before_files = dict(recording.get("files_before") or {})
        self.made = 0
        given = recording.get("replies") or {}
        lists = {name: each for name, each in given.items() if isinstance(each, list)}
        self.replies = Replies(lists, json.dumps)
        self.reflections = list(recording.get("reflection_replies") or [])
        self.draft = self._store()
        self.before = {row.id: row for row in self.draft.rows(vectors=True)}
        host = recording.get("host_config") or {}
        models = {"model": "fixture-chat", **(recording.get("llm_config") or {})}
        self.world = World(
            settings=plugin_config(self.settings, {}),
            draft=self.draft,
            embed_texts=self.vectors,
            chat=self.replies,
            new_id=self._new_id,
            policy=ScopePolicy.from_config(self.settings.get("scopes"), {}),
            files=Files(folder / "files", confined=True),
            agents=[{"id": agent.id, **agent.values} for agent in agent_entries(host)],
            noise=NoiseBank(list(prototypes)),
            models=models,
            reflect=self._reflect,
            search_words=self._search_words,
            scratch=True,
            scope=str(recording.get("scope") or "") if recording.get("schema") == SCHEMA else "",
            now_ms=int(recording["now"]),
        )
        for name, text in self.before_files.items():
            path = self.world.files.root / name
            if not path.resolve().is_relative_to(self.world.files.root.resolve()):
                raise UsageError(f"{name} lies outside of the recording.", fix="Name it below its root.")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    @property
    def _by_steps(self) -> bool:
        return capture_recipe(self.recording["recipe"]).by_steps

    def run(self) -> dict[str, Any]:
        """Play every step."""
        if self.recording.get("schema") == SCHEMA and not self._by_steps:
            return self._run_recipe()
        plugin = Plugin(self.world)
        clock = int(self.recording["now"])
        steps = []
        for step in self.recording["steps"]:
            if step["do"] == "advance":
                clock += int(step["ms"])
                steps.append({**_inputs(step), "trace": []})
                continue
            self.world.now_ms = clock
            self.vectors.failing = frozenset(step.get("embed_fail") or ())
            self.world.embed_ms = float(step.get("embed_delay_ms") or 0)
            played = plugin.step(step)
            self.draft.flush()
            steps.append({**_inputs(step), "at": clock, **marked(played)})
            clock += TICK_MS
        return {"id": self.recording.get("id"), **self.left(), "steps": steps}

    def _run_recipe(self) -> dict[str, Any]:
        """Play a recording that was made here with a recipe that has no hooks: its conversation at once."""
        from memtui.engine.capture.pipeline import capture

        made, world = self.recording, self.world
        calls = calls_of(made)
        config = {**(made.get("config") or {}), **self.given}
        request = CaptureRequest(
            messages_of(made), made["recipe"], config, made["agent"], made["scope"], made["session"]
        )
        chat = Again(calls) if calls else None
        context = CaptureContext(self.draft, self.vectors, world.now_ms, self._new_id, chat, world.policy)
        trace = capture(request, context)
        self.draft.flush()
        told = {
            "kind": "capture",
            "texts": [text.as_json() for text in trace.texts],
            "candidates": [candidate.as_json() for candidate in trace.candidates],
        }
        step = {**_inputs(made["steps"][0]), "at": world.now_ms, "trace": [told]}
        return {"id": made.get("id"), **self.left(), "steps": [step]}

    def _store(self) -> Draft:
        from memtui.engine.store.create import create_pro, pro_schema
        from memtui.engine.store.open import open_store

        folder = self.root / "db"
        folder.mkdir(parents=True)
        schema = pro_schema(self.vectors.dims)
        create_pro(folder, schema.empty_table())
        draft = Draft(open_store(folder))
        for each in self.recording.get("rows_before") or []:
            draft.add(_row(each, self.vectors))
        draft.flush()  # after the index was made, as the plugin writes its rows
        return draft

    def _new_id(self) -> str:
        self.made += 1
        return f"{NEW_ID}{self.made:012d}"

    def _search_words(self, query: str, scopes: Sequence[str] | None, limit: int) -> list[tuple[str, float]]:
        from memtui.engine.capture.recipes.pro.unfolded_search import search_unfolded

        return search_unfolded(self.draft, query, scopes, limit=limit, now_ms=self.world.now_ms)

    def _reflect(self, request: Mapping[str, Any]) -> str:
        if not self.reflections:
            raise NoReplyError("no reply was recorded")
        reply = self.reflections.pop(0)
        if "error" in reply:
            raise NoReplyError(str(reply["error"]))
        return str(reply["text"])

    def left(self) -> dict[str, Any]:
        """What the store and the files hold that was not there before."""
        after = {row.id: row for row in self.draft.rows(vectors=True)}
        created = [row for key, row in after.items() if key not in self.before]
        changed = [
            row for key, row in after.items() if key in self.before and _differs(row, self.before[key])
        ]
        return {
            "rows_created": [self._shown(row) for row in sorted(created, key=lambda row: row.id)],
            "rows_changed": [self._shown(row) for row in sorted(changed, key=lambda row: row.id)],
            "rows_deleted": sorted(key for key in self.before if key not in after),
            "rows_total": len(after),
            "files_after": self._files(),
            "unused_replies": self.replies.unused,
        }

    def _shown(self, row: StoredRow) -> dict[str, Any]:
        texts = self.vectors.texts_of(row.vector)
        found: dict[str, Any] = {
            "id": row.id,
            "text": marked(row.text),
            "category": row.category,
            "scope": row.scope,
            "importance": row.importance,
            "timestamp": row.timestamp,
            "metadata": marked(row.metadata),
        }
        vector = None if row.vector is None else [round(float(each), 6) for each in row.vector]
        return {**found, "vector_of": texts[0] if texts else None, "vector": vector}

    def _files(self) -> dict[str, str]:
        self.world.files.flush()
        root = self.world.files.root
        found = {}
        for path in sorted(root.rglob("*")) if root.is_dir() else ():
            name = path.relative_to(root).as_posix()
            if path.is_file() and (text := path.read_text(encoding="utf-8")) != self.before_files.get(name):
                found[name] = marked(text)
        return found


_MARKS = {
    injection.BANNER: "banner",
    reflection.INTRO: "intro",
    reflection.FALLBACK: "fallback-report",
    learning_tools.HEADS[learning_tools.LEARNINGS]: "learnings-head",
    learning_tools.HEADS[learning_tools.ERRORS]: "errors-head",
    learning_tools.REMINDER_TEXT: "reminder",
    learning_tools.RESET_REMINDER: "reset-reminder",
    learning_tools.LOOP: "recommended-loop",
    learning_tools.TODO: "todo",
    GOVERNANCE_ACTION: "governance-action",
}
"""Fixed sentences in our own words, and the marks that recordings have in place of the plugin's."""


def marked(value: Any) -> Any:
    """A value of a recording with marks in place of the fixed sentences."""
    if isinstance(value, str):
        for sentence, mark in _MARKS.items():
            value = value.replace(sentence, "{{" + mark + "}}")
        return value
    if isinstance(value, Mapping):
        return {key: marked(each) for key, each in value.items()}
    return [marked(item) for item in value] if isinstance(value, list | tuple) else value


def _inputs(step: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in step.items() if key not in ("trace", "queues", "answer", "at")}


def _row(values: Mapping[str, Any], vectors: _Vectors) -> StoredRow:
    import numpy as np

    given = values.get("vector")
    vector = (
        np.asarray(given, dtype=np.float32)
        if isinstance(given, list)
        else vectors.of(str(values.get("vector_of") or values.get("text") or ""))
    )
    return StoredRow(
        id=str(values["id"]),
        text=str(values.get("text") or ""),
        category=str(values.get("category") or "other"),
        scope=values.get("scope"),
        importance=float(values.get("importance", 0.7)),
        timestamp=int(values.get("timestamp") or 0),
        metadata=str(values.get("metadata") or "{}"),
        vector=vector,
    )


def _differs(row: StoredRow, other: StoredRow) -> bool:
    names = ("text", "category", "scope", "importance", "timestamp", "metadata")
    if any(getattr(row, name) != getattr(other, name) for name in names):
        return True
    if row.vector is None or other.vector is None:
        return row.vector is not other.vector
    return not bool((row.vector == other.vector).all())
