"""The layouts of session files, one module each with `find(agent folder)` and `read(file)`, registered here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.formats import database, transcript
from memtui.engine.witness.session import SessionFile, SessionRecord

FORMS = {transcript.FORM: (transcript.find, transcript.read), database.FORM: (database.find, database.read)}


def find_in(folder: Path, agent: str) -> list[SessionFile]:
    """All sessions in an agent's folder, of every layout.

    A host that moves its transcripts into its database leaves the files where they were, and lists sessions that it
    has not moved yet: of both the one counts that holds the transcript, the database where both do.
    """
    found = [file for find, _ in FORMS.values() for file in find(folder, agent)]
    moved = {file.id for file in found if file.form == database.FORM and not file.listed_only}
    kept = {file.id for file in found if file.form == transcript.FORM} - moved
    out = []
    for file in found:
        if file.form == transcript.FORM and file.archived and file.id in moved:
            out.append(replace(file, id=transcript.archive_id(file.path)))
        elif file.id not in (moved if file.form == transcript.FORM else kept):
            out.append(file)
    return out


def read_session(
    file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None
) -> SessionRecord:
    """The session's entries and submitted prompts; what cannot be read is told in its warnings."""
    return FORMS[file.form][1](file, environ, cancel)
