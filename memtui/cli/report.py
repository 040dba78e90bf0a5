"""`memtui report`: one page about the last days of a store, for a person or a scheduled job."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from pathlib import Path

from memtui.cli.access import read_policy
from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.engine import MemtuiError, UsageError
from memtui.paths import cases_file, settings_file
from memtui.settings import load_settings

_ENDINGS = {".html": "html", ".htm": "html"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui report`."""
    parser.add_argument(
        "--days", type=int, metavar="N", default=7, help="days to look back, 1 to 14 (default: 7)"
    )
    parser.add_argument(
        "--policy", metavar="FILE", help="deny rules that no agent may break, as memtui access takes"
    )
    parser.add_argument(
        "--format", choices=("markdown", "html"), help="default: by the ending of --out, else markdown"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write the page there, replacing it (default: standard output)"
    )
    parser.add_argument(
        "--send",
        action="store_true",
        help="let the embedding service of the store answer the saved questions",
    )
    parser.add_argument(
        "--mail",
        action="store_true",
        help="hand the page to the command that report.mail in config.toml names",
    )


def run(args: argparse.Namespace) -> int:
    """Print, write or mail the page; 0 nothing wrong, 1 something is, or not all could be read."""
    from memtui.engine.report import as_html, as_markdown, write_report

    if not 1 <= args.days <= 14:
        raise UsageError(f"--days {args.days} is out of range.", fix="Give 1 to 14.")
    mail = shlex.split(str(load_settings(settings_file(), os.environ).values["report.mail"]))
    if args.mail and not mail:
        raise UsageError(
            "--mail has no command to run.",
            fix=f'Set it in {settings_file()}: [report] mail = "mail -s memory NAME".',
        )
    rules = read_policy(args.policy) if args.policy else []
    engine = open_for(args)
    report = write_report(
        engine, engine.environ, Path.cwd(), days=args.days, cases=cases_file(engine.info.uri), rules=rules
    )
    form = args.format or _ENDINGS.get(Path(args.out or "").suffix.lower(), "markdown")
    page = as_html(report) if form == "html" else as_markdown(report)
    if args.out:
        _write(Path(args.out), page)
    if args.mail:
        _mail(mail, page)
    if args.json:
        print_json(report.as_json())
    elif not args.out and not args.mail:
        print_text(page.rstrip("\n"))
    return 0 if report.verdict == "good" else 1


def _write(file: Path, page: str) -> None:
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as failure:
        raise MemtuiError(
            f"The report cannot be written to {file}: {failure.strerror}.",
            fix="Name a file in a folder that exists.",
        ) from failure


def _mail(command: list[str], page: str) -> None:
    try:
        done = subprocess.run(
            command, input=page, text=True, encoding="utf-8", capture_output=True, check=False
        )
    except OSError as failure:
        raise MemtuiError(
            f"The mail command {command[0]} cannot be run: {failure.strerror}.",
            fix="Correct report.mail in config.toml.",
        ) from failure
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise MemtuiError(
            f"The mail command {command[0]} ended with {done.returncode}: {said[0]}",
            fix="Run it by hand; the report is not mailed.",
        )
