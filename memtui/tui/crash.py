"""What a person sees when the app stops by a fault of its own: where it was, and no value of theirs."""

from __future__ import annotations

import traceback
from pathlib import Path

from memtui.engine import one_line
from memtui.engine.secrets import mask

_HERE = str(Path(__file__).parents[1])


def stopped(error: BaseException) -> str:
    """Some lines about `error`: its words (secrets masked), the places in memtui, and what to do."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if each.filename.startswith(_HERE)] or list(frames)
    places = [
        f"  memtui{each.filename.removeprefix(_HERE)}:{each.lineno} in {each.name}" for each in ours[-6:]
    ]
    words = one_line(mask(str(error))[0])[:300]
    return "\n".join(
        [
            f"memtui stopped by a fault of its own: {type(error).__name__}: {words}",
            *places,
            "A change that had begun is finished or taken back at the next start. Please report these lines.",
        ]
    )
