"""`memtui config`: the agent's configuration checked, planned, tried, written and taken back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.answers import print_changed
from memtui.cli.open_store import NOT_OPENED, wall_clock
from memtui.cli.output import error as print_error
from memtui.cli.output import print_json, print_text, warning
from memtui.demo_store import DEMO, agents_environ, demo_store
from memtui.engine import MemtuiError, RefusedError, UsageError, counted, duration, explain, shortened
from memtui.paths import cases_file, state_dir

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.capture import CaseTrial
    from memtui.engine.configuration import ConfigDraft, Configuration, KeyCheck, KeyResult, SettingChange


ACTIONS = ("check", "plan", "diff", "apply", "undo")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui config`."""
    parser.add_argument(
        "action",
        choices=ACTIONS,
        help="check: list problems; plan: show what would change; diff: show the lines; "
        "apply: write; undo: undo the last write",
    )
    parser.add_argument(
        "plan", nargs="?", metavar="PLAN", help="A, B, C, D, or a JSON5 file of the plugin's settings"
    )
    parser.add_argument(
        "--yes", action="store_true", help="confirm writing, and requests to the named services"
    )
    parser.add_argument(
        "--keys", action="store_true", help='with check: ask each service with the word "test" (--yes)'
    )
    parser.add_argument(
        "--no-key-checks", action="store_true", help="with apply: send no request to a service before writing"
    )
    parser.add_argument(
        "--fly",
        action="store_true",
        help="with plan: answer cases and recent questions under the new settings",
    )
    parser.add_argument(
        "--ask",
        action="store_true",
        help="with --fly: allow requests to the plan's embedding model and reranker",
    )


def run(args: argparse.Namespace) -> int:
    """Do one of the five; `check` ends with 1 when something is wrong, with 4 when there is nothing to read."""
    from memtui.engine.configuration import open_config

    if args.action in ("plan", "apply") and not args.plan:
        raise UsageError(
            f"memtui config {args.action} needs a plan.", fix="Choose A, B, C or D, or name a JSON5 file."
        )
    try:
        if args.store == DEMO:
            demo_store(wall_clock())  # its configuration is there as soon as it is
        config = open_config(agents_environ(args.store), Path.cwd())
    except (UsageError, RefusedError):
        raise
    except MemtuiError as error:
        if args.action != "check":
            raise
        print_error(error)
        return NOT_OPENED
    actions = {"check": _check, "plan": _plan, "diff": _diff, "apply": _apply, "undo": _undo}
    return actions[args.action](args, config)


def _engine(args: argparse.Namespace) -> Engine | None:
    """The store that the configuration means, so far as it can be opened."""
    from memtui.cli.open_store import open_for

    try:
        return open_for(args)
    except MemtuiError as error:
        if args.store:
            raise
        print(f"note: {shortened(error.message)}", file=sys.stderr)
        return None


def _check(args: argparse.Namespace, config: Configuration) -> int:
    from memtui.engine.alive import add_dead_parts, check_alive
    from memtui.engine.configuration import checks_for, other_owner, problems_of, settings_under

    if args.keys and (owner := other_owner(config)):
        raise UsageError(
            f"--keys asks the services of memory-lancedb-pro, and {owner} has the memory slot.",
            fix="memtui alive --try asks the embedding service of the plugin that has it.",
        )
    engine = _engine(args)
    problems = add_dead_parts(
        problems_of(config, store=None if engine is None else engine.store),
        config,
        check_alive(agents_environ(args.store), Path.cwd(), now_ms=wall_clock()),
    )
    results: Sequence[KeyResult] = ()
    if args.keys:
        results = _asked(args, checks_for(settings_under(config, ()), config.loaded.environ))
    bad = any(problem.severity == "error" for problem in problems) or any(not result.ok for result in results)
    if args.json:
        print_json(
            {
                "schema": "memtui.config.v1",
                "file": str(config.main),
                "includes": [str(text) for text in config.texts if text != config.main],
                "problems": [problem.as_json() for problem in problems],
                "keys": [result.as_json() for result in results],
            }
        )
        return 1 if bad else 0
    print_text(str(config.main))
    for problem in problems:
        print_text(f"  {problem.severity:<8}{problem.sentence}\n          {problem.remedy}  ({problem.path})")
    _print_keys(results)
    print_text("nothing is wrong" if not problems else f"{len(problems)} found")
    return 1 if bad else 0


def _draft(args: argparse.Namespace, config: Configuration, engine: Engine | None = None) -> ConfigDraft:
    from memtui.engine.configuration import draft_plan, plan_changes, plan_named

    plan = plan_named(args.plan, Path.cwd())
    store = None if engine is None else engine.store
    return draft_plan(
        config, plan, plan_changes(config, plan), store=store, environ=agents_environ(args.store)
    )


def _plan(args: argparse.Namespace, config: Configuration) -> int:
    engine = _engine(args)
    draft = _draft(args, config, engine)
    changes, problems = draft.changes, draft.problems
    flight = _flown(args, config, changes, engine) if args.fly else None
    trials = _captured(draft, engine) if args.fly else ()
    if args.json:
        print_json(
            {
                "schema": "memtui.config.plan.v1",
                "plan": draft.name,
                "title": draft.title,
                "file": str(config.main),
                "changes": [change.as_json() for change in changes],
                "consequences": [consequence.as_json() for consequence in draft.consequences],
                "problems": [problem.as_json() for problem in problems],
                "keys_missing": list(draft.missing),
                "hosts": [check.host for check in draft.checks],
                "flight": None if flight is None else flight.as_json(),
                "capture": [{"now": trial.now.as_json(), "then": trial.then.as_json()} for trial in trials],
                "written": False,
            }
        )
        return 0
    print_text(f"plan {draft.name}, {draft.title}\n{config.main}, not applied")
    for change in changes:
        shown = change.as_json()
        after = "unset" if shown["removed"] else f"{shown['to']!r}"
        before = f"{shown['from']!r}" if change.there else "unset"
        print_text(
            f"  {change.dotted}: {before} -> {after}" + (f"  ({change.reason})" if change.reason else "")
        )
    if not changes:
        print_text("  nothing to change")
    for consequence in draft.consequences:
        print_text(f"{'!' if consequence.grave else ' '} {consequence.sentence}")
    for name in draft.missing:
        warning(f"{name} is not set here; the gateway may have it.")
    for problem in problems:
        warning(f"under this plan: {problem.sentence}. {problem.remedy}")
    if flight is not None:
        print_text(
            f"right first {flight.right(False)} of {flight.cases} now, {flight.right(True)} under the plan"
        )
        print_text(
            f"silent {flight.silent(False)} of {len(flight.questions)} now, {flight.silent(True)} under the plan"
        )
        for note in flight.notes:
            print_text(f"  {note}")
        changed = [question.change for question in flight.questions if question.change is not None]
        print_text(f"{len(changed)} of {counted(len(flight.questions), 'question')} answered differently")
        print_changed(changed)
        if flight.smaller is not None:
            print_text(f"with minScore {flight.smaller.min_score:g}: {flight.smaller.right} right")
    if trials:
        from memtui.engine.capture import trial_words

        for sentence in trial_words(trials):
            print_text(sentence)
    return 0


def _flown(
    args: argparse.Namespace, config: Configuration, changes: Sequence[SettingChange], engine: Engine | None
) -> Any:
    from memtui.cli.progress import shown
    from memtui.engine.cases import CaseBook
    from memtui.engine.changes import of_cases
    from memtui.engine.configuration import fly
    from memtui.engine.explain import History
    from memtui.paths import questions_file

    if engine is None:
        raise UsageError("There is no store to ask.", fix="Name it with --store.")
    if args.ask and not args.yes:
        raise RefusedError(
            "Questions and memories would be sent to the plan's embedding model and reranker.",
            fix="Repeat with --yes to allow it.",
        )
    history = History(questions_file())
    cases = CaseBook(cases_file(engine.info.uri)).cases()
    last = explain.asked_last(engine, history)
    with shown(sys.stderr) as on_progress:
        return fly(
            config, changes, [*of_cases(cases), *last], engine.recall_context(), engine.default_recipe,
            ask_provider=args.ask, on_progress=on_progress,
        )  # fmt: skip


def _captured(draft: ConfigDraft, engine: Engine | None) -> Sequence[CaseTrial]:
    """The saved conversations as they are and under the plan."""
    from memtui.engine.capture import CaptureCaseBook, try_settings

    if engine is None:
        return ()
    book = CaptureCaseBook.beside(cases_file(engine.info.uri))
    return try_settings(book.cases(), draft.values)


def _asked(args: argparse.Namespace, checks: Sequence[KeyCheck]) -> tuple[KeyResult, ...]:
    from memtui.engine.configuration import WORD, run_checks

    hosts = ", ".join(dict.fromkeys(check.host for check in checks))
    if not args.yes:
        raise RefusedError(
            f'{hosts} would be asked, with the word "{WORD}" alone.',
            fix="Repeat with --yes; nothing was sent.",
        )
    return run_checks(checks)


def _print_keys(results: Sequence[KeyResult]) -> None:
    for result in results:
        mark = "ok " if result.ok else "bad"
        ms = "" if result.ms is None else f", {duration(result.ms)}"
        print_text(f"  {mark} {result.purpose}  {result.host}  {result.sentence}{ms}")
        if result.remedy:
            print_text(f"      {result.remedy}")
        if result.ok and result.key_name:
            print_text(f"      {result.key_name} is set here; the gateway may lack it")


def _diff(args: argparse.Namespace, config: Configuration) -> int:
    from memtui.engine.configuration import last_record, written_difference

    if args.plan:
        draft = _draft(args, config)
        files = [
            str(setting) for setting in config.with_settings([(one.path, one.after) for one in draft.changes])
        ]
        lines = draft.difference
    else:
        record = last_record(state_dir(agents_environ(args.store)), config.main)
        files = [file.path for file in record.files]
        lines = written_difference(record.files)
    if args.json:
        print_json({"schema": "memtui.config.diff.v1", "files": files, "diff": list(lines)})
    else:
        print_text("\n".join(lines) or "no difference")
    return 0


def _apply(args: argparse.Namespace, config: Configuration) -> int:
    from memtui.engine.configuration import write_changes

    draft = _draft(args, config)
    changes, problems = draft.changes, draft.errors
    if not changes:
        if args.json:
            print_json(
                {"schema": "memtui.config.apply.v1", "plan": draft.name, "changes": [], "written": False}
            )
        else:
            print_text("nothing to change; nothing was written")
        return 0
    if not args.yes:
        hosts = ", ".join(draft.hosts)
        asked = "" if args.no_key_checks else f' {hosts} would be asked before, with the word "test" alone.'
        raise RefusedError(
            f"{counted(len(changes), 'setting')} of {config.main} would change.{asked}",
            fix="Look with: memtui config diff, then repeat with --yes; nothing was changed.",
        )
    results: Sequence[KeyResult] = ()
    if not args.no_key_checks:
        results = _asked(args, draft.checks)
        if any(not result.ok for result in results):
            failed = next(result for result in results if not result.ok)
            if args.json:
                print_json(
                    {
                        "schema": "memtui.config.apply.v1",
                        "plan": draft.name,
                        "written": False,
                        "keys": [result.as_json() for result in results],
                    }
                )
            raise MemtuiError(
                f"{failed.purpose}: {failed.sentence}.",
                fix=f"{failed.remedy} Nothing was changed; without this check: --no-key-checks.",
            )
    record = write_changes(
        config, changes, plan=draft.name, state=state_dir(agents_environ(args.store)), now_ms=wall_clock()
    )
    if args.json:
        print_json(
            {
                "schema": "memtui.config.apply.v1",
                "plan": draft.name,
                "written": True,
                "file": str(config.main),
                "files": [file.as_json() for file in record.files],
                "changes": [change.as_json() for change in changes],
                "keys": [result.as_json() for result in results],
                "problems": [problem.as_json() for problem in problems],
                "next": "openclaw gateway restart",
            }
        )
        return 0
    _print_keys(results)
    for file in record.files:
        print_text(f"written: {file.path}\nbackup:  {file.backup}")
    for problem in problems:
        warning(f"{problem.sentence}. {problem.remedy}")
    print_text("you restart the gateway: openclaw gateway restart; then ask something: memtui recall QUERY")
    print_text("undo with: memtui config undo --yes")
    return 0


def _undo(args: argparse.Namespace, config: Configuration) -> int:
    from memtui.engine.configuration import last_record, undo_write

    state = state_dir(agents_environ(args.store))
    record = last_record(state, config.main)
    if not args.yes:
        raise RefusedError(
            f"{counted(len(record.changes), 'setting')} of {record.main} would go back to what they were.",
            fix="Look with: memtui config diff, then repeat with --yes; nothing was changed.",
        )
    files = undo_write(config, record, state=state, now_ms=wall_clock())
    if args.json:
        print_json(
            {
                "schema": "memtui.config.undo.v1",
                "plan": record.plan,
                "files": [file.as_json() for file in files],
            }
        )
        return 0
    for file in files:
        print_text(f"undone: {file.path}")
    print_text("you restart the gateway: openclaw gateway restart")
    return 0
