"""What a change does to recall, in lines: changed answers before and now, place by place; then what else it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import MemtuiError, Progress, counted, mask, one_line
from memtui.engine.changes import ChangeSet
from memtui.tui.dialogs.change_preview_view import heading, sentences
from memtui.tui.paint.cells import across, crop
from memtui.tui.paint.difference import difference, one_side
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, score

if TYPE_CHECKING:
    from memtui.engine.changes import AnswerChange, AnswerRow, RecallEffect

EFFECT = "EFFECT ON RECALL"

ELSE = "ALSO"

MOST_ANSWERS = 8
"""Changed answers that are shown; the rest is counted."""

MOST_PLACES = 6
"""Places of one answer that are shown, beside those whose memory is another one."""

BESIDE = 64
"""From so many cells the answer before and the answer now stand beside each other."""

NO_PLACE = "–"

_SIGN_CELLS = 4

_SCORE_CELLS = 5


def effect_lines(
    value: RecallEffect | Progress | MemtuiError | None, width: int, glyphs: Glyphs
) -> list[Content]:
    """What a change does to recall, or how far the asking is, or why it is not known."""
    if value is None:
        return []
    if isinstance(value, Progress):
        count = (
            f"{full(value.done)} of {counted(value.total, 'question')}" if value.total else "the questions"
        )
        return _titled(f"asking {count}", "$dim", width)
    if isinstance(value, MemtuiError):
        lines = _titled("not known", "$stale", width)
        return [*lines, *sentences([value.message], width, glyphs.warn, "bold $stale")]
    if value.not_known and value.failed >= value.asked:
        lines = _titled("not known", "$stale", width)
        return [*lines, *sentences([f"{value.not_known}."], width, glyphs.warn, "bold $stale")]
    if not value.asked:
        return [
            *_titled("nothing to ask", "$dim", width),
            *sentences(
                ["No question was asked of this store yet, and no case is saved."], width, glyphs.dot, "$dim"
            ),
        ]
    failed = f", {full(value.failed)} could not be asked" if value.failed else ""
    told = _case_lines(value, width, glyphs)
    if value.own_words:
        why = "No question was asked yet: each memory is searched by its own text."
        told = [*sentences([why], width, glyphs.dot, "$dim"), *told]
    asked = value.asked - value.failed
    if not value.changed and value.beside is not None and value.beside.changed:
        own = value.beside  # "no answer changes" above answers that do would contradict them
        count = f"0 of {full(asked)} asked, {full(len(own.changed))} of {full(own.asked)} by own words change"
        return [
            *_titled(count, "bold $stale", width),
            *told,
            *_beside_lines(value.beside, width, glyphs),
        ]
    if not value.changed:
        return [
            *_titled(f"no answer changes, {full(asked)} of {full(value.asked)} asked", "$dim", width),
            *told,
            *_beside_lines(value.beside, width, glyphs),
        ]
    count = f"{changed_words(len(value.changed), value.asked)}{failed}"
    kind = "own words" if value.own_words else "asked"
    return [
        *_titled(count, "bold $stale", width),
        *told,
        *answers_lines(value.changed, width, glyphs, kind),
    ]


def _beside_lines(value: RecallEffect | None, width: int, glyphs: Glyphs) -> list[Content]:
    """What becomes of the memories' own words as questions, where no other answer changes."""
    if value is None or value.asked == value.failed:
        return []
    if not value.changed:
        said = "Asked for by their own words, the memories are answered with the same, too."
        return list(sentences([said], width, glyphs.dot, "$dim"))
    said = f"Asked for by their own words, {changed_words(len(value.changed), value.asked)}:"
    return [
        *sentences([said], width, glyphs.dot, "$dim"),
        *answers_lines(value.changed, width, glyphs, "own words"),
    ]


def changed_words(changed: int, asked: int) -> str:
    """How many answers change, of how many that were asked for."""
    return f"{full(changed)} of {counted(asked, 'answer')} change{'s' if changed == 1 else ''}"


def answers_lines(
    changed: Sequence[AnswerChange], width: int, glyphs: Glyphs, kind: str = "asked"
) -> list[Content]:
    """The answers that change, those that lose what a case expects first; beyond the first few they are counted."""
    shown = sorted(changed, key=lambda each: (not each.lost, not each.saved))
    lines = [line for change in shown[:MOST_ANSWERS] for line in answer_lines(change, width, glyphs, kind)]
    more = len(shown) - MOST_ANSWERS
    said = f"   and {full(more)} {'answers' if more > 1 else 'answer'} more"
    return [*lines, Content.styled(said, "$dim")] if more > 0 else lines


def unchanged_lines(why: str, width: int, glyphs: Glyphs) -> list[Content]:
    """That no answer can change, and why nothing had to be asked to know it."""
    return [*_titled("no answer changes", "$dim", width), *sentences([why], width, glyphs.dot, "$dim")]


def _titled(far: str, style: str, width: int) -> list[Content]:
    room = max(0, width - len(EFFECT) - 3)
    told = crop(far, room)
    gap = " " * max(2, width - len(EFFECT) - len(told) - 2)
    return [Content.assemble((f" {EFFECT}", "bold $heading"), gap, (told, style))]


def _case_lines(value: RecallEffect, width: int, glyphs: Glyphs) -> list[Content]:
    """The saved cases in one sentence, and each that gets worse."""
    cases = value.cases
    if not cases.cases:
        return []
    said = f" {counted(cases.cases, 'case')}: {full(cases.right_before)} right before, {full(cases.right_after)} after"
    lines = [Content.styled(crop(said, width - 2, glyphs.ellipsis), "$foreground")]
    for query in cases.worse[:MOST_ANSWERS]:
        text = crop(f"worse  {_shown(query)}", width - 6, glyphs.ellipsis)
        lines.append(Content.assemble((f" {glyphs.warn} ", "bold $danger"), (text, "$danger")))
    for query, old, new in cases.down[:MOST_ANSWERS]:
        text = crop(_shown(query), max(12, width - 24), glyphs.ellipsis)
        lines.append(
            Content.assemble("   ", (f"down {old} {glyphs.forth} {new}  ", "$stale"), (text, "$dim"))
        )
    return lines


def _shown(text: str) -> str:
    return one_line(mask(text)[0])


def answer_lines(change: AnswerChange, width: int, glyphs: Glyphs, kind: str = "asked") -> list[Content]:
    """One question whose answer changes: what came back before and what would now, place by place."""
    who = f"{'case' if change.saved else kind}{', ' + one_line(change.agent) if change.agent else ''}"
    mark = (f" {glyphs.warn} ", "bold $danger") if change.lost else ("   ", "")
    line = across(_shown(change.query), who, max(12, width - 4))
    cut = len(line) - len(who)
    head = Content.assemble(mark, (line[:cut], "bold $foreground"), (line[cut:], "$dim"))
    if width < BESIDE:
        rows = [line for row in change.rows if not row.same for line in _stacked(row, width, glyphs)]
        return [Content(), head, *rows]
    return [Content(), head, *_beside(change, width, glyphs)]


def _beside(change: AnswerChange, width: int, glyphs: Glyphs) -> Iterator[Content]:
    """The answer before at the left, the one now at the right, with scores and what became of each place."""
    half = (width - 4 - _SIGN_CELLS - 2) // 2
    room = half - _SCORE_CELLS - 3  # a blank before the score, two behind it
    old = {row.rank_before: row for row in change.rows if row.rank_before is not None}
    new = {row.rank_after: row for row in change.rows if row.rank_after is not None}
    yield Content.styled(f"    {'before':<{half}}{'now':<{half}}", "$dim")
    ends = max((rank for rank, row in new.items() if row.in_prompt_after), default=0)
    cut = bool(new) and ends < max(new)
    places = sorted(old.keys() | new.keys())
    shown = [n for n in places if n <= MOST_PLACES or _other(old.get(n), new.get(n))][: 2 * MOST_PLACES]
    ruled = False
    for place in shown:
        if cut and place > ends and not ruled:
            ruled = True
            title = " prompt ends here "
            yield Content.styled(
                f" {glyphs.rule * 2}{title}{glyphs.rule * max(0, width - len(title) - 4)}", "$frame"
            )
        was, now = old.get(place), new.get(place)
        left = _cell(was, "gone", room, glyphs) if was else Content()
        right = _cell(now, "new", room, glyphs) if now else Content()
        if (
            was and now and was.rank_after is None and now.rank_before is None
        ):  # one in the place of the other
            texts = mask(was.before)[0], mask(now.after)[0]
            left = one_side(*texts, "gone", room, glyphs)
            right = one_side(*texts, "new", room, glyphs)
        yield Content.assemble(
            (f" {place:>2} ", "$dim"),
            *_padded(left, was.score_before if was else None, half),
            *_padded(right, now.score_after if now else None, half),
            _sign(now, glyphs) if now else ("", ""),
        )
    rest = len(places) - len(shown)
    if rest > 0:
        yield Content.styled(f"    {counted(rest, 'place')} more, the same as before", "$dim")


def _other(was: AnswerRow | None, now: AnswerRow | None) -> bool:
    return was is None or now is None or was.id != now.id or not now.same


def _padded(text: Content, number: float | None, half: int) -> tuple[Content | str | tuple[str, str], ...]:
    far = f"{score(number):>{_SCORE_CELLS}}" if number is not None else " " * _SCORE_CELLS
    return text, " " * max(1, half - 2 - text.cell_length - _SCORE_CELLS), (far, "$dim"), "  "


def _cell(row: AnswerRow, side: str, room: int, glyphs: Glyphs) -> Content:
    """What is read of a memory on one side; its own words marked where it reads otherwise."""
    before, after = mask(row.before)[0], mask(row.after)[0]
    if row.reworded:
        return one_side(before, after, "gone" if side == "gone" else "new", room, glyphs)
    if side == "gone":
        style = "strike $delta-down" if row.rank_after is None else "$dim"
        return Content.styled(crop(one_line(before), room, glyphs.ellipsis), style)
    style = "bold underline $delta-up" if row.rank_before is None else "$foreground"
    return Content.styled(crop(one_line(after), room, glyphs.ellipsis), style)


def _sign(row: AnswerRow, glyphs: Glyphs) -> tuple[str, str]:
    if row.rank_before is None:
        return "new", "$delta-up"
    if row.in_prompt_before != row.in_prompt_after:
        return ("in", "$delta-up") if row.in_prompt_after else ("out", "$delta-down")
    if row.moved:
        up = row.moved > 0
        return f"{glyphs.up if up else glyphs.down}{abs(row.moved)}", "$delta-up" if up else "$delta-down"
    return ("~", "$stale") if row.reworded else ("=", "$dim")


def _stacked(row: AnswerRow, width: int, glyphs: Glyphs) -> list[Content]:
    """Place before and after, then what is read: word by word where it reads otherwise."""
    old, new = (str(each) if each else NO_PLACE for each in (row.rank_before, row.rank_after))
    place = f"     {old:>2} {glyphs.forth} {new:<2} "
    style = "$delta-up" if row.moved > 0 or row.rank_before is None else "$delta-down"
    style = "$dim" if row.rank_before == row.rank_after else style
    room = max(12, width - len(place) - 2)
    if row.reworded:
        first, *rest = difference(mask(row.before)[0], mask(row.after)[0], glyphs).wrap(room)
        return [
            Content.assemble((place, style), first),
            *(Content.assemble(" " * len(place), line) for line in rest[: MOST_PLACES - 1]),
        ]
    verb = "comes: " if row.rank_before is None else "leaves: " if row.rank_after is None else ""
    said = crop(_shown(row.after or row.before), max(8, room - len(verb)), glyphs.ellipsis)
    return [Content.assemble((place, style), (verb, style), (said, "$foreground"))]


MOST_SCOPES = 6
"""Scopes that are named with how many of their memories change."""


def scopes_words(plan: ChangeSet) -> str:
    """How many memories of which scope are concerned, most first."""
    counts: dict[str, int] = {}
    for scope, count in plan.by_scope:  # an empty one is none, too
        counts[_scope(scope)] = counts.get(_scope(scope), 0) + count
    scopes = sorted(counts.items(), key=lambda item: -item[1])
    if len(scopes) == 1:
        scope, count = scopes[0]
        return f"{f'All {full(count)}' if count > 2 else 'Both'} are of {scope}."
    named = scopes if len(scopes) <= MOST_SCOPES else scopes[: MOST_SCOPES - 1]
    said = ", ".join(f"{full(count)} of {scope}" for scope, count in named)
    rest = len(scopes) - len(named)
    left = sum(count for _, count in scopes[len(named) :])
    return f"{said}, and {full(left)} of {full(rest)} other scopes." if rest else f"{said}."


def _scope(scope: str | None) -> str:
    return one_line(scope) if scope else "no scope"


def else_lines(plan: ChangeSet, width: int, glyphs: Glyphs, back: str) -> list[Content]:
    """What else the change does: what the rules of the store add, how many memories of which scope, the way back."""
    said: list[str] = list(plan.notes)
    if len({change.group or change.id for change in plan.changes}) > 1:
        said.append(scopes_words(plan))
    if back:
        said.append(back)
    return [*heading(ELSE), *sentences(said, width, glyphs.dot, "$dim")] if said else []


def shares(changes: int, effect: int, room: int) -> tuple[int, int]:
    """How many of `room` lines the changes and their effect get, which need so many; the effect half, if need be."""
    if changes + effect <= room:
        return changes, effect
    given = min(effect, max(room // 2, room - changes))
    return room - given, given
