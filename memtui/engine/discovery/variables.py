"""`${NAME}` in a configuration, and the layers of environment that it is looked up in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from memtui.engine.discovery.json5_file import UnreadableFileError, read_json5, read_text

HERE = ".env in the current folder"
"""Name of the layer that depends on where memtui was started."""

KeyPath = tuple[str | int, ...]
"""Where a value stands in the configuration, key by key."""

_HOST = re.compile(r"\$(\$?)\{([A-Z_][A-Z0-9_]*)\}")

_ANY = re.compile(r"\$\{([^}]+)\}")

_LINE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True, repr=False)
class EnvironmentLayers(Mapping[str, str]):
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


def environment(environ: Mapping[str, str], cwd: Path, state: Path, tree: Any) -> EnvironmentLayers:
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
                own[name] = _HOST.sub(lambda match: EnvironmentLayers(outer).get(match[2], match[0]), value)
    return EnvironmentLayers((*outer, ("env block of the configuration", own)))


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


def expand(tree: Any, layers: EnvironmentLayers) -> Expansion:
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


# Keys and passwords: where they are, never what they are, until somebody needs one.

MASK = "********"

_SECRET = re.compile(
    r"key|token|secret|passw|passphrase|credential|auth|bearer|cookie|signature", re.IGNORECASE
)

_WHOLE = frozenset(("headers", "storageOptions"))
"""Blocks that are masked whole: their own names say nothing of what is in them."""

_HARMLESS = frozenset(("keyPrefix",))

_USERINFO = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*://)\S*@")

_QUERY = re.compile(r"([?&][^=&#\s]*(?:key|token|secret|password|sig)[^=&#\s]*=)[^&#\s]+", re.IGNORECASE)

T = TypeVar("T")


class SecretText(Generic[T]):
    """A value that no repr, comparison or dump of a surrounding dataclass shows."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def reveal(self) -> T:
        """The value itself; never print or store it."""
        return self._value

    def __repr__(self) -> str:
        return "Hidden()"

    def __deepcopy__(self, memo: dict[int, Any]) -> SecretText[T]:
        return self


@dataclass(frozen=True, slots=True)
class KeyRef:
    """Where one API key comes from and whether it is there."""

    where: str
    """Its place in the plugin's settings, for example `embedding.apiKey[0]`."""
    source: Literal["config", "environment", "file", "unsupported"]
    name: str
    """The variable or the file; empty for a key written into the configuration."""
    state: Literal["set", "not set", "in a file, not read"]
    value: SecretText[str] = field(default=SecretText(""), repr=False, compare=False)
    pointer: str = ""
    """JSON pointer to the key in the file, empty where the whole file is the key."""

    def read(self) -> str:
        """The key, empty when there is none; a key file is read now, not at discovery."""
        if self.source != "file":
            return self.value.reveal()
        try:
            return _pointed(read_json5(Path(self.name)), self.pointer) if self.pointer else self._whole()
        except UnreadableFileError:
            return ""

    def _whole(self) -> str:
        return read_text(Path(self.name)).strip()

    def __str__(self) -> str:
        origin = {
            "config": "written in the configuration",
            "unsupported": f"source {self.name!r} is not supported",
        }
        return f"{self.where}: {origin.get(self.source, self.name)}: {self.state}"


def _pointed(tree: Any, pointer: str) -> str:
    """The text at a JSON pointer (RFC 6901); empty where there is none."""
    node = tree
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return ""
    return node.strip() if isinstance(node, str) else ""


def key_ref(
    where: str,
    raw: Any,
    value: Any,
    environ: Mapping[str, str],
    home: Path | None,
    providers: Mapping[str, Any] | None = None,
) -> KeyRef | None:
    """Describe one configured key; `raw` is its text before variables were filled in, `value` after.

    A string, or a reference {source: "env" | "file" | "exec" | "store", provider, id}; `providers` is the
    configuration's `secrets.providers`, whose file an id of a file points into. None when nothing is configured.
    """
    if isinstance(value, str):
        if not value.strip():
            return None
        names = names_in(raw) if isinstance(raw, str) else ()
        known = expand_field(value, environ)
        if not names and known is not None:
            return KeyRef(where, "config", "", "set", SecretText(known.strip()))
        name = ", ".join(names or names_in(value))
        if known is None:
            return KeyRef(where, "environment", name, "not set")
        return KeyRef(where, "environment", name, "set", SecretText(known.strip()))
    if not isinstance(value, Mapping):
        return None
    source, name = str(value.get("source", "")).strip(), str(value.get("id", "")).strip()
    if source == "env" and name:
        found = environ.get(name, "").strip()
        return KeyRef(where, "environment", name, "set" if found else "not set", SecretText(found))
    provider = (providers or {}).get(str(value.get("provider", "")))
    given = provider.get("path") if isinstance(provider, Mapping) else None
    if source == "file" and isinstance(given, str) and given.strip():
        path = str(home / given[2:]) if home is not None and given.startswith("~/") else given
        pointer = name if name.startswith("/") else ""
        return KeyRef(where, "file", path, "in a file, not read", pointer=pointer)
    if source == "file" and name:
        path = str(home / name[2:]) if home is not None and name.startswith("~/") else name
        return KeyRef(where, "file", path, "in a file, not read")
    return KeyRef(where, "unsupported", source, "not set")


def key_refs(
    where: str, raw: Any, value: Any, environ: Mapping[str, str], home: Path | None
) -> tuple[KeyRef, ...]:
    """`key_ref` for a setting that may also be a list of keys."""
    if not isinstance(value, list):
        one = key_ref(where, raw, value, environ, home)
        return () if one is None else (one,)
    raws = raw if isinstance(raw, list) and len(raw) == len(value) else [None] * len(value)
    refs = (key_ref(f"{where}[{n}]", raws[n], item, environ, home) for n, item in enumerate(value))
    return tuple(ref for ref in refs if ref is not None)


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name may hold a secret: key, token, secret, password or the like is in it."""
    return name not in _HARMLESS and (name in _WHOLE or _SECRET.search(name) is not None)


def mask_text(text: str) -> str:
    """`text` without the user and password of a URL and without keys in its query."""
    return _QUERY.sub(rf"\g<1>{MASK}", _USERINFO.sub(rf"\g<1>{MASK}@", text)) if "://" in text else text


def masked(tree: Any) -> Any:
    """A copy of a settings tree that may be shown: every secret is `MASK`."""
    if isinstance(tree, Mapping):
        return {
            key: MASK if is_secret_name(str(key)) and not _is_plain(value) else masked(value)
            for key, value in tree.items()
        }
    if isinstance(tree, list):
        return [masked(item) for item in tree]
    return mask_text(tree) if isinstance(tree, str) else tree


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool) or value in ("", [], {})
