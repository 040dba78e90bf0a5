"""`memtui extensions`: the installed extensions, and whether each works."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memtui.cli.output import print_json, print_table, print_text

SCHEMA = "memtui.extensions.v1"


def add_arguments(parser: ArgumentParser) -> None:
    """It has no options of its own."""


def run(args: Namespace) -> int:
    """Load and list them; 1 where one is broken."""
    from memtui.engine.extensions import check_extensions

    found = check_extensions()
    broken = [each for each in found if each.state == "broken"]
    if args.json:
        print_json({"schema": SCHEMA, "extensions": [each.as_json() for each in found]})
        return 1 if broken else 0
    if not found:
        print_text("No extensions are installed. How to write one: docs/extensions.md")
        return 0
    rows = [
        (
            each.extension.name,
            each.kind,
            f"{each.extension.package} {each.extension.version}".strip(),
            str(each.protocol),
            each.state,
        )
        for each in found
    ]
    print_table(rows, ("name", "kind", "package", "protocol", "state"))
    for each in found:
        if each.reason:
            print_text(f"{each.extension.name} ({each.kind}): {each.reason}")
    return 1 if broken else 0
