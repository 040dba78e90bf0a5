"""keys.toml: a preset and other keys for single actions, read so that no mistake in it stops the app.

preset = "vim"

[browse]
sort = "f9"
undo = ["u", "f8"]
reverse = []            # no key; the palette still does it
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from memtui.settings import line_of
from memtui.tui.actions.action import Action
from memtui.tui.actions.conflicts import KeyChange, KeyProblem, apply
from memtui.tui.actions.key_names import canonical
from memtui.tui.actions.keymap import PRESETS, Keymap

MOST_KEYS = 2
"""Keys of one sequence: more cannot be remembered, and Textual would not hear of them."""


def load_keymap(default: tuple[Action, ...], file: Path | None = None, preset: str = "default") -> Keymap:
    """The keys in force. `preset` is used where the file, which need not exist, names none."""
    data, text, problems = _read(file)
    elsewhere: tuple[str, ...] = ()
    wanted = data.pop("preset", None)
    if wanted is None and preset not in PRESETS:
        elsewhere, wanted = (f"The setting keys: {_no_preset(preset, 0).sentence}",), "default"
    base = PRESETS.get(wanted or preset) if isinstance(wanted or preset, str) else None
    if base is None:
        problems.append(_no_preset(wanted, line_of(text, "preset")))
        base, wanted = PRESETS["default"], "default"
    wishes = []
    for id, value in _flat(data):
        line = line_of(text, id)
        keys = _keys(value)
        if isinstance(keys, str):
            problems.append(KeyProblem(line, f"{id}: {keys}"))
        else:
            wishes.append(KeyChange(id, keys, line))
    table, refused = apply(base.table(default), wishes)
    name = file.name if file is not None else "keys"
    inorder = sorted((*problems, *refused), key=lambda problem: problem.line)
    sentences = (*elsewhere, *(f"{name}, {node.sentence}" for node in inorder))
    return Keymap(table, default, wanted or preset, sentences)


def _read(file: Path | None) -> tuple[dict[str, Any], str, list[KeyProblem]]:
    """What the file says, its text, and why it cannot be used."""
    if file is None:
        return {}, "", []
    try:
        text = file.read_text(encoding="utf-8-sig")
        return tomllib.loads(text), text, []
    except FileNotFoundError:
        return {}, "", []
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else 0
        what = re.sub(r"\s*\(at .*\)$", "", str(error))
        return {}, "", [KeyProblem(line, f"is not TOML: {what}.", "The preset's keys are used.")]
    except (OSError, UnicodeDecodeError) as error:
        return {}, "", [KeyProblem(0, f"cannot be read: {error}.", "The preset's keys are used.")]


def _no_preset(wanted: object, line: int) -> KeyProblem:
    near = get_close_matches(str(wanted), PRESETS, 1, 0.4)
    hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(PRESETS)}."
    return KeyProblem(line, f"there is no preset {wanted}.", hint)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _keys(value: Any) -> tuple[str, ...] | str:
    """The keys of a value, or why it is none."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        return 'write a key in quotes, or a list of them: ["u", "f8"].'
    found = []
    for item in given:
        parts = item.split(",") if len(item) > 1 and not item.endswith((",", "+")) else [item]
        for part in parts:
            pressed = [canonical(key) for key in part.split(" ") if key] or [canonical(part or " ")]
            if len(pressed) > MOST_KEYS:
                return f'"{part.strip()}" has more than {MOST_KEYS} keys.'
            found.append(" ".join(pressed))
    return tuple(dict.fromkeys(found))
