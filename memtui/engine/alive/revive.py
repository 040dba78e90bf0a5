"""The edit of the host's configuration that revives a part: planned, previewed, written and undone as any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.alive.model import Aliveness
from memtui.engine.configuration.draft import text_difference
from memtui.engine.configuration.file import Configuration, open_config
from memtui.engine.configuration.plans import SettingChange, change_to
from memtui.engine.configuration.write import ConfigRecord, write_changes
from memtui.engine.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Revival:
    """A planned edit: nothing is written before `apply`."""

    code: str
    config: Configuration
    changes: tuple[SettingChange, ...]

    @property
    def difference(self) -> tuple[str, ...]:
        """The lines that differ; keys that are written out are masked."""
        texts = self.config.with_settings([(change.path, change.after) for change in self.changes])
        return text_difference((str(path), self.config.texts[path], text) for path, text in texts.items())

    def apply(self, *, state: Path, now_ms: int) -> ConfigRecord:
        """Write it; the record is kept in `state`, memtui's own folder. Raises what `write_changes` raises."""
        return write_changes(self.config, self.changes, plan=f"alive {self.code}", state=state, now_ms=now_ms)


def plan_revival(found: Aliveness, code: str, environ: Mapping[str, str], cwd: Path) -> Revival:
    """The edits of every cause with this code, as one change.

    Raises UsageError for a cause that was not found, or whose fix is no edit (it then says what to do).
    """
    wanted = code.strip().lower()
    causes = [cause for _, _, cause in found.causes if cause.code.lower() == wanted]
    if not causes:
        codes = ", ".join(dict.fromkeys(cause.code for _, _, cause in found.causes if cause.edits))
        raise UsageError(
            f"No cause {code} was found.", fix=f"Fixed by an edit here: {codes or 'none'}. See: memtui alive."
        )
    edits = [edit for cause in causes for edit in cause.edits]
    if not edits:
        raise UsageError(f"{causes[0].code} is not fixed by an edit of the configuration.", fix=causes[0].fix)
    config = open_config(environ, cwd)
    changes = {edit.path: change_to(config, edit.path, edit.value, causes[0].code) for edit in edits}
    return Revival(causes[0].code, config, tuple(change for change in changes.values() if change is not None))
