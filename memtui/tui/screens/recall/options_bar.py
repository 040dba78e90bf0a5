"""The dialogs of Recall: options, settings, ledger, copying, and the ways out of an empty panel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from memtui.engine import ListQuery, MemtuiError, explain, one_line
from memtui.engine.catalog import Facets
from memtui.tui.bound_panel import BoundPart
from memtui.tui.dialogs.choose_one import ChooseOne, Option, Reader, ScopePick, Searched
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.dialogs.stage_ledger import LedgerPage, StageLedger
from memtui.tui.host import host
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall import view
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.trace import ledger as pages
from memtui.tui.trace import options, results, stages

if TYPE_CHECKING:
    from memtui.engine.recall import RecipeInfo


SETTINGS = "settings"
"""The slot of the engine call that resolves the settings before anything is asked."""


class Choosers(BoundPart[RecallState]):
    """Opens the dialogs of Recall and does what they return."""

    @dataclass
    class Chosen(Message):
        """These options are others now; a question that was answered before is asked again with them."""

        changes: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self._facets: tuple[object, Facets] | None = None
        self._waiting = ""

    @property
    def recipe(self) -> RecipeInfo | None:
        """The recipe that is chosen."""
        recipes = options.recipes_of(self.session.engine)
        return options.recipe_named(recipes, self.state.form.recipe)

    @property
    def recipe_limit(self) -> int:
        """How many results the chosen recipe returns by itself."""
        recipe = self.recipe
        return recipe.limit if recipe is not None else 10

    def all(self) -> None:
        """Every option with what it is now; the one that is taken is chosen next."""
        form, recipe = self.state.form, self.recipe
        chips = options.chips(form, recipe, options.own_agent(self.session.engine))
        found = [
            Option(chip.name, options.NAMES[chip.name], chip.value, options.NAMES[chip.name][0])
            for chip in chips
            if chip.name in options.NAMES
        ]
        self._pick("How it is asked", found, None, self.open)

    def open(self, name: str) -> None:
        """Let the person choose the option called `name`."""
        form = self.state.form
        if self.session.engine is None:
            self.flash("The store is not open yet.", "note")
        elif name == "recipe":
            recipes = options.recipes_of(self.session.engine)
            self._pick("Recipe", options.recipe_options(recipes), form.recipe, self._take_recipe)
        elif name == "limit":
            current = "" if form.limit is None else str(form.limit)
            self._pick("How many", options.limit_options(self.recipe), current, self._take_limit)
        elif name == "source":
            self._pick("Who asks", options.source_options(self.recipe), form.source or "", self._take_source)
        else:
            self._with_facets(name)

    def _pick(self, title: str, choices: list[Option], current: str | None, take: Any) -> None:
        def taken(value: str | None) -> None:
            if value is not None:
                take(value)

        self.app.push_screen(ChooseOne(title, choices, current), taken)

    def _choose(self, **changes: Any) -> None:
        self.post_message(self.Chosen(changes))

    def _take_recipe(self, value: str) -> None:
        self._choose(recipe=value, limit=None, source=None)

    def _take_limit(self, value: str) -> None:
        self._choose(limit=int(value) if value else None)

    def _take_source(self, value: str) -> None:
        self._choose(source=value or None)

    def _take_category(self, value: str) -> None:
        self._choose(category=None if value == options.ANY else value)

    # ------------------------------------------------------------------ scopes and categories, which must be counted

    def _with_facets(self, name: str) -> None:
        """Count scopes and categories off the event loop, once for each version of the store."""
        engine = self.session.engine
        assert engine is not None  # `open` has looked
        known = (engine, self.session.revision)
        if self._facets is not None and self._facets[0] == known:
            self._choose_facet(name, self._facets[1])
            return
        self._waiting = name
        self.call(
            "facets",
            lambda cancel, report: (known, engine.view(ListQuery(), cancel).facets),
            self._facets_known,
        )

    def _facets_known(self, value: tuple[object, Facets]) -> None:
        """The counting has finished."""
        self._facets = value
        self._choose_facet(self._waiting, value[1])

    def _choose_facet(self, name: str, facets: Facets) -> None:
        form = self.state.form
        if name == "category":
            found = options.category_options(facets.categories)
            self._pick("Category", found, form.category or options.ANY, self._take_category)
            return
        scopes = [(scope, count) for scope, count in facets.scopes if scope is not None]

        def taken(chosen: Searched | None) -> None:
            if chosen is not None:
                self._choose(scopes=chosen.scopes, agent=chosen.agent, everyone=chosen.everyone)

        now = Searched(form.scopes, form.agent, form.everyone)
        try:
            readers = self._readers(facets)
        except MemtuiError as error:  # the access lists cannot be read: scopes can still be named
            self.flash(str(error), "error")
            readers = []
        self.app.push_screen(ScopePick(scopes, now, readers, options.unfiltered_words(self.recipe)), taken)

    def _readers(self, facets: Facets) -> list[Reader]:
        """The agents that may ask with this recipe, each with what it reads; none where the recipe is nobody's."""
        engine, recipe = self.session.engine, self.recipe
        if engine is None or recipe is None or not recipe.of_agent:
            return []
        counts = dict(facets.scopes)
        found = []
        for agent in engine.askers(list(counts)):
            reads = explain.agent_scopes(engine, agent)
            rows = sum(counts.values()) if reads is None else sum(counts.get(scope, 0) for scope in reads)
            own = agent == engine.agents[0]
            found.append(Reader("" if own else agent, agent, ", ".join(reads or ()), rows))
        return found

    # ------------------------------------------------------------------ reading

    def settings(self) -> None:
        """The resolved configuration, read-only, with what a person should know of it."""
        trace, form, engine = self.state.trace, self.state.form, self.session.engine
        if trace is not None and form == self.state.answered:
            self.show_settings((trace.config, trace.findings))
        elif engine is not None:
            request = form.request()
            self.call(SETTINGS, lambda cancel, report: explain.settings(engine, request), self.show_settings)

    def show_settings(self, resolved: tuple[Mapping[str, Any], Sequence[str]]) -> None:
        """Open the sheet."""
        recipe = self.recipe
        config, findings = resolved
        intro = [recipe.description] if recipe is not None else []
        name = one_line(self.state.form.recipe) or "the recipe"
        self.app.push_screen(Sheet(f"Settings of {name}", intro, findings, view.sections(config)))

    def ledger(self) -> None:
        """Every stage of the selected memory; closing selects the one that was shown last."""
        trace, selected = self.state.trace, self.state.selected
        ids = stages.in_order(trace) if trace is not None else []
        if trace is None or selected not in ids:
            return

        def page_of(id: str) -> LedgerPage:
            candidate = results.candidate_of(trace, id)
            assert candidate is not None  # `ids` are the trace's own
            told = self.state.told.get(id)
            found = pages.page(trace, candidate, host(self).glyphs, host(self).now_ms(), told)
            if not self.state.stale and self.state.trace is trace:
                return found
            return replace(found, title=f"{one_line(trace.recipe)}, the answer before:  {found.title}")

        def closed(id: str | None) -> None:
            if id is not None and self.state.trace is trace:
                self.become(lambda state: reduce.select(state, id))

        self.app.push_screen(StageLedger(ids, ids.index(selected), page_of), closed)

    def copy(self) -> None:
        """Copy the id, the text, or the whole trace."""
        trace, selected = self.state.trace, self.state.selected
        if trace is None or not selected:
            return
        found = [
            Option("id", "id", selected, "i"),
            Option("text", "text", "as it is stored", "t"),
            Option("trace", "whole trace", "JSON, as the command line prints it", "j"),
        ]

        copy = host(self).copy

        def take(value: str) -> None:
            memory = trace.memories.get(selected)
            if value == "id":
                copy(selected, "id")
            elif value == "text":
                copy(memory.raw_text if memory else "", "text")
            else:
                copy(json.dumps(trace.as_json(explain=True), ensure_ascii=False, indent=2), "trace")

        self._pick("Copy", found, None, take)
