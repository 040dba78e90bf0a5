"""Forgetting somebody as a case: who is named, what is probably about them, and what is done with each memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.content import Content

from memtui.engine import MemtuiError, changes, counted, one_line, veiled
from memtui.engine.changes import holds_words
from memtui.engine.witness import likely_about, stays_elsewhere
from memtui.paths import state_dir
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.change_preview import ChangePreview, PreviewRows
from memtui.tui.dialogs.change_preview_view import HEAD_LINES, MOST_LINES, change_lines, head_lines, sentences
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, score
from memtui.tui.widgets.row_list import Row, RowMessage

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import ChangeSet
    from memtui.engine.witness import Likely
    from memtui.tui.widgets.text_lines import Way


@dataclass(slots=True)
class PersonCase:
    """Who is forgotten, the memories in question, and what was chosen for each so far."""

    name: str
    hits: tuple[str, ...]
    """The memories that name them: they go, unless they were left out."""
    likely: dict[str, str] = field(default_factory=dict)
    """Probably about them, without the name, and why it seems so: they stay, unless they were chosen."""
    left_out: set[str] = field(default_factory=set)
    chosen: set[str] = field(default_factory=set)
    redacted: dict[str, str] = field(default_factory=dict)
    """Memories that stay without some words; empty words are the name."""
    texts: dict[str, str] = field(default_factory=dict)

    def goes(self, id: str) -> bool:
        """Whether something is done with this memory."""
        return id in self.chosen if id in self.likely else id not in self.left_out

    def turn(self, id: str, goes: bool) -> None:
        """Let this memory go, or stay as it is."""
        if id in self.likely:
            (self.chosen.add if goes else self.chosen.discard)(id)
        else:
            (self.left_out.discard if goes else self.left_out.add)(id)
        if not goes:
            self.redacted.pop(id, None)

    def plan(self, engine: Engine) -> ChangeSet:
        """What is to be done as it is chosen now; for a worker."""
        ids = [hit for hit in (*self.hits, *self.likely) if self.goes(hit)]
        return changes.plan_forget_person(engine, ids, self.name, self.redacted)

    def begin(self, engine: Engine) -> tuple[ChangeSet, Sequence[str]]:
        """The first plan, after a look at what is near and at what stays elsewhere; for a worker."""
        named = changes.plan_forget_person(engine, self.hits, self.name)
        found = likely_about(engine, named.ids, self.name)
        self.likely = {each.memory.id: _seems(each) for each in found}
        self.texts = {change.id: change.title for change in named.changes}
        self.texts |= {each.memory.id: each.memory.text for each in found}
        notes = stays_elsewhere(self.name, engine.environ, Path.cwd(), state_dir(engine.environ))
        if not found:
            notes = ["No other memory holds a word of the name or is near these in meaning.", *notes]
        return (self.plan(engine) if self.chosen or self.left_out or self.redacted else named), notes


def person_rows(
    case: PersonCase,
    plan: ChangeSet,
    notes: Sequence[str],
    width: int,
    glyphs: Glyphs,
    *,
    whole: bool = False,
) -> list[Row]:
    """The case in rows: who is named, what goes with that, and what is probably about the same; each can be chosen."""
    changes = {change.id: change for change in plan.changes}
    names = {change.id: one_line(veiled(change.title)) for change in plan.changes}
    most = 0 if whole else MOST_LINES

    def row(id: str, why: str) -> Row:
        change = changes.get(id)
        if change is None:
            return Row(tuple(_stays(case.texts.get(id, ""), id, why, width, glyphs, whole)), id)
        said = "  ".join(part for part in (change.why, why) if part)
        shown = replace(change, why=said)
        return Row(tuple(change_lines(shown, width, glyphs, most=most, names=names)), id)

    head = head_lines(plan, (), width, glyphs)
    rows = [Row(tuple(head))] if head else []
    rows.append(Row(_titled("NAMED", _chosen(case, case.hits), width)))
    rows += [row(hit, "") for hit in case.hits]
    own = {*case.hits, *case.likely}
    behind = [change for change in plan.changes if change.id not in own]
    for each in behind:  # it goes with one of them: there is nothing to choose
        rows.append(Row(tuple(change_lines(each, width, glyphs, most=most, names=names))))
    if case.likely:
        title = "PROBABLY ABOUT THEM: WITHOUT THE WHOLE NAME"
        rows.append(Row(_titled(title, _chosen(case, tuple(case.likely)), width)))
        rows += [row(each, why) for each, why in case.likely.items()]
    if notes:  # what is not chosen here stands behind what is
        said = sentences(notes, width, glyphs.dot, "$dim")
        rows.append(Row((Content(), Content.styled(" ELSEWHERE", "bold $heading"), *said)))
    return rows


def _seems(found: Likely) -> str:
    """Why a memory is probably about somebody."""
    word = f"“{one_line(found.word)}”" if found.word else ""
    near = f"similarity {score(found.similarity)}" if found.similarity is not None else ""
    return "  ".join(part for part in (word, near) if part)


def _chosen(case: PersonCase, ids: Sequence[str]) -> str:
    """How many of these go, are redacted and stay."""
    done = [memory_id for memory_id in ids if case.goes(memory_id)]
    less = sum(each in case.redacted for each in done)
    parts = [(len(done) - less, "go" if len(done) - less != 1 else "goes"), (less, "redacted")]
    stays = len(ids) - len(done)
    parts.append((stays, "stay" if stays != 1 else "stays"))
    return ", ".join(f"{full(count)} {word}" for count, word in parts if count)


def _titled(title: str, far: str, width: int) -> tuple[Content, ...]:
    gap = " " * max(2, width - len(title) - len(far) - 2)
    return (Content(), Content.assemble((f" {title}", "bold $heading"), gap, (far, "$dim")))


def _stays(text: str, id: str, why: str, width: int, glyphs: Glyphs, whole: bool) -> list[Content]:
    """A memory that is left as it is."""
    far = "  ".join(part for part in ("stays", why, one_line(id)[:8]) if part)
    room = max(12, width - len(far) - 6)
    wrapped = list(Content.styled(one_line(veiled(text)), "$dim").wrap(room)) or [Content()]
    if not whole and len(wrapped) > HEAD_LINES:
        last = Content.assemble(wrapped[HEAD_LINES - 1].truncate(room - 1).rstrip(), glyphs.ellipsis)
        wrapped = [*wrapped[: HEAD_LINES - 1], last]
    lines = [Content.assemble("   ", line) for line in wrapped]
    gap = " " * max(2, width - 1 - lines[0].cell_length - len(far))
    lines[0] = Content.assemble(lines[0], gap, (far, "$dim"))
    return [*lines, Content()]


class PersonRows(PreviewRows, inherit_bindings=False):
    """The memories in question; each may go, lose the words, or stay."""

    class Chosen(RowMessage):
        """A memory is to go, or to stay."""

    BINDINGS = [*bindings("person"), *bindings("preview"), *bindings("narrow")]  # noqa: RUF012

    def __init__(self, case: PersonCase, plan: ChangeSet, notes: Sequence[str]) -> None:
        super().__init__(plan, notes)
        self.case = case

    def paint(self, width: int) -> Sequence[Row]:
        return person_rows(self.case, self.plan, self.notes, width, host(self).glyphs, whole=self.whole)

    def action_choose(self) -> None:
        if self.key:
            self.post_message(self.Chosen(self, self.key))


class PersonPreview(ChangePreview):
    """The preview of a person who is forgotten; what is chosen for one memory plans the whole anew."""

    def __init__(self, case: PersonCase, plan: ChangeSet, **more: Any) -> None:
        super().__init__(plan, **{**more, "turns": True})
        self.case = case
        self._rows = PersonRows(case, plan, self._notes())

    @property
    def _row(self) -> str:
        return self._rows.key

    def _shares(self, changes: int, effect: int, room: int) -> tuple[int, int]:
        """Choosing is the work here: what follows gets a third."""
        given = min(effect, max(room // 3, room - changes))
        return room - given if changes > room - given else changes, given

    @property
    def _can_drop(self) -> bool:
        return False

    def agreed_words(self, gone: int) -> str:
        less = sum(change.op == "edit" for change in self.plan.changes)
        parts = [f"delete {counted(gone, 'memory', 'memories')}"] if gone else []
        parts += [f"redact {full(less)}"] if less else []
        return ", ".join(parts)

    def more_ways(self) -> list[Way]:
        return [("person.choose", "stays" if self.case.goes(self._row) else "goes")] if self._row else []

    @on(PersonRows.Chosen)
    def _turned(self, message: PersonRows.Chosen) -> None:
        """Let the memory under the cursor go, or stay; and on to the next."""
        message.stop()
        self.case.turn(message.key, not self.case.goes(message.key))
        self._rows.action_down()
        self._plan_anew()

    def action_redact(self) -> None:
        """Take the name out in place of deleting, and the other way; without the name one says which words."""
        id, case = self._row, self.case
        if not id:
            return
        if id in case.redacted:
            del case.redacted[id]
            self._plan_anew()
        elif holds_words(case.texts.get(id, ""), "", case.name):
            self._redact(id, "")
        else:
            text = one_line(veiled(case.texts.get(id, "")))
            ask = TextPrompt("Which words are taken out?", f"It does not hold the name: {text}")
            self.app.push_screen(ask, lambda words: self._words(id, words))

    def _words(self, id: str, words: str | None) -> None:
        if words is None:
            return
        if holds_words(self.case.texts.get(id, ""), words, self.case.name):
            self._redact(id, words)
        else:
            self.notify(f"It does not hold {one_line(words)!r}; nothing was chosen.", markup=False)

    def _redact(self, id: str, words: str) -> None:
        self.case.turn(id, True)
        self.case.redacted[id] = words
        self._plan_anew()

    def action_leave_out(self) -> None:
        for conflict in self.plan.conflicts:
            self.case.turn(conflict.id, False)
        self._plan_anew()

    def _plan_anew(self) -> None:
        from memtui.tui.change_request import without_sending

        engine = host(self).session.engine
        if engine is not None:
            self.runner.call(
                "plan",
                lambda token, report: without_sending(engine, self.case.plan)[0],
                self._take,
                failed=self._not_planned,
            )

    def _not_planned(self, error: MemtuiError) -> None:
        self._take(self.plan.without(self.plan.ids))
        self.notify(str(error), severity="error", markup=False)
