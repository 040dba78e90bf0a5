"""`memtui schema`: the JSON Schema of a file that a person writes, for editors that check and complete TOML."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from memtui.cli.output import print_json
from memtui.settings import SETTINGS, Setting
from memtui.tui.actions.keymap import PRESETS
from memtui.tui.actions.table import load_keys
from memtui.tui.theme.files import BASE
from memtui.tui.theme.tokens import NAMES

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TYPES = MappingProxyType({str: "string", int: "integer", float: "number", bool: "boolean"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui schema`."""
    parser.add_argument("file", choices=tuple(SCHEMAS), help="the file: config.toml, keys.toml or a theme")


def run(args: argparse.Namespace) -> int:
    """Print the schema; it is JSON with and without --json."""
    print_json(SCHEMAS[args.file]())
    return 0


def config_schema() -> dict[str, Any]:
    """The schema of config.toml: every setting with its type, choices and default."""
    tables: dict[str, dict[str, Any]] = {}
    top: dict[str, Any] = {}
    for setting in SETTINGS:
        table, _, key = setting.key.rpartition(".")
        (tables.setdefault(table, {}) if table else top)[key] = _setting(setting)
    option = {"type": ["string", "number", "boolean"]}
    journal = {"enum": ["local", "store"], "description": "Where the journal of changes is kept."}
    top["storage"] = {
        "type": "object",
        "description": "How stores on object storage are reached: one table for each, [storage.NAME].",
        "additionalProperties": {
            "type": "object",
            "properties": {"uri": {"type": "string", "pattern": "^(.*://.*)?$"}, "journal": journal},
            "additionalProperties": option,
        },
    }
    properties = {**top, **{name: _table(rows) for name, rows in tables.items()}}
    return {"$schema": DIALECT, "title": "memtui config.toml", **_table(properties)}


def keys_schema() -> dict[str, Any]:
    """The schema of keys.toml: a preset, and a key or a list of keys for each action."""
    key = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    root: dict[str, Any] = {
        "preset": {"enum": list(PRESETS), "description": "Key preset; single keys are changed below."}
    }
    for action in load_keys().default:
        at = root
        *tables, name = action.id.split(".")
        for table in tables:
            at = at.setdefault(table, _table({}))["properties"]
        at[name] = {**key, "description": action.title}
    return {"$schema": DIALECT, "title": "memtui keys.toml", **_table(root)}


def theme_schema() -> dict[str, Any]:
    """The schema of a theme: its name, ten base colours, and a colour for each token."""
    colour = {"type": "string", "description": "A colour: #rrggbb, or a name that Textual knows."}
    base = {**_table(dict.fromkeys(BASE, colour)), "required": ["primary"]}
    properties = {
        "name": {"type": "string", "minLength": 1},
        "title": {"type": "string"},
        "dark": {"type": "boolean", "default": True},
        "ansi": {"type": "boolean", "default": False, "description": "Use the terminal's own 16 colours."},
        "base": base,
        "tokens": _table(dict.fromkeys(NAMES, colour)),
    }
    return {"$schema": DIALECT, "title": "memtui theme", **_table(properties), "required": ["name", "base"]}


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _setting(setting: Setting) -> dict[str, Any]:
    kind = _TYPES[type(setting.default)]
    numbers = {"minimum": 0, "exclusiveMaximum": 1e9} if kind in ("integer", "number") else {}
    choices = {"enum": list(setting.choices)} if setting.choices else {}
    return {
        "type": kind,
        "default": setting.default,
        "description": f"{setting.doc} Environment variable: {setting.variable}.",
        **numbers,
        **choices,
    }


SCHEMAS: MappingProxyType[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {"config": config_schema, "keys": keys_schema, "theme": theme_schema}
)
