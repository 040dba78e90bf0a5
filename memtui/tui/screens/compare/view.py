"""A pair of recalls as the panels show it: the two lists, the lines between them, stages, and one memory's accounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from textual.content import Content

from memtui.engine import counted, duration, one_line
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date, score
from memtui.tui.paint.timeline import millis
from memtui.tui.paint.waterfall import number
from memtui.tui.screens.compare.state import Pair, Side, listed, ordered
from memtui.tui.theme.tokens import tier_style
from memtui.tui.trace import results, rule_text, stages
from memtui.tui.trace.rule_text import figure
from memtui.tui.widgets.breakdown import ScoreReasons
from memtui.tui.widgets.connectors import Pairing
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine import Trace
    from memtui.engine.explain import Effect, RankFlow, ScoreAccount, StagePair
    from memtui.engine.recall import Candidate


SCORE_CELLS, MOVE_CELLS = 5, 5

LOSS_CELLS = 30

Which = Literal["a", "b"]


def account_of(pair: Pair, which: Which) -> ScoreAccount:
    """The recall of one side."""
    side = pair.a if which == "a" else pair.b
    assert side.account is not None  # a pair has both answers
    return side.account


def candidate_of(pair: Pair, which: Which, id: str) -> Candidate | None:
    """One memory in the recall of one side; None where no search met it there."""
    return next((candidate for candidate in account_of(pair, which).candidates if candidate.id == id), None)


def text_of(pair: Pair, id: str) -> str:
    """A memory on one line; its id where its text is not known."""
    memory = pair.memories.get(id)
    return one_line(memory.text)[:400] if memory is not None else f"({one_line(id)})"


def score_in(pair: Pair, which: Which, id: str) -> str:
    """The score of a memory that one side returned, as that side's recall prints it; `-` where it did not."""
    found = next((c for c in account_of(pair, which).candidates if c.id == id and c.rank is not None), None)
    return stages.score_words(found) if found is not None else "-"


# ---------------------------------------------------------------------- the head


def scores(pair: Pair, glyphs: Glyphs) -> Content:
    """How much the two lists have in common, and what a saved case says of them."""
    found = pair.comparison
    tau = "" if found.kendall_tau is None else f"   Kendall tau {score(found.kendall_tau)}"
    parts = [Content.styled(f"overlap {found.overlap} of {found.k}{tau}", "$foreground")]
    if account_of(pair, "a").query != account_of(pair, "b").query:
        parts.append(Content.styled(f"{glyphs.warn} not the same question", "$stale"))
    elif said := vector_words(pair):
        parts.append(Content.styled(said, "$dim"))
    said = verdict(pair)
    if said:
        parts.append(Content.styled(said, "$match"))
    return Content("   ").join(parts)


def vector_words(pair: Pair) -> str:
    """Whether both asked by the same vector: "one question vector", or "each embeds its own words"."""
    one, other = (getattr(account_of(pair, which), "query_vector", None) for which in ("a", "b"))
    if one is None or other is None:
        return ""
    same = len(one) == len(other) and bool(all(x == y for x, y in zip(one, other, strict=True)))
    return "one question vector" if same else "each embeds its own words"


def embedded(account: ScoreAccount) -> str:
    """What one side embedded, as it is said: the text, or that its vector was given, kept or is not there."""
    if not hasattr(account, "embedded"):
        return "not recorded: a receipt"
    if getattr(account, "query_vector", None) is None:
        return "nothing: keyword search only"
    text = account.embedded
    return "a vector that was given" if text is None else f"\u201c{one_line(text)}\u201d"


def _same_scopes(pair: Pair) -> bool:
    """Whether both sides searched the same scopes, by a filter; a receipt does not tell."""
    a, b = (getattr(account_of(pair, which), "asker", None) for which in ("a", "b"))
    if a is None or b is None or a.words == b.words:
        return True
    return "own-rules" not in (a.how, b.how) and a.scopes == b.scopes


def asked_by(account: ScoreAccount) -> str:
    """Whose recall one side is, and the scopes that were searched for it."""
    asker = getattr(account, "asker", None)
    if asker is None:
        return "not recorded: a receipt"
    return one_line(asker.words).removeprefix("asked ").partition(";")[0]


def stands(pair: Pair) -> tuple[str, str]:
    """Version of the table and clock of each side: "v12, 2026-09-01 12:00"."""
    a, b = (
        f"v{account.table_version}, {date(account.now_ms)}"
        for account in (account_of(pair, which) for which in ("a", "b"))
    )
    return a, b


def outdated(pair: Pair, version: int | None) -> str:
    """What to say where a side stands on an older version than the other one, or than the store (`version`).

    Empty where both stand where the store is, and of a side whose version was chosen or that cannot be asked again.
    """
    sides = [("A", pair.a), ("B", pair.b)]
    free = [
        (name, side.account.table_version)
        for name, side in sides
        if side.account is not None and side.request is not None and side.request.table_version is None
    ]
    newest = max([each for _, each in free] + ([version] if version is not None else []), default=0)
    old = [(name, each) for name, each in free if each < newest]
    if not old:
        return ""
    names = " and ".join(name for name, _ in old)
    verb = "is" if len(old) == 1 else "are"
    return f"{names} {verb} of v{old[0][1]}, the store is at v{newest}: {{compare.again}} asks again"


def verdict(pair: Pair) -> str:
    """What the saved case of the question says: how many of its memories each side returned."""
    case = pair.case
    if case is None:
        return ""
    ids = [
        {f.id for f in pair.comparison.flows if f.rank_a},
        {f.id for f in pair.comparison.flows if f.rank_b},
    ]
    if case.silent:
        silent = ["silent" if not found else "not silent" for found in ids]
        return f"case: nothing expected, A {silent[0]}, B {silent[1]}"
    told = []
    if case.expected:
        counts = [len(found & set(case.expected)) for found in ids]
        told.append(f"A has {counts[0]} and B {counts[1]} of {len(case.expected)} expected")
    if case.rejected:
        counts = [len(found & set(case.rejected)) for found in ids]
        told.append(f"{counts[0]} and {counts[1]} wrong")
    return "case: " + ", ".join(told)


def side_title(side: Side, name: str, timed: bool = True, stands: str = "", most: int = 0) -> Content:
    """`A pro/agent  71 ms  v12, 2026-09-01 12:00`; `most`: cells of the name, 0 for all."""
    ms = getattr(side.account, "total_ms", None) if timed else None
    time = f"  {duration(ms)}" if ms is not None else ""
    title = one_line(side.title)
    return Content.assemble(
        (f"{name} ", "bold $key"),
        (crop(title, most) if most else title, "$foreground"),
        (time, "$dim"),
        (f"  {stands}" if stands else "", "$match"),
    )


# ---------------------------------------------------------------------- lists and lines


def side_rows(pair: Pair, which: Which, width: int, glyphs: Glyphs) -> list[Row]:
    """One side's list; below it, dimmed, what only the other side returned and where this side lost it."""
    rows: list[Row] = []
    for flow in listed(pair, which):
        own = flow.rank_a if which == "a" else flow.rank_b
        line = (
            _own_line(pair, flow, which, width, glyphs)
            if own
            else _lost_line(pair, flow, which, width, glyphs)
        )
        rows.append(Row((line,), flow.id))
    return rows


def _own_line(pair: Pair, flow: RankFlow, which: Which, width: int, glyphs: Glyphs) -> Content:
    rank = flow.rank_a if which == "a" else flow.rank_b
    moved, style = move_words(flow, which, glyphs)
    memory = pair.memories.get(flow.id)
    tier = memory.tier if memory is not None else None
    room = max(4, width - 7 - SCORE_CELLS - MOVE_CELLS - 1)
    return Content.assemble(
        (right(str(rank), 3), "bold $foreground"),
        " ",
        (glyphs.tier(tier), tier_style(tier)),
        " ",
        (fit(text_of(pair, flow.id), room, glyphs.ellipsis), "$foreground"),
        " ",
        (right(score_in(pair, which, flow.id), SCORE_CELLS), "bold $foreground"),
        (right(moved, MOVE_CELLS), style),
        " ",
    )


def _lost_line(pair: Pair, flow: RankFlow, which: Which, width: int, glyphs: Glyphs) -> Content:
    words = loss_words(pair, flow, which)
    cells = min(LOSS_CELLS, width // 2)
    room = max(4, width - 7 - cells)
    return Content.assemble(
        (right(glyphs.dot, 3), "$faint"),
        "   ",
        (fit(text_of(pair, flow.id), room, glyphs.ellipsis), "$dim"),
        (right(crop(words, cells - 1, glyphs.ellipsis), cells), "$stage-cut"),
        " ",
    )


def move_words(flow: RankFlow, which: Which, glyphs: Glyphs) -> tuple[str, str]:
    """Where a memory of one list goes in the other (A), or comes from (B): `▼2`, `=`, `gone`, `new`."""
    if flow.rank_a is None or flow.rank_b is None:
        return ("gone", "$delta-down") if which == "a" else ("new", "$delta-up")
    if flow.moved == 0:
        return "=", "$dim"
    up = flow.moved > 0
    return f"{glyphs.up if up else glyphs.down}{abs(flow.moved)}", "$delta-up" if up else "$delta-down"


def loss_words(pair: Pair, flow: RankFlow, which: Which) -> str:
    """Where one side lost a memory: `hard cutoff .402 < .450`, `no search found it`."""
    candidate = candidate_of(pair, which, flow.id)
    if candidate is None:
        return _not_met(pair, which, flow.id)
    inputs = stages.gate_step(candidate)
    missed = rule_text.missed(
        candidate.reason, inputs.get("value"), inputs.get("limit", candidate.limit), inputs
    ).split(" by ")[0]
    gate = one_line(candidate.reason).replace("_", " ")
    return f"{gate}, {missed}" if missed else gate


def _not_met(pair: Pair, which: Which, id: str) -> str:
    """Why a memory is no candidate of one side: its scope was not searched there, or no search found it."""
    asker, memory = getattr(account_of(pair, which), "asker", None), pair.memories.get(id)
    searched = asker.scopes if asker is not None else None
    hidden = (
        searched is not None and memory is not None and bool(memory.scope) and memory.scope not in searched
    )
    return "scope not searched" if hidden else "no search found it"


def pairings(pair: Pair, selected: str) -> list[Pairing]:
    """A line for every memory, the selected one on top; hue and list both tell who left and who came."""
    left = {flow.id: at for at, flow in enumerate(listed(pair, "a"))}
    right_ = {flow.id: at for at, flow in enumerate(listed(pair, "b"))}
    lines = []
    for flow in sorted(pair.comparison.flows, key=lambda f: (f.id == selected, f.rank_a is None)):
        gone = flow.rank_b is None
        style = "$stage-cut" if gone else "$delta-up" if flow.rank_a is None else "$faint"
        style = "bold $primary" if flow.id == selected else style
        lines.append(Pairing(left[flow.id], right_[flow.id], style))
    return lines


def merged_rows(pair: Pair, width: int, glyphs: Glyphs) -> list[Row]:
    """Both lists in one: place in A, place in B, text, both scores."""
    rows = []
    for flow in ordered(pair):
        moved, style = move_words(flow, "b", glyphs)
        if flow.rank_b is None:
            moved, style = "gone", "$delta-down"
        room = max(4, width - 11 - MOVE_CELLS - 2 * SCORE_CELLS - 2)
        rows.append(
            Row(
                (
                    Content.assemble(
                        (
                            right(str(flow.rank_a or glyphs.dot), 3),
                            "bold $foreground" if flow.rank_a else "$dim",
                        ),
                        (f" {glyphs.forth} ", "$dim"),
                        (
                            right(str(flow.rank_b or glyphs.dot), 2),
                            "bold $foreground" if flow.rank_b else "$dim",
                        ),
                        (right(moved, MOVE_CELLS), style),
                        "  ",
                        (fit(text_of(pair, flow.id), room, glyphs.ellipsis), "$foreground"),
                        (right(score_in(pair, "a", flow.id), SCORE_CELLS + 1), "$dim"),
                        (right(score_in(pair, "b", flow.id), SCORE_CELLS + 1), "$foreground"),
                        " ",
                    ),
                ),
                flow.id,
            )
        )
    return rows


# ---------------------------------------------------------------------- stages


def stage_rows(pair: Pair, width: int, glyphs: Glyphs, *, only: bool = False) -> list[Row]:
    """Every stage with its counts in both; what is alike is dimmed. `only`: leave out what is alike."""
    times = [{s.name: s.ms for s in account_of(pair, which).stages} for which in ("a", "b")]
    styles = {
        s.name: stages.stage_style(s.name, s.kind)
        for which in ("a", "b")
        for s in account_of(pair, which).stages
    }
    return [
        Row(
            (
                _stage_line(
                    stage,
                    times[0].get(stage.name),
                    times[1].get(stage.name),
                    styles[stage.name],
                    width,
                    glyphs,
                ),
            )
        )
        for stage in pair.comparison.stages
        if stage.differs or not only
    ]


def _stage_line(
    pair: StagePair, ms_a: float | None, ms_b: float | None, style: str, width: int, glyphs: Glyphs
) -> Content:
    cells = (width - 17) // 2
    title = fit(one_line(pair.title), 15, glyphs.ellipsis)
    return Content.assemble(
        (glyphs.cursor if pair.differs else " ", style),
        (title, "$foreground" if pair.differs else "$dim"),
        *_counts(pair.a, ms_a, cells, pair.differs),
        *_counts(pair.b, ms_b, cells, pair.differs),
    )


def _counts(
    counts: tuple[int, int] | None, ms: float | None, cells: int, differs: bool
) -> tuple[tuple[str, str], ...]:
    if counts is None:
        return ((right("not run", cells), "$stage-cut" if differs else "$dim"),)
    n_in, n_out = counts
    cut = "$foreground" if n_out < n_in and differs else "$dim"
    return (
        (right(f"{n_in:,}", max(4, cells - 11)), "$dim"),
        (right(f"{n_out:,}", 6), cut),
        (right(millis(ms or 0.0), 5), "$dim"),
    )


def stage_heading(width: int) -> Content:
    """The names of the columns of `stage_rows`."""
    cells = (width - 17) // 2
    half = f"{'in':>{max(4, cells - 11)}}{'out':>6}{'ms':>5}"
    return Content(half + half)


# ---------------------------------------------------------------------- one memory


def why(pair: Pair, which: Which, id: str, glyphs: Glyphs) -> ScoreReasons | None:
    """One memory's account on one side; None where no search met it there."""
    candidate = candidate_of(pair, which, id)
    if candidate is None:
        return None
    trace = cast("Trace", account_of(pair, which))  # a receipt has the same stages and candidates
    known = hasattr(trace, "pool")
    return ScoreReasons(
        stages.fall(trace, candidate, glyphs),
        (),
        results.gates_of(trace, candidate, glyphs) if known else (),
    )


def losses(pair: Pair, flows: Sequence[RankFlow], which: Which) -> str:
    """`2 below the cutoff, 1 expired`: which gates of one side dropped these."""
    found = [(flow.id, candidate_of(pair, which, flow.id)) for flow in flows]
    return rule_text.count_by_gate(
        candidate.reason
        if candidate is not None
        else _not_met(pair, which, id).replace("no search found it", "not found")
        for id, candidate in found
    )


def summary(pair: Pair) -> list[tuple[str, str]]:
    """Where each side stands and what it embeds; who left and who came, and which stage did it."""
    found = pair.comparison
    a, b = stands(pair)
    out = [("A version", a), ("B version", b)] if a != b else [("version", a)]
    who = [asked_by(account_of(pair, which)) for which in ("a", "b")]
    if not _same_scopes(pair):  # what one of them never looked at it did not lose
        out += [("A asked", who[0]), ("B asked", who[1])]
    said = [embedded(account_of(pair, which)) for which in ("a", "b")]
    out += [("A embeds", said[0]), ("B embeds", said[1])] if said[0] != said[1] else [("embed", said[0])]
    if not found.one_scale:
        out.append(("scores", "on different scales: compare ranks"))
    told = len(out)
    if found.left:
        out.append(
            (
                "left",
                f"{counted(len(found.left), 'memory', 'memories')}; B dropped them: {losses(pair, found.left, 'b')}",
            )
        )
    if found.entered:
        words = losses(pair, found.entered, "a")
        out.append(
            ("entered", f"{counted(len(found.entered), 'memory', 'memories')}; A dropped them: {words}")
        )
    moved = sum(1 for flow in found.flows if flow.moved)
    if moved:
        out.append(("moved", f"{counted(moved, 'memory', 'memories')} up or down"))
    return out if len(out) > told else [*out, ("the same", "both return the same memories in the same order")]


# The panel that tells what differs: who left and came, the settings, and what each did to the selected
# memory.

VALUE_CELLS, EFFECT_CELLS = 13, 8

LANES = ("vector_ranked", "bm25_ranked", "identifier_ranked")
"""Evidence, not part of the score: their numbers do not add up to it."""

STANDS = ("now_ms", "table_version")
"""Said of each side above the settings, whole."""

MOST_APART = 6
"""Settings of one recipe alone that are listed; the rest is counted."""


def value(name: str, given: Any) -> str:
    """A setting on one line."""
    if given is None:
        return "-"
    if isinstance(given, bool):
        return "on" if given else "off"
    if name.endswith("now_ms") and isinstance(given, int | float):
        return date(given)
    if isinstance(given, int | float):
        return figure(given)
    if isinstance(given, Mapping):
        return ", ".join(f"{one_line(str(k))} {value('', v)}" for k, v in given.items())
    if isinstance(given, list | tuple):
        return ", ".join(value("", item) for item in given) or "none"
    return one_line(str(given))


def rows(pair: Pair, selected: str, width: int, glyphs: Glyphs, *, stages: bool) -> Sequence[Row]:
    """The whole panel for lines of `width` cells; `stages`: with the stages that differ."""
    from memtui.engine.explain import effects

    found = {
        effect.stage: _difference(effect)
        for effect in effects(account_of(pair, "a"), account_of(pair, "b"), selected)
    }
    lines = [
        Content.assemble(
            (f" {fit(name, 9)}", "$dim"), (crop(text, max(8, width - 11), glyphs.ellipsis), "$foreground")
        )
        for name, text in summary(pair)
    ]
    lines += _settings(pair, found, width, glyphs)
    lines += _effects(pair, selected, width, glyphs)
    if stages:
        differing = stage_rows(pair, width, glyphs, only=True)
        if differing:
            lines += [Content(), _heading("STAGES THAT DIFFER", stage_heading(width).plain, width)]
            lines += [row.lines[0] for row in differing]
    return [Row((line,)) for line in lines]


def _heading(name: str, columns: str, width: int) -> Content:
    return Content.assemble((f" {name}", "bold $heading"), (right(columns, width - len(name) - 2), "$dim"))


def _settings(pair: Pair, found: Mapping[str, float], width: int, glyphs: Glyphs) -> list[Content]:
    differing = [
        difference for difference in pair.comparison.differences if difference.parameter not in STANDS
    ]
    if not differing:
        return [Content(), Content.styled(" SETTINGS", "bold $heading"), Content.styled(" all alike", "$dim")]
    both = [d for d in differing if (d.a is not None and d.b is not None) or "." not in d.parameter]
    apart = [d for d in differing if d not in both]
    name_cells = max(10, width - 2 * VALUE_CELLS - EFFECT_CELLS - 3)
    columns = f"{'A':>{VALUE_CELLS}}{'B':>{VALUE_CELLS}}{'here':>{EFFECT_CELLS}}"
    lines = [Content(), _heading("SETTINGS", columns, width)]
    for each in [*both, *(apart if len(apart) <= MOST_APART else ())]:
        effect = found.get(each.stage)
        shown = effect is not None and each.stage not in LANES and pair.comparison.one_scale
        lines.append(
            Content.assemble(
                " ",
                (
                    fit(one_line(each.parameter.removeprefix("retrieval.")), name_cells, glyphs.ellipsis),
                    "$foreground",
                ),
                (f"  {right(value(each.parameter, each.a), VALUE_CELLS - 2, glyphs.ellipsis)}", "$dim"),
                (f"  {right(value(each.parameter, each.b), VALUE_CELLS - 2, glyphs.ellipsis)}", "$match"),
                _signed(effect if shown else None, EFFECT_CELLS),
                " ",
            )
        )
    if len(apart) > MOST_APART:
        for name, count in (("A", sum(d.b is None for d in apart)), ("B", sum(d.a is None for d in apart))):
            if count:
                lines.append(Content.styled(f" {counted(count, 'setting')} that only {name} has", "$dim"))
    return lines


def _effects(pair: Pair, selected: str, width: int, glyphs: Glyphs) -> list[Content]:
    """What each stage added to the selected memory's score, in both."""
    from memtui.engine.explain import effects

    accounts = [account_of(pair, which) for which in ("a", "b")]
    titles = {stage.name: stage.title for account in accounts for stage in account.stages}
    told = [
        effect
        for effect in effects(accounts[0], accounts[1], selected)
        if effect.stage not in LANES and (effect.a or effect.b)
    ]
    if not told:
        return []
    name_cells = max(8, width - 2 * VALUE_CELLS - EFFECT_CELLS - 3)
    one_scale = pair.comparison.one_scale
    columns = f"{'A':>{VALUE_CELLS}}{'B':>{VALUE_CELLS}}{'B - A' if one_scale else 'place':>{EFFECT_CELLS}}"
    return [
        Content(),
        _heading("THIS MEMORY", columns, width),
        *(
            Content.assemble(
                " ",
                (
                    fit(one_line(titles.get(each.stage, each.stage)), name_cells, glyphs.ellipsis),
                    "$foreground",
                ),
                _signed(each.printed()[0], VALUE_CELLS),
                _signed(each.printed()[1], VALUE_CELLS),
                _signed(_difference(each), EFFECT_CELLS) if one_scale else _places(each, glyphs),
                " ",
            )
            for each in told
        ),
    ]


def _difference(effect: Effect) -> float:
    """B's effect minus A's, of the numbers as they are printed."""
    a, b = effect.printed()
    return (b or 0.0) - (a or 0.0)


def _places(effect: Effect, glyphs: Glyphs) -> tuple[str, str]:
    """The place after the stage in A and in B, where their scores cannot be subtracted."""
    a, b = (str(each) if each else "-" for each in (effect.rank_a, effect.rank_b))
    return right(f"{a} {glyphs.forth} {b}", EFFECT_CELLS), "$foreground"


def _signed(given: float | None, cells: int) -> tuple[str, str]:
    if given is None:
        return " " * cells, "$dim"
    if round(given, 3) == 0:
        return right("=", cells), "$dim"
    sign = "+" if given > 0 else ""
    return right(f"{sign}{number(given)}", cells), "$delta-up" if given > 0 else "$delta-down"
