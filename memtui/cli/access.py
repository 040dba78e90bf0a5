"""`memtui access`: who reads and writes which scope, and why; a check of deny rules for continuous use."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text
from memtui.engine import MemtuiError, UsageError

if TYPE_CHECKING:
    from memtui.engine.access import (
        AccessMatrix,
        Cell,
        DenyRule,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui access`."""
    parser.add_argument("--agent", metavar="A", help='only this agent, "no id" or "shell"')
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="file of deny rules, `deny: AGENT SCOPE` per line; exit code 1 if one is broken",
    )
    parser.add_argument("--leaks", action="store_true", help="also look for leaks")


def run(args: argparse.Namespace) -> int:
    """Read the rights, print; 1 when a deny rule is broken."""
    from memtui.engine.witness import (
        read_rights,
    )

    rules = read_policy(args.policy) if args.policy else []
    engine = open_for(args)
    rights = read_rights(engine, engine.environ, Path.cwd())
    matrix = rights.matrix
    if rules and rights.access is None:
        raise MemtuiError(
            f"No rule can be checked: {'; '.join(finding.sentence for finding in matrix.findings)}",
            fix="Correct the configuration: memtui config check.",
        )
    broken = matrix.broken(rules, rights.access)
    if args.agent is not None:
        if all(agent.id != args.agent for agent in matrix.agents):
            names = ", ".join(agent.id for agent in matrix.agents)
            raise UsageError(f"There is no agent {args.agent}.", fix=f"Known here: {names}.")
        matrix.agents = [agent for agent in matrix.agents if agent.id == args.agent]
        matrix.cells = [cell for cell in matrix.cells if cell.agent == args.agent]
        broken = [each for each in broken if each.cell.agent == args.agent]
    leaks = None
    if args.leaks:
        from memtui.engine.witness import (
            hunt_leaks,
        )

        leaks = hunt_leaks(engine, rights, engine.environ, Path.cwd())
    if args.json:
        document = {
            **_placed(matrix.as_json(), rights.source, engine.environ),
            "broken": [each.as_json() for each in broken],
            "config": rights.source or None,
        }
        if leaks is not None:
            document["leaks"] = leaks.as_json()
        print_json(document)
        return 1 if broken else 0
    print_text(f"rules: {rights.source or 'default permissions (no configuration)'}\n")
    _print(matrix)
    for finding in matrix.findings:
        print_text(f"! {finding.kind}: {finding.sentence}")
    if leaks is not None:
        print_text("\n" + leaks.sentence)
        for leak in leaks.leaks:
            told = f" ({leak.reason}, {leak.rules.words})" if leak.rules is not None else ""
            print_text(f"  {leak.certainty:<5} {leak.channel}: {leak.sentence}{told}")
    for each in broken:
        print_text(
            f"x line {each.rule.line}, deny: {each.rule.agent} {each.rule.scope}: {each.cell.agent} "
            f"{_verb(each.cell)} {each.cell.scope}, {each.cell.reason}"
        )
    return 1 if broken else 0


def _placed(document: dict[str, Any], source: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """The document with the line of the configuration that makes each cell so, where one does."""
    from memtui.engine.configuration import list_places, open_config, rule_place

    config = Path(source) if source else None
    try:
        places = list_places(open_config(environ, Path.cwd(), path=config)) if config else {}
    except MemtuiError:
        places = {}
    for cell in document["cells"]:
        cell["where"] = rule_place(places, config, cell["agent"], cell["scope"], cell["reason"]) or None
    return document


def read_policy(path: str) -> list[DenyRule]:
    """The deny rules of a file. Raises UsageError where it cannot be read or a line is none."""
    from memtui.engine.access import (
        read_rules,
    )

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--policy {path} cannot be read: {error}.", fix="Name an existing text file."
        ) from None
    return read_rules(text)


def _verb(cell: Cell) -> str:
    return "reads and writes" if cell.read and cell.write else "reads" if cell.read else "writes"


def _print(matrix: AccessMatrix) -> None:
    print_table(
        [
            (
                cell.agent,
                "(NULL)"
                if cell.scope is None
                else repr(cell.scope)
                if cell.scope != cell.scope.strip() or not cell.scope
                else cell.scope,
                "read" if cell.read else "-",
                "write" if cell.write else "-",
                cell.reason,
                cell.rows,
                cell.injectable if cell.read else "-",
            )
            for cell in matrix.cells
        ],
        ("agent", "scope", "", "", "reason", "rows", "injectable"),
        right_aligned=(5, 6),
    )
