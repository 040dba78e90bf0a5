"""The cold lane: folders of Markdown in a table of their own, asked where the memories have too little to say.

Source: spec A14. Only folders that are named may be read; pieces with secrets or private marks stay out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memtui.engine.core.secrets import find_secrets
from memtui.engine.documents.cold_rules import (
    GLOBAL,
    DocumentSection,
    date_hint,
    glob_matches,
    in_scope,
    kind_of,
    pushed_repos,
    record_ref,
    sections,
)
from memtui.engine.documents.cold_settings import ColdRules
from memtui.engine.documents.index import open_database
from memtui.engine.notes.keywords import stop_words
from memtui.engine.recall.recipes.mem_engine.stages import reciprocal_ranks

MOST_FILES, LARGEST = 5_000, 20_000_000

MOST_TERMS = 16
"""Runs of Chinese letters that are looked for where words find nothing."""

PRIVATE = ("[SECRET]", "[PRIVATE]", "[NOEXPORT]", "[NOMEM]")

_SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})

_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힣]+")

_TABLES = """
CREATE TABLE IF NOT EXISTS docs_chunks (
  ref TEXT PRIMARY KEY, repo TEXT, path TEXT, file TEXT, heading TEXT, title TEXT, text TEXT, kind TEXT,
  day TEXT, hash TEXT);
CREATE TABLE IF NOT EXISTS docs_about (name TEXT PRIMARY KEY, value TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS docs_words USING fts5(heading, text, ref UNINDEXED);
"""


@dataclass(slots=True)
class Ingest:
    """What a look at the folders changed, in the engine's counters."""

    files_ingested: int = 0
    chunks_total: int = 0
    chunks_inserted: int = 0
    chunks_updated: int = 0
    chunks_unchanged: int = 0
    chunks_deleted: int = 0
    skipped_private: int = 0
    skipped_secret_like: int = 0
    missing_paths: list[str] = field(default_factory=list)
    skip_reason: str | None = None
    """Why nothing was read at all: source_roots_not_configured, source_roots_not_allowlisted, no_matching_markdown."""


@dataclass(frozen=True, slots=True)
class ColdHit:
    """A piece of a document that answers."""

    ref: str
    repo: str
    path: str
    title: str
    heading: str
    snippet: str
    kind: str
    day: str | None
    score: float


@dataclass(frozen=True, slots=True)
class ColdSource:
    """A file that was read."""

    repo: str
    path: str
    file: str
    pieces: int
    chars: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColdAnswer:
    """What the lane found, and how much of it the scope left over."""

    hits: tuple[ColdHit, ...]
    consulted: bool
    trigger: str
    """manual, insufficient_hot or disabled."""
    raw: int = 0
    """Pieces that the words found; 0 is a matter of the question or of what was read."""
    scoped: int = 0
    """Those of them within the scope; 0 of many is a matter of how scopes are mapped."""
    pushed: tuple[str, ...] = ()
    requested: int = 0
    """How many were wanted."""

    @property
    def filtered(self) -> int:
        """Pieces that the scope left out."""
        return self.raw - self.scoped

    def receipt(self, rules: ColdRules, scope: str) -> dict[str, Any]:
        """The lane in the recall's receipt: counts alone."""
        return {
            "enabled": rules.enabled,
            "consulted": self.consulted,
            "trigger": self.trigger,
            "scope": scope,
            "strategy": rules.strategy,
            "returned": len(self.hits),
            "filteredByScope": self.filtered,
            "rawCandidates": self.raw,
            "scopedCandidates": self.scoped,
            "pushdownRepos": list(self.pushed),
            "pushdownApplied": bool(self.pushed),
            "sourceRootsCount": len(rules.roots),
        }


class ColdLane:
    """The documents of one store, in one database file."""

    def __init__(self, database: Path) -> None:
        self._db = open_database(database, _TABLES)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def ingest(self, rules: ColdRules, roots: Sequence[str] = ()) -> Ingest:
        """Read what the folders hold now, all of it or nothing. `roots` must lie in the configured ones."""
        told = Ingest()
        allowed = [Path(root).expanduser().absolute() for root in rules.roots]
        if not allowed:
            told.skip_reason = "source_roots_not_configured"
            return told
        wanted = [Path(root).expanduser().absolute() for root in roots] or allowed
        inside = [path for path in wanted if any(_within(path, root) for root in allowed)]
        if not inside:
            told.skip_reason = "source_roots_not_allowlisted"
            return told
        told.missing_paths = [str(path) for path in inside if not path.exists()]
        files = list(_markdown([path for path in inside if path.exists()], rules.globs))[:MOST_FILES]
        with self._db:
            seen = {str(path) for path, _, _ in files}
            for path, repo, name in files:
                self._take(path, repo, name, rules, told)
            for (gone,) in self._db.execute("SELECT DISTINCT file FROM docs_chunks").fetchall():
                if gone not in seen and any(_within(Path(gone), path) for path in inside):
                    told.chunks_deleted += self._drop("file = ?", gone)
            told.chunks_total = self._db.execute("SELECT count(*) FROM docs_chunks").fetchone()[0]
        if not files:
            told.skip_reason = "no_matching_markdown"
        return told

    def _take(self, path: Path, repo: str, name: str, rules: ColdRules, told: Ingest) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        told.files_ingested += 1
        found = dict(self._db.execute("SELECT ref, hash FROM docs_chunks WHERE file = ?", (str(path),)))
        kept: set[str] = set()
        for section in sections(text, title=path.stem, most=rules.max_chunk_chars):
            whole = f"{section.heading_path}\n{section.text}"
            if any(mark in whole.upper() for mark in PRIVATE):
                told.skipped_private += 1
                continue
            if find_secrets(whole):
                told.skipped_secret_like += 1
                continue
            ref = record_ref(repo, name, section.chunk_id)
            kept.add(ref)
            if found.get(ref) == section.content_hash:
                told.chunks_unchanged += 1
                continue
            if ref in found:
                told.chunks_updated += 1
            else:
                told.chunks_inserted += 1
            self._write(ref, repo, name, path, section, date_hint(text, name))
        for ref in found.keys() - kept:
            told.chunks_deleted += self._drop("ref = ?", ref)

    def _write(
        self, ref: str, repo: str, name: str, path: Path, section: DocumentSection, day: str | None
    ) -> None:
        self._drop("ref = ?", ref)
        told = (ref, repo, name, str(path), section.heading_path, section.title, section.text)
        row = (*told, kind_of(name), day, section.content_hash)
        self._db.execute("INSERT INTO docs_chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._db.execute("INSERT INTO docs_words VALUES (?, ?, ?)", (section.heading_path, section.text, ref))

    def _drop(self, where: str, value: str) -> int:
        self._db.execute(
            f"DELETE FROM docs_words WHERE ref IN (SELECT ref FROM docs_chunks WHERE {where})", (value,)
        )
        return self._db.execute(f"DELETE FROM docs_chunks WHERE {where}", (value,)).rowcount

    @property
    def kept_block(self) -> Mapping[str, Any] | None:
        """The configuration that the documents were read by; None where none was kept."""
        found = self._db.execute("SELECT value FROM docs_about WHERE name = 'block'").fetchone()
        try:
            block = None if found is None else json.loads(found[0])
        except ValueError:
            return None
        return block if isinstance(block, dict) else None

    def keep_block(self, block: Mapping[str, Any]) -> None:
        """Keep a configuration with the documents that were read by it."""
        with self._db:
            text = json.dumps(dict(block), ensure_ascii=False)
            self._db.execute("INSERT OR REPLACE INTO docs_about VALUES ('block', ?)", (text,))

    def sources(self) -> tuple[ColdSource, ...]:
        """The files that were read, with their pieces; by their place."""
        asked = (
            "SELECT repo, path, file, count(*), sum(length(text)), group_concat(DISTINCT kind) FROM docs_chunks "
            "GROUP BY file ORDER BY repo, path"
        )
        with closing(self._db.execute(asked)) as rows:
            return tuple(
                ColdSource(repo, path, file, pieces, chars, tuple(sorted(kinds.split(","))))
                for repo, path, file, pieces, chars, kinds in rows
            )

    # ------------------------------------------------------------------ asking

    def search(
        self, question: str, rules: ColdRules, *, scope: str = GLOBAL, limit: int | None = None
    ) -> ColdAnswer:
        """Ask the documents: by any word that names something, then by runs of Chinese letters; then the scope."""
        wanted = rules.max_items if limit is None else max(1, limit)
        pushed = pushed_repos(scope, rules.strategy, rules.scope_map)
        asked = wanted if scope == GLOBAL else max(wanted, min(50, max(5 * wanted, rules.fts_k)))
        lists = [
            self._by_words(question, max(asked, rules.fts_k), pushed),
            self._by_runs(question, asked, pushed),
        ]
        fused = reciprocal_ranks(lists, limit=None, k=rules.rrf_k)
        rows = {row[0]: row for row in self._rows([ref for ref, _ in fused])}
        scoped = [
            (ref, score)
            for ref, score in fused
            if in_scope(rows[ref][1], rows[ref][2], scope, rules.strategy, rules.scope_map)
        ]
        hits = tuple(self._hit(rows[ref], score, rules.max_snippet_chars) for ref, score in scoped[:wanted])
        return ColdAnswer(hits, True, "manual", len(fused), len(scoped), tuple(pushed), wanted)

    def consult(self, question: str, rules: ColdRules, *, scope: str, hot: int) -> ColdAnswer:
        """The same where the memories brought fewer than they should: only as many as are missing."""
        if not rules.enabled or hot >= rules.min_hot_items:
            return ColdAnswer((), False, "disabled" if not rules.enabled else "insufficient_hot")
        missing = min(rules.max_items, max(1, rules.max_items - hot))
        return replace(self.search(question, rules, scope=scope, limit=missing), trigger="insufficient_hot")

    def _by_words(self, question: str, most: int, repos: Sequence[str]) -> list[str]:
        every = re.findall(r"\w+", question)
        words = [word for word in every if word.lower() not in stop_words()] or every
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in words)
        where, given = _narrowed(repos)
        asked = (
            "SELECT w.ref FROM docs_words w JOIN docs_chunks c ON c.ref = w.ref WHERE docs_words MATCH ?"
            f"{where} ORDER BY bm25(docs_words), w.ref LIMIT ?"
        )
        with closing(self._db.execute(asked, (query, *given, most))) as rows:
            return [row[0] for row in rows]

    def _by_runs(self, question: str, most: int, repos: Sequence[str]) -> list[str]:
        """Pieces that hold whole runs of Chinese, Japanese or Korean letters, or pairs of them; most of them first."""
        terms: dict[str, None] = {}
        for run in _CJK.findall(question):
            terms[run] = None
            terms |= dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1))
        chosen = [term for term in terms if len(term) > 1][:MOST_TERMS]
        if not chosen:
            return []
        score = " + ".join("(instr(c.text, ?) > 0) + (instr(c.heading, ?) > 0)" for _ in chosen)
        where, given = _narrowed(repos)
        asked = f"SELECT c.ref, {score} AS met FROM docs_chunks c WHERE met > 0{where} ORDER BY met DESC, c.ref LIMIT ?"
        twice = [term for term in chosen for _ in range(2)]
        with closing(self._db.execute(asked, (*twice, *given, most))) as rows:
            return [row[0] for row in rows]

    def _rows(self, refs: Sequence[str]) -> list[tuple[Any, ...]]:
        marks = ", ".join("?" for _ in refs)
        asked = (
            f"SELECT ref, repo, path, heading, title, text, kind, day FROM docs_chunks WHERE ref IN ({marks})"
        )
        return self._db.execute(asked, list(refs)).fetchall()

    @staticmethod
    def _hit(row: tuple[Any, ...], score: float, most: int) -> ColdHit:
        text = " ".join(str(row[5]).split())
        snippet = text if len(text) <= most else text[: most - 1] + "…"
        return ColdHit(row[0], row[1], row[2], row[4], row[3], snippet, row[6], row[7], score)


def _narrowed(repos: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A condition that a piece is of one of these repositories, or that its path may still put it in the scope."""
    if not repos:
        return "", ()
    parts = " OR ".join("lower(c.repo) = lower(?) OR lower(c.path) LIKE lower(?) || '/%'" for _ in repos)
    return f" AND ({parts})", tuple(each for repo in repos for each in (repo, repo))


def _within(path: Path, root: Path) -> bool:
    """Whether a path is a root or inside of it; a root that is a file holds itself alone. Links are followed first."""
    real, base = path.resolve(), root.resolve()
    return real == base or (base.suffix != ".md" and real.is_relative_to(base))


def _markdown(roots: Sequence[Path], globs: Sequence[str]) -> Iterator[tuple[Path, str, str]]:
    """(file, its repository, its path there) of every Markdown file; links are left out."""
    seen: set[Path] = set()
    for root in roots:
        base = root if root.is_dir() else root.parent
        repository = next((parent for parent in (base, *base.parents) if (parent / ".git").exists()), None)
        for path in [root] if root.is_file() else _walk(root):
            if path in seen or path.is_symlink() or path.stat().st_size > LARGEST:
                continue
            if root.is_dir() and not any(
                glob_matches(each, path.relative_to(root).as_posix()) for each in globs
            ):
                continue
            seen.add(path)
            top = repository or base
            yield path, repository.name if repository else "local", path.relative_to(top).as_posix()


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        yield from (Path(place) / name for name in sorted(names) if name.endswith(".md"))
