"""Keys of the app itself, of Home, and of what a panel says when it is empty."""

from __future__ import annotations

from memtui.tui.keys.key import ACT, FIND, GO, MOVE, VIEW, Key

TABLE: tuple[Key, ...] = (
    # the app: everywhere, unless an input has the keyboard
    Key("app.go-home", "1", "Home", GO, shown="1"),
    Key("app.go-browse", "2", "Browse", GO, shown="2", help="find, mend, undo"),
    Key("app.go-recall", "3", "Recall", GO, shown="3", help="why, and why not"),
    Key("app.go-lifecycle", "4", "Lifecycle", GO, shown="4", help="what fades, when"),
    Key("app.go-transfer", "5", "Transfer", GO, shown="5", help="in, out, new model"),
    Key("app.go-journal", "6", "Journal", GO, shown="6", help="all changes, undo"),
    Key("app.go-capture", "7", "Capture", GO, shown="7", help="from talk to memory"),
    Key("app.go-audit", "8", "Audit", GO, shown="8", help="who got what"),
    Key("app.go-health", "9", "Health", GO, shown="9", help="is it well"),
    Key("app.palette", "ctrl+p,colon", "every command", GO, shown="^p :"),
    Key("app.help", "question_mark,f1", "help", GO, bar=90, shown="?"),
    Key("app.jump", "semicolon", "jump", GO, help="a letter on every panel and row: type it to go there"),
    Key("app.reload", "r", "reload", ACT, help="read the newest version of the store"),
    Key("app.next-theme", "f2", "next theme", VIEW),
    Key("app.tour", "", "guided tour", GO, help="eight steps on the demo store", needs="the demo store"),
    Key("app.skip-tour", "f10", "end the tour", GO, bar=95),
    Key("app.quit", "q,ctrl+q", "quit", GO, shown="q"),
    # Home
    Key("home.filter", "slash", "filter memories", FIND, bar=10),
    Key("home.open-demo", "d", "demo store", ACT),
    Key("home.open-path", "o", "open a store", ACT, bar=40),
    # a list of links on Home
    Key("links.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("links.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("links.follow", "enter,space", "open in Browse", ACT, bar=20, shown="enter"),
    # what a panel says when it is empty or failed
    Key("state.down", "j,down", "next", MOVE, shown="j ↓"),
    Key("state.up", "k,up", "previous", MOVE, shown="k ↑"),
    Key("state.take", "enter,space", "do it", ACT, bar=10, shown="enter"),
)
