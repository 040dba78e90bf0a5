"""Keys of Transfer and its lists."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, GO, MOVE, VIEW, WRITES, Action

TABLE: tuple[Action, ...] = (
    # Transfer
    Action("transfer.next", "n", "next step", GO, bar=5, needs="a step that has one after it"),
    Action(
        "transfer.write",
        "y",
        "write it",
        ACT,
        bar=6,
        help="what this page has said will be written",
        needs=WRITES,
    ),
    Action("transfer.stopped", "Y", "write: the agent is stopped", ACT, bar=7, needs=WRITES),
    Action(
        "transfer.back", "backspace", "step back", GO, bar=30, shown="bksp", help="nothing decided is lost"
    ),
    Action("transfer.stop", "escape", "stop, or step back", GO, bar=35, shown="esc"),
    Action("transfer.view-before", "left_square_bracket", "list before", VIEW, shown="["),
    Action("transfer.view-after", "right_square_bracket", "next list", VIEW, bar=25, shown="]"),
    Action(
        "transfer.ledger", "l", "what is lost", VIEW, bar=28, help="the ledger: what changes, field by field"
    ),
    Action(
        "transfer.paste", "p", "paste a text", ACT, bar=20, help="a list that an assistant printed, for one"
    ),
    Action(
        "transfer.measure",
        "m",
        "measure the time",
        ACT,
        bar=26,
        help="asks the model for a few vectors",
        needs="texts that a service embeds",
    ),
    Action(
        "transfer.undo", "u,ctrl+z", "take it back", ACT, bar=15, shown="u", needs="an entry that is applied"
    ),
    # a list of the wizard
    Action("wizard.open", "enter", "choose", ACT, bar=10),
    Action(
        "wizard.switch", "space", "on or off", ACT, bar=12, shown="space", needs="a row that can be switched"
    ),
    Action(
        "wizard.forget",
        "x",
        "forget it",
        ACT,
        bar=13,
        help="the run will not be gone on with",
        needs="an unfinished run",
    ),
    Action("wizard.ours", "o", "ours", ACT, bar=14, help="keep the memory that is here", needs="a conflict"),
    Action(
        "wizard.theirs",
        "t",
        "theirs",
        ACT,
        bar=15,
        help="take the text of the file in its place",
        needs="a conflict",
    ),
    Action("wizard.both", "b", "both", ACT, bar=16, help="add theirs beside ours", needs="a conflict"),
    Action("wizard.all-ours", "O", "ours for all", ACT, bar=17, needs="a conflict"),
    Action("wizard.all-theirs", "T", "theirs for all", ACT, bar=18, needs="a conflict"),
    Action("wizard.all-both", "B", "both for all", ACT, needs="a conflict"),
    Action("wizard.later", "greater_than_sign", "next page", MOVE, shown=">"),
    Action("wizard.earlier", "less_than_sign", "page before", MOVE, shown="<"),
    # the line for a path
    Action("path.take", "enter", "take it", ACT, bar=10),
    Action("path.complete", "tab", "complete", ACT, bar=11),
    Action("path.to-list", "down", "to the list", MOVE, bar=12),
    Action("path.leave", "escape", "to the list", MOVE, shown="esc"),
    # a text that is pasted
    Action("paste.take", "ctrl+s", "take it", ACT, bar=10, shown="^s"),
    Action("paste.close", "escape", "close", GO, bar=20, shown="esc"),
)
