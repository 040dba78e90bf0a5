"""A kit for authors of extensions: what every dialect must hold, and recalls compared with recorded ones.

    from memtui.testing import StoreSample, check_dialect

    def test_my_dialect(tmp_path):
        report = check_dialect(StoreSample("my-dialect", "tests/store", table="notes"), tmp_path)
        assert report.passed, report.page()

The dialect must be installed (`pip install -e .`). The sample is copied first and never written to.
`python -m memtui.testing DIALECT FOLDER` does the same and prints the page. memtui's own dialects pass this kit.
"""

from __future__ import annotations

from memtui.testing.dialect_kit import StoreSample, check_dialect
from memtui.testing.golden_recalls import GoldenRecall, check_recalls
from memtui.testing.report import KitReport, TriedProperty

__all__ = ["GoldenRecall", "KitReport", "StoreSample", "TriedProperty", "check_dialect", "check_recalls"]
