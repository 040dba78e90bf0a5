"""Keys and passwords: where they are, never what they are, until somebody needs one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from memtui.engine.discovery.jsonfile import UnreadableFileError, read_text
from memtui.engine.discovery.variables import expand_field, names_in

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


class Hidden(Generic[T]):
    """A value that no repr, comparison or dump of a surrounding dataclass shows."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def reveal(self) -> T:
        """The value itself; never print or store it."""
        return self._value

    def __repr__(self) -> str:
        return "Hidden()"

    def __deepcopy__(self, memo: dict[int, Any]) -> Hidden[T]:
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
    value: Hidden[str] = field(default=Hidden(""), repr=False, compare=False)

    def read(self) -> str:
        """The key, empty when there is none; a key file is read now, not at discovery."""
        if self.source != "file":
            return self.value.reveal()
        try:
            return read_text(Path(self.name)).strip()
        except UnreadableFileError:
            return ""

    def __str__(self) -> str:
        origin = {
            "config": "written in the configuration",
            "unsupported": f"source {self.name!r} is not supported",
        }
        return f"{self.where}: {origin.get(self.source, self.name)}: {self.state}"


def key_ref(where: str, raw: Any, value: Any, environ: Mapping[str, str], home: Path | None) -> KeyRef | None:
    """Describe one configured key; `raw` is its text before variables were filled in, `value` after.

    A string, or a reference {source: "env" | "file", id}. None when nothing is configured.
    """
    if isinstance(value, str):
        if not value.strip():
            return None
        names = names_in(raw) if isinstance(raw, str) else ()
        known = expand_field(value, environ)
        if not names and known is not None:
            return KeyRef(where, "config", "", "set", Hidden(known.strip()))
        name = ", ".join(names or names_in(value))
        if known is None:
            return KeyRef(where, "environment", name, "not set")
        return KeyRef(where, "environment", name, "set", Hidden(known.strip()))
    if not isinstance(value, Mapping):
        return None
    source, name = str(value.get("source", "")).strip(), str(value.get("id", "")).strip()
    if source == "env" and name:
        found = environ.get(name, "").strip()
        return KeyRef(where, "environment", name, "set" if found else "not set", Hidden(found))
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
