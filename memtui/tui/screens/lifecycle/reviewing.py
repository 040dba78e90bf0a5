"""The review: the queue on one side, one memory with its reasons on the other."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from memtui.engine import Memory, Review, ReviewCard, one_line
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, plural, score
from memtui.tui.theme.tokens import scope_style, tier_style
from memtui.tui.widgets.rows import Row

OTHER = 600
"""Characters of a memory that a reason speaks of."""
FEW = 10
"""Fewer expected uses than this are worth a decimal."""
PRIORITY = 6
BAR = 5


def queue_rows(review: Review | None, width: int, glyphs: Glyphs) -> list[Row]:
    """Two lines a card: how pressing and what it says, then its first reasons."""
    if review is None:
        return [Row((Content.styled(" weighing every memory: how often used, how far trusted", "$dim"),))]
    if not review.cards:
        return [
            Row(
                (
                    Content.assemble(
                        (f" {glyphs.mark} ", "$ok"), "nothing waits: every memory is in good standing"
                    ),
                )
            )
        ]
    most = max(card.priority for card in review.cards) or 1.0
    return [Row(_card_lines(card, most, width, glyphs), f"card:{card.id}") for card in review.cards]


def _card_lines(card: ReviewCard, most: float, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    room = max(8, width - PRIORITY - BAR - 4)
    reasons = "; ".join(reason.sentence for reason in card.reasons)
    return (
        Content.assemble(
            " ",
            (right(f"{card.priority:.1f}", PRIORITY - 1), "bold $foreground"),
            " ",
            (padded_bar(card.priority / most, BAR, glyphs), "$stale"),
            " ",
            (f"{glyphs.tier(card.tier)} ", tier_style(card.tier)),
            (fit(card.title, room - 2, glyphs.ellipsis), "$foreground"),
        ).truncate(width),
        Content.styled(f"{'':{PRIORITY + BAR + 2}}{fit(one_line(reasons), room, glyphs.ellipsis)}", "$dim"),
    )


def card_rows(
    card: ReviewCard | None,
    memory: Memory | None,
    others: Sequence[Memory],
    now_ms: int,
    width: int,
    glyphs: Glyphs,
) -> list[Row]:
    """The memory in full, why it is here, the memories that this speaks of, what its priority is made of."""
    if card is None:
        return []
    room = max(12, width - 2)
    text = memory.text if memory is not None else card.title
    lines = [line for part in text[:8000].split("\n") for line in (Content(part).wrap(room) or [Content()])]
    lines.append(Content())
    for reason in card.reasons:
        lead = Content.assemble((f"{glyphs.warn} ", "bold $stale"), (reason.sentence, "$foreground"))
        lines += lead.wrap(room)
    for other in others:
        lines.append(Content())
        lines += Content.styled(f"{other.id[:8]}, created {ago(other.timestamp_ms, now_ms)}:", "$dim").wrap(
            room
        )
        lines += Content(one_line(other.text[:OTHER])).wrap(room)
    lines.append(Content())
    lines += Content.assemble(
        ("priority ", "$dim"),
        (f"{card.priority:.2f}", "bold"),
        (f" = {card.exposure:.2f} uses expected in 30 days x doubt {score(card.doubt)}", "$foreground"),
    ).wrap(room)
    doubts = " x ".join(f"(1 - {score(reason.doubt)})" for reason in card.reasons)
    lines += Content.styled(f"doubt {score(card.doubt)} = 1 - {doubts}", "$dim").wrap(room)
    if memory is not None:
        lines.append(Content())
        lines += _facts(memory, now_ms)
    return [Row((Content.assemble(" ", line.truncate(room)),)) for line in lines]


def _facts(memory: Memory, now_ms: int) -> list[Content]:
    facts: list[tuple[str, str, str]] = [
        ("tier", memory.tier or "-", tier_style(memory.tier)),
        ("scope", one_line(memory.scope or "(none)"), scope_style(memory.scope)),
        ("category", one_line(memory.memory_category or memory.category or "-"), "$foreground"),
        ("importance", score(memory.importance), "$foreground"),
        ("confidence", score(memory.confidence), "$foreground"),
        (
            "used",
            f"{plural(memory.access_count, 'time')}, last {ago(memory.last_accessed_ms, now_ms)}"
            if memory.access_count
            else "never",
            "$foreground",
        ),
        ("created", ago(memory.timestamp_ms, now_ms), "$foreground"),
        ("source", one_line(memory.source or "-"), "$foreground"),
        ("id", memory.id, "$dim"),
    ]
    return [Content.assemble((fit(name, 12), "$dim"), (value, style)) for name, value, style in facts]


def queue_words(review: Review | None) -> str:
    """What the queue holds, for its title."""
    if review is None:
        return ""
    at_stake = f"{review.at_stake:.0f}" if review.at_stake >= FEW else f"{review.at_stake:.1f}"
    return f"{at_stake} doubtful uses expected in 30 days"
