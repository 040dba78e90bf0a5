"""`memtui doctor`: what is wrong with a store, what it does to the agent, and what mends it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from memtui.cli.answers import print_effect
from memtui.cli.cluster_plan import add_cluster_arguments, check_cluster_arguments, plan_folder, planned
from memtui.cli.memory_changes import (
    add_effect_argument,
    add_send_argument,
    before_and_after,
    check_effect_argument,
)
from memtui.cli.open_store import NOT_OPENED, open_for, wall_clock
from memtui.cli.output import error as print_error
from memtui.cli.output import print_json, print_text, warning
from memtui.cli.progress import shown
from memtui.demo_store import DEMO, demo_store
from memtui.engine import MemtuiError, RefusedError, UsageError

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import RecallEffect
    from memtui.engine.health import Examination, Patient, RemedyPlan


NAMED = 3
"""Rows and files of a finding that are named to a person."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui doctor`."""
    parser.add_argument("--deep", action="store_true", help="also read vectors and texts")
    add_cluster_arguments(parser, "the pass over the vectors")
    parser.add_argument(
        "--fix",
        nargs="+",
        metavar="KIND",
        help="fix these findings (D14 ...), or safe: all that can be fixed beside a running agent",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="with --fix: print what would be done, change nothing"
    )
    add_effect_argument(parser)
    add_send_argument(parser)
    parser.add_argument("--yes", action="store_true", help="confirm that no agent is running where required")
    parser.add_argument(
        "--no-cases",
        action="store_true",
        help="with --fix: skip answering cases and recent questions before and after",
    )
    parser.add_argument(
        "--drop-names",
        action="store_true",
        help="with --fix: also remove tags that hold versions to be deleted",
    )
    parser.add_argument(
        "--break-lock", action="store_true", help="remove a write lock left by a program that died"
    )
    parser.add_argument(
        "--now", type=int, metavar="MS", help="time to use instead of now, milliseconds since the epoch"
    )


def run(args: argparse.Namespace) -> int:
    """Look, mend if asked, print; 1 when something of severity 1 or 2 is there, 4 when nothing could be opened."""
    if args.dry_run and not args.fix:
        raise UsageError("--dry-run belongs to --fix.", fix="Without --fix nothing is ever written.")
    check_effect_argument(args)
    check_cluster_arguments(args)
    if (args.plan or args.parts) and not args.deep:
        raise UsageError("A cluster reads vectors only.", fix="Add: --deep")
    if args.plan:
        return _plan(args)
    return _examine(args)


def _plan(args: argparse.Namespace) -> int:
    """Write the script of the pass over the vectors; with --run also what follows."""
    from memtui.engine.health import plan_doctor

    store = open_for(args, writable=False).store
    made = plan_doctor(store, plan_folder(store.uri, "doctor"), parts=args.parts or "", workers=args.workers)
    return planned(args, made, lambda: _examine(args), schema="memtui.doctor.v1", then="doctor --deep")


def _examine(args: argparse.Namespace) -> int:
    """Look, mend if asked, print."""
    from memtui.engine.health import examine

    try:
        if args.store == DEMO:
            demo_store(
                wall_clock()
            )  # a demo that is made now must not be younger than the clock that is read next
        patient, engine = _patient(args, wall_clock() if args.now is None else args.now)
    except (UsageError, RefusedError):
        raise
    except MemtuiError as error:
        if not args.json:
            print_error(error)
            return NOT_OPENED
        from memtui.engine.health import nothing_to_look_at

        key = "fixed" if args.fix and not args.dry_run else "fixes"
        return _report(
            args, nothing_to_look_at(error), [], key=key
        )  # no folder, no table: the document says so
    deep = args.deep or _asks_deep(args.fix)
    passes = ("facts", "light", "deep") if deep else ("facts", "light")
    with shown(sys.stderr) as on_progress:
        patient.on_progress = on_progress
        found = examine(patient, passes=passes)  # type: ignore[arg-type]
    if not args.fix:
        return _report(args, found, [])
    plans = _plans(patient, found, args.fix)
    if args.drop_names:
        plans = [plan.without_names() for plan in plans]
    if args.dry_run:
        effect = _effect(engine, plans) if args.effect and engine is not None else None
        return _report(
            args, found, [plan.as_json() for plan in plans], plans=plans, key="fixes", effect=effect
        )
    done = _mend(args, patient, engine, plans)
    patient, _ = _patient(args, wall_clock() if args.now is None else args.now)  # what was written is younger
    with shown(sys.stderr) as on_progress:
        patient.on_progress = on_progress
        found = examine(patient, passes=passes)  # type: ignore[arg-type]
    refused = [plan for plan in plans if not plan.writes and not _by_file(plan)]
    return _report(args, found, done, plans=refused, key="fixed")


def _patient(args: argparse.Namespace, now_ms: int) -> tuple[Patient, Engine | None]:
    """The store to look at; one that cannot be opened is looked at from outside."""
    from pathlib import Path

    from memtui.engine.discovery import resolve_target
    from memtui.engine.health import patient_of, patient_without_table
    from memtui.paths import settings_file
    from memtui.settings import load_settings

    writable = bool(args.fix) and not args.dry_run
    try:
        engine = open_for(args, now=lambda: now_ms, writable=writable)
    except MemtuiError as error:
        if args.store == DEMO:
            raise
        target = resolve_target(
            args.store, load_settings(settings_file(), os.environ), os.environ, Path.cwd()
        )
        outside = patient_without_table(
            target.uri,
            args.table or target.table,
            error,
            now_ms=now_ms,
            found=target.found,
            environ=os.environ,
        )
        if outside is None:
            raise error from None
        return outside, None
    if writable and args.break_lock:
        engine.write_state.break_abandoned_lock()
    patient = patient_of(
        engine, now_ms=now_ms, questions=lambda: _own_questions(engine), parts=args.parts or ""
    )
    return patient, engine


def _own_questions(engine: Engine) -> Any:
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.engine.health import own_vectors
    from memtui.paths import cases_file, questions_file

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    return own_vectors(engine, cases, History(questions_file()))


def _asks_deep(kinds: list[str] | None) -> bool:
    from memtui.engine.health import check_named

    return any(kind.lower() != "safe" and check_named(kind).cost == "deep" for kind in kinds or ())


def _plans(patient: Patient, found: Examination, kinds: list[str]) -> list[RemedyPlan]:
    from memtui.engine.health import check_named, plan_remedy

    every_safe = any(kind.lower() == "safe" for kind in kinds)
    wanted = {check_named(kind).kind for kind in kinds if kind.lower() != "safe"}
    chosen = [
        finding
        for finding in found.findings
        if finding.kind in wanted or (every_safe and finding.check.how == "safe" and finding.check.safe)
    ]
    return [plan_remedy(patient, each) for each in chosen]


def _effect(engine: Engine, plans: list[RemedyPlan]) -> RecallEffect:
    """The answers before the plans and after them, asked of a trial copy."""
    from memtui.engine.cases import CaseBook
    from memtui.engine.explain import History
    from memtui.engine.health import effect_of_remedies
    from memtui.paths import cases_file, questions_file

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    with shown(sys.stderr) as on_progress:
        return effect_of_remedies(engine, plans, cases, History(questions_file()), on_progress=on_progress)


_BY_FILE = {"D34": "remove the lock", "D35": "move away the file of the damaged version"}
"""Remedies that are one move of one file, which no open table is needed for."""


def _by_file(plan: RemedyPlan) -> bool:
    return plan.finding.kind in _BY_FILE


def _does_by_file(plan: RemedyPlan) -> bool:
    """Whether there is such a file: a folder without any version has none."""
    files = plan.finding.seen.files
    return _by_file(plan) and bool(files) and (plan.finding.kind != "D35" or files[0].endswith(".manifest"))


def _mend(
    args: argparse.Namespace, patient: Patient, engine: Engine | None, plans: list[RemedyPlan]
) -> list[dict[str, Any]]:
    from pathlib import Path

    from memtui.engine.health import carry_out_remedies, move_manifest_away

    done: list[dict[str, Any]] = []
    for plan in plans:
        files = plan.finding.seen.files
        if not args.yes and (_by_file(plan) or (plan.writes and plan.finding.check.how == "stop")):
            raise RefusedError(
                f"{plan.finding.seen.sentence.capitalize()}.",
                fix="When no agent is running, repeat with --yes; nothing was changed.",
            )
        if _by_file(plan):
            if plan.finding.kind == "D34":
                Path(files[0]).rmdir()
                done.append({"kind": "D34", "removed": files[0]})
            elif _does_by_file(plan):
                done.append({"kind": "D35", "moved": files[0], "to": str(move_manifest_away(Path(files[0])))})
    if engine is not None:
        with shown(sys.stderr):
            done += carry_out_remedies(
                engine,
                [plan for plan in plans if plan.writes],
                confirmed=args.yes,
                ask=before_and_after(args, engine),
            )
    return done


def _report(
    args: argparse.Namespace,
    found: Examination,
    done: list[dict[str, Any]],
    *,
    plans: list[RemedyPlan] | None = None,
    key: str = "fixes",
    effect: RecallEffect | None = None,
) -> int:
    from memtui.engine.health import answers_in_words

    code = 1 if found.grave else NOT_OPENED if found.error else 0
    if args.json:
        more: dict[str, Any] = {key: done} if args.fix else {}
        if effect is not None:
            more["effect"] = effect.as_json()
        refused = [{"kind": plan.finding.kind, "why": plan.refusal} for plan in plans or [] if plan.refusal]
        print_json({**found.as_json(), **more, **({"refused": refused} if args.fix else {})})
        return code
    _print(found)
    for plan in plans or []:
        if key == "fixes" and _does_by_file(plan):
            print_text(
                f"would fix {plan.finding.kind}: {_BY_FILE[plan.finding.kind]} {plan.finding.seen.files[0]}"
            )
        elif plan.refusal:
            warning(f"{plan.finding.kind}: {plan.refusal}")
        elif key == "fixes":
            what = "; ".join(step.title for step in plan.steps) or (
                plan.changes.title if plan.changes else ""
            )
            print_text(f"would fix {plan.finding.kind}: {what}")
            if plan.names:
                warning(f"{plan.finding.kind}: held by names in the table: {plan.held} (--drop-names)")
    if effect is not None:
        print_effect(effect)
    if key == "fixes" and args.fix:
        print_text("dry run: nothing was written")
    elif args.fix:
        for each in done:
            entry, receipt = each.get("entry"), each.get("receipt", {})
            kinds = [each["kind"]] if "kind" in each else each["kinds"]
            print_text(f"fixed {', '.join(kinds)}" + (f", journal entry {entry}" if entry else ""))
            if receipt.get("answers") is not None:
                print_text(f"    {answers_in_words(receipt['answers'])}")
            if back := _way_back(each):
                print_text(f"    {back}")
            for left in [one for one in found.findings if one.kind in kinds]:
                warning(f"{left.kind} is still found: {left.seen.sentence}")
    return code


def _way_back(done: dict[str, Any]) -> str:
    """How to undo what was done, as a command; empty where there is none."""
    from memtui.engine.health import check_named

    receipt = done.get("receipt")
    if "kind" in done and check_named(done["kind"]).reversible is False:
        return ""
    if receipt is not None:
        before = receipt["version_before"]
        return (
            f"restore the earlier table: memtui versions restore {before} --yes, while version {before} lives"
        )
    if "moved" in done:
        return f"the file is now {done['to']}: move it back to have it again"
    return f"undo with: memtui undo {done['entry']}" if done.get("entry") else ""


def _print(found: Examination) -> None:
    from memtui.engine.health import grouped

    if found.error:
        warning(found.error)
    if found.host is not None and found.host["version"]:
        known = "" if found.host["known"] else ", a version that memtui does not know"
        print_text(f"host: {found.host['name']} {found.host['version']}{known}")
    for words, findings in grouped(found.findings):
        print_text(words)
        for finding in findings:
            print_text(f"  {finding.severity} {finding.kind:<4}{finding.seen.sentence}")
            print_text(f"      impact  {finding.check.effect}")
            print_text(f"      fix     {finding.remedy} ({finding.check.how})")
            if finding.check.price:
                print_text(f"      cost    {finding.check.price}")
            if finding.check.back:
                print_text(f"      undo    {finding.check.back}")
            if finding.seen.sure is not None:
                print_text(f"      certain {finding.seen.sure:.2f}")
            for word, named in (("rows", finding.seen.ids), ("files", finding.seen.files)):
                more = len(named) - NAMED
                listed = [*named[:NAMED], *([f"and {more:,} more (--json has all)"] if more > 0 else [])]
                if listed:
                    print_text(f"      {word:<8}{', '.join(listed)}")
            for line in finding.seen.evidence:
                print_text(f"      found   {line}")
    reasons: dict[str, list[str]] = {}
    for unlooked in found.unlooked:
        reasons.setdefault(unlooked.why, []).append(unlooked.kind)
    for why, kinds in reasons.items():
        warning(f"not checked ({', '.join(kinds)}): {why}")
    count = len(found.findings)
    said = "nothing found" if not count else f"{count} found"
    print_text(f"{found.looked} checks, {said}")
