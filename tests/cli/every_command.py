"""Every command of the program on one store, and on one source: none may end in a traceback, whatever they hold."""

from __future__ import annotations

import contextlib
import io
import json
import re
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.__main__ import main
from memtui.cli.main import COMMANDS
from memtui.cli.outermost import UNEXPECTED

OTHERWISE = {
    "demo",
    "serve",
    "help",
    "keys",
    "shot",
    "new",
    "stores",
    "history",
    "hook",
    "mcp",
    "clients",
    "connect",
    "docs",
    "completion",
    "schema",
    "extensions",
}
"""Commands that read no store of a person, or have nothing to do with one that is named."""
_CODES = (0, 1, 2, 3, 4)
_RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MISSING = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Called:
    """What a command said, and how it ended."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    trace: str = ""
    """The traceback, of a command that ended in one."""

    @property
    def faults(self) -> list[str]:
        """What must never be: a traceback, an unknown exit code, a failure without a reason, a raw control."""
        line = " ".join(self.arguments)
        found = [f"{line}: {self.trace}"] if self.trace else []
        if not self.trace and self.code not in _CODES:
            found.append(f"{line}: ended with {self.code}")
        if self.code and not self.err.strip() and not self.out.strip() and not self.trace:
            found.append(f"{line}: ended with {self.code} and no reason")
        found += [
            f"{line}: printed {raw[0]!r} in {stream[max(0, raw.start() - 40) : raw.end()]!r}"
            for stream in (self.out, self.err)
            if (raw := _RAW.search(stream))
        ]
        if "panicked at" in self.err or "Traceback" in self.err or UNEXPECTED in self.err:
            found.append(f"{line}: {self.err[-300:]}")
        return found


def call(*arguments: object) -> Called:
    """Run the program in this process."""
    given = tuple(str(each) for each in arguments)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(given))
        except SystemExit as stop:  # argparse
            code = int(stop.code or 0)
        except BaseException as error:  # a panic of the engine is no Exception
            return Called(
                given, -1, out.getvalue(), err.getvalue(), "".join(traceback.format_exception(error)[-4:])
            )
    return Called(given, code, out.getvalue(), err.getvalue())


def ids_of(store: Path) -> list[str]:
    """Two ids of a store, made up where it cannot tell."""
    listed = call("ls", "--json", "--limit", "2", "--store", store)
    try:
        found = [each["id"] for each in json.loads(listed.out)["rows"] if each["id"]]
    except (ValueError, KeyError, TypeError):
        found = []
    return [*found, _MISSING, _MISSING[::-1]][:2]


def commands_on_a_store(store: Path, folder: Path) -> Iterable[Sequence[object]]:
    """Every command that reads or changes a store, on this one; what is written goes below `folder`."""
    first, second = ids_of(store)
    no_file = folder / "no-such-file"
    lines: list[list[object]] = [
        ["ls", "--limit", 3],
        ["ls", "is:stale -scope:global", "--json"],
        ["report"],
        ["report", "--days", 3, "--json", "--format", "html", "--out", folder / "report.html"],
        ["show", first],
        ["show", first, "--json"],
        ["recall", "which port?"],
        *(
            ["recall", "which port?", "--explain", "--json", "--recipe", recipe]
            for recipe in ("memtui", "pro/agent", "pro/tool", "memory-lancedb", "memory-core", "mem-engine")
        ),
        ["recall", "which port?", "--injected"],
        ["why-not", first, "which port?"],
        ["why-not", first, "which port?", "--json"],
        ["stats"],
        ["columns", store, "--json"],
        ["context"],
        ["context", "build", "--model", no_file],
        ["context", "remove", "--json"],
        ["stats", "--json"],
        ["lifecycle", "--json"],
        ["sweep", "--dry-run", "--json"],
        ["review", "--json"],
        ["cases", "list"],
        ["cases", "run"],
        ["bisect", first, "which port?"],
        ["duplicates", "--json"],
        ["scan", "--json"],
        ["compact", "--dry-run"],
        ["compact", "--as-plugin", "--dry-run", "--json"],
        ["dream", "--dry-run", "--json"],
        ["grade", "--dry-run"],
        ["grade", "--force", "importance", "--dry-run", "--json"],
        ["docs", folder, "port", "--cold"],
        ["reflect", no_file, "--dry-run"],
        ["scan"],
        ["since", "7d"],
        ["since", "7d", "--json"],
        ["journal", "--verify"],
        ["alive", "--all"],
        ["alive", "--json"],
        ["access"],
        ["access", "--leaks", "--json"],
        ["blame", "the gateway uses port 8080"],
        ["blame", "the gateway uses port 8080", "--json"],
        ["cost"],
        ["cost", "--json"],
        ["cost", "--what-if", "--rule", "anthropic", "--json"],
        ["blast", first],
        ["blast", first, "--json"],
        ["capture", no_file, "--dry-run"],
        ["config", "check"],
        ["config", "plan", "A", "--json"],
        ["config", "diff", "B"],
        ["doctor"],
        ["doctor", "--deep", "--json"],
        ["doctor", "--fix", "safe", "--dry-run"],
        ["inbox"],
        ["inbox", "--json"],
        ["inbox", "--accept", first, "--dry-run"],
        ["injections", "--json"],
        ["mcp", "--print-config", "claude"],
        ["proof-pack", first, folder / "proof.json"],
        ["proof-pack", "--subject", "port", folder / "subject.json", "--json"],
        ["replay", no_file],
        ["sessions", "--json"],
        ["export", folder / "all.jsonl"],
        ["export", folder / "all.json", "--vectors", "--keep-secrets"],
        ["export", folder / "all.csv"],
        ["export", folder / "notes", "--format", "markdown"],
        ["journal"],
        ["journal", "--json"],
        ["undo", "--dry-run"],
        ["repair", "--dry-run", "--json"],
        ["upgrade", "--dry-run"],
        ["versions"],
        ["versions", "--json"],
        ["versions", "name", 1, "the first"],
        ["versions", "diff", 1, 2, "--json"],
        ["versions", "restore", 1, first, "--dry-run"],
        ["versions", "restore", 1, "--dry-run"],
        ["versions", "snapshot", "before-it"],
        ["versions", "snapshots", "--json"],
        ["versions", "drop", "before-it", "--yes"],
        ["reembed", "--missing", "--dry-run"],
        ["edit", first, "--set", "importance=0.5", "--dry-run"],
        ["edit", first, "--set", "text=another text", "--dry-run"],
        ["forget", first, "--hard", "--dry-run"],
        ["forget", "--where", "id:*", "--dry-run", "--json"],
        ["restore", first, "--dry-run"],
        ["merge", first, second, "--dry-run"],
        ["add", "a new memory", "--dry-run"],
        # and for good
        ["edit", first, "--set", "importance=0.25", "--yes"],
        ["repair", "--yes"],
        ["add", "a new memory of the test", "--yes"],
        ["forget", second, "--yes"],
        ["forget", second, "--hard", "--yes"],
        ["restore", second, "--yes"],
        ["undo", "--yes"],
        ["doctor", "--fix", "safe", "--yes"],
    ]
    for line in lines:
        yield [*line, "--store", store]
    yield ["migrate", "check", store]
    yield ["inject", "which port?", "--store", store]
    yield ["inject", "which port?", "--as", "main", "--json", "--store", store]
    yield ["calls", "--store", store]
    yield ["calls", "--json", "--store", store]
    yield ["migrate", "run", store, folder / "migrated"]


def commands_on_a_source(source: Path, store: Path, folder: Path) -> Iterable[Sequence[object]]:
    """Every command that reads a file of a person, on this one; `store` is a sound store that takes it."""
    on = ("--store", store)
    yield ["import", source, "--dry-run", *on]
    yield ["import", source, "--dry-run", "--json", "--keep-vectors", "--mask-secrets", *on]
    yield ["import", source, "--encoding", "utf-16", "--dry-run", *on]
    yield ["import", source, "--without-vectors", "--yes", "--json", *on]
    yield ["recall", "--batch", source, "--json", *on]
    yield ["recall", "which port?", "--config", source, *on]
    yield ["recall", "which port?", "--query-vector", source, *on]
    yield ["recall", "--replay", source, *on]
    yield ["capture", source, "--dry-run", "--json", *on]
    yield ["capture", "--replay", source, *on]
    yield ["reflect", source, "--dry-run", *on]
    yield ["access", "--policy", source, *on]
    yield ["config", "plan", source, *on]
    yield ["replay", source, *on]
    yield ["why-not", _MISSING, "which port?", "--config", source, *on]
    yield ["cases", "import", source, *on]
    yield ["sweep", "--config", source, "--dry-run", *on]
    yield ["ls", "--store", source]
    yield ["migrate", "check", source]
    yield ["migrate", "verify", source, folder / "nothing"]


def left_out() -> set[str]:
    """Commands that none of the lists names: a new one must be put into one, or into `OTHERWISE`."""
    here = Path()
    named = {
        str(line[0]) for line in (*commands_on_a_store(here, here), *commands_on_a_source(here, here, here))
    }
    return set(COMMANDS) - named - OTHERWISE
