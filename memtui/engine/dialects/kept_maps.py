"""Column maps that a person keeps under a name, each for one table, which then opens without --columns."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.errors import ConfigError, UsageError
from memtui.engine.core.private_file import make_private_folder, write_private
from memtui.engine.dialects.generic import MAPPABLE, UNIT, ZONE

SCHEMA = "memtui.column-maps.v1"


@dataclass(frozen=True, slots=True)
class KeptMap:
    """One map: `place` is the key of its table, `columns` role to column, with `zone` and `unit` of its times."""

    name: str
    place: str
    columns: Mapping[str, str]


def place_key(uri: str, table: str | None) -> str:
    """What a table is known by: its address or the real path of its folder, and its name."""
    if "://" in uri:
        return f"{uri.rstrip('/')}#{table or TABLE}"
    path = os.path.realpath(os.path.expanduser(uri))
    if path.endswith(".lance") and not any(name.endswith(".lance") for name in _names(path)):
        path, table = os.path.dirname(path), os.path.basename(path).removesuffix(".lance")
    return f"{path}#{table or TABLE}"


TABLE = "memories"


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def kept_for(
    maps: Mapping[str, Mapping[str, str]], uri: str, table: str | None
) -> tuple[str | None, Mapping[str, str] | None]:
    """The table to open and its kept map: where no table is named and only one of the folder's has a map, that one."""
    key = place_key(uri, table)
    if key in maps:
        return table, maps[key]
    folder = key.rpartition("#")[0]
    there = [one for one in maps if one.rpartition("#")[0] == folder]
    if table is None and len(there) == 1 and not os.path.isdir(os.path.join(folder, f"{TABLE}.lance")):
        return there[0].rpartition("#")[2], maps[there[0]]
    return table, None


def read_maps(file: Path) -> dict[str, KeptMap]:
    """The kept maps by name; none where the file is not there. Raises ConfigError where it cannot be read."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}.", fix="Repair it, or delete it.") from error
    listed = document.get("maps") if isinstance(document, dict) else None
    if not isinstance(listed, dict):
        raise ConfigError(f"{file} holds no column maps.", fix="Repair it, or delete it.")
    found = {}
    for name, kept in listed.items():
        columns = kept.get("columns") if isinstance(kept, dict) else None
        if not isinstance(columns, dict) or not all(
            role in (*MAPPABLE, ZONE, UNIT) and isinstance(column, str) for role, column in columns.items()
        ):
            raise ConfigError(
                f"The column map {name} in {file} is damaged.", fix="Delete it, and make it anew."
            )
        found[name] = KeptMap(name, str(kept.get("place", "")), columns)
    return found


def keep_map(file: Path, kept: KeptMap) -> None:
    """Write one map beside the others; one of the same name, or of the same table, is replaced.

    Raises UsageError for a name that could be read as a map.
    """
    if not kept.name.strip() or any(sign in kept.name for sign in "=,\n"):
        raise UsageError(f"{kept.name!r} is no name.", fix="Use a word without = and commas.")
    maps = {name: one for name, one in read_maps(file).items() if one.place != kept.place}
    maps[kept.name] = kept
    document = {
        "schema": SCHEMA,
        "maps": {name: {"place": one.place, "columns": dict(one.columns)} for name, one in maps.items()},
    }
    make_private_folder(file.parent)
    write_private(file, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def by_place(maps: Mapping[str, KeptMap]) -> dict[str, Mapping[str, str]]:
    """The maps as `open_engine` takes them."""
    return {kept.place: kept.columns for kept in maps.values() if kept.place}
