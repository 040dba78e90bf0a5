"""The first step of an import: where the memories are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError, UsageError, one_line
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.dialogs.text_prompt import Paste
from memtui.tui.layouts import Shape
from memtui.tui.screens.transfer import import_source_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_state import DetectedSources
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import Choice, State, failed
from memtui.tui.wizard.task import STOPPED, Heading, ImportPart

if TYPE_CHECKING:
    from memtui.tui.screens.transfer.import_task import Import


PASTE = "A list that an assistant printed, or Markdown: one memory a line. Nothing is written yet."


class SourcePart(ImportPart):
    """A path typed with completion, dropped, or chosen from the folder; or a pasted text."""

    slots = ("places", "look", "take", "paste")

    def shape(self) -> Shape:
        return Shape("two", line=True, side_rows=min(8, max(3, len(self.state.places) + 1)))

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        if panel == "a":
            return import_source_view.place_rows(self.state, width, self.glyphs)
        return import_source_view.found_rows(self.state.found, width, self.glyphs)

    def heading(self, panel: str) -> Heading:
        if panel == "line":
            return Heading("Import from", "a path, a dropped file, a folder", "{path.complete} completes")
        if panel == "a":
            count = len(self.state.places)
            return Heading("Folder", f"{count}" if count else "")
        return Heading("What it is")

    def advice(self) -> str:
        return "Type a path, or drop a file onto the terminal; {path.leave} {transfer.paste} pastes a text."

    def missing(self) -> str:
        found = self.state.found
        return "" if found is None or found.error is None else found.error.message

    # ------------------------------------------------------------------ the line

    def typed(self, text: str) -> None:
        if self.state.step != "source" or (text == self.state.typed and self.state.listed == text):
            return
        self.keep(typed=text)
        self.work("places", lambda _, stop: (text, _completed(text)))
        self.work("look", lambda _, stop: self._look(text))

    def _look(self, text: str, shown_for: str | None = None) -> DetectedSources | None:
        """What lies at the path, in a thread."""
        from memtui.engine.transfer import (
            given_paths,
        )

        paths = given_paths(text, Path.cwd())
        if not paths or not paths[0].exists():
            return None
        typed = text if shown_for is None else shown_for
        try:
            found = self.engine.transfer.detect(paths)
        except MemtuiError as error:
            return (
                None if paths[0].is_dir() else DetectedSources(typed, error=error)
            )  # a folder on the way to somewhere
        return DetectedSources(
            typed, found, sum(each.path.stat().st_size for each in found if each.path.is_file())
        )

    def took(self, text: str) -> None:
        from memtui.engine.transfer import (
            given_paths,
        )

        paths = given_paths(text, Path.cwd())
        if not paths:
            self.screen.focus_list("a")
        elif not paths[0].exists():
            error = MemtuiError(
                f"There is no file or folder {paths[0]}.", fix="Check it; Tab completes a path."
            )
            self.set(found=DetectedSources(text, error=error))
        elif paths[0].is_dir() and not text.rstrip().endswith("/"):
            self.work("take", lambda _, stop: (text, paths, self._look(text)))
        else:
            self._begin(paths)

    def _took_folder(self, text: str, paths: Sequence[Path], found: DetectedSources | None) -> None:
        """A folder that is a source itself is taken; any other is gone into."""
        if text != self.state.typed:
            return
        if found is not None and found.sources:
            self._begin(paths)
        else:
            self.screen.put_line(text.rstrip() + "/")

    def completed(self) -> None:
        places, text = self.state.places, self.state.typed
        if len(places) == 1:
            self.screen.put_line(places[0].path)
        elif places and (start := import_source_view.longest(places, text)) != text:
            self.screen.put_line(start)
        else:
            self.screen.focus_list("a")

    def pasted(self, text: str) -> None:
        from memtui.engine.transfer import (
            looks_like_paths,
        )

        if "\n" not in text.strip() or looks_like_paths(text, Path.cwd()):
            self.screen.put_line(" ".join(text.split("\n")).strip())
        else:
            self._keep_pasted(text)

    def _keep_pasted(self, text: str) -> None:
        engine = self.engine
        self.work("paste", lambda _, stop: engine.transfer.pasted(text))

    def _begin(self, paths: Sequence[Path]) -> None:
        """These are to be imported: look at them closely."""
        self.stop()
        request = replace(self.state.request, sources=tuple(paths), format="auto", mapping={}, choices={})
        self.keep(step="map", request=request, preview=None, error=None)
        self.flow.look_closely()

    # ------------------------------------------------------------------ answers and keys

    def finished(self, slot: str, value: Any) -> None:
        if slot == "places":
            text, places = value
            if text == self.state.typed:
                self.set(places=places, listed=text)
        elif slot == "take":
            self._took_folder(*value)
        elif slot == "paste":
            self._begin((value,))
        elif value is None or (isinstance(value, DetectedSources) and value.typed == self.state.typed):
            self.set(found=value)

    def failed(self, slot: str, error: MemtuiError) -> None:
        self.screen.flash(str(error), "error")

    def able(self, act: str, panel: str, key: str) -> bool:
        return act == "paste"

    def moved(self, panel: str, key: str) -> None:
        place, typed = key.removeprefix("place:"), self.state.typed
        if panel == "a" and key.startswith("place:") and not place.endswith("/"):
            self.work("look", lambda _, stop: self._look(place, typed))

    def opened(self, panel: str, key: str) -> None:
        kind, _, place = key.partition(":")
        if kind == "here":
            self.took(self.state.typed.rstrip("/") + "/")
        elif kind == "place":
            self.screen.put_line(place)
            if place.endswith("/"):
                self.screen.focus_list("a")
            else:
                self.took(place)

    def acted(self, act: str, panel: str, key: str) -> None:
        def got(text: str | None) -> None:
            if text is not None:
                self._keep_pasted(text)

        if act == "paste":
            self.screen.app.push_screen(Paste("Import a pasted text", PASTE), got)

    def next(self) -> None:
        key = self.screen.rows("a").key
        if self.screen.rows("a").has_focus and key:
            self.opened("a", key)
        else:
            self.took(self.state.typed)


def _completed(text: str) -> Any:
    from memtui.engine.transfer import (
        completions,
    )

    return completions(text, Path.cwd())


# The second step of an import: its format, its columns, and how it is to be read.

NOT_A_COLUMN = "\0none"


class MapPart(ImportPart):
    """Settings on the left, what they make of the first records on the right."""

    slots = ("preview",)

    def shape(self) -> Shape:
        failed = self.state.preview is None and self.state.error is not None
        return Shape("two", said=self.said() is not None, side_rows=4 if failed else 9)

    def said(self) -> State | None:
        if self.state.preview is not None:
            return None
        if self.state.error is not None:
            return failed("this cannot be read", self.state.error, Choice("back", "another file"))
        return State("loading", "reading the first records", skeleton=True)

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        if panel == "a":
            return import_source_view.setting_rows(self.state, width, self.glyphs)
        return import_source_view.sample_rows(self.state.preview, width, height, self.glyphs, self.now_ms)

    def heading(self, panel: str) -> Heading:
        if panel == "a":
            return Heading("How it is read", where="{wizard.open} changes")
        preview = self.state.preview
        which = preview.title if preview is not None else ""
        where = one_line("; ".join(preview.evidence)) if preview is not None else ""
        return Heading("The first records", which, where[:90])

    def advice(self) -> str:
        if self.state.preview is None:
            failed = "{transfer.back} chooses another file; format, on the list, says what this one is."
            return failed if self.state.error is not None else ""
        return "{transfer.next} makes the plan: every record is read and compared; nothing is written."

    def missing(self) -> str:
        state = self.state
        if state.error is not None and state.preview is not None:
            return str(state.error)
        if state.preview is not None and state.preview.glimpse is None:
            return "Say which column is the text: choose “text” on the left."
        return ""

    def finished(self, slot: str, value: Any) -> None:
        if value is not STOPPED:
            found, preview = value
            self.set(found=found, preview=preview, error=None)

    def failed(self, slot: str, error: MemtuiError) -> None:
        self.set(error=error)

    # ------------------------------------------------------------------ keys

    def able(self, act: str, panel: str, key: str) -> bool:
        if act != "switch":
            return False
        return any(
            each.key == key and each.on is not None for each in import_source_view.settings(self.state)
        )

    def opened(self, panel: str, key: str) -> None:
        if panel == "a":
            change(self.flow, key)
        else:
            self.next()

    def acted(self, act: str, panel: str, key: str) -> None:
        if act == "switch":
            change(self.flow, key)

    def chosen(self, name: str) -> None:
        self.back()

    def goes_on(self) -> bool:
        return self.state.preview is not None

    def next(self) -> None:
        if self.state.preview is not None and not self.missing():
            self.flow.make_plan()

    def back(self) -> bool:
        self.stop()
        self.set(step="source", error=None)
        return True


def change(flow: Import, key: str) -> None:
    """Change one setting: a switch at once, a value in a dialog."""
    request = flow.state.request
    if key.startswith("role:"):
        _pick_column(flow, key.removeprefix("role:"))
    elif key in ("without_embedding", "mask_secrets", "prose", "sessions"):
        flow.ask_for(**{key: not getattr(request, key)})
    elif key == "format":
        _pick_format(flow)
    elif key == "vectors":
        options = [
            Option("auto", "kept when made by our model"),
            Option("keep", "all kept", "they are of our model"),
            Option("new", "all made anew"),
        ]
        flow.pick(
            "Vectors of the source", options, request.vectors, lambda value: flow.ask_for(vectors=value)
        )
    elif key == "find_near":
        options = [Option("auto", "when it costs nothing"), Option("yes", "at any cost"), Option("no", "no")]
        now = {None: "auto", True: "yes", False: "no"}[request.find_near]
        find = {"auto": None, "yes": True, "no": False}
        flow.pick("Look for near copies", options, now, lambda value: flow.ask_for(find_near=find[value]))
    elif key == "near":
        flow.ask(
            "Near copies",
            "Cosine from which two texts count as nearly the same, 0 to 1.",
            f"{request.near:g}",
            _number(flow),
        )
    elif key == "scopes":
        from memtui.engine.transfer import (
            parse_scopes,
        )

        def took(text: str) -> None:
            _try(flow, lambda: flow.ask_for(scopes=parse_scopes(text) if text else {}))

        now = ",".join(f"{theirs}={ours}" for theirs, ours in request.scopes.items())
        flow.ask(
            "Scopes",
            "THEIRS=OURS, several with commas; nothing before = is “no scope”. - takes it away.",
            now,
            took,
        )
    else:
        hint = {
            "scope": "Where memories go that bring no scope: global, agent:ID, project:NAME.",
            "agent": "The agent whose memories these are, where the source does not say so.",
            "encoding": "Of a text that is not UTF-8: windows-1252, shift_jis, ...",
        }[key]
        flow.ask(
            key.capitalize(),
            f"{hint} - takes it away.",
            getattr(request, key) or "",
            lambda text: flow.ask_for(**{key: text or None}),
        )


def _number(flow: Import) -> Callable[[str], None]:
    def took(text: str) -> None:
        def ask() -> None:
            try:
                value = float(text)
            except ValueError:
                value = -1.0
            if not 0 < value <= 1:
                raise UsageError(
                    f"{text} is no cosine.", fix="Give a number above 0 and up to 1, such as 0.93."
                )
            flow.ask_for(near=value)

        _try(flow, ask)

    return took


def _try(flow: Import, act: Callable[[], None]) -> None:
    try:
        act()
    except MemtuiError as error:
        flow.screen.flash(str(error), "error")


def _pick_format(flow: Import) -> None:
    from memtui.engine.transfer import (
        FORMATS,
    )

    found = flow.state.found
    kind = found.sources[0].kind if found is not None and found.sources else None
    fitting = [each for each in FORMATS if kind is None or kind in each.readers]
    options = [
        Option("auto", "found out", "by what is in it"),
        *(Option(each.name, each.name, each.title) for each in fitting),
    ]
    flow.pick(
        "Format", options, flow.state.request.format, lambda name: flow.ask_for(format=name, mapping={})
    )


def _pick_column(flow: Import, role: str) -> None:
    preview = flow.state.preview
    if preview is None:
        return
    current = dict(preview.mapping).get(role, NOT_A_COLUMN)
    options = [Option(NOT_A_COLUMN, "no column")]
    for number, column in enumerate(preview.columns):
        sample = next((each[number] for each in preview.samples if each[number]), "")
        options.append(Option(column, column, sample))

    def took(column: str) -> None:
        flow.take(reduce.mapped(flow.state, role, "" if column == NOT_A_COLUMN else column))

    flow.pick(f"Which column is the {role}?", options, current, took)


def ask_scope(flow: Import, theirs: str) -> None:
    """Say where the memories of one scope go."""
    request = flow.state.request
    plan = flow.state.plan
    now = (
        next((ours for name, ours, _ in plan.scopes if (name or "") == theirs), "")
        if plan is not None
        else ""
    )

    def took(ours: str) -> None:
        scopes = {name: value for name, value in request.scopes.items() if name != theirs}
        flow.ask_for(scopes={**scopes, theirs: ours} if ours else scopes)

    flow.ask(
        f"Scope of {one_line(theirs) or 'those without one'}",
        "Where its memories go. - leaves it as it is.",
        now,
        took,
    )
