"""`memtui cases`: saved questions, and how well recall answers them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli.open_store import open_for, wall_clock
from memtui.cli.output import print_json, print_table, print_text, warning
from memtui.engine import UsageError, counted
from memtui.engine.discovery import (
    read_config,
)
from memtui.paths import cases_file

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.capture import CaptureCaseBook, CaseResult, CaseTrial
    from memtui.engine.cases import (
        Case,
        CaseBook,
        CaseReport,
    )


_SHOWN = 5
"""Absent memories that are named."""

ACTIONS = ("list", "run", "tune", "add", "add-talk", "remove", "import", "demo", "from-sessions")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui cases`."""
    parser.add_argument("action", choices=ACTIONS, help="action")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        help="add: the question; add-talk: a conversation; remove: the id; import: the file",
    )
    parser.add_argument(
        "--leaves",
        metavar="TEXT",
        action="append",
        default=[],
        help="add-talk: a memory that the conversation should produce; none for none",
    )
    parser.add_argument("--expect", metavar="ID", action="append", default=[], help="add: an expected memory")
    parser.add_argument(
        "--reject", metavar="ID", action="append", default=[], help="add: an unexpected memory"
    )
    parser.add_argument("--scope", metavar="SCOPE", action="append", help="add: only this scope")
    parser.add_argument("--since", metavar="D", default="7d", help="from-sessions: turns since (default 7d)")
    parser.add_argument("--agent", metavar="A", help="from-sessions: only this agent's")
    parser.add_argument("--category", metavar="NAME", help="add: only this category")
    parser.add_argument(
        "--k", type=int, default=5, help="run: results that count where a case does not say (default 5)"
    )
    parser.add_argument("--recipe", metavar="NAME", default="", help="run, add-talk: the recipe")
    parser.add_argument("--config", metavar="FILE", help="run: the plugin's retrieval and decay blocks")
    parser.add_argument("--b-recipe", metavar="NAME", help="run: compare with this recipe")
    parser.add_argument("--b-config", metavar="FILE", help="run: compare with these settings")
    parser.add_argument(
        "--budget", type=int, default=60, help="tune: maximum number of settings to try (default 60)"
    )
    parser.add_argument("--now", type=int, metavar="MS", help="run: recall as of this time")
    parser.add_argument(
        "--bar",
        metavar="MEASURE=VALUE",
        action="append",
        default=[],
        help="run: exit code 1 below this, for example hit=.8",
    )


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from memtui.engine.cases import (
        CaseBook,
    )

    engine = open_for(args)
    book = CaseBook(cases_file(engine.info.uri))
    code: int = {
        "list": _list, "run": _run, "tune": _tune, "add": _add, "remove": _remove, "import": _import, "demo": _demo,
        "add-talk": _add_talk, "from-sessions": _from_sessions,
    }[args.action](args, engine, book)  # fmt: skip
    return code


def _list(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    cases, talks = book.cases(), _talks(engine).cases()
    if args.json:
        print_json(
            {"cases": [case.as_json() for case in cases], "capture": [talk.as_json() for talk in talks]}
        )
    elif cases or talks:
        print_table(
            [(c.id, len(c.expected), len(c.rejected), c.query) for c in cases]
            + [
                (t.id, len(t.expected), 0, f"{t.name} (a conversation, {t.recording['recipe']})")
                for t in talks
            ],
            ("id", "expect", "reject", "question"),
            right_aligned=(1, 2),
        )
    else:
        print_text('There are no cases yet. Add one: memtui cases add "the question" --expect ID')
    return 0


def _add(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    from memtui.engine.cases import (
        Case,
        case_id,
    )

    query = " ".join(args.words)
    if not query.strip():
        raise UsageError("cases add needs a question.", fix='Try: memtui cases add "which port?" --expect ID')
    scopes = None if args.scope is None else tuple(args.scope)
    case = Case(
        id=case_id(query, scopes, args.category, ""),
        query=query,
        expected=tuple(engine.get(each).id for each in args.expect),
        rejected=tuple(engine.get(each).id for each in args.reject),
        scopes=scopes,
        category=args.category,
        created_ms=wall_clock(),
    )
    book.put(case)
    if args.json:
        print_json(case.as_json())
    else:
        print_text(f"saved {case.id}: {len(case.expected)} expected, {len(case.rejected)} rejected")
    return 0


def _talks(engine: Engine) -> CaptureCaseBook:
    from memtui.engine.capture import (
        CaptureCaseBook,
    )

    return CaptureCaseBook.beside(cases_file(engine.info.uri))


def _add_talk(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    """A conversation as a case: captured without a model and without writing, or a recording as it is."""
    from memtui.engine.capture import (
        CaptureCase,
        CaptureRequest,
        Recorder,
        capture,
        capture_recipe,
        is_own,
        read_conversations,
        read_recordings,
        recorded,
    )

    if len(args.words) != 1:
        raise UsageError(
            "cases add-talk needs one file.",
            fix="For example: memtui cases add-talk chat.txt --leaves 'I live in York.'",
        )
    path = Path(args.words[0])
    if path.suffix in (".jsonl", ".gz") and _is_recording(path):
        lines = list(read_recordings(path))
        if len(lines) != 1 or not is_own(lines[0]):
            raise UsageError(
                f"{path} is not one recording of memtui.", fix="Make one with: memtui capture FILE --record."
            )
        made = lines[0]
    else:
        capture_recipe(recipe := args.recipe or "memtui")
        talks = read_conversations(path, "auto")
        (talk,) = talks[:1] or (None,)
        if talk is None:
            raise UsageError(
                f"{path} holds no conversation.",
                fix="Give a text, a session's JSONL, or an export of ChatGPT or Claude.",
            )
        if talks[1:]:
            others = counted(len(talks) - 1, "other conversation")
            warning(f"a case is one conversation: the first of {path.name} is saved, {others} left out")
        for note in talk.warnings:
            warning(note)
        seen = Recorder()
        request = CaptureRequest(talk.messages, recipe, read_config(args.config) or {})
        trace = capture(request, seen.watch(engine.capture_context()))
        made = {**recorded(request, trace, seen), "rows_before": []}  # what it leaves in an empty store
    case = CaptureCase(path.name, made, tuple(args.leaves))
    _talks(engine).put(case)
    if args.json:
        print_json(case.as_json())
    else:
        print_text(
            f"saved {case.id}: {path.name} should leave {counted(len(case.expected), 'memory', 'memories')}"
        )
    return 0


def _is_recording(path: Path) -> bool:
    from memtui.engine.capture import (
        read_recordings,
    )

    try:
        return next(iter(read_recordings(path)), None) is not None
    except UsageError:
        return False


def _remove(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    if len(args.words) != 1:
        raise UsageError("cases remove needs one id.", fix="See: memtui cases list.")
    talk = _talks(engine).remove(args.words[0])
    if talk is not None:
        if args.json:
            print_json({"removed": talk.as_json()})
        else:
            print_text(f"removed {talk.id}: {talk.name}")
        return 0
    case = book.remove(args.words[0])
    if args.json:
        print_json({"removed": case.as_json()})
    else:
        print_text(f"removed {case.id}: {case.query}")
    return 0


def _import(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    """Read cases from JSON lines; a line that is no case is reported with its number, the others are taken."""
    from memtui.engine.cases import (
        read_cases,
    )

    if len(args.words) != 1:
        raise UsageError(
            "cases import needs one file.", fix='One JSON object a line: {"query": ..., "expected": [...]}.'
        )
    found = read_cases(Path(args.words[0]))
    rejected = [{"where": where, "why": why} for where, why in found.rejected]
    wanted = list(dict.fromkeys(each for case in found.taken for each in case.expected))
    there = engine.memories(wanted)
    absent = [each for each in wanted if each not in there]
    book.put_all(found.taken)
    if args.json:
        unused = [{"where": where, "why": why} for where, why in found.unused]
        print_json({"taken": len(found.taken), "rejected": rejected, "unused": unused, "absent": absent})
        return 1 if rejected else 0
    lines = [f"{counted(len(found.taken), 'case')} taken"]
    lines += [f"! {where}: {why}" for where, why in (*found.rejected, *found.unused)]
    if absent:
        shown = ", ".join(absent[:_SHOWN]) + (", ..." if len(absent) > _SHOWN else "")
        lines.append(
            f"! {counted(len(absent), 'expected memory', 'expected memories')} not in this store: {shown}"
        )
    print_text("\n".join(lines))
    return 1 if rejected else 0


def _demo(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    """The demo store's own telling questions as cases."""
    from memtui.engine.cases import (
        demo_cases,
    )

    cases = demo_cases(wall_clock())
    book.put_all(cases)
    if args.json:
        print_json({"taken": len(cases), "rejected": []})
    else:
        print_text(f"{counted(len(cases), 'case')} taken from the demo store's questions")
    return 0


def _from_sessions(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    """What agents were really asked and got, as cases."""
    from memtui.engine import (
        moment_since,
    )
    from memtui.engine.witness import make_cases

    since = moment_since(args.since, wall_clock())
    made = make_cases(engine, engine.environ, Path.cwd(), since_ms=since, agent=args.agent)
    if made.cases:
        book.put_all(made.cases)
    if args.json:
        print_json(
            {"taken": len(made.cases), "turns": made.turns, "left_out": dict(made.left_out), "rejected": []}
        )
    else:
        lines = [f"{counted(len(made.cases), 'case')} taken from {counted(made.turns, 'turn')}"]
        lines += [f"  {count} left out: {why}" for why, count in made.left_out.items()]
        print_text("\n".join(lines))
    return 0


def _run(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    from memtui.engine.capture import (
        run_case,
        try_settings,
    )
    from memtui.engine.cases import (
        CaseSetup,
        compare,
        missed_bars,
        run_cases,
    )

    cases = book.cases()
    saved = _talks(engine).cases()
    other = read_config(args.b_config) if args.b_config else None
    trials = try_settings(saved, other) if other else ()
    talks = [trial.now for trial in trials] or [run_case(each) for each in saved]
    failed = [talk for talk in talks if not talk.passed]
    if talks and not cases:
        if args.bar:
            raise UsageError(
                "There is no question to measure.", fix="A conversation passes or fails: leave --bar out."
            )
        if args.json:
            print_json({**_told(talks, trials), "missed": []})
        _print_talks(talks, trials, args)
        return 1 if failed else 0
    if not cases:
        raise UsageError(
            "There are no cases to run.", fix='Add one: memtui cases add "the question" --expect ID'
        )
    a = CaseSetup("A", args.recipe or engine.default_recipe, read_config(args.config))
    report = run_cases(cases, a, engine.recall, engine.memories, k=args.k, now_ms=args.now)
    if args.b_recipe or args.b_config:
        b = CaseSetup("B", args.b_recipe or a.recipe, read_config(args.b_config))
        report = compare(
            report, run_cases(cases, b, engine.recall, engine.memories, k=args.k, now_ms=args.now)
        )
    missed = missed_bars(report, _bars(args.bar))
    if args.json:
        print_json({**report.as_json(), "missed": list(missed), **(_told(talks, trials) if talks else {})})
    else:
        _print(report)
        _print_talks(talks, trials, args)
        for sentence in missed:
            print_text(f"! {sentence}")
    return 1 if missed or failed else 0


def _told(talks: Sequence[CaseResult], trials: Sequence[CaseTrial]) -> dict[str, Any]:
    told: dict[str, Any] = {"capture": [talk.as_json() for talk in talks]}
    return {**told, "capture_b": [trial.then.as_json() for trial in trials]} if trials else told


def _print_talks(talks: Sequence[CaseResult], trials: Sequence[CaseTrial], args: argparse.Namespace) -> None:
    """How the conversations came out; nothing where there are none, or where JSON is wanted."""
    if not talks or args.json:
        return
    from memtui.engine.capture import trial_words

    print_text("\nconversations and what they leave")
    for talk in talks:
        print_text(f"  {'+' if talk.passed else 'x'} {talk.case.id}  {talk.case.name}")
        for name, texts in (("missing", talk.missing), ("surplus", talk.surplus)):
            for text in texts:
                print_text(f"      {name}: {text}")
        if talk.error:
            print_text(f"      ! {talk.error}")
    if trials:
        print_text("\nunder the settings of B")
        for sentence in trial_words(trials):
            print_text(f"  {sentence}")


def _tune(args: argparse.Namespace, engine: Engine, book: CaseBook) -> int:
    from memtui.engine.cases import (
        CaseSetup,
        run_cases,
        tune,
    )

    def ask(some: Sequence[Case], setup: CaseSetup) -> CaseReport:
        return run_cases(some, setup, engine.recall, engine.memories, k=args.k, now_ms=args.now)

    start = CaseSetup("A", args.recipe or engine.default_recipe, read_config(args.config))
    found = tune(book.cases(), start, ask, budget=args.budget)
    held = found.held_out
    if args.json:
        print_json(
            {
                "config": found.block,
                "tried": found.tried,
                "stopped": found.stopped,
                "train_gain": found.train_gain,
                "held_out": {
                    "cases": held.cases,
                    "difference": held.difference,
                    "p": held.p,
                    "verdict": held.verdict,
                },
            }
        )
    else:
        print_json(found.block)
        print_text(
            f"tried {counted(found.tried, 'setting')}, {found.stopped}; "
            f"on the cases that chose them: {found.train_gain:+.3f}"
        )
        print_text(
            f"on {counted(held.cases, 'case')} kept apart: {held.difference:+.3f},"
            f" {held.verdict.replace('B', 'the new one')}"
        )
    return 0


def _bars(given: list[str]) -> Mapping[str, float]:
    bars = {}
    for text in given:
        name, equals, value = text.partition("=")
        try:
            bars[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise UsageError(f"--bar cannot read {text!r}.", fix="Write a measure and a number: --bar hit=.8")
    return bars


def _print(report: CaseReport) -> None:
    reports = [report] + ([report.other] if report.other else [])
    print_table(
        [(name, *(_number(report.mean[name]) for report in reports)) for name in report.mean],
        ("measure", *(f"{report.setup.name} {report.setup.recipe}" for report in reports)),
        right_aligned=range(1, len(reports) + 1),
    )
    if report.paired is not None:
        print_text(
            f"\n{report.paired.verdict}: B better in {report.paired.better}, worse in {report.paired.worse}"
        )
        if report.flips:
            print_text("  nDCG less the share of rejected ones, A -> B")
        for flip in report.flips:
            print_text(f"  {_number(flip.a)} -> {_number(flip.b)}  {flip.case.query}")
    print_text("\nnDCG (1 where nothing should come back and nothing did)")
    for answer in report.answers:
        note = (
            f"  ! {answer.error}"
            if answer.error
            else f"  ! gone: {', '.join(answer.missing)}"
            if answer.missing
            else ""
        )
        ndcg = answer.measures.ndcg if answer.measures else None
        silence = answer.measures.silence if answer.measures else None
        print_text(f"  {_number(ndcg if ndcg is not None else silence)}  {answer.case.query}{note}")


def _number(value: float | None) -> str:
    return "   -" if value is None else f"{value:.3f}"
