"""A file that only one other file of its folder imports is part of that file, unless a reader would look for it."""

from __future__ import annotations

from functools import cache

from tests.arch.test_circles import graph, modules

SMALL = 120
KINDS = (
    *("memtui.cli.", "memtui.mcp.tools.", "memtui.tui.widgets.", "memtui.patches."),
    *("memtui.engine.recall.stages.", "memtui.engine.capture.stages.", "memtui.engine.health.checks."),
    *("memtui.engine.transfer.readers.", "memtui.engine.transfer.writers.", "memtui.engine.dialects."),
)
"""Commands, tools, widgets, stages, checks, readers, dialects: one file each, whoever imports it."""
DATA = ("knobs",)
"""Files that are a table."""
KEPT = {
    "memtui.engine.alive.titles": "the names of every cause in one place, for who writes a new one",
    "memtui.testing.golden_recalls": "recorded recalls compared, for authors who want nothing else of the kit",
    "memtui.testing.report": "what the kit found, on a page; the kit beside it only tries",
    "memtui.tui.screens.browse.unsaved": "edits that outlive a crash: looked for under this name",
    "memtui.engine.blame.reasons": "the sentences for a person, apart from what is weighed",
    "memtui.tui.screens.home.alive_line": "the painting of one line, tested as a function",
    "memtui.engine.changes.crew_values": "what the rows of one program may hold, as engine_values beside it",
    "memtui.engine.changes.hermes_values": "the same of another program",
    "memtui.engine.recall.recipes.hermes.fusion": "another library's arithmetic, by its recordings",
    "memtui.engine.recall.recipes.hermes.row_rules": "the account of one row, which the run never asks",
    "memtui.engine.changes.named_lock": "the lock of one program, as owner_lock beside it",
    "memtui.engine.discovery.crewai_stores": "the places of another program; the search beside it asks each of them",
    "memtui.engine.transfer.importing.hermes_row": "the same of another program",
    "memtui.engine.alive.hermes_check": "another host's homes; the check beside it judges OpenClaw's",
    "memtui.engine.health.light_rows": "one pass over small columns, which the checks share through their patient",
    "memtui.engine.documents.pack_policy": "what is kept, bounded and scored; the pack beside it counts and renders",
    "memtui.engine.capture.recipes.memtui.beside_question": "what a question tells; the rules find what is in it",
    "memtui.engine.capture.recipes.pro.gates": "the gates of the plugin as a table; the run beside it would bury them",
    "memtui.mcp.asking": "a question to a person, by two ways of the protocol; the server beside it only passes calls",
    "memtui.mcp.sessions": "who gets a session, and whose it is; the server beside it opens the store and listens",
    "memtui.mcp.elsewhere": "the plugin's tools on other programs' stores; those of its own beside it are recorded",
    "memtui.mcp.quiet": "when a client leaves room to read ahead; the server beside it only passes calls",
    "memtui.tui.screens.health.version_rows": "the painting of one view, as config_rows beside it",
    "memtui.tui.screens.audit.mend_choice": "the dialogs of one choice, as edit_rights beside it",
    "memtui.engine.capture.kept_prompt": "the one prompt of a session that may lie on disk: looked for under this name",
    "memtui.engine.capture.host_transcripts": "the files of other hosts; what they become stands beside them",
    "memtui.engine.capture.job_faults": "known faults of another program, counted; the jobs beside it only plan",
    "memtui.tui.screens.capture.sent": "what leaves the machine: looked for under this name",
    "memtui.engine.explain.index_loss": "a loss that no gate sees: the same recall asked without the index",
    "memtui.engine.providers.codex": "another way to a key than a key",
    "memtui.engine.recall.recipes.memtui.another_speaker": "who said it, of two; weighed beside it",
    "memtui.engine.recall.recipes.memtui.pairs": "words of languages without blanks",
    "memtui.engine.store.agent_words.heap": "the order of equal scores in another engine",
    "memtui.engine.store.agent_words.tokens": "how another engine splits words",
    "memtui.engine.transfer.reembed.far": "a second table on object storage, apart from the one in a folder",
    "memtui.engine.transfer.importing.engine_row": "a row as another program writes it, by its recordings",
    "memtui.tui.screens.health.reviving": "a cause as an edit of the configuration",
    "memtui.engine.transfer.summaries": "the one place that asks a chat model",
    "memtui.engine.witness.log": "a file format of our own",
    "memtui.tui.actions.keymap_file": "a person's keys.toml",
    "memtui.tui.screens.audit.below": "what a large screen has below the lists; the view with it would have 540 lines",
    "memtui.tui.screens.transfer.about_tasks": "sentences about each task, looked for under this name",
    "memtui.tui.screens.home.injections": "a panel with a reading of its own, as the other panels of Home",
    "memtui.tui.screens.health.going_back": "two versions as a change set to look at, apart from the keys of the view",
    "memtui.tui.screens.whynot.remedies": "trying what could be written, apart from the verdict",
}
"""Why a small file with one importer stands by itself."""


@cache
def crumbs() -> set[str]:
    """Small modules with one importer, in the importer's folder, that are of no kind that is exempt."""
    steps, files = graph(), modules()
    found = set()
    for name in steps:
        users = [user for user, imported in steps.items() if name in imported]
        if len(users) != 1 or files[users[0]].parent != files[name].parent:
            continue
        small = len(files[name].read_text(encoding="utf-8").splitlines()) < SMALL
        if small and not name.startswith(KINDS) and name.rpartition(".")[2] not in DATA:
            found.add(name)
    return found


def test_no_new_crumb() -> None:
    assert sorted(crumbs() - KEPT.keys()) == [], "merge it into its only importer, or say in KEPT why not"


def test_each_has_a_reason() -> None:
    assert [name for name, why in KEPT.items() if not why] == []


def test_what_is_no_crumb_any_more_is_not_listed() -> None:
    assert sorted(KEPT.keys() - crumbs()) == [], "delete these lines of KEPT"
