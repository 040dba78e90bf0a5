"""The configuration as rows: problems and a plan, every option, and what writing it would bring. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.dialogs.answer_effect_view import answers_lines
from memtui.tui.dialogs.config_preview import values_of
from memtui.tui.paint.cells import crop, fit, tilde
from memtui.tui.screens.health.configuring import OWN, answers_of, flight_words, plain
from memtui.tui.screens.health.state import HealthState
from memtui.tui.screens.health.view import labelled
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

if TYPE_CHECKING:
    from memtui.tui.screens.health.state import ConfigView, OptionLine


_WITHOUT = "the store is shown without its agent's configuration; every other view works"

_DEMO = "the demo store belongs to no agent, so that no openclaw.json names it"

_WAYS = (
    "open your agent's store (“open a store” in the palette): its configuration is found beside it",
    "another file: OPENCLAW_CONFIG_PATH=FILE memtui",
    "without a file, p in Recall tries every setting of recall on your question, with its flip points",
)

_WITH = "plans A to D, every option, what each would change, and the checks of the keys"


def config(state: HealthState, width: int, look: Look) -> list[Row]:
    """The file, what is wrong with it, and the plan; or every option."""
    config = state.config
    if config is None:
        return [Row((Content.styled(" reading the configuration", "$dim"),))]
    named = crop(tilde(config.file), width - 2, look.glyphs.ellipsis)
    rows = [Row((Content.styled(f" {named}", "$dim"),))] if config.file else []
    if config.error:
        return [*rows, *labelled([("", config.error)], width)]
    if state.listing and not config.owner:
        return rows + _options(config, width, look)
    rows.append(Row((Content.styled(f" problems {len(config.problems)}", "bold $heading"),)))
    said = " in the file: no service was asked; memtui config check --keys asks each"
    rows.append(Row((Content.styled(crop(said, width - 1, look.glyphs.ellipsis), "$dim"),)))
    for problem in config.problems:
        sign, style = {
            "error": ("✗", "bold $danger"),
            "warning": ("!", "bold $stale"),
            "note": (" ", "$dim"),
        }[problem.severity]
        said = crop(one_line(problem.sentence), width - 4, look.glyphs.ellipsis)
        rows.append(
            Row((Content.assemble((f" {sign} ", style), said),), f"problem:{problem.path}:{problem.rule}")
        )
    if config.owner:
        return [*rows, Row((Content(),)), *labelled([("", _of_owner(config.owner))], width)]
    if not config.changes and config.turned.plan == OWN:
        said = " no change planned: choose a plan, or edit an option"
        rows.append(Row((Content.styled(crop(said, width - 1, look.glyphs.ellipsis), "$dim"),)))
        return [*rows, *_offered(config, width, look), *_set(config, width, look)]
    title = f" {config.title}: {counted(len(config.changes), 'setting')}"
    rows.append(Row((Content.styled(crop(title, width - 1, look.glyphs.ellipsis), "bold $heading"),)))
    for change in config.changes:
        own = look.glyphs.mark if change.short in config.turned.edits else " "
        name = fit(change.short, min(34, max(12, width // 2)), look.glyphs.ellipsis)
        words = one_line(f" {look.glyphs.forth} ".join(values_of(change)))
        line = crop(f" {own} {name} {words}", width - 1, look.glyphs.ellipsis)
        rows.append(Row((Content(line),), change.short))
    return rows


def _of_owner(owner: str) -> str:
    return (
        f"{one_line(owner)} has the memory slot: it is judged by its own rules. Plans A to D and the list of options "
        "are those of memory-lancedb-pro, and no plan changes who has the slot."
    )


def _offered(config: ConfigView, width: int, look: Look) -> list[Row]:
    """The plans that can be chosen, with how many settings each would change."""
    rows = [Row((Content(),)), Row((Content.styled(" PLANS", "bold $heading"),))]
    for letter, title, count in config.offered:
        far = counted(count, "change") if count else "no change"
        room = max(8, width - len(far) - 8)
        line = Content.assemble(
            (f"   {letter}  ", "bold $foreground"),
            (fit(title, room, look.glyphs.ellipsis), "$foreground"),
            (f" {far}", "$dim"),
        )
        rows.append(Row((line,), f"plan:{letter}"))
    return rows


def _set(config: ConfigView, width: int, look: Look) -> list[Row]:
    """The options that the file sets, with their values; the defaults of the others are in the list of all."""
    lines = [line for line in config.lines if line.is_set]
    head = f" SET IN THE FILE  {len(lines)} of {counted(len(config.lines), 'option')}"
    rows = [Row((Content(),)), Row((Content.styled(crop(head, width - 1), "bold $heading"),))]
    longest = max((len(line.option.path) + 4 for line in lines), default=0)
    column = min(longest, 40, max(16, width * 3 // 5))
    for line in lines:
        name = fit(f"   {line.option.path}", column, look.glyphs.ellipsis)
        said = crop(one_line(plain(line.value)), max(4, width - len(name) - 3), look.glyphs.ellipsis)
        rows.append(Row((Content.assemble((f"{name} ", "$foreground"), (said, "$dim")),), line.option.path))
    return rows


def _options(config: ConfigView, width: int, look: Look) -> list[Row]:
    rows: list[Row] = []
    block = None
    longest = max(
        (len(line.option.path.partition(".")[2] or line.option.path) + 4 for line in config.lines), default=0
    )
    column = min(longest, 32, max(16, width * 3 // 5))
    for each in config.lines:
        head, dot, last = each.option.path.partition(".")
        if (head if dot else "") != block:
            block = head if dot else ""
            rows.append(Row((Content.styled(f" {block or 'the plugin itself'}", "bold $heading"),)))
        name = fit(f"   {last or head}", column, look.glyphs.ellipsis)
        said, style = _value(each)
        if each.change is not None:
            said, style = one_line(f" {look.glyphs.forth} ".join(values_of(each.change))), "bold $stale"
        room = max(4, width - len(name) - 3)
        rows.append(
            Row(
                (
                    Content.assemble(
                        (f"{name} ", "$foreground"), (crop(said, room, look.glyphs.ellipsis), style)
                    ),
                ),
                each.option.path,
            )
        )
    return rows


def _value(line: OptionLine) -> tuple[str, str]:
    """What counts now in words, and how to paint it; a default is dim."""
    if line.is_set:
        return one_line(plain(line.value)), "$foreground"
    default = line.option.default
    return ("unset" if default is None else f"{plain(default)}, the default"), "$dim"


def before_writing(state: HealthState, width: int, look: Look) -> list[Row]:
    """The row under the cursor in words, what would be answered, what writing it brings."""
    config = state.config
    if config is None:
        return []
    if config.error:
        why = [("why", _DEMO)] if config.of_demo else []
        ways = [("do" if at == 0 else "", each) for at, each in enumerate(_WAYS)]
        return labelled([*why, ("without", _WITHOUT), ("with", _WITH), *ways], width)
    lines: list[tuple[str, str]] = []
    for problem in config.problems:
        if state.cursor == f"problem:{problem.path}:{problem.rule}":
            lines += [
                ("problem", problem.sentence),
                ("where", problem.path),
                ("fix", problem.remedy),
                ("", ""),
            ]
    line, letter = config.line(state.cursor), config.offer(state.cursor)
    if letter is not None:
        lines += [*_plan(letter, config), ("", "")]
    elif line is not None:
        lines += [*_option(line), ("", "")]
    else:
        for change in config.changes:
            if state.cursor == change.short:
                lines += [("setting", change.dotted), ("why", change.reason or "part of the plan"), ("", "")]
    flown: list[Row] = []
    if config.flight is not None:
        lines += flight_words(config.flight)
        answers = answers_lines(answers_of(config.flight), width, look.glyphs)
        flown = [*labelled(lines, width), *(Row((line,)) for line in (*answers, Content()))]
        lines = []
    if config.talks:
        lines += [*(("capture" if at == 0 else "", said) for at, said in enumerate(config.talks)), ("", "")]
    lines += [(consequence.kind, consequence.sentence) for consequence in config.consequences]
    if config.owner:
        if not lines:
            lines.append(
                ("", "choose a problem for its place and its fix" if config.problems else "nothing is wrong")
            )
    elif not config.changes and config.turned.plan == OWN:
        lines.append(("", "no plan chosen; plans and edits are previewed before they are written"))
    elif not config.changes:
        lines.append(("", "nothing to change"))
    elif config.flight is None and not config.talks:
        lines.append(
            ("", "not tested yet: the test answers your saved cases and last questions with this plan")
        )
    return [*flown, *labelled(lines, width)]


def _plan(letter: str, config: ConfigView) -> list[tuple[str, str]]:
    title, count = next((title, count) for name, title, count in config.offered if name == letter)
    return [
        ("plan", f"{letter}, {title}"),
        ("changes", counted(count, "setting") if count else "nothing: the file has these settings"),
        ("next", "open it for its changes and their effect; nothing is written before the preview"),
    ]


def _option(line: OptionLine) -> list[tuple[str, str]]:
    option, change = line.option, line.change
    out = [("option", option.path), ("meaning", option.meaning or "not documented")]
    if option.note:
        out.append(("note", option.note))
    out += [
        ("allowed", option.range),
        ("default", "none" if option.default is None else plain(option.default)),
        ("current", _value(line)[0]),
    ]
    if change is not None:
        out += [("new", values_of(change)[1]), ("file", tilde(str(change.file)))]
        if change.reason and change.reason != option.meaning:
            out.append(("why", change.reason))
    return out
