"""The words that memtui uses for the things of its field: one concept, one word, wherever a person reads."""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """A word, what it means, and the words that must not stand for it."""

    word: str
    means: str
    never: tuple[str, ...] = ()


TERMS = (
    Term("memory", "one stored item: a row of the table", ("record",)),
    Term("store", "a LanceDB table that memtui opens", ("memory base",)),
    Term("scope", "who a memory belongs to, for example `agent:main`", ("room",)),
    Term("tier, category, importance, confidence", "fields of the plugin"),
    Term("archived", "put away: no longer recalled, still in the table"),
    Term("deleted", "the row is gone from the current version of the table"),
    Term(
        "purged",
        "deleted including history: also gone from older versions and from memtui's files",
        ("every trace",),
    ),
    Term("superseded", "replaced by a newer memory", ("overtaken",)),
    Term("question, answer, result, rank, score", "a recall and what it returns"),
    Term(
        "extension",
        "a package that adds a dialect, format, recipe or check to memtui; a plugin belongs to the host",
    ),
    Term("recipe", "a named recall pipeline, for example `pro/agent`"),
    Term("stage", "one step of a pipeline", ("lane", "rung")),
    Term("candidate", "a memory that enters a stage"),
    Term("dropped", "removed by a stage"),
    Term("vector search", "finds memories whose embedding is near the question's", ("vec lane",)),
    Term("keyword search (BM25)", "finds memories with the question's words"),
    Term(
        "exact match", "a part of the question that stands in the memory letter by letter", ("to the letter",)
    ),
    Term(
        "term matching (late interaction)",
        "compares the words of question and memory one by one",
        ("word by word",),
    ),
    Term(
        "rerank, MMR (diversity), minimum score, cutoff",
        "stages that reorder or drop candidates",
        ("least score", "variety"),
    ),
    Term("case", "a saved question with judgements: expected, unexpected, graded memories"),
    Term(
        "injected block",
        "the memories that were put into a prompt",
        ("what the agent sees", "block as it was"),
    ),
    Term(
        "evidence",
        "transcript, trajectory or store history that shows what happened",
        ("told by", "tells of"),
    ),
    Term("capture", "how memories are made from a conversation"),
    Term("decision", "kept, rejected, or needs review"),
    Term("inbox", "items awaiting review"),
    Term(
        "plan, preview, apply, undo, redo, journal",
        "the path of every change",
        ("look at it", "take it back", "made again"),
    ),
    Term("dry run", "nothing is written and nothing is sent"),
    Term("rehearsal", "a measured trial of a model on saved questions"),
    Term("finding, severity, impact, fix", "what the doctor reports"),
    Term("prompt injection", "text that gives a model orders"),
    Term(
        "client, token, permissions",
        "who may call the MCP server, how it proves it, and what it may do",
        ("let in",),
    ),
    Term("not recorded", "no evidence exists; memtui does not guess"),
)
"""The glossary, in the order of a reader: store, recall, agent, change, server."""


def write_glossary() -> str:
    """The glossary as a Markdown table, a line for each term."""
    rows = [f"| {term.word} | {term.means} |" for term in TERMS]
    return "\n".join(["| word | means |", "|---|---|", *rows])
