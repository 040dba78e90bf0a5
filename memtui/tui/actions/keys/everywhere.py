"""Keys of the app itself, of Home, and of what a panel says when it is empty."""

from __future__ import annotations

from memtui.tui.actions.action import ACT, FIND, GO, MOVE, VIEW, Action

TABLE: tuple[Action, ...] = (
    # the app: everywhere, unless an input has the keyboard
    Action("app.go-home", "1", "Home", GO, shown="1"),
    Action("app.go-browse", "2", "Browse", GO, shown="2", help="find, mend, undo"),
    Action("app.go-recall", "3", "Recall", GO, shown="3", help="why, and why not"),
    Action("app.go-lifecycle", "4", "Lifecycle", GO, shown="4", help="what fades, when"),
    Action("app.go-transfer", "5", "Transfer", GO, shown="5", help="in, out, new model"),
    Action("app.go-journal", "6", "Journal", GO, shown="6", help="all changes, undo"),
    Action("app.go-capture", "7", "Capture", GO, shown="7", help="from talk to memory"),
    Action("app.go-audit", "8", "Audit", GO, shown="8", help="who got what"),
    Action("app.go-health", "9", "Health", GO, shown="9", help="is it well"),
    Action("app.palette", "ctrl+p,colon", "every command", GO, shown="^p :"),
    Action("app.help", "question_mark,f1", "help", GO, bar=90, shown="?"),
    Action("app.jump", "semicolon", "jump", GO, help="a letter on every panel and row: type it to go there"),
    Action("app.reload", "r", "reload", ACT, help="read the newest version of the store"),
    Action("app.next-theme", "f2", "next theme", VIEW),
    Action("app.tour", "", "guided tour", GO, help="eight steps on the demo store", needs="the demo store"),
    Action("app.skip-tour", "f10", "end the tour", GO, bar=95),
    Action("app.quit", "q,ctrl+q", "quit", GO, shown="q"),
    # Home
    Action("home.filter", "slash", "filter memories", FIND, bar=10),
    Action("home.open-demo", "d", "demo store", ACT),
    Action("home.open-path", "o", "open a store", ACT, bar=40),
    # a list of links on Home
    Action("links.down", "j,down", "next", MOVE, shown="j ↓"),
    Action("links.up", "k,up", "previous", MOVE, shown="k ↑"),
    Action("links.follow", "enter,space", "open in Browse", ACT, bar=20, shown="enter"),
    # what a panel says when it is empty or failed
    Action("state.down", "j,down", "next", MOVE, shown="j ↓"),
    Action("state.up", "k,up", "previous", MOVE, shown="k ↑"),
    Action("state.take", "enter,space", "do it", ACT, bar=10, shown="enter"),
)
