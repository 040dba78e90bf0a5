"""Forgetting memories: how far, what goes, and afterwards where they were looked for and not found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from memtui.engine import changes, counted, one_line
from memtui.engine.changes import Outcome
from memtui.engine.explain import History
from memtui.paths import questions_file
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.sheet import Sheet, SheetLine, SheetSection
from memtui.tui.host import host
from memtui.tui.paint.numbers import full

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import ChangeSet
    from memtui.tui.change_request import ChangeRequests


ARCHIVE, DELETE, SHRINK, PAST = "archive", "delete", "shrink", "past"

PERSON = "person"
"""Every trace of those who are named, and a word about what stays elsewhere."""


def ways(able_to_archive: bool) -> list[Option]:
    """How far a forget can go; tables without a state cannot archive."""
    archive = [Option(ARCHIVE, "archive", "kept, but not recalled", "a")] if able_to_archive else []
    return [
        *archive,
        Option(DELETE, "delete", "undo brings it back", "d"),
        Option(SHRINK, "delete including history", "older versions too, no undo", "t"),
        Option(PAST, "only its history", "keeps the memory, no undo", "p"),
    ]


def forget(
    staging: ChangeRequests,
    ids: Sequence[str],
    done: Callable[[Outcome], None],
    *,
    named: bool,
    way: str = "",
    name: str = "",
) -> None:
    """Ask how far, then plan, show and do it; `named`: one by one, so that pinned memories go as well.

    With a `way` that is said already nobody is asked. With the `name` of somebody the preview also has what
    is probably about them, to choose from, and says what stays of them elsewhere.
    """
    engine = host(staging).session.engine
    if not staging.able() or engine is None:
        return
    archives = any(field.name == "state" for field in engine.editable)

    def written(outcome: Outcome) -> None:
        done(outcome)
        if outcome.receipt is not None:
            staging.app.push_screen(receipt_sheet(outcome.receipt, outcome.warnings))

    def plan(engine: Engine, way: str) -> ChangeSet:
        if way == PAST:
            return changes.plan_past(engine, ids, drop_names=True)
        shrink = way == SHRINK
        return changes.plan_forget(
            engine, ids, hard=way != ARCHIVE, shrink=shrink, spare_pinned=not named, drop_names=True
        )

    def taken(way: str | None) -> None:
        if way == PERSON:
            from memtui.tui.dialogs.person_preview import PersonCase, PersonPreview

            case = PersonCase(name, tuple(ids))
            preview = partial(PersonPreview, case)
            staging.stage(case.begin, write=write_person, then=written, preview=preview)
        elif way is not None:
            staging.stage(lambda engine: plan(engine, way), then=written)

    def write_person(engine: Engine, planned: ChangeSet, confirmed: bool) -> Outcome:
        """What we kept ourselves goes with it: the questions that name them."""
        outcome = changes.apply(engine, planned, confirmed=confirmed)
        History(questions_file()).forget_words(name)
        return outcome

    if way == PERSON or way in {option.value for option in ways(archives)}:
        taken(way)
        return
    staging.app.push_screen(
        ChooseOne(f"Forget {counted(len(ids), 'memory', 'memories')}", ways(archives)), taken
    )


def _looked_at(receipt: Mapping[str, Any]) -> str:
    """How many versions were looked at; where the history stays, only the one before the forget."""
    if receipt["found"]["files"] is None and receipt["found"]["versions"]:
        return "only the version before the change was read; older versions were not"
    return f"of {counted(receipt['searched']['versions'], 'version')} searched"


def receipt_sheet(receipt: Mapping[str, Any], warnings: Sequence[str]) -> Sheet:
    """What was verified after a forget, and where its receipt is."""
    found, searched = receipt["found"], receipt["searched"]
    gone = counted(len(receipt["memories"]), "memory", "memories")
    stays = any(memory["why"] == "stays" for memory in receipt["memories"])
    what = f"{gone}: {receipt['mode']}" if stays else f"{gone} forgotten ({receipt['mode']})"
    intro = [
        f"{what}. The receipt holds ids and hashes, no text:",
        str(receipt["file"]),
    ]
    older = found["versions"]
    lines = [
        SheetLine("newest version", _nowhere(found["newest_version"]), "read back by id"),
        SheetLine("text index", _nowhere(found["index"]), "asked for its words"),
        SheetLine("older versions", _nowhere(older), _looked_at(receipt)),
    ]
    if found["files"] is not None:
        lines.append(
            SheetLine(
                "files", _nowhere(found["files"]), f"bytes of {counted(searched['files'], 'file')} searched"
            )
        )
    lines.append(
        SheetLine("mirror lines", full(receipt["mirror_lines_removed"]), "removed from Markdown mirrors")
    )
    lines.append(SheetLine("journal", str(receipt["journal"])))
    left = [
        SheetLine(str(each["id"])[:8], f"{each['path']} line {each['line']} ({each['kind']})")
        for each in receipt["copies_left"]
    ]
    hashes = [
        SheetLine(one_line(str(memory["id"]))[:8], str(memory.get("text_sha256") or "deleted before"))
        for memory in receipt["memories"]
    ]
    twins = [SheetLine(each[:8], ", ".join(others)) for each, others in receipt["same_text"].items()]
    sections = [SheetSection("LOOKED FOR AFTERWARDS", tuple(lines))]
    sections += [SheetSection("COPIES THAT STAY IN OTHER FILES", tuple(left))] if left else []
    sections += [SheetSection("OTHER MEMORIES WITH THE SAME TEXT", tuple(twins))] if twins else []
    sections.append(SheetSection("MEMORIES, BY THE SHA-256 OF THEIR TEXTS", tuple(hashes)))
    return Sheet("History removed" if stays else "Forgotten", intro, warnings, sections)


def _nowhere(places: Sequence[Any]) -> str:
    return f"found in {len(places)}" if places else "not found"
