"""The layouts of session files, one module each with `find(agent folder)` and `read(file)`, registered here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.formats import database, transcript
from memtui.engine.witness.session import SessionFile, SessionRecord

FORMS = {transcript.FORM: (transcript.find, transcript.read), database.FORM: (database.find, database.read)}


def find_in(folder: Path, agent: str) -> list[SessionFile]:
    """All sessions in an agent's folder, of every layout."""
    return [file for find, _ in FORMS.values() for file in find(folder, agent)]


def read_session(
    file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None
) -> SessionRecord:
    """The session's entries and submitted prompts; what cannot be read is told in its warnings."""
    return FORMS[file.form][1](file, environ, cancel)
