"""What a plan changes beyond the file: a restart, vectors, access, services that are asked, what becomes silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.access.matrix import difference_in_words
from memtui.engine.configuration.access_plan import access_under
from memtui.engine.configuration.file import REMOVED, Configuration
from memtui.engine.configuration.plans import SettingChange
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted, one_line, time_span
from memtui.engine.discovery.agents import agent_ids
from memtui.engine.providers.http import host_of
from memtui.engine.providers.prices import price_in_words, price_of, tokens_of

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


Kind = Literal["restart", "reembed", "access", "services", "plugins", "scores", "silence"]

RESTART = "openclaw gateway restart"

_SECONDS_A_THOUSAND = 45.0
"""A guess, not measured: what a hosted service may take for a thousand short texts."""

_OF_VECTORS = (
    "model",
    "dimensions",
    "requestDimensions",
    "omitDimensions",
    "taskPassage",
    "baseURL",
    "normalized",
    "provider",
)


@dataclass(frozen=True, slots=True)
class Consequence:
    """One thing that a plan brings with it."""

    kind: Kind
    sentence: str
    grave: bool = False
    """The agent stops, or answers otherwise, until it is done."""
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {"kind": self.kind, "sentence": self.sentence, "grave": self.grave, **self.detail}


def consequences_of(
    config: Configuration,
    changes: Sequence[SettingChange],
    store: Store | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> tuple[Consequence, ...]:
    """What these changes bring with them; `store` is the one that the agent uses, where it can be opened."""
    if not changes:
        return ()
    out = [
        Consequence(
            "restart",
            f"the gateway reads it when it is started again; you restart it: {RESTART}",
            detail={"command": RESTART},
        )
    ]
    below = {change.short: change for change in changes}
    vectors = [
        change
        for change in changes
        if change.short.startswith("embedding.") and change.path[-1] in _OF_VECTORS
    ]
    if _changes_vectors(config, vectors):
        out.append(_reembed(config, below, store))
    out += _services(config, below)
    out += _allowed(config, changes)
    out.append(_access(config, changes, environ or {}, store))
    low = below.get("retrieval.minScore")
    if low is not None and isinstance(low.after, int | float) and low.after >= 0.5:
        out.append(
            Consequence(
                "silence",
                f"minScore {low.after:g} fits reranked scores: when the reranker is late, recall may say nothing",
            )
        )
    elif any(
        name in below
        for name in (
            "retrieval.minScore",
            "retrieval.hardMinScore",
            "retrieval.rerank",
            "retrieval.candidatePoolSize",
        )
    ):
        out.append(
            Consequence("scores", "recall ranks and cuts differently: try the plan on your cases first")
        )
    return tuple(out)


def _changes_vectors(config: Configuration, changes: Sequence[SettingChange]) -> bool:
    """Whether the vectors of the store no longer fit the model; a length that is only now written down is none."""
    model = next((change for change in changes if change.path[-1] == "model"), None)
    if model is not None and model.before is not None:
        return True
    known = config.plugin.get("embedding")
    if not isinstance(known, dict) or not known.get("model"):
        return bool(changes)
    return any(
        change.path[-1] in ("dimensions", "requestDimensions", "taskPassage") and change.before is not None
        for change in changes
    )


def _reembed(config: Configuration, below: Mapping[str, SettingChange], store: Store | None) -> Consequence:
    from memtui.engine.providers.embedding_services import KNOWN_DIMENSIONS, bare_model

    model_change, dims_change = below.get("embedding.model"), below.get("embedding.dimensions")
    known = config.plugin.get("embedding")
    known = known if isinstance(known, dict) else {}
    model = model_change.after if model_change is not None else known.get("model")
    dims = (
        dims_change.after
        if dims_change is not None and dims_change.after is not REMOVED
        else known.get("dimensions")
    )
    dims = dims or (KNOWN_DIMENSIONS.get(bare_model(model)) if isinstance(model, str) else None)
    if store is None:
        return Consequence(
            "reembed",
            "every vector must be redone with the new model: memtui reembed",
            True,
            {"rows": None},
        )
    rows, chars = store.count(), _chars(store)
    address_change = below.get("embedding.baseURL")
    address = known.get("baseURL") or known.get("baseUrl") if address_change is None else address_change.after
    host = host_of(address) if isinstance(address, str) else None
    money = price_of(model if isinstance(model, str) else None, host, chars)
    minutes = rows / 1000 * _SECONDS_A_THOUSAND / 60
    grave = dims is not None and store.dims is not None and dims != store.dims
    stop = (
        f"; until then the plugin stops at its start ({store.dims} numbers in the store, {dims} from the model)"
        if grave
        else ""
    )
    return Consequence(
        "reembed",
        f"{counted(rows, 'vector is', 'vectors are')} redone: "
        f"perhaps {time_span(60 * max(1, round(minutes)))}, {price_in_words(money)}, with memtui reembed{stop}",
        True,
        {
            "rows": rows,
            "minutes": round(minutes, 1),
            "price": money,
            "tokens": tokens_of(chars),
            "dims": dims,
        },
    )


def _chars(store: Store) -> int:
    import pyarrow.compute as pc

    column = store.dialect.columns.text
    return sum(
        int(pc.sum(pc.utf8_length(batch.column(column))).as_py() or 0) for batch in store.scan([column])
    )


def _services(config: Configuration, below: Mapping[str, SettingChange]) -> list[Consequence]:
    """Hosts that are asked from then on and were not before."""
    out = []
    for path, what in (
        ("embedding.baseURL", "memories and questions go to"),
        ("retrieval.rerankEndpoint", "questions and candidates go to"),
        ("llm.baseURL", "conversations go to"),
    ):
        change = below.get(path)
        if change is not None and isinstance(change.after, str):
            host = host_of(change.after)
            out.append(Consequence("services", f"{what} {host}", detail={"host": host}))
    return out


def _allowed(config: Configuration, changes: Sequence[SettingChange]) -> list[Consequence]:
    """Plugins that run today and are left out by a list of the allowed ones that was not there before."""
    made = next(
        (change for change in changes if change.path == ("plugins", "allow") and change.before is None), None
    )
    if made is None or not isinstance(made.after, list):
        return []
    entries = config.loaded.mapping("plugins", "entries", raw=True)
    out = [
        name
        for name, entry in entries.items()
        if name not in made.after and not (isinstance(entry, dict) and entry.get("enabled") is False)
    ]
    if not out:
        return []
    names = ", ".join(map(one_line, out))
    said = f"plugins.allow is made, and only what it names is loaded from then on: {names} is left out"
    return [Consequence("plugins", said, True, {"left_out": out})]


def _access(
    config: Configuration, changes: Sequence[SettingChange], environ: Mapping[str, str], store: Store | None
) -> Consequence:
    """Cells of the access matrix that change: agents, the scopes that they gain or lose, and what these hold."""
    cells = access_cells(config, changes, environ)
    if not cells:
        return Consequence("access", "no agent reads more or less than before", detail={"cells": []})
    rows: dict[str | None, int] = {}
    secrets: dict[str | None, int] = {}
    if store is not None and store.dialect.columns.scope is not None:
        from memtui.engine.store import sql
        from memtui.engine.witness.rights import count_secrets

        scopes: list[str | None] = list(dict.fromkeys(scope for _, scope, _ in cells))
        column = store.dialect.columns.scope
        rows = {scope: store.pin(store.version).count(sql.is_in(column, [scope])) for scope in scopes}
        secrets = count_secrets(store, scopes)
    said = "; ".join(
        difference_in_words(agent, scope, gains, rows.get(scope), secrets.get(scope, 0))
        for agent, scope, gains in cells[:6]
    )
    more = f"; and {len(cells) - 6} more" if len(cells) > 6 else ""
    return Consequence(
        "access",
        said + more,
        True,
        {
            "cells": [
                {"agent": a, "scope": s, "gains": g, "rows": rows.get(s), "secrets": secrets.get(s, 0)}
                for a, s, g in cells
            ]
        },
    )


def access_cells(
    config: Configuration, changes: Sequence[SettingChange], environ: Mapping[str, str]
) -> list[tuple[str, str, bool]]:
    """(agent, scope, whether it is gained) for each right that the changes alter."""
    if not any(change.short.startswith("scopes.") for change in changes):
        return []
    try:
        old, new = access_under(config, (), environ), access_under(config, changes, environ)
    except MemtuiError:
        return []
    named = agent_ids(config.loaded.raw)
    out = []
    for agent in dict.fromkeys([*named, *old.access, *new.access, *([] if named else ["main"])]):
        was, now = set(old.accessible(agent)), set(new.accessible(agent))
        out += [(agent, scope, True) for scope in sorted(now - was)]
        out += [(agent, scope, False) for scope in sorted(was - now)]
    return out
