"""The jobs as rows: what each does, and what it would change here, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.capture import working
from memtui.tui.screens.capture.state import CaptureState, JobPreview, Talk
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.transfer import ChatSettings


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, and what it does in one line."""

    name: str
    does: str
    told: tuple[tuple[str, str], ...] = ()
    """What it reads, writes and asks, said before it was looked at."""


JOBS = (
    Job(
        "compaction",
        "merges near duplicates",
        (
            ("reads", "memories, by the similarity of their vectors"),
            (
                "steps",
                "group near duplicates of one scope and category, keep the best text, join their facts",
            ),
            ("model", "none"),
            ("shell", "memtui compact --dry-run"),
        ),
    ),
    Job(
        "dreaming",
        "archives duplicates, moves tiers, strengthens what is used",
        (
            ("reads", "duplicates, tiers, use counts"),
            ("steps", "light: archive duplicates; deep: move tiers by the rules; REM: write patterns down"),
            ("model", "none"),
            ("shell", "memtui dream --dry-run"),
        ),
    ),
    Job(
        "reflection",
        "a model derives rules from the chosen conversation",
        (
            ("reads", "the conversation chosen in Conversations"),
            ("steps", "send the conversation to the model, store its rules as reflections"),
            ("model", "the one you choose: f"),
            ("shell", "memtui reflect FILE"),
        ),
    ),
    Job(
        "upgrade",
        "adds categories, summaries and tiers to rows of the old format",
        (
            ("reads", "rows without summaries of their own"),
            ("steps", "write the three summaries, set category and tier; what a row has is kept"),
            ("model", "the one you choose: f; without one the text's beginning is the summary"),
            ("shell", "memtui upgrade --dry-run"),
        ),
    ),
)

MOST_SHOWN = 200


def planned(
    name: str,
    engine: Engine,
    talk: Talk | None,
    settings: ChatSettings | None,
    token: CancelToken,
    report: Callable[[Any], None],
) -> JobPreview:
    """Plan a job; nothing is written, and only a reflection and an upgrade ask a model, where one is named."""
    from memtui.engine import transfer
    from memtui.engine.capture import plan_compaction, plan_dream

    if name == "compaction":
        made = plan_compaction(engine.capture_context())
        original = plan_compaction(engine.capture_context(), sound=False)
        faults = tuple(
            f"the plugin's own would do more: {warning}" for warning in original.change_set.warnings
        )
        return JobPreview(name, made.change_set, faults)
    if name == "dreaming":
        dreamt = plan_dream(engine.capture_context())
        counts = tuple(
            f"{phase}: {counted(int(each['changed']), 'change')}" for phase, each in dreamt.counts.items()
        )
        return JobPreview(name, dreamt.change_set, counts)
    if name == "reflection":
        changes, told = working.reflected(engine, talk, settings, token, report)
        return JobPreview(name, changes, report=told)
    return JobPreview(name, transfer.plan_upgrade(engine, settings, cancel=token))


def listed(state: CaptureState, width: int, glyphs: Glyphs) -> list[Row]:
    """The jobs, each with what it would change once it was planned."""
    rows = []
    for job in JOBS:
        found = state.plans.get(job.name)
        far = "" if found is None else _count(found)
        room = max(10, width - 14 - len(far) - 3)
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ", (fit(job.name, 12), "bold"), (fit(job.does, room, glyphs.ellipsis), "$dim"), " ", far
                    ),
                ),
                job.name,
            )
        )  # fmt: skip
    return rows


def _count(found: JobPreview) -> str:
    count = len(found.changes.changes)
    return counted(count, "change") if count else "no change"


def preview(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """What the chosen job would do, change by change, with the known faults of the original first."""
    found = state.plans.get(state.job)
    if state.waiting:
        return [Row((Content.styled(f" {state.waiting}", "$dim"),))]
    if found is None:
        said = f"{keys.cap('said.open')} previews it; {keys.cap('capture.apply')} applies it"
        job = next((job for job in JOBS if job.name == state.job), JOBS[0])
        told = (*job.told, ("writes", "one entry of the Journal, which can be undone"))
        facts = [
            Row((Content.assemble((f" {name if at == 0 else '':<8}", "$dim"), part.plain),))
            for name, text in told
            for at, part in enumerate(Content(text).wrap(max(8, width - 10)))
        ]
        return [*(Row((part,)) for part in _wrapped(said, width, "$dim")), Row((Content(),)), *facts]
    lines: list[tuple[str, str]] = [(f"! {warning}", "$stale") for warning in found.changes.warnings]
    lines += [(note, "$dim") for note in found.notes]
    lines += [(line, "$foreground") for line in found.report.splitlines() if line.strip()]
    if not found.changes.changes:
        lines.append(("no memory would change", "$dim"))
    words = {"add": "+", "edit": "~", "delete": "-"}
    rows = [Row((part,)) for text, style in lines for part in _wrapped(text, width, style)]
    for change in found.changes.changes[:MOST_SHOWN]:
        title = crop(one_line(change.title), max(8, width - 5), glyphs.ellipsis)
        rows.append(Row((Content.assemble(f" {words.get(change.op, ' ')} ", title),)))
        if change.why:
            rows.append(
                Row((Content.styled(f"   {crop(one_line(change.why), width - 5, glyphs.ellipsis)}", "$dim"),))
            )
    if len(found.changes.changes) > MOST_SHOWN:
        rows.append(Row((Content.styled(f" and {len(found.changes.changes) - MOST_SHOWN:,} more", "$dim"),)))
    return rows


def _wrapped(text: str, width: int, style: str) -> list[Content]:
    return [
        Content.styled(f" {part.plain}", style) for part in Content(one_line(text)).wrap(max(8, width - 2))
    ]


def with_plan(state: CaptureState, found: JobPreview) -> CaptureState:
    """The state with a job's plan."""
    return replace(state, plans={**state.plans, found.job: found}, job=found.job, waiting="")
