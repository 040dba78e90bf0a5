"""The lines of the side panel: scopes nested by kind, then tiers, categories and states, with counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from memtui.engine import Facets, one_line
from memtui.engine.listing import AGES
from memtui.tui.screens.browse.filtering import term_of
from memtui.tui.theme.tokens import as_stored, tier_rank

Kind = Literal[
    "all", "kind", "scope", "head", "tier", "category", "state", "layer", "source", "age", "more", "gap"
]
FACETS = ("tier", "category", "state", "layer", "source", "age")
KIND_ORDER = ("global", "agent", "project", "user", "custom", "reflection")
CAP = 200
"""Leaves of one kind that are drawn; a store with more has the filter line for them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `scopes` is what choosing it narrows to; `term` is the filter term it toggles."""

    kind: Kind
    label: str
    count: int | None = None
    depth: int = 0
    key: str = ""
    """What identifies the line while counts change around it."""
    scopes: tuple[str | None, ...] | None = None
    term: str = ""
    raw: str | None = None
    """The scope, tier or category exactly as stored."""
    is_open: bool | None = None
    """For a kind with leaves: whether they are shown."""

    @property
    def can_choose(self) -> bool:
        """Whether Enter does something here."""
        return self.kind in ("all", "kind", "scope", *FACETS)


def scope_kind(scope: str | None) -> str:
    """The kind of a scope: what stands before its first colon; NULL and blank scopes are of no kind."""
    if scope is None or not scope.strip():
        return "(none)"
    return scope.strip().split(":", 1)[0] if ":" in scope else scope.strip()


def outline(
    facets: Facets, scopes: Iterable[tuple[str | None, int]], total: int, closed: frozenset[str]
) -> list[Line]:
    """All lines, in drawing order.

    `scopes` are counts by stored scope without the narrowing to scopes itself; `closed` are the kinds folded.
    """
    lines = [Line("all", "all", total, key="all", scopes=None)]
    by_kind: dict[str, list[tuple[str | None, int]]] = {}
    for scope, count in scopes:
        by_kind.setdefault(scope_kind(scope), []).append((scope, count))
    for kind in sorted(by_kind, key=lambda k: (_rank(k), -sum(n for _, n in by_kind[k]), k)):
        lines += _kind_lines(kind, by_kind[kind], kind in closed)
    lines += _facet("TIER", "tier", sorted(facets.tiers, key=lambda pair: tier_rank(pair[0])))
    lines += _facet("CATEGORY", "category", facets.categories)
    states = [(name, n) for name, n in facets.states if name != "confirmed"]
    lines += _facet("STATE", "state", states)
    if len(facets.layers) > 1:
        lines += _facet("LAYER", "layer", facets.layers)
    if len(facets.sources) > 1:
        lines += _facet("SOURCE", "source", facets.sources)
    lines += _facet("AGE", "age", facets.ages)
    return lines


def _rank(kind: str) -> int:
    return KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER)


def _kind_lines(kind: str, members: list[tuple[str | None, int]], folded: bool) -> list[Line]:
    """A kind with one member of the same name is a leaf; others are a branch with leaves."""
    total = sum(count for _, count in members)
    names = tuple(scope for scope, _ in members)
    if len(members) == 1 and (members[0][0] is None or ":" not in members[0][0]):
        scope = members[0][0]
        label = kind if scope is None else as_stored(scope)
        return [Line("scope", label, total, key=f"scope:{scope!r}", scopes=(scope,), raw=scope)]
    lines = [
        Line("kind", one_line(kind), total, key=f"kind:{kind}", scopes=names, raw=kind, is_open=not folded)
    ]
    if folded:
        return lines
    for scope, count in members[:CAP]:
        lines.append(Line("scope", _leaf(scope), count, 1, f"scope:{scope!r}", scopes=(scope,), raw=scope))
    if len(members) > CAP:
        lines.append(
            Line("more", f"{len(members) - CAP:,} more, press {{browse.filter}}", depth=1, key=f"more:{kind}")
        )
    return lines


def _leaf(scope: str | None) -> str:
    """A scope within its kind; what is malformed is shown as it is stored."""
    if scope is None:
        return "NULL"
    if not scope.strip() or scope != scope.strip():
        return as_stored(scope)
    return one_line(scope.split(":", 1)[1] if ":" in scope else scope)


_FIELD = {"tier": "tier", "category": "cat", "state": "state", "layer": "layer", "source": "source"}
_AGES = dict(zip(AGES, ("a day", "a week", "4 weeks", "half a year", "older"), strict=True))


def _facet(title: str, kind: Kind, counts: Iterable[tuple[str | None, int]]) -> list[Line]:
    rows = [(name, count) for name, count in counts if count]
    if not rows:
        return []
    lines = [Line("gap", "", key=f"gap:{title}"), Line("head", title, key=f"head:{title}")]
    for name, count in rows:
        label = "(none)" if not name else one_line(name) or '" "'
        term = term_of(_FIELD.get(kind, ""), name)
        if kind == "age":
            label, term = _AGES.get(name or "", label), f"age:{name}"
        lines.append(Line(kind, label, count, key=f"{kind}:{name!r}", term=term, raw=name))
    return lines
