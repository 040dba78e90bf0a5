"""What the widest Home tells besides: the last changes made through memtui, and how the saved questions stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message

from memtui.engine import CancelToken, one_line
from memtui.tui.keys import Keymap
from memtui.tui.messages import AskRecall, ShowEntry
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import age, plural, short
from memtui.tui.screens.home.links import Row

if TYPE_CHECKING:
    from memtui.engine import Engine, JournalEntry
    from memtui.engine.cases.case import Case
    from memtui.engine.cases.run import Answer

ENTRIES = 60
"""More than the tallest panel shows."""
ACTION, COUNT = 9, 5


class CasesWanted(Message):
    """The saved questions are to be asked: never done unasked, for a provider may be paid for it."""


@dataclass(frozen=True, slots=True)
class Lately:
    """The journal and the cases as they were read, and what came back when the cases were last asked here."""

    entries: Sequence[JournalEntry] = ()
    cases: Sequence[Case] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    """By the id of the case; empty before they are asked."""


def ask(engine: Engine, cases: Sequence[Case], cancel: CancelToken) -> Mapping[str, Answer]:
    """Ask every case as the store's own recipe answers it; for a worker."""
    from memtui.engine.cases.run import Setup, run_cases

    report = run_cases(
        cases, Setup("home"), lambda asked: engine.recall(asked, None, cancel), engine.memories, cancel=cancel
    )
    return {answer.case.id: answer for answer in report.answers}


def journal_rows(
    entries: Sequence[JournalEntry], width: int, height: int, now_ms: int, glyphs: Glyphs
) -> list[Row]:
    """The newest changes: when, what, how many memories; each leads to its entry."""
    if not entries:
        return [Row(Content.styled(crop("nothing was changed here yet", width), "$dim"))]
    rows = []
    for entry in entries[: max(1, height)]:
        mark, style = {"undone": (glyphs.back, "$dim"), "interrupted": (glyphs.warn, "bold $danger")}.get(
            entry.state, (" ", "")
        )
        counted = plural(entry.rows, "memory", "memories")
        title = one_line(entry.title).removeprefix(f"{counted}: ").removeprefix(f"{counted} ")
        gone = entry.state == "undone"
        line = Content.assemble(
            (right(age(entry.time_ms, now_ms), 4), "$dim"),
            (f" {mark} ", style),
            (fit(one_line(entry.action), ACTION, glyphs.ellipsis), "$dim" if gone else "bold $foreground"),
            (right(short(entry.rows), COUNT), "$foreground"),
            "  ",
            (crop(title, max(4, width - 7 - ACTION - COUNT - 2), glyphs.ellipsis), "$dim" if gone else ""),
        )
        rows.append(Row(line, partial(ShowEntry, entry.entry)))
    return rows


def case_rows(
    lately: Lately, width: int, height: int, glyphs: Glyphs, keys: Keymap, *, asking: bool
) -> list[Row]:
    """Every saved question with a mark for whether it is answered as it should be; each leads to Recall."""
    cases, answers = lately.cases, lately.answers
    if not cases:
        said = f"{keys.cap('recall.right')} or {keys.cap('recall.wrong')} on an answer of Recall saves its question"
        lines = Content.styled(said, "$dim").wrap(max(12, width))
        return [Row(line, partial(AskRecall, "", False) if not i else None) for i, line in enumerate(lines)]
    right_ones = sum(1 for case in cases if good(answers.get(case.id)))
    said = (
        "asking"
        if asking
        else f"{right_ones} of {len(cases)} right, ask again"
        if answers
        else "ask them all"
    )
    rows = [Row(Content.styled(crop(said, width), "$primary" if asking else "bold $foreground"), CasesWanted)]
    for case in cases[: max(1, height - 1)]:
        fine = good(answers.get(case.id))
        mark, style = {True: (glyphs.mark, "$ok"), False: (glyphs.cross, "bold $danger")}.get(
            fine,  # type: ignore[arg-type]
            (glyphs.dot, "$dim"),
        )
        text = crop(one_line(case.query), max(4, width - 2), glyphs.ellipsis)
        rows.append(
            Row(
                Content.assemble((f"{mark} ", style), (text, "$foreground")),
                partial(AskRecall, case.query),
            )
        )
    return rows


def good(answer: Answer | None) -> bool | None:
    """Whether a case is answered as it should be; None where it was not asked, or could not be.

    What is expected is among the first, nothing rejected is, and where nothing is wanted nothing came.
    """
    if answer is None or answer.measures is None:
        return None
    found = answer.measures
    return found.hit != 0 and found.silence != 0 and not found.rejected
