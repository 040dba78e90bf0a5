"""`memtui help`: the topics, one for each task."""

from __future__ import annotations

import argparse
import os

from memtui.cli.output import print_json, print_table, print_text
from memtui.help import topic, topics
from memtui.paths import keys_file, settings_file
from memtui.settings import load_settings
from memtui.tui.actions.table import load_keys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui help`."""
    parser.add_argument("topic", nargs="*", metavar="TOPIC", help="the topic (default: list them)")


def run(args: argparse.Namespace) -> int:
    """Print the topic, or the list."""
    if not args.topic:
        if args.json:
            print_json({"topics": [{"name": each.name, "title": each.title} for each in topics()]})
        else:
            print_table([(each.name, each.title) for each in topics()], ("memtui help ...", "tells"))
        return 0
    wanted = topic(" ".join(args.topic))
    keys = load_keys(keys_file(), load_settings(settings_file(), os.environ).keys)
    text = wanted.with_keys(keys.cap)
    if args.json:
        print_json({"name": wanted.name, "title": wanted.title, "text": text})
    else:
        print_text(text.rstrip())
    return 0
