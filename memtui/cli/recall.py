"""`memtui recall`: one question, or a batch of them, with the whole trace."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from memtui.cli.config_file import read_config
from memtui.cli.output import print_json, print_text
from memtui.cli.store import open_for
from memtui.engine import MemtuiError, RecallRequest, UsageError

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace, WordsMet

_BATCH_KEYS = (
    "query", "query_vector", "recipe", "config", "source", "now_ms", "scopes", "category", "limit", "lanes", "agent",
    "rerank_timeout_ms",
)  # fmt: skip


SHOWN_WORDS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui recall`."""
    parser.add_argument("query", nargs="?", metavar="QUERY", help="what the agent would ask")
    parser.add_argument(
        "--batch",
        metavar="FILE.jsonl",
        help="one request a line (- for standard input), one trace a line out",
    )
    parser.add_argument(
        "--recipe",
        metavar="NAME",
        default="",
        help="memtui, pro/agent, pro/tool, pro/cli, pro/article, memory-lancedb, mem-engine",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="JSON or JSON5 with the plugin's retrieval and decay blocks"
    )
    parser.add_argument(
        "--scope", metavar="SCOPE", action="append", help="only this scope; may be given several times"
    )
    parser.add_argument("--category", metavar="NAME", help="only this category")
    parser.add_argument(
        "--agent", metavar="ID", default="", help="whose memories, where rows belong to agents"
    )
    parser.add_argument("--limit", type=int, metavar="K", help="how many results (the plugin allows 1 to 20)")
    parser.add_argument(
        "--now", type=int, metavar="MS", help="recall as of this time, milliseconds since the epoch"
    )
    parser.add_argument("--query-vector", metavar="FILE", help="JSON list or .npy in place of the embedder")
    parser.add_argument("--explain", action="store_true", help="every candidate, every stage, every number")


def run(args: argparse.Namespace) -> int:
    """Ask, print."""
    if (args.query is None) == (args.batch is None):
        raise UsageError(
            "recall needs a question or --batch, one of them.", fix='Try: memtui recall "deploy window"'
        )
    engine = open_for(args)
    if args.batch is not None:
        return _batch(engine, args.batch)
    request = RecallRequest(
        query=args.query,
        recipe=args.recipe,
        config=read_config(args.config),
        scopes=args.scope,
        category=args.category,
        limit=args.limit,
        now_ms=args.now,
        query_vector=_read_vector(args.query_vector),
        agent=args.agent,
    )
    trace = engine.recall(request)
    if args.json:
        print_json(trace.as_json(explain=args.explain, words=args.explain))
    else:
        print_text(render(engine, trace, explain=args.explain))
    return 0


def _read_vector(path: str | None) -> list[float] | None:
    if path is None:
        return None
    try:
        if path.endswith(".npy"):
            import numpy as np

            loaded = np.load(path, allow_pickle=False)
            return (
                [float(x) for x in loaded.reshape(-1)]
                if loaded.ndim <= 1 or loaded.shape[0] == 1
                else _not_flat(path)
            )
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as failure:
        raise UsageError(
            f"--query-vector {path} cannot be read: {failure.strerror}.", fix="Name an existing file."
        ) from None
    except ValueError:
        return _not_flat(path)
    return value if isinstance(value, list) else _not_flat(path)


def _not_flat(path: str) -> list[float]:
    raise UsageError(
        f"--query-vector {path} does not hold one flat list of numbers.",
        fix="Give a JSON list or a one-dimensional .npy.",
    )


def _batch(engine: Engine, path: str) -> int:
    """One request a line in, one document a line out, in order; a line that fails says why and the others run."""
    failed = 0
    with _lines(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                document = engine.recall(_request(line)).as_json()
            except MemtuiError as failure:
                failed += 1
                document = {"error": {"line": number, "message": failure.message, "fix": failure.fix}}
            print_json(document, compact=True)
    return 1 if failed else 0


def _lines(path: str) -> TextIO:
    if path == "-":
        return sys.stdin
    try:
        return Path(path).open(encoding="utf-8-sig")
    except OSError as failure:
        raise UsageError(
            f"--batch {path} cannot be read: {failure.strerror}.", fix="Name an existing file."
        ) from None


def _request(line: str) -> RecallRequest:
    try:
        value = json.loads(line)
    except ValueError as failure:
        raise UsageError(f"The line is not JSON: {failure}.", fix="Write one JSON object a line.") from None
    if not isinstance(value, dict):
        raise UsageError("The line is not a JSON object.", fix='Write {"query": "..."}.')
    unknown = [key for key in value if key not in _BATCH_KEYS]
    if unknown:
        raise UsageError(f"{unknown[0]} is not a known key.", fix=f"Known keys: {', '.join(_BATCH_KEYS)}.")
    if not isinstance(value.get("query", ""), str):
        raise UsageError("query is not a string.", fix="Write the question as a string.")
    value.setdefault("query", "")
    if value.get("recipe") is None:
        value.pop("recipe", None)
    if value.get("agent") is None:
        value.pop("agent", None)
    return RecallRequest(**value)


def render(engine: Engine, trace: Trace, *, explain: bool) -> str:
    """The trace for a person at a terminal."""
    found = len(trace.candidates)
    lines = [
        f"{trace.recipe}  {trace.mode}  {len(trace.results)} of {found} candidates  {trace.total_ms:.0f} ms"
    ]
    lines += [f"! {warning}" for warning in trace.warnings]
    for result in trace.results:
        memory = trace.memories[result.id]
        evidence = "  ".join(
            f"{name} {source['score']:.3f}"
            + (f" #{source['rank']}" if source.get("rank") and name in ("vector", "bm25") else "")
            for name, source in result.sources.items()
            if source.get("score") is not None
        )
        lines.append(f"{result.rank:>2}  {result.score or 0:.4f}  {memory.title}")
        lines.append(f"            {memory.scope}  {memory.category}  {result.id}  {evidence}")
        if explain:
            lines += [f"            {_step_line(step)}" for step in result.steps]
            lines.append(f"            {_words_line(trace.words_met(result.id))}")
    if not trace.results:
        lines.append(
            "nothing came back"
            + (": see the stages below" if found else "; no memory was found by any search")
        )
    if explain or not trace.results:
        lines.append("")
        lines += [_stage_line(stage) for stage in trace.stages]
        dropped = [c for c in trace.candidates if c.rank is None]
        for candidate in dropped if explain else dropped[:5]:
            limit = f", limit {candidate.limit:.4g}" if candidate.limit is not None else ""
            score = f"{candidate.score:.4f}" if candidate.score is not None else "-"
            lines.append(
                f"    {candidate.reason:<14} {score}{limit}  {candidate.id}  {trace.memories[candidate.id].title[:60]}"
            )
    badge = (
        "adds up"
        if trace.proof.recomputed
        else f"DOES NOT ADD UP: {trace.proof.failures[0] if trace.proof.failures else ''}"
    )
    lines.append(f"\n{badge} ({trace.proof.checked} steps, largest error {trace.proof.max_error:.1g})")
    return "\n".join(lines)


def _words_line(met: WordsMet) -> str:
    """The words of the question that decide most, each with the word that it met."""
    pairs = [f"{word.word} ~ {word.met or 'nothing'} {word.cosine:.2f}" for word in met.words[:SHOWN_WORDS]]
    about = "words, an approximation" if met.approximate else "words"
    return f"{about:<21} {met.score:.4f}  {', '.join(pairs)}"


def _step_line(step: Any) -> str:
    before = "     -" if step.before is None else f"{step.before:.4f}"
    after = "dropped" if step.after is None else f"{step.after:.4f}"
    inputs = "  ".join(
        f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}"
        for k, v in step.inputs.items()
        if v is not None
    )
    return f"{step.stage:<21} {before} -> {after}  #{step.rank_after or '-'}  {step.rule}  {inputs}"


def _stage_line(stage: Any) -> str:
    dropped = ", ".join(f"{count} {reason}" for reason, count in stage.dropped.items())
    note = f"  {stage.note}" if stage.note else ""
    return f"    {stage.name:<21} {stage.n_in:>6} -> {stage.n_out:<4} {stage.ms:7.2f} ms  {dropped}{note}"
