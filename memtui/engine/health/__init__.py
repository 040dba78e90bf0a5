"""Whether a store is well: the doctor's checks, indexes and versions, and the maintenance that mends a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.health.check import HealthFinding, Patient
    from memtui.engine.health.cluster_work import (
        DuplicatesJob,
        NearVectors,
        TallyVectors,
        duplicates_job,
        plan_doctor,
    )
    from memtui.engine.health.doctor import (
        Examination,
        examine,
        grouped,
        nothing_to_look_at,
        patient_of,
        patient_without_table,
    )
    from memtui.engine.health.folder_snapshots import FolderSnapshot, FolderSnapshots, checked_tag
    from memtui.engine.health.indexes import IndexReport, advice, own_vectors, report_indexes
    from memtui.engine.health.maintenance import TableStep, answers_in_words, maintain, move_manifest_away
    from memtui.engine.health.near_duplicates import Cluster, Near, find_duplicates
    from memtui.engine.health.registry import check_named
    from memtui.engine.health.remedies import (
        RemedyPlan,
        asking,
        carry_out_remedies,
        effect_of_remedies,
        plan_remedy,
    )
    from memtui.engine.health.since import (
        BURST_RULE,
        WRITERS,
        Baseline,
        Burst,
        SinceReport,
        SinceRow,
        find_baseline,
        find_since,
    )
    from memtui.engine.health.suspects import Suspect, find_suspects, recognised
    from memtui.engine.health.version_names import NamedVersion, VersionNames
    from memtui.engine.health.versions import (
        RowChange,
        VersionEntry,
        WholeRestore,
        diff_versions,
        pin_version,
        plan_whole_restore,
        time_line,
    )

__all__ = [
    "BURST_RULE",
    "WRITERS",
    "Baseline",
    "Burst",
    "Cluster",
    "DuplicatesJob",
    "Examination",
    "FolderSnapshot",
    "FolderSnapshots",
    "HealthFinding",
    "IndexReport",
    "NamedVersion",
    "Near",
    "NearVectors",
    "Patient",
    "RemedyPlan",
    "RowChange",
    "SinceReport",
    "SinceRow",
    "Suspect",
    "TableStep",
    "TallyVectors",
    "VersionEntry",
    "VersionNames",
    "WholeRestore",
    "advice",
    "answers_in_words",
    "asking",
    "carry_out_remedies",
    "check_named",
    "checked_tag",
    "diff_versions",
    "duplicates_job",
    "effect_of_remedies",
    "examine",
    "find_baseline",
    "find_duplicates",
    "find_since",
    "find_suspects",
    "grouped",
    "maintain",
    "move_manifest_away",
    "nothing_to_look_at",
    "own_vectors",
    "patient_of",
    "patient_without_table",
    "pin_version",
    "plan_doctor",
    "plan_remedy",
    "plan_whole_restore",
    "recognised",
    "report_indexes",
    "time_line",
]

__getattr__ = lazy_names(
    __name__,
    {
        "FolderSnapshot": "memtui.engine.health.folder_snapshots",
        "FolderSnapshots": "memtui.engine.health.folder_snapshots",
        "checked_tag": "memtui.engine.health.folder_snapshots",
        "DuplicatesJob": "memtui.engine.health.cluster_work",
        "NearVectors": "memtui.engine.health.cluster_work",
        "TallyVectors": "memtui.engine.health.cluster_work",
        "duplicates_job": "memtui.engine.health.cluster_work",
        "plan_doctor": "memtui.engine.health.cluster_work",
        "Cluster": "memtui.engine.health.near_duplicates",
        "Examination": "memtui.engine.health.doctor",
        "HealthFinding": "memtui.engine.health.check",
        "IndexReport": "memtui.engine.health.indexes",
        "Near": "memtui.engine.health.near_duplicates",
        "find_duplicates": "memtui.engine.health.near_duplicates",
        "find_suspects": "memtui.engine.health.suspects",
        "Patient": "memtui.engine.health.check",
        "RemedyPlan": "memtui.engine.health.remedies",
        "RowChange": "memtui.engine.health.versions",
        "BURST_RULE": "memtui.engine.health.since",
        "WRITERS": "memtui.engine.health.since",
        "Baseline": "memtui.engine.health.since",
        "Burst": "memtui.engine.health.since",
        "SinceReport": "memtui.engine.health.since",
        "SinceRow": "memtui.engine.health.since",
        "find_baseline": "memtui.engine.health.since",
        "find_since": "memtui.engine.health.since",
        "Suspect": "memtui.engine.health.suspects",
        "recognised": "memtui.engine.health.suspects",
        "TableStep": "memtui.engine.health.maintenance",
        "VersionEntry": "memtui.engine.health.versions",
        "VersionNames": "memtui.engine.health.version_names",
        "advice": "memtui.engine.health.indexes",
        "answers_in_words": "memtui.engine.health.maintenance",
        "asking": "memtui.engine.health.remedies",
        "carry_out_remedies": "memtui.engine.health.remedies",
        "effect_of_remedies": "memtui.engine.health.remedies",
        "check_named": "memtui.engine.health.registry",
        "NamedVersion": "memtui.engine.health.version_names",
        "WholeRestore": "memtui.engine.health.versions",
        "diff_versions": "memtui.engine.health.versions",
        "examine": "memtui.engine.health.doctor",
        "grouped": "memtui.engine.health.doctor",
        "maintain": "memtui.engine.health.maintenance",
        "move_manifest_away": "memtui.engine.health.maintenance",
        "own_vectors": "memtui.engine.health.indexes",
        "nothing_to_look_at": "memtui.engine.health.doctor",
        "patient_of": "memtui.engine.health.doctor",
        "patient_without_table": "memtui.engine.health.doctor",
        "pin_version": "memtui.engine.health.versions",
        "plan_remedy": "memtui.engine.health.remedies",
        "plan_whole_restore": "memtui.engine.health.versions",
        "report_indexes": "memtui.engine.health.indexes",
        "time_line": "memtui.engine.health.versions",
    },
)
