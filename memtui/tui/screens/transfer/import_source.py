"""The first step of an import: where the memories are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtui.engine import MemtuiError
from memtui.tui.dialogs.paste import Paste
from memtui.tui.screens.transfer import source
from memtui.tui.screens.transfer.arrange import Shape
from memtui.tui.screens.transfer.flow import Heading
from memtui.tui.screens.transfer.import_part import ImportPart
from memtui.tui.screens.transfer.state import Found
from memtui.tui.widgets.rows import Row

PASTE = "A list that an assistant printed, or Markdown: one memory a line. Nothing is written yet."


class SourcePart(ImportPart):
    """A path typed with completion, dropped, or chosen from the folder; or a pasted text."""

    slots = ("places", "look", "take", "paste")

    def shape(self) -> Shape:
        return Shape("two", line=True, side_rows=min(8, max(3, len(self.state.places) + 1)))

    def rows(self, panel: str, width: int, height: int) -> Sequence[Row]:
        if panel == "a":
            return source.place_rows(self.state, width, self.glyphs)
        return source.found_rows(self.state.found, width, self.glyphs)

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

    def _look(self, text: str, shown_for: str | None = None) -> Found | None:
        """What lies at the path, in a thread."""
        from memtui.engine.transfer.places import given_paths

        paths = given_paths(text, Path.cwd())
        if not paths or not paths[0].exists():
            return None
        typed = text if shown_for is None else shown_for
        try:
            found = self.engine.transfer.detect(paths)
        except MemtuiError as error:
            return (
                None if paths[0].is_dir() else Found(typed, error=error)
            )  # a folder on the way to somewhere
        return Found(typed, found, sum(each.path.stat().st_size for each in found if each.path.is_file()))

    def took(self, text: str) -> None:
        from memtui.engine.transfer.places import given_paths

        paths = given_paths(text, Path.cwd())
        if not paths:
            self.screen.focus_list("a")
        elif not paths[0].exists():
            error = MemtuiError(
                f"There is no file or folder {paths[0]}.", fix="Check it; Tab completes a path."
            )
            self.set(found=Found(text, error=error))
        elif paths[0].is_dir() and not text.rstrip().endswith("/"):
            self.work("take", lambda _, stop: (text, paths, self._look(text)))
        else:
            self._begin(paths)

    def _took_folder(self, text: str, paths: Sequence[Path], found: Found | None) -> None:
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
        elif places and (start := source.longest(places, text)) != text:
            self.screen.put_line(start)
        else:
            self.screen.focus_list("a")

    def pasted(self, text: str) -> None:
        from memtui.engine.transfer.places import looks_like_paths

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
        elif value is None or (isinstance(value, Found) and value.typed == self.state.typed):
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
    from memtui.engine.transfer.places import completions

    return completions(text, Path.cwd())
