"""`memtui reembed`: vectors of another model, in a second table; or vectors that are missing, in place."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memtui.cli.answers import print_effect
from memtui.cli.cluster_plan import add_cluster_arguments, check_cluster_arguments, planned
from memtui.cli.memory_changes import add_safety_arguments, carry_out, open_to_change
from memtui.cli.open_store import wall_clock
from memtui.cli.output import print_json, print_text
from memtui.cli.progress import shown
from memtui.engine import (
    Engine,
    StoreNotFoundError,
    UnknownDialectError,
    UsageError,
    counted,
    explain,
    quoted,
    time_span,
    transfer,
)
from memtui.engine.explain import History
from memtui.engine.transfer import LOCAL_MODELS, NamedEmbedder, Origin, back, last_switch, note_of, write_plan
from memtui.paths import cases_file, questions_file, state_dir

if TYPE_CHECKING:
    from memtui.engine.transfer import Embedder, Rehearsal

SAMPLE = 1000
"""Memories of a rehearsal, unless another number is named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui reembed`."""
    parser.add_argument(
        "--missing",
        action="store_true",
        help="embed only rows without a vector, in place, with the store's model",
    )
    parser.add_argument(
        "--model", metavar="NAME", help=f"name of the new model; without a service: {', '.join(LOCAL_MODELS)}"
    )
    parser.add_argument("--base-url", metavar="URL", default="", help="address of its service, with /v1")
    parser.add_argument(
        "--key-env", metavar="VAR,...", help="environment variables with API keys, used in turn"
    )
    parser.add_argument("--dimensions", type=int, metavar="N", help="dimensions to request")
    parser.add_argument(
        "--task", metavar="HINT", help="task hint for stored texts, for example retrieval.passage"
    )
    parser.add_argument(
        "--to",
        metavar="PLACE",
        type=_place,
        help="folder or address of the new table (default: beside the old one)",
    )
    parser.add_argument(
        "--rehearse",
        action="store_true",
        help="compare the old and the new model on cases and recent questions",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="rehearse: number of memories (default 1000)")
    add_cluster_arguments(parser, "the vectors")
    parser.add_argument("--switch", action="store_true", help="switch to the new table")
    parser.add_argument("--back", action="store_true", help="undo the last switch")
    add_safety_arguments(parser)


def _place(text: str) -> Path | str:
    """A folder, or an address on object storage."""
    return text.rstrip("/") if "://" in text else Path(text)


def run(args: argparse.Namespace) -> int:
    """Do what is asked for."""
    if args.back:
        return _back(args)
    engine = open_to_change(args)
    if args.missing:
        with shown(sys.stderr) as on_progress:
            planned = transfer.plan_missing_vectors(engine, dry_run=args.dry_run, on_progress=on_progress)
        code = carry_out(engine, planned, args)
        if code == 0 and not args.dry_run:
            transfer.forget_answers(engine, planned.action)
        return code
    if args.rehearse:
        return _rehearse(engine, _embedder(args), args)
    destination = args.to or transfer.reembed_job(engine).destination(args.model or _embedder(args).name)
    if args.dry_run:
        return _estimate(engine, _embedder(args), destination, args)
    if args.plan:
        return _plan(engine, destination, args)
    check_cluster_arguments(args)
    return _make(engine, destination, args)


def _plan(engine: Engine, destination: Path | str, args: argparse.Namespace) -> int:
    """Write the script beside the second table to be; with --run also what follows."""
    if isinstance(destination, str):
        raise UsageError(
            "A script needs a folder of this machine.",
            fix="Name one with --to FOLDER; reembed --parts PLACE --to URI makes the table at an address.",
        )
    asked = NamedEmbedder(args.model or "", args.base_url, args.key_env or "", args.dimensions, args.task)
    folder = destination.with_name(f"{destination.name}.ray")
    made = write_plan(engine.store, asked, folder, parts=args.parts or "", workers=args.workers)
    return planned(
        args,
        made,
        lambda: _make(engine, destination, args),
        schema="memtui.reembed.v1",
        then=f"reembed --model {quoted(args.model)}",
    )


def _back(args: argparse.Namespace) -> int:
    try:
        done = transfer.reembed_job(open_to_change(args)).back(confirmed=args.yes)
    except (StoreNotFoundError, UnknownDialectError):  # a switch was killed between its two steps
        folder = str(Path(args.store or "").expanduser().absolute())
        note = note_of(state_dir(os.environ) / "transfer", folder)
        if last_switch(note) is None:
            raise
        done = back(note, now_ms=wall_clock(), confirmed=args.yes)
    _tell(
        args,
        {"schema": "memtui.reembed.v1", "back": done.store},
        f"the old table is the store's again; the new one is in {done.after.parent}",
    )
    return 0


def _embedder(args: argparse.Namespace) -> Embedder:
    from memtui.engine.transfer import embedder_named

    return embedder_named(
        args.model or "",
        os.environ,
        base_url=args.base_url,
        key_variables=args.key_env or "",
        dimensions=args.dimensions,
        task=args.task,
    )


def _estimate(engine: Engine, embedder: Embedder, destination: Path | str, args: argparse.Namespace) -> int:
    offline = not args.base_url and embedder.name in LOCAL_MODELS
    found = transfer.reembed_job(engine).estimate(embedder, ask=offline or args.send)
    cost = found.cost
    document = {
        "schema": "memtui.reembed.v1",
        "dry_run": True,
        "model": embedder.name,
        "rows": found.rows,
        "empty": found.empty,
        "dims_before": found.dims_before,
        "dims": found.dims,
        "bytes": found.bytes,
        "chars": cost.chars,
        "tokens": cost.tokens,
        "seconds": cost.seconds,
        "folder": str(destination),
        "host": None if offline else host_of(args.base_url) or None,
        "sent": bool(args.send and not offline),
    }
    answers, said_of_answers = _foretold(engine, embedder, args)
    document["rehearsal"] = answers and answers.as_json()
    seconds = "" if cost.seconds is None else f", about {time_span(cost.seconds)}"
    numbers = f"{found.dims} dimensions" if found.dims else "vectors of a length that the service decides,"
    said = (
        f"dry run: {counted(found.rows, 'memory', 'memories')}, {cost.chars:,} characters, "
        f"about {cost.tokens:,} tokens{seconds};"
        f" {numbers} each instead of {found.dims_before}, {found.bytes / 1e6:,.1f} MB"
    )
    if not offline and not args.send:
        said += f"\n{_would_send(found.rows - found.empty, cost.chars, args)}"
    _tell(args, document, f"{said}{said_of_answers}")
    if answers is not None and not args.json:
        print_effect(answers.effect)
    return 0


def _foretold(engine: Engine, embedder: Embedder, args: argparse.Namespace) -> tuple[Rehearsal | None, str]:
    """What the agent would then read, where that is known without sending a text to anybody; else why it is not."""
    if embedder.name not in LOCAL_MODELS or (transfer.reembed_job(engine).sends(embedder) and not args.send):
        return (
            None,
            "\nwhat the agent would read: --rehearse --send sends a sample to the model and asks your questions",
        )
    try:
        found = _rehearsed(engine, embedder, args)
    except UsageError as error:  # there is nothing to ask
        return None, f"\nwhat the agent would read: {error.message}"
    return found, f"\n{_of_how_many(found)}"


def _of_how_many(found: Rehearsal) -> str:
    """How many questions were asked, of how many memories."""
    memories = counted(found.rows, "memory", "memories")
    return f"{counted(found.effect.asked, 'question')} over {found.sample:,} of {memories}"


def _rehearsed(engine: Engine, embedder: Embedder, args: argparse.Namespace) -> Rehearsal:
    """The saved and the last questions over a sample, with the old model and the new."""
    from memtui.engine.cases import CaseBook

    cases = CaseBook(cases_file(engine.info.uri)).cases()
    last = explain.asked_last(engine, History(questions_file()))
    with shown(sys.stderr) as on_progress:
        return transfer.reembed_job(engine).rehearse(
            embedder,
            cases,
            recipe=engine.default_recipe,
            context=engine.recall_context(),
            last=last,
            sample=args.sample,
            on_progress=on_progress,
        )


def host_of(url: str) -> str:
    """Host and port of an address, without a user and a password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _would_send(rows: int, chars: int, args: argparse.Namespace) -> str:
    """What would leave this machine, where to, and its price where that is known."""
    host = host_of(args.base_url) if args.base_url else "the service of the model"
    price = transfer.price_in_words(transfer.price_of(args.model, host, chars))
    return (
        f"nothing was sent: {host} would get {counted(rows, 'text')} with {chars:,} characters, about "
        f"{transfer.tokens_of(chars):,} tokens, {price}; --send sends a sample to measure"
    )


def _rehearse(engine: Engine, embedder: Embedder, args: argparse.Namespace) -> int:
    if not args.send and transfer.reembed_job(engine).sends(embedder):
        found = transfer.reembed_job(engine).estimate(embedder, ask=False)
        rows = min(found.rows - found.empty, args.sample or SAMPLE)
        chars = found.cost.chars * rows // max(found.rows, 1)
        host = host_of(args.base_url) or None
        document = {
            "schema": "memtui.reembed.v1",
            "dry_run": True,
            "sent": False,
            "host": host,
            "rows": rows,
            "chars": chars,
        }
        _tell(args, document, _would_send(rows, chars, args))
        return 0
    return _measured(engine, embedder, args)


def _measured(engine: Engine, embedder: Embedder, args: argparse.Namespace) -> int:
    found = _rehearsed(engine, embedder, args)
    report = found.report
    assert report.other is not None
    assert report.paired is not None
    lines = [_of_how_many(found)]
    if report.answers:
        for name, value in report.mean.items():
            new = report.other.mean[name]
            lines.append(f"{name}: {_number(value)} with {found.old}, {_number(new)} with {found.new}")
        lines.append(report.paired.verdict)
        lines += [f"  {flip.case.query}: {flip.a:.2f} -> {flip.b:.2f}" for flip in report.flips[:20]]
    _tell(args, found.as_json(), "\n".join(lines))
    if not args.json:
        print_effect(found.effect)
    return 0


def _make(engine: Engine, destination: Path | str, args: argparse.Namespace) -> int:
    another = transfer.reembed_job(engine)
    document: dict[str, Any] = {"schema": "memtui.reembed.v1", "dry_run": False, "folder": str(destination)}
    if args.switch and (engine.is_remote or isinstance(destination, str)):
        another.switch(destination, confirmed=args.yes)  # is refused, before anything is made
    near = destination if isinstance(destination, Path) else Path()
    made = Origin.read(near) if args.switch else None  # then nobody is asked, and no key is needed
    model = made.model if made is not None else args.model
    said = f"vectors of {model} in {destination}"
    if made is None:
        with shown(sys.stderr) as on_progress:
            done = another.make(_embedder(args), destination, on_progress, parts=args.parts or "")
        document |= done.as_json()
        said = f"{counted(done.rows, 'memory', 'memories')} with {said}"
    if not args.switch:
        place = f" --to {quoted(args.to)}" if args.to else ""
        how = f"memtui reembed --model {quoted(args.model)}{place} --switch --yes"
        if isinstance(destination, str):  # nothing is renamed there
            how = f'uri = "{destination}" in [storage.NAME] of config.toml; to undo, set {engine.info.uri}'
        elif engine.is_remote:  # a table of another place is not put into that of the store
            how = f"memtui --store {quoted(destination)}"
        _tell(args, {**document, "switched": None}, f"{said}; use them with: {how}")
        return 0
    switched = another.switch(destination, confirmed=args.yes)
    lines = (
        f"{said}, now the store's own; the old table is in {switched.kept}",
        f"configure {switched.model} ({switched.dims} numbers) for the agent",
        "undo with: memtui reembed --back --yes",
    )
    _tell(args, {**document, "switched": switched.kept}, "\n".join(lines))
    return 0


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _tell(args: argparse.Namespace, document: dict[str, Any], said: str) -> None:
    if args.json:
        print_json(document)
    else:
        print_text(said)
