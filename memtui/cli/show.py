"""`memtui show`: one memory with all its fields."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from memtui.cli.open_store import open_for
from memtui.cli.output import print_json, print_text
from memtui.engine import Memory, counted, dump_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui show`."""
    parser.add_argument("id", metavar="ID", help="id of the memory, or its first 8 or more characters")
    parser.add_argument(
        "--reveal", action="store_true", help="secrets as they are stored, instead of [REDACTED]"
    )


def run(args: argparse.Namespace) -> int:
    """Show."""
    engine = open_for(args)
    memory = engine.get(args.id)
    if args.json:
        print_json(memory.as_json(), reveal=args.reveal)
    else:
        print_text(render(memory), reveal=args.reveal or args.show_secrets)
    return 0


def moment(ms: float | None) -> str:
    """A time in UTC, `-` where there is none."""
    if not ms:
        return "-"
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return "a time beyond the calendar"


def render(memory: Memory) -> str:
    """The memory for a person at a terminal."""
    fields = (
        ("id", memory.id),
        ("scope", memory.scope),
        (
            "category",
            f"{memory.category} ({memory.memory_category})" if memory.memory_category else memory.category,
        ),
        ("tier", memory.tier),
        ("state", f"{memory.state}, {memory.layer}" if memory.layer else memory.state),
        ("importance", memory.importance),
        ("confidence", memory.confidence),
        ("created", moment(memory.timestamp_ms)),
        ("last used", _last_used(memory)),
        ("used", None if memory.access_count is None else f"{counted(memory.access_count, 'time')}"),
        ("source", memory.source),
        (
            "valid",
            f"{moment(memory.valid_from_ms)} to {moment(memory.valid_until_ms)}"
            if memory.valid_until_ms
            else None,
        ),
        ("invalidated", moment(memory.invalidated_at_ms) if memory.invalidated_at_ms else None),
        ("replaces", memory.supersedes),
        ("replaced by", memory.superseded_by),
        ("fact key", memory.fact_key),
        ("now", _standing(memory)),
        ("dialect", memory.dialect),
    )
    lines = [memory.text, ""]
    lines += [f"{name:<14} {value}" for name, value in fields if value not in (None, "")]
    if memory.extra:
        lines += ["", "other columns"] + [f"  {key:<20} {value}" for key, value in memory.extra.items()]
    if memory.metadata_values:
        lines += ["", "metadata"]
        lines += [
            f"  {key:<24} {dump_json(value, ensure_ascii=False)}"
            for key, value in memory.metadata_values.items()
        ]
    if not memory.metadata_valid:
        lines += ["", f"! the metadata is not a JSON object: {(memory.metadata or '')[:200]}"]
    return "\n".join(lines)


def _standing(memory: Memory) -> str | None:
    """Whether the memory counts now; None where its program knows no such thing."""
    if memory.state is None:
        return None
    words = {"not active": not memory.active, "expired": memory.expired, "suppressed": memory.suppressed}
    return ", ".join(word for word, on in words.items() if on) or "active"


def _last_used(memory: Memory) -> str | None:
    if memory.access_count is None:
        return None
    return moment(memory.last_used_ms) if memory.last_used_ms else "never"
