"""The doctor: every check in three passes, and what was found, worst first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import DamagedStoreError, MemtuiError
from memtui.engine.core.extensions import ExtensionError
from memtui.engine.core.progress import Progress
from memtui.engine.health.check import FIRST_OF_EXTENSIONS, GROUPS, Check, Cost, HealthFinding, Patient, Seen
from memtui.engine.health.registry import all_checks, checks_of_extension

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.discovery.types import FoundStore
    from memtui.engine.engine import Engine


PASSES: tuple[Cost, ...] = ("facts", "light", "deep")

OnFinding = Callable[[HealthFinding], None]


@dataclass(frozen=True, slots=True)
class Unlooked:
    """A check that could not be made, and why."""

    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Examination:
    """What was looked at and what was found."""

    findings: tuple[HealthFinding, ...]
    """Worst first within their group; the groups in the order of `GROUPS`."""
    fine: tuple[Check, ...]
    unlooked: tuple[Unlooked, ...] = ()
    error: str = ""
    """Why the table cannot be opened, or its files cannot be read; empty when they can."""
    host: Mapping[str, Any] | None = None
    """Name and version of the host that uses the store, and whether memtui knows it; None where none is configured."""

    @property
    def grave(self) -> bool:
        """Whether something of severity 1 or 2 was found."""
        return any(finding.severity in ("S1", "S2") for finding in self.findings)

    @property
    def looked(self) -> int:
        """How many checks were made."""
        return len(self.fine) + len(self.findings)

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui doctor --json`."""
        return {
            "schema": "memtui.doctor.v1",
            "findings": [finding.as_json() for finding in self.findings],
            "checked": self.looked,
            "fine": [check.kind for check in self.fine],
            "not_checked": [{"kind": each.kind, "why": each.why} for each in self.unlooked],
            "error": self.error or None,
            "host": dict(self.host) if self.host is not None else None,
        }


OF_INDEXES = frozenset(("D18", "D21", "D60", "D61", *(f"D{number}" for number in range(41, 50))))
"""The checks of an index of memory-core, which is no table: the others look at what it has not."""


def examine(
    patient: Patient,
    *,
    passes: Collection[Cost] = PASSES,
    kinds: Collection[str] | None = None,
    on_finding: OnFinding | None = None,
) -> Examination:
    """Make every check of these passes (of these kinds only, if given); findings are told as they come.

    A check that fails becomes a line of `unlooked`; nothing else stops. Raises Cancelled.
    """
    findings: list[HealthFinding] = []
    fine: list[Check] = []
    unlooked: list[Unlooked] = []
    added, broken = _of_extension(patient)
    unlooked += broken
    chosen = [
        check
        for cost in PASSES
        for check in (*all_checks(), *added)
        if check.cost == cost
        and cost in passes
        and (kinds is None or check.kind in kinds)
        and (not patient.can.edits_files or check.kind in OF_INDEXES)
    ]

    def found(finding: HealthFinding) -> None:
        findings.append(finding)
        if on_finding is not None:
            on_finding(finding)

    patient.deep = patient.deep or "deep" in passes
    for number, check in enumerate(chosen):
        if patient.cancel is not None:
            patient.cancel.check()
        if patient.on_progress is not None:
            patient.on_progress(Progress(f"looking at {check.title}", number, len(chosen), "checks"))
        if patient.engine is None and not _without_table(check):
            unlooked.append(Unlooked(check.kind, "the table cannot be opened"))
            continue
        try:
            if not check.applies(patient):
                continue
            seen = check.look(patient)
        except MemtuiError as error:
            if isinstance(error, DamagedStoreError):
                patient.unreadable = error
            unlooked.append(Unlooked(check.kind, error.message))
            continue
        if seen is None:
            fine.append(check)
            continue
        found(HealthFinding(as_offered(patient, check, seen), seen))
    for check in [check for check in fine if check.kind == "D36" and patient.unreadable is not None]:
        seen = check.look(patient)  # a file whose end is whole, and whose rows cannot be read
        if seen is not None:
            fine.remove(check)
            found(HealthFinding(as_offered(patient, check, seen), seen))
    hidden = next((each.why for each in unlooked if each.kind == "D36"), "")
    stopped = hidden if patient.error is None else str(patient.error)
    return Examination(worst_first(findings), tuple(fine), tuple(unlooked), stopped, host_of(patient, chosen))


def _of_extension(patient: Patient) -> tuple[tuple[Check, ...], list[Unlooked]]:
    """The checks of an extension's dialect, for its tables alone; a broken extension is named and left out."""
    if not patient.can.of_extension:
        return (), []
    try:
        return checks_of_extension(patient.dialect), []
    except ExtensionError as error:
        return (), [Unlooked(patient.dialect, error.message)]


def host_of(patient: Patient, chosen: Collection[Check]) -> Mapping[str, Any] | None:
    """The host that uses the store, where a check that asks for it was made."""
    asked = any(check.kind == "D41" for check in chosen)
    if not asked or patient.found is None or not patient.found.configured:
        return None
    alive = patient.alive
    return {"name": alive.host_name, "version": alive.host_version, "known": alive.host_known}


def as_offered(patient: Patient, check: Check, seen: Seen) -> Check:
    """The check with the remedy that can be had here: none is called safe, or memtui's, that would be refused."""
    from memtui.engine.health.remedies import refused_here

    engine = patient.engine
    if engine is None or check.how == "by hand" or check.safe is None or check.kind in ("D34", "D35"):
        return check
    never = engine.write_state.never_because
    if never:
        remedy = f"with the program that keeps this store: {check.remedy}"
    elif seen.by_hand:
        remedy = check.remedy
    elif first := refused_here(patient, check, seen):
        remedy = first
    else:
        return replace(check, how="yours") if seen.perhaps else check
    return replace(check, how="by hand", safe=None, back="", price="", remedy=remedy)


def nothing_to_look_at(error: MemtuiError) -> Examination:
    """The document of a store of which not even a folder is there, so that no check could be made."""
    why = "there is no store to look at"
    return Examination((), (), tuple(Unlooked(check.kind, why) for check in all_checks()), str(error))


def _without_table(check: Check) -> bool:
    number = int(check.kind[1:])
    return check.kind in ("D29", "D34", "D35", "D36", "D37", "D38") or 40 < number < FIRST_OF_EXTENSIONS


def worst_first(findings: Sequence[HealthFinding]) -> tuple[HealthFinding, ...]:
    """By group, then severity, then how many memories it is about."""
    groups = list(GROUPS)
    return tuple(
        sorted(
            findings,
            key=lambda each: (
                groups.index(each.check.group),
                each.severity,
                -each.seen.count,
                int(each.kind[1:]),
            ),
        )
    )


def patient_of(
    engine: Engine,
    *,
    now_ms: int,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    questions: Callable[[], Any] | None = None,
    parts: str = "",
) -> Patient:
    """An open store, to be looked at; `questions` gives the person's own, as vectors, when they are asked for.

    `parts` is where a cluster left its pass over the vectors (see `plan_doctor`).
    """
    store = engine.store
    return Patient(
        engine,
        store.folder,
        now_ms=now_ms,
        table=store.table_name,
        found=engine.found,
        environ=engine.environ,
        state=engine.state,
        on_progress=on_progress,
        cancel=cancel,
        questions=questions,
        parts=parts,
    )


def patient_without_table(
    uri: str,
    table: str | None,
    error: MemtuiError,
    *,
    now_ms: int,
    found: FoundStore | None = None,
    environ: Mapping[str, str] | None = None,
) -> Patient | None:
    """A store that cannot be opened, so far as its files tell something; None where no folder is there."""
    folder = Path(uri)
    if "://" in uri or not folder.is_dir():
        return None
    return Patient(
        None, folder, now_ms=now_ms, table=table or "memories", error=error, found=found, environ=environ
    )


def grouped(findings: Sequence[HealthFinding]) -> Iterator[tuple[str, tuple[HealthFinding, ...]]]:
    """Return the findings by group, each group by its words; one without findings is left out."""
    for group, words in GROUPS.items():
        found = tuple(finding for finding in findings if finding.check.group == group)
        if found:
            yield words, found
