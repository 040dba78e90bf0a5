"""A change set in words and rows: what it brings with it, what stands in its way, what each memory becomes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import clean, counted, one_line, veiled
from memtui.engine.changes import Change, ChangeSet, Conflict
from memtui.tui.paint.cells import crop, fit, folded
from memtui.tui.paint.difference import difference
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.row_list import Row

SHOWN = 300
"""Nobody reads more rows of one change than this; the rest is counted by scope."""

FIELD_CELLS, MOST_FIELD_CELLS = 18, 24

MOST_LINES = 8
"""Lines of one text among many changes; a change that stands alone is shown whole."""

HEAD_LINES = 3
"""Lines of a memory's text in the head of a change, among many changes."""

LONG = 40
"""From so many characters a value is compared word by word."""

_LAYERS = ("l0_abstract", "l1_overview", "l2_content")

_TIMES = ("_at", "_ms", "_from", "valid_until", "timestamp")

_FIRST_MS, _LAST_MS = 1e11, 2.5e14
"""Milliseconds since the epoch, from 1973 to the year 9892: other numbers in such fields are shown as they are."""

_GOES = ("text", "scope", "category", "importance")

_REPLACED = ("superseded_by", "canonical_id")
"""Fields that name the memory that takes this one's place."""

_WORDS = {"superseded_by": "replaced by", "supersedes": "replaces"}
"""What a link to another memory says, by its kind in the row."""

_BESIDE = (
    "access_count",
    "last_accessed_at",
    "injected_count",
    "last_injected_at",
    "last_confirmed_use_at",
    "bad_recall_count",
    "invalidated_at",
    "archived_at",
    "archive_reason",
)
"""Fields that follow from a change and are not what it is about: they stand together below the others."""

_LONG_WHY = 24
"""A longer reason stands in a line of its own, so that the text of the memory keeps the width."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


_PUNCTUATION = re.compile(r'[{}\[\]"\\]+')
"""What an object that was cut off is full of."""

_DONE = {"archived": "archive", "deleted": "delete", "restored": "bring back", "added": "add"}

_SHRUNK = "deleted, history shrunk"

_AGAIN = {"undo": "undo", "redo": "redo"}


def would(plan: ChangeSet) -> str:
    """The title of a change that is looked at: what it would do, where the journal will say what it did."""
    title = one_line(plan.title)
    count, _, done = title.partition(" memories ") if " memories " in title else title.partition(" memory ")
    if count.replace(",", "").isdigit() and (done in _DONE or done == _SHRUNK):
        deed = f"{_DONE[done.partition(',')[0]]} {counted(int(count.replace(',', '')), 'memory', 'memories')}"
        return f"Would {deed}{', including history' if done == _SHRUNK else ''}"
    if title.endswith(", history shrunk") and " deleted, " in title:
        kept = title.removesuffix(", history shrunk").partition(" deleted, ")
        return f"Would delete {kept[0]} and redact {kept[2].removesuffix(' redacted')}, including history"
    if title.endswith(" redacted, history shrunk"):
        return f"Would redact {title.removesuffix(' redacted, history shrunk')}, including history"
    if title.endswith(": history removed"):
        return f"Would remove the history of {title.removesuffix(': history removed')}"
    for action, deed in _AGAIN.items():
        if title.startswith(f"{action} of entry "):
            return f"Would {deed} {title.removeprefix(f'{action} of ')}"
    if not plan.changes:
        return title
    if title.endswith(" memories merged into one"):
        return f"Would merge {title.removesuffix(' merged into one')} into one"
    added = re.match(r"[\d,]+ (memory|memories) captured(?=$|:)", title)
    if added is not None and all(change.op == "add" for change in plan.changes):
        return f"Would add {title.replace(' captured', '', 1)}"
    if re.match(r"[\d,]+ memor(y|ies): ", title):  # it is counted already
        return f"Would change {title}"
    return f"Would change {counted(plan.count, 'memory', 'memories')}: {title}"


def value_words(value: Any, name: str = "") -> str:
    """A stored value on one line; of a field that is a time by its `name`, the time."""
    if value is None:
        return "(none)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(value_words(item) for item in value) or "(empty)"
    if isinstance(value, dict):
        return ", ".join(_named(key, each) for key, each in value.items()) or "(empty)"
    if name.endswith(_TIMES) and isinstance(value, int | float) and _FIRST_MS < value < _LAST_MS:
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.15g}"
    text = veiled(str(value))
    said = short_ids(one_line(text))
    if text.startswith(("{", "[")):  # an object in a string
        said = " ".join(_PUNCTUATION.sub(" ", said).split())
    if said and (text[0].isspace() or text[-1].isspace()):  # nobody sees a space that is too many
        return f"“{' ' * text[0].isspace()}{said.strip()}{' ' * text[-1].isspace()}”"
    return said or "(empty)"


def _named(key: Any, value: Any) -> str:
    """One part of an object in words: a link by what it says, anything else by its name."""
    said = value_words(value, str(key))
    return _WORDS.get(said, said) if key in ("type", "targetId") else f"{one_line(str(key))} {said}"


def _object_words(text: str) -> str:
    """The text of a stored object without its brackets and quotes; of one that is none, that it is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return f"no object: {' '.join(_PUNCTUATION.sub(' ', one_line(veiled(text))).split())}"
    return value_words(found) if isinstance(found, dict) else f"no object: {value_words(found)}"


def short_ids(text: str) -> str:
    """A text with the beginnings of ids in place of whole ones, as lists show them."""
    return _ID.sub(lambda id: id.group()[:8], text)


def sentences(texts: Iterable[str], width: int, mark: str, style: str) -> Iterator[Content]:
    """Each text wrapped, behind a mark."""
    for text in texts:
        for i, line in enumerate(Content.styled(one_line(text), "$foreground").wrap(max(12, width - 4))):
            yield Content.assemble((f" {mark} " if i == 0 else "   ", style), line)


def heading(text: str, style: str = "bold $heading") -> list[Content]:
    """An empty line and a heading."""
    return [Content(), Content.styled(f" {text}", style)]


def plan_rows(
    plan: ChangeSet,
    notes: Sequence[str],
    width: int,
    glyphs: Glyphs,
    *,
    whole: bool = False,
    names: Mapping[str, str] | None = None,
) -> list[Row]:
    """The change set for lines of `width` cells; rows that can be dropped carry the id of their memory.

    `whole`: every text to its end, also among many changes. `names`: texts of memories that it only speaks of.
    """
    names = {**(names or {}), **{change.id: one_line(veiled(change.title)) for change in plan.changes}}
    head = head_lines(plan, notes, width, glyphs)
    alike = _alike(plan.changes)
    above, below = (
        [
            line
            for ids, fields in alike.items()
            if _aside(fields) is aside
            for line in _alike_lines(ids, fields, len(plan.changes), width, glyphs)
        ]
        for aside in (False, True)
    )
    rows = [Row((*head, *(above if head else above[1:]), Content()))] if head or above else []
    said = {id: frozenset(fields) for ids, fields in alike.items() for id in ids}
    pairs = _paired(plan.changes[:SHOWN])
    alone = len(pairs) == 1
    for change, old in pairs:
        lines = change_lines(
            _without(change, said.get(change.id, frozenset())),
            width,
            glyphs,
            old=old,
            most=0 if alone or whole else MOST_LINES,
            names=names,
        )
        if alone:  # nothing to choose between: the lines scroll one by one
            rows += [Row((line,)) for line in lines]
        else:
            rows.append(Row(tuple(lines), change.id))
    if below:
        rows.append(Row(tuple(below[1:])))
    left = plan.count - min(SHOWN, len(plan.changes))
    if left > 0:
        rows.append(Row(tuple(heading(f"and {full(left)} more", "$dim"))))
    return rows


Alike = Mapping[tuple[str, ...], Mapping[str, tuple[Any, Any]]]
"""Ids of memories, and what becomes of fields in each of them in the same way: before and after."""


def _alike(changes: Sequence[Change]) -> Alike:
    """What is done to several memories in the same way, to be said once: fields that change so wherever they change."""
    edits = [change for change in changes if change.op == "edit"]
    told: dict[tuple[str, ...], dict[str, tuple[Any, Any]]] = {}
    if len(edits) < 2:
        return told
    fields = dict.fromkeys(name for edit in edits for name in edit.after)
    for name in fields:
        if name in ("text", "relations", "supersedes", *_LAYERS, *_REPLACED):
            continue
        here = [edit for edit in edits if name in edit.after]
        ways = {repr((change.before.get(name), change.after[name])) for change in here}
        if len(here) > 1 and len(ways) == 1:
            ids = tuple(change.id for change in here)
            told.setdefault(ids, {})[name] = (here[0].before.get(name), here[0].after[name])
    return told


def _aside(fields: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether that is nothing but what follows from the change."""
    return all(name in _BESIDE for name in fields)


def _alike_lines(
    ids: Sequence[str], fields: Mapping[str, tuple[Any, Any]], count: int, width: int, glyphs: Glyphs
) -> list[Content]:
    before, after = ({name: way[at] for name, way in fields.items()} for at in (0, 1))
    title = (
        f"IN EACH OF THE {full(count)}" if len(ids) == count else f"IN {full(len(ids))} OF THE {full(count)}"
    )
    return [*heading(title), *field_lines(before, after, width, glyphs)]


def _without(change: Change, fields: frozenset[str]) -> Change:
    """A change without the fields that are said elsewhere."""
    if not fields:
        return change
    before, after = (
        {name: value for name, value in side.items() if name not in fields}
        for side in (change.before, change.after)
    )
    return replace(change, before=before, after=after)


def head_lines(plan: ChangeSet, notes: Sequence[str], width: int, glyphs: Glyphs) -> list[Content]:
    """What stands above the changes: what has to be known first, what is in the way, where else the texts stand."""
    lines = list(sentences((*notes, *plan.warnings), width, glyphs.warn, "bold $stale"))
    if plan.conflicts:
        count = counted(len(plan.conflicts), "conflict", "conflicts")
        lines += heading(f"{count}: this cannot be applied", "bold $danger")
        for conflict in plan.conflicts[:SHOWN]:
            lines += conflict_lines(conflict, width, glyphs)
    if plan.left:
        count = counted(len(plan.left), "memory is not changed", "memories are not changed")
        lines += heading(f"{count}: {one_line(plan.left[0].sentence)}", "$dim")
    if plan.purges:
        lines += heading(f"deleted before, and now without a trace: {full(len(plan.purges))}")
    lines += _copies(plan, width, glyphs)
    if plan.changes:
        reasons = Counter(change.why for change in plan.changes if change.op == "delete")
        whys = [_reason(why, n) for why, n in reasons.items()] if len(reasons) > 1 else []
        if whys:
            lines += heading(crop(", ".join(whys), width - 2, glyphs.ellipsis), "$dim")
    return lines


def _reason(why: str, count: int) -> str:
    """How many memories go for one reason."""
    plain = counted(count, "older version") if why == "older version" else f"{full(count)} {why or 'named'}"
    return one_line(plain)


def _copies(plan: ChangeSet, width: int, glyphs: Glyphs) -> Iterator[Content]:
    """Where else the text stands: from the end of the path, which tells files apart."""
    if not plan.copies:
        return
    goes = sum(bool(copy["goes"]) for copy in plan.copies)
    stay = len(plan.copies) - goes
    yield from heading(
        f"COPIES IN FILES  {full(goes)} go{'es' if goes == 1 else ''}, {full(stay)} stay{'s' if stay == 1 else ''}"
    )
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
    old = {change.group: change for change in changes if change.group and change.op == "edit"}
    fresh = {change.group for change in changes if change.group and change.op == "add"}
    return [
        (change, old.get(change.group) if change.op == "add" else None)
        for change in changes
        if change.op == "add" or change.group not in fresh or not change.group
    ]


def change_lines(
    change: Change,
    width: int,
    glyphs: Glyphs,
    *,
    old: Change | None = None,
    most: int = MOST_LINES,
    names: Mapping[str, str] | None = None,
) -> list[Content]:
    """One change: its memory in words, then what differs.

    `old` is the version it supersedes; `most` lines a text, 0: all; `names` are the texts of memories by their ids.
    """
    done, mark = {"edit": ("", "~"), "add": ("new", "+"), "delete": ("goes", "-")}[change.op]
    shown = old or change
    if old is not None:
        done, mark = "new version", "~"
    why = "" if old is not None else short_ids(one_line(change.why))
    apart = len(why) > _LONG_WHY and len(why) > width // 4
    far = "  ".join(part for part in (done, "" if apart else why, one_line(shown.id)[:8]) if part)
    reworded = old is not None or "text" in change.after
    room = max(12, width - len(far) - 6)
    text = Content.styled(one_line(veiled(shown.title)), "bold $foreground")
    if reworded and change.op != "delete":  # the text itself follows, word by word
        wrapped = [Content.styled(crop(text.plain, room, glyphs.ellipsis), "bold $foreground")]
    else:
        wrapped = list(text.wrap(room))
    if most and len(wrapped) > HEAD_LINES:  # only the first line has something beside it
        below = [max(12, width - 6)] * (HEAD_LINES - 1)
        parts = folded(text.plain, (room, *below), glyphs.ellipsis)
        wrapped = [Content.styled(part, "bold $foreground") for part in parts]
    lines = [
        Content.assemble((f" {mark} ", "bold $foreground") if i == 0 else "   ", line)
        for i, line in enumerate(wrapped)
    ]
    gap = " " * max(2, width - 1 - lines[0].cell_length - len(far))
    lines[0] = Content.assemble(lines[0], gap, (far, "$dim"))
    if apart:
        lines += [
            Content.assemble("     ", line) for line in Content.styled(why, "$dim").wrap(max(12, width - 7))
        ]
    return [*lines, *_becomes(change, old, width, glyphs, most, names or {}), Content()]


def _becomes(
    change: Change, old: Change | None, width: int, glyphs: Glyphs, most: int, names: Mapping[str, str]
) -> list[Content]:
    """What is below the name of a change."""
    if old is not None:
        after = {"text": change.after.get("text")}
        said = "     the version before stays as history"
        rest = {key: value for key, value in change.after.items() if key in _GOES and key != "text"}
        was = {key: old.before.get(key) for key in rest if key in old.before}
        more = {key: value for key, value in rest.items() if key in was and was[key] != value}
        return [
            *field_lines({"text": old.title}, after, width, glyphs, most=most, names=names),
            *field_lines({key: was[key] for key in more}, more, width, glyphs, names=names),
            Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"),
        ]
    if change.op == "edit":
        return field_lines(change.before, change.after, width, glyphs, most=most, names=names)
    lines: list[Content] = []
    values = change.after if change.op == "add" else change.before
    facts = {key: values[key] for key in _GOES if key in values}
    text = facts.pop("text", None)
    if text is not None and change.op == "add":
        lines += _block(Content.styled(clean(veiled(str(text))), "$delta-up"), width, glyphs, most)
    said = "   ".join(f"{key} {value_words(value, key)}" for key, value in facts.items() if value is not None)
    return (
        [*lines, Content.styled(crop(f"     {said}", width - 1, glyphs.ellipsis), "$dim")] if said else lines
    )


def _field_cells(names: Sequence[str]) -> int:
    """Cells of the column of names: a longer one is cut before its value, never against it."""
    return max(FIELD_CELLS, min(MOST_FIELD_CELLS, max((len(name) + 1 for name in names), default=0)))


def field_lines(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    width: int,
    glyphs: Glyphs,
    *,
    most: int = 0,
    names: Mapping[str, str] | None = None,
) -> list[Content]:
    """Field by field from `before` to `after`; long values word by word, links by the words of their memories."""
    links, linked = _links(before, after, width, glyphs, names or {})
    lines: list[Content] = []
    fields = [name for name in dict.fromkeys((*before, *after)) if name not in linked]
    cells = _field_cells(fields)
    room = max(8, (width - cells - 10) // 2)
    beside = [name for name in fields if name in _BESIDE] if len(fields) + len(links) > 1 else []
    fields = [name for name in fields if name not in beside]
    follow = [name for name in fields if name in _LAYERS and _follows(after.get(name), after.get("text"))]
    for name in sorted((name for name in fields if name not in follow), key=lambda name: name != "text"):
        old, new = before.get(name), after.get(name)
        long = isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) >= LONG
        if long:
            lines.append(Content.styled(f"     {one_line(name)}", "$dim"))
            if (
                name == "metadata"
            ):  # the whole text of an object: word by word it is all quotes and backslashes
                for mark, value, style in (("-", old, "$delta-down"), ("+", new, "$delta-up")):
                    words = Content.styled(f"{mark} {_object_words(str(value))}", style)
                    lines += _block(words, width, glyphs, most)
            else:
                lines += _block(difference(str(old), str(new), glyphs), width, glyphs, most)
            continue
        whole = max(8, width - cells - 10)
        was, now = value_words(old, name), value_words(new, name)
        if cell_len(was) + cell_len(now) > whole:
            was, now = crop(was, room, glyphs.ellipsis), crop(now, room, glyphs.ellipsis)
        lines.append(
            Content.assemble(
                "     ",
                (f"{fit(one_line(name), cells - 1, glyphs.ellipsis)} ", "$dim"),
                (was, "$delta-down"),
                (f" {glyphs.forth} ", "$dim"),
                (now, "$delta-up"),
            )
        )
    if follow:
        said = f"     updated from the text: {', '.join(follow)}"
        lines.append(Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"))
    if beside:
        values = [
            (one_line(name), *(value_words(side.get(name), name) for side in (before, after)))
            for name in beside
        ]
        told = "   ".join(f"{name} {was} {glyphs.forth} {now}" for name, was, now in values)
        lines += [
            Content.assemble("     ", line) for line in Content.styled(told, "$dim").wrap(max(12, width - 7))
        ]
    return [*links, *lines]


def _links(
    before: Mapping[str, Any], after: Mapping[str, Any], width: int, glyphs: Glyphs, names: Mapping[str, str]
) -> tuple[list[Content], set[str]]:
    """Links to other memories that come or go, each said once in that memory's words; and the fields that hold them."""
    used = {
        name
        for name in (*_REPLACED, "supersedes")
        if _is_link(before.get(name)) and _is_link(after.get(name))
    }
    used = {name for name in used if name in before or name in after}
    old, new = (_ends(side, used) for side in (before, after))
    relations = before.get("relations"), after.get("relations")
    if "relations" in before or "relations" in after:
        first, second = (_relations(relation) for relation in relations)
        if first is not None and second is not None:
            used.add("relations")
            old |= dict.fromkeys(first)
            new |= dict.fromkeys(second)
    lines = []
    for sign, ends, others in ((True, new, old), (False, old, new)):
        for kind, target in ends:
            if (kind, target) in others:
                continue
            label = kind if sign else f"no longer {kind}"
            cells = max(FIELD_CELLS, len(label) + 2)
            text = crop(
                names.get(target, short_ids(one_line(target))), max(8, width - cells - 7), glyphs.ellipsis
            )
            style = "$foreground" if sign else "strike $delta-down"
            lines.append(Content.assemble("     ", (fit(label, cells), "$dim"), (text, style)))
    return lines, used


def _is_link(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _ends(side: Mapping[str, Any], fields: Iterable[str]) -> dict[tuple[str, str], None]:
    """What a memory is linked to by fields that name one memory: what the link says, and the id."""
    ends: dict[tuple[str, str], None] = {}
    for name in sorted(fields):
        if target := side.get(name):
            ends[_WORDS["supersedes" if name == "supersedes" else "superseded_by"], str(target)] = None
    return ends


def _relations(value: Any) -> list[tuple[str, str]] | None:
    """The links of a list of relations; None where it holds anything else."""
    if value is None:
        return []
    if not isinstance(value, list):
        return None
    ends = [(item.get("type"), item.get("targetId")) for item in value if isinstance(item, dict)]
    if len(ends) < len(value) or not all(isinstance(target, str) for _, target in ends):
        return None
    return [(_WORDS.get(str(kind), one_line(str(kind))), str(target)) for kind, target in ends]


def linked_ids(plan: ChangeSet) -> list[str]:
    """The memories that a change set speaks of and does not change: those that a link comes to or goes from."""
    found: dict[str, None] = {}
    for change in plan.changes[:SHOWN]:
        for side in (change.before, change.after):
            found |= {target: None for _, target in _ends(side, (*_REPLACED, "supersedes"))}
            found |= {target: None for _, target in _relations(side.get("relations")) or ()}
    own = set(plan.ids)
    return [each for each in found if each not in own]


def _follows(layer: Any, text: Any) -> bool:
    """Whether a summary is nothing but the text."""
    return isinstance(layer, str) and isinstance(text, str) and layer in (text, f"- {text}")


def _block(text: Content, width: int, glyphs: Glyphs, most: int) -> list[Content]:
    """A text in lines, set off to the right; at most `most` of them where that is not 0."""
    wrapped = list(text.wrap(max(12, width - 9)))
    shown = wrapped if not most or len(wrapped) <= most else wrapped[: most - 1]
    lines = [Content.assemble("       ", line) for line in shown]
    if len(shown) < len(wrapped):
        lines.append(
            Content.styled(
                f"       {glyphs.ellipsis} {counted(len(wrapped) - len(shown), 'line')} more", "$dim"
            )
        )
    return lines


def conflict_lines(conflict: Conflict, width: int, glyphs: Glyphs) -> list[Content]:
    """What stands in the way of one memory, and where fields are in dispute: before, mine, theirs."""
    text = f" {one_line(conflict.id)[:8]}  {one_line(conflict.sentence)}"
    lines = [Content.styled(crop(text, width - 1, glyphs.ellipsis), "$foreground")]
    cells = _field_cells([field.field for field in conflict.fields])
    for field in conflict.fields:
        for name, value in (("before", field.before), ("mine", field.mine), ("theirs", field.theirs)):
            first = f"{fit(one_line(field.field), cells - 1)} " if name == "before" else " " * cells
            line = f"   {first}{name:<8}{value_words(value, field.field)}"
            style = "$foreground" if name == "theirs" else "$dim"
            lines.append(Content.styled(crop(line, width - 1, glyphs.ellipsis), style))
    return lines
