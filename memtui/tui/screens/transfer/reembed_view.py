"""What the re-embedding wizard shows: pure functions of its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from memtui.engine import MemtuiError, counted, one_line, time_span
from memtui.tui.dialogs.answer_effect_view import effect_lines
from memtui.tui.paint.cells import crop, fit, right, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, score, size
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import (
    RunProgress,
    blank,
    fact_row,
    heading_row,
    pace_rows,
    text_rows,
    warning_rows,
)

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        Estimate,
        Reembedded,
        Rehearsal,
    )


BUNDLED = "static-minilm-256"


def needs_no_service(model: str) -> bool:
    """Whether the model runs on this machine."""
    from memtui.engine.transfer import LOCAL_MODELS

    return model in LOCAL_MODELS


MEASURES = {
    "hit": "hit at k", "recall": "recall at k", "mrr": "MRR", "ndcg": "nDCG",
}  # fmt: skip
"""Names of measures for people, where they are known."""


@dataclass(frozen=True, slots=True)
class ReembedState:
    """`estimate` and `rehearsal` are of the model that is named; `made` is the verified second table."""

    step: Literal["model", "rehearse", "make", "switch"] = "model"
    model: str = BUNDLED
    base_url: str = ""
    key_env: str = ""
    dimensions: str = ""
    task: str = ""
    place: str = ""
    model_now: str | None = None
    """The store's own model."""
    estimate: Estimate | None = None
    questions: tuple[int, int] = (0, 0)
    """Saved ones, and those asked last: what a rehearsal asks."""
    rehearsal: Rehearsal | None = None
    made: Reembedded | None = None
    error: MemtuiError | None = None
    pace: RunProgress = field(default_factory=RunProgress)


def estimate_rows(state: ReembedState, width: int, glyphs: Glyphs) -> list[Row]:
    """What embedding everything with the new model takes."""
    now, found = state.model_now, state.estimate
    if state.error is not None:
        return warning_rows(str(state.error), width, glyphs)
    if found is None:
        return text_rows("counting", width, "$dim")
    cost = found.cost
    seconds = (
        "not measured yet"
        if cost.seconds is None
        else f"about {time_span(cost.seconds)}, measured on a sample"
    )
    dims = f"{full(found.dims_before)} {glyphs.forth} {full(found.dims) if found.dims else 'not known'}"
    same = warning_rows("This is the store's model already: choose another.", width, glyphs)
    return [
        *([*same, blank()] if now == state.model else []),
        fact_row("model now", now or "not known", width, glyphs),
        fact_row("memories", full(found.rows), width, glyphs),
        fact_row("without text", full(found.empty), width, glyphs),
        fact_row("characters", full(cost.chars), width, glyphs),
        fact_row("tokens", f"about {full(cost.tokens)}", width, glyphs),
        fact_row("time", seconds, width, glyphs),
        fact_row("dimensions", dims, width, glyphs),
        fact_row("on disk", size(found.bytes) if found.bytes else "-", width, glyphs),
        blank(),
        *text_rows(
            "The vectors go into a second table beside the store: an agent's updates would empty a second column"
            " of this one. This store is only read until you switch.",
            width,
            "$dim",
        ),
    ]


def rehearse_rows(state: ReembedState, panel: str, width: int, glyphs: Glyphs, *, busy: bool) -> list[Row]:
    """The saved and the last questions over a sample, and what the two models make of them."""
    found = state.rehearsal
    saved, last = state.questions
    if panel == "a":
        rows = [
            fact_row("rehearsed", f"{full(saved)} saved, {full(last)} asked last", width, glyphs),
            fact_row("new model", state.model, width, glyphs),
        ]
        if found is not None:
            rows += [
                fact_row("old model", found.old, width, glyphs),
                fact_row("sample", f"{full(found.sample)} of {full(found.rows)}", width, glyphs),
            ]
        return rows
    if not saved and not last:
        rows = text_rows("No question is saved or was asked: nothing says what the agent would read.", width)
        return [
            *rows,
            blank(),
            *text_rows("Ask some in Recall first, or go on without them.", width, "$dim"),
        ]
    if state.error is not None:
        return warning_rows(str(state.error), width, glyphs)
    if found is None:
        if busy or state.pace.phases:
            return pace_rows(state.pace, width, glyphs, running=busy) or text_rows(
                "rehearsing", width, "$dim"
            )
        rows = text_rows(
            "The cases and the questions asked last are answered over a sample with each model, and compared.",
            width,
        )
        return [
            *rows,
            blank(),
            *text_rows("The sample is sent to the new model's service; nothing is written.", width, "$dim"),
        ]
    return _rehearsed(found, width, glyphs)


def _rehearsed(found: Rehearsal, width: int, glyphs: Glyphs) -> list[Row]:
    """What the agent would read otherwise, place by place; then the measures, where something is expected."""
    effect = [Row((line,)) for line in effect_lines(found.effect, width, glyphs)]
    return [*effect, *(_measured(found, width, glyphs) if found.report.answers else [])]


def _measured(found: Rehearsal, width: int, glyphs: Glyphs) -> list[Row]:
    """The saved questions in figures: each measure with the old model and the new, and the cases that flip."""
    report = found.report
    other, paired = report.other, report.paired
    rows = [
        blank(),
        Row(
            (
                Content.styled(
                    f" {fit('MEASURE', 16)}{right('OLD', 8)}{right('NEW', 8)}{right('CHANGE', 9)}",
                    "bold $heading",
                ),
            )
        ),
    ]
    for name, old in report.mean.items():
        new = other.mean.get(name) if other is not None else None
        delta = None if old is None or new is None else new - old
        style = "$dim" if not delta else "$delta-up" if delta > 0 else "$delta-down"
        said = "" if delta is None else "=" if not delta else f"{delta:+.3f}"
        line = Content.assemble(
            " ",
            (fit(MEASURES.get(name, name.replace("_", " ")), 16), "$foreground"),
            (right(score(old), 8), "$dim"),
            (right(score(new), 8), "$foreground"),
            (right(said, 9), style),
        )
        rows.append(Row((line,)))
    if paired is not None:
        rows += [blank(), *text_rows(paired.verdict, width, "bold $foreground")]
    if report.flips:
        rows.append(heading_row("QUESTIONS THAT CHANGE"))
    for number, flip in enumerate(report.flips):
        change = f"{flip.a:.2f} {glyphs.forth} {flip.b:.2f}"
        text = crop(one_line(flip.case.query), max(8, width - 16), glyphs.ellipsis)
        style = "$delta-up" if flip.b > flip.a else "$delta-down"
        rows.append(
            Row(
                (Content.assemble(" ", (fit(text, max(8, width - 15)), "$foreground"), (change, style)),),
                f"flip:{number}",
            )
        )
    return rows


def make_rows(
    state: ReembedState, panel: str, width: int, glyphs: Glyphs, *, place: Path | str, busy: bool, there: bool
) -> list[Row]:
    """Making the second table; `there`: one was made in this place before."""
    if panel == "a":
        return [
            fact_row("model", state.model, width, glyphs),
            fact_row(
                "service",
                state.base_url or ("none" if needs_no_service(state.model) else "OpenAI's own"),
                width,
                glyphs,
            ),
            fact_row("folder", tilde(str(place)), width, glyphs),
        ]
    rows = pace_rows(state.pace, width, glyphs, running=busy)
    if state.error is not None:
        return [
            *rows,
            *warning_rows(str(state.error), width, glyphs),
            blank(),
            *text_rows("What was made is kept: going on asks for the rest only.", width, "$dim"),
        ]
    if busy or rows:
        return rows or text_rows("asking the model", width, "$dim")
    what = "Every memory is embedded, and the copy is verified against a re-embedded sample."
    if there:
        what = "A table was made here before: it is verified again and kept."
    rows = text_rows(what, width, "bold $foreground")
    return [
        *rows,
        blank(),
        *text_rows(
            "It can be stopped and resumes where it stopped; nothing is embedded twice.", width, "$dim"
        ),
    ]


def switch_rows(state: ReembedState, panel: str, width: int, glyphs: Glyphs, *, forbidden: str) -> list[Row]:
    """The verified table, and what switching to it means."""
    made = state.made
    if made is None:
        return []
    if panel == "a":
        return [
            fact_row("memories", full(made.rows), width, glyphs),
            fact_row("model", made.model, width, glyphs),
            fact_row("dimensions", full(made.dims), width, glyphs),
            fact_row("sampled", counted(made.sampled, "vector"), width, glyphs),
            fact_row("re-embedded", f"cosine {made.similarity:.4f} minimum", width, glyphs),
            fact_row("found itself", f"{full(made.found_itself)} of {full(made.sampled)}", width, glyphs),
            fact_row("folder", tilde(str(made.folder)), width, glyphs),
        ]
    if isinstance(made.folder, str):
        rows = text_rows(
            "The new table is ready; the store's own table is unchanged.", width, "bold $foreground"
        )
        how = f'Set uri = "{made.folder}" in [storage.NAME] of config.toml, and for the agent, with {made.model}.'
        return [
            *rows,
            blank(),
            *text_rows(how, width),
            blank(),
            *text_rows("The old address undoes the switch.", width, "$dim"),
        ]
    rows = text_rows("The new table is put in the place of the store's own.", width, "bold $foreground")
    rows += [blank()]
    for text in (
        "Stop the agent and every other program that has the store open: they would go on with the old table.",
        f"Configure {made.model} ({full(made.dims)} numbers) for the agent before it starts again.",
        "Entries of the journal from before are set aside with the old table; they count again after the undo.",
    ):
        rows += warning_rows(text, width, glyphs)
    rows += [
        blank(),
        *text_rows(
            "The old table is kept beside the store. The start page takes the switch back.", width, "$dim"
        ),
    ]
    if forbidden:
        rows += [
            blank(),
            *warning_rows(f"{forbidden} The second table is whole and stays where it is.", width, glyphs),
        ]
    if state.error is not None:
        rows += [blank(), *warning_rows(str(state.error), width, glyphs)]
    if state.rehearsal is not None:
        rows += [blank(), *(Row((line,)) for line in effect_lines(state.rehearsal.effect, width, glyphs))]
    return rows
