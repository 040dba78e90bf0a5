"""The command line: one parser, one module a command, loaded when it is called."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from types import ModuleType

from memtui.early_keys import keep_keys

COMMANDS = {
    "stores": "what was discovered: stores, dialects, rows, health",
    "ls": "memories, filtered and sorted",
    "show": "one memory with all its fields",
    "recall": "ask a question and see why each memory came back",
    "why-not": "why one memory did not come back, and the smallest change that returns it",
    "stats": "counts, mix and findings",
    "lifecycle": "tiers, decay, what will fade and when",
    "sweep": "move memories to the tiers that their use has earned",
    "review": "which memories to look at first, and why",
    "cases": "saved questions, and how well recall answers them",
    "sessions": "the agents' sessions, and what each recorded of injections",
    "replay": "a session turn by turn: what was injected, and what became of it since",
    "injections": "injections as the store's own history tells them",
    "access": "who reads and writes which scope, and why; deny rules as a check",
    "blast": "how far one memory reached: copies, agents, turns, files",
    "proof-pack": "one file that says what was stored, who read it and what remains",
    "history": "the questions that were asked, to be asked again",
    "bisect": "what changed the rank of one memory: a version, an index, the clock, the settings",
    "edit": "set fields of memories, with a preview and an undo",
    "forget": "archive memories, delete them, with every trace, or remove only their history",
    "restore": "bring back what was deleted or archived",
    "merge": "make one memory of several that say the same",
    "duplicates": "memories that say the same",
    "scan": "noise, secrets and orders to a model among the memories",
    "new": "make an empty store of memtui's own",
    "add": "store one memory, or one a line",
    "capture": "from a conversation to memories, and why another did not become one",
    "compact": "old memories that say nearly the same become one",
    "grade": "importance worked out from the words of memories",
    "dream": "the plugin's dreaming: duplicates put away, tiers moved, patterns written down",
    "reflect": "rules and changes learnt from a conversation, written by a language model",
    "inbox": "what waits for you: unsure statements, pending memories, rejected ones",
    "import": "bring memories in from a file or a folder, with a plan and an undo",
    "export": "take memories out, as a file or a folder of notes",
    "migrate": "make a store of another form out of one, and verify it",
    "upgrade": "bring rows of the old form up to date",
    "repair": "repair rows that agents cannot find or would misread",
    "alive": "whether each agent's memory works, why not, and the change that revives it",
    "doctor": "what is wrong with a store, and what fixes it",
    "versions": "the table over time: who wrote what, names, differences, and the ways back",
    "config": "the agent's configuration: problems, plans, what they would change",
    "reembed": "vectors of another model, with a rehearsal, a switch and a way back",
    "undo": "take back a change",
    "journal": "what was changed through memtui",
    "mcp": "the store for agents: search, store and why-not as tools of an MCP server",
    "clients": "who may call the server: tokens, rights, pause and revoke",
    "calls": "what the server's clients called, and what came back",
    "inject": "the block of memories before a prompt, for a question as an agent",
    "hook": "one event of an agent's host: memories for its prompt, capture after its answer",
    "context": "token vectors: word pieces read in their sentences, by a model of yours",
    "docs": "an agent's Markdown, indexed and searched as memory-core does",
    "demo": "the app on the embedded demo store",
    "serve": "the app in a browser, on this machine",
    "help": "how to do a task: memtui help, memtui help why-not",
    "keys": "every key, and whether your keys.toml is right",
    "shot": "make the pictures in screenshots/",
}
"""Each command is memtui/cli/<name>.py (hyphens as underscores) with `add_arguments(parser)` and `run(args) -> int`."""

_EPILOG = """\
STORE is a folder, a LanceDB URI or the name of a discovered store; without it the discovered one is used.
Exit codes: 0 done, 1 failed with a reason, 2 wrong usage, 3 refused for safety. doctor, alive and config
check: 1 looked and something is wrong, 4 there was nothing that could be opened.
"""


def _module(command: str) -> ModuleType:
    return import_module(f"memtui.cli.{command.replace('-', '_')}")


def parser_of(command: str | None) -> argparse.ArgumentParser:
    """Return the parser of `command`; only its own module is imported. None is the app."""
    if command is None:
        parser = argparse.ArgumentParser(
            prog="memtui",
            description="See, trust and mend what an AI agent remembers.",
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
    else:
        parser = argparse.ArgumentParser(
            prog=f"memtui {command}", description=COMMANDS[command], epilog=_EPILOG
        )
        _module(command).add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--store", metavar="STORE", help="the store to open")
    parser.add_argument("--table", metavar="NAME", help="the table, where a folder has several")
    parser.add_argument(
        "--columns",
        metavar="ROLE=COLUMN,...",
        help="column map for a table of another program: id=...,text=...,vector=...",
    )
    return parser


def _as_term(argument: str) -> str:
    """A filter term such as `-is:stale` as argparse lets it pass: what holds a space is no option to it."""
    return f"{argument} " if len(argument) > 2 and argument[0] == "-" and argument[1] != "-" else argument


_BEFORE = ("--store", "--table", "--columns")
"""Options of every command, which may stand before its name, too."""


def _begins(arguments: list[str]) -> int:
    at = 0
    while at < len(arguments) and arguments[at].partition("=")[0] in _BEFORE:
        at += 1 if "=" in arguments[at] else 2
    return at


def _command_of(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The command that is called, None for the app, and everything beside its name."""
    at = _begins(arguments)
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
        code: int = _module(command).run(args)
        return code
    words = given[_begins(given) :]
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


def _app(args: argparse.Namespace) -> int:
    if args.version:
        from memtui import __version__

        print(f"memtui {__version__}")
        return 0
    from memtui.cli.open_store import app_options
    from memtui.cli.terminal import require_terminal

    require_terminal("memtui")
    from memtui.tui.app import run as run_app

    run_app(args.store or args.target, **app_options(args), writable=args.rw, mouse=not args.no_mouse)
    return 0
