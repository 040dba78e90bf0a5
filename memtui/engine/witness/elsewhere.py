"""What stays of a person, or of any subject, when the memories that name them are forgotten. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import counted, one_line
from memtui.engine.witness.find import find_sessions

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine


LIKELY = 0.6
"""The least cosine at which a memory without the name is probably about the same: in a store of short texts in one
language half of what is as near as this speaks of the same subject, and a person looks at each."""

_ASKED = 25
"""Memories whose neighbours are looked for: each costs a pass over all vectors."""

_NAMED = 3
"""How many memories and files a sentence names."""

_LONGEST = 60
"""Characters of a text in a sentence."""


def stays_elsewhere(
    engine: Engine,
    ids: Sequence[str],
    name: str,
    environ: Mapping[str, str],
    cwd: Path,
    own: Path,
    cancel: CancelToken | None = None,
) -> list[str]:
    """Sentences about what a forget of these memories leaves: near memories, session files, memtui's own files.

    `own` is memtui's state folder; its journal of changes is left out, it is what a forget itself sees to. A file
    is read whole and holds the name where its bytes do, in any case of ASCII letters.
    """
    found = []
    if near := _near(engine, ids, name, cancel):
        some = "; ".join(_quoted(how, text) for how, text in near[:_NAMED])
        more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
        found.append(
            f"{counted(len(near), 'memory', 'memories')} without the name, near in meaning, "
            f"{'stays' if len(near) == 1 else 'stay'}: {some}{more}."
        )
    else:
        found.append("No memory without the name is near them in meaning.")
    sessions = [file.path for file in find_sessions(environ, cwd)]
    found += _sentence(_holding(dict.fromkeys(sessions), name, cancel), "session file")
    ours = [each for each in sorted(own.rglob("*")) if each.is_file() and "curate" not in each.parts]
    own_file = "file of memtui's own (questions, cases, filters)"
    many = own_file.replace("file", "files", 1)
    found += _sentence(_holding(ours, name, cancel), own_file, many)
    found.append("Questions asked and filters typed that hold the name go with it; saved cases stay.")
    return found


def _quoted(how: float, text: str) -> str:
    line = one_line(mask(text)[0])
    return f"{line[:_LONGEST].rstrip()}{'…' if len(line) > _LONGEST else ''} (cosine {how:.2f})"


def _near(
    engine: Engine, ids: Sequence[str], name: str, cancel: CancelToken | None
) -> list[tuple[float, str]]:
    """Likeness and text of what is near and does not name them, the nearest first."""
    gone: set[str] = set(ids)
    found: dict[str, tuple[float, str]] = {}
    for each in ids[:_ASKED]:
        if cancel is not None:
            cancel.check()
        try:
            neighbours = engine.neighbours(each)
        except UsageError:  # without a usable vector it has none
            continue
        for other in neighbours:
            if other.memory.id and other.memory.id not in gone and other.similarity >= LIKELY:
                before = found.get(other.memory.id, (0.0, ""))
                found[other.memory.id] = max(before, (other.similarity, other.memory.text))
    return sorted(found.values(), reverse=True)


def _holding(
    files: Sequence[Path] | Mapping[Path, None], name: str, cancel: CancelToken | None
) -> list[Path]:
    needle, out = name.casefold().encode(), []
    for path in files:
        if cancel is not None:
            cancel.check()
        try:
            if needle in path.read_bytes().lower():
                out.append(path)
        except OSError:  # gone meanwhile, or not ours to read: what cannot be read is not claimed
            continue
    return out


def _sentence(paths: Sequence[Path], one: str, many: str = "") -> list[str]:
    if not paths:
        return [f"No {one} holds the name."]
    some = ", ".join(path.name for path in paths[:_NAMED])
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    verb = "holds" if len(paths) == 1 else "hold"
    stay = "stays" if len(paths) == 1 else "stay"
    return [f"{counted(len(paths), one, many or f'{one}s')} {verb} the name and {stay}: {some}{more}."]
