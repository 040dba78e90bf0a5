"""`${NAME}` in a configuration, and the layers of environment that it is looked up in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.discovery.jsonfile import UnreadableFileError, read_text

HERE = ".env in the current folder"
"""Name of the layer that depends on where memtui was started."""

KeyPath = tuple[str | int, ...]
"""Where a value stands in the configuration, key by key."""

_HOST = re.compile(r"\$(\$?)\{([A-Z_][A-Z0-9_]*)\}")
_ANY = re.compile(r"\$\{([^}]+)\}")
_LINE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True, repr=False)
class Layers(Mapping[str, str]):
    """Environment layers, strongest first; a lower layer never overrides, and an empty value counts as unset.

    The repr shows no value: any of them may be a secret.
    """

    layers: tuple[tuple[str, Mapping[str, str]], ...]

    def __getitem__(self, name: str) -> str:
        for _, values in self.layers:
            if values.get(name):
                return values[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for _, values in self.layers for name in values if values[name]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def origin(self, name: str) -> str:
        """The layer that `name` comes from, empty when it is not set."""
        return next((layer for layer, values in self.layers if values.get(name)), "")

    def __repr__(self) -> str:
        return f"Layers({', '.join(f'{layer}: {len(values)}' for layer, values in self.layers)})"


def environment(environ: Mapping[str, str], cwd: Path, state: Path, tree: Any) -> Layers:
    """OpenClaw's order: the process, `.env` here, `.env` of the state folder, the configuration's `env`.

    The login shell, OpenClaw's last layer, is never run.
    """
    outer = (
        ("environment", environ),
        (HERE, read_dotenv(cwd / ".env")),
        (".env in the state folder", read_dotenv(state / ".env")),
    )
    block = tree.get("env") if isinstance(tree, dict) else None
    own: dict[str, str] = {}
    if isinstance(block, dict):
        named = block.get("vars")
        for name, value in [*block.items(), *(named.items() if isinstance(named, dict) else ())]:
            if isinstance(value, str):
                own[name] = _HOST.sub(lambda match: Layers(outer).get(match[2], match[0]), value)
    return Layers((*outer, ("env block of the configuration", own)))


def read_dotenv(path: Path) -> dict[str, str]:
    """The assignments of a `.env` file: comments, `export` and quotes understood; {} when there is none."""
    try:
        text = read_text(path)
    except UnreadableFileError:
        return {}
    values = {}
    for line in text.splitlines():
        if match := _LINE.match(line):
            values[match[1]] = _unquote(match[2])
    return values


def _unquote(value: str) -> str:
    quote = value[:1]
    if quote in ("'", '"', "`") and (end := value.find(quote, 1)) > 0:
        inner = value[1:end]
        return inner.replace("\\n", "\n") if quote == '"' else inner
    return re.split(r"\s+#", value, maxsplit=1)[0] if not value.startswith("#") else ""


@dataclass(slots=True)
class Expansion:
    """The configuration with its variables filled in; a missing one keeps its text and is noted."""

    values: Any
    missing: dict[KeyPath, tuple[str, ...]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def expand(tree: Any, layers: Layers) -> Expansion:
    """Fill in `${NAME}` (upper-case names) in every string; `$${NAME}` becomes the text `${NAME}`."""
    out = Expansion(None)

    def text(value: str, path: KeyPath) -> str:
        def one(match: re.Match[str]) -> str:
            if match[1]:
                return match[0][1:]
            out.used.add(match[2])
            if match[2] in layers:
                return layers[match[2]]
            out.missing[path] = (*out.missing.get(path, ()), match[2])
            return match[0]

        return _HOST.sub(one, value) if "${" in value else value

    def walk(node: Any, path: KeyPath) -> Any:
        if isinstance(node, str):
            return text(node, path)
        if isinstance(node, list):
            return [walk(item, (*path, index)) for index, item in enumerate(node)]
        if isinstance(node, dict):
            return {key: walk(value, (*path, key)) for key, value in node.items()}
        return node

    out.values = walk(tree, ())
    return out


def names_in(text: str) -> tuple[str, ...]:
    """The variables that a plugin's own field names; it accepts any name, not only upper case."""
    return tuple(match[1] for match in _ANY.finditer(text))


def expand_field(text: str, layers: Mapping[str, str]) -> str | None:
    """A plugin's own second expansion, any name allowed; None when a variable is missing or empty."""
    missing = [name for name in names_in(text) if not layers.get(name)]
    return None if missing else _ANY.sub(lambda match: layers[match[1]], text)
