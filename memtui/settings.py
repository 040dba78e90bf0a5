"""memtui's own settings: defaults, then config.toml, then MEMTUI_* variables, then flags, with origins."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import ConfigError
from memtui.paths import FOLDER_VARIABLES

if TYPE_CHECKING:
    from memtui.engine.providers.chat import ChatSettings
    from memtui.engine.providers.embedding_services import EmbeddingSettings
    from memtui.engine.store.storage_options import StorageProfile


KEY_VARIABLE = "MEMTUI_EMBEDDING_API_KEY"
"""The key of the embedding service itself; it has no place in a file."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that can be made: its dotted key, its type by the default's, and what it means."""

    key: str
    default: str | int | float | bool
    doc: str
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "MEMTUI_" + self.key.replace(".", "_").upper()


SETTINGS = (
    Setting("store", "", "Folder, LanceDB URI or discovered name to open without --store."),
    Setting("theme", "deep-sea", "Name of a shipped theme or of one in the themes folder."),
    Setting("glyphs", "auto", "Characters to draw with.", ("auto", "unicode", "ascii")),
    Setting("keys", "default", "Key preset; single keys are changed in keys.toml."),
    Setting(
        "clipboard",
        "auto",
        "Where copies go: osc52 the terminal's clipboard, native the system's, off nowhere.",
        ("auto", "osc52", "native", "off"),
    ),
    Setting("time_zone", "local", "How times are shown: local, utc, or a zone such as Europe/Berlin."),
    Setting(
        "embedding.model", "", "Model that made the store's vectors; empty follows the agent's settings."
    ),
    Setting("embedding.base_url", "", "Root of an OpenAI-compatible service; empty means OpenAI's own."),
    Setting(
        "embedding.api_key_env",
        "",
        "Variable that holds the key; several, comma separated, are used in turn.",
    ),
    Setting("embedding.api_key_file", "", "File that holds the key."),
    Setting("embedding.dimensions", 0, "Vector length to expect; 0 takes what is known of the model."),
    Setting("embedding.request_dimensions", 0, "Vector length to ask for; 0 asks for none."),
    Setting("embedding.task_query", "", "Task hint for questions, for example retrieval.query."),
    Setting("embedding.task_passage", "", "Task hint for stored texts, for example retrieval.passage."),
    Setting(
        "embedding.provider",
        "",
        "openai, azure-openai, jina, voyage, nvidia or ollama; empty: detected from the host.",
    ),
    Setting("embedding.timeout_s", 10.0, "Seconds to wait for the vector of one question."),
    Setting("chat.model", "", "Language model for summaries and captures; empty asks none."),
    Setting("chat.base_url", "", "Root of its OpenAI-compatible service, with its /v1."),
    Setting("chat.api_key_env", "", "Variable that holds its key; local servers need none."),
    Setting("chat.timeout_s", 60.0, "Seconds to wait for one answer."),
    Setting("chat.calls_per_hour", 30, "Calls that a capture may make in any sixty minutes."),
    Setting("chat.price_in", 0.0, "Price of a million tokens sent; 0 when it is not known."),
    Setting("chat.price_out", 0.0, "Price of a million tokens answered; 0 when it is not known."),
    Setting("chat.oauth_file", "", "The plugin's login in place of a key; it is only read."),
    Setting("report.mail", "", "Command that gets the page of memtui report --mail; empty runs none."),
)

_KNOWN: Mapping[str, Setting] = MappingProxyType({setting.key: setting for setting in SETTINGS})

_TABLES = frozenset(key.rpartition(".")[0] for key in _KNOWN if "." in key)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting's value and where it came from."""

    values: Mapping[str, Any] = field(
        default_factory=lambda: {setting.key: setting.default for setting in SETTINGS}
    )
    origins: Mapping[str, str] = field(default_factory=dict)
    """By key: the file, the variable or the flag; a key that is not in here has its default."""
    warnings: tuple[str, ...] = ()
    storage: tuple[StorageProfile, ...] = ()
    """How stores on object storage are reached: the tables `[storage.NAME]`, which only the file can hold."""

    @property
    def store(self) -> str:
        """The store to open; empty for the discovered one."""
        return str(self.values["store"])

    @property
    def theme(self) -> str:
        """Name of the theme."""
        return str(self.values["theme"])

    @property
    def glyphs(self) -> str:
        """auto, unicode or ascii."""
        return str(self.values["glyphs"])

    @property
    def keys(self) -> str:
        """Name of the key preset."""
        return str(self.values["keys"])

    @property
    def clipboard(self) -> str:
        """auto, osc52, native or off."""
        return str(self.values["clipboard"])

    @property
    def time_zone(self) -> str:
        """local, utc or the name of a zone."""
        return str(self.values["time_zone"])

    def origin(self, key: str) -> str:
        """Where the value of `key` came from: "default", a file, a variable or a flag."""
        return self.origins.get(key, "default")

    def embedding(self, environ: Mapping[str, str]) -> EmbeddingSettings | None:
        """The embedding service that is set here, with its keys; None when the agent's is to be followed.

        Raises ConfigError when the key's variable is not set or its file cannot be read.
        """
        block = {
            key.partition(".")[2]: value for key, value in self.values.items() if key.startswith("embedding.")
        }
        if not block["model"]:
            return None
        from memtui.engine.providers.embedding_services import EmbeddingSettings

        return EmbeddingSettings(
            model=block["model"],
            base_url=block["base_url"],
            api_keys=_keys(block, environ),
            dimensions=block["dimensions"] or None,
            request_dimensions=block["request_dimensions"] or None,
            task_query=block["task_query"] or None,
            task_passage=block["task_passage"] or None,
            timeout_s=block["timeout_s"],
            provider=block["provider"],
        )

    def chat(self, environ: Mapping[str, str]) -> ChatSettings | None:
        """The language model that is set here, with its key; None when there is none.

        Raises ConfigError without an address, and when the key's variable is not set.
        """
        model, url, name = (str(self.values[f"chat.{each}"]) for each in ("model", "base_url", "api_key_env"))
        if not model:
            return None
        login = str(self.values["chat.oauth_file"])
        if not url and not login:
            raise ConfigError(
                f"{model} has no address.",
                path="chat.base_url",
                fix="Set chat.base_url to its service's root.",
            )
        key = environ.get(name, "").strip() if name else ""
        if name and not key:
            raise ConfigError(
                f"chat.api_key_env names {name}, which is not set.", path="chat.api_key_env", fix="Set it."
            )
        from memtui.engine.providers.chat import ChatSettings

        return ChatSettings(
            url,
            model,
            key,
            self.values["chat.timeout_s"],
            calls_per_hour=self.values["chat.calls_per_hour"],
            price_in=self.values["chat.price_in"] or None,
            price_out=self.values["chat.price_out"] or None,
            oauth_file=Path(login).expanduser() if login else None,
        )


def load_settings(
    file: Path, environ: Mapping[str, str], flags: Mapping[str, str | None] = MappingProxyType({})
) -> Settings:
    """Read the settings file (it need not exist), then lay the variables and the flags over it.

    `flags` maps setting keys to what was given on the command line, None where nothing was.
    Raises ConfigError for what cannot be read, is unknown, ill-typed or out of range.
    """
    values: dict[str, Any] = {setting.key: setting.default for setting in SETTINGS}
    origins: dict[str, str] = {}
    tree = _read(file)
    storage = tree.pop("storage", {})
    for key, value in _flat(tree):
        if key == "embedding.api_key":
            raise ConfigError(
                f"embedding.api_key in {file} would keep a secret in a plain file.",
                path=key,
                fix=f"Remove it; name a variable in embedding.api_key_env, or set {KEY_VARIABLE}.",
            )
        setting = _known(key, str(file))
        values[key], origins[key] = _typed(setting, value, str(file)), str(file)
    for setting in SETTINGS:
        if text := environ.get(setting.variable, "").strip():
            values[setting.key] = _from_text(setting, text, setting.variable)
            origins[setting.key] = setting.variable
    for key, given in flags.items():
        if given is not None:
            flag = "--" + key.replace(".", "-").replace("_", "-")
            values[key], origins[key] = _from_text(_known(key, flag), given, flag), flag
    return Settings(
        MappingProxyType(values),
        MappingProxyType(origins),
        _strange_variables(environ),
        _profiles(storage, environ, str(file)),
    )


def _profiles(tables: Any, environ: Mapping[str, str], origin: str) -> tuple[StorageProfile, ...]:
    if not isinstance(tables, dict):
        raise ConfigError(
            f"storage in {origin} must be a table.",
            path="storage",
            fix="Write [storage.NAME] and its options below.",
        )
    if not tables:
        return ()
    from memtui.engine.store.storage_options import read_profiles

    return read_profiles(tables, environ, origin)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{file} is not TOML: {error}.", path=str(file), fix="Correct the line it names."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{file} cannot be read: {error}.", path=str(file), fix="Make it a UTF-8 text file."
        ) from error


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key in _TABLES:
            out += _flat(value, f"{key}.")
        else:
            out.append((key, value))
    return out


def _known(key: str, origin: str) -> Setting:
    if key in _KNOWN:
        return _KNOWN[key]
    if key in _TABLES:
        raise ConfigError(
            f"{key} in {origin} must be a table.", path=key, fix=f"Write [{key}] and its settings below."
        )
    near = get_close_matches(key, _KNOWN, 1, 0.5)
    fix = f"Did you mean {near[0]}?" if near else f"Known settings: {', '.join(_KNOWN)}."
    raise ConfigError(f"{key} in {origin} is not a known setting.", path=key, fix=fix)


def _typed(setting: Setting, value: Any, origin: str) -> Any:
    """`value` checked against the setting's type, choices and range."""
    kind = type(setting.default)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        words = {str: "text in quotes", int: "a whole number", float: "a number", bool: "true or false"}
        raise ConfigError(
            f"{setting.key} in {origin} must be {words[kind]}.", path=setting.key, fix=setting.doc
        )
    if isinstance(value, str):
        value = value.strip()
    if setting.choices and value not in setting.choices:
        near = get_close_matches(value, setting.choices, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ConfigError(
            f"{setting.key} in {origin} is {value!r}.",
            path=setting.key,
            fix=f"Use one of {', '.join(setting.choices)}.{hint}",
        )
    if isinstance(value, int | float) and not 0 <= value < 1e9:
        raise ConfigError(
            f"{setting.key} in {origin} is {value}.", path=setting.key, fix="Give a number from 0."
        )
    return value


def _from_text(setting: Setting, text: str, origin: str) -> Any:
    """A variable's or flag's text as the setting's own type."""
    kind = type(setting.default)
    value: Any = text
    try:
        if kind is int or kind is float:
            value = kind(text)
    except ValueError:
        value = None
    if kind is bool:
        value = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.lower()
        )
    if isinstance(value, float) and not math.isfinite(value):
        value = None
    return _typed(setting, value, origin)


def _keys(block: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, ...]:
    if key := environ.get(KEY_VARIABLE, "").strip():
        return (key,)
    if names := [name.strip() for name in block["api_key_env"].split(",") if name.strip()]:
        missing = [name for name in names if not environ.get(name, "").strip()]
        if missing:
            raise ConfigError(
                f"embedding.api_key_env names {', '.join(missing)}, which is not set.",
                path="embedding.api_key_env",
                fix=f"Set it, or set {KEY_VARIABLE}.",
            )
        return tuple(environ[name].strip() for name in names)
    if block["api_key_file"]:
        path = Path(block["api_key_file"]).expanduser()
        try:
            key = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"The key file {path} cannot be read.",
                path="embedding.api_key_file",
                fix="Check its name, and that you may read it.",
                details=type(error).__name__,
            ) from error
        return (key,) if key else ()
    return ()


def _strange_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each MEMTUI_ variable that nothing reads but that looks like a misspelt one."""
    known = {*(setting.variable for setting in SETTINGS), *FOLDER_VARIABLES, KEY_VARIABLE}
    strange = [name for name in sorted(environ) if name.startswith("MEMTUI_") and name not in known]
    near = {name: get_close_matches(name, known, 1, 0.85) for name in strange}
    return tuple(f"{name} is not read; did you mean {close[0]}?" for name, close in near.items() if close)


# On which line of a TOML text something is set: messages about a settings file name the place.


def line_of(text: str, name: str) -> int:
    """The 1-based line on which `name` (with its tables before it, "browse.undo") is set, 0 when it is not found."""
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if heading := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            table = heading[1].replace('"', "").replace(" ", "") + "."
            if table == f"{name}.":
                return number
        elif (key := re.match(r"\s*([\w.\-\"' ]+?)\s*=", line)) and (
            table + re.sub(r"[\"' ]", "", key[1]) == name
        ):
            return number
    return 0
