"""The first two steps of an import: where the memories are, and how they are to be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from memtui.engine import CancelToken, MemtuiError, UsageError, one_line, transfer
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.dialogs.text_prompt import Paste
from memtui.tui.layouts import Shape
from memtui.tui.screens.transfer import import_source_view
from memtui.tui.screens.transfer import import_state as reduce
from memtui.tui.screens.transfer.import_calls import Run, ask_for, look_closely, make_plan, say_error, take
from memtui.tui.screens.transfer.import_state import DetectedSources, ImportState
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import Choice, State, failed
from memtui.tui.wizard.wizard import Heading, Key, TaskStep

PASTE = "A list that an assistant printed, or Markdown: one memory a line. Nothing is written yet."

# The first step: a path typed with completion, dropped, or chosen from the folder; or a pasted text.


def source_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """The folder, and what lies at the path."""
    if panel == "a":
        return import_source_view.place_rows(run.state, width, run.glyphs)
    return import_source_view.found_rows(run.state.found, width, run.glyphs)


def source_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the first step."""
    count = len(run.state.places)
    names = {
        "line": Heading("Import from", "a path, a dropped file, a folder", "{path.complete} completes"),
        "a": Heading("Folder", f"{count}" if count else ""),
    }
    return names.get(panel, Heading("Format"))


def source_missing(run: Run) -> str:
    """Why what lies there cannot be imported."""
    found = run.state.found
    return "" if found is None or found.error is None else found.error.message


def typed(run: Run, text: str) -> None:
    """Another path: what begins like it, and what it is."""
    if text == run.state.typed and run.state.listed == text:
        return
    run.keep(typed=text)

    def listed(found: object) -> None:
        if text == run.state.typed:
            run.set(places=found, listed=text)

    run.work(
        "places",
        lambda _, stop: _completed(text),
        listed,
        failed=lambda error: say_error(run, error),
        paced=False,
    )
    look(run, text)


def look(run: Run, text: str, shown_for: str | None = None) -> None:
    """What lies at the path, to be shown for what is typed."""

    def seen(found: DetectedSources | None) -> None:
        if found is None or found.typed == run.state.typed:
            run.set(found=found)

    run.work(
        "look",
        lambda _, stop: _look(run, text, stop, shown_for),
        seen,
        failed=lambda error: say_error(run, error),
        paced=False,
    )


def _look(run: Run, text: str, stop: CancelToken, shown_for: str | None = None) -> DetectedSources | None:
    """Detect what lies at the path, in a thread; None for a large folder, such as one that a path leads through."""
    from memtui.engine.transfer import given_paths, is_large

    paths = given_paths(text, Path.cwd())
    if not paths or not paths[0].exists() or (paths[0].is_dir() and is_large(paths[0], stop)):
        return None
    typed = text if shown_for is None else shown_for
    try:
        found = transfer.detect_sources(run.engine, paths)
    except MemtuiError as error:  # a folder may be on the way to somewhere
        return None if paths[0].is_dir() else DetectedSources(typed, error=error)
    size = sum(each.path.stat().st_size for each in found if each.path.is_file())
    return DetectedSources(typed, found, size)


def took(run: Run, text: str) -> None:
    """Enter in the line: import from there, or go into the folder."""
    from memtui.engine.transfer import given_paths

    paths = given_paths(text, Path.cwd())
    if not paths:
        run.frame.focus_list("a")
    elif not paths[0].exists():
        error = MemtuiError(f"There is no file or folder {paths[0]}.", fix="Check how it is written.")
        run.set(found=DetectedSources(text, error=error))
    elif paths[0].is_dir() and not text.rstrip().endswith("/"):
        run.work(
            "take",
            lambda _, stop: _look(run, text, stop),
            lambda found: took_folder(run, text, paths, found),
            failed=lambda error: say_error(run, error),
            paced=False,
        )
    else:
        begin(run, paths)


def took_folder(run: Run, text: str, paths: Sequence[Path], found: DetectedSources | None) -> None:
    """A folder that is a source itself is taken; any other is gone into."""
    if text != run.state.typed:
        return
    if found is not None and found.sources:
        begin(run, paths)
    else:
        run.frame.put_line(text.rstrip() + "/")


def completed(run: Run) -> None:
    """Tab in the line: as much as all places share."""
    places, text = run.state.places, run.state.typed
    if len(places) == 1:
        run.frame.put_line(places[0].path)
    elif places and (start := import_source_view.longest(places, text)) != text:
        run.frame.put_line(start)
    else:
        run.frame.focus_list("a")


def _completed(text: str) -> object:
    from memtui.engine.transfer import completions

    return completions(text, Path.cwd())


def pasted(run: Run, text: str) -> None:
    """A dropped file is its path; anything else of several lines is memories."""
    from memtui.engine.transfer import looks_like_paths

    if "\n" not in text.strip() or looks_like_paths(text, Path.cwd()):
        run.frame.put_line(" ".join(text.split("\n")).strip())
    else:
        keep_pasted(run, text)


def keep_pasted(run: Run, text: str) -> None:
    """Import from a pasted text, kept in a file."""
    engine = run.engine
    run.work(
        "paste",
        lambda _, stop: transfer.keep_pasted(engine, text),
        lambda path: begin(run, (path,)),
        failed=lambda error: say_error(run, error),
        paced=False,
    )


def ask_paste(run: Run, panel: str, key: str) -> None:
    """A dialog to paste a text into."""

    def got(text: str | None) -> None:
        if text is not None:
            keep_pasted(run, text)

    run.frame.show_dialog(Paste("Import a pasted text", PASTE), got)


def begin(run: Run, paths: Sequence[Path]) -> None:
    """These are to be imported: look at them closely."""
    run.stop()
    request = replace(run.state.request, sources=tuple(paths), format="auto", mapping={}, choices={})
    run.keep(step="map", request=request, preview=None, error=None)
    look_closely(run)


def source_begin(run: Run) -> None:
    """List the folder; a run that was begun before is planned at once."""
    if run.state.again:
        run.keep(again=False)
        look_closely(run)
        make_plan(run)
    else:
        typed(run, run.state.typed)


def source_moved(run: Run, panel: str, key: str) -> None:
    """A file under the cursor: what it is."""
    place = key.removeprefix("place:")
    if panel == "a" and key.startswith("place:") and not place.endswith("/"):
        look(run, place, run.state.typed)


def source_opened(run: Run, panel: str, key: str) -> None:
    """Enter on a place takes it, or goes into it."""
    kind, _, place = key.partition(":")
    if kind == "here":
        took(run, run.state.typed.rstrip("/") + "/")
    elif kind == "place":
        run.frame.put_line(place)
        if place.endswith("/"):
            run.frame.focus_list("a")
        else:
            took(run, place)


def source_next(run: Run) -> None:
    """Go on with the row under the cursor, or with what is typed."""
    key = run.frame.at("a")
    if run.frame.has_keyboard("a") and key:
        source_opened(run, "a", key)
    else:
        took(run, run.state.typed)


SOURCE = TaskStep[ImportState](
    "source",
    source_rows,
    source_heading,
    shape=lambda run: Shape("two", line=True, side_rows=min(8, max(3, len(run.state.places) + 1))),
    begin=source_begin,
    advice="Type a path, or drop a file onto the terminal; {path.leave} {transfer.paste} pastes a text.",
    missing=source_missing,
    line=lambda state: state.typed,
    keys={"paste": Key(ask_paste)},
    typed=typed,
    took=took,
    pasted=pasted,
    completed=completed,
    moved=source_moved,
    opened=source_opened,
    next=source_next,
)


# The second step: its format, its columns, and how it is to be read.

NOT_A_COLUMN = "\0none"


def map_shape(run: Run) -> Shape:
    """Little room for the settings of what cannot be read."""
    unreadable = run.state.preview is None and run.state.error is not None
    return Shape("two", said=map_said(run) is not None, side_rows=4 if unreadable else 9)


def map_said(run: Run) -> State | None:
    """Words while there are no records to show."""
    if run.state.preview is not None:
        return None
    if run.state.error is not None:
        return failed("this cannot be read", run.state.error, Choice("back", "another file"))
    return State("loading", "reading the first records", skeleton=True)


def map_rows(run: Run, panel: str, width: int, height: int) -> Sequence[Row]:
    """Settings on the left, what they make of the first records on the right."""
    if panel == "a":
        return import_source_view.setting_rows(run.state, width, run.glyphs)
    return import_source_view.sample_rows(run.state.preview, width, height, run.glyphs, run.now_ms)


def map_heading(run: Run, panel: str) -> Heading:
    """The words in the frames of the second step."""
    if panel == "a":
        return Heading("How it is read", where="{wizard.open} changes")
    preview = run.state.preview
    which = preview.title if preview is not None else ""
    where = one_line("; ".join(preview.evidence)) if preview is not None else ""
    return Heading("The first records", which, where[:90])


def map_advice(run: Run) -> str:
    """The way on, or the way out."""
    if run.state.preview is None:
        failed = "{transfer.back} chooses another file; form, on the list, says what this one is."
        return failed if run.state.error is not None else ""
    return "{transfer.next} makes the plan: every record is read and compared; nothing is written."


def map_missing(run: Run) -> str:
    """Why it cannot be planned."""
    state = run.state
    if state.error is not None and state.preview is not None:
        return str(state.error)
    if state.preview is not None and state.preview.glimpse is None:
        return "Say which column is the text: choose “text” on the left."
    return ""


def map_switch(run: Run, panel: str, key: str) -> bool:
    """Whether a row is a switch."""
    return any(
        setting.key == key and setting.on is not None for setting in import_source_view.settings(run.state)
    )


def map_opened(run: Run, panel: str, key: str) -> None:
    """Enter on a setting changes it; on a record it goes on."""
    if panel == "a":
        change(run, key)
    else:
        to_plan(run)


def to_plan(run: Run) -> None:
    """Go on to the plan."""
    if run.state.preview is not None and not map_missing(run):
        make_plan(run)


def to_source(run: Run) -> bool:
    """Go back to the path."""
    run.stop()
    run.set(step="source", error=None)
    return True


def map_chosen(run: Run, name: str) -> None:
    """The way out of what cannot be read."""
    to_source(run)


MAP = TaskStep[ImportState](
    "map",
    map_rows,
    map_heading,
    shape=map_shape,
    said=map_said,
    advice=map_advice,
    missing=map_missing,
    line=lambda state: state.typed,
    goes_on=lambda run: run.state.preview is not None,
    keys={"switch": Key(lambda run, panel, key: change(run, key), map_switch)},
    opened=map_opened,
    chosen=map_chosen,
    next=to_plan,
    back=to_source,
)


def change(run: Run, key: str) -> None:
    """Change one setting: a switch at once, a value in a dialog."""
    request = run.state.request
    if key.startswith("role:"):
        _pick_column(run, key.removeprefix("role:"))
    elif key in ("without_embedding", "mask_secrets", "prose", "sessions"):
        ask_for(run, **{key: not getattr(request, key)})
    elif key == "format":
        _pick_format(run)
    elif key == "vectors":
        options = [
            Option("auto", "kept when made by our model"),
            Option("keep", "all kept", "they are of our model"),
            Option("new", "re-embed all"),
        ]
        run.pick("Vectors of the source", options, request.vectors, lambda value: ask_for(run, vectors=value))
    elif key == "find_near":
        options = [
            Option("auto", "if no service is asked"),
            Option("yes", "yes, also by a service that is paid"),
            Option("no", "no"),
        ]
        now = {None: "auto", True: "yes", False: "no"}[request.find_near]
        find = {"auto": None, "yes": True, "no": False}
        run.pick("Look for near copies", options, now, lambda value: ask_for(run, find_near=find[value]))
    elif key == "near":
        run.ask(
            "Near copies",
            "Cosine from which two texts count as nearly the same, 0 to 1.",
            f"{request.near:g}",
            _number(run),
        )
    elif key == "scopes":
        from memtui.engine.transfer import (
            parse_scopes,
        )

        def took(text: str) -> None:
            _try(run, lambda: ask_for(run, scopes=parse_scopes(text) if text else {}))

        now = ",".join(f"{theirs}={ours}" for theirs, ours in request.scopes.items())
        run.ask(
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
        run.ask(
            key.capitalize(),
            f"{hint} - takes it away.",
            getattr(request, key) or "",
            lambda text: ask_for(run, **{key: text or None}),
        )


def _number(run: Run) -> Callable[[str], None]:
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
            ask_for(run, near=value)

        _try(run, ask)

    return took


def _try(run: Run, act: Callable[[], None]) -> None:
    try:
        act()
    except MemtuiError as error:
        say_error(run, error)


def _pick_format(run: Run) -> None:
    from memtui.engine.transfer import (
        FORMATS,
    )

    found = run.state.found
    kind = found.sources[0].kind if found is not None and found.sources else None
    fitting = [known_format for known_format in FORMATS if kind is None or kind in known_format.readers]
    options = [
        Option("auto", "found out", "by what is in it"),
        *(Option(known_format.name, known_format.name, known_format.title) for known_format in fitting),
    ]
    run.pick("Form", options, run.state.request.format, lambda name: ask_for(run, format=name, mapping={}))


def _pick_column(run: Run, role: str) -> None:
    preview = run.state.preview
    if preview is None:
        return
    current = dict(preview.mapping).get(role, NOT_A_COLUMN)
    options = [Option(NOT_A_COLUMN, "no column")]
    for number, column in enumerate(preview.columns):
        sample = next((sample[number] for sample in preview.samples if sample[number]), "")
        options.append(Option(column, column, sample))

    def took(column: str) -> None:
        take(run, reduce.mapped(run.state, role, "" if column == NOT_A_COLUMN else column))

    run.pick(f"Which column is the {role}?", options, current, took)


def ask_scope(run: Run, theirs: str) -> None:
    """Say where the memories of one scope go."""
    request = run.state.request
    plan = run.state.plan
    now = (
        next((ours or "" for name, ours, _ in plan.scopes if (name or "") == theirs), "")
        if plan is not None
        else ""
    )

    def took(ours: str) -> None:
        scopes = {name: value for name, value in request.scopes.items() if name != theirs}
        ask_for(run, scopes={**scopes, theirs: ours} if ours else scopes)

    run.ask(
        f"Scope of {one_line(theirs) or 'those without one'}",
        "Where its memories go. - leaves it as it is.",
        now,
        took,
    )
