"""Who may read what, as rows: the matrix, one cell in words, what is odd. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import counted, one_line
from memtui.engine.access import REASONS
from memtui.tui.paint.cells import crop, fit, flowing, folded, right
from memtui.tui.paint.numbers import full
from memtui.tui.screens.audit.state import AuditState, kind_of
from memtui.tui.screens.audit.view import EVIDENCE, NAME_CELLS, fact, line, moment, scope_words
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

if TYPE_CHECKING:
    from memtui.engine.access import Cell
    from memtui.engine.witness import GotIndex


COLUMN_CELLS = 11
LEAST_CELLS = 8

MOST_TURNS = 40
"""Turns of a cell that are listed one by one."""


def matrix(state: AuditState, width: int, look: Look) -> list[Row]:
    """Agents down, scopes across, counts in cells: the neighbourhood of the cursor where not all fit."""
    if state.rights is None:
        return [line(" reading the permissions", "$dim")]
    found = state.rights.matrix
    if not found.cells:
        return [line(f" {finding.sentence}", "bold $danger") for finding in found.findings] or [
            line(" no rows", "$dim")
        ]
    fits = max(1, (width - NAME_CELLS - 2) // COLUMN_CELLS)
    columns = _columns(state, fits)
    at_cursor = next((at for at, column in enumerate(columns) if state.column in column), 0)
    first = max(0, min(at_cursor - fits // 2, len(columns) - fits))
    shown = columns[first : first + fits]
    heads = [_head(state, each) for each in shown]
    longest = max(map(cell_len, heads)) + 1
    cells = max(
        COLUMN_CELLS, min(longest, (width - NAME_CELLS - 2) // len(shown))
    )  # names whole where there is room
    widths = _widths(heads, cells, width - NAME_CELLS - 2)
    head = Content.assemble(
        " " * (NAME_CELLS + 1),
        *[
            (
                right(crop(name, wide - 1), wide),
                "bold $primary" if state.column in column else "$heading",
            )
            for name, column, wide in zip(heads, shown, widths, strict=True)
        ],
    )
    rows = [Row((head,))]
    odd = {(finding.kind, finding.subject) for finding in found.findings}
    by_place = {(cell.agent, cell.scope): cell for cell in found.cells}
    for agent in found.agents:
        parts: list[tuple[str, str]] = []
        for column, wide in zip(shown, widths, strict=True):
            scopes = [state.scopes[at] for at in column]
            of = [by_place[agent.id, scope] for scope in scopes]
            alarm = f"agent:{agent.id}" in scopes and ("own-scope-unreadable", agent.id) in odd
            text = _cell_text(of) + ("!" if alarm else "")
            read = any(each.read for each in of)
            style = "$foreground" if read else "$dim"
            if read and all(each.write for each in of if each.read):
                style = "bold $foreground"
            style = "bold $stale" if alarm else style
            here = state.column in column and agent.id == state.agent
            parts.append((right(f"[{text}]" if here else f"{text} ", wide), style))
        name = f"{agent.id}" + ("" if agent.exists or agent.pseudo else " ?")
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ",
                        (
                            fit(one_line(name), NAME_CELLS, look.glyphs.ellipsis),
                            "$dim" if agent.pseudo else "$foreground",
                        ),
                        *parts,
                    ),
                ),
                agent.id,
            )
        )
    if len(columns) > fits or len(columns) < len(state.scopes):
        seen = f" columns {first + 1} to {first + len(shown)} of {len(columns)}"
        rows.append(line(f"{seen}, {counted(len(state.scopes), 'scope')}", "$dim"))
    return rows


def _columns(state: AuditState, fits: int) -> list[tuple[int, ...]]:
    """The places of the scopes in each column: one each while they fit, else several of one kind folded into one.

    The kind under the cursor is never folded.
    """
    places = range(len(state.scopes))
    if len(places) <= fits:
        return [(at,) for at in places]
    kinds: dict[str, list[int]] = {}
    for at in places:
        kinds.setdefault(kind_of(state.scopes[at]), []).append(at)
    out: list[tuple[int, ...]] = []
    for of_kind in kinds.values():
        out += [(at,) for at in of_kind] if state.column in of_kind else [tuple(of_kind)]
    return out


def _widths(heads: Sequence[str], cells: int, room: int) -> list[int]:
    """The cells of each column: `cells`, and more for a longer heading, taken from columns with a short one."""
    widths = [max(cells, cell_len(name) + 1) for name in heads]
    over = sum(widths) - room
    for at, name in enumerate(heads):
        spare = min(max(0, over), widths[at] - max(LEAST_CELLS, cell_len(name) + 1))
        widths[at] -= max(0, spare)
        over -= max(0, spare)
    return widths if over <= 0 else [cells] * len(heads)


def _head(state: AuditState, column: tuple[int, ...]) -> str:
    scope = state.scopes[column[0]]
    if len(column) == 1:
        words = scope_words(scope)
        return words if len(words) < COLUMN_CELLS or ":" not in words else ":" + words.partition(":")[2]
    return f"{kind_of(scope) or 'no name'} ▸{len(column)}"


def _cell_text(of: list[Cell]) -> str:
    """The memories of a cell; of a folded one all of them, or how many of its scopes are read."""
    read = [each for each in of if each.read]
    if not read:
        return "–"
    return full(sum(each.rows for each in read)) if len(read) == len(of) else f"{len(read)} of {len(of)}"


def cell(state: AuditState, width: int, look: Look) -> list[Row]:
    """The cell under the cursor in words."""
    if state.rights is None or not state.scopes:
        return []
    scope = state.scopes[min(state.column, len(state.scopes) - 1)]
    found = state.rights.matrix.cell(state.agent, scope)
    if found is None:
        return [line(" no cell under the cursor", "$dim")]
    count = state.rights.matrix.counts[scope]
    can = "reads it" if found.read else "does not read it"
    rows = [
        line(f" {one_line(found.agent)}, {scope_words(scope)}", "bold $foreground"),
        fact("permissions", f"{can}, {'may write' if found.write else 'may not write'}", width),
        fact("why", f"{found.reason}: {REASONS[found.reason]}", width),
    ]
    from memtui.engine.configuration import rule_place

    config = Path(state.rights.source) if state.rights.source else None
    if where := rule_place(state.places, config, found.agent, scope, found.reason):
        rows.append(fact("", where, width, "$dim"))
        place = state.places.get(found.agent)
        if place is not None and place.file.name in where:
            rows.append(fact("", place.words, width, "$dim", most=2))
    rows.append(fact("rows", f"{full(count.rows)}, {full(count.active)} active", width))
    if found.read:
        rows.append(fact("can get", f"{full(found.injectable)} of {full(count.rows)} by auto-recall", width))
    if state.got is not None and found.agent not in state.pseudo:
        rows += _did_get(state.got, found.agent, scope, width, look)
    if count.secrets:
        rows.append(fact("holds", f"{counted(count.secrets, 'secret')}", width, "bold $stale"))
    others = [
        each.agent
        for each in state.rights.matrix.cells
        if each.scope == scope and each.read and each.agent != found.agent
    ]
    rows.append(
        fact(
            "also",
            f"{', '.join(map(one_line, others)) or 'nobody else'} read{'s' if len(others) == 1 else ''} it",
            width,
        )
    )
    return rows


def _did_get(got: GotIndex, agent: str, scope: str | None, width: int, look: Look) -> list[Row]:
    """The turns in which the agent got memories of the scope, as far as there is evidence; the latest first."""
    found = got.by_scope.get((agent, scope), [])
    if not found:
        return [fact("did get", "no turn is known; what was not recorded is not here", width)]
    turns = Counter((turn.time_ms, turn.session, turn.n, turn.name, turn.evidence) for turn in found)
    rows = [
        fact("did get", f"{counted(len(found), 'line')} in {counted(len(turns), 'turn')}, minimum", width)
    ]
    for (time_ms, session, n, name, evidence), lines in sorted(turns.items(), reverse=True)[:MOST_TURNS]:
        more = f", {counted(lines, 'line')}" if lines > 1 else ""
        told = f"{moment(time_ms, look)}  {session[:8]} {name}  {EVIDENCE[evidence][1]}{more}"
        room = max(12, width - NAME_CELLS - 2)
        lines_of = [
            Content.assemble(" " * (NAME_CELLS + 1), (part, "$foreground"))
            for part in folded(told, (room, room))
        ]
        rows.append(Row(tuple(lines_of), f"{session}#{n}"))
    if len(turns) > MOST_TURNS:
        rows.append(fact("", f"and {counted(len(turns) - MOST_TURNS, 'older turn')}", width, "$dim"))
    return rows


def findings(state: AuditState, width: int, look: Look) -> list[Row]:
    """What is odd in the rights."""
    if state.rights is None:
        return []
    rows = []
    for at, finding in enumerate(state.rights.matrix.findings):
        serious = finding.kind not in ("no-list-where-others-have", "writes-to-global")
        count = full(finding.rows) if finding.rows else ""
        rows.append(
            Row(
                flowing(
                    Content.styled(f" {look.glyphs.warn if serious else ' '} ", "bold $stale"),
                    one_line(finding.sentence),
                    Content.styled(right(count, 7), "$dim"),
                    width - 1,
                    look.glyphs.ellipsis,
                ),
                f"f{at}",
            )
        )
    return rows or [line(" no problem in the permissions", "$dim")]
