"""Sentences typed into the palette: what each is understood as, in whatever order its words stand."""

from __future__ import annotations

import pytest

from memtui.tui.dialogs.intents import examples, understood

SCOPES = ("global", "agent:main", "agent:scribe", "project:atlas")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("forget Peter Lund", "Forget Peter Lund"),
        ("delete everything about Peter Lund", "Forget everything about Peter Lund"),
        ("remove all memories of Dov", "Forget Dov"),
        ("forget every trace of Dov", "Delete including history: Dov"),
        ("export atlas as markdown", "Export project:atlas as markdown"),
        ("Export as md", "Export as markdown"),
        ("export port in main as csv", "Export port in agent:main as csv"),
        ("merge duplicates about lint", "Merge duplicates about lint"),
        ("mask secrets in atlas", "Mask secrets project:atlas"),
        ("why not bastion", "Why not bastion"),
        ("delete archived", "Forget what is archived"),
        ("forget archived notes", "Forget archived notes"),
        ("export everything as json", "Export as json"),
        ("make a backup", "Export"),
        ("undo yesterday", "Undo the last change of yesterday"),
        ("undo masking", "Undo the last change about masking"),
        ("import talks.json", "Import talks.json"),
        ("what did scribe get yesterday", "Audit: what scribe got yesterday"),
        ("What does scribe see?", "Audit: what scribe got"),
        ("what can scribe read", "Audit: what scribe may read"),
        ("who reads project:atlas", "Audit: who reads and writes project:atlas"),
        ("who can see atlas", "Audit: who reads and writes project:atlas"),
        ("who may write agent:nobody", "Audit: who reads and writes agent:nobody"),
        ("who reads the bastion", "Who got bastion"),
        ("who saw the bastion?", "Who got bastion"),
        ("please forget Peter Lund", "Forget Peter Lund"),
        ("can you please delete the bastion", "Forget bastion"),
        ("get rid of archived", "Forget what is archived"),
        ("drop expired memories", "Forget what is expired"),
        ("throw away outdated", "Forget what is stale"),
        ("wipe the bastion", "Forget bastion"),
        ("get rid of everything about Dov", "Forget everything about Dov"),
        ("erase the person Dov", "Forget everything about Dov"),
        ("erase all traces of Dov", "Delete including history: Dov"),
        ("wipe every trace of Dov", "Delete including history: Dov"),
        ("purge Dov", "Delete including history: Dov"),
        ("archive greetings", "Archive what is noise"),
        ("find greetings", "Show in Browse greetings"),
        ("put away the old ERP", "Archive old ERP"),
        ("save everything to csv", "Export as csv"),
        ("download atlas as json", "Export project:atlas as json"),
        ("dump everything as json lines", "Export as jsonl"),
        ("write out main as a CSV file", "Export agent:main as csv"),
        ("export project atlas as obsidian vault", "Export project:atlas as obsidian"),
        ("export the atlas project into markdown", "Export project:atlas as markdown"),
        ("export atals as markdwon", "Export project:atlas as markdown"),
        ("backup", "Export"),
        ("dedup lint", "Merge duplicates about lint"),
        ("merge dupicates about lint", "Merge duplicates about lint"),
        ("combine doubles", "Merge duplicates"),
        ("deduplicate", "Merge duplicates"),
        ("hide passwords", "Mask secrets"),
        ("redact the keys", "Mask secrets"),
        ("clean up", "Archive noise"),
        ("tidy up junk", "Archive noise"),
        ("mark bastion as core", "Change tier bastion to core"),
        ("set importance of the bastion to 0.9", "Change importance bastion to 0.9"),
        ("move the bastion to atlas", "Change scope bastion to project:atlas"),
        ("change the category of lint", "Change category lint"),
        ("correct the bastion port", "Edit bastion port"),
        ("reword the bastion port", "Edit bastion port"),
        ("why is bastion not recalled", "Why not bastion"),
        ("Why isn't the bastion found?", "Why not bastion"),
        ("why was lint not in the answer", "Why not lint"),
        ("why doesn\u2019t lint come back", "Why not lint"),
        ("take that back", "Undo the last change"),
        ("roll back the last change", "Undo the last change"),
        ("what changed yesterday", "Journal: changes of yesterday"),
        ("show changes since 3 days", "Journal: changes of the last 3 days"),
        ("search for bastion", "Show in Browse bastion"),
        ("show me the pending memories", "Show in Browse what is pending"),
        ("show history of bastion", "Show in Browse bastion"),
        ("how many memories about lint", "Show in Browse lint"),
        ("where is the bastion?", "Show in Browse bastion"),
        ("find port in project atlas", "Show in Browse port in project:atlas"),
        ("load chatgpt.zip", "Import chatgpt.zip"),
        ("similar to the bastion", "Nearest to bastion"),
        ("find port since 3 weeks", "Show in Browse port of the last 21 days"),
        ("ask which port is it in atlas", "Ask Recall which port is it in atlas"),
        # the verb further on, the words in another order
        ("Peter Lund forget", "Forget Peter Lund"),
        ("Peter Lund, forget him", "Forget Peter Lund"),
        ("everything about Peter Lund delete", "Forget everything about Peter Lund"),
        ("remove Peter Lund's memories", "Forget Peter Lund"),
        ("as markdown export atlas", "Export project:atlas as markdown"),
        ("atlas as markdown", "Export project:atlas as markdown"),
        ("exportt atlas to markdown", "Export project:atlas as markdown"),
        ("markdown export of atlas", "Export project:atlas as markdown"),
        ("export what is pending as csv", "Export what is pending as csv"),
        ("duplicates about lint merge", "Merge duplicates about lint"),
        ("secrets mask", "Mask secrets"),
        ("maks secrets", "Mask secrets"),
        ("msk secrets", "Mask secrets"),
        ("bastion why not", "Why not bastion"),
        ("why does nobody find bastion", "Why not bastion"),
        ("why does the agent not know the bastion port", "Why not bastion port"),
        ("yesterday undo", "Undo the last change of yesterday"),
        ("undo yesterday's change", "Undo the last change of yesterday"),
        ("importance of bastion set to 0.9", "Change importance bastion to 0.9"),
        ("fix the bastion port", "Edit bastion port"),
        ("clean up the store", "Archive noise"),
        ("who changed the bastion", "Journal: changes about bastion"),
        ("show me what changed today", "Journal: changes of today"),
        ("atlas who reads it", "Audit: who reads and writes project:atlas"),
        # an agent, wherever it stands and however it is typed
        ("what scribe got yesterday", "Audit: what scribe got yesterday"),
        ("scribe what did it get", "Audit: what scribe got"),
        ("yesterday what did scribe get", "Audit: what scribe got yesterday"),
        ("what did scrbe get", "Audit: what scribe got"),
        ("which memories did scribe receive", "Audit: what scribe got"),
        ("show me what scribe got", "Audit: what scribe got"),
        ("what was injected into scribe", "Audit: what scribe got"),
        ("what did main read last week", "Audit: what main got the last 7 days"),
        # what is said of duplicates never takes every copy
        ("delete duplicates", "Merge duplicates"),
        ("remove duplicates about lint", "Merge duplicates about lint"),
        ("export duplicates about lint", "Export what is duplicate about lint"),
        # files that are named, and exports that are not
        ("import my ChatGPT export", "Import"),
        ("import the file ~/my talks.json", "Import ~/my talks.json"),
    ],
)
def test_sentences_are_understood(text, title):
    found = understood(text, SCOPES) or [each for near in examples(text) for each in understood(near, SCOPES)]
    assert found[0].title == title


def test_a_verb_further_on_is_one_only_where_nothing_else_is_meant():
    for said in (
        "users who forget their password",
        "who has forgotten to delete the branch",
        "kelp drives drop",
        "the last change",
        "port change",
        "what the bastion got",
        "wipe the store",
        "forget themes",
    ):
        assert understood(said, SCOPES) == [], said
        assert examples(said) == [], said


def test_what_is_no_sentence_is_none_and_what_is_not_understood_is_kept():
    assert understood("forget", SCOPES) == []
    assert understood("port bastion", SCOPES) == []
    assert understood("", SCOPES) == []
    assert understood("export atlas as papyrus", SCOPES)[0].unknown == ("papyrus",)
    assert understood("what did scribe get about lint", SCOPES)[0].unknown == ("lint",)
    for said in (
        "what does the bastion use",
        "what did we see in Lisbon",
        "why is the bastion first",
        "change model",
        "switch theme",
        "set the theme",
        "hide the panel",
        "show themes",
        "save as a case",
        "undo configuration",
    ):
        assert understood(said, SCOPES) == [], said
    assert examples("exprt atlas as md") == ["export atlas as md"]
    assert understood("clean up old versions", SCOPES) == []
    assert understood("save this question as a case", SCOPES) == []
    assert examples("make a wish") == []  # not "mask a wish"
