"""Keys of Transfer and its lists."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, GO, MOVE, VIEW, WRITES, Key

TABLE: tuple[Key, ...] = (
    # Transfer
    Key("transfer.next", "n", "next step", GO, bar=5, needs="a step that has one after it"),
    Key(
        "transfer.write",
        "y",
        "write it",
        ACT,
        bar=6,
        help="what this page has said will be written",
        needs=WRITES,
    ),
    Key("transfer.stopped", "Y", "write: the agent is stopped", ACT, bar=7, needs=WRITES),
    Key("transfer.back", "backspace", "step back", GO, bar=30, shown="bksp", help="nothing decided is lost"),
    Key("transfer.stop", "escape", "stop, or step back", GO, bar=35, shown="esc"),
    Key("transfer.view-before", "left_square_bracket", "list before", VIEW, shown="["),
    Key("transfer.view-after", "right_square_bracket", "next list", VIEW, bar=25, shown="]"),
    Key(
        "transfer.ledger", "l", "what is lost", VIEW, bar=28, help="the ledger: what changes, field by field"
    ),
    Key("transfer.paste", "p", "paste a text", ACT, bar=20, help="a list that an assistant printed, for one"),
    Key(
        "transfer.measure",
        "m",
        "measure the time",
        ACT,
        bar=26,
        help="asks the model for a few vectors",
        needs="texts that a service embeds",
    ),
    Key(
        "transfer.undo", "u,ctrl+z", "take it back", ACT, bar=15, shown="u", needs="an entry that is applied"
    ),
    # a list of the wizard
    Key("wizard.open", "enter", "choose", ACT, bar=10),
    Key(
        "wizard.switch", "space", "on or off", ACT, bar=12, shown="space", needs="a row that can be switched"
    ),
    Key(
        "wizard.forget",
        "x",
        "forget it",
        ACT,
        bar=13,
        help="the run will not be gone on with",
        needs="an unfinished run",
    ),
    Key("wizard.ours", "o", "ours", ACT, bar=14, help="keep the memory that is here", needs="a conflict"),
    Key(
        "wizard.theirs",
        "t",
        "theirs",
        ACT,
        bar=15,
        help="take the text of the file in its place",
        needs="a conflict",
    ),
    Key("wizard.both", "b", "both", ACT, bar=16, help="add theirs beside ours", needs="a conflict"),
    Key("wizard.all-ours", "O", "ours for all", ACT, bar=17, needs="a conflict"),
    Key("wizard.all-theirs", "T", "theirs for all", ACT, bar=18, needs="a conflict"),
    Key("wizard.all-both", "B", "both for all", ACT, needs="a conflict"),
    Key("wizard.later", "greater_than_sign", "next page", MOVE, shown=">"),
    Key("wizard.earlier", "less_than_sign", "page before", MOVE, shown="<"),
    # the line for a path
    Key("path.take", "enter", "take it", ACT, bar=10),
    Key("path.complete", "tab", "complete", ACT, bar=11),
    Key("path.to-list", "down", "to the list", MOVE, bar=12),
    Key("path.leave", "escape", "to the list", MOVE, shown="esc"),
    # a text that is pasted
    Key("paste.take", "ctrl+s", "take it", ACT, bar=10, shown="^s"),
    Key("paste.close", "escape", "close", GO, bar=20, shown="esc"),
)
