"""The second step of an import: its format, its columns, and how it is to be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError, UsageError, one_line
from memtui.tui.dialogs.pick import Option
from memtui.tui.screens.transfer import source
from memtui.tui.screens.transfer import state as reduce
from memtui.tui.screens.transfer.arrange import Shape
from memtui.tui.screens.transfer.flow import STOPPED, Heading
from memtui.tui.screens.transfer.import_part import ImportPart
from memtui.tui.widgets.rows import Row
from memtui.tui.widgets.state_panel import Choice, State, failed

if TYPE_CHECKING:
    from memtui.tui.screens.transfer.importing import Import

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
            return source.setting_rows(self.state, width, self.glyphs)
        return source.sample_rows(self.state.preview, width, height, self.glyphs, self.now_ms)

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
        return any(each.key == key and each.on is not None for each in source.settings(self.state))

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
        from memtui.engine.transfer.scoping import parse_scopes

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
    from memtui.engine.transfer.formats import FORMATS

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
