"""What Mend shows: one frozen value and the pure functions that change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memtui.engine import Memory
    from memtui.engine.changes import (
        TrashedMemory,
    )
    from memtui.engine.health import (
        Cluster,
        Near,
        Suspect,
    )


Part = Literal["duplicates", "noise", "secrets", "trash"]

PARTS: tuple[tuple[Part, str], ...] = (
    ("duplicates", "Duplicates"),
    ("noise", "Noise"),
    ("secrets", "Secrets and injection"),
    ("trash", "Trash"),
)

KINDS: dict[Part, tuple[str, ...]] = {"noise": ("noise",), "secrets": ("secret", "injection")}
"""What the engine is to look for in the parts that sweep the texts."""

FLOOR, START, FINE, COARSE = 0.9, 0.95, 0.005, 0.02
"""Cosines: pairs are looked for from the first on; where the threshold begins; its two steps."""

Losers = Literal["supersede", "delete"]


@dataclass(frozen=True, slots=True)
class MendState:
    """One store at one moment. What was not looked for yet is None; `done` was acted on since it was found."""

    part: Part = "duplicates"
    filter: str = ""
    """The list that Mend was opened from; empty for everything."""
    narrow: bool = True
    """Whether only the memories of that list are looked at."""
    near: Near | None = None
    clusters: tuple[Cluster, ...] = ()
    threshold: float = START
    across: bool = False
    """Whether memories of different scopes are compared, too."""
    losers: Losers = "supersede"
    survivor: str = ""
    """The member that was chosen to survive; empty: the one that counts most."""
    text: str | None = None
    """Another text for the survivor."""
    spared: frozenset[str] = frozenset()
    """Members that take no part in the merge."""
    suspects: Mapping[Part, tuple[Suspect, ...]] = field(default_factory=dict)
    trash: tuple[TrashedMemory, ...] | None = None
    marks: frozenset[str] = frozenset()
    revealed: str = ""
    """The memory whose secrets are shown in full."""
    memories: Mapping[str, Memory] = field(default_factory=dict)
    """Rows that were read for what is selected."""
    done: frozenset[str] = frozenset()

    @property
    def within(self) -> str:
        """The filter that counts at present."""
        return self.filter if self.narrow else ""

    @property
    def looked(self) -> bool:
        """Whether the present part has been looked for."""
        if self.part == "duplicates":
            return self.near is not None
        return self.trash is not None if self.part == "trash" else self.part in self.suspects


def unlooked(state: MendState) -> MendState:
    """Nothing found yet; what was chosen stays."""
    return MendState(
        state.part,
        state.filter,
        state.narrow,
        threshold=state.threshold,
        across=state.across,
        losers=state.losers,
    )


def undone(state: MendState, ids: frozenset[str]) -> MendState:
    """These are as they were: whatever belongs to them is shown again."""
    again = set(ids)
    for cluster in state.clusters:
        if not again.isdisjoint(cluster.ids):
            again.update(cluster.ids)
    return fresh(replace(state, done=state.done - again))


def on_part(state: MendState, part: Part) -> MendState:
    """Another part; marks and reveals do not go along."""
    return replace(state, part=part, marks=frozenset(), revealed="")


def beside(state: MendState, by: int) -> Part:
    """The part before or after the present one, round the end."""
    names = [name for name, _ in PARTS]
    return names[(names.index(state.part) + by) % len(names)]


def turned(state: MendState, by: float) -> MendState:
    """Another threshold, between the floor and 1."""
    threshold = round(min(1.0, max(FLOOR, state.threshold + by)), 3)
    return fresh(replace(state, threshold=threshold))


def fresh(state: MendState) -> MendState:
    """What was decided of one cluster does not go over to another."""
    return replace(state, survivor="", text=None, spared=frozenset())


def shown_clusters(state: MendState) -> tuple[Cluster, ...]:
    """The clusters without what was merged already; one with a single member left is none."""
    if not state.done:
        return state.clusters
    left = []
    for cluster in state.clusters:
        kept = [i for i, memory_id in enumerate(cluster.ids) if memory_id not in state.done]
        if len(kept) == len(cluster.ids):
            left.append(cluster)
        elif len(kept) > 1:
            ids = tuple(cluster.ids[i] for i in kept)
            left.append(replace(cluster, ids=ids, similarities=tuple(cluster.similarities[i] for i in kept)))
    return tuple(left)


def shown_suspects(state: MendState) -> tuple[Suspect, ...]:
    """What the present part has found and is not yet dealt with."""
    return tuple(each for each in state.suspects.get(state.part, ()) if each.id not in state.done)


def survivor_of(state: MendState, cluster: Cluster) -> str:
    """The member that survives: the chosen one, else the first that takes part."""
    members = [memory_id for memory_id in cluster.ids if memory_id not in state.spared]
    return state.survivor if state.survivor in members else (members[0] if members else cluster.ids[0])


def merged(state: MendState, cluster: Cluster) -> tuple[str, ...]:
    """The members that a merge would make one."""
    return tuple(memory_id for memory_id in cluster.ids if memory_id not in state.spared)


def toggled(marks: frozenset[str], memory: str) -> frozenset[str]:
    """With the mark set or taken away."""
    return marks - {memory} if memory in marks else marks | {memory}


def sure(suspects: tuple[Suspect, ...]) -> frozenset[str]:
    """Those that nothing speaks for: no rule about them is in doubt."""
    doubted = {suspect.id for suspect in suspects if suspect.doubt}
    return frozenset(suspect.id for suspect in suspects) - doubted


def settled(state: MendState, ids: frozenset[str]) -> MendState:
    """These were acted on: they go from the lists, and so do their marks."""
    return fresh(replace(state, done=state.done | ids, marks=state.marks - ids, revealed=""))
