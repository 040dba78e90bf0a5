"""The command line: one parser, one module a command, loaded when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from memtui.early_keys import keep_keys

COMMANDS = {
    "stores": "list the stores on this machine, with dialect, rows and health",
    "ls": "list memories, filtered and sorted",
    "show": "show one memory with all its fields",
    "recall": "ask a question, and explain why each memory came back",
    "why-not": "explain why a memory did not come back, and find the smallest change that returns it",
    "stats": "count memories by scope, tier, category and state",
    "lifecycle": "show tiers, decay, and what will fade when",
    "sweep": "move memories to the tiers that the rules ask for",
    "review": "list the memories to review first, with the reason",
    "cases": "save questions with expected memories, and measure recall on them",
    "sessions": "list the agents' sessions, and what each recorded of injections",
    "replay": "show a session turn by turn: what was injected, and what happened to it since",
    "blame": "find the memory that a wrong sentence rests on, or that none is to blame",
    "injections": "list injections from the store's own history",
    "cost": "show what memory costs: injected tokens, use, the prompt cache, and what another form would cost",
    "access": "show which agent can read and write which scope; check deny rules",
    "blast": "trace one memory: copies, agents, turns, files",
    "proof-pack": "write one file that says what was stored, who read it and what remains",
    "history": "list the questions that were asked, and ask one again",
    "bisect": "find what changed the rank of a memory: a version, an index, the clock, the settings",
    "edit": "set fields of memories",
    "forget": "archive or delete memories, or delete them including history",
    "restore": "restore deleted or archived memories",
    "merge": "merge memories that say the same",
    "duplicates": "find near duplicates",
    "scan": "find noise, secrets, prompt injection and stored envelopes",
    "columns": "find which column of another program's table is what, and keep the map under a name",
    "new": "create an empty store of memtui's own",
    "add": "add one memory, or one per line",
    "capture": "capture memories from a conversation, and explain each decision",
    "compact": "join old memories that say nearly the same",
    "grade": "compute importance from the words of memories",
    "dream": "run the plugin's dreaming: archive duplicates, move tiers, write patterns down",
    "reflect": "learn rules from a conversation with a language model",
    "inbox": "list items awaiting review: uncertain, pending and rejected memories",
    "import": "import memories from a file or a folder",
    "export": "export memories to a file or a folder of notes",
    "migrate": "copy a store into another form, and verify it",
    "upgrade": "update rows of an old form",
    "repair": "repair rows that agents cannot find or would misread",
    "alive": "check whether each agent's memory works; name the cause and the fix if not",
    "doctor": "find what is wrong with a store, and fix it",
    "report": "write one page about the last days: learned, used, forgotten, wrong, cost",
    "versions": "list the table's versions, compare, name, and roll back",
    "since": "list what is new, changed or gone since a version or date, by who wrote it",
    "config": "check and change the configuration of the agent's memory plugin",
    "reembed": "move to another embedding model: rehearse, embed, switch, roll back",
    "undo": "undo a change",
    "journal": "list the changes made through memtui",
    "extensions": "list the installed extensions: dialects, formats, recipes, checks; say which are broken",
    "mcp": "run an MCP server: search, store and why-not as tools for agents",
    "connect": "connect an agent's host: write the server into its configuration, check it, undo",
    "clients": "manage clients of the server: tokens, permissions, pause, revoke",
    "calls": "list the calls of the server's clients, and their answers",
    "inject": "print the injected block for a question, as an agent gets it",
    "hook": "handle one event of an agent's host: inject memories into a prompt, capture after an answer",
    "context": "build token vectors with a small transformer model of yours",
    "docs": "search an agent's Markdown as memory-core does",
    "demo": "open the app on the demo store",
    "serve": "show the app in a browser on this machine",
    "help": "explain a task: memtui help, memtui help why-not",
    "keys": "list every key, and check your keys.toml",
    "completion": "print the completion script of a shell: bash, zsh, fish",
    "schema": "print the JSON Schema of config.toml, keys.toml or a theme",
    "shot": "make the pictures in screenshots/",
}
"""Each command is memtui/cli/<name>.py (hyphens as underscores) with `add_arguments(parser)` and `run(args) -> int`."""

_EPILOG = """\
STORE is a folder, a LanceDB address or the name of a store from `memtui stores`; the default is the agent's store.
Exit codes: 0 done, 1 failed with a reason, 2 wrong usage, 3 refused for safety. doctor, alive and config
check: 1 something is wrong, 4 nothing could be opened. blame: 4 nothing is known.
"""


def _module(command: str) -> ModuleType:
    return import_module(f"memtui.cli.{command.replace('-', '_')}")


def _shortened(message: str) -> str:
    """What is wrong with the options, long values cut; the engine is imported for it when something is wrong."""
    from memtui.engine import shortened

    return shortened(message)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the options, long values shortened."""

    def error(self, message: str) -> NoReturn:
        super().error(_shortened(message))


class _HookParser(argparse.ArgumentParser):
    """Ends with 1 where the options are wrong: hosts take a hook's 2 for an order to stop the turn."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: error: {_shortened(message)}\n")


def parser_of(command: str | None) -> argparse.ArgumentParser:
    """Return the parser of `command`; only its own module is imported. None is the app."""
    if command is None:
        parser: argparse.ArgumentParser = _Parser(
            prog="memtui",
            description="See, understand and fix what an AI agent remembers.",
            epilog="commands:\n"
            + "".join(f"  {name:<10} {what}\n" for name, what in COMMANDS.items())
            + "\n"
            + _EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("target", nargs="?", metavar="STORE", help="the store to open")
        parser.add_argument(
            "--rw", action="store_true", help="allow changes; without it the store is only read"
        )
        parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
        parser.add_argument("--version", action="store_true", help="print the version and exit")
        parser.add_argument(
            "--verbose", action="store_true", help="with --version: Python, platform and libraries, too"
        )
    else:
        kind: type[argparse.ArgumentParser] = _HookParser if command == "hook" else _Parser
        parser = kind(prog=f"memtui {command}", description=COMMANDS[command], epilog=_EPILOG)
        _module(command).add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument(
            "--show-secrets",
            action="store_true",
            help="secrets as they are stored in JSON and receipts, not masked",
        )
    parser.add_argument("--store", metavar="STORE", help="the store to open")
    parser.add_argument("--table", metavar="NAME", help="the table, where a folder has several")
    parser.add_argument(
        "--columns",
        metavar="ROLE=COLUMN,...|NAME",
        help="another program's table: id=...,text=...,vector=..., a kept map (memtui columns) or a dialect",
    )
    return parser


def _as_term(argument: str) -> str:
    """A filter term such as `-is:stale` as argparse lets it pass: what holds a space is no option to it."""
    return f"{argument} " if len(argument) > 2 and argument[0] == "-" and argument[1] != "-" else argument


BEFORE_COMMAND = ("--store", "--table", "--columns")
"""Options of every command, which may stand before its name, too."""


def command_place(arguments: list[str]) -> int:
    """The place of the first word behind the options that may stand before a command's name."""
    at = 0
    while at < len(arguments) and arguments[at].partition("=")[0] in BEFORE_COMMAND:
        at += 1 if "=" in arguments[at] else 2
    return at


def _command_of(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The command that is called, None for the app, and everything beside its name."""
    at = command_place(arguments)
    if at < len(arguments) and arguments[at] in COMMANDS:
        return arguments[at], [*arguments[:at], *arguments[at + 1 :]]
    return None, arguments


def run(arguments: list[str]) -> int:
    """Parse and run; errors become one or two lines on standard error and an exit code."""
    command, given = _command_of(arguments)
    if command in (None, "demo"):
        keep_keys()
    from memtui.cli.outermost import fill_standard_streams, run_guarded

    fill_standard_streams()
    return run_guarded(lambda: _run(command, given), arguments)


def _run(command: str | None, given: list[str]) -> int:
    if command is not None:
        args = parser_of(command).parse_args([_as_term(word) for word in given] if command == "ls" else given)
        from memtui.cli.output import show_secrets

        show_secrets(args.show_secrets)
        code: int = _module(command).run(args)
        return code
    words = given[command_place(given) :]
    if words and not words[0].startswith("-"):
        _need_store(words[0])  # before its options are found unknown, too
    args = parser_of(None).parse_args(given)
    if args.target:
        _need_store(args.target)
    return _app(args)


def _need_store(word: str) -> None:
    """Raise UsageError where `word` names no command and no store."""
    if not os.path.exists(os.path.expanduser(word)) and "://" not in word:
        from memtui.cli.unknown_word import refuse_unless_store

        refuse_unless_store(word, COMMANDS)


def _surroundings() -> str:
    """Python, the platform and the versions of the libraries, one a line: what a report of a fault needs."""
    import platform
    import re
    from importlib.metadata import PackageNotFoundError, requires, version

    lines = [f"python {platform.python_version()}", f"platform {platform.platform()}"]
    for line in requires("memtui") or ():
        found = re.match(r"[\w.-]+", line)
        if found is None or re.search(r"extra == .dev.", line):
            continue
        try:
            lines.append(f"{found[0]} {version(found[0])}")
        except PackageNotFoundError:
            lines.append(f"{found[0]} not installed{' (optional)' if 'extra ==' in line else ''}")
    return "\n".join(dict.fromkeys(lines))


def _app(args: argparse.Namespace) -> int:
    if args.version:
        from memtui import __version__

        print(f"memtui {__version__}")
        if args.verbose:
            print(_surroundings())
        return 0
    if args.verbose:
        from memtui.engine import UsageError

        raise UsageError("--verbose goes with --version.", fix="Run memtui --version --verbose.")
    from memtui.cli.open_store import app_options
    from memtui.cli.terminal import require_terminal

    require_terminal("memtui")
    from memtui.tui.app import run as run_app

    run_app(args.store or args.target, **app_options(args), writable=args.rw, mouse=not args.no_mouse)
    return 0
