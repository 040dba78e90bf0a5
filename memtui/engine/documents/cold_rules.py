"""How openclaw-mem-engine cuts, names and scopes the documents of its cold lane. Source: spec A14."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

Strategy = Literal["none", "repo_prefix", "path_prefix", "map"]

GLOBAL = "global"

MOST_CHARS, SHORTEST, LONGEST = 1400, 200, 4000
"""Characters of a piece: usually, and what can be set."""

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_DATE_LINE = re.compile(r"^\s*date\s*:\s*[\"']?(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_DATE_IN_PATH = re.compile(r"(?<!\d)(20\d{2})([-_]?)(\d{2})\2(\d{2})(?!\d)")

FRONT_LINES = 40
"""Lines in which a date of the front matter is looked for."""

_KINDS = (
    ("decision", ("decision",)),
    ("log", ("log",)),
    ("spec", ("spec", "prd")),
    ("roadmap", ("roadmap",)),
)


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A piece of a document under its headings. `ordinal` counts the pieces of a section from 1."""

    chunk_id: str
    heading_path: str
    title: str
    text: str
    ordinal: int

    @property
    def content_hash(self) -> str:
        """SHA-1 of headings, title and text: another one is another piece."""
        told = f"{self.heading_path}\n{self.title}\n{self.text}"
        return hashlib.sha1(told.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def sections(text: str, *, title: str, most: int = MOST_CHARS) -> list[DocumentSection]:
    """Cut at headings, then at blank lines into pieces of at most `most` characters; longer paragraphs are cut hard.

    `title` stands for text before the first heading. A section without text gives no piece.
    """
    most = min(LONGEST, max(SHORTEST, most))
    found: list[DocumentSection] = []
    seen: dict[str, int] = {}
    for path, body in _by_heading(text):
        slug = "-".join(part for part in map(_slug, path) if part) or "root"
        pieces = _packed(body.strip(), most)
        if not pieces:
            continue
        seen[slug] = seen.get(slug, 0) + 1
        name = slug if seen[slug] == 1 else f"{slug}~{seen[slug]}"
        for ordinal, piece in enumerate(pieces, 1):
            heading = " / ".join(path)
            found.append(
                DocumentSection(f"{name}:{ordinal:03}", heading, path[-1] if path else title, piece, ordinal)
            )
    return found


def _by_heading(text: str) -> list[tuple[list[str], str]]:
    """(headings from the outermost, the text below the last), in order."""
    stack: list[tuple[int, str]] = []
    out: list[tuple[list[str], list[str]]] = [([], [])]
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        if heading is None:
            out[-1][1].append(line)
            continue
        level = len(heading[1])
        stack = [each for each in stack if each[0] < level] + [(level, heading[2].strip())]
        out.append(([name for _, name in stack], []))
    return [(path, "\n".join(lines)) for path, lines in out]


def _slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def _packed(body: str, most: int) -> list[str]:
    if not body:
        return []
    if len(body) <= most:
        return [body]
    pieces: list[str] = []
    held = ""
    for paragraph in (part.strip() for part in re.split(r"\n[ \t]*\n", body)):
        if not paragraph:
            continue
        both = f"{held}\n\n{paragraph}" if held else paragraph
        if len(both) <= most:
            held = both
            continue
        if held:
            pieces.append(held)
        cut = [paragraph[at : at + most] for at in range(0, len(paragraph), most)]
        pieces += cut[:-1]
        held = cut[-1]
    return [*pieces, held] if held else pieces


def kind_of(path: str) -> str:
    """What a document is by its path: decision, log, spec, roadmap, else doc."""
    lower = path.lower()
    return next((kind for kind, words in _KINDS if any(word in lower for word in words)), "doc")


def date_hint(text: str, path: str) -> str | None:
    """The date in the front matter, else the one in the path; None where there is none."""
    for line in text.splitlines()[:FRONT_LINES]:
        if found := _DATE_LINE.match(line):
            return found[1]
    dated = _DATE_IN_PATH.search(path)
    return None if dated is None else f"{dated[1]}-{dated[3]}-{dated[4]}"


def record_ref(repo: str, path: str, chunk_id: str) -> str:
    """How a piece is named to an agent."""
    return f"doc:{repo}:{path.lstrip('/')}#{chunk_id}"


# ------------------------------------------------------------------ scopes and globs


def in_scope(
    repo: str, path: str, scope: str, strategy: Strategy, scope_map: Mapping[str, Sequence[str]]
) -> bool:
    """Whether a document belongs to a scope. `global` holds everything, `none` asks nothing."""
    if strategy == "none" or not scope or scope == GLOBAL:
        return True
    plain = path.replace("\\", "/").strip("/").lower()
    if strategy == "map":
        return any(_under(repo, plain, entry) for entry in scope_map.get(scope, ()))
    if strategy == "repo_prefix":
        first = scope.lower().split("/")[0]
        return repo.lower() == first or plain == first or plain.startswith(f"{first}/")
    within = scope.lower().replace(":", "/").strip("/")
    return plain.startswith(f"{within}/") or f"/{within}/" in f"/{plain}/"


def _under(repo: str, plain: str, entry: str) -> bool:
    wanted = entry.strip("/").lower()
    return bool(wanted) and (repo.lower() == wanted or plain == wanted or plain.startswith(f"{wanted}/"))


def pushed_repos(scope: str, strategy: Strategy, scope_map: Mapping[str, Sequence[str]]) -> list[str]:
    """Repositories that the search itself can be narrowed to; empty where only looking at each hit tells."""
    if not scope or scope == GLOBAL:
        return []
    if strategy == "repo_prefix":
        return [first] if (first := scope.split("/", maxsplit=1)[0]) else []
    if strategy != "map":
        return []
    named: dict[str, str] = {}
    for entry in scope_map.get(scope, ()):
        if entry.strip() and "/" not in entry:
            named.setdefault(entry.strip().lower(), entry.strip())
    return list(named.values())


def glob_matches(glob: str, path: str) -> bool:
    """Whether a path fits a glob: `**/` any folders, `*` within one, `?` one character."""
    return re.fullmatch(_expression(glob), PurePosixPath(path.replace("\\", "/")).as_posix()) is not None


def _expression(glob: str) -> str:
    out, at = "", 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            out, at = out + ".*", at + 2
        else:
            out += {"*": "[^/]*", "?": "[^/]"}.get(glob[at]) or re.escape(glob[at])
            at += 1
    return out
