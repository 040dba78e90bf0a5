"""A file that is nested deeper than any conversation is read as text, or refused: it never ends a command."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from memtui.engine import MemtuiError
from memtui.engine.capture.conversation import read_conversations

DEPTH = 100_000


@pytest.mark.parametrize(("before", "after"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("line", ["", "\n"])
def test_deep_json_is_no_conversation(tmp_path: Path, before: str, after: str, line: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text(f"{line}{before * DEPTH}1{after * DEPTH}{line}")
    with suppress(MemtuiError):
        read_conversations(path)
