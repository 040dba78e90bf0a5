"""`$include`: parts of a configuration that live in their own files, merged as OpenClaw merges them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.discovery.jsonfile import UnreadableFileError, read_json5

KEY = "$include"
MAX_DEPTH = 10


@dataclass(slots=True)
class Includes:
    """The files that were read, in order, and the ones that could not be; a failed one counts as empty."""

    root: Path
    """Folder of the main file: nothing outside of it is read, as in OpenClaw."""
    files: list[Path] = field(default_factory=list)
    failures: list[UnreadableFileError] = field(default_factory=list)

    def resolve(self, tree: Any, file: Path) -> Any:
        """`tree`, parsed from `file`, with every `$include` replaced.

        Objects merge deeply, arrays are joined, later files and then the sibling keys win.
        """
        return self._walk(tree, file, (Path(os.path.realpath(file)),))

    def _walk(self, node: Any, file: Path, chain: tuple[Path, ...]) -> Any:
        if isinstance(node, list):
            return [self._walk(item, file, chain) for item in node]
        if not isinstance(node, dict):
            return node
        own = {key: self._walk(value, file, chain) for key, value in node.items() if key != KEY}
        if KEY not in node:
            return own
        wanted = node[KEY]
        if isinstance(wanted, str):
            included = self._load(wanted, file, chain)
        elif isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
            included = {}
            for name in wanted:
                included = merge(included, self._load(name, file, chain))
        else:
            self.failures.append(
                UnreadableFileError(file, f"{KEY} must be a file name or a list of file names")
            )
            return own
        if not own:
            return included
        if not isinstance(included, dict):
            self.failures.append(UnreadableFileError(file, f"{KEY} beside other keys must name an object"))
            return own
        return merge(included, own)

    def _load(self, name: str, file: Path, chain: tuple[Path, ...]) -> Any:
        path = Path(os.path.normpath(file.parent / name))
        try:
            real = Path(os.path.realpath(path))
            if not real.is_relative_to(os.path.realpath(self.root)):
                raise UnreadableFileError(path, "is outside the folder of the configuration")
            if real in chain:
                raise UnreadableFileError(path, "includes itself")
            if len(chain) > MAX_DEPTH:
                raise UnreadableFileError(path, f"is included more than {MAX_DEPTH} levels deep")
            tree = read_json5(path)
        except UnreadableFileError as error:
            self.failures.append(error)
            return {}
        except ValueError:
            self.failures.append(UnreadableFileError(file, f"{KEY} names an impossible path"))
            return {}
        self.files.append(path)
        return self._walk(tree, path, (*chain, real))


def merge(base: Any, over: Any) -> Any:
    """`over` laid upon `base`: objects key by key, arrays one after the other, anything else replaced."""
    if isinstance(base, list) and isinstance(over, list):
        return [*base, *over]
    if isinstance(base, dict) and isinstance(over, dict):
        return {
            **base,
            **{key: merge(base[key], value) if key in base else value for key, value in over.items()},
        }
    return over
