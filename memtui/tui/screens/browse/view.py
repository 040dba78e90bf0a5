"""What Browse says: on the frames of its panels, in the filter line, and where there is no list to show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import CancelToken, Memory, MemtuiError, dump_json, one_line
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.no_store import FILLING, RETRY
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, short, so_far
from memtui.tui.screens.browse.filter_text import shorter
from memtui.tui.screens.browse.state import BrowseState, EmptyListRemedy, ListAnswer, scopes_phrase, sort_name
from memtui.tui.widgets.state_panel import Choice, State, failed

if TYPE_CHECKING:
    from memtui.engine import (
        Engine,
        ListQuery,
        OnProgress,
    )
    from memtui.tui.actions.keymap import Keymap
    from memtui.tui.session import Session


FILTERING = Content.styled("  filtering... ", "$dim")
"""In the place of the count, which is never of another filter than the one beside it."""


def list_count(answer: ListAnswer | None, glyphs: Glyphs, *, narrow: bool) -> Content:
    """How many memories are listed, of how many, and in which order; nothing where there is no list."""
    if answer is None:
        return Content()
    view = answer.view
    falling = view.ranked or view.query.sort.startswith("-")
    count = short(view.total) if narrow else full(view.total)
    if view.total != view.table_total:
        count += f"/{short(view.table_total)}" if narrow else f" of {full(view.table_total)}"
    order = sort_name("~" if view.ranked else view.query.sort)
    return Content.assemble(
        "  ", (count, "$foreground"), f"   {order} {glyphs.down if falling else glyphs.up} "
    )


def list_headline(state: BrowseState, marks: str, keys: Keymap) -> Content:
    """What there is to know of the list: `marks` in words, what is not done yet, and its name if it has one."""
    if state.view is None:
        return Content()
    by_words = "keyword search, not by meaning" if state.view.note else ""  # the flash line says why
    pending = state.reading if state.view.partly else state.view.pending
    notes = (Content.styled(one_line(keys.words(note)), "$stale") for note in (pending, by_words))
    saved = f"view {crop(state.saved, 18)}" if state.saved else ""
    parts = (Content.styled(marks, "bold $primary"), *notes, Content.styled(saved, "$primary"))
    return Content("  ").join([part for part in parts if part.plain])


def still_reading(session: Session) -> str:
    """Why only what was written last can be listed, while that is so; with how much of the rest is there."""
    progress = session.progress
    if not session.early:
        return ""
    if not session.busy:
        return "written last; {app.reload} reads the rest"
    if progress is None or not progress.total:
        return "written last; reading the rest"
    return f"written last; the rest {so_far(progress.done, progress.total, progress.unit)}"


def waiting_words(words: str) -> Content:
    """What is going on, on the frame of the list."""
    return Content.styled(words, "$stale")


def nothing_matches(answer: ListAnswer) -> State:
    """An empty list, and the ways out that would show something."""
    query = answer.view.query
    if not answer.view.table_total:
        return State("empty", "Memories will be listed here.", choices=FILLING)
    asked = [("filter", query.filter)] if query.filter else []
    if query.scopes is not None:
        asked.append(("scopes", scopes_phrase(query.scopes)))
    ways = tuple(
        Choice("remedy", remedy.label, full(remedy.total), (remedy.filter, remedy.scopes))
        for remedy in answer.remedies
    )
    return State("empty", "nothing matches", tuple(asked), ways)


def view_failed(error: MemtuiError) -> State:
    """The list could not be made."""
    return failed(
        "the list could not be read",
        error,
        RETRY,
        Choice("clear", "clear the filter", "{browse.clear-filter}"),
    )


# The engine calls behind Browse, as they run on a worker thread.

MOST_REMEDIES = 6
"""Each costs a filter run; a person reads no more."""


def answer(
    engine: Engine,
    query: ListQuery,
    cancel: CancelToken,
    report: OnProgress | None = None,
    held: Memory | None = None,
) -> ListAnswer:
    """The list that `query` asks for; where it is empty, what would make it not so. `held` is under the cursor."""
    view = engine.view(query, cancel, report, partly=True)
    if view.partly:  # its counts would be of a page
        return ListAnswer(view, (), view.table_total)
    if held is not None and query.scopes is None:
        return ListAnswer(view, view.facets.scopes, view.total, cursor=engine.place(view, held.id))
    if query.scopes is None:
        return ListAnswer(view, view.facets.scopes, view.total, remedies(engine, query, cancel, view.total))
    cancel.check()
    everywhere = engine.view(replace(query, scopes=None), cancel)
    ways = remedies(engine, query, cancel, view.total)
    return ListAnswer(view, everywhere.facets.scopes, everywhere.total, ways)


def remedies(
    engine: Engine, query: ListQuery, cancel: CancelToken, total: int
) -> tuple[EmptyListRemedy, ...]:
    """For an empty list: the filter with one term less, or in all scopes, or none; only what finds rows."""
    if total:
        return ()
    tries: list[tuple[str, tuple[str | None, ...] | None, str]] = []
    if query.scopes is not None:
        if query.filter:
            tries.append((query.filter, None, f"look in all scopes, not only {scopes_phrase(query.scopes)}"))
        tries.append(("", query.scopes, "clear the filter") if query.filter else ("", None, "all scopes"))
    tries += [(rest, query.scopes, f"drop  {term}") for term, rest in shorter(query.filter)]
    tries.append(("", None, "all memories"))
    found: dict[tuple[str, object], EmptyListRemedy] = {}
    for text, scopes, label in tries[: MOST_REMEDIES + 2]:
        cancel.check()
        count = engine.view(replace(query, filter=text, scopes=scopes), cancel).total
        if count:
            found.setdefault((text, scopes), EmptyListRemedy(text, scopes, label, count))
    return tuple(found.values())[:MOST_REMEDIES]


# What can be copied of a memory.


def copy_options(memory: Memory) -> tuple[Option, ...]:
    """The choices, with the start of what each would copy."""
    return (
        Option("id", "id", memory.id, "i"),
        Option("text", "text", memory.title, "t"),
        Option("JSON", "JSON", "every field, as `memtui show` prints it", "j"),
    )


def copy_text(memory: Memory, what: str) -> str:
    """The id, the text exactly as stored, or the row as JSON."""
    if what == "id":
        return memory.id
    if what == "text":
        return memory.raw_text
    return dump_json(memory.as_json(), ensure_ascii=False, indent=2)
