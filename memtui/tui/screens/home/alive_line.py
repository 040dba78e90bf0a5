"""The line of Home that says whether the agents' memory is alive, with the code and the key of what is not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.messages import ShowFinding
from memtui.tui.paint.cells import crop
from memtui.tui.screens.home.link_list import LinkRow

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.alive import Aliveness
    from memtui.tui.paint.glyphs import Glyphs


_KINDS = {
    "recall": "D41", "capture": "D42", "tools": "D43", "embedding": "D44", "index": "D45", "workspace": "D46",
    "dreaming": "D47",
}  # fmt: skip
"""The check in Health that tells of a part."""


def read(engine: Engine, now_ms: int, cancel: CancelToken) -> Aliveness:
    """The answer for the home that names the open store."""
    from memtui.engine.alive import check_alive

    cancel.check()
    return check_alive(engine.environ, Path.cwd(), now_ms=now_ms)


def alive_rows(found: Aliveness | None, width: int, height: int, glyphs: Glyphs) -> list[LinkRow]:
    """The state of the agents' memory in at most `height` lines; none where there is no memory to judge."""
    if found is None or found.verdict == "unknown":
        return []
    weak = bool(found.causes)
    mark, style = (glyphs.warn, "$stale") if weak else (glyphs.mark, "$ok")
    if found.verdict == "dead":
        style = "$error"
    said = one_line(found.summary)
    text = said if found.verdict == "dead" else f"memory {found.verdict}: {said}"
    room = max(4, width - 2)
    lines = [line.plain for line in Content(text).wrap(room)]
    height = max(1, height)
    if len(lines) > height:
        lines = [*lines[: height - 1], crop(" ".join(lines[height - 1 :]), room)]
    part = next((part.part for _, part, _ in found.causes), "")
    return [
        LinkRow(
            Content.assemble((f"{' ' if at else mark} ", style), (line, "$foreground")),
            partial(ShowFinding, _KINDS[part]) if part and not at else None,
        )
        for at, line in enumerate(lines)
    ]
