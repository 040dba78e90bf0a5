"""The plan of an import, to be looked at: groups and what is in them, the ledger, scopes, cost, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from memtui.engine import MemtuiError, counted, one_line, time_span, word_diff
from memtui.engine.transfer import MEANINGS, SWITCHABLE, Group
from memtui.tui.dialogs.answer_effect_view import effect_lines
from memtui.tui.paint.bars import bar
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, score
from memtui.tui.screens.transfer.import_state import (
    SHEETS,
    ImportState,
    PlanPage,
    counts,
    shown_groups,
    views,
)
from memtui.tui.theme.tokens import scope_style
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import fact_row, heading_row, ledger_rows, text_rows, warning_rows

if TYPE_CHECKING:
    from memtui.engine.changes import RecallEffect

NAMES: dict[str, str] = {
    "new": "new",
    "same_id": "same id",
    "exact": "exact copy",
    "near": "near copy",
    "conflict": "conflict",
    "short": "too short",
    "noise": "noise",
    "secret": "secret",
    "invalid": "invalid",
    "answers": "answers",
    "ledger": "what is lost",
    "left": "left out",
    "scopes": "scopes",
    "cost": "vectors",
    "notes": "notes",
}

SIGNS: dict[str, str] = {"new": "+", "same_id": "#", "exact": "=", "near": "~", "conflict": "!"}

STYLES: dict[str, str] = {"new": "$diff-add", "conflict": "$conflict", "near": "$match"}

CHOICES = {"keep": "ours", "take": "theirs", "both": "both", None: "?"}


def group_rows(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    """Each group with its count, its share and whether its rule is on; then the other views."""
    found = counts(state)
    most = max(found.values(), default=1) or 1
    strip = max(0, width - 29)
    rows = []
    for group in shown_groups(state):
        off = group in state.request.rules_off
        count = found.get(group, 0)
        rule = "off" if off else "on" if group in SWITCHABLE else ""
        line = Content.assemble(
            " ",
            (SIGNS.get(group, glyphs.cross), f"bold {STYLES.get(group, '$stale' if count else '$dim')}"),
            " ",
            (fit(NAMES[group], 11), "$dim" if off or not count else "$foreground"),
            (right("off" if off and not count else full(count), 8), "$foreground" if count else "$dim"),
            " ",
            (bar(count / most, strip, glyphs).ljust(strip), f"{STYLES.get(group, '$bar-mid')} 70%"),
            (right(rule, 4), "$dim"),
        )
        rows.append(Row((line,), group))
    for name in SHEETS:
        line = Content.assemble(
            "   ",
            (fit(NAMES[name], 13), "$foreground"),
            (crop(_said(state, name), max(4, width - 18), glyphs.ellipsis), "$dim"),
        )
        rows.append(Row((line,), name))
    return rows


def _said(state: ImportState, name: str) -> str:
    plan = state.plan
    if plan is None:
        return ""
    if name == "answers":
        return answers_said(state.effect)
    if name == "ledger":
        return counted(len(state.losses), "line") if state.losses else "nothing"
    if name == "left":
        return counted(sum(plan.draft.reasons.values()), "part")
    if name == "scopes":
        return counted(len(plan.scopes), "scope")
    if name == "cost":
        return cost_words(state)
    return counted(len(notes(state)), "note")


def answers_said(effect: RecallEffect | MemtuiError | None) -> str:
    """How many answers change by the import, in a few words."""
    if effect is None:
        return "asking"
    if isinstance(effect, MemtuiError):
        return "not known"
    if not effect.asked:
        return "nothing to ask"
    return (
        f"{full(len(effect.changed))} of {full(effect.asked)} change{'s' if len(effect.changed) == 1 else ''}"
    )


def _answers(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    """What the agent would then read: the answers that change, before and now."""
    if state.effect is None:
        return text_rows("Asking the cases and the last questions, with the import in a copy.", width, "$dim")
    return [Row((line,)) for line in effect_lines(state.effect, width, glyphs)]


def cost_words(state: ImportState) -> str:
    """Texts to embed, with what, and how long it takes."""
    plan, cost = state.plan, state.cost
    if plan is None:
        return ""
    rows = state.bare
    if not rows or cost is None:
        return "nothing to embed"
    if plan.request.without_embedding:
        return f"{full(rows)} to embed later"
    if cost.problem:
        return f"{full(rows)} without a vector"
    if plan.vectors is not None:
        return f"{full(rows)} ready"
    return (
        f"{full(rows)} to embed, {'not measured' if cost.seconds is None else '~' + time_span(cost.seconds)}"
    )


def notes(state: ImportState) -> list[str]:
    """Everything that the plan and the source have to say."""
    plan = state.plan
    if plan is None:
        return []
    return [*plan.warnings, *plan.draft.remarks]


def strip_line(state: ImportState, width: int, glyphs: Glyphs) -> Content:
    """The groups in one line, the one that is shown in brackets and always in sight; a click shows another."""
    found = counts(state)
    parts: list[Content] = []
    at = 0
    for name in views(state):
        if name not in SHEETS:
            text = f"{SIGNS.get(name, glyphs.cross)} {full(found.get(group_of(name), 0))} {NAMES[name]}"
        else:
            text = NAMES[name]
        here = name == state.view
        at = len(parts) if here else at
        part = Content.styled(f"[{text}]" if here else text, "bold $primary" if here else "$dim")
        parts.append(part.stylize(Style.from_meta({"@click": f"screen.view('{name}')"})))
    first = 0
    while first < at and sum(part.cell_length + 2 for part in parts[first : at + 1]) > width - 4:
        first += 1
    lead = f" {glyphs.back} " if first else " "
    return Content.assemble((lead, "$dim"), Content("  ").join(parts[first:])).truncate(
        max(1, width - 1), ellipsis=True
    )


# ---------------------------------------------------------------------- the main panel


def main_rows(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    """What the present view lists."""
    plan, view = state.plan, state.view
    if plan is None:
        return []
    if view == "answers":
        return _answers(state, width, glyphs)
    if view == "ledger":
        return ledger_rows(state.losses, width, glyphs)
    if view == "left":
        return _left(state, width, glyphs)
    if view == "scopes":
        return _scopes(state, width, glyphs)
    if view == "cost":
        return _cost(state, width, glyphs)
    if view == "notes":
        found = [row for note in notes(state) for row in warning_rows(note, width, glyphs)]
        return found or text_rows("Nothing in particular.", width, "$dim")
    page = state.page
    if page is None or page.group != view:
        return text_rows("reading", width, "$dim")
    if not page.items:
        off = view in state.request.rules_off
        said = "The rule is off: what it would hold back is new." if off else "No record is in this group."
        return text_rows(said if view != "invalid" else _invalid(state), width, "$dim")
    return _items(page, view, width, glyphs)


def _invalid(state: ImportState) -> str:
    parts = sum(state.plan.draft.reasons.values()) if state.plan is not None else 0
    return f"{counted(parts, 'part')} of the source became no record: “left out” has them with their reasons."


def _items(page: PlanPage, view: str, width: int, glyphs: Glyphs) -> list[Row]:
    conflict = view == "conflict"
    matched = view in ("conflict", "near", "exact", "same_id")
    value = 28 if width >= 120 else 14 if width >= 76 else 0
    tail = (
        (2 * value + 8)
        if conflict
        else (24 if width >= (60 if matched else 100) else 18 if width >= 60 else 0)
    )
    room = max(10, width - tail - 2)
    names = {"conflict": f"{fit('here', value)}{fit('file', value)}  choice", "near": "cosine"}
    head = fit(" what" if conflict else " text", room + 2) + names.get(
        view, ("the same as" if matched else "scope") if tail else ""
    )
    rows = [Row((Content.styled(crop(head, width, glyphs.ellipsis), "$dim"),))]
    for item in page.items:
        out = item.left_out
        line = Content.assemble(
            (glyphs.cross if out else " ", "bold $stale"),
            (
                fit(
                    one_line(item.text) if not conflict or item.match is None else one_line(item.match.text),
                    room,
                    glyphs.ellipsis,
                ),
                "$dim" if out else "$foreground",
            ),
            " ",
        )
        if conflict:
            here, theirs = differing(item.match.text if item.match else "", item.text)
            choice = CHOICES[item.choice]
            line = Content.assemble(
                line,
                (fit(here, value, glyphs.ellipsis), "$diff-del"),
                (fit(theirs, value, glyphs.ellipsis), "$diff-add"),
                (f"  {choice}", "bold $conflict" if item.choice is None else "$ok"),
            )
        elif tail and matched and item.match is not None:
            cosine = f"{score(item.match.cosine)}  " if item.match.cosine else ""
            which = one_line(item.match.where) or one_line(item.match.id)[:8]
            line = Content.assemble(line, (crop(f"{cosine}{which}", tail, glyphs.ellipsis), "$dim"))
        elif tail and out:
            line = Content.assemble(line, ("left out", "$stale"))
        elif tail:
            flags = f"{glyphs.warn} {item.flags[0]}" if item.flags else one_line(item.scope or "-")
            style = "$stale" if item.flags else scope_style(item.scope) if item.scope else "$dim"
            line = Content.assemble(line, (crop(flags, tail, glyphs.ellipsis), style))
        rows.append(Row((line,), f"item:{item.number}"))
    return rows


def differing(here: str, theirs: str) -> tuple[str, str]:
    """The words that stand on one side only, of each side."""
    parts = word_diff(one_line(here), one_line(theirs))
    gone = " ".join(text.strip() for kind, text in parts if kind == "gone" and text.strip())
    new = " ".join(text.strip() for kind, text in parts if kind == "new" and text.strip())
    return gone, new


def _left(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    plan = state.plan
    assert plan is not None
    if not plan.draft.reasons:
        return text_rows("Everything in the source became a record.", width, "$ok")
    rows = []
    for (why, broken), count in plan.draft.reasons.items():
        mark = (f" {glyphs.warn} ", "bold $danger") if broken else ("   ", "$dim")
        rows.append(
            Row(
                (
                    Content.assemble(
                        mark,
                        (right(full(count), 7), "$foreground"),
                        "  ",
                        (crop(one_line(why), width - 13, glyphs.ellipsis), "$foreground"),
                    ),
                )
            )
        )
    rows.append(heading_row("WHERE"))
    for number, each in enumerate(plan.rejected()):
        if number >= 300:
            rows += text_rows("and more; memtui import --dry-run --json has them", width, "$dim")
            break
        text = f"{one_line(each.where)}: {one_line(each.text) or one_line(each.why)}"
        rows.append(
            Row((Content.styled(f" {crop(text, width - 2, glyphs.ellipsis)}", "$dim"),), f"left:{number}")
        )
    return rows


def _scopes(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    plan = state.plan
    assert plan is not None
    name = max(12, min(32, (width - 16) // 2))
    rows = [
        Row(
            (
                Content.styled(
                    f" {fit('THEIRS', name)}  {fit('OURS', name)}{right('ROWS', 8)}", "bold $heading"
                ),
            )
        )
    ]
    for theirs, ours, count in plan.scopes:
        line = Content.assemble(
            " ",
            (fit(one_line(theirs or "(none)"), name, glyphs.ellipsis), "$dim"),
            f"{glyphs.forth} ",
            (fit(one_line(ours or "(none)"), name, glyphs.ellipsis), scope_style(ours or "")),
            (right(full(count), 8), "$foreground"),
            ("  changed" if theirs != ours and width >= 2 * name + 24 else "", "$stale"),
        )
        rows.append(Row((line,), f"scope:{theirs or ''}"))
    return [*rows, *text_rows("choose a scope to say where its memories go", width, "$dim")]


def _cost(state: ImportState, width: int, glyphs: Glyphs) -> list[Row]:
    plan, cost = state.plan, state.cost
    assert plan is not None
    if cost is None:
        return []
    rows = state.bare
    kept = state.taken - rows
    seconds = (
        "made already, to look for near copies"
        if plan.vectors is not None
        else "not measured yet: a few texts would be sent"
    )
    if cost.seconds is not None and plan.vectors is None:
        seconds = f"about {time_span(cost.seconds)}, measured on a sample"
    found = [
        fact_row("to embed", counted(rows, "text"), width, glyphs),
        fact_row("characters", full(cost.chars), width, glyphs),
        fact_row("tokens", f"about {full(cost.tokens)}", width, glyphs),
        fact_row("model", cost.model or "none", width, glyphs),
        fact_row("time", seconds if rows and not cost.problem else "-", width, glyphs),
        fact_row("vectors kept", f"{full(kept)} of the source", width, glyphs),
    ]
    return [*found, *(warning_rows(cost.problem, width, glyphs) if cost.problem else [])]


def meaning(view: str) -> str:
    """What a group is, in a few words."""
    return MEANINGS.get(view, "")  # type: ignore[call-overload, no-any-return]


def is_group(view: str) -> bool:
    """Whether a view lists records."""
    return view not in SHEETS


def group_of(view: str) -> Group:
    """A view as the group that it lists."""
    return view  # type: ignore[return-value]


def places(page: PlanPage | None, total: int) -> str:
    """Which records of how many are listed."""
    if page is None or total <= len(page.items):
        return full(total)
    return f"{full(page.offset + 1)} to {full(page.offset + len(page.items))} of {full(total)}"
