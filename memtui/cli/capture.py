"""`memtui capture`: from a conversation to memories, with the trace of what became of every text."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memtui.cli.memory_changes import add_safety_arguments
from memtui.cli.open_store import open_for
from memtui.cli.output import error, print_json, print_text, warning
from memtui.engine import Engine, MemtuiError, UsageError, counted, duration
from memtui.engine.discovery import (
    read_config,
)

if TYPE_CHECKING:
    from memtui.engine.capture import (
        CaptureContext,
        CaptureRequest,
        CaptureTrace,
        Chat,
        Conversation,
        Message,
    )
    from memtui.engine.transfer import (
        ChatClient,
        ChatSettings,
    )


FORMATS = ("auto", "text", "session", "chatgpt", "claude")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui capture`."""
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="FILE",
        help="a conversation, the id of a session, - for standard input; or: why-not TEXT FILE",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="auto", help="format of the source (default: auto-detect)"
    )
    parser.add_argument(
        "--recipe", default="", metavar="NAME", help="memtui, pro, memory-lancedb, mem-engine"
    )
    parser.add_argument("--config", metavar="FILE", help="JSON or JSON5 with settings of the recipe")
    parser.add_argument(
        "--scope", default="", metavar="S", help="scope of new memories (default: the agent's own)"
    )
    parser.add_argument(
        "--agent", metavar="A", help="the agent of the conversation (default: a session's own, else main)"
    )
    add_model_arguments(parser)
    parser.add_argument("--explain", action="store_true", help="print the decision for every message")
    parser.add_argument(
        "--record", metavar="FILE", help="write a recording, to replay it with other settings"
    )
    parser.add_argument(
        "--replay",
        metavar="FILE.jsonl[.gz]",
        help="replay recordings of --record or of memory-lancedb-pro, each on a new store; prints one JSON line each",
    )
    add_safety_arguments(parser)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which language model is asked, if any."""
    parser.add_argument(
        "--llm",
        metavar="URL",
        nargs="?",
        const="",
        help="use a language model: the configured one, or one of a service (its address with "
        "/v1); texts are sent to it",
    )
    parser.add_argument("--llm-model", metavar="M", help="name of the model")
    parser.add_argument("--llm-key-env", metavar="VAR", help="environment variable with its API key")


def run(args: argparse.Namespace) -> int:
    """Capture; unless it is a dry run, write. 1 where a model was asked in vain and nothing was kept."""
    if args.replay:
        return _replay(args)
    if args.sources[:1] == ["why-not"]:
        return _why_not(args)
    if len(args.sources) != 1:
        raise UsageError(
            "Name one file with a conversation.",
            fix="For example: memtui capture chat.txt, or - for standard input.",
        )
    from memtui.engine.capture import (
        Inbox,
        Recorder,
        capture,
        commit,
        document,
        prove,
        record,
    )

    conversations = read_source(args.sources[0], args.format)
    engine = open_for(args, writable=not args.dry_run)
    if args.break_lock and not args.dry_run:
        engine.write_state.break_abandoned_lock()
    documents, waiting = [], 0
    with asking(
        args, engine, args.recipe, texts=[message for talk in conversations for message in talk.messages]
    ) as chat:
        for conversation in conversations:
            request = _request(args, conversation)
            context, seen = engine.capture_context(chat), Recorder()
            if args.record:
                context = seen.watch(context)
            trace = _with_warnings(capture(request, context), conversation)
            proof = prove(trace, request, engine.capture_context())
            if args.record:
                record(Path(args.record), request, trace, seen)
            entry = None
            if not args.dry_run:
                outcome = commit(engine, trace, confirmed=args.yes)
                entry = outcome.entry
                for note in outcome.warnings:
                    warning(note)
                waits = Inbox(engine).take(trace)
                engine.store.refresh()
                if waits and not args.json:
                    print_text(f"{counted(waits, 'needs', 'need')} review: memtui inbox")
            documents.append(document(trace, entry=entry, proof=proof))
            waiting += sum(text.gate == "model failed" for text in trace.texts)
            for note in trace.warnings:
                if not args.json:
                    warning(note)
            if not args.json:
                _print(documents[-1], args)
    if args.json:
        print_json(documents[0] if len(documents) == 1 else _together(documents))
    nothing = not any(document["rows"][kind] for document in documents for kind in ("created", "changed"))
    if waiting and nothing:
        error(
            MemtuiError(
                f"The model gave no answer that can be used: {counted(waiting, 'text waits', 'texts wait')}, "
                "and nothing was kept.",
                fix="Capture again, or without --llm.",
            )
        )
        return 1
    return 0


def _replay(args: argparse.Namespace) -> int:
    """Print what each recording leaves, one JSON line each, in order."""
    from memtui.engine.capture import (
        read_prototypes,
        read_recordings,
        replay,
    )

    if args.sources:
        raise UsageError("--replay takes its file alone.", fix="Leave the conversation out.")
    path = Path(args.replay)
    config, prototypes = _settings(args), read_prototypes(path)
    for recording in read_recordings(path):
        print_json(replay(recording, config=config, prototypes=prototypes), compact=True, reveal=True)
        sys.stdout.flush()  # who checks a recording reads each line as it is ready
    return 0


def read_source(source: str, format: str) -> tuple[Conversation, ...]:
    """The conversations in a file, in standard input for -, or of the session with this id."""
    from memtui.engine.capture import (
        parse_conversations,
        read_conversations,
        read_session,
    )
    from memtui.engine.witness import find_sessions

    if source == "-":
        return parse_conversations(sys.stdin.buffer.read(), format, "standard input")
    if format in ("auto", "session") and not Path(source).exists():
        known = [file for file in find_sessions(os.environ, Path.cwd()) if file.id == source]
        if known:
            return (read_session(known[0]),)
    return read_conversations(Path(source), format)


_SHAPE = 'Give settings of the recipe: {"captureAssistant": true}.'


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    return read_config(args.config, shape=_SHAPE) or {}


def _request(args: argparse.Namespace, conversation: Conversation) -> CaptureRequest:
    from memtui.engine.capture import (
        CaptureRequest,
        capture_recipe,
    )

    recipe = args.recipe or "memtui"
    capture_recipe(recipe)
    agent = args.agent or conversation.agent or "main"
    return CaptureRequest(
        conversation.messages,
        recipe,
        _settings(args),
        agent,
        args.scope,
        f"agent:{agent}:{conversation.session}" if conversation.session else "",
    )


def _with_warnings(trace: CaptureTrace, conversation: Conversation) -> CaptureTrace:
    from dataclasses import replace

    return replace(trace, warnings=(*conversation.warnings, *trace.warnings))


class asking:  # noqa: N801 - read as a verb: with asking(...)
    """The language model that the options name, for a `with` block; None where they name none."""

    def __init__(
        self, args: argparse.Namespace, engine: Engine, recipe: str, *, texts: Sequence[Message] = ()
    ) -> None:
        self._settings = _chat_settings(args)
        if self._settings is not None and getattr(args, "dry_run", False) and not args.send:
            chars = sum(
                len(text.content if isinstance(text.content, str) else json.dumps(text.content))
                for text in texts
            )
            from memtui.engine.transfer import price_in_words

            warning(
                f"nothing was sent: {self._settings.model} at {urlsplit(self._settings.base_url).hostname} would get "
                f"{counted(len(texts), 'message')} with {chars:,} characters "
                f"({price_in_words(self._settings.price_of(chars))}); --send asks it"
            )
            self._settings = None
        self._engine, self._recipe = engine, recipe or "memtui"
        self._client: ChatClient | None = None

    def __enter__(self) -> Chat | None:
        if self._settings is None:
            return None
        from memtui.engine.capture import (
            ModelChat,
            capture_recipe,
        )
        from memtui.engine.transfer import (
            ChatClient,
            HourBudget,
        )

        place = self._engine.state_place
        budget = HourBudget(
            self._settings.calls_per_hour, None if place is None else place / "chat-calls.json"
        )
        self._client = ChatClient(self._settings, now=lambda: self._engine.now_ms, budget=budget)
        return ModelChat(self._client, capture_recipe(self._recipe).prompts)

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.__exit__()


def _chat_settings(args: argparse.Namespace) -> ChatSettings | None:
    from memtui.engine.transfer import (
        ChatSettings,
    )
    from memtui.paths import settings_file
    from memtui.settings import load_settings

    if args.llm is None:
        if args.llm_model or args.llm_key_env:
            raise UsageError("A model needs its service.", fix="Give --llm URL, too.")
        return None
    if args.llm:
        if not args.llm.startswith(("http://", "https://")):
            raise UsageError(
                f"{args.llm} is no address of a service.", fix="For example: --llm http://127.0.0.1:11434/v1."
            )
        if not args.llm_model:
            raise UsageError("A chat service needs a model.", fix="Give --llm-model, too.")
        key = os.environ.get(args.llm_key_env, "").strip() if args.llm_key_env else ""
        if args.llm_key_env and not key:
            raise UsageError(f"{args.llm_key_env} is not set.", fix="Set it, or name another variable.")
        return ChatSettings(args.llm, args.llm_model, key)
    found = load_settings(settings_file(), os.environ).chat(os.environ)
    if found is None:
        raise UsageError(
            "No language model is configured.", fix="Set chat.model and chat.base_url, or name one."
        )
    return found


def _together(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Several conversations of one export as one document, and each by itself."""
    first = documents[0]
    proofs = [document["proof"].get("proven") for document in documents]
    return {
        "schema": first["schema"],
        "recipe": first["recipe"],
        "texts": [text for document in documents for text in document["texts"]],
        "candidates": [candidate for document in documents for candidate in document["candidates"]],
        "rows": {
            kind: [row for document in documents for row in document["rows"][kind]]
            for kind in ("created", "changed")
        },
        "entry": next(
            (document["entry"] for document in reversed(documents) if document["entry"] is not None), None
        ),
        "entries": [document["entry"] for document in documents if document["entry"] is not None],
        "calls": [call for document in documents for call in document["calls"]],
        "warnings": list(dict.fromkeys(note for document in documents for note in document["warnings"])),
        "proof": {
            "proven": all(proofs) if None not in proofs else None,
            "why": f"{sum(map(bool, proofs))} of {counted(len(proofs), 'conversation')} "
            "came out the same when run again",
        },
    }


_MARKS = {"kept": "+", "known": "=", "deferred": "o", "dropped": ".", "used": "."}


def _print(document: dict[str, Any], args: argparse.Namespace) -> None:
    if args.explain:
        for text in document["texts"]:
            measured = "" if text["limit"] is None else f" {text['value']:g} of {text['limit']:g}"
            gate = f"  [{text['gate']}{measured}]" if text["gate"] else ""
            print_text(f"{_MARKS[text['fate']]} {text['verdict']:<12}  {_short(text['text'])}{gate}")
            if text["reason"]:
                print_text(f"    {text['reason']}")
        print_text("")
        for candidate in document["candidates"]:
            _print_candidate(candidate)
        print_text("")
    for row in document["rows"]["created"]:
        replaced = "" if row["active"] else " (replaced by a later one)"
        print_text(f"+ {row['id']} {row['scope']} {row['category']}: {_short(row['text'])}{replaced}")
    for row in document["rows"]["changed"]:
        print_text(f"~ {row['id']} {row['why']}: {_short(row['text'])}")
    made = len(document["rows"]["created"])
    told = counted(len(document["texts"]), "text")
    of = Counter(text["verdict"] for text in document["texts"])
    verdicts = (
        f"{of['kept']} kept, {of['rejected']} rejected, {counted(of['needs review'], 'needs', 'need')} review"
    )
    counts = f"{told}: {verdicts}; {made} new, {len(document['rows']['changed'])} changed"
    if args.dry_run:
        print_text(f"dry run: {counts}; nothing was written")
    elif document["entry"] is None:
        print_text(f"{counts}; nothing to write")
    else:
        print_text(f"{counts}; undo with: memtui undo {document['entry']}")
    for call in document["calls"]:
        tokens = "tokens not known" if call["tokens"] is None else f"{call['tokens']} tokens"
        if "error" in call:
            tokens = f"no answer in {counted(call['attempts'], 'try', 'tries')}"
        cost = "" if not call["cost"] else f", cost {call['cost']:.4g}"
        print_text(f"asked: {call['purpose']}, {tokens}, {duration(call['ms'])}{cost}")


def _print_candidate(candidate: dict[str, Any]) -> None:
    """A candidate with its decision, the reason, and the stored memory that it was compared with."""
    print_text(f"{candidate['decision']}  {candidate['category']}: {_short(candidate['abstract'])}")
    if candidate["reason"]:
        print_text(f"    {_short(candidate['reason'])}")
    for near in candidate["neighbours"][:1]:
        print_text(f"    near {near['score']:.3f} {near['id'][:8]}: {_short(near['text'])}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"


# ---------------------------------------------------------------------- why not


def _why_not(args: argparse.Namespace) -> int:
    if len(args.sources) != 3:
        raise UsageError(
            "why-not takes a text and a file.",
            fix="For example: memtui capture why-not 'prune on Mondays' chat.txt.",
        )
    from memtui.engine.capture import (
        Again,
        capture,
        place_of,
        why_not,
    )

    wanted, source = args.sources[1:]
    engine = open_for(args)
    failure: UsageError | None = None
    for conversation in read_source(source, args.format):
        request = _request(args, conversation)
        with asking(args, engine, args.recipe) as chat:
            trace = capture(request, engine.capture_context(chat))
        answers = None if chat is None else Again(trace.calls)

        def fresh(answers: Again | None = answers) -> CaptureContext:
            return engine.capture_context(answers if answers is None else Again(answers.calls))

        try:
            place = place_of(trace, wanted, request)
        except UsageError as unknown:
            failure = unknown
            continue
        verdict = why_not(place, trace, request, fresh)
        if args.json:
            print_json(verdict.as_json())
            return 0
        print_text(_short(verdict.text))
        print_text("kept" if verdict.kept else f"{verdict.verdict}: {verdict.gate}: {verdict.reason}")
        for rung in verdict.ladder:
            mark = {True: "+", False: "x", None: "."}[rung.passed]
            print_text(f"  {mark} {rung.gate:<16} {rung.sentence}")
        for remedy in verdict.remedies:
            sure = "kept in a replay" if remedy.confirmed else "not tried"
            before, after = (
                json.dumps(remedy.before, ensure_ascii=False),
                json.dumps(remedy.after, ensure_ascii=False),
            )
            print_text(f"  {remedy.setting}: {before} -> {after}  ({sure})")
        if not verdict.kept and not verdict.remedies:
            print_text("  no setting and no plainer wording keeps it")
        return 0
    raise failure or UsageError(
        "There is no conversation in it.",
        fix="Give a text, a session's JSONL, or an export of ChatGPT or Claude.",
    )
