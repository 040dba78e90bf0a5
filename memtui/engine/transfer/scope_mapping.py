"""From the scope of a source to one that agents can see: bare words stranded nowhere, changes shown."""

from __future__ import annotations

from collections.abc import Mapping

from memtui.engine.access import GLOBAL, is_built_in
from memtui.engine.core.errors import UsageError
from memtui.engine.core.javascript import trim


def parse_scopes(text: str) -> dict[str, str]:
    """`work=project:work,=agent:main` as source scope to ours; the empty name is "no scope at all"."""
    out: dict[str, str] = {}
    for part in text.split(","):
        name, equals, scope = part.rpartition("=")
        if not equals or not scope.strip():
            raise UsageError(
                f"{part!r} is no mapping of a scope.", fix="Write THEIRS=OURS, for example work=project:work."
            )
        out[name.strip()] = scope.strip()
    return out


class Scoping:
    """Decides where the memories of each scope of a source go, and counts them.

    `mapping` is the user's word and always wins; `default` takes what has no scope, and with `asked` it is the
    user's word too. A bare word, which no agent reads unless it is defined, becomes `custom:<word>`; `keep_bare`
    leaves it to rows of a program that has such.
    """

    def __init__(self, mapping: Mapping[str, str], default: str, *, asked: bool = False) -> None:
        self._mapping = {"": default, **mapping} if asked else mapping
        self._default = default
        self._seen: dict[tuple[str | None, str | None], int] = {}
        self._decided: dict[tuple[str | None, bool], tuple[str, str]] = {}

    def place(self, scope: str | None, *, keep_bare: bool) -> tuple[str, str]:
        """(scope to store, what has to be said about it)."""
        known = self._decided.get((scope, keep_bare))
        if known is None:
            known = self._decided[scope, keep_bare] = self._decide(scope, keep_bare)
        target, note = known
        self._count(scope, target, 1)
        return target, note

    @property
    def maps(self) -> bool:
        """Whether the user said where any scope goes."""
        return bool(self._mapping)

    def forces(self, scope: str | None) -> bool:
        """Whether the user said where this scope goes."""
        return trim(scope or "") in self._mapping

    def keep(self, scope: str | None, rows: int = 1) -> None:
        """Count memories whose scope stays whatever it is."""
        self._count(scope, scope, rows)

    def _count(self, scope: str | None, target: str | None, rows: int) -> None:
        self._seen[scope, target] = self._seen.get((scope, target), 0) + rows

    @property
    def table(self) -> tuple[tuple[str | None, str | None, int], ...]:
        """(source scope, stored scope, rows), most rows first; None where there is none."""
        rows = ((scope, target, count) for (scope, target), count in self._seen.items())
        return tuple(sorted(rows, key=lambda row: (-row[2], row[0] or "", row[1] or "")))

    def _decide(self, scope: str | None, keep_bare: bool) -> tuple[str, str]:
        name = trim(scope or "")
        if name in self._mapping:
            target = self._mapping[name]
            return target, "" if target == scope else f"put into {target}, as asked"
        if not name:
            return self._default, f"none in the source: put into {self._default}"
        if name.lower() == GLOBAL:
            return GLOBAL, "" if scope == GLOBAL else "written another way: global"
        if is_built_in(name) or keep_bare:
            return name, "" if name == scope else "spaces around it removed: no agent would find it"
        return f"custom:{name}", "a bare word, which no agent reads: put into custom:<word>"
