"""What the result panel says when it has no results to show, and the ways out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine import one_line
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.recall import account, rules
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.session import Session
from memtui.tui.widgets.state_panel import Choice, State, failed
from memtui.tui.words import DEMO, OPEN

if TYPE_CHECKING:
    from memtui.engine import RecipeInfo, Trace


def results_state(state: RecallState, session: Session, recipes: Sequence[RecipeInfo]) -> State | None:
    """The words instead of results; None when there are results to show."""
    if session.engine is None:
        return _no_store(session)
    if state.phase == "failed" and state.error is not None:
        return failed(
            "This recall failed.",
            state.error,
            Choice("again", "try again", "{recall.again}"),
            Choice("ask", "ask something else", "{recall.ask}"),
            Choice("recipe", "use another recipe", "{recall.recipe}"),
            *(
                [Choice("back", "back to the answer before", "{recall.back}")]
                if state.trace is not None
                else []
            ),
        )
    if state.trace is None:
        return (
            State("loading", "asking", skeleton=True)
            if state.phase == "running"
            else _nothing_asked(session, recipes)
        )
    if state.trace.results or state.trace.failure is not None:
        return None
    return nothing(state.trace, [recipe.name for recipe in recipes])


def _no_store(session: Session) -> State:
    if session.phase == "failed" and session.error is not None:
        return failed(
            "The store could not be opened.", session.error, Choice("home", "go Home", "{app.go-home}")
        )
    if session.phase in ("looking", "opening"):
        return State("loading", "opening the store; the question can be typed already", skeleton=True)
    return State(
        "empty", "No store is open.", choices=(Choice("home", "open one from Home", "{app.go-home}"),)
    )


def _nothing_asked(session: Session, recipes: Sequence[RecipeInfo]) -> State:
    if session.info is not None and not session.info.rows:
        return State(
            "empty", "This store holds no memories yet: nothing can come back.", choices=(OPEN, DEMO)
        )
    facts = []
    if session.info is not None:
        facts.append(("question vectors", one_line(session.info.embedder)))
        facts.append(("keyword index", one_line(session.info.fts)))
    choices = [Choice("recipe", one_line(r.name), one_line(r.title), r.name) for r in recipes]
    return State(
        "empty",
        "Ask what the agent would ask, and see why it remembers what it does.",
        tuple(facts),
        tuple(choices),
    )


def nothing(trace: Trace, recipes: Sequence[str]) -> State:
    """Why nothing came back, and the ways out, most promising first."""
    groups = account.dropped(trace)
    facts: list[tuple[str, str]] = []
    choices: list[Choice] = []
    gated = next((group for group in groups if group.reason == "adaptive_gate"), None)
    if gated is not None:
        head = "The agent would not have asked this."
        facts.append(("gate", one_line(gated.note) or "skipped"))
        facts.append(("found", f"{plural(len(gated.candidates), 'memory', 'memories')} would have come back"))
        if "pro/tool" in recipes:
            choices.append(Choice("recipe", "ask as the memory_recall tool", "pro/tool", "pro/tool"))
    elif trace.filters.get("scopes") == []:
        head = "Nothing came back: no scope may be searched."
    elif groups:
        count = len(trace.candidates)
        who = f"all {count:,} candidates were" if count > 1 else "the only candidate was"
        head = f"Nothing came back: {who} dropped."
        skipped = next((s.note for s in trace.stages if s.name == "adaptive_gate" and s.note), "")
        if skipped:
            facts.append(("gate", f"the agent would not have asked: {one_line(skipped)}"))
        facts += [(group.title, f"{len(group.candidates)} {rules.gate(group.reason)}") for group in groups]
    else:
        head = "No search found anything."
    if trace.mode == "keyword":
        facts.append(("searched", "by keywords only"))
    if trace.mode == "tag":
        facts.append(("searched", "by tag only: the question holds a tag word"))
    if groups:
        choices.append(Choice("dropped", "see what was dropped", "{recall.missing}"))
    if trace.filters.get("scopes"):
        choices.append(Choice("scope", "search all scopes", "drop the scope filter"))
    if trace.filters.get("category"):
        choices.append(Choice("category", "search all categories", "drop the category"))
    choices.append(Choice("ask", "ask something else", "{recall.ask}"))
    return State("empty", head, tuple(facts), tuple(choices))
