"""`memtui completion`: the script by which a shell completes commands, options, stores, scopes and ids."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from memtui.cli.output import print_json, print_text
from memtui.engine import Engine, ListQuery

SHELLS = {
    "bash": 'eval "$(memtui completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(memtui completion zsh)"   in ~/.zshrc, after compinit',
    "fish": "memtui completion fish > ~/.config/fish/completions/memtui.fish",
}

MOST = 100
"""Ids that are offered at once."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui completion`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "print the completion script of a shell\n\n" + "\n".join(
        f"  {shell:<5} {line}" for shell, line in SHELLS.items()
    )
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell that reads the script")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    import argcomplete

    script = argcomplete.shellcode(["memtui"], shell=args.shell)
    if args.json:
        print_json({"shell": args.shell, "script": script})
    else:
        print_text(script)
    return 0


def complete() -> None:
    """Answer the shell's question for completions, which `_ARGCOMPLETE` and `COMP_LINE` hold; the process ends.

    Stores are read, never written; one on object storage is not opened. What fails completes nothing.
    """
    import argcomplete
    from argcomplete.lexers import split_line

    from memtui.cli.main import COMMANDS, command_place, parser_of

    line, point = os.environ["COMP_LINE"], int(os.environ["COMP_POINT"])
    begins = int(os.environ["_ARGCOMPLETE"]) - 1
    before = split_line(line, len(line.encode()[:point].decode(errors="ignore")))[3][begins + 1 :]
    at = command_place(before)
    command = before[at] if at < len(before) and before[at] in COMMANDS else None
    parser = parser_of(command)
    if command is not None:  # the command takes the place of the program's name
        os.environ["_ARGCOMPLETE"] = str(begins + at + 2)
        parser.set_defaults(**vars(parser_of(None).parse_known_args(before[:at])[0]))
    for action in parser._actions:
        completer = _completer_of(command, action)
        if completer is not None:
            action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser, always_complete_options=False)


def _completer_of(command: str | None, action: argparse.Action) -> Any:
    if action.choices is not None or action.nargs == 0:
        return None
    if command is None and action.dest == "target":
        return _first_word
    if action.dest in ("scope", "writes", "target_scope") and command != "docs":
        return _scopes
    if action.dest == "agent":
        return _agents
    if action.dest == "recipe" and command != "capture":
        return _recipes
    if action.dest == "topic":
        return _topics
    if action.metavar == "ID" and command != "inbox":
        return _ids
    return _stores if action.metavar == "STORE" else None


def _first_word(prefix: str, **_: Any) -> list[str]:
    from memtui.cli.main import COMMANDS

    return [name for name in (*COMMANDS, *_stores(prefix)) if name.startswith(prefix)]


def _stores(prefix: str, **_: Any) -> list[str]:
    """Names of the stores on this machine, else folders."""
    from argcomplete.completers import DirectoriesCompleter

    from memtui.engine.discovery import discover

    names: list[str] = []
    with suppress(Exception):
        names = [store.name for store in discover(os.environ, cwd=Path.cwd()).stores]
    found = [name for name in dict.fromkeys((*names, "demo")) if name.startswith(prefix)]
    return [*found, *DirectoriesCompleter()(prefix)]


def _opened(parsed: argparse.Namespace) -> Engine:
    """The engine on the store of the line; FileNotFoundError where opening would write or connect."""
    from memtui.cli.open_store import open_for
    from memtui.engine.demo import demo_folder, is_complete
    from memtui.paths import cache_dir

    store = parsed.store or ""
    if "://" in store or (store == "demo" and not is_complete(demo_folder(cache_dir(os.environ)))):
        raise FileNotFoundError(store)
    return open_for(argparse.Namespace(**{"table": None, "columns": None, **vars(parsed), "dry_run": True}))


def _ids(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    with suppress(Exception):
        engine = _opened(parsed_args)
        engine.load_catalog()
        view = engine.view(ListQuery(sort="id"))
        return [memory for memory in engine.ids(view) if memory.startswith(prefix)][:MOST]
    return ()


def _scopes(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    with suppress(Exception):
        engine = _opened(parsed_args)
        engine.load_catalog()
        return [scope for scope, _ in engine.stats().scopes if scope and scope.startswith(prefix)]
    return ()


def _agents(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    with suppress(Exception):
        return [agent for agent in _opened(parsed_args).askers() if agent.startswith(prefix)]
    return ()


def _recipes(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    with suppress(Exception):
        return [known.name for known in _opened(parsed_args).recipes() if known.name.startswith(prefix)]
    return ()


def _topics(prefix: str, **_: Any) -> Iterable[str]:
    from memtui.help import topics

    return [topic.name for topic in topics() if topic.name.startswith(prefix)]
