"""Choosing what to compare with: another recipe, other settings, a file, another version or time, a receipt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.message import Message

from memtui.engine import CancelToken, MemtuiError, RecallRequest, UsageError, counted, explain, one_line
from memtui.engine.recall import UNSET
from memtui.tui.bound_panel import BoundPart
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.find_list import FindItem, FindList
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.paint.numbers import ago, date
from memtui.tui.screens.compare.state import CompareState, Side
from memtui.tui.screens.compare.view import value as words_of
from memtui.tui.trace import options
from memtui.tui.widgets.state_panel import Choice, State

if TYPE_CHECKING:
    from memtui.engine import Trace
    from memtui.engine.cases import TableVersion
    from memtui.engine.explain import Parameter


WAYS = (
    ("recipe", "another recipe", "the same question through another pipeline", "e"),
    ("settings", "other settings", "change one setting", "p"),
    ("file", "a configuration file", "the plugin's retrieval and decay blocks", "f"),
    ("version", "an older version of the table", "read only, nothing is restored", "t"),
    ("time", "another time", "as of a date, on today's rows", "d"),
    ("receipt", "a saved receipt", "the answer at that time", "s"),
)
"""Name, what it is, what it does, and the letter that takes it."""

SHOWN_CHANGES = 2
"""Changes that a title names; more are counted."""


OWN = ("own", "the same as it is set", "without what was tried", "o")


def ways(a: Side) -> tuple[tuple[str, str, str, str], ...]:
    """The ways from one side: back to what is set stands first where something was tried."""
    request = a.request
    tried = request is not None and (request.config or request.now_ms or request.table_version)
    return (OWN, *WAYS) if tried else WAYS


def choosing(a: Side) -> State:
    """What the screen says before there is a second side."""
    choices = tuple(Choice(name, label, hint, key=key) for name, label, hint, key in ways(a))
    return State("empty", "Compare this answer with", (), choices)


def titled(base: str, changes: dict[str, Any]) -> str:
    """A title for settings that were changed by hand."""
    if not changes:
        return base
    if len(changes) > SHOWN_CHANGES:
        return f"{base}, {counted(len(changes), 'setting')} changed"
    told = [f"{path.rsplit('.', 1)[-1]} {words_of(path, value)}" for path, value in changes.items()]
    return f"{base}, {', '.join(told)}"


def read_value(parameter: Parameter, text: str) -> Any:
    """What was typed for a knob, as its value; UsageError with what it may be."""
    knob = parameter.knob
    word = text.strip()
    if knob.kind == "switch":
        if word.lower() in ("on", "true", "yes", "1"):
            return True
        if word.lower() in ("off", "false", "no", "0"):
            return False
        raise UsageError(f"{word} is neither on nor off.", fix="Type on or off.")
    if knob.kind == "choice":
        if word in map(str, knob.choices):
            return next(choice for choice in knob.choices if str(choice) == word)
        raise UsageError(f"{word} is none of its values.", fix=f"Known: {', '.join(map(str, knob.choices))}.")
    try:
        number = float(word)
    except ValueError:
        raise UsageError(f"{word} is no number.", fix=f"Type {knob.low:g} to {knob.high:g}.") from None
    if not knob.low <= number <= knob.high:
        raise UsageError(f"{word} is outside its range.", fix=f"Type {knob.low:g} to {knob.high:g}.")
    return round(number) if knob.kind == "whole" else number


class SidePicker(BoundPart[CompareState]):
    """Opens the dialogs in which a side is chosen, and posts it."""

    @dataclass
    class Chosen(Message):
        """Compare with this side."""

        side: Side

    def menu(self) -> None:
        """Ask how."""
        found = [Option(name, label, hint, key) for name, label, hint, key in ways(self.state.a)]
        self._push(ChooseOne("Compare with", found), self.way)

    def way(self, name: str) -> None:
        """Go one of the ways of `WAYS`."""
        getattr(self, f"_{name}")()

    def _push(self, dialog: Any, take: Any) -> None:
        def taken(value: str | None) -> None:
            if value is not None:
                take(value)

        self.app.push_screen(dialog, taken)

    @property
    def _base(self) -> RecallRequest:
        """What is asked on side A, without what belongs to one answer only."""
        side: Side = self.state.a
        if side.request is None:
            raise UsageError(
                "Side A is a receipt, which cannot be asked again.",
                fix="Press {compare.swap} to swap the sides first.",
            )
        return side.request

    def _take(self, title: str, request: RecallRequest | None, **more: Any) -> None:
        self.post_message(self.Chosen(Side(title, request, **more)))

    def _have_side(self, side: Side) -> None:
        self.post_message(self.Chosen(side))

    def _refused(self, error: MemtuiError) -> None:
        self.flash(str(error), "error")

    # ------------------------------------------------------------------ the ways

    def _own(self) -> None:
        base = self._base
        self._take(f"{base.recipe} as it is set", replace(base, config=None, now_ms=None, table_version=None))

    def _recipe(self) -> None:
        recipes = options.recipes_of(self.session.engine)
        account = self.state.a.account
        current = account.recipe if account is not None else ""
        others = [option for option in options.recipe_options(recipes) if option.value != current]

        def take(name: str) -> None:
            try:
                base = self._base
            except MemtuiError as error:
                self._refused(error)
                return
            from memtui.engine.recall import recipe_named

            family = recipe_named(base.recipe).family if base.recipe else ""
            same = family != "" and family == recipe_named(name).family
            config = base.config if same else None
            limit = base.limit or (account.limit if account is not None else None)
            asker, info = getattr(account, "asker", None), recipe_named(name)
            has_own = info.of_agent or info.own_rows or info.scope_by_scope
            unset = has_own and asker is not None and not asker.chosen(base.scopes)
            scopes = UNSET if unset else base.scopes
            self._take(name, replace(base, recipe=name, config=config, limit=limit, scopes=scopes))

        self._push(ChooseOne("Compare with the recipe", others), take)

    def _settings(self) -> None:
        """One more setting of B; where there is no B yet, or it is a receipt, of A as a new B."""
        pair = self.state.pair
        base = pair.b if pair is not None and pair.b.request is not None else self.state.a
        account = base.account if base.request is not None else None
        trace = cast("Trace | None", account)  # what was asked here is a recall
        engine = self.session.engine
        if trace is None or engine is None:
            self.flash("A receipt's settings cannot be changed. {compare.swap} swaps the sides.", "note")
            return
        known = {parameter.knob.path: parameter for parameter in explain.parameters(trace)}
        items = [
            FindItem(
                path, path, f"{words_of(path, parameter.value)}   {parameter.inert or parameter.knob.meaning}"
            )
            for path, parameter in known.items()
        ]

        def take(path: str) -> None:
            self._ask_value(known[path], base)

        self._push(FindList("Change the setting", items), take)

    def _ask_value(self, parameter: Parameter, base: Side) -> None:
        knob = parameter.knob
        about = ", ".join(map(str, knob.choices)) or (
            "on or off" if knob.kind == "switch" else f"{knob.low:g} to {knob.high:g}"
        )

        def take(text: str) -> None:
            from memtui.engine.explain import changed_request

            try:
                given = read_value(parameter, text)
                trace: Trace = base.account  # type: ignore[assignment]
                request = changed_request(trace, {knob.path: given})
                if base.request is not None:  # on the newest version, unless another one was chosen
                    asked = base.request
                    request = replace(request, now_ms=asked.now_ms, table_version=asked.table_version)
            except MemtuiError as error:
                self._refused(error)
                return
            changes = {**base.changes, knob.path: given}
            first = base.before or base.title
            self._take(titled(first, changes), request, changes=changes, before=first)

        hint = f"{knob.meaning}. {about}"
        self._push(TextPrompt(knob.path, hint, words_of(knob.path, parameter.value)), take)

    def _file(self) -> None:
        def take(path: str) -> None:
            def read(cancel: CancelToken, report: Report) -> Side:
                from memtui.engine.discovery import read_config

                base = self._base
                return Side(one_line(Path(path).name), replace(base, config=read_config(path)))

            self.call("side", read, self._have_side)

        self._push(
            TextPrompt("Configuration file", 'JSON or JSON5 with {"retrieval": {...}, "decay": {...}}.'), take
        )

    def _version(self) -> None:
        engine = self.session.engine
        if engine is not None:
            self.call("versions", lambda cancel, report: explain.versions(engine), self._have_versions)

    def _have_versions(self, versions: tuple[TableVersion, ...]) -> None:
        """The versions have been listed: let one be chosen, the newest first."""
        now = host(self).now_ms()
        account = self.state.a.account
        items = [
            FindItem(
                str(version.version),
                f"version {version.version}",
                f"{date(version.time_ms)}   {ago(version.time_ms, now)}",
            )
            for version in reversed(versions)
            if account is None or version.version != account.table_version
        ]

        def take(version: str) -> None:
            try:
                self._take(f"version {version}", replace(self._base, table_version=int(version)))
            except MemtuiError as error:
                self._refused(error)

        empty = "The table has no older version that can still be read."
        self._push(FindList("Compare with the version", items, empty=empty), take)

    def _time(self) -> None:
        def take(text: str) -> None:
            from memtui.engine.transfer import read_time

            moment, why = read_time(text, host(self).now_ms())
            if moment is None:
                self.flash(f"{one_line(text)}: {why or 'no time'}. Type a date: 2026-05-31.", "error")
                return
            try:
                self._take(f"as of {date(moment)}", replace(self._base, now_ms=moment))
            except MemtuiError as error:
                self._refused(error)

        self._push(TextPrompt("As of", "A date, or date and time: 2026-05-31, 2026-05-31T15:00 (UTC)."), take)

    def _receipt(self) -> None:
        def take(path: str) -> None:
            def read(cancel: CancelToken, report: Report) -> Side:
                from memtui.engine.explain import open_receipt

                receipt = open_receipt(Path(path))
                return Side(f"receipt {one_line(Path(path).name)}", None, receipt)

            self.call("side", read, self._have_side)

        self._push(TextPrompt("Saved receipt", "A receipt that Recall saved, or memtui recall --save."), take)
