"""How a typed word meets the words of a command: the same, its stem, a synonym, its beginning, a slip of a key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

WORD = re.compile(r"\w+")

EXACT, STEM, SYNONYM, BEGINNING, SLIP = 1.0, 0.96, 0.8, 0.74, 0.62
"""How well one word meets another."""

FILLERS = frozenset(
    [
        "the",
        "a",
        "an",
        "to",
        "of",
        "in",
        "on",
        "at",
        "my",
        "our",
        "your",
        "for",
        "and",
        "or",
        "with",
        "by",
        "from",
        "into",
        "as",
        "it",
        "its",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "would",
        "should",
        "will",
        "may",
        "this",
        "that",
        "these",
        "those",
        "there",
        "here",
        "they",
        "i",
        "me",
        "we",
        "us",
        "you",
        "he",
        "she",
        "his",
        "her",
        "him",
        "who",
        "what",
        "which",
        "where",
        "when",
        "how",
        "why",
        "please",
        "just",
        "now",
        "some",
        "any",
        "get",
        "let",
        "want",
        "need",
        "make",
        "give",
        "gets",
        "so",
        "then",
        "than",
        "about",
        "am",
        "im",
        "one",
        "ones",
        "thing",
        "things",
        "mode",
        "everything",
        "something",
        "anything",
        "within",
        "whose",
        "later",
        "maybe",
        "up",
        "out",
        "if",
        "not",
        "no",
        "memory",
        "memories",
    ]
)
"""Words that say nothing about what is meant; they count only as the whole name of a command ("what if", "why not")."""

AUXILIARIES = frozenset(("did", "has", "had", "was", "were"))
"""Words that ask what somebody did: a command outranks such a sentence only where it says them too."""

SYNONYMS = """
search find grep filter lookup query locate seek where rg ack
show view display list see open browse look print cat ls get inspect peek
add new create insert write compose remember note store append draft make
edit modify correct rewrite amend update rephrase reword alter revise typo tweak rename
change set assign tag label retag recategorise reclassify adjust move bulk mass
undo revert rollback restore unsend
redo reapply repeat again
copy yank clipboard y
quit exit leave bye logout terminate
help manual docs documentation guide man faq howto support
key keys keybinding keybindings binding bindings hotkey hotkeys shortcut shortcuts keymap keyboard cheatsheet cheat
theme themes colour color colours appearance scheme skin dark light night day palette style look contrast
settings setting preferences prefs options option configuration config configure customise setup properties knobs
history log past earlier previous recent
journal changelog changes activity history commits
version versions snapshot snapshots checkpoint checkpoints revision revisions travel pitr timetravel
compare diff difference versus vs contrast side ab
sort order arrange sorted ordering rank
reverse invert descending ascending flip
scope scopes namespace namespaces project projects agent workspace tenant room bucket
duplicate duplicates dupes dupe doubles dedupe dedup deduplicate copies twins repeated redundant
merge combine join unite consolidate squash
noise junk spam clutter rubbish garbage chatter greetings useless
secret secrets password passwords credential credentials apikey apikeys pii sensitive
injection injections jailbreak jailbreaks suspicious malicious poisoned poisoning attack attacks hijack
trash bin recycle deleted archived
import load upload ingest read bring restore
export save download dump backup write extract
embedding embeddings vector vectors reembed embed embedder
model models llm
migrate convert migration move transform
health doctor diagnose diagnosis diagnostics check checkup problem problems issue issues wrong lint troubleshoot
fix repair autofix remedy heal solve mend resolve
tutorial tour onboarding walkthrough introduction intro beginner learn lesson
store database db folder directory dataset table path vault
demo sample example samples examples playground sandbox
demo fixture
client clients mcp connect connection connections server servers integration plugin host claude cursor codex
permission permissions rights grant access acl role roles privilege privileges authorise
agent agents bot bots assistant
capture extract conversation conversations chat chats transcript ingest
accept approve yes confirm allow
reject refuse decline deny no
ask question query prompt
recall retrieve retrieval search
explain why reason breakdown score explanation scoring
missing absent lost gone dropped
expected good correct relevant right like upvote thumbs
case cases test tests suite benchmark evaluation evals eval regression
recipe pipeline algorithm strategy ranker profile
limit count number top maximum max k topk
block context prompt injected
decay fade fading expire expiry expiration ttl age aging ageing lifetime forecast stale outdated
pin keep protect star favourite sticky permanent forever
promote raise bump upgrade
review triage
zoom maximise maximize fullscreen enlarge expand full
mark select tick check highlight
refresh reload sync update
view views saved bookmark bookmarks favourites favorites
similar related nearest near neighbours neighbors alike like nearby
staged pending staging queued uncommitted commit unsaved stage
receipt receipts proof evidence attestation
audit witness forensics trace
session sessions run runs turns
reach blast radius spread exposure affected
leak leaks leaked leaking exposure
revoke disconnect kick ban unlink
paste clipboard
index indexes indices reindex
compact vacuum optimise optimize cleanup prune gc shrink
jump goto hop
wrap tall lines
wide wider grow
narrow narrower
tune optimise autotune calibrate
what-if simulate simulation hypothetical experiment try
home start dashboard overview main welcome menu landing summary stats statistics
date time created age timestamp newest latest
importance important priority weight
bisect blame culprit
mask redact hide censor anonymise
lifecycle retention
transfer etl
"""
"""Words that mean much the same in a program like this, a group a line."""

REMOVING = frozenset(
    [
        "delete",
        "deletes",
        "deleting",
        "remove",
        "removes",
        "removing",
        "erase",
        "erases",
        "erasing",
        "forget",
        "forgets",
        "purge",
        "purges",
        "shred",
        "wipe",
        "rm",
        "del",
        "trash",
        "kill",
        "drop",
        "discard",
        "destroy",
        "archive",
        "retire",
        "revoke",
        "gdpr",
        "unlink",
        "scrub",
        "nuke",
        "disconnect",
        "kick",
        "ban",
        "eliminate",
        "obliterate",
        "expunge",
        "dispose",
        "restore",
        "rollback",
        "roll",
    ]
)
"""Words that say that something is taken away, or another state put in its place."""


@lru_cache(16_384)
def stem(word: str) -> str:
    """A word without its ending, in one spelling of English: "neighbours" and "neighbor" are one."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    word = re.sub(r"our(?=$|s$|ed$|ing$|ful$)", "or", word) if len(word) > 4 else word
    word = re.sub(
        r"ise(?=$|s$|d$|r$)|isi(?=ng$)|isa(?=tion$)", lambda found: found[0].replace("s", "z"), word
    )
    for ending, instead in (
        ("ies", "y"),
        ("ings", ""),
        ("ing", ""),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
        ("e", ""),
    ):
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= (4 if ending == "e" else 3)
            and not word.endswith(("ss", "us", "is"))
        ):
            word = word[: -len(ending)] + instead
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl" else word


@lru_cache(1)
def _groups() -> dict[str, frozenset[str]]:
    """The stems that mean what a stem means."""
    found: dict[str, set[str]] = {}
    for line in SYNONYMS.strip().splitlines():
        stems = {stem(word) for word in WORD.findall(line)}
        for one in stems:
            found.setdefault(one, set()).update(stems)
    return {one: frozenset(others) for one, others in found.items()}


def met_by(typed: str, vocabulary: Iterable[str]) -> dict[str, float]:
    """How well each word of a vocabulary meets a typed word; those that do not are left out.

    A slip of the keys is looked for only where nothing else meets it.
    """
    low = typed.casefold()
    root = stem(low)
    same = _groups().get(root, frozenset())
    met: dict[str, float] = {}
    words = list(vocabulary)
    for word in words:
        if word == low:
            met[word] = EXACT
        elif stem(word) == root:
            met[word] = STEM
        elif stem(word) in same:
            met[word] = SYNONYM
        elif len(low) > 1 and word.startswith(low):
            met[word] = BEGINNING + 0.2 * len(low) / len(word)
    known = any(word == low or stem(word) == root or stem(word) in same for word in met)
    if len(low) > 3 and (not met or max(met.values()) < SYNONYM or (len(low) > 5 and not known)):
        for word in words:
            if word not in met and slipped(low, word):
                met[word] = SLIP
        near = (
            {other for other in _groups() if other not in met and slipped(low, other)} if not met else set()
        )
        for word in words:  # a slip of a synonym
            if near and word not in met and _groups().get(stem(word), frozenset()) & near:
                met[word] = SLIP * SYNONYM
    return met


def slipped(typed: str, meant: str) -> bool:
    """Whether one letter is wrong, missing, too many or swapped with the next; of a long word, two of these."""
    if len(meant) < 4 or abs(len(typed) - len(meant)) > 2:
        return False
    if _one_slip(typed, meant):
        return typed[0] == meant[0] or typed[:2] == meant[1::-1] or typed == meant[1:] or typed[1:] == meant
    if len(meant) < 8 or typed[0] != meant[0]:
        return False
    return any(_one_slip(nearer, meant) for nearer in _mended_at_the_first_difference(typed, meant))


def _mended_at_the_first_difference(typed: str, meant: str) -> Iterable[str]:
    at = next(
        (i for i, (one, other) in enumerate(zip(typed, meant, strict=False)) if one != other), len(typed)
    )
    yield typed[:at] + meant[at : at + 1] + typed[at + 1 :]
    yield typed[:at] + meant[at : at + 1] + typed[at:]
    yield typed[:at] + typed[at + 1 :]


def _one_slip(one: str, other: str) -> bool:
    """Whether the words are the same but for one letter wrong, missing, too many or swapped with the next."""
    if one == other:
        return True
    at = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    if len(one) == len(other):
        if one[at + 1 :] == other[at + 1 :]:
            return True
        return one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(longer) - len(shorter) == 1 and longer[at + 1 :] == shorter[at:]
