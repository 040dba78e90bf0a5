"""`memtui recall`: one question, or a batch of them, with the whole trace."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_table, print_text, tell_wait, warning
from memtui.cli.question_options import (
    QUESTION_OPTIONS,
    add_question_options,
    given_of,
    refuse_options,
    request_of,
)
from memtui.cli.show import moment
from memtui.engine import MemtuiError, UsageError, clean, counted, duration, explain
from memtui.engine.documents import consult
from memtui.engine.explain import open_receipt, reaches_prompt, save_receipt
from memtui.engine.recall import request_from

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.documents import Consulted
    from memtui.engine.explain import PromptBlock
    from memtui.engine.recall import Candidate, WordsMet


SHOWN_WORDS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui recall`."""
    parser.add_argument("query", nargs="?", metavar="QUERY", help="the question, as the agent would ask it")
    parser.add_argument(
        "--batch",
        metavar="FILE.jsonl",
        help="one request per line (- for standard input); prints one trace per line",
    )
    add_question_options(parser)
    parser.add_argument("--explain", action="store_true", help="explain every candidate, stage and number")
    parser.add_argument(
        "--injected", action="store_true", help="show the injected block, and what was cut from it"
    )
    parser.add_argument("--save", metavar="FILE", help="save the trace as a receipt")
    parser.add_argument(
        "--no-text", action="store_true", help="with --save: ids, numbers and settings only, no text"
    )
    parser.add_argument(
        "--replay", metavar="FILE", help="repeat the recall of a saved receipt and report every difference"
    )


def run(args: argparse.Namespace) -> int:
    """Ask, print."""
    if sum(given is not None for given in (args.query, args.batch, args.replay)) != 1:
        raise UsageError(
            "recall takes one of these: a question, --batch or --replay.",
            fix='Try: memtui recall "deploy window"',
        )
    if args.batch is not None:
        refuse_options(args, ("injected", "save", "no_text"), "--batch")
    if args.replay is not None:
        refuse_options(args, (*QUESTION_OPTIONS, "injected", "explain", "save", "no_text"), "--replay")
    engine = open_for(args)
    if args.batch is not None:
        return _batch(engine, args)
    if args.replay is not None:
        return replay(engine, args.replay, as_json=args.json)
    request = request_of(args)
    trace = engine.recall(request, tell_wait)
    if args.save is not None:
        save(engine, trace, args.save, texts=not args.no_text, show_secrets=args.show_secrets)
    block = explain.injected(trace) if args.injected else None
    documents = consult(engine, trace, config=request.config)
    if args.json:
        document = trace.as_json(explain=args.explain, words=args.explain)
        document["disagreements"] = _disagreements(trace)
        if block is not None:
            document["injection"] = asdict(block)
        if reaches_prompt(trace):
            document["prompt"] = _prompt(explain.injected(trace))
        if documents is not None:
            document["documents"] = documents.as_json()
        print_json(document)
    elif block is not None:
        print_text(_injection(block), reveal=True)
    else:
        print_text(render(engine, trace, whole=args.explain))
        if documents is not None:
            print_text(_documents(documents))
    return 0


def _documents(asked: Consulted) -> str:
    """What the documents beside the store said, with how much of it the scope left over."""
    answer = asked.answer
    if not answer.consulted:
        return f"documents: not asked, {asked.error or f'{asked.hot:,} memories are enough'}"
    lines = [
        f"documents: {len(answer.hits)} of {answer.scoped} in {asked.scope}, {answer.raw} found, "
        f"{answer.filtered} left out by the scope"
    ]
    lines += [f"    {clean(hit.ref)}  {hit.kind}  {clean(hit.snippet)}" for hit in answer.hits]
    return "\n".join([*lines, *([f"    {asked.starved}"] if asked.starved else [])])


def _disagreements(trace: Trace) -> list[dict[str, Any]]:
    """Which memories of the answer a newer one contradicts."""
    return [disagreement.as_json() for disagreement in explain.find_disagreements(trace)]


def _prompt(block: PromptBlock) -> dict[str, Any]:
    """What of the answer reaches the prompt, and by which gate the others do not."""
    return {
        "items": block.items,
        "chars": block.budget,
        "reached": [part.id for part in block.parts if part.line],
        "left_out": [
            {"id": part.id, "gate": part.gate, "value": part.value, "limit": part.limit, "why": part.left_out}
            for part in block.parts
            if part.left_out
        ],
    }


def _injection(block: PromptBlock) -> str:
    """The block as it goes out, and what is not in it."""
    lines = [block.note, ""] if block.note else []
    lines += [block.block or f"nothing is injected: {block.why_nothing}", ""]
    budget = f" of {block.budget}" if block.budget else ""
    lines.append(f"{block.chars}{budget} characters, about {block.tokens} tokens")
    lines += [f"cut by {part.cut} characters: {part.id}" for part in block.parts if part.line and part.cut]
    lines += [f"left out, {part.left_out}: {part.id}" for part in block.parts if part.left_out]
    return "\n".join(lines)


def _batch(engine: Engine, args: argparse.Namespace) -> int:
    """One request a line in, one document a line out, in order; a line that fails says why and the others run.

    The options of the command hold for each line that does not say something else itself.
    """
    failed, given = 0, given_of(args)
    with _lines(args.batch) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                line.encode("utf-8")
                trace = engine.recall(request_from(line, given), tell_wait)
                document = trace.as_json(words=args.explain) | {"disagreements": _disagreements(trace)}
            except UnicodeEncodeError:
                failed += 1
                why, fix = "The line is not UTF-8.", "Save the file as UTF-8."
                document = {"error": {"line": number, "message": why, "fix": fix}}
            except MemtuiError as failure:
                failed += 1
                document = {"error": {"line": number, "message": failure.message, "fix": failure.fix}}
            print_json(document, compact=True)
    return 1 if failed else 0


def _lines(path: str) -> TextIO:
    if path == "-":
        return sys.stdin
    try:
        # A byte that is no UTF-8 spoils its own line, and no other.
        return Path(path).open(encoding="utf-8-sig", errors="surrogateescape", newline="\n")
    except OSError as failure:
        raise UsageError(
            f"--batch {path} cannot be read: {failure.strerror}.", fix="Name an existing file."
        ) from None


def render(engine: Engine, trace: Trace, *, whole: bool) -> str:
    """The trace for a person at a terminal."""
    found = len(trace.candidates)
    lines = [
        f"{trace.recipe}  {trace.mode}  {len(trace.results)} of {counted(found, 'candidate')}"
        f"  {duration(trace.total_ms)}"
    ]
    if trace.asker is not None:
        lines.append(trace.asker.words)
    lines += [f"! {warning}" for warning in trace.warnings]
    alone = trace.words_alone
    if trace.failure is not None:
        lines[0] = f"{trace.recipe}  {trace.failure.words}"
        lines.append(f"! {trace.failure.reason}")
        if alone is not None and alone.results:
            lines.append("what the words alone would find, which no agent got:")
            lines += [f"    {c.rank}  {alone.memories[c.id].title}  {c.id}" for c in alone.results]
        return "\n".join(lines)
    out = {}
    if reaches_prompt(trace):
        out = {part.id: part for part in explain.injected(trace).parts if part.left_out}
    for disagreement in explain.find_disagreements(trace):
        old, new = (days_old(trace.now_ms - ms) for ms in (disagreement.recalled_ms, disagreement.newer_ms))
        place = f"number {disagreement.newer_rank}" if disagreement.newer_rank else "not recalled"
        lines.append(
            f"! two memories disagree: number {disagreement.rank} says "
            f"{disagreement.kind} {disagreement.value}, {old}; "
            f"{disagreement.newer} says {disagreement.newer_value}, {new}, {place}"
        )
    told = trace.confidence
    if told is not None:
        lines.append(f"{told.said}: {told.why}")
    for result in trace.results:
        memory = trace.memories[result.id]
        evidence = "  ".join(
            f"{name} {source['score']:.3f}"
            + (f" #{source['rank']}" if source.get("rank") and name in ("vector", "bm25") else "")
            for name, source in result.sources.items()
            if source.get("score") is not None
        )
        lines.append(f"{result.rank:>2}  {result.score or 0:.4f}  {memory.title}")
        if result.id in out:
            lines.append(f"            not in the prompt: {out[result.id].left_out}")
        lines.append(f"            {memory.scope}  {memory.category}  {result.id}  {evidence}")
        if whole:
            lines += [f"            {_step_line(step)}" for step in result.steps]
            lines.append(f"            {_words_line(trace.words_met(result.id))}")
    if not trace.results:
        lines.append(
            "nothing came back"
            + (": see the stages below" if found else "; no memory was found by any search")
        )
    if whole or not trace.results:
        lines.append("")
        lines += [_stage_line(stage) for stage in trace.stages]
        dropped = [c for c in trace.candidates if c.rank is None]
        for candidate in dropped if whole else dropped[:5]:
            title = trace.memories[candidate.id].title[:60]
            lines.append(f"    {candidate.reason:<14} {_missed(candidate)}  {candidate.id}  {title}")
    badge = (
        "adds up"
        if trace.proof.recomputed
        else f"DOES NOT ADD UP: {trace.proof.failures[0] if trace.proof.failures else ''}"
    )
    lines.append(
        f"\n{badge} ({counted(trace.proof.checked, 'step')}, largest error {trace.proof.max_error:.1g})"
    )
    return "\n".join(lines)


def days_old(ms: int) -> str:
    """An age in whole days: "289 days old"."""
    days = round(ms / 86_400_000)
    return f"{counted(days, 'day')} old"


def _words_line(met: WordsMet) -> str:
    """The words of the question that decide most, each with the word that it met."""
    pairs = [
        f"{word.word} ~ {word.met or ('the memory before' if word.before else 'nothing')} {word.cosine:.2f}"
        for word in met.words[:SHOWN_WORDS]
    ]
    about = "words, an approximation" if met.approximate else "words"
    return f"{about:<21} {met.score:.4f}  {', '.join(pairs)}"


def _missed(candidate: Candidate) -> str:
    """The score of a dropped memory and the limit that it missed; a time where the gate looks at times."""
    score = f"{candidate.score:.4f}" if candidate.score is not None else "-"
    gate = candidate.steps[-1].inputs if candidate.steps else {}
    if candidate.reason == "expired" and isinstance(gate.get("value"), int | float):
        return f"{score}, since {moment(gate['value'])}"
    if candidate.reason == "suppressed" and isinstance(gate.get("limit"), int | float):
        return f"{score}, until {moment(gate['limit'])}"
    return score if candidate.limit is None else f"{score}, limit {candidate.limit:.4g}"


def _step_line(step: Any) -> str:
    before = "     -" if step.before is None else f"{step.before:.4f}"
    after = "dropped" if step.after is None else f"{step.after:.4f}"
    inputs = "  ".join(
        _input(name, value)
        for name, value in step.inputs.items()
        if value is not None and not isinstance(value, list | tuple | dict)
    )
    return f"{step.stage:<21} {before} -> {after}  #{step.rank_after or '-'}  {step.rule}  {inputs}"


def _input(name: str, value: Any) -> str:
    if name.endswith("_ms") and isinstance(value, int | float):
        return f"{name.removesuffix('_ms')}={moment(value)}"
    return f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"


def _stage_line(stage: Any) -> str:
    dropped = ", ".join(f"{count} {reason}" for reason, count in stage.dropped.items())
    note = f"  {stage.note}" if stage.note else ""
    return (
        f"    {stage.name:<21} {stage.n_in:>6} -> {stage.n_out:<4} {duration(stage.ms):>8}  {dropped}{note}"
    )


# Saving a recall as a receipt, and replaying one.

SHOWN = 40
"""Characters of a value that a table shows."""


def save(engine: Engine, trace: Trace, path: str, *, texts: bool, show_secrets: bool) -> None:
    """Write the receipt of `trace`, secrets masked unless they are to be shown; UsageError when that fails."""
    save_receipt(explain.receipt(engine, trace, texts=texts), Path(path), show_secrets=show_secrets)


def replay(engine: Engine, path: str, *, as_json: bool) -> int:
    """Ask a saved recall again; 1 when it comes out differently."""
    receipt = open_receipt(Path(path))
    found = explain.replay(engine, receipt)
    if as_json:
        print_json(
            {
                "schema": "memtui.replay.v1",
                "same": found.same,
                "checked": found.checked,
                "note": found.note,
                "differences": [difference.as_json() for difference in found.differences],
                "receipt": {
                    "saved_ms": receipt.saved_ms,
                    "store": dict(receipt.store),
                    "texts": receipt.texts,
                },
            }
        )
        return 0 if found.same else 1
    if found.note:
        warning(found.note)
    if found.differences:
        rows = [(d.what, d.where, str(d.was)[:SHOWN], str(d.now)[:SHOWN]) for d in found.differences]
        print_table(rows, ("what", "where", "was", "is"))
    verdict = "the same answer" if found.same else "another answer"
    print_text(f"{verdict} ({counted(found.checked, 'step')} of the receipt recomputed)")
    return 0 if found.same else 1
