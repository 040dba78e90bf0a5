"""Setting a value by typing or choosing: numbers, dates, versions, agents and scopes, another question's vector."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, RecallRequest, counted, explain, one_line
from memtui.engine.explain import History, PastQuestion
from memtui.paths import questions_file
from memtui.tui.bound_panel import BoundPart
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.dialogs.choose_one import ChooseOne, Option, ScopePick, Searched
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.paint.numbers import age, date
from memtui.tui.screens.whatif import state as reduce
from memtui.tui.screens.whatif.state import CATEGORY, CLOCK, OWNER, SCOPES, VECTOR, VERSION, WhatIfState
from memtui.tui.screens.whatif.view import name_of, shown
from memtui.tui.trace.options import recipe_named, recipes_of, unfiltered_words
from memtui.tui.trace.rule_text import figure

if TYPE_CHECKING:
    from memtui.engine import Engine


AGENT, FACETS, LIKE, KEPT = "agent", "facets", "like", "kept"

DEFAULT_AGENT = "main"
"""Whose memories the built-in program searches when it is not told."""

MOST_LISTED, MOST_KEPT = 16, 200

OWN, OTHER = "\0own", "\0other"


class ValuePrompts(BoundPart[WhatIfState]):
    """Opens the dialogs of What if and tries what they return; `engine` is that of the question."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    def open(self, path: str) -> None:
        """Let the person say what this setting is to be."""
        state = self.state
        each = reduce.parameter(state, path)
        special: dict[str, Callable[[], None]] = {
            CLOCK: self._clock,
            VERSION: self._version,
            SCOPES: self._scopes,
            CATEGORY: self._category,
            OWNER: self._owner,
            VECTOR: self._vector,
        }
        if path in special:
            special[path]()
        elif each is not None and each.knob.kind in ("number", "whole"):
            knob = each.knob
            hint = f"{knob.meaning}: {figure(knob.low)} to {figure(knob.high)}."
            now = reduce.value(state, path)
            self._ask(name_of(path), hint, f"{now:g}", lambda text: self._number(path, text))
        elif each is not None:
            self.become(lambda now: reduce.turn(now, path, 1))

    def _ask(self, title: str, hint: str, value: str, take: Callable[[str], None]) -> None:
        def taken(text: str | None) -> None:
            if text is not None:
                take(text)

        self.app.push_screen(TextPrompt(title, hint, value), taken)

    def _pick(
        self, title: str, options: list[Option], current: str | None, take: Callable[[str], None]
    ) -> None:
        def taken(value: str | None) -> None:
            if value is not None:
                take(value)

        self.app.push_screen(ChooseOne(title, options, current), taken)

    def _try(self, path: str, value: Any) -> None:
        self.become(lambda now: reduce.put(now, path, value))

    def _number(self, path: str, text: str) -> None:
        each = reduce.parameter(self.state, path)
        assert each is not None  # it was asked for
        try:
            value = float(text)
        except ValueError:
            self.flash(f"{text} is no number; nothing was changed.", "error")
            return
        knob = each.knob
        if not knob.low <= value <= knob.high:
            span = f"{figure(knob.low)} to {figure(knob.high)}"
            self.flash(f"{name_of(path)} runs from {span}; {figure(value)} is not in it.", "error")
            return
        self._try(path, knob.clamp(value))

    # ------------------------------------------------------------------ clock and version

    def _clock(self) -> None:
        hint = "A day, or a day and a time: 2026-08-01, 2026-08-01 14:30. Times are UTC."
        now = date(reduce.value(self.state, CLOCK))
        self._ask("Recall as of", hint, now, self._day)

    def _day(self, text: str) -> None:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.flash(f"{text} is no date; for example 2026-08-01.", "error")
            return
        at = int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)
        oldest = self.state.bounds.oldest_ms if self.state.bounds is not None else None
        if oldest is not None and at < oldest:
            self.flash(f"The first memory is of {date(oldest)}: before that nothing was known.", "note")
        self._try(CLOCK, at)

    def _version(self) -> None:
        bounds = self.state.bounds
        versions = bounds.versions if bounds is not None else ()
        if len(versions) < 2:
            self.flash("Only this version of the table can still be read.", "note")
            return
        options = [Option(str(n), f"v{n}", date(ms)) for n, ms in reversed(versions)][:MOST_LISTED]
        current = str(reduce.value(self.state, VERSION))
        more = f", the last {MOST_LISTED} of {len(versions)}" if len(versions) > MOST_LISTED else ""
        self._pick(f"Table version{more}", options, current, lambda value: self._try(VERSION, int(value)))

    # ------------------------------------------------------------------ whose memories

    def _scopes(self) -> None:
        bounds = self.state.bounds
        agents = bounds.agents if bounds is not None else ()
        options = [Option(OWN, "as asked", shown(self.state, SCOPES, reduce.own(self.state, SCOPES)))]
        options += [
            Option(agent, f"agent {one_line(agent)}", "its effective scopes")
            for agent in agents[:MOST_LISTED]
        ]
        options.append(Option(OTHER, "choose scopes", "any number of them, or all"))
        self._pick("Whose memories", options, self._as_asked(SCOPES), self._whose)

    def _as_asked(self, path: str) -> str | None:
        """The option of the answer's own value, while that stands; what was tried instead has no name."""
        return None if path in self.state.tried else OWN

    def _whose(self, value: str) -> None:
        engine = self._engine
        if value == OWN:
            self.become(lambda now: reduce.reset(now, SCOPES))
        elif value == OTHER:
            self._count(SCOPES)
        else:

            def work(cancel: CancelToken, report: Report) -> Any:
                return value, explain.agent_scopes(engine, value)

            self.call(AGENT, work, lambda found: self._have_agent(*found))

    def _owner(self) -> None:
        bounds = self.state.bounds
        options = [Option(owner, one_line(owner)) for owner in (bounds.owners if bounds is not None else ())]
        current = reduce.value(self.state, OWNER) or DEFAULT_AGENT
        self._pick("Whose memories", options, current, lambda value: self._try(OWNER, value))

    def _category(self) -> None:
        self._count(CATEGORY)

    def _count(self, what: str) -> None:
        from memtui.engine import ListQuery

        engine = self._engine

        def work(cancel: CancelToken, report: Report) -> Any:
            return what, engine.view(ListQuery(), cancel).facets

        self.call(FACETS, work, lambda found: self._choose(*found))

    # ------------------------------------------------------------------ the question's vector

    def _vector(self) -> None:
        options = [
            Option(OWN, "this question", "its own vector"),
            Option(LIKE, "a memory", "its own vector, its words"),
            Option(KEPT, "an earlier question", "with its stored vector"),
        ]
        self._pick("Ask with", options, self._as_asked(VECTOR), self._ask_with)

    def _ask_with(self, value: str) -> None:
        engine = self._engine
        if value == OWN:
            self.become(lambda now: reduce.reset(now, VECTOR))
        elif value == LIKE:
            trace = self.state.base
            request = trace.request if trace is not None else None

            def taken(memory_id: str | None) -> None:
                if memory_id is not None and request is not None:
                    self.call(
                        LIKE,
                        lambda cancel, report: explain.more_like(engine, memory_id, request),
                        self._have_like,
                    )

            self.app.push_screen(MemoryPick(engine, "Ask with this memory"), taken)
        else:
            store, dims = engine.info.uri, engine.info.dims

            def kept(cancel: CancelToken, report: Report) -> list[PastQuestion]:
                found = History(questions_file()).search(store=store, limit=MOST_KEPT)
                return [question for question in found if question.dims and question.dims == dims]

            self.call(KEPT, kept, self._kept)

    # ------------------------------------------------------------------ what the engine says

    def _have_agent(self, agent: str, scopes: list[str] | None) -> None:
        said = "every scope" if scopes is None else ", ".join(map(one_line, scopes)) or "no scope at all"
        self.flash(f"agent {one_line(agent)} reads {said}", "note")
        self._try(SCOPES, scopes)

    def _have_like(self, request: RecallRequest) -> None:
        self._with_vector(request, one_line(request.query))

    def _kept(self, questions: list[PastQuestion]) -> None:
        if not questions:
            self.flash("No earlier question of this store has kept its vector yet.", "note")
            return
        now = host(self).now_ms()
        options = [
            Option(str(question.number), one_line(question.query)[:60], age(question.asked_ms, now))
            for question in questions
        ]

        def take(number: str) -> None:
            question = next(question for question in questions if str(question.number) == number)
            work = lambda cancel, report: explain.again(question, History(questions_file()))  # noqa: E731
            self.call(LIKE, work, self._have_like)

        self._pick("Ask with an earlier question", options[:MOST_LISTED], None, take)

    def _choose(self, what: str, facets: Any) -> None:
        state = self.state
        if what == SCOPES:

            def taken(chosen: Searched | None) -> None:
                if chosen is not None:
                    self._try(SCOPES, list(chosen.scopes) if chosen.scopes is not None else None)

            choices = [(scope, count) for scope, count in facets.scopes if scope is not None]
            recipe = recipe_named(recipes_of(self.session.engine), state.base.recipe if state.base else "")
            now = Searched(reduce.value(state, SCOPES))
            self.app.push_screen(ScopePick(choices, now, unfiltered=unfiltered_words(recipe)), taken)
            return
        options = [Option(OWN, "any category")]
        options += [Option(name, one_line(name), f"{count:,}") for name, count in facets.categories if name]
        current = reduce.value(state, CATEGORY) or OWN
        self._pick(
            "Category", options, current, lambda value: self._try(CATEGORY, None if value == OWN else value)
        )

    def _with_vector(self, request: RecallRequest, said: str) -> None:
        given = {"query": request.query, VECTOR: request.query_vector}
        self.become(lambda now: replace(now, tried={**now.tried, **given}, as_question=said))

    # ------------------------------------------------------------------ taking it away

    def copy(self) -> None:
        """The tried settings as the blocks of a configuration, to paste."""
        blocks: dict[str, Any] = {}
        for path, value in self.state.tried.items():
            *into, key = path.split(".")
            if not into:
                continue
            at = blocks
            for name in into:
                at = at.setdefault(name, {})
            at[key] = value
        if not blocks:
            self.flash("Nothing of what is tried stands in a configuration.", "note")
            return
        text = json.dumps(blocks, ensure_ascii=False, indent=2)
        host(self).copy(text, counted(len(self.state.tried), "setting"))
