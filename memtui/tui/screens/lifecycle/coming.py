"""The list of what is about to change: crossings by date, or the moves that are due now."""

from __future__ import annotations

from textual.content import Content

from memtui.engine import Board, CaseLoss, Crossing, TierMove, one_line
from memtui.tui.keys import Keymap
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, plural, score
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.screens.lifecycle.words import crossed, day, minute, span, step, until
from memtui.tui.theme.tokens import tier_style
from memtui.tui.widgets.rows import Row

WHEN = 5
MARK = 8
NUMBER = 6
DATED = 66
"""Wider lists have the date in the row; in others it stands below, for the row under the cursor."""
_COUNTED = {"stale": "stale", "sinks": "may sink", "rises": "may rise", "expires": "end"}
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
        rows += [_crossing(each, board, width, glyphs) for each in board.crossings]
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
    return Row((line.truncate(width),), f"{each.kind}:{each.id}")


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
    return Row((line.truncate(width),), f"move:{move.id}")


def row_words(state: LifecycleState, key: str) -> str:
    """The rule of the row under the cursor, with its numbers."""
    board = state.board
    kind, _, memory = key.partition(":")
    if board is None:
        return ""
    if kind == "loss":
        lost = next((each for each in state.losses or () if each.memory == memory), None)
        if lost is None:
            return ""
        why = lost_by(lost)
        return f"no longer recalled from {minute(lost.at_ms)} UTC" + (f": {why}" if why else "")
    if kind == "move":
        move = next((each for each in board.moves if each.id == memory), None)
        return "" if move is None else move.rule
    found = next((each for each in board.crossings if each.id == memory and each.kind == kind), None)
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
    parts = [plural(lost, "case")] if lost else []
    parts += [f"{full(count)} {_COUNTED[kind]}" for kind, count in board.counts.items() if count]
    return ", ".join(parts) or "nothing"
