"""Names of versions: in the table itself where its program allows that, else in a file of memtui's own."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.change_set import NAME, ChangeSet
from memtui.engine.changes.files_beside import edits_of
from memtui.engine.changes.version_tags import TagEdit
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.health.maintenance import KEPT_DAYS
from memtui.engine.store.table_facts import tag_names

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


DAY_MS = 86_400_000

_NO_TAG = re.compile(r"[^A-Za-z0-9_.-]+|\.{2,}")


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """A version that has a name."""

    version: int
    name: str
    time_ms: int
    tag: bool = False
    """Whether the name is in the table itself, where it holds the version."""

    @property
    def lives_until_ms(self) -> int | None:
        """From then on a clean-up of the table may take the version; None where its name holds it."""
        return None if self.tag else self.time_ms + KEPT_DAYS * DAY_MS

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "version": self.version,
            "name": self.name,
            "time_ms": self.time_ms,
            "tag": self.tag,
            "lives_until_ms": self.lives_until_ms,
        }


class VersionNames:
    """The names of a table's versions.

    A table of memtui's own has them as tags: every reader sees them, and no clean-up takes a version that has one.
    The plugins' clean-up fails on a tag, so that their tables are not touched: the names are in the file at `path`,
    and hold nothing. There a name is known by the number and the time of its version, so that a table made anew has
    none of them.
    """

    def __init__(self, store: Store, path: Path) -> None:
        self.path = path
        self._store = store

    @property
    def in_table(self) -> bool:
        """Whether a new name goes into the table itself."""
        return self._store.dialect.can.own_store

    def kept(self) -> tuple[NamedVersion, ...]:
        """The names of versions that are still there, by number: the table's first, then our own."""
        times = dict(self._store.versions())
        tags = tag_names(self._store.pin())
        found = [NamedVersion(at, name, times[at], True) for name, at in tags.items() if at in times]
        found += [version for version in self._read() if times.get(version.version) == version.time_ms]
        return tuple(sorted(found, key=lambda each: (each.version, not each.tag, each.name)))

    def number(self, name: str) -> int:
        """The version with this name. Raises UsageError where there is none."""
        for version in self.kept():
            if version.name in (name, _as_tag(name) if version.tag else name):
                return version.version
        raise UsageError(f"No version has the number or name {name!r}.", fix="See: memtui versions.")

    def plan(self, version: int, name: str) -> ChangeSet:
        """Plan to name a version, in place of the names it has; an empty name takes them away.

        A table's own names have Latin letters, digits, dots, dashes and underscores: other signs become dashes.
        Raises UsageError for a number, for words without any of them, and for a name that another version has.
        """
        words, name = name.strip(), _as_tag(name) if self.in_table else name.strip()
        if words and not name:
            raise UsageError(
                f"{words!r} cannot be a name in the table.", fix="Use Latin letters or digits in it."
            )
        names = self.kept()
        if name.removeprefix("v").isdigit():
            raise UsageError(f"{name!r} would be taken for a number.", fix="Give it words.")
        if any(each.name == name and each.version != version for each in names):
            raise UsageError(f"Another version is named {name!r} already.", fix="Choose other words.")
        times = dict(self._store.versions())
        if version not in times:
            raise UsageError(f"There is no version {version} any more.", fix="See: memtui versions.")
        tags = [TagEdit(version, name.name, "") for name in names if name.tag and name.version == version]
        ours = [name for name in names if not name.tag and name.version != version]
        if name and self.in_table:
            same = next((tag for tag in tags if tag.before == name), None)
            tags = [tag for tag in tags if tag is not same]
            if same is None and tags:
                tags[0] = replace(tags[0], after=name)
            elif same is None:
                tags.append(TagEdit(version, "", name))
        elif name:
            ours.append(NamedVersion(version, name, times[version]))
        files = edits_of({self.path: _text(ours)}) if ours != [name for name in names if not name.tag] else ()
        title = f"v{version} named {name}" if name else f"v{version} without a name"
        return ChangeSet(NAME, title, (), self._store.version, files=files, tags=tuple(tags))

    def _read(self) -> list[NamedVersion]:
        try:
            read = json.loads(self.path.read_text(encoding="utf-8"))
            return [
                NamedVersion(int(each["version"]), str(each["name"]), int(each["time_ms"])) for each in read
            ]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise MemtuiError(
                f"{self.path} cannot be read: {error}.",
                fix="Correct the file, or move it away: it holds names only.",
            ) from None


def _as_tag(words: str) -> str:
    """The words as a tag. LanceDB cannot list its tags any more once one of them has a letter beyond ASCII."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")
    return _NO_TAG.sub("-", plain.strip().replace(".lock", "-lock")).strip("-.")


def _text(names: Sequence[NamedVersion]) -> str:
    listed = sorted(names, key=lambda each: each.version)
    return json.dumps([version.as_json() for version in listed], ensure_ascii=False, indent=1) + "\n"
