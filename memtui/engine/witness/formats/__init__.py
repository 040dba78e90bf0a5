"""The layouts in which hosts keep their sessions; a new one is a file here with `find` and `read`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.formats import database, database_session, transcript
from memtui.engine.witness.session import SessionFile, SessionRecord

FORMS = {
    transcript.FORM: (transcript.find, transcript.read),
    database.FORM: (database.find, database_session.read),
}


def find_in(folder: Path, agent: str) -> list[SessionFile]:
    """All sessions in an agent's folder, of every layout.

    A host that moves its transcripts into its database leaves the files where they were, and lists sessions that it
    has not moved yet: of both the one counts that holds the transcript, the database where both do. So it is with an
    archive that the database holds and has written into a file.
    """
    found = [file for find, _ in FORMS.values() for file in find(folder, agent)]
    live = [file for file in found if not file.archived]
    moved = {file.id for file in live if file.form == database.FORM and not file.listed_only}
    kept = {file.id for file in live if file.form == transcript.FORM} - moved
    live = [file for file in live if file.id not in (moved if file.form == transcript.FORM else kept)]
    master = {transcript.archive_id(file.archive) for file in found if file.archive}
    archived = [
        file
        for file in found
        if file.archived and (file.archive or transcript.archive_id(file.path.name) not in master)
    ]
    times = Counter([*(file.id for file in archived), *dict.fromkeys(file.id for file in live)])
    return live + [file if times[file.id] == 1 else _named_by_time(file) for file in archived]


def _named_by_time(file: SessionFile) -> SessionFile:
    """An archive of a session that goes on, or that has several, under an id of its own."""
    own = transcript.archive_id(file.archive or file.path.name)
    return replace(file, id=own, key=file.key if file.archive else "")


def read_session(
    file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None
) -> SessionRecord:
    """The session's entries and submitted prompts; what cannot be read is told in its warnings."""
    return FORMS[file.form][1](file, environ, cancel)
