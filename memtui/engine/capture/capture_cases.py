"""Capture cases: a recorded conversation and the memories that it should leave, kept beside the recall cases."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.recipes.memtui.likeness import key_of
from memtui.engine.capture.recording import SCHEMA, is_own
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.text import one_line

if TYPE_CHECKING:
    from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
    from memtui.engine.capture.trace import CaptureTrace
    from memtui.engine.core.progress import CancelToken

FILE = "capture-cases.jsonl"


@dataclass(frozen=True, slots=True)
class CaptureCase:
    """A conversation that should leave these memories, and no others, in a store made for it."""

    name: str
    recording: Mapping[str, Any]
    expected: tuple[str, ...]

    @property
    def id(self) -> str:
        """The same conversation under the same settings is the same case."""
        asked = [self.recording[each] for each in ("recipe", "config", "steps")]
        text = json.dumps(asked, sort_keys=True, default=str)
        return f"c{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"

    def as_json(self) -> dict[str, Any]:
        """For lists: without the recording."""
        return {
            "id": self.id,
            "name": self.name,
            "recipe": self.recording["recipe"],
            "expected": list(self.expected),
        }


def case_of(
    name: str,
    request: CaptureRequest,
    trace: CaptureTrace,
    context: CaptureContext,
    refused: Sequence[str] = (),
) -> CaptureCase:
    """A run as a case: it should leave what it leaves now, but for the statements that a person `refused`.

    `context` is a fresh one over the same store: the run is made once more to record what it reads; the model's
    answers are those of the trace.
    """
    from memtui.engine.capture.pipeline import capture
    from memtui.engine.capture.recording import Recorder, recorded
    from memtui.engine.capture.run_document import Again

    seen = Recorder()
    answers = Again(trace.calls) if trace.calls else None
    again = capture(request, seen.watch(replace(context, chat=answers)))
    case = CaptureCase(name, recorded(request, again, seen), ())
    keys = {key_of(each) for each in refused}
    left = run_case(case)
    if left.error:
        raise MemtuiError(f"It cannot be kept as a case: {left.error}", fix="Look at the conversation.")
    return replace(case, expected=tuple(each for each in left.surplus if key_of(each) not in keys))


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a capture case came out. `error` says why it could not be run."""

    case: CaptureCase
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether exactly the expected memories are left."""
        return not (self.missing or self.surplus or self.error)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        told = {"passed": self.passed, "missing": list(self.missing), "surplus": list(self.surplus)}
        return {**self.case.as_json(), **told, "error": self.error}


def run_case(case: CaptureCase, settings: Mapping[str, Any] | None = None) -> CaseResult:
    """Replay a case, under other `settings` where some are given, and compare what it leaves with what it should."""
    from memtui.engine.capture.replays import replay

    try:
        left = replay(case.recording, config=settings)
    except MemtuiError as error:
        return CaseResult(case, error=error.message)
    kept = [
        str(row["text"]) for kind in ("rows_created", "rows_changed") for row in left[kind] if _holds(row)
    ]
    keys, wanted = {key_of(each) for each in kept}, {key_of(each) for each in case.expected}
    return CaseResult(
        case,
        tuple(each for each in case.expected if key_of(each) not in keys),
        tuple(each for each in kept if key_of(each) not in wanted),
    )


def under(case: CaptureCase, settings: Mapping[str, Any]) -> CaptureCase:
    """The case under other settings, named with dots; None takes one out, and what its recipe lacks is left out."""
    from memtui.engine.capture.recipes.registry import capture_recipe

    known = capture_recipe(case.recording["recipe"]).defaults
    config: dict[str, Any] = dict(case.recording["config"])
    for name, value in settings.items():
        names = name.split(".")
        if names[0] in known:
            config = _with(config, names, value)
    return replace(case, recording={**case.recording, "config": config})


def _with(config: Mapping[str, Any], names: Sequence[str], value: Any) -> dict[str, Any]:
    first, rest = names[0], names[1:]
    below = config.get(first)
    if not rest and value is None:
        return {name: each for name, each in config.items() if name != first}
    inner = _with(below if isinstance(below, Mapping) else {}, rest, value) if rest else value
    return {**config, first: inner}


@dataclass(frozen=True, slots=True)
class CaseTrial:
    """A capture case as it comes out now, and under settings that are tried."""

    now: CaseResult
    then: CaseResult


def try_settings(
    cases: Sequence[CaptureCase], settings: Mapping[str, Any], cancel: CancelToken | None = None
) -> tuple[CaseTrial, ...]:
    """Run every case as it is and under `settings` (named with dots); no model is asked."""
    trials = []
    for case in cases:
        if cancel is not None:
            cancel.check()
        now, other = run_case(case), under(case, settings)
        same = other.recording["config"] == case.recording["config"]
        trials.append(CaseTrial(now, now if same else run_case(other)))
    return tuple(trials)


def trial_words(trials: Sequence[CaseTrial]) -> tuple[str, ...]:
    """How conversations come out now and under what is tried, in sentences; none without conversations."""
    if not trials:
        return ()
    counts = [sum(getattr(trial, when).passed for trial in trials) for when in ("now", "then")]
    said = [
        f"conversations: {counts[0]} of {len(trials)} leave what they should now, {counts[1]} then",
    ]
    for trial in trials:
        before, after = trial.now, trial.then
        if (before.passed and after.passed) or (before.missing, before.surplus) == (
            after.missing,
            after.surplus,
        ):
            continue
        parts = [f"without “{one_line(text)}”" for text in after.missing]
        parts += [f"with “{one_line(text)}”, too" for text in after.surplus]
        parts += [after.error] if after.error else []
        said.append(f"{one_line(after.case.name)}: {'; '.join(parts) or 'as it should'}")
    return tuple(said)


def _holds(row: Mapping[str, Any]) -> bool:
    metadata = json.loads(row["metadata"] or "{}")
    return not isinstance(metadata, Mapping) or not metadata.get("invalidated_at")


@dataclass(frozen=True, slots=True)
class CaptureCaseBook:
    """The capture cases of one store, one JSON line each, in memtui's own folder."""

    path: Path

    @classmethod
    def beside(cls, questions: Path) -> CaptureCaseBook:
        """The book that lies beside the file of a store's saved questions."""
        return cls(questions.with_name(FILE))

    def cases(self) -> tuple[CaptureCase, ...]:
        """Every case in the order in which they were saved. Raises MemtuiError for a file that cannot be read."""
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            raise MemtuiError(f"{self.path} cannot be read.", fix="Move it away.") from error
        return tuple(case_from(line, number) for number, line in enumerate(lines, 1) if line.strip())

    def put(self, case: CaptureCase) -> None:
        """Save a case; one of the same conversation is replaced."""
        self._keep([*(each for each in self.cases() if each.id != case.id), case])

    def remove(self, name: str) -> CaptureCase | None:
        """Take a case away by the beginning of its id; None where none or several begin so."""
        cases = self.cases()
        found = [case for case in cases if case.id.startswith(name)]
        if len(found) != 1:
            return None
        self._keep([case for case in cases if case is not found[0]])
        return found[0]

    def _keep(self, cases: Sequence[CaptureCase]) -> None:
        text = "".join(
            json.dumps({**case.recording, "name": case.name, "expected": list(case.expected)}) + "\n"
            for case in cases
        )
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.new")
        try:
            make_private_folder(self.path.parent)
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(text)
            beside.replace(self.path)
        except OSError as error:
            raise MemtuiError(
                f"{self.path} cannot be written: {(error.strerror or str(error)).lower()}.",
                fix="Make its folder writable.",
            ) from error


def case_from(line: str, number: int) -> CaptureCase:
    """A case from its line. Raises UsageError for what is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    good = isinstance(value, dict) and value.get("schema") == SCHEMA and is_own(value)
    expected = value.pop("expected", None) if good else None
    if not good or not isinstance(expected, list) or not all(isinstance(each, str) for each in expected):
        raise UsageError(
            f"Line {number} is no capture case.",
            fix="It is a recording of memtui capture --record with the list of memories that are expected.",
        )
    return CaptureCase(str(value.pop("name", "") or value.get("id")), value, tuple(expected))
