"""Setting a value by typing or choosing: numbers, dates, versions, agents and scopes, another question's vector."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memtui.engine import CancelToken, History, PastQuestion, RecallRequest, explain, one_line
from memtui.paths import questions_file
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.dialogs.choose_one import ChooseOne, Option, ScopePick, Searched
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.paint.numbers import age, date, plural
from memtui.tui.screens.whatif import state as reduce
from memtui.tui.screens.whatif.state import CATEGORY, CLOCK, OWNER, SCOPES, VECTOR, VERSION
from memtui.tui.screens.whatif.view import name_of, shown
from memtui.tui.trace.rule_text import figure

if TYPE_CHECKING:
    from memtui.tui.screens.whatif.screen import WhatIfScreen


AGENT, FACETS, LIKE, KEPT = "agent", "facets", "like", "kept"

DEFAULT_AGENT = "main"
"""Whose memories the built-in program searches when it is not told."""

MOST_LISTED, MOST_KEPT = 16, 200

OWN, OTHER = "\0own", "\0other"


class Setting:
    """Opens the dialogs of one What-if screen and tries what they return."""

    def __init__(self, screen: WhatIfScreen) -> None:
        self._screen = screen

    def open(self, path: str) -> None:
        """Let the person say what this setting is to be."""
        state = self._screen.state
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
            self._screen.tried(reduce.turn(state, path, 1))

    def _ask(self, title: str, hint: str, value: str, take: Callable[[str], None]) -> None:
        def taken(text: str | None) -> None:
            if text is not None:
                take(text)

        self._screen.app.push_screen(TextPrompt(title, hint, value), taken)

    def _pick(self, title: str, options: list[Option], current: str, take: Callable[[str], None]) -> None:
        def taken(value: str | None) -> None:
            if value is not None:
                take(value)

        self._screen.app.push_screen(ChooseOne(title, options, current), taken)

    def _try(self, path: str, value: Any) -> None:
        self._screen.tried(reduce.put(self._screen.state, path, value))

    def _number(self, path: str, text: str) -> None:
        each = reduce.parameter(self._screen.state, path)
        assert each is not None  # it was asked for
        try:
            value = float(text)
        except ValueError:
            self._screen.flash(f"{text} is no number; nothing was changed.", "error")
            return
        knob = each.knob
        if not knob.low <= value <= knob.high:
            span = f"{figure(knob.low)} to {figure(knob.high)}"
            self._screen.flash(f"{name_of(path)} runs from {span}; {figure(value)} is not in it.", "error")
            return
        self._try(path, knob.clamp(value))

    # ------------------------------------------------------------------ clock and version

    def _clock(self) -> None:
        hint = "A day, or a day and a time: 2026-08-01, 2026-08-01 14:30. Times are UTC."
        now = date(reduce.value(self._screen.state, CLOCK))
        self._ask("Recall as of", hint, now, self._day)

    def _day(self, text: str) -> None:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self._screen.flash(f"{text} is no date; for example 2026-08-01.", "error")
            return
        at = int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)
        oldest = self._screen.state.bounds.oldest_ms if self._screen.state.bounds is not None else None
        if oldest is not None and at < oldest:
            self._screen.flash(
                f"The first memory is of {date(oldest)}: before that nothing was known.", "note"
            )
        self._try(CLOCK, at)

    def _version(self) -> None:
        bounds = self._screen.state.bounds
        versions = bounds.versions if bounds is not None else ()
        if len(versions) < 2:
            self._screen.flash("Only this version of the table can still be read.", "note")
            return
        options = [Option(str(n), f"v{n}", date(ms)) for n, ms in reversed(versions)][:MOST_LISTED]
        current = str(reduce.value(self._screen.state, VERSION))
        more = f", the last {MOST_LISTED} of {len(versions)}" if len(versions) > MOST_LISTED else ""
        self._pick(f"Table version{more}", options, current, lambda value: self._try(VERSION, int(value)))

    # ------------------------------------------------------------------ whose memories

    def _scopes(self) -> None:
        bounds = self._screen.state.bounds
        agents = bounds.agents if bounds is not None else ()
        options = [
            Option(OWN, "as asked", shown(self._screen.state, SCOPES, reduce.own(self._screen.state, SCOPES)))
        ]
        options += [
            Option(agent, f"agent {one_line(agent)}", "its effective scopes")
            for agent in agents[:MOST_LISTED]
        ]
        options.append(Option(OTHER, "choose scopes", "any number of them, or all"))
        self._pick("Whose memories", options, OWN, self._whose)

    def _whose(self, value: str) -> None:
        screen = self._screen
        engine = screen.engine
        if value == OWN:
            screen.tried(reduce.reset(screen.state, SCOPES))
        elif value == OTHER:
            self._count(SCOPES)
        else:

            def work(cancel: CancelToken, report: Report) -> Any:
                return value, explain.agent_scopes(engine, value)

            screen.runner.start(AGENT, work)

    def _owner(self) -> None:
        bounds = self._screen.state.bounds
        options = [Option(owner, one_line(owner)) for owner in (bounds.owners if bounds is not None else ())]
        current = reduce.value(self._screen.state, OWNER) or DEFAULT_AGENT
        self._pick("Whose memories", options, current, lambda value: self._try(OWNER, value))

    def _category(self) -> None:
        self._count(CATEGORY)

    def _count(self, what: str) -> None:
        from memtui.engine import ListQuery

        engine = self._screen.engine

        def work(cancel: CancelToken, report: Report) -> Any:
            return what, engine.view(ListQuery(), cancel).facets

        self._screen.runner.start(FACETS, work)

    # ------------------------------------------------------------------ the question's vector

    def _vector(self) -> None:
        options = [
            Option(OWN, "this question", "its own vector"),
            Option(LIKE, "a memory", "its own vector, its words"),
            Option(KEPT, "an earlier question", "its vector as it was kept"),
        ]
        self._pick("Ask with", options, OWN, self._ask_with)

    def _ask_with(self, value: str) -> None:
        screen = self._screen
        engine = screen.engine
        if value == OWN:
            screen.tried(reduce.reset(screen.state, VECTOR))
        elif value == LIKE:
            trace = screen.state.base
            request = trace.request if trace is not None else None

            def taken(memory_id: str | None) -> None:
                if memory_id is not None and request is not None:
                    screen.runner.start(
                        LIKE, lambda cancel, report: explain.more_like(engine, memory_id, request)
                    )

            screen.app.push_screen(MemoryPick(engine, "Ask with this memory"), taken)
        else:
            store, dims = engine.info.uri, engine.info.dims

            def kept(cancel: CancelToken, report: Report) -> list[PastQuestion]:
                found = History(questions_file()).search(store=store, limit=MOST_KEPT)
                return [each for each in found if each.dims and each.dims == dims]

            screen.runner.start(KEPT, kept)

    # ------------------------------------------------------------------ what the engine says

    def heard(self, slot: str, value: Any) -> None:
        """The answer to a call that a dialog needed."""
        screen = self._screen
        if slot == AGENT:
            agent, scopes = value
            said = "every scope" if scopes is None else ", ".join(map(one_line, scopes)) or "no scope at all"
            screen.flash(f"agent {one_line(agent)} reads {said}", "note")
            self._try(SCOPES, scopes)
        elif slot == FACETS:
            self._choose(*value)
        elif slot == LIKE:
            self._with_vector(value, one_line(value.query))

        elif slot == KEPT:
            self._kept(value)

    def _kept(self, questions: list[PastQuestion]) -> None:
        if not questions:
            self._screen.flash("No earlier question of this store has kept its vector yet.", "note")
            return
        now = host(self._screen).now_ms()
        options = [
            Option(str(each.number), one_line(each.query)[:60], age(each.asked_ms, now)) for each in questions
        ]

        def take(number: str) -> None:
            question = next(each for each in questions if str(each.number) == number)
            work = lambda cancel, report: explain.again(question, History(questions_file()))  # noqa: E731
            self._screen.runner.start(LIKE, work)

        self._pick("Ask with an earlier question", options[:MOST_LISTED], "", take)

    def _choose(self, what: str, facets: Any) -> None:
        state = self._screen.state
        if what == SCOPES:

            def taken(chosen: Searched | None) -> None:
                if chosen is not None:
                    self._try(SCOPES, list(chosen.scopes) if chosen.scopes is not None else None)

            counted = [(scope, count) for scope, count in facets.scopes if scope is not None]
            self._screen.app.push_screen(ScopePick(counted, Searched(reduce.value(state, SCOPES))), taken)
            return
        options = [Option(OWN, "any kind")]
        options += [Option(name, one_line(name), f"{count:,}") for name, count in facets.categories if name]
        current = reduce.value(state, CATEGORY) or OWN
        self._pick(
            "Category", options, current, lambda value: self._try(CATEGORY, None if value == OWN else value)
        )

    def _with_vector(self, request: RecallRequest, said: str) -> None:
        state = self._screen.state
        tried = {**state.tried, "query": request.query, VECTOR: request.query_vector}
        self._screen.tried(replace(state, tried=tried, as_question=said))

    # ------------------------------------------------------------------ taking it away

    def copy(self) -> None:
        """The tried settings as the blocks of a configuration, to paste."""
        blocks: dict[str, Any] = {}
        for path, value in self._screen.state.tried.items():
            *into, key = path.split(".")
            if not into:
                continue
            at = blocks
            for name in into:
                at = at.setdefault(name, {})
            at[key] = value
        if not blocks:
            self._screen.flash("Nothing of what is tried stands in a configuration.", "note")
            return
        text = json.dumps(blocks, ensure_ascii=False, indent=2)
        host(self._screen).copy(text, plural(len(self._screen.state.tried), "setting"))
