"""Names that versions have in the table itself (its tags), and copies of versions: both can be taken back."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import RefusedError
from memtui.engine.store.manifests import newest_number
from memtui.engine.store.table_facts import in_the_way

if TYPE_CHECKING:
    from memtui.engine.store.writer import Writer


@dataclass(frozen=True, slots=True)
class TagEdit:
    """One version's name in the table as it was and as it is to be; empty where it has none."""

    version: int
    before: str
    after: str

    @property
    def reverse(self) -> TagEdit:
        """The same the other way."""
        return TagEdit(self.version, self.after, self.before)

    @property
    def sentence(self) -> str:
        """What happens to the name, for a preview."""
        if not self.after:
            return f"the name {self.before} of v{self.version} is removed from the table"
        was = f", in place of {self.before}" if self.before else ""
        return f"v{self.version} is named {self.after} in the table{was}"

    def as_json(self) -> dict[str, Any]:
        """As the journal keeps it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class VersionCopy:
    """A version that was copied to a table of its own, as it was when the copy was done."""

    table: str
    """The folder of the copied table."""
    newest: int
    """The copy's own version: a higher one says that somebody has used it since."""
    alone: bool
    """Whether the folder around it was made for it."""

    @property
    def sentence(self) -> str:
        """What taking it back does, for a preview."""
        return f"{self.table} is removed, unless somebody has written to it since"

    def as_json(self) -> dict[str, Any]:
        """As the journal keeps it."""
        return asdict(self)

    def remove(self) -> None:
        """Take the copy away. Raises RefusedError where it was written to since; one that is gone is no error."""
        place = Path(self.table)
        if not place.exists():
            return
        if newest_number(place) != self.newest:
            raise RefusedError(
                f"{place} was written to since it was copied.", fix="Remove it by hand; nothing was changed."
            )
        shutil.rmtree(place)
        if self.alone:
            with suppress(OSError):  # others have put something beside it
                place.parent.rmdir()


def tags_in(detail: Mapping[str, Any]) -> tuple[TagEdit, ...]:
    """The names that a journal entry changed in the table."""
    return tuple(TagEdit(**tag) for tag in detail.get("tags", ()))


def copies_in(detail: Mapping[str, Any]) -> tuple[VersionCopy, ...]:
    """The copies that a journal entry made."""
    return tuple(VersionCopy(**copy) for copy in detail.get("copies", ()))


def write_tags(writer: Writer, edits: Sequence[TagEdit]) -> None:
    """Change names in the table, all or none: those already changed go back where one cannot be.

    Raises RefusedError for a name that somebody has changed since, MemtuiError when the table refuses.
    """
    there = writer.tags()
    for edit in edits:
        holder = there.get(edit.after) if edit.after else None
        stale = edit.before and there.get(edit.before) != edit.version
        if stale or (holder is not None and holder != edit.version):
            name = edit.before if stale else edit.after
            raise RefusedError(
                f"The name {name} was changed in the table since.",
                fix="Refresh and try again; nothing was changed.",
            )
    done: list[TagEdit] = []
    try:
        for edit in edits:
            _write(writer, edit)
            done.append(edit)
    except BaseException:
        for edit in reversed(done):
            _write(writer, edit.reverse)
        raise


def _write(writer: Writer, edit: TagEdit) -> None:
    if edit.after:
        writer.tag(edit.after, edit.version)
    if edit.before and edit.before != edit.after:
        writer.untag(edit.before)


def removed_tags(tags: Mapping[str, int]) -> tuple[TagEdit, ...]:
    """Every one of these names taken out of the table."""
    return tuple(TagEdit(version, name, "") for name, version in tags.items())


def words_of_names(tags: Mapping[str, int], *, going: bool) -> list[str]:
    """What a preview says of names that hold the older versions that are to go; nothing where there are none."""
    if not tags:
        return []
    many = len(tags) > 1
    held = f"{'Names' if many else 'A name'} in the table {'hold' if many else 'holds'} older versions"
    more = (
        f"{'they go' if many else 'it goes'} as well."
        if going
        else "nothing goes while they are there (--drop-names)."
    )
    return [f"{held}: {in_the_way(tags)}; {more}"]


def require_untagged(tags: Mapping[str, int], going: Sequence[TagEdit]) -> None:
    """Nothing of the past can go while a version has a name. Raises RefusedError for names that do not go with it."""
    leaving = {edit.before for edit in going}
    left = {name: version for name, version in tags.items() if name not in leaving}
    if left:
        raise RefusedError(
            f"Older versions are held by {'a name' if len(left) == 1 else 'names'} in the table: {in_the_way(left)}.",
            fix="Repeat with --drop-names to remove the names as well; nothing was changed.",
        )
