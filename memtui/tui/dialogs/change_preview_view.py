"""A change set in words and rows: what it brings with it, what stands in its way, what each memory becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import (
    Change,
    ChangeSet,
    Conflict,
    MemtuiError,
    Progress,
    clean,
    dump_json,
    mask,
    one_line,
    veiled,
    word_diff,
)
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, plural
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine import RecallEffect
    from memtui.engine.changes import (
        AnswerChange,
        AnswerRow,
    )


SHOWN = 300
"""Nobody reads more rows of one change than this; the rest is counted by scope."""

FIELD_CELLS = 18

MOST_LINES = 8
"""Lines of one text among many changes; a change that stands alone is shown whole."""

MOST_ROWS = 6
"""Memories of one changed answer; the rest is counted."""

EFFECT = "WHAT WOULD NOW BE READ"

NO_PLACE = "–"

LONG = 40
"""From so many characters a value is compared word by word."""

_LAYERS = ("l0_abstract", "l1_overview", "l2_content")

_TIMES = ("_at", "_ms", "_from", "valid_until", "timestamp")

_FIRST_MS, _LAST_MS = 1e11, 2.5e14
"""Milliseconds since the epoch, from 1973 to the year 9892: other numbers in such fields are shown as they are."""

_GOES = ("text", "scope", "category", "importance")


def value_words(value: Any, name: str = "") -> str:
    """A stored value on one line; of a field that is a time by its `name`, the time."""
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list):
        return one_line(veiled(dump_json(value, ensure_ascii=False)))
    if name.endswith(_TIMES) and isinstance(value, int | float) and _FIRST_MS < value < _LAST_MS:
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.15g}"
    text = veiled(str(value))
    said = one_line(text)
    if said and (text[0].isspace() or text[-1].isspace()):  # nobody sees a space that is too many
        return f"“{' ' * text[0].isspace()}{said.strip()}{' ' * text[-1].isspace()}”"
    return said or "(empty)"


def sentences(texts: Iterable[str], width: int, mark: str, style: str) -> Iterator[Content]:
    """Each text wrapped, behind a mark."""
    for text in texts:
        for i, line in enumerate(Content.styled(one_line(text), "$foreground").wrap(max(12, width - 4))):
            yield Content.assemble((f" {mark} " if i == 0 else "   ", style), line)


def heading(text: str, style: str = "bold $heading") -> list[Content]:
    """An empty line and a heading."""
    return [Content(), Content.styled(f" {text}", style)]


def plan_rows(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Row]:
    """The change set for lines of `width` cells; rows that can be dropped carry the id of their memory."""
    head = _head(plan, notes, width, glyphs)
    rows = [Row((*head, Content()))] if head else []
    pairs = _paired(plan.changes[:SHOWN])
    alone = len(pairs) == 1
    for change, old in pairs:
        lines = change_lines(change, width, glyphs, old=old, most=0 if alone else MOST_LINES)
        if alone:  # nothing to choose between: the lines scroll one by one
            rows += [Row((line,)) for line in lines]
        else:
            rows.append(Row(tuple(lines), change.id))
    left = len(plan.changes) - SHOWN
    if left > 0:
        rows.append(Row(tuple(heading(f"and {full(left)} more", "$dim"))))
    return rows


def _head(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Content]:
    lines = list(sentences((*notes, *plan.warnings), width, glyphs.warn, "bold $stale"))
    lines += sentences(plan.notes, width, glyphs.dot, "$dim")
    if plan.conflicts:
        count = plural(len(plan.conflicts), "conflict", "conflicts")
        lines += heading(f"{count}: this cannot be applied as it is", "bold $danger")
        for conflict in plan.conflicts[:SHOWN]:
            lines += conflict_lines(conflict, width, glyphs)
    if plan.left:
        count = plural(len(plan.left), "memory stays as it is", "memories stay as they are")
        lines += heading(f"{count}: {one_line(plan.left[0].sentence)}", "$dim")
    if plan.purges:
        lines += heading(f"deleted before, and now without a trace: {full(len(plan.purges))}")
    lines += _copies(plan, width, glyphs)
    if plan.changes:
        reasons = Counter(each.why for each in plan.changes if each.op == "delete")
        whys = [_reason(why, n) for why, n in reasons.items()] if len(reasons) > 1 else []
        scopes = [f"{value_words(scope)} {full(n)}" for scope, n in plan.by_scope]
        for words in (whys, scopes):
            if words:
                lines += heading(crop(", ".join(words), width - 2, glyphs.ellipsis), "$dim")
    return lines


def _reason(why: str, count: int) -> str:
    """How many memories go for one reason."""
    plain = plural(count, "older version") if why == "older version" else f"{full(count)} {why or 'named'}"
    return one_line(plain)


def _copies(plan: ChangeSet, width: int, glyphs: Glyphs) -> Iterator[Content]:
    """Where else the text stands: from the end of the path, which tells files apart."""
    if not plan.copies:
        return
    goes = sum(bool(each["goes"]) for each in plan.copies)
    yield from heading(f"COPIES IN FILES  {full(goes)} go, {full(len(plan.copies) - goes)} stay")
    for copy in plan.copies[:SHOWN]:
        mark, style = (glyphs.cross, "$delta-down") if copy["goes"] else (" ", "$dim")
        verb = "goes" if copy["goes"] else "stays"
        tail = f"  line {copy['line']}  {copy['kind']}  {verb}"
        path = one_line(str(copy["path"]))
        room = max(8, width - len(tail) - 5)
        shown = path if len(path) <= room else glyphs.ellipsis + path[-(room - 1) :]
        yield Content.assemble(
            f" {mark} ", (fit(shown, min(room, max(len(shown), 1))), "$foreground"), (tail, style)
        )


def _paired(changes: Sequence[Change]) -> list[tuple[Change, Change | None]]:
    """A new version with the row that it supersedes; every other change alone."""
    old = {each.group: each for each in changes if each.group and each.op == "edit"}
    fresh = {each.group for each in changes if each.group and each.op == "add"}
    return [
        (each, old.get(each.group) if each.op == "add" else None)
        for each in changes
        if each.op == "add" or each.group not in fresh or not each.group
    ]


def change_lines(
    change: Change, width: int, glyphs: Glyphs, *, old: Change | None = None, most: int = MOST_LINES
) -> list[Content]:
    """One change: its memory, then what differs. `old` is the version it supersedes; `most` lines a text, 0: all."""
    done, mark = {"edit": ("", "~"), "add": ("new  ", "+"), "delete": ("goes  ", "-")}[change.op]
    if old is not None:
        done, mark = "new version  ", "~"
    why = f"  {one_line(change.why)}" if change.why and old is None else ""
    shown = old or change
    name = f" {mark} {done}{one_line(shown.id)[:8]}{why}  {one_line(veiled(shown.title))}"
    head = Content.styled(crop(name, width - 1, glyphs.ellipsis), "bold $foreground")
    return [head, *_becomes(change, old, width, glyphs, most), Content()]


def _becomes(change: Change, old: Change | None, width: int, glyphs: Glyphs, most: int) -> list[Content]:
    """What is below the name of a change."""
    if old is not None:
        after = {"text": change.after.get("text")}
        said = f"     {change.id[:8]} takes its place; this one stays as history"
        return [
            *field_lines({"text": old.title}, after, width, glyphs, most=most),
            Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"),
        ]
    if change.op == "edit":
        return field_lines(change.before, change.after, width, glyphs, most=most)
    lines: list[Content] = []
    values = change.after if change.op == "add" else change.before
    kept = {key: values[key] for key in _GOES if key in values}
    text = kept.pop("text", None)
    if text is not None and change.op == "add":
        lines += _block(Content.styled(clean(veiled(str(text))), "$delta-up"), width, glyphs, most)
    facts = "   ".join(f"{key} {value_words(value, key)}" for key, value in kept.items() if value is not None)
    return (
        [*lines, Content.styled(crop(f"     {facts}", width - 1, glyphs.ellipsis), "$dim")]
        if facts
        else lines
    )


def field_lines(
    before: Mapping[str, Any], after: Mapping[str, Any], width: int, glyphs: Glyphs, *, most: int = 0
) -> list[Content]:
    """Field by field from `before` to `after`; long values word by word."""
    room = max(8, (width - FIELD_CELLS - 10) // 2)
    lines: list[Content] = []
    names = list(dict.fromkeys((*before, *after)))
    follow = [name for name in names if name in _LAYERS and _follows(after.get(name), after.get("text"))]
    for name in sorted((name for name in names if name not in follow), key=lambda name: name != "text"):
        old, new = before.get(name), after.get(name)
        long = isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) >= LONG
        if long:
            lines.append(Content.styled(f"     {one_line(name)}", "$dim"))
            if (
                name == "metadata"
            ):  # the whole text of an object: word by word it is all quotes and backslashes
                for mark, value, style in (("-", old, "$delta-down"), ("+", new, "$delta-up")):
                    lines += _block(
                        Content.styled(f"{mark} {clean(veiled(str(value)))}", style), width, glyphs, most
                    )
            else:
                lines += _block(difference(str(old), str(new)), width, glyphs, most)
            continue
        lines.append(
            Content.assemble(
                "     ",
                (fit(one_line(name), FIELD_CELLS, glyphs.ellipsis), "$dim"),
                (crop(value_words(old, name), room, glyphs.ellipsis), "$delta-down"),
                (f" {glyphs.forth} ", "$dim"),
                (crop(value_words(new, name), room, glyphs.ellipsis), "$delta-up"),
            )
        )
    if follow:
        said = f"     {', '.join(follow)} follow the text"
        lines.append(Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"))
    return lines


def _follows(layer: Any, text: Any) -> bool:
    """Whether a summary is nothing but the text."""
    return isinstance(layer, str) and isinstance(text, str) and layer in (text, f"- {text}")


def difference(before: str, after: str) -> Content:
    """Both texts in one: what is gone in brackets with a minus, what is new with a plus, as git writes it."""
    parts = word_diff(clean(veiled(before)), clean(veiled(after)))
    styles = {"same": "$foreground", "gone": "$delta-down", "new": "bold $delta-up"}
    ends = {"same": ("", ""), "gone": ("[-", "-]"), "new": ("{+", "+}")}
    return Content.assemble(
        *((f"{ends[kind][0]}{text}{ends[kind][1]}", styles[kind]) for kind, text in parts)
    )


def _block(text: Content, width: int, glyphs: Glyphs, most: int) -> list[Content]:
    """A text in lines, set off to the right; at most `most` of them where that is not 0."""
    wrapped = list(text.wrap(max(12, width - 9)))
    shown = wrapped if not most or len(wrapped) <= most else wrapped[: most - 1]
    lines = [Content.assemble("       ", line) for line in shown]
    if len(shown) < len(wrapped):
        lines.append(
            Content.styled(f"       {glyphs.ellipsis} {len(wrapped) - len(shown)} lines more", "$dim")
        )
    return lines


def effect_lines(value: RecallEffect | Progress | MemtuiError, width: int, glyphs: Glyphs) -> list[Content]:
    """What a change does to recall, or how far the asking is, or why it is not known."""
    name = Content.styled(f" {EFFECT}  ", "bold $heading")
    if isinstance(value, Progress):
        return [
            Content.assemble(
                name, (f"asking {full(value.done)} of {plural(value.total or 0, 'question')}", "$dim")
            )
        ]
    if isinstance(value, MemtuiError):
        reason = crop(f"not known: {one_line(value.message)}", width - len(EFFECT) - 4, glyphs.ellipsis)
        return [Content.assemble(name, (reason, "$stale"))]
    failed = f", {full(value.failed)} could not be asked" if value.failed else ""
    told = _kept_lines(value, width, glyphs)
    if not value.changed:
        said = f"no answer changes, {full(value.asked - value.failed)} of {full(value.asked)} asked"
        return [Content.assemble(name, (said, "$dim")), *told]
    verb = "changes" if len(value.changed) == 1 else "change"
    count = f"{full(len(value.changed))} of {plural(value.asked, 'answer')} {verb}{failed}"
    lines = [Content.assemble(name, (count, "bold $stale")), *told]
    for change in sorted(value.changed, key=lambda each: (not each.lost, not each.saved))[:MOST_LINES]:
        lines += answer_lines(change, width, glyphs)
    more = len(value.changed) - MOST_LINES
    return [*lines, Content.styled(f"   and {full(more)} more", "$dim")] if more > 0 else lines


def _kept_lines(value: RecallEffect, width: int, glyphs: Glyphs) -> list[Content]:
    """The saved cases in one sentence, and each that gets worse."""
    kept = value.cases
    if not kept.cases:
        return []
    said = f" {plural(kept.cases, 'case')}: {full(kept.right_before)} right before, {full(kept.right_after)} after"
    lines = [Content.styled(crop(said, width - 2, glyphs.ellipsis), "$foreground")]
    for query in kept.worse[:MOST_LINES]:
        text = crop(f"worse  {one_line(query)}", width - 6, glyphs.ellipsis)
        lines.append(Content.assemble((f" {glyphs.warn} ", "bold $danger"), (text, "$danger")))
    for query, old, new in kept.down[:MOST_LINES]:
        text = crop(one_line(query), max(12, width - 24), glyphs.ellipsis)
        lines.append(
            Content.assemble("   ", (f"down {old} {glyphs.forth} {new}  ", "$stale"), (text, "$dim"))
        )
    return lines


def answer_lines(change: AnswerChange, width: int, glyphs: Glyphs) -> list[Content]:
    """One question whose answer changes: its memories that read otherwise, moved, left or came, old and new."""
    kind = "case" if change.saved else "asked"
    head = Content.assemble(
        (f" {glyphs.warn} " if change.lost else "   ", "bold $danger"),
        (fit(kind, 6), "$dim"),
        (crop(one_line(change.query), max(12, width - 14), glyphs.ellipsis), "bold $foreground"),
    )
    lines = [head]
    told = sorted((row for row in change.rows if not row.same), key=_weight)
    for row in told[:MOST_ROWS]:
        lines += _row_lines(row, width, glyphs)
    rest = len(told) - MOST_ROWS
    if rest > 0:
        lines.append(Content.styled(f"     and {plural(rest, 'memory', 'memories')} more", "$dim"))
    same = sum(row.same for row in change.rows)
    if same:
        said = plural(same, "other stays", "others stay")
        lines.append(
            Content.styled(f"     {said} as it is" if same == 1 else f"     {said} as they are", "$dim")
        )
    return lines


def _weight(row: AnswerRow) -> tuple[bool, bool, int]:
    """What leaves, comes or reads otherwise before what only moves; in that the prompt first, then the places."""
    weighty = row.reworded or row.rank_before is None or row.rank_after is None
    return (not weighty, row.in_prompt_before == row.in_prompt_after, row.rank_after or row.rank_before or 0)


def _row_lines(row: AnswerRow, width: int, glyphs: Glyphs) -> list[Content]:
    """Place before and after, then what is read: word by word where it reads otherwise."""
    old, new = (str(each) if each else NO_PLACE for each in (row.rank_before, row.rank_after))
    place = f"     {old:>2} {glyphs.forth} {new:<2} "
    style = "$delta-up" if row.moved > 0 or row.rank_before is None else "$delta-down"
    style = "$dim" if row.rank_before == row.rank_after else style
    room = max(12, width - len(place) - 2)
    note = ""
    if row.rank_before and row.rank_after and row.in_prompt_before != row.in_prompt_after:
        note = "into the prompt: " if row.in_prompt_after else "out of the prompt: "
    if row.reworded:
        text = Content.assemble((note, "$stale"), difference(mask(row.before)[0], mask(row.after)[0]))
        wrapped = [line.rstrip() for line in text.wrap(room)]
        shown = wrapped if len(wrapped) <= MOST_LINES else wrapped[:MOST_LINES]
        first, *rest = shown
        lines = [Content.assemble((place, style), first)]
        return [*lines, *(Content.assemble(" " * len(place), line) for line in rest)]
    verb = "comes: " if row.rank_before is None else "leaves: " if row.rank_after is None else note
    said = crop(one_line(mask(row.after or row.before)[0]), max(8, room - len(verb)), glyphs.ellipsis)
    return [Content.assemble((place, style), (verb, "$stale" if note else style), (said, "$foreground"))]


def conflict_lines(conflict: Conflict, width: int, glyphs: Glyphs) -> list[Content]:
    """What stands in the way of one memory, and where fields are in dispute: before, mine, theirs."""
    text = f" {one_line(conflict.id)[:8]}  {one_line(conflict.sentence)}"
    lines = [Content.styled(crop(text, width - 1, glyphs.ellipsis), "$foreground")]
    for field in conflict.fields:
        for name, value in (("before", field.before), ("mine", field.mine), ("theirs", field.theirs)):
            first = fit(one_line(field.field), FIELD_CELLS) if name == "before" else " " * FIELD_CELLS
            line = f"   {first}{name:<8}{value_words(value, field.field)}"
            style = "$foreground" if name == "theirs" else "$dim"
            lines.append(Content.styled(crop(line, width - 1, glyphs.ellipsis), style))
    return lines
