"""What stays of a person, or of any subject, when the memories that name them are forgotten. Reads only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.catalog.types import ListQuery
from memtui.engine.core.errors import UsageError
from memtui.engine.core.text import apart, counted, letter_forms, words_pattern
from memtui.engine.witness.find import find_sessions
from memtui.engine.witness.session_copies import file_holds, session_paths

if TYPE_CHECKING:
    from memtui.engine.catalog.similar import Neighbour
    from memtui.engine.core.memory import Memory
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine


LIKELY = 0.6
"""The least cosine at which a memory without the name is probably about the same: in a store of short texts in one
language half of what is as near as this speaks of the same subject, and a person looks at each."""

_ASKED = 25
"""Memories whose neighbours are looked for: each costs a pass over all vectors."""

_NEAREST = 5
"""Neighbours that are looked at of each, beside those that are of the same kind."""

_HOLDING = 30
"""Memories that hold one word of a name: of a word that is in more of them it says little."""

_SHORTEST = 3
"""Shorter words of a name, such as an initial, stand in everything."""

_NAMED = 3
"""How many files a sentence names."""


@dataclass(frozen=True, slots=True)
class Likely:
    """A memory that names a person in part or not at all, probably about them: how near it is, and the word it has."""

    memory: Memory
    similarity: float | None
    """The greatest cosine to one that has the name; None where it is not near."""
    word: str = ""


def likely_about(
    engine: Engine, ids: Sequence[str], name: str, cancel: CancelToken | None = None
) -> tuple[Likely, ...]:
    """Return memories that are probably about the person named in `ids`, those themselves left out.

    Those that hold one word of the `name` come first (at most 30 for each word), then those near in meaning to one
    of the first 25 of `ids`, the nearest first.
    """
    gone = set(ids)
    near: dict[str, Neighbour] = {}
    for memory_id in ids[:_ASKED]:
        if cancel is not None:
            cancel.check()
        try:
            neighbours = engine.neighbours(memory_id, _NEAREST + min(len(ids), _ASKED))
        except UsageError:  # without a usable vector it has none
            continue
        for other in neighbours:
            known = near.get(other.memory.id)
            if other.memory.id and other.similarity >= LIKELY:
                near[other.memory.id] = (
                    known if known is not None and known.similarity >= other.similarity else other
                )
    found: dict[str, Likely] = {}
    for word in dict.fromkeys(name.split()):
        if len(word) < _SHORTEST:
            continue
        view = engine.view(ListQuery(f'"{word}"'))
        for memory in engine.page(view, 0, _HOLDING + len(gone)):
            if (
                memory.id
                and memory.id not in found
                and re.search(apart(words_pattern(word)), memory.text, re.I)
            ):
                how = near.get(memory.id)
                found[memory.id] = Likely(memory, how.similarity if how else None, word)
    found |= {
        id: Likely(neighbour.memory, neighbour.similarity)
        for id, neighbour in near.items()
        if id not in found
    }
    kept = [each for id, each in found.items() if id not in gone]
    return tuple(sorted(kept, key=lambda each: (not each.word, -(each.similarity or 0), each.memory.id)))


def stays_elsewhere(
    name: str,
    environ: Mapping[str, str],
    cwd: Path,
    own: Path,
    cancel: CancelToken | None = None,
) -> list[str]:
    """Sentences about what a forget leaves outside the store: session files, memtui's own files that hold the name.

    `own` is memtui's state folder; its journal of changes is left out, it is what a forget itself sees to. A file
    is read whole and holds the name where its bytes do: in any case of ASCII letters, other letters as the name has
    them, all lower, all upper, or words beginning upper; composed or decomposed.
    """
    sessions = _holding(session_paths(find_sessions(environ, cwd)), name, cancel)
    ours = [path for path in sorted(own.rglob("*")) if path.is_file() and "curate" not in path.parts]
    ours = _holding(ours, name, cancel)
    what = "of memtui's own (questions, cases, filters)"
    if not sessions and not ours:
        found = [f"No session file and no file {what} holds the name."]
    else:
        found = [_sentence(sessions, "session file", "session files")]
        found.append(_sentence(ours, f"file {what}", f"files {what}"))
    found.append("Questions asked and filters typed that hold the name go with it; saved cases stay.")
    return found


def _holding(files: Iterable[Path], name: str, cancel: CancelToken | None) -> list[Path]:
    """The files that hold the name as it is or as JSON writes it."""
    cases = (name, name.casefold(), name.lower(), name.upper(), name.title())
    written = {form for case in cases for form in letter_forms(case)}
    written |= {json.dumps(form, ensure_ascii=plain)[1:-1] for form in written for plain in (True, False)}
    needles = sorted({form.encode("utf-8", "surrogatepass").lower() for form in written if form})
    return [path for path in files if file_holds(path, needles, ignore_case=True, cancel=cancel)]


def _sentence(paths: Sequence[Path], one: str, many: str) -> str:
    if not paths:
        return f"No {one} holds the name."
    some = ", ".join(path.name for path in paths[:_NAMED])
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    verb = "holds" if len(paths) == 1 else "hold"
    stay = "stays" if len(paths) == 1 else "stay"
    return f"{counted(len(paths), one, many)} {verb} the name and {stay}: {some}{more}."
