"""The numbers panel: each number of the chosen memory with its formula, the verdict, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import Memory, counted, mask, one_line
from memtui.engine.lifecycle import Board, CaseLoss, Crossing, MemoryLife, Review, ReviewCard, TierMove
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import crop, fit, folded, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, full, score
from memtui.tui.screens.lifecycle.board_view import crossed, day, minute, outlook, span, step, until
from memtui.tui.screens.lifecycle.curves_view import TYPICAL
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.theme.tokens import scope_style, tier_style
from memtui.tui.widgets.row_list import Row

SYMBOL = 2

NAME = 10

VALUE = 7


def number_rows(life: MemoryLife | None, width: int, remedy: str, glyphs: Glyphs) -> list[Row]:
    """Formulas, then the verdict of the tier manager, then dates, then remedies as rows to take."""
    if life is None:
        return [Row((Content.styled(" choose a memory in the list", "$dim"),))]
    room = max(12, width - 2)
    who = Content.assemble(
        (f"{glyphs.tier(life.tier)} ", tier_style(life.tier)),
        (crop(one_line(life.title) or life.id[:8] or TYPICAL, room - 2, glyphs.ellipsis), "bold"),
    )
    lines = [who.truncate(room, ellipsis=True)]
    for line in life.lines:
        lines += _line(line.symbol, line.name, line.value, line.formula, line.note, room)
    lines.append(Content())
    verdict = Content.assemble(
        ("tier ", "$dim"),
        (life.tier, tier_style(life.tier)),
        *((f" {glyphs.forth} ", "$dim"), (life.next_tier, tier_style(life.next_tier)))
        if life.next_tier != life.tier
        else (),
        (f"  {life.verdict}", "$foreground"),
    )
    lines += verdict.wrap(room)
    for crossing in life.crossings:
        what = crossed(crossing.kind, crossing.to, crossing.tier, life.mover)
        when = Content.assemble((f"{day(crossing.at_ms)}  ", "$stale"), (what, "$foreground"))
        first, *rest = when.wrap(room)
        lines += [first, *(Content.assemble("  ", line) for line in rest)]
    rows = [Row((Content.assemble(" ", line),)) for line in lines]
    if not life.id:
        return rows
    if life.remedies:
        rows.append(Row((Content(),)))
    rows += [_remedy(life, each.name, remedy, width, glyphs) for each in life.remedies]
    return rows


def _line(symbol: str, name: str, value: float, formula: str, note: str, room: int) -> list[Content]:
    shown = f"{value:.1f}" if symbol in ("t", "H") else score(value)
    lead = Content.assemble(
        (fit(symbol, SYMBOL), "bold $key"), (fit(name, NAME), "$dim"), (right(shown, VALUE), "bold"), "  "
    )
    first = Content.assemble(lead, (f"= {formula}", "$foreground"))
    indent = " " * lead.cell_length
    if first.cell_length > room:
        first = Content.assemble(lead, (note, "$dim")).truncate(room, ellipsis=True)
        return [first, *(Content.assemble("    ", line) for line in Content(f"= {formula}").wrap(room - 4))]
    if not note:
        return [first]
    if first.cell_length + len(note) + 3 <= room:
        return [Content.assemble(first, "   ", (note, "$dim"))]
    indent = f"{indent}  " if len(indent) + 2 + len(note) <= room else "    "
    return [first, *(Content.assemble(indent, line) for line in Content.styled(note, "$dim").wrap(room - 4))]


def _remedy(life: MemoryLife, name: str, chosen: str, width: int, glyphs: Glyphs) -> Row:
    remedy = next(remedy for remedy in life.remedies if remedy.name == name)
    shown = [(field, value) for field, value in remedy.changes if not field.endswith("_at")]
    what = ", ".join(f"{field.replace('_', ' ')} {_word(value)}" for field, value in shown)
    then = outlook(remedy, life.horizon_days)
    line = Content.assemble(
        " ",
        (f"{glyphs.mark if name == chosen else ' '} ", "$delta-up"),
        (fit(remedy.title, 18), "$foreground"),
        (fit(then, 24), "$delta-up"),
        (what, "$dim"),
    )
    return Row((line.truncate(width, ellipsis=True),), f"remedy:{name}")


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


# The review: the queue on one side, one memory with its reasons on the other.

OTHER = 600
"""Characters of a memory that a reason speaks of."""

FEW = 10
"""Fewer expected uses than this are worth a decimal."""

PRIORITY = 6

GAP = 3
"""Cells between the end of a text and its reasons in one line."""

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
    reasons = one_line("; ".join(reason.sentence for reason in card.reasons))
    said, rest = [card.title], ""
    free = room + 1 - cell_len(reasons) - GAP
    if cell_len(card.title) >= room and free > GAP:  # the text goes on where its reasons leave room
        said = folded(card.title, (room - 1, free), glyphs.ellipsis)
        rest = said[1] + " " * (free + GAP - cell_len(said[1]))
    return (
        Content.assemble(
            " ",
            (right(f"{card.priority:.1f}", PRIORITY - 1), "bold $foreground"),
            " ",
            (padded_bar(card.priority / most, BAR, glyphs), "$stale"),
            " ",
            (f"{glyphs.tier(card.tier)} ", tier_style(card.tier)),
            (fit(said[0], room - 1, glyphs.ellipsis), "$foreground"),
        ).truncate(width, ellipsis=True),
        Content.assemble(
            " " * (PRIORITY + BAR + 2),
            (rest, "$foreground"),
            (fit(reasons, max(0, room + 1 - cell_len(rest)), glyphs.ellipsis), "$dim"),
        ),
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
    text = mask(memory.text)[0] if memory is not None else card.title
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
        lines += Content(one_line(other.text)[:OTHER]).wrap(room)
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
    return [Row((Content.assemble(" ", line.truncate(room, ellipsis=True)),)) for line in lines]


def _facts(memory: Memory, now_ms: int) -> list[Content]:
    facts: list[tuple[str, str, str]] = [
        ("tier", memory.tier or "-", tier_style(memory.tier)),
        ("scope", one_line(memory.scope or "(none)"), scope_style(memory.scope)),
        ("category", one_line(memory.memory_category or memory.category or "-"), "$foreground"),
        ("importance", score(memory.importance), "$foreground"),
        ("confidence", score(memory.confidence), "$foreground"),
        (
            "used",
            f"{counted(memory.access_count, 'time')}, last {ago(memory.last_accessed_ms, now_ms)}"
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


# The list of what is about to change: crossings by date, or the moves that are due now.

WHEN = 5

MARK = 8

NUMBER = 6

DATED = 66
"""Wider lists have the date in the row; in others it stands below, for the row under the cursor."""

_COUNTED = {"stale": "stale", "sinks": "may drop a tier", "rises": "may rise a tier", "expires": "expire"}

_SHAPES = {"stale": "$stale", "rises": "$delta-up", "sinks": "$delta-down", "expires": "$danger"}


def coming_rows(state: LifecycleState, width: int, height: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """The rows of the present view, what cases lose on top."""
    board = state.board
    if board is None:
        return []
    rows = [_loss(loss, board, width, glyphs) for loss in state.losses or ()]
    if state.view == "plan":
        rows += [_move(move, board, width, glyphs) for move in board.moves]
        more = board.promotions + board.demotions - len(board.moves)
    else:
        rows += [_crossing(crossing, board, width, glyphs) for crossing in board.crossings]
        more = sum(board.counts.values()) - len(board.crossings)
    if more > 0:
        rows.append(Row((Content.styled(f" and {full(more)} more", "$dim"),)))
    if not rows:
        rows = [Row((line,)) for line in _nothing(state, board, keys)]
    return rows


def _nothing(state: LifecycleState, board: Board, keys: Keymap) -> list[Content]:
    if state.view == "plan":
        return [Content.styled(" no memory would change its tier now", "$dim")]
    ahead = span(board.ask.horizon_days)
    return [
        Content.styled(f" nothing crosses a line within {ahead}: no staling, no tier, no expiry", "$dim"),
        Content.styled(f" {keys.cap('lifecycle.longer')} looks further ahead", "$dim"),
    ]


def _loss(loss: CaseLoss, board: Board, width: int, glyphs: Glyphs) -> Row:
    """Two lines: the question, and what it loses on which day."""
    room = max(4, width - WHEN - MARK - 5)
    question = Content.assemble(
        " ",
        (right(until(loss.at_ms, board.now_ms), WHEN), "bold $danger"),
        " ",
        (fit(f"{glyphs.warn} case", MARK + 2), "bold $danger"),
        (crop(one_line(loss.query), room, glyphs.ellipsis), "$foreground"),
    )
    when = f" loses on {day(loss.at_ms)}: "
    title = one_line(loss.title) or loss.memory[:8]
    answer = Content.assemble(
        " " * (WHEN + MARK + 3),
        (when, "$danger"),
        (crop(title, max(4, room - len(when)), glyphs.ellipsis), "$dim"),
    )
    lines = [question, answer]
    if why := lost_by(loss):
        lines.append(Content.styled(" " * (WHEN + MARK + 4) + crop(why, room, glyphs.ellipsis), "$dim"))
    return Row(tuple(lines), f"loss:{loss.memory}")


def lost_by(loss: CaseLoss) -> str:
    """What a case loses a memory by: the memory that overtakes it, or the gate with its number and limit."""
    cause = loss.cause
    if cause is None:
        return ""
    if cause.overtaken_by:
        return f"overtaken by {one_line(cause.overtaker) or cause.overtaken_by[:8]}"
    if cause.gate == "expired":
        return "it ends by its own date"
    below = f" {score(cause.value)} < {score(cause.limit)}" if cause.value is not None and cause.limit else ""
    return f"stopped by {one_line(cause.gate).replace('_', ' ')}{below}"


def _crossing(each: Crossing, board: Board, width: int, glyphs: Glyphs) -> Row:
    style = _SHAPES[each.kind]
    mark = {"stale": glyphs.down, "rises": glyphs.up, "sinks": glyphs.down, "expires": glyphs.cross}[
        each.kind
    ]
    if each.tier != each.to:
        what = Content.assemble(*step(each.tier, each.to, glyphs))
    else:
        word = {"stale": "stale", "expires": "ends"}.get(each.kind, "")
        what = Content.assemble((f"{glyphs.tier(each.tier)} ", tier_style(each.tier)), (word, style))
    tail = Content.assemble(
        (right(score(each.composite), NUMBER), "$dim"),
        (right(day(each.at_ms), 13), "$dim") if width >= DATED else "",
        " ",
    )
    title = one_line(board.titles.get(each.id, "")) or each.id[:8]
    room = width - 1 - WHEN - 1 - 2 - MARK - tail.cell_length
    line = Content.assemble(
        " ",
        (right(until(each.at_ms, board.now_ms), WHEN), "$foreground"),
        " ",
        (f"{mark} ", style),
        what.extend_right(max(0, MARK - what.cell_length)),
        (fit(title, max(4, room), glyphs.ellipsis), "$foreground"),
        tail,
    )
    return Row((line.truncate(width, ellipsis=True),), f"{each.kind}:{each.id}")


def _move(move: TierMove, board: Board, width: int, glyphs: Glyphs) -> Row:
    style = "$delta-up" if move.rises else "$delta-down"
    why = f"{move.uses} uses" if move.rises else f"{move.age_days:.0f} d"
    tail = Content.assemble((right(score(move.composite), NUMBER), "$dim"), (right(why, 9), "$dim"), " ")
    title = one_line(board.titles.get(move.id, "")) or move.id[:8]
    held = f"{move.held}: " if move.held else ""
    room = width - 1 - 2 - 4 - tail.cell_length
    line = Content.assemble(
        " ",
        (f"{glyphs.up if move.rises else glyphs.down} ", "$dim" if move.held else style),
        *step(move.before, move.after, glyphs),
        " ",
        (fit(held + title, max(4, room), glyphs.ellipsis), "$dim" if move.held else "$foreground"),
        tail,
    )
    return Row((line.truncate(width, ellipsis=True),), f"move:{move.id}")


def row_words(state: LifecycleState, key: str) -> str:
    """The rule of the row under the cursor, with its numbers."""
    board = state.board
    kind, _, memory = key.partition(":")
    if board is None:
        return ""
    if kind == "loss":
        lost = next((loss for loss in state.losses or () if loss.memory == memory), None)
        if lost is None:
            return ""
        why = lost_by(lost)
        return f"no longer recalled from {minute(lost.at_ms)} UTC" + (f": {why}" if why else "")
    if kind == "move":
        move = next((move for move in board.moves if move.id == memory), None)
        return "" if move is None else move.rule
    found = next(
        (crossing for crossing in board.crossings if crossing.id == memory and crossing.kind == kind), None
    )
    if found is None:
        return ""
    return f"{day(found.at_ms)}: {crossed(found.kind, found.to, found.tier, board.mover)}"


def listed(state: LifecycleState) -> str:
    """How many rows the list has, in words."""
    board = state.board
    if board is None:
        return ""
    rows = board.moves if state.view == "plan" else board.crossings
    count = len(rows) + len(state.losses or ())
    return f"{full(count)} listed" if count else ""


def summary(state: LifecycleState) -> str:
    """What the list holds, for its title."""
    board = state.board
    if board is None:
        return ""
    if state.view == "plan":
        held = f", {full(board.held)} held" if board.held else ""
        return f"{full(board.promotions)} up, {full(board.demotions)} down{held}"
    lost = len(state.losses or ())
    parts = [counted(lost, "case")] if lost else []
    parts += [f"{full(count)} {_COUNTED[kind]}" for kind, count in board.counts.items() if count]
    return ", ".join(parts) or "nothing"
