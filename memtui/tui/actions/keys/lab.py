"""Keys of what is opened over Recall: the comparison, the cases, the rank over versions."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, MOVE, VIEW, Action

_PAIR, _CASE, _BLOCK = "a second side", "a saved case", "the plugin's block"

TABLE: tuple[Action, ...] = (
    # two recalls side by side
    Action("compare.other", "C", "compare with another", ACT, bar=10),
    Action("compare.settings", "p", "change a setting", ACT, bar=20, help="of B, or of A as a new B"),
    Action("compare.swap", "percent_sign", "swap A and B", ACT, bar=30, needs=_PAIR),
    Action(
        "compare.turn",
        "b",
        "A, B, what differs",
        VIEW,
        bar=35,
        help="what the lower panel tells",
        needs=_PAIR,
    ),
    Action("compare.again", "ctrl+r", "run both again", ACT, bar=40, shown="^r", needs=_PAIR),
    Action(
        "compare.explain",
        "x",
        "explain",
        VIEW,
        help="every stage of the selected memory, on this side",
        needs=_PAIR,
    ),
    Action("compare.browse", "v", "show in Browse", GO, needs=_PAIR),
    Action("compare.previous", "left_square_bracket", "previous memory", MOVE, shown="[", needs=_PAIR),
    Action("compare.next", "right_square_bracket", "next memory", MOVE, shown="]", needs=_PAIR),
    Action("compare.left", "h,left", "to A's list", MOVE, shown="h ←", needs=_PAIR),
    Action("compare.right", "l,right", "to B's list", MOVE, shown="l →", needs=_PAIR),
    Action("compare.zoom", "z", "zoom", VIEW, bar=60, help="the focused panel fills the screen", needs=_PAIR),
    Action("compare.back", "escape", "back to Recall", MOVE, bar=70, shown="esc"),
    Action(
        "compare.cases",
        "T",
        "run on the cases",
        GO,
        bar=50,
        help="both sides on every saved case",
        needs=_PAIR,
    ),
    # saved cases
    Action("cases.run", "R", "run all", ACT, bar=10, needs=_CASE),
    Action("cases.other", "C", "compare with", ACT, bar=20, help="another recipe or configuration as B"),
    Action("cases.first", "e", "recipe of A", ACT, bar=25),
    Action("cases.how-many", "K", "how many count", ACT, bar=30, help="the k of hit@k"),
    Action(
        "cases.tune",
        "T",
        "search settings",
        ACT,
        bar=35,
        help="better ones, judged on cases kept apart",
        needs=_CASE,
    ),
    Action(
        "cases.copy",
        "y",
        "copy the block",
        ACT,
        bar=40,
        help="the settings that were found",
        needs="settings that were found",
    ),
    Action("cases.turn", "b", "measures, case", VIEW, bar=45, help="what the lower panel tells", needs=_CASE),
    Action("cases.import", "i", "import", ACT, help="cases from a file of JSON lines"),
    Action("cases.remove", "D", "remove", ACT, bar=60, help="this case; u puts it back", needs=_CASE),
    Action(
        "cases.put-back",
        "u",
        "put back",
        ACT,
        bar=61,
        help="the case that was removed",
        needs="a case that was removed",
    ),
    Action("cases.back", "escape", "stop, or back", MOVE, bar=70, shown="esc"),
    # one memory's rank over the versions
    Action(
        "bisect.compare",
        "c",
        "before and after",
        VIEW,
        bar=10,
        help="the version that changed it beside the one before",
        needs="a version that changed it",
    ),
    Action("bisect.since", "d", "when it was right", ACT, bar=20),
    Action(
        "bisect.settings",
        "f",
        "settings then",
        ACT,
        bar=30,
        help="from a file, as they were when it was right",
    ),
    Action("bisect.again", "ctrl+r", "look again", ACT, bar=40, shown="^r"),
    Action("bisect.browse", "v", "show in Browse", GO),
    Action("bisect.back", "escape", "stop, or back", MOVE, bar=70, shown="esc"),
    # what the agent would see
    Action("injected.mode", "m", "mode", ACT, bar=10, help="full, summary, adaptive, off", needs=_BLOCK),
    Action("injected.more", "plus", "one more", ACT, bar=20, shown="+", needs=_BLOCK),
    Action("injected.fewer", "minus", "one fewer", ACT, bar=21, shown="-", needs=_BLOCK),
    Action("injected.larger", "greater_than_sign", "more room", ACT, bar=30, shown=">", needs=_BLOCK),
    Action("injected.smaller", "less_than_sign", "less room", ACT, bar=31, shown="<", needs=_BLOCK),
    Action("injected.copy", "y", "copy", ACT, bar=40, help="the block as it goes out"),
    Action("injected.close", "escape,q,I", "close", GO, bar=50, shown="esc"),
    # a chooser for many things
    Action("find.close", "escape", "close", GO, bar=20, shown="esc"),
)
