"""Who may read what, as rows: the matrix, one cell in words, what is odd. Pure."""

from __future__ import annotations

from textual.content import Content

from memtui.engine import one_line
from memtui.engine.access import REASONS
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.numbers import full, plural
from memtui.tui.screens.audit.painting import NAME_CELLS, Look, fact, line, scope_words
from memtui.tui.screens.audit.state import AuditState
from memtui.tui.widgets.row_list import Row

COLUMN_CELLS = 11


def matrix(state: AuditState, width: int, look: Look) -> list[Row]:
    """Agents down, scopes across, counts in cells: the neighbourhood of the cursor where not all fit."""
    if state.rights is None:
        return [line(" reading the rights", "$dim")]
    found = state.rights.matrix
    if not found.cells:
        return [line(f" {each.sentence}", "bold $danger") for each in found.findings] or [
            line(" no rows", "$dim")
        ]
    scopes = state.scopes
    fits = max(1, (width - NAME_CELLS - 2) // COLUMN_CELLS)
    first = max(0, min(state.column - fits // 2, len(scopes) - fits))
    shown = scopes[first : first + fits]
    head = Content.assemble(
        " " * (NAME_CELLS + 1),
        *[
            (
                right(crop(scope_words(scope), COLUMN_CELLS - 1), COLUMN_CELLS),
                "bold $primary" if first + at == state.column else "$heading",
            )
            for at, scope in enumerate(shown)
        ],
    )
    rows = [Row((head,))]
    odd = {(each.kind, each.subject) for each in found.findings}
    cells = {(cell.agent, cell.scope): cell for cell in found.cells}
    for agent in found.agents:
        parts: list[tuple[str, str]] = []
        for at, scope in enumerate(shown):
            cell = cells[agent.id, scope]
            text = full(cell.rows) if cell.read else "–"
            alarm = scope == f"agent:{agent.id}" and ("own-scope-unreadable", agent.id) in odd
            text += "!" if alarm else ""
            style = (
                "bold $foreground" if cell.write and cell.read else "$foreground" if cell.read else "$faint"
            )
            style = "bold $stale" if alarm else style
            here = first + at == state.column and agent.id == state.agent
            parts.append((right(f"[{text}]" if here else f"{text} ", COLUMN_CELLS), style))
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
    if len(scopes) > fits:
        rows.append(line(f" scopes {first + 1} to {first + len(shown)} of {len(scopes)}", "$dim"))
    return rows


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
        fact("rights", f"{can}, {'may write' if found.write else 'may not write'}", width),
        fact("why", f"{found.reason}: {REASONS[found.reason]}", width),
        fact("rows", f"{full(count.rows)}, {full(count.active)} active", width),
    ]
    if found.read:
        rows.append(fact("can get", f"{full(found.injectable)} of {full(count.rows)} by auto-recall", width))
    if count.secrets:
        rows.append(fact("holds", f"{plural(count.secrets, 'secret')}", width, "bold $stale"))
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


def findings(state: AuditState, width: int, look: Look) -> list[Row]:
    """What is odd in the rights."""
    if state.rights is None:
        return []
    rows = []
    for at, each in enumerate(state.rights.matrix.findings):
        serious = each.kind not in ("no-list-where-others-have", "writes-to-global")
        count = full(each.rows) if each.rows else ""
        rows.append(
            Row(
                (
                    Content.assemble(
                        (f" {look.glyphs.warn if serious else ' '} ", "bold $stale"),
                        (
                            fit(one_line(each.sentence), max(8, width - 11), look.glyphs.ellipsis),
                            "$foreground",
                        ),
                        (right(count, 7), "$dim"),
                    ),
                ),
                f"f{at}",
            )
        )
    return rows or [line(" nothing odd in the rights", "$dim")]
