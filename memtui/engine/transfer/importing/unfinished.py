"""Imports and re-embeddings that were begun and not finished: what has to be asked for again to go on."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import Cancelled, MemtuiError, RefusedError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.transfer.importing.request import ImportRequest

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


Kind = Literal["import", "reembed"]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """One run that ended early. `what` is JSON: `request_of` reads that of an import."""

    name: str
    kind: Kind
    time_ms: int
    what: Mapping[str, Any]
    why: str
    """Why it stopped; empty when its program was killed."""

    @property
    def request(self) -> ImportRequest:
        """What an import was asked for."""
        given = dict(self.what)
        given["sources"] = tuple(Path(source) for source in given["sources"])
        given["rules_off"] = frozenset(given["rules_off"])
        given["left_out"] = frozenset(given.get("left_out", ()))
        given["choices"] = {int(number): choice for number, choice in given["choices"].items()}
        return ImportRequest(**given)


def as_asked(request: ImportRequest) -> dict[str, Any]:
    """An import as JSON, to be asked for again."""
    found = {name: getattr(request, name) for name in ImportRequest.__dataclass_fields__}
    found["sources"] = [str(source.absolute()) for source in request.sources]
    found["rules_off"], found["left_out"] = sorted(request.rules_off), sorted(request.left_out)
    found["mapping"], found["scopes"] = dict(request.mapping), dict(request.scopes)
    found["choices"] = {str(number): choice for number, choice in request.choices.items()}
    return found


class UnfinishedRuns:
    """The unfinished runs of one store, a small file each in `folder`. `now` is in milliseconds."""

    def __init__(self, folder: Path, now: Callable[[], int]) -> None:
        self._folder, self._now = folder, now

    def all(self) -> list[Unfinished]:
        """The imports that were cut off and are not being worked on, the last one first."""
        found = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            try:
                value = json.loads(path.read_text(encoding="utf-8"))
                pid = value.pop("pid")
                each = Unfinished(name=path.stem, **value)
                if each.kind == "import":
                    each.request  # noqa: B018 - a file of another version does not count
            except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
                continue
            if each.why or not _alive(pid):
                found.append(each)
        return sorted(found, key=lambda each: -each.time_ms)

    def forget(self, name: str) -> None:
        """Delete what was kept of a run: it can no longer be resumed."""
        (self._folder / f"{name}.json").unlink(missing_ok=True)

    @contextmanager
    def running(self, kind: Kind, what: Mapping[str, Any]) -> Iterator[None]:
        """While this lasts the run is on file; afterwards only when it was cancelled, failed or killed."""
        for entry in self.all():  # the same thing, begun again
            if entry.kind == kind and dict(entry.what) == dict(what):
                self.forget(entry.name)
        name = f"{kind}-{self._now()}-{os.getpid()}"
        run = Unfinished(name, kind, self._now(), what, "")
        self._keep(run)
        try:
            yield
        except RefusedError:
            self.forget(name)
            raise
        except Cancelled:
            self._keep(Unfinished(name, kind, run.time_ms, what, "It was stopped."))
            raise
        except MemtuiError as error:
            self._keep(Unfinished(name, kind, run.time_ms, what, error.message))
            raise
        else:
            self.forget(name)

    def _keep(self, run: Unfinished) -> None:
        value = {key: each for key, each in asdict(run).items() if key != "name"}
        text = json.dumps({**value, "pid": os.getpid()}, ensure_ascii=False)
        try:
            make_private_folder(self._folder)
            handle, part = tempfile.mkstemp(dir=self._folder, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            os.replace(part, self._folder / f"{run.name}.json")
        except OSError:
            return  # a note that cannot be kept is no reason not to do the work


def _alive(pid: Any) -> bool:
    """Whether the program that began a run still goes."""
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def settle(engine: Engine) -> tuple[str, ...]:
    """Put right what killed imports left in the journal; one sentence for each.

    An import is one commit: it is wholly there, then its entry is completed, or not at all, then it goes.
    """
    from memtui.engine.changes.applied_state import AppliedState
    from memtui.engine.changes.interrupted import find_interrupted
    from memtui.engine.transfer.importing.import_plan import ACTION

    writing = engine.write_state
    if not writing.writable:
        return ()
    said = []
    for left in find_interrupted(engine):
        if left.entry.action != ACTION:
            continue
        if left.found is AppliedState.WHOLE:
            writing.applier.journal.applied(left.entry.entry, writing.applier.writer.newest())
            said.append(
                f"The import of entry {left.entry.entry} was interrupted after it was written; it is whole."
            )
        elif left.found is AppliedState.NOTHING:
            writing.applier.journal.drop(left.entry.entry)
            said.append("An import was interrupted before anything was written; it begins again.")
    return tuple(said)
