"""`memtui connect`: the server written into a host's own configuration, checked, and taken out again."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.open_store import wall_clock
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.cli.server_options import add_server_arguments, served_at, server_words
from memtui.engine import MemtuiError, RefusedError, UsageError, counted
from memtui.paths import SERVER_EXTRA, has_server, own_command, state_dir

if TYPE_CHECKING:
    from memtui.engine.hosts import CheckedHost, HostPlan, HostRecord

SCHEMA = "memtui.connect.v1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui connect`."""
    parser.add_argument(
        "host",
        nargs="?",
        metavar="HOST",
        help="claude, codex, cursor, vscode, openclaw, claude-desktop, opencode, gemini, qwen, copilot, cline or "
        "continue (default: list them)",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="the host's file (default: the one that the host reads)"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="start what the file says and list its tools (default: of every host)",
    )
    parser.add_argument("--undo", action="store_true", help="undo the last write into the host's file")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the lines that would change, write nothing"
    )
    parser.add_argument("--yes", action="store_true", help="confirm writing")
    add_server_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write, undo, check, or list the hosts. A check ends with 1 where a server does not answer."""
    from memtui.engine.hosts import HOSTS

    if args.host is not None and args.host not in HOSTS:
        raise UsageError(f"memtui knows no host {args.host!r}.", fix=f"Name one of {', '.join(HOSTS)}.")
    if args.check:
        return _check(args)
    if args.host is None:
        if args.undo or args.yes or args.file:
            raise UsageError("No host is named.", fix=f"Name one of {', '.join(HOSTS)}.")
        return _list(args)
    if args.undo:
        return _undo(args)
    plan = _plan(args)
    record = preview_or_write(args, plan, f"memtui connect {args.host}")
    if record is None:
        return 0
    served = served_at(args) if args.http else None
    if not has_server():
        print_next(args, f"install what the server needs: {SERVER_EXTRA}")
    if served is not None:
        print_next(args, f"start the server: {served.started}")
    print_next(args, f"restart {args.host}, then check: memtui connect --check {args.host}")
    return 0


def _file(args: argparse.Namespace, host: str) -> Path:
    from memtui.engine.hosts import server_file

    if args.file:
        return Path(args.file).expanduser().absolute()
    return server_file(host, os.environ, Path.cwd())


def _plan(args: argparse.Namespace) -> HostPlan:
    from memtui.engine.hosts import TOKEN, plan_pieces, server_pieces, server_pieces_http

    if args.http:
        served = served_at(args)
        pieces = server_pieces_http(args.host, served.url, token=served.token)
        if served.token and not served.known:
            warning(
                f"The host sends the token of {TOKEN}: memtui clients add {args.client or 'NAME'} prints one."
            )
    else:
        pieces = server_pieces(args.host, own_command(), server_words(args))
    return plan_pieces(args.host, "server", _file(args, args.host), pieces)


def _undo(args: argparse.Namespace) -> int:
    from memtui.engine.hosts import plan_host_undo

    path = _file(args, args.host) if args.file else None
    plan = plan_host_undo(state_dir(os.environ), args.host, "server", path)
    preview_or_write(args, plan, f"memtui connect {args.host} --undo")
    return 0


def preview_or_write(args: argparse.Namespace, plan: HostPlan, command: str) -> HostRecord | None:
    """Show what a plan changes; with --yes write it and say where the backup is. None where nothing was written.

    RefusedError without --yes, but for --dry-run.
    """
    from memtui.engine.hosts import write_plan

    files = [str(file.path) for file in plan.changed]
    told = {
        "schema": SCHEMA,
        "host": plan.host,
        "what": plan.what,
        "files": files,
        "diff": list(plan.difference),
    }
    if not plan.changed and not plan.undoes:
        if args.json:
            print_json({**told, "written": False})
        else:
            print_text("nothing to change; nothing was written")
        return None
    if args.dry_run or not args.yes:
        if args.json:
            print_json({**told, "written": False})
        else:
            print_text("\n".join(plan.difference) or "no difference")
        if args.dry_run:
            return None
        raise RefusedError(
            f"{', '.join(files) or 'nothing'} would change.",
            fix=f"Repeat with --yes: {command} --yes; nothing was written.",
        )
    record = write_plan(plan, state=state_dir(os.environ), now_ms=wall_clock())
    if args.json:
        print_json({**told, "written": True, "record": record.as_json()})
        return record
    if plan.undoes:
        for file in plan.changed:
            print_text(f"{'removed' if file.after is None else 'undone'}: {file.path}")
        return record
    for written in record.files:
        print_text(f"written: {written.path}" + (f"\nbackup:  {written.backup}" if written.backup else ""))
    print_text(f"undo with: {command} --undo --yes")
    return record


def print_next(args: argparse.Namespace, sentence: str) -> None:
    """Say what a person does next, where no program reads the answer."""
    if not args.json:
        print_text(sentence)


def _check(args: argparse.Namespace) -> int:
    from memtui.engine.hosts import HOSTS, check_host

    hosts = HOSTS if args.host is None else (args.host,)
    if args.file and args.host is None:
        raise UsageError(
            "--file belongs to one host.", fix="Name it: memtui connect --check HOST --file FILE."
        )
    checked = []
    for host in hosts:
        found = check_host(host, _file(args, host), os.environ, Path.cwd())
        if args.host is None and found.outcome in ("no file", "not connected"):
            continue
        checked.append(found)
        if not args.json:
            _print_checked(found)
    good = bool(checked) and all(found.outcome == "answered" for found in checked)
    if args.json:
        print_json({"schema": "memtui.connect.check.v1", "hosts": [found.as_json() for found in checked]})
    if not checked:
        raise MemtuiError("No host is connected.", fix="Connect one: memtui connect HOST.")
    return 0 if good else 1


def _print_checked(found: CheckedHost) -> None:
    if found.outcome == "answered":
        print_text(
            f"ok   {found.host}  {found.file}\n     {found.server}, {counted(len(found.tools), 'tool')}"
        )
        print_text(f"     {', '.join(found.tools) or 'none'}")
        return
    print_text(f"bad  {found.host}  {found.file}\n     {found.outcome}: {found.why}")
    if found.fix:
        print_text(f"     {found.fix}")


def _list(args: argparse.Namespace) -> int:
    from memtui.engine.hosts import HOSTS, entry_of

    rows = []
    for host in HOSTS:
        path = _file(args, host)
        try:
            state = (
                "connected" if entry_of(host, path) is not None else "no file" if not path.exists() else "-"
            )
        except MemtuiError:
            state = "unreadable"
        rows.append((host, state, str(path)))
    if args.json:
        hosts = [{"host": host, "state": state, "file": file} for host, state, file in rows]
        print_json({"schema": "memtui.connect.hosts.v1", "hosts": hosts})
        return 0
    print_table(rows, ("host", "state", "file"))
    sys.stderr.write("Connect one: memtui connect HOST. It shows the lines that would change.\n")
    return 0
